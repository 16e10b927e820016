/* SPDX-License-Identifier: GPL-2.0-only */
/* Sizes and coordinates from reported cables. */
#ifndef FM_DISCOVER_H
#define FM_DISCOVER_H

#include <stdbool.h>
#include <torus/topology.h>

struct fm;

bool fm_discover_shape(struct fm *fm, struct torus_shape *shape);
/* Places all nodes for which it can. Return: false: too little memory. */
bool fm_discover_place(struct fm *fm, const struct torus_shape *shape);

#endif /* FM_DISCOVER_H */
