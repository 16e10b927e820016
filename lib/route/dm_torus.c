// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "dm.h"
#include "search.h"

void lt_dm_part_free(struct lt_dm_part *part)
{
	if (!part)
		return;
	free(part->node);
	free(part->vertex);
	free(part);
}

static uint32_t node_of_vertex(const struct lt_dm_part *part, uint32_t v)
{
	return part->node ? part->node[v] : v;
}

static uint32_t vertex_of_node(const struct lt_dm_part *part, uint32_t node)
{
	return part->vertex ? part->vertex[node] : node;
}

static uint32_t part_next(void *arg, uint32_t v, unsigned int port)
{
	const struct lt_dm_part *part = arg;
	uint32_t node = node_of_vertex(part, v);

	if (torus_health_cut(part->h, node, port))
		return TORUS_NO_NODE;
	return vertex_of_node(part, torus_neighbour(&part->h->shape, node, port));
}

static unsigned int part_dim(void *arg, uint32_t v, unsigned int port)
{
	const struct lt_dm_part *part = arg;

	(void)v;
	return port % part->h->shape.ndims;
}

/* Lists the nodes of the component whose lowest node is @label. Return: 0 or -ENOMEM. */
static int list_part(struct lt_dm_part *part, uint32_t label)
{
	struct torus_health *h = part->h;

	for (uint32_t node = 0; node < h->nodes; node++)
		part->n += torus_health_component(h, node) == label;
	if (part->n == h->nodes)
		return 0;
	part->node = malloc(part->n * sizeof(*part->node));
	part->vertex = malloc(h->nodes * sizeof(*part->vertex));
	if (!part->node || !part->vertex)
		return -ENOMEM;
	part->n = 0;
	for (uint32_t node = 0; node < h->nodes; node++) {
		part->vertex[node] = TORUS_NO_NODE;
		if (torus_health_component(h, node) == label) {
			part->vertex[node] = part->n;
			part->node[part->n++] = node;
		}
	}
	return 0;
}

int torus_dm_new_torus(struct torus_health *h, uint32_t from, const struct torus_dm_rule *rule,
		       struct torus_dm **out)
{
	struct lt_dm_part *part;
	struct torus_graph g;
	uint32_t label;
	int err;

	if (from >= h->nodes)
		return -EINVAL;
	label = torus_health_component(h, from);
	part = calloc(1, sizeof(*part));
	if (!part || label == TORUS_NO_NODE) {
		free(part);
		return -ENOMEM;
	}
	part->h = h;
	err = list_part(part, label);
	g = (struct torus_graph){ .n = part->n, .degree = 2u * h->shape.ndims, .next = part_next,
		.dim = part_dim, .arg = part };
	if (!err)
		err = torus_dm_new(&g, rule, out);
	if (err) {
		lt_dm_part_free(part);
		return err;
	}
	(*out)->part = part;
	return 0;
}

uint32_t torus_dm_node(const struct torus_dm *dm, uint32_t v)
{
	return node_of_vertex(dm->part, v);
}

uint32_t torus_dm_node_vertex(const struct torus_dm *dm, uint32_t node)
{
	return vertex_of_node(dm->part, node);
}

/* --- rows ---------------------------------------------------------------------- */

/**
 * struct gate - the best gateway to a half that was found so far
 * @vertex: the gateway
 * @hops: length of the row's path
 * @row: row to it, without a relay; 0: none was found
 * @any: there is a vertex in this half
 */
struct gate {
	uint32_t vertex;
	unsigned int hops;
	uint64_t row;
	bool any;
};

/* Makes @d the gateway if its path is shorter, or as short and its address lower. */
static void consider_gate(const struct torus_dm *dm, uint32_t v, uint32_t d, struct gate *gate)
{
	struct torus_health *h = dm->part->h;
	struct torus_coords from, to;
	uint64_t row = lt_direct_row(h, torus_dm_node(dm, v), torus_dm_node(dm, d));
	unsigned int hops;

	gate->any = true;
	if (!row)
		return;
	torus_node_coords(&h->shape, torus_dm_node(dm, v), &from);
	torus_node_coords(&h->shape, torus_dm_node(dm, d), &to);
	hops = lt_row_hops(h, &from, &to, row);
	if (gate->row && (hops > gate->hops || (hops == gate->hops &&
						dm->address[d] > dm->address[gate->vertex])))
		return;
	*gate = (struct gate){ .vertex = d, .hops = hops, .row = row, .any = true };
}

/*
 * Finds the first vertex of a shortest path from @v to the half of digit @digit, among the vertices
 * that agree with @v in the digits before it. Return: the vertex; TORUS_NO_NODE if out of memory.
 */
static uint32_t first_vertex(const struct torus_dm *dm, uint32_t v, unsigned int digit)
{
	const struct torus_graph *g = &dm->graph;
	uint32_t *queue = malloc(g->n * sizeof(*queue)), *by = malloc(g->n * sizeof(*by));
	uint32_t head = 0, tail = 0, found = TORUS_NO_NODE, own = dm->address[v];

	for (uint32_t i = 0; by && i < g->n; i++)
		by[i] = TORUS_NO_NODE;
	if (queue && by) {
		by[v] = v;
		queue[tail++] = v;
	}
	while (head < tail && found == TORUS_NO_NODE) {
		uint32_t at = queue[head++];

		for (unsigned int p = 0; p < g->degree && found == TORUS_NO_NODE; p++) {
			uint32_t to = g->next(g->arg, at, p);

			if (to == TORUS_NO_NODE || by[to] != TORUS_NO_NODE ||
			    (dm->address[to] ^ own) >> (dm->m - digit))
				continue;
			by[to] = at == v ? to : by[at];
			queue[tail++] = to;
			if (torus_dm_digit(dm->m, own, dm->address[to]) == digit)
				found = by[to];
		}
	}
	free(queue);
	free(by);
	return found;
}

int torus_dm_rows(const struct torus_dm *dm, uint32_t v, uint64_t rows[TORUS_DM_DIGITS_MAX])
{
	struct gate gate[TORUS_DM_DIGITS_MAX] = { { .any = false } };
	unsigned int digit;

	if (!dm->part || v >= dm->graph.n)
		return -EINVAL;
	for (uint32_t d = 0; d < dm->graph.n; d++) {
		if (d == v)
			continue;
		digit = torus_dm_digit(dm->m, dm->address[v], dm->address[d]);
		consider_gate(dm, v, d, &gate[digit]);
	}
	for (unsigned int i = 0; i < dm->m; i++) {
		if (gate[i].any && !gate[i].row) {
			uint32_t next = first_vertex(dm, v, i);

			if (next == TORUS_NO_NODE)
				return -ENOMEM;
			consider_gate(dm, v, next, &gate[i]);
			invariant(gate[i].row);
		}
		rows[i] = gate[i].any ? gate[i].row | TORUS_ROW_RELAY |
			  (uint64_t)torus_dm_node(dm, gate[i].vertex) << TORUS_ROW_RELAY_SHIFT : 0;
	}
	return 0;
}
