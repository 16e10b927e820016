/* SPDX-License-Identifier: GPL-2.0-only */
/* Recoveries for packets that were left parked. */
#ifndef FM_LEFTOVER_H
#define FM_LEFTOVER_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;
struct fm_sums;

/* Allocates the state of leftover.c for a new root. Return: false if there is no memory. */
bool fm_leftover_new(struct fm_root *r);
void fm_leftover_free(struct fm_root *r);

/**
 * fm_leftover_begin() - called when a recovery begins, possibly because of packets that were left
 * parked
 */
void fm_leftover_begin(struct fm *fm);
/**
 * fm_leftover_end() - called when a recovery has ended with the sums @s; @bounded: some step
 * reached its time limit
 */
void fm_leftover_end(struct fm *fm, const struct fm_sums *s, bool bounded);
/**
 * fm_leftover_due() - demand the next recovery for packets that were left parked, if it is time
 * Called before fm_publish_due().
 */
void fm_leftover_due(struct fm *fm);
uint64_t fm_leftover_expiry(const struct fm *fm);

#endif /* FM_LEFTOVER_H */
