/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One fabric with random faults: computes its tables, proves and times them, and updates them after
 * one more fault and its repair.
 */
#ifndef ROUTE_FABRIC_H
#define ROUTE_FABRIC_H

#include <torus/route.h>
#include "route_engine.h"

/** struct route_case - parameters of the fabrics */
struct route_case {
	struct torus_shape shape;
	unsigned int dead_nodes;
	unsigned int cut_links;	/* number of cut links, besides those of dead nodes */
	enum route_engine engine;
};

/**
 * struct route_result - results of one fabric
 * @connected: healthy links connect all live nodes
 * @sound: result of torus_verify()
 * @unsafe: number of wrong rows that are not merely missing
 * @unequal: rows that differ after an update from rows computed from the beginning; like the times,
 *	only for the engines of libtorus, ROUTE_STEPS and ROUTE_RELAYS
 * @tables: number of tables that were made and timed, one for each live node; @tables_ns: processor
 *	time to make all of them; @increment_ns: processor time to update all of them (mean of a
 *	fault and its repair)
 */
struct route_result {
	bool connected;
	struct torus_verified sound;
	uint64_t unsafe;
	uint64_t unequal;
	uint32_t tables;
	uint64_t tables_ns, increment_ns;
};

/** route_links() - Return: number of cables of a shape */
uint32_t route_links(const struct torus_shape *shape);

/** route_fabric() - examine the fabric that follows from @seed. Return: 0 or -ENOMEM */
int route_fabric(const struct route_case *c, uint64_t seed, struct route_result *r);

#endif /* ROUTE_FABRIC_H */
