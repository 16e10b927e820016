// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "dm.h"

/*
 * Return: the smaller one of the numbers of neighbours of both ends of an edge. Before the first
 * step it is 0 for all edges, because to count neighbours there would take longer than all else.
 */
static uint32_t least_degree(const struct lt_level *l, uint32_t a, uint32_t b)
{
	uint32_t of_a, of_b;

	if (!l->first)
		return 0;
	of_a = l->first[a + 1] - l->first[a];
	of_b = l->first[b + 1] - l->first[b];
	return of_a < of_b ? of_a : of_b;
}

/* Return: true if the edge from @v to @a comes before that to @b. */
static bool edge_comes_first(const struct lt_level *l, uint32_t v, const struct lt_edge *a,
			     const struct lt_edge *b)
{
	uint32_t low_a = a->to < v ? a->to : v, low_b = b->to < v ? b->to : v;
	uint32_t degree_a = least_degree(l, v, a->to), degree_b = least_degree(l, v, b->to);

	if (degree_a != degree_b)
		return degree_a < degree_b;
	if (a->key != b->key)
		return a->key > b->key;
	return low_a != low_b ? low_a < low_b : a->to < b->to;
}

/*
 * Return: the partner of @v by the first of its free edges, in order; TORUS_NO_NODE if none is
 * free.
 */
static uint32_t first_choice(const struct lt_level *l, const uint32_t *mate, uint32_t v)
{
	const struct lt_edge *e, *best = NULL;

	for (uint32_t n = lt_dm_edges(l, v, &e); n--; e++)
		if (mate[e->to] == TORUS_NO_NODE && (!best || edge_comes_first(l, v, e, best)))
			best = e;
	return best ? best->to : TORUS_NO_NODE;
}

/*
 * Follows first choices from @v until two sets choose each other, and pairs these. Then goes back
 * along the path to the last set that can still choose. Each choice comes before the last one in
 * the order of edges, so a path visits no set twice.
 */
static void follow_choices(const struct lt_level *l, uint32_t *mate, uint32_t *path, uint32_t v)
{
	uint32_t n = 0;

	path[n++] = v;
	while (n) {
		uint32_t from = path[n - 1], to;

		to = mate[from] == TORUS_NO_NODE ? first_choice(l, mate, from) : TORUS_NO_NODE;
		if (to == TORUS_NO_NODE) {
			n--;
		} else if (first_choice(l, mate, to) == from) {
			mate[from] = to;
			mate[to] = from;
			n--;
		} else {
			path[n++] = to;
		}
	}
}

int lt_match_dominant(const struct lt_level *l, uint32_t *mate)
{
	uint32_t *path = malloc(l->n * sizeof(*path));

	if (!path)
		return -ENOMEM;
	for (uint32_t v = 0; v < l->n; v++)
		mate[v] = TORUS_NO_NODE;
	for (uint32_t v = 0; v < l->n; v++)
		follow_choices(l, mate, path, v);
	free(path);
	return 0;
}
