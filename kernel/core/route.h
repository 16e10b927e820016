/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Routing decisions from a packet header. Used by the NIC, and by code that follows a row to its
 * destination (libtorus, fabricctl trace, verification).
 */
#ifndef TN_ROUTE_H
#define TN_ROUTE_H

#include "topo.h"

/* Results of tn_route_next() other than a direction. */
#define TN_ROUTE_HERE	0x40	/* the packet has arrived */
/* no direction is left although the packet has not arrived: the row is wrong */
#define TN_ROUTE_LOST	0x41

/** struct tn_path - the fields of a header that routing reads and changes */
struct tn_path {
	u32 dst;
	u16 dir;		/* mask of directions, the DIR bits */
	u8 first;		/* a direction, or TORUS_ROW_NO_STEP */
	u8 last;
};

/** tn_path_of_row() - Return: the header fields that a packet to @dst gets from a valid @row */
static inline struct tn_path tn_path_of_row(u32 dst, u64 row)
{
	return (struct tn_path) {
		.dst = dst,
		.dir = (u16)(row & TORUS_ROW_DIR_MASK),
		.first = (u8)(row >> TORUS_ROW_FIRST_SHIFT & TORUS_ROW_STEP_MASK),
		.last = (u8)(row >> TORUS_ROW_LAST_SHIFT & TORUS_ROW_STEP_MASK),
	};
}

/**
 * tn_route_next() - find the direction in which a packet leaves the node @at
 * @path: header of the packet; tn_route_leave() with the result updates it
 *
 * The first step, if any, comes first; then the first direction of the DIR bits (in the order
 * +x +y ... -x -y ...) in whose dimension the coordinates of @at and of the destination minus the
 * last step differ; then the last step.
 *
 * Return: a direction, TN_ROUTE_HERE or TN_ROUTE_LOST.
 */
unsigned int tn_route_next(const struct torus_shape *shape, const struct torus_coords *at,
			   const struct tn_path *path);

/** tn_route_leave() - update the header of a packet for a hop from @at in direction @dir */
void tn_route_leave(const struct torus_shape *shape, const struct torus_coords *at,
		    struct tn_path *path, unsigned int dir);

#endif /* TN_ROUTE_H */
