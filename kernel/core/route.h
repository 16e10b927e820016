/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * What a router does with a header. Used by the NIC, and by everyone who wants
 * to know where a row leads (libtorus, fabricctl trace, verification).
 */
#ifndef TN_ROUTE_H
#define TN_ROUTE_H

#include "topo.h"

/* Answers of tn_route_next() besides a direction. */
#define TN_ROUTE_HERE	0x40	/* arrived */
#define TN_ROUTE_LOST	0x41	/* DIR bits exhausted elsewhere: a wrong row */

/** struct tn_path - the part of a header that routing reads and changes */
struct tn_path {
	u32 dst;
	u16 dir;		/* DIR bits */
	u8 first;		/* direction or TORUS_ROW_NO_STEP */
	u8 last;
};

/** tn_path_of_row() - header fields as stamped from a valid row */
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
 * tn_route_next() - the direction a packet takes from @at
 * @path: its header; tn_route_leave() with the answer updates it
 *
 * The first step, if any, goes first; then the first set direction (in the
 * order +x +y ... -x -y ...) whose coordinate differs from the one of
 * (destination minus last step); then the last step.
 *
 * Return: a direction, TN_ROUTE_HERE or TN_ROUTE_LOST.
 */
unsigned int tn_route_next(const struct torus_shape *shape, const struct torus_coords *at,
			   const struct tn_path *path);

/** tn_route_leave() - what changes in the header when the packet goes @dir */
void tn_route_leave(const struct torus_shape *shape, const struct torus_coords *at,
		    struct tn_path *path, unsigned int dir);

#endif /* TN_ROUTE_H */
