// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds the node to which a row leads, with the code that routers use. */
#include <stddef.h>

#include <torus/route.h>
#include "kernel/core/route.h"

/*
 * Return: a limit for the hops of a path. A correct path goes at most once round the ring of each
 * dimension, and has a first and a last step; a path of twice that length is a loop.
 */
static uint32_t hops_max(const struct torus_shape *shape)
{
	uint32_t sum = 2;
	unsigned int d;

	for (d = 0; d < shape->ndims; d++)
		sum += 2u * shape->size[d];
	return sum;
}

static bool is_dead_end(const struct torus_shape *shape, const uint16_t *excluded, uint32_t node,
			unsigned int dir)
{
	if (shape->size[tn_dir_dim(shape, dir)] < 2)
		return true; /* a dimension of size 1 has no links */
	return excluded && excluded[node] & 1u << dir;
}

enum torus_walk_end torus_walk(const struct torus_shape *shape, const uint16_t *excluded,
			       uint32_t from, uint32_t to, uint64_t row,
			       struct torus_hop *hops, uint32_t max, uint32_t *n)
{
	struct tn_path path = tn_path_of_row(to, row);
	uint32_t nodes = tn_shape_nodes(shape), node = from;
	unsigned int dir, before = 0;
	struct torus_coords at;

	*n = 0;
	if (from >= nodes || to >= nodes || !(row & TORUS_ROW_VALID))
		return TORUS_WALK_NO_ROW;
	tn_node_coords(shape, from, &at);
	while ((dir = tn_route_next(shape, &at, &path)) < 2u * shape->ndims) {
		if (*n < max)
			hops[*n] = (struct torus_hop){ node, (uint8_t)dir };
		++*n;
		if (is_dead_end(shape, excluded, node, dir))
			return TORUS_WALK_DEAD_LINK;
		if (dir < before)
			return TORUS_WALK_ORDER;
		if (*n > hops_max(shape))
			return TORUS_WALK_LOOP;
		tn_route_leave(shape, &at, &path, dir);
		tn_step(shape, &at, dir);
		node = tn_node_id(shape, &at);
		before = dir;
	}
	return dir == TN_ROUTE_HERE ? TORUS_WALK_ARRIVED : TORUS_WALK_LOST;
}

const char *torus_walk_end_text(enum torus_walk_end end)
{
	static const char *const text[] = {
		[TORUS_WALK_ARRIVED] = "arrived",
		[TORUS_WALK_NO_ROW] = "no valid row",
		[TORUS_WALK_LOST] = "directions exhausted before the destination",
		[TORUS_WALK_DEAD_LINK] = "crosses an excluded link",
		[TORUS_WALK_ORDER] = "breaks the direction order",
		[TORUS_WALK_LOOP] = "does not end",
	};

	return (size_t)end < sizeof(text) / sizeof(text[0]) ? text[end] : "unknown";
}
