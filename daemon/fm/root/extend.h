/* SPDX-License-Identifier: GPL-2.0-only */
/* Which larger shape the cables of nodes without a place ask for. */
#ifndef FM_EXTEND_H
#define FM_EXTEND_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

struct fm;

/**
 * fm_extend() - finds the shape that has a place for nodes which have none
 * @open: set: dimensions of it whose ends are not cabled together
 * Return: false if there is none in which all keep their coordinates and addresses, or no memory.
 */
bool fm_extend(const struct fm *fm, struct torus_shape *shape, uint8_t *open);

#endif /* FM_EXTEND_H */
