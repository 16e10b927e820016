/* SPDX-License-Identifier: GPL-2.0-only */
/* When the root decides on shape and places, and makes its first table. */
#ifndef FM_SETTLE_H
#define FM_SETTLE_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

struct fm;

/**
 * fm_settle_room() - begin an empty table of @shape, and allocate the root's memory for each of its
 * nodes
 *
 * The memory for the former shape is not freed; the caller has copies of the pointers.
 * Return: false if there is no memory, and the table is as it was; the root tries again later.
 */
bool fm_settle_room(struct fm *fm, const struct torus_shape *shape);
/** fm_settle_due() - if it is time, decide on shape and places, and demand the first table */
void fm_settle_due(struct fm *fm);
uint64_t fm_settle_expiry(const struct fm *fm);

#endif /* FM_SETTLE_H */
