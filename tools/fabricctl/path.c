// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "path.h"

int path_init(struct path *p, const struct torus_shape *shape)
{
	*p = (struct path){ .leg_max = 4 };
	for (unsigned int d = 0; d < shape->ndims; d++)
		p->leg_max += 2u * shape->size[d];
	p->via = calloc(torus_nodes(shape), sizeof(*p->via));
	return p->via ? 0 : -ENOMEM;
}

void path_free(struct path *p)
{
	free(p->hop);
	free(p->via);
	p->hop = NULL;
	p->via = NULL;
}

static int append_leg(struct path *p, const struct torus_shape *shape, const uint16_t *excluded,
		      uint32_t from, uint32_t to, uint64_t row)
{
	struct torus_hop *hop;
	uint32_t n = 0;

	if (p->room - p->n < p->leg_max) {
		hop = realloc(p->hop, (2 * p->room + p->leg_max) * sizeof(*hop));
		if (!hop)
			return -ENOMEM;
		p->hop = hop;
		p->room = 2 * p->room + p->leg_max;
	}
	p->end = torus_walk(shape, excluded, from, to, row, p->hop + p->n, p->leg_max, &n);
	p->n += n < p->leg_max ? n : p->leg_max;
	return 0;
}

int path_walk(struct path *p, const struct torus_shape *shape, const uint16_t *excluded,
	      uint32_t from, uint32_t to, uint64_t row,
	      bool (*row_of)(void *arg, uint32_t at, uint32_t to, uint64_t *row), void *arg)
{
	const uint64_t relayed = TORUS_ROW_VALID | TORUS_ROW_RELAY;

	p->n = p->nvia = 0;
	p->unread = false;
	while ((row & relayed) == relayed) {
		uint32_t relay = row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK;

		p->end = relay >= torus_nodes(shape) ? TORUS_WALK_LOST : TORUS_WALK_LOOP;
	/* A right path passes no relay twice. */
		if (relay >= torus_nodes(shape) || p->nvia == torus_nodes(shape))
			return 0;
		if (append_leg(p, shape, excluded, from, relay, row))
			return -ENOMEM;
		if (p->end != TORUS_WALK_ARRIVED)
			return 0;
		p->via[p->nvia++] = from = relay;
		p->unread = !row_of(arg, relay, to, &row);
		if (p->unread) {
			p->end = TORUS_WALK_NO_ROW;
			return 0;
		}
	}
	return append_leg(p, shape, excluded, from, to, row);
}

const char *path_end_name(enum torus_walk_end end)
{
	switch (end) {
	case TORUS_WALK_ARRIVED:
		return "arrived";
	case TORUS_WALK_NO_ROW:
		return "no-row";
	case TORUS_WALK_LOST:
		return "lost";
	case TORUS_WALK_DEAD_LINK:
		return "dead-link";
	case TORUS_WALK_ORDER:
		return "order";
	case TORUS_WALK_LOOP:
		return "loop";
	}
	return "unknown";
}
