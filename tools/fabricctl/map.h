/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draws a torus of one to three dimensions: x to the right, y upwards,
 * a plane for each z. A stub at the right and upper edges is the cable that
 * closes the ring.
 */
#ifndef MAP_H
#define MAP_H

#include <jansson.h>
#include <torus/topology.h>

#include "output.h"

/** map_colour() - Return: the colour of a node's state */
enum colour map_colour(const char *state);
/** map_print() - draw @nodes and @links, answers of the manager. Return: OK or CANNOT */
int map_print(const struct torus_shape *shape, const json_t *nodes, const json_t *links);

#endif /* MAP_H */
