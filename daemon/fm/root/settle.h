/* SPDX-License-Identifier: GPL-2.0-only */
/* The time of the first table, and nodes that join later. */
#ifndef FM_SETTLE_H
#define FM_SETTLE_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

struct fm;

/*
 * An empty table of @shape, and what the root has for each node of it; what it had is forgotten,
 * but not freed. False: no memory, and the table is as it was.
 */
bool fm_settle_room(struct fm *fm, const struct torus_shape *shape);
void fm_settle_due(struct fm *fm);
uint64_t fm_settle_expiry(const struct fm *fm);

#endif /* FM_SETTLE_H */
