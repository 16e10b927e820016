/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Shape of a torus, coordinates, node ids, directions. */
#ifndef TN_TOPO_H
#define TN_TOPO_H

#include "tn_deps.h"
#include <torus_uapi.h>

/**
 * tn_shape_nodes() - number of nodes of a torus
 * Return: 1 to TORUS_MAX_NODES, or 0 if @shape breaks a limit.
 */
u32 tn_shape_nodes(const struct torus_shape *shape);

/** tn_node_id() - coordinates to node id: x + X * (y + Y * (z + ...)) */
u32 tn_node_id(const struct torus_shape *shape, const struct torus_coords *at);

/** tn_node_coords() - node id (less than the number of nodes) to coordinates */
void tn_node_coords(const struct torus_shape *shape, u32 id, struct torus_coords *at);

/**
 * tn_step() - replace the coordinates @at by those of the neighbour in direction @dir (modulo size)
 */
void tn_step(const struct torus_shape *shape, struct torus_coords *at, unsigned int dir);

/*
 * Direction d, with d < ndims, is the positive direction of dimension d; ndims + d is the negative
 * one.
 */
static inline unsigned int tn_dir_dim(const struct torus_shape *s, unsigned int dir)
{
	return dir < s->ndims ? dir : dir - s->ndims;
}

static inline unsigned int tn_dir_opposite(const struct torus_shape *s, unsigned int dir)
{
	return dir < s->ndims ? dir + s->ndims : dir - s->ndims;
}

#endif /* TN_TOPO_H */
