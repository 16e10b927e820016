// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>

#include "path.h"

int path_init(struct path *p, const struct torus_shape *shape)
{
	uint32_t max = 4;

	for (unsigned int d = 0; d < shape->ndims; d++)
		max += 2u * shape->size[d];
	*p = (struct path){ .max = PATH_LEGS_MAX * max };
	p->hop = calloc(p->max, sizeof(*p->hop));
	return p->hop ? 0 : -ENOMEM;
}

void path_free(struct path *p)
{
	free(p->hop);
	p->hop = NULL;
}

static void leg(struct path *p, const struct torus_shape *shape, const uint16_t *excluded,
		uint32_t from, uint32_t to, uint64_t row)
{
	uint32_t n = 0;

	p->end = torus_walk(shape, excluded, from, to, row, p->hop + p->n, p->max - p->n, &n);
	p->n += n;
	if (p->n > p->max)
		p->n = p->max;
}

void path_walk(struct path *p, const struct torus_shape *shape, const uint16_t *excluded,
	       uint32_t from, uint32_t to, uint64_t row,
	       bool (*row_of)(void *arg, uint32_t at, uint32_t to, uint64_t *row), void *arg)
{
	p->n = 0;
	p->via = TORUS_NO_NODE;
	if (!(row & TORUS_ROW_VALID) || !(row & TORUS_ROW_RELAY)) {
		leg(p, shape, excluded, from, to, row);
		return;
	}
	p->via = row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK;
	if (p->via >= torus_nodes(shape)) {
		p->end = TORUS_WALK_LOST;
		return;
	}
	leg(p, shape, excluded, from, p->via, row);
	if (p->end != TORUS_WALK_ARRIVED)
		return;
	if (row_of(arg, p->via, to, &row) && !(row & TORUS_ROW_RELAY))
		leg(p, shape, excluded, p->via, to, row);
	else
		p->end = TORUS_WALK_NO_ROW;
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
