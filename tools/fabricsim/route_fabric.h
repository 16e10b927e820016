/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One fabric with random faults: its tables made, proven, timed, and brought in
 * line with one more fault and its repair.
 */
#ifndef ROUTE_FABRIC_H
#define ROUTE_FABRIC_H

#include <torus/route.h>
#include "route_engine.h"

/** struct route_case - what kind of fabric */
struct route_case {
	struct torus_shape shape;
	unsigned int dead_nodes;
	unsigned int cut_links;	/* besides those of dead nodes */
	enum route_engine engine;
};

/**
 * struct route_result - what was found of one
 * @connected: healthy links join all nodes that live
 * @sound: what torus_verify() found
 * @unsafe: of these, what is more than a missing row
 * @unequal: rows that an increment left other than they are when made anew; only of engines that
 *	libtorus has, ROUTE_STEPS and ROUTE_RELAYS, as are the times
 * @tables: that were made and timed, of nodes that live; @tables_ns, @increment_ns: processor time
 *	of all of them, of one increment of all of them (mean of a fault and its repair)
 */
struct route_result {
	bool connected;
	struct torus_verified sound;
	uint64_t unsafe;
	uint64_t unequal;
	uint32_t tables;
	uint64_t tables_ns, increment_ns;
};

/** route_links() - cables of a shape */
uint32_t route_links(const struct torus_shape *shape);

/** route_fabric() - Return: 0 or -ENOMEM. The same @seed, the same fabric */
int route_fabric(const struct route_case *c, uint64_t seed, struct route_result *r);

#endif /* ROUTE_FABRIC_H */
