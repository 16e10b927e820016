/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds the sizes of the torus and the coordinates of nodes, from the cables that nodes report. */
#ifndef FM_DISCOVER_H
#define FM_DISCOVER_H

#include <stdbool.h>
#include <torus/topology.h>

struct fm;

/**
 * fm_discover_shape() - find all sizes, and @open of struct fm_root. Return: false if they are not
 * known; a problem says why
 */
bool fm_discover_shape(struct fm *fm, struct torus_shape *shape);
/**
 * fm_discover_place() - give places to the nodes that wait for one
 * Sets @early of struct fm_root to the number of nodes that wait for their neighbours.
 * Return: false if there is no memory.
 */
bool fm_discover_place(struct fm *fm, const struct torus_shape *shape);

#endif /* FM_DISCOVER_H */
