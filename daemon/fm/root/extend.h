/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds a larger shape, with places for the nodes that have none. */
#ifndef FM_EXTEND_H
#define FM_EXTEND_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

struct fm;

/**
 * fm_extend() - find a shape that has places for the nodes without one
 * @shape: set to the shape. Also set if a shape was found in which some node would lose or not get
 *	its addresses; if none was found, it has no dimensions
 * @open: set to the mask of its dimensions whose ends are not cabled together
 * Return: false if there is no shape in which all nodes keep their coordinates and addresses, or no
 * memory.
 */
bool fm_extend(const struct fm *fm, struct torus_shape *shape, uint8_t *open);

#endif /* FM_EXTEND_H */
