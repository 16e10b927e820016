// SPDX-License-Identifier: LGPL-2.1-or-later
/* Costs of a placement, counted on the rows. */
#include <errno.h>
#include <stdlib.h>

#include <torus/topology.h>
#include "map.h"

int lt_map_walk_new(const struct torus_map *m, struct map_walk *w)
{
	w->max = 4;
	for (unsigned int d = 0; d < m->shape->ndims; d++)
		w->max += 2u * m->shape->size[d];
	w->hop = calloc(w->max, sizeof(*w->hop));
	return w->hop ? 0 : -ENOMEM;
}

void lt_map_walk_free(struct map_walk *w)
{
	free(w->hop);
	w->hop = NULL;
}

/* Follows one row. Return: number of hops; MAP_FAR if it does not arrive */
static uint32_t follow_leg(const struct torus_map *m, struct map_walk *w, uint32_t from,
			   uint32_t to, uint64_t row, uint64_t *load, uint64_t bytes)
{
	uint32_t n;

	if (torus_walk(m->shape, m->excluded, from, to, row, w->hop, w->max, &n) !=
	    TORUS_WALK_ARRIVED || n > w->max)
		return MAP_FAR;
	for (uint32_t i = 0; load && i < n; i++)
		load[w->hop[i].node * 2 * m->shape->ndims + w->hop[i].port] += bytes;
	return n;
}

uint32_t lt_map_hops(const struct torus_map *m, struct map_walk *w, uint32_t from, uint32_t to,
		     uint64_t *load, uint64_t bytes)
{
	uint32_t nodes = torus_nodes(m->shape), hops = 0;

	/* A path that arrives has fewer legs than there are nodes. */
	for (uint32_t legs = 0; from != to && legs < nodes; legs++) {
		const uint64_t relayed = TORUS_ROW_VALID | TORUS_ROW_RELAY;
		uint64_t row = m->rows[from] ? m->rows[from][to] : 0;
		uint32_t next = to, n;

		if ((row & relayed) == relayed)
			next = row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK;
		n = follow_leg(m, w, from, next, row, load, bytes);
		hops += n;
		if (n == MAP_FAR || hops >= MAP_FAR)
			return MAP_FAR;
		from = next;
	}
	return from == to ? hops : MAP_FAR;
}

static int check_traffic(const struct torus_map *m)
{
	uint32_t nodes = torus_nodes(m->shape);

	if (!nodes || !m->ranks || m->ranks > m->slots)
		return -EINVAL;
	for (uint32_t s = 0; s < m->slots; s++)
		if (m->slot[s] >= nodes)
			return -EINVAL;
	for (size_t i = 0; i < m->n; i++)
		if (m->traffic[i].from >= m->ranks || m->traffic[i].to >= m->ranks)
			return -EINVAL;
	return 0;
}

static int check_placement(const struct torus_map *m, const uint32_t *place)
{
	bool *taken = calloc(m->slots, sizeof(*taken));
	int err = taken ? 0 : -ENOMEM;

	for (uint32_t r = 0; !err && r < m->ranks; r++) {
		if (place[r] >= m->slots || taken[place[r]])
			err = -EINVAL;
		else
			taken[place[r]] = true;
	}
	free(taken);
	return err;
}

/* Adds one entry of the traffic, and its bytes to the links that they cross. */
static int add_traffic(const struct torus_map *m, struct map_walk *w, uint32_t from, uint32_t to,
		     uint64_t bytes, uint64_t *load, struct torus_map_score *out)
{
	uint32_t hops;
	uint64_t far;

	if (!bytes)
		return 0;
	if (from == to)
		return __builtin_add_overflow(out->local, bytes, &out->local) ? -EOVERFLOW : 0;
	hops = lt_map_hops(m, w, from, to, NULL, 0);
	if (hops == MAP_FAR)
		return __builtin_add_overflow(out->stranded, bytes, &out->stranded) ? -EOVERFLOW :
										      0;
	/*
	 * Only this sum and product can overflow: hop-bytes are at least as many as the bytes, and
	 * as the load of any link.
	 */
	if (__builtin_mul_overflow(bytes, hops, &far) ||
	    __builtin_add_overflow(out->hop_bytes, far, &out->hop_bytes))
		return -EOVERFLOW;
	lt_map_hops(m, w, from, to, load, bytes);
	out->bytes += bytes;
	out->pairs++;
	out->hops += hops;
	if (hops > out->dilation)
		out->dilation = hops;
	return 0;
}

static void find_busiest(const struct torus_map *m, const uint64_t *load,
			 struct torus_map_score *out)
{
	uint32_t ports = 2u * m->shape->ndims, links = torus_nodes(m->shape) * ports;

	out->busiest = (struct torus_hop){ TORUS_NO_NODE, 0 };
	for (uint32_t i = 0; i < links; i++)
		if (load[i] > out->load) {
			out->load = load[i];
			out->busiest = (struct torus_hop){ i / ports, (uint8_t)(i % ports) };
		}
}

int torus_map_score(const struct torus_map *m, const uint32_t *place, struct torus_map_score *out)
{
	struct map_walk w = { .hop = NULL };
	uint64_t *load = NULL;
	int err = check_traffic(m);

	*out = (struct torus_map_score){ .busiest.node = TORUS_NO_NODE };
	if (!err)
		err = check_placement(m, place);
	if (!err)
		err = lt_map_walk_new(m, &w);
	if (!err) {
		load = calloc((size_t)torus_nodes(m->shape) * 2 * m->shape->ndims, sizeof(*load));
		err = load ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !err && i < m->n; i++) {
		const struct torus_traffic *t = &m->traffic[i];

		err = add_traffic(m, &w, m->slot[place[t->from]], m->slot[place[t->to]], t->bytes,
				load, out);
	}
	if (!err)
		find_busiest(m, load, out);
	free(load);
	lt_map_walk_free(&w);
	return err;
}

bool torus_map_better(const struct torus_map_score *a, const struct torus_map_score *b)
{
	if (a->stranded != b->stranded)
		return a->stranded < b->stranded;
	if (a->hop_bytes != b->hop_bytes)
		return a->hop_bytes < b->hop_bytes;
	return a->load < b->load;
}
