/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes and coordinates from reported cables. */
#ifndef FM_DISCOVER_H
#define FM_DISCOVER_H

#include <stdbool.h>
#include <torus/topology.h>

struct fm;

/** fm_discover_shape() - find all sizes, and fm_root's @open. Return: false: a problem has why */
bool fm_discover_shape(struct fm *fm, struct torus_shape *shape);
/**
 * fm_discover_place() - give places to the nodes that wait for one
 * Return: false: no memory. In fm_root's @early, how many nodes wait for their neighbours.
 */
bool fm_discover_place(struct fm *fm, const struct torus_shape *shape);

#endif /* FM_DISCOVER_H */
