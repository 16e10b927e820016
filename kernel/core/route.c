// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Routing decisions from a packet header. */
#include "route.h"

/*
 * Return: true if the step is none, or a direction that this shape has. A header comes from the
 * network: a destination or step that the shape does not have must give TN_ROUTE_LOST, not an
 * access past an array.
 */
static bool step_ok(const struct torus_shape *shape, u8 step)
{
	return step == TORUS_ROW_NO_STEP || step < 2u * shape->ndims;
}

/*
 * Sets @goal to the node to which the DIR bits must lead: the destination, or, if there is a last
 * step, the node before it. Return: false if the header is invalid.
 */
static bool find_goal(const struct torus_shape *shape, const struct tn_path *path,
		      struct torus_coords *goal)
{
	u32 id = path->dst;
	unsigned int d;

	for (d = 0; d < shape->ndims; d++) {
		goal->c[d] = (u16)(id % shape->size[d]);
		id /= shape->size[d];
	}
	if (id)
		return false;
	if (path->last != TORUS_ROW_NO_STEP)
		tn_step(shape, goal, tn_dir_opposite(shape, path->last));
	return true;
}

unsigned int tn_route_next(const struct torus_shape *shape, const struct torus_coords *at,
			   const struct tn_path *path)
{
	struct torus_coords goal;
	unsigned int dir, d;
	u32 differ = 0;

	if (!step_ok(shape, path->first) || !step_ok(shape, path->last) ||
	    !find_goal(shape, path, &goal))
		return TN_ROUTE_LOST;
	if (path->first != TORUS_ROW_NO_STEP)
		return path->first;

	for (d = 0; d < shape->ndims; d++)
		if (at->c[d] != goal.c[d])
			differ |= 1u << d;
	if (!differ)
		return path->last != TORUS_ROW_NO_STEP ? path->last : TN_ROUTE_HERE;

	differ = (differ | differ << shape->ndims) & path->dir;
	for (dir = 0; dir < 2u * shape->ndims; dir++)
		if (differ & 1u << dir)
			return dir;
	return TN_ROUTE_LOST;
}

void tn_route_leave(const struct torus_shape *shape, const struct torus_coords *at,
		    struct tn_path *path, unsigned int dir)
{
	struct torus_coords goal;
	unsigned int d;

	tn_assert(dir < 2u * shape->ndims);
	if (path->first != TORUS_ROW_NO_STEP) {
		if (dir == path->first)
			path->first = TORUS_ROW_NO_STEP;
		return;
	}
	if (dir != path->last || !step_ok(shape, path->last) ||
	    !find_goal(shape, path, &goal))
		return;

	/* This hop is the last step only if no hop by the DIR bits is left. */
	for (d = 0; d < shape->ndims; d++)
		if (at->c[d] != goal.c[d])
			return;
	path->last = TORUS_ROW_NO_STEP;
}
