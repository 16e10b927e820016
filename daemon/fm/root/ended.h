/* SPDX-License-Identifier: GPL-2.0-only */
/* The ends of sessions of links, in the steps of a recovery. */
#ifndef FM_ENDED_H
#define FM_ENDED_H

struct fm;
struct fm_step;

/**
 * fm_ended_tell() - add to step @s the ends of sessions that have become known since the table was
 * made
 */
void fm_ended_tell(struct fm *fm, struct fm_step *s);
/** fm_ended_reopen() - called when REPLAY begins: note which ports the nodes will open */
void fm_ended_reopen(struct fm *fm);
/**
 * fm_ended_forget() - called when the recovery has ended: forget the ends of sessions at opened
 * ports
 */
void fm_ended_forget(struct fm *fm);

#endif /* FM_ENDED_H */
