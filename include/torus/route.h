/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Routing: rows from shape and exclusion table, walks, verification.
 *
 * The exclusion table is an array of one u16 for each node: bit p set means the
 * node's port p must not be used, in either direction of the cable. Pass it
 * through torus_exclusions_close() so that both ends of a cable agree.
 */
#ifndef TORUS_ROUTE_H
#define TORUS_ROUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/uapi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** torus_exclusions_close() - a cable excluded at one end is so at both */
void torus_exclusions_close(const struct torus_shape *shape, uint16_t *excluded);

/**
 * torus_route_rows() - rows of node @from to every node
 * @excluded: closed exclusion table
 * @rows: one for each node; a destination that no path of this engine reaches
 *	gets an invalid row (0); the row to @from itself is valid with no DIR bits
 *
 * Candidates in order: minimal; any sign per dimension (fewest hops first);
 * first or last step added so that the direction order never decreases. The
 * choice among equals is a function of (from, to) alone that spreads load.
 * Return: number of invalid rows, or a negative errno.
 */
int torus_route_rows(const struct torus_shape *shape, const uint16_t *excluded,
		     uint32_t from, uint64_t *rows);

/** struct torus_hop - a node and the port by which the packet leaves it */
struct torus_hop {
	uint32_t node;
	uint8_t port;
};

enum torus_walk_end {
	TORUS_WALK_ARRIVED,
	TORUS_WALK_NO_ROW,	/* row invalid */
	TORUS_WALK_LOST,	/* DIR bits exhausted elsewhere */
	TORUS_WALK_DEAD_LINK,	/* crosses an excluded link (the last hop) */
	TORUS_WALK_ORDER,	/* a direction below the one before (the last hop) */
	TORUS_WALK_LOOP,	/* more hops than any right path has */
};

/**
 * torus_walk() - follow one row as routers do
 * @excluded: closed table, or NULL not to check for dead links
 * @hops: room for @max hops; *@n: how many were taken (may exceed @max)
 */
enum torus_walk_end torus_walk(const struct torus_shape *shape, const uint16_t *excluded,
			       uint32_t from, uint32_t to, uint64_t row,
			       struct torus_hop *hops, uint32_t max, uint32_t *n);

const char *torus_walk_end_text(enum torus_walk_end end);

#ifdef __cplusplus
}
#endif
#endif /* TORUS_ROUTE_H */
