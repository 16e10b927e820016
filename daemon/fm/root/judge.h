/* SPDX-License-Identifier: GPL-2.0-only */
/* Dead and silent nodes. */
#ifndef FM_JUDGE_H
#define FM_JUDGE_H

#include <stdint.h>

struct fm;
struct fm_failed;
struct fm_record;
struct fm_row;

/**
 * fm_judge_beside() - change the neighbours of @m from dead to silent that have had a link to it
 * all the time
 * @row: the new port row of @m; m->row is still the former one
 * Called when @m, which was judged dead or silent, is back.
 */
void fm_judge_beside(struct fm *fm, const struct fm_record *m, const struct fm_row *row);
/**
 * fm_judge_failed() - process the report of a node, or of its parent, that it cannot do the present
 * step
 */
void fm_judge_failed(struct fm *fm, const struct fm_failed *f);
void fm_judge_due(struct fm *fm);
uint64_t fm_judge_expiry(const struct fm *fm);

#endif /* FM_JUDGE_H */
