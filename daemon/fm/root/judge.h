/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is dead and who is silent. */
#ifndef FM_JUDGE_H
#define FM_JUDGE_H

#include <stdint.h>

struct fm;

void fm_judge_due(struct fm *fm);
uint64_t fm_judge_expiry(const struct fm *fm);

#endif /* FM_JUDGE_H */
