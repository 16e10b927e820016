/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths of all pairs of vertices by their addresses. */
#ifndef ADDRESS_WALK_H
#define ADDRESS_WALK_H

#include "address_graph.h"

/**
 * struct address_walk - what the paths of all pairs are like
 * @pairs: pairs of different vertices
 * @loops: pairs whose packets never arrive
 * @loops_any: as written in the paper: pairs that no choice among equally short ports serves
 * @hops: hops of the pairs that are served, added up
 * @minimal: hops of the shortest paths of the same pairs
 * @legs: legs of the same pairs; as written, each hop is one
 */
struct address_walk {
	uint64_t pairs, loops, loops_any, hops, minimal, legs;
};

/**
 * address_walk() - walk all pairs
 * @as_written: each vertex decides anew, as the paper says, by the lowest of equally short
 *	ports; else the source of a leg determines the whole leg to its gateway
 * Return: 0 or -ENOMEM.
 */
int address_walk(const struct address_graph *g, const struct torus_dm *dm, bool as_written,
		 struct address_walk *out);

#endif /* ADDRESS_WALK_H */
