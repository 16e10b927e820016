/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs whose packets do not stay on their own cables, or do not arrive. */
#ifndef FM_APART_H
#define FM_APART_H

struct fm;

/** fm_apart_tell() - report a node whose manager does not know jobs, while there are any */
void fm_apart_tell(struct fm *fm);
/**
 * fm_apart_look() - report jobs of the present table that have fallen apart; called when a recovery
 * has ended
 */
void fm_apart_look(struct fm *fm);
/** fm_apart_forget() - end these problems, because this node is not root any more */
void fm_apart_forget(struct fm *fm);
/**
 * fm_apart_stranger() - find a node whose manager does not know jobs. Such a manager would compute
 * rows without regard to jobs, and pass the table on without the jobs.
 * Return: its name; NULL: all nodes know jobs that are up, or were since this node is root.
 */
const char *fm_apart_stranger(const struct fm *fm);

#endif /* FM_APART_H */
