// SPDX-License-Identifier: LGPL-2.1-or-later
#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "relay.h"
#include "search.h"

/**
 * struct choice - state of the search for the relay of one pair of nodes
 * @relay: the best node at the present distance from the destination; TORUS_NO_NODE: none was found
 *	yet
 */
struct choice {
	const struct torus_health *h;
	struct torus_coords from;
	const uint64_t *rows;
	uint64_t hash;
	uint32_t relay;
	unsigned int hops;
	uint64_t rank;
};

static int rank_level(void *arg, const uint32_t *node, uint32_t n)
{
	struct choice *c = arg;

	for (; n--; node++) {
		uint64_t row = c->rows[*node], rank = splitmix64_mix(c->hash + *node);
		struct torus_coords at;
		unsigned int hops;

		if (!(row & TORUS_ROW_VALID) || row & TORUS_ROW_RELAY)
			continue;
		torus_node_coords(&c->h->shape, *node, &at);
		hops = lt_row_hops(c->h, &c->from, &at, row);
		if (c->relay != TORUS_NO_NODE &&
		    (hops > c->hops || (hops == c->hops && rank >= c->rank)))
			continue;
		c->relay = *node;
		c->hops = hops;
		c->rank = rank;
	}
	return c->relay != TORUS_NO_NODE;
}

int lt_relay_row(struct torus_health *h, struct torus_health *relays, uint32_t from, uint32_t to,
		 const uint64_t *rows, uint64_t *row)
{
	struct choice c = { .h = h, .rows = rows, .relay = TORUS_NO_NODE };
	int ret;

	*row = 0;
	if (lt_isolated(relays, to) || lt_isolated(h, from))
		return 0;
	ret = lt_apart(h, from, to);
	if (ret)
		return ret < 0 ? ret : 0;
	torus_node_coords(&h->shape, from, &c.from);
	c.hash = lt_pair_hash(from, to);
	ret = lt_spread(relays, to, rank_level, &c);
	if (ret <= 0)
		return ret;
	invariant(c.relay != from && c.relay != to);
	*row = (rows[c.relay] & ~ROW_FLAGS) | TORUS_ROW_RELAY |
	       (uint64_t)c.relay << TORUS_ROW_RELAY_SHIFT;
	return 0;
}
