/* SPDX-License-Identifier: GPL-2.0-only */
/* How the sessions of lost links ended, for the steps of a recovery. */
#ifndef FM_ENDED_H
#define FM_ENDED_H

struct fm;
struct fm_step;

/**
 * fm_ended_fill() - add to step @s how sessions ended, as far as nodes have reported it since the
 * table was made
 */
void fm_ended_fill(struct fm *fm, struct fm_step *s);
/** fm_ended_reopen() - note which ports the nodes will open in the step REPLAY, which begins now */
void fm_ended_reopen(struct fm *fm);
/**
 * fm_ended_forget() - forget how the former sessions of opened ports ended
 * Called when the recovery has ended.
 */
void fm_ended_forget(struct fm *fm);

#endif /* FM_ENDED_H */
