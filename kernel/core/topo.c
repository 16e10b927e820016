// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Shape of a torus, coordinates, node ids, directions. */
#include "topo.h"

u32 tn_shape_nodes(const struct torus_shape *shape)
{
	u32 nodes = 1;
	unsigned int d;

	if (shape->ndims < 1 || shape->ndims > TORUS_MAX_DIMS)
		return 0;
	for (d = 0; d < TORUS_MAX_DIMS; d++) {
		if (shape->size[d] < 1 || shape->size[d] > TORUS_MAX_SIZE)
			return 0;
		if (d >= shape->ndims && shape->size[d] != 1)
			return 0;
		/* Both factors are in range, so their product cannot overflow before the test. */
		if (nodes > TORUS_MAX_NODES / shape->size[d])
			return 0;
		nodes *= shape->size[d];
	}
	return nodes;
}

u32 tn_node_id(const struct torus_shape *shape, const struct torus_coords *at)
{
	unsigned int d = shape->ndims;
	u32 id = 0;

	while (d-- > 0) {
		tn_assert(at->c[d] < shape->size[d]);
		id = id * shape->size[d] + at->c[d];
	}
	return id;
}

void tn_node_coords(const struct torus_shape *shape, u32 id, struct torus_coords *at)
{
	unsigned int d;

	for (d = 0; d < shape->ndims; d++) {
		at->c[d] = (u16)(id % shape->size[d]);
		id /= shape->size[d];
	}
	tn_assert(!id);		/* the rest is 0 if @id is a node of this shape */
	for (; d < TORUS_MAX_DIMS; d++)
		at->c[d] = 0;
}

void tn_step(const struct torus_shape *shape, struct torus_coords *at, unsigned int dir)
{
	unsigned int d = tn_dir_dim(shape, dir);
	u16 size = shape->size[d];

	tn_assert(dir < 2u * shape->ndims);
	tn_assert(at->c[d] < size);
	if (dir < shape->ndims)
		at->c[d] = (u16)(at->c[d] + 1u < size ? at->c[d] + 1u : 0u);
	else
		at->c[d] = (u16)(at->c[d] > 0 ? at->c[d] - 1u : size - 1u);
}
