/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Engines that find rows on a faulty torus: the engine of the Angara paper, and three steps of this
 * project's engine.
 */
#ifndef ROUTE_ENGINE_H
#define ROUTE_ENGINE_H

#include <torus/route.h>

/**
 * enum route_engine - ways to find rows; each engine serves all pairs of nodes that the engine
 * before it serves
 * @ROUTE_WALK: figure 6 of the Angara paper: the directions in their order; one whose links are
 *	healthy up to the destination's coordinate is taken
 * @ROUTE_SIGNS: a direction for each dimension, of all choices the shortest whose links are healthy
 * @ROUTE_STEPS: signs, and a first and a last step (lib/route/search.h)
 * @ROUTE_RELAYS: steps, and through the memory of other nodes (lib/route/relay.h): what fabricd
 *	does
 */
enum route_engine { ROUTE_WALK, ROUTE_SIGNS, ROUTE_STEPS, ROUTE_RELAYS };

/** route_engines - names of the engines, ended by NULL */
extern const char *const route_engines[];

/**
 * route_engine_row() - find the row from @from to @to by ROUTE_WALK or ROUTE_SIGNS
 * @excluded: closed exclusion table
 * Return: a row without adaptive bits; 0 if this engine finds no path. The row of a node to itself
 * has no direction.
 */
uint64_t route_engine_row(enum route_engine engine, const struct torus_shape *shape,
			  const uint16_t *excluded, uint32_t from, uint32_t to);

#endif /* ROUTE_ENGINE_H */
