// SPDX-License-Identifier: GPL-2.0-only
#include "route_engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <torus/topology.h>

#define ROW_PLAIN (TORUS_ROW_VALID | \
		   (uint64_t)TORUS_ROW_NO_STEP << TORUS_ROW_FIRST_SHIFT | \
		   (uint64_t)TORUS_ROW_NO_STEP << TORUS_ROW_LAST_SHIFT)

const char *const route_engines[] = {
	[ROUTE_WALK] = "walk", [ROUTE_SIGNS] = "signs", [ROUTE_STEPS] = "steps",
	[ROUTE_RELAYS] = "relays", NULL
};

/** struct way - position of a packet, and number of its hops so far */
struct way {
	const struct torus_shape *shape;
	const uint16_t *excluded;
	uint32_t at;
	unsigned int hops;
};

static unsigned int coordinate_of(const struct torus_shape *shape, uint32_t node, unsigned int dim)
{
	struct torus_coords c;

	torus_node_coords(shape, node, &c);
	return c.c[dim];
}

/*
 * Moves along @dir to the coordinate of @to. Return: false if an excluded link is on the way; then
 * @w is unchanged.
 */
static bool go_along(struct way *w, unsigned int dir, uint32_t to)
{
	unsigned int dim = dir % w->shape->ndims, goal = coordinate_of(w->shape, to, dim);
	struct way on = *w;

	while (coordinate_of(w->shape, on.at, dim) != goal) {
		if (on.excluded[on.at] >> dir & 1)
			return false;
		on.at = torus_neighbour(w->shape, on.at, dir);
		on.hops++;
	}
	*w = on;
	return true;
}

static uint64_t way_row(unsigned int dirs)
{
	return ROW_PLAIN | (uint64_t)dirs << TORUS_ROW_DIR_SHIFT;
}

static uint64_t walk_greedy(struct way w, uint32_t to)
{
	unsigned int n = w.shape->ndims, dirs = 0;

	for (unsigned int dir = 0; dir < 2 * n; dir++) {
		unsigned int dim = dir % n;
		bool reached = coordinate_of(w.shape, w.at, dim) == coordinate_of(w.shape, to, dim);

		if (!reached && go_along(&w, dir, to))
			dirs |= 1u << dir;
	}
	return w.at == to ? way_row(dirs) : 0;
}

/* Follows the directions of @signs; bit d: dimension d is crossed downwards. */
static bool follow_signs(struct way *w, unsigned int signs, uint32_t to, unsigned int *dirs)
{
	unsigned int n = w->shape->ndims;

	*dirs = 0;
	for (unsigned int dir = 0; dir < 2 * n; dir++) {
		unsigned int dim = dir % n;
		bool reached = coordinate_of(w->shape, w->at, dim) ==
			       coordinate_of(w->shape, to, dim);

		if (reached || (signs >> dim & 1) != (dir >= n))
			continue;
		if (!go_along(w, dir, to))
			return false;
		*dirs |= 1u << dir;
	}
	return true;
}

static uint64_t best_signs(struct way w, uint32_t to)
{
	unsigned int dirs, fewest = ~0u;
	uint64_t best = 0;

	for (unsigned int s = 0; s < 1u << w.shape->ndims; s++) {
		struct way on = w;

		if (!follow_signs(&on, s, to, &dirs) || on.hops >= fewest)
			continue;
		fewest = on.hops;
		best = way_row(dirs);
	}
	return best;
}

uint64_t route_engine_row(enum route_engine engine, const struct torus_shape *shape,
			  const uint16_t *excluded, uint32_t from, uint32_t to)
{
	struct way w = { .shape = shape, .excluded = excluded, .at = from };

	return engine == ROUTE_WALK ? walk_greedy(w, to) : best_signs(w, to);
}
