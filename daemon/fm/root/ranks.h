/* SPDX-License-Identifier: GPL-2.0-only */
/* Problems of candidates: priorities that cannot be what the administrator wants. */
#ifndef FM_RANKS_H
#define FM_RANKS_H

#include <stdint.h>

struct fm;

/**
 * fm_ranks_look() - check the priorities of all candidates soon
 * Called when a node has come, left, or got another priority.
 */
void fm_ranks_look(struct fm *fm);
/** fm_ranks_marked() - begin or end the problem that two nodes have the bootstrap flag */
void fm_ranks_marked(struct fm *fm);
void fm_ranks_due(struct fm *fm);
uint64_t fm_ranks_expiry(const struct fm *fm);

#endif /* FM_RANKS_H */
