/* SPDX-License-Identifier: GPL-2.0-only */
/* Packets that a recovery has left parked. */
#ifndef FM_LEFTOVER_H
#define FM_LEFTOVER_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;
struct fm_sums;

/* A root begins. Return: false: no memory. */
bool fm_leftover_new(struct fm_root *r);
void fm_leftover_free(struct fm_root *r);

/** fm_leftover_begin() - a recovery begins, perhaps for packets that were left parked */
void fm_leftover_begin(struct fm *fm);
/** fm_leftover_end() - it has ended with the sums @s; @bounded: some step reached its bound */
void fm_leftover_end(struct fm *fm, const struct fm_sums *s, bool bounded);
/** fm_leftover_due() - demand the next one, if it is time; called before fm_publish_due() */
void fm_leftover_due(struct fm *fm);
uint64_t fm_leftover_expiry(const struct fm *fm);

#endif /* FM_LEFTOVER_H */
