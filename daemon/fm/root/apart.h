/* SPDX-License-Identifier: GPL-2.0-only */
/* Jobs that have fallen apart. */
#ifndef FM_APART_H
#define FM_APART_H

struct fm;

/** fm_apart_look() - report the jobs of the present table that have fallen apart as problems */
void fm_apart_look(struct fm *fm);

#endif /* FM_APART_H */
