/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The direct paths from a node to another, and which of them is taken.
 *
 * A header fixes a path: the first step, if any; then for each dimension that still differs one
 * direction, all the way, in the order +x +y ... -x -y ...; then the last step. So a path is at
 * most one straight segment a dimension, and struct torus_health checks a segment in one or two
 * words. The search chooses the sign of each dimension and the two steps. A path is fit for use if
 * its directions never decrease and no segment crosses an excluded cable. Paths of that kind, of
 * whatever tables, never wait for each other in a cycle.
 *
 * Most destinations take the plain header, minimal with ties broken by lt_tie_up(). If its path is
 * not fit, all signs are compared, and if none is, all signs with all steps; the shortest wins, and
 * among equals the smallest hash of (from, to, header). So a path changes only if its own cables or
 * those of a better path change. Changes elsewhere do not affect it, so no traffic is held without
 * need.
 *
 * The Angara paper (figure 6) shows a simpler walk, which the paper calls generalised: the
 * directions in their order, and the first of each dimension that is healthy up to the
 * destination's coordinate. It uses + wherever + is healthy, even if that is the long way round,
 * and misses pairs that other signs reach: with two cut links, in one of eight fabrics of 4x4x4.
 * fabricsim route --engine compares the two. The text of the paper has no first and last step:
 * these are ours.
 */
#ifndef LIB_ROUTE_SEARCH_H
#define LIB_ROUTE_SEARCH_H

#include "health.h"
#include "kernel/core/splitmix64.h"

/* The bits of a plain row beside its directions: valid, no steps. */
#define ROW_PLAIN (TORUS_ROW_VALID | \
		   (uint64_t)TORUS_ROW_NO_STEP << TORUS_ROW_FIRST_SHIFT | \
		   (uint64_t)TORUS_ROW_NO_STEP << TORUS_ROW_LAST_SHIFT)
/* The bits of a row that concern only adaptive packets. */
#define ROW_FLAGS (TORUS_ROW_ADAPTIVE | TORUS_ROW_DIR_MASK << TORUS_ROW_ADAPT_SHIFT)

/**
 * lt_tie_up() - Return: true if the + direction is used to a destination half way round a ring,
 * where both directions are minimal
 * @from_odd: parity of the sum of the source's coordinates up to this dimension, included
 * @to_odd: parity of the sum of the destination's coordinates above this dimension
 *
 * The box between the two nodes has a corner with the source's coordinates up to this dimension and
 * the destination's above it. The parity of the sum of these coordinates decides. So the nodes of a
 * ring use the two directions in turn, and so do parallel rings. That loads all links of a healthy
 * torus alike (exactly, if sizes are multiples of 4); a hash would do so only on average.
 */
static inline bool lt_tie_up(unsigned int from_odd, unsigned int to_odd)
{
	return !((from_odd ^ to_odd) & 1);
}

/* Return: the part of the rank of headers that depends only on the two nodes. */
static inline uint64_t lt_pair_hash(uint32_t from, uint32_t to)
{
	return splitmix64_mix(((uint64_t)from << 32 | to) + SPLITMIX64_STEP);
}

/** lt_rank() - Return: number by which headers of the same length are ordered */
static inline uint32_t lt_rank(uint64_t pair_hash, unsigned int dirs, unsigned int first,
			       unsigned int last)
{
	return (uint32_t)splitmix64_mix(pair_hash + ((uint64_t)dirs | first << 12 | last << 16));
}

/** struct lt_pair - two nodes with their coordinates */
struct lt_pair {
	uint32_t from_id, to_id;
	struct torus_coords from, to;
};

/**
 * lt_pair_row() - Return: the row of the best header that is fit for use, without adaptive
 * directions; 0 if there is none
 * @plain: set to true if the header is the plain header
 */
uint64_t lt_pair_row(struct torus_health *h, const struct lt_pair *pair, bool *plain);
/** lt_direct_row() - like lt_pair_row(), for two node ids and without @plain */
uint64_t lt_direct_row(struct torus_health *h, uint32_t from, uint32_t to);

/** lt_row_hops() - Return: length of a direct row's path, hops */
unsigned int lt_row_hops(const struct torus_health *h, const struct torus_coords *from,
			 const struct torus_coords *to, uint64_t row);

/** lt_row_crosses() - Return: true if a direct row's path crosses the cable, in either direction */
bool lt_row_crosses(const struct torus_health *h, const struct torus_coords *from,
		    const struct torus_coords *to, uint64_t row, const struct torus_cable *c);

#endif /* LIB_ROUTE_SEARCH_H */
