/* SPDX-License-Identifier: GPL-2.0-only */
/* The ends of sessions of links, in the steps of a recovery. */
#ifndef FM_ENDED_H
#define FM_ENDED_H

struct fm;
struct fm_step;

/** fm_ended_tell() - add the ends to step @s that have become known since the table was made */
void fm_ended_tell(struct fm *fm, struct fm_step *s);
/** fm_ended_reopen() - REPLAY begins: note which ports the nodes open */
void fm_ended_reopen(struct fm *fm);
/** fm_ended_forget() - the recovery has ended: forget the ends of sessions at opened ports */
void fm_ended_forget(struct fm *fm);

#endif /* FM_ENDED_H */
