/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths of all pairs of vertices by their addresses. */
#ifndef ADDRESS_WALK_H
#define ADDRESS_WALK_H

#include "address_graph.h"

/**
 * struct address_walk - counts of the paths of all pairs
 * @pairs: number of pairs of different vertices
 * @loops: number of pairs whose packets never arrive
 * @loops_any: with @as_written: number of pairs whose packets never arrive, whichever of equally
 *	short ports are taken
 * @hops: sum of the hops of all other pairs
 * @minimal: sum of the hops of the shortest paths of the same pairs
 * @legs: sum of the legs of the same pairs; with @as_written, each hop is a leg
 */
struct address_walk {
	uint64_t pairs, loops, loops_any, hops, minimal, legs;
};

/**
 * address_walk() - follow the paths of all pairs
 * @as_written: each vertex decides anew, as in the paper, by the lowest of equally short ports;
 *	else the source of a leg determines the whole leg to its gateway
 * Return: 0 or -ENOMEM.
 */
int address_walk(const struct address_graph *g, const struct torus_dm *dm, bool as_written,
		 struct address_walk *out);

#endif /* ADDRESS_WALK_H */
