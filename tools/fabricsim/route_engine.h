/* SPDX-License-Identifier: GPL-2.0-only */
/* Ways to find rows on a faulty torus: the one of the Angara paper, and ours in three steps. */
#ifndef ROUTE_ENGINE_H
#define ROUTE_ENGINE_H

#include <torus/route.h>

/**
 * enum route_engine - how rows are found; each serves all pairs that the one before serves
 * @ROUTE_WALK: figure 6 of the Angara paper: the directions in their order; one whose links are
 *	healthy up to the destination's coordinate is taken
 * @ROUTE_SIGNS: a direction for each dimension, of all choices the shortest whose links are healthy
 * @ROUTE_STEPS: signs, and a first and a last step (lib/route/search.h)
 * @ROUTE_RELAYS: steps, and through the memory of other nodes (lib/route/relay.h): what fabricd
 *	does
 */
enum route_engine { ROUTE_WALK, ROUTE_SIGNS, ROUTE_STEPS, ROUTE_RELAYS };

/** route_engines - their names, ended by NULL */
extern const char *const route_engines[];

/**
 * route_engine_row() - the row from @from to @to by ROUTE_WALK or ROUTE_SIGNS
 * @excluded: closed exclusion table
 * Return: a row without adaptive bits; 0: this engine finds none. The row of a node to itself has
 * no direction.
 */
uint64_t route_engine_row(enum route_engine engine, const struct torus_shape *shape,
			  const uint16_t *excluded, uint32_t from, uint32_t to);

#endif /* ROUTE_ENGINE_H */
