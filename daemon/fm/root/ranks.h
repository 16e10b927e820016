/* SPDX-License-Identifier: GPL-2.0-only */
/* What the nodes are configured to be as candidates: mistakes in it. */
#ifndef FM_RANKS_H
#define FM_RANKS_H

#include <stdint.h>

struct fm;

/** fm_ranks_look() - a node came, went, or says another priority: they are looked at soon */
void fm_ranks_look(struct fm *fm);
void fm_ranks_due(struct fm *fm);
uint64_t fm_ranks_expiry(const struct fm *fm);

#endif /* FM_RANKS_H */
