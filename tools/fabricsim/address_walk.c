// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "address_walk.h"

#define NEVER UINT32_MAX

/**
 * struct walker - the tables of all vertices, and room for the paths to one destination
 * @m: digits
 * @port, @gateway, @best: of each vertex and digit: port, gateway, and hops to it
 * @hops: of each vertex, digit and port
 * @away: hops of shortest paths to the destination
 * @total, @legs: hops and legs of the paths to it, NEVER if they do not end; 0 legs: not yet known
 * @queue: vertices
 */
struct walker {
	const struct address_graph *g;
	const struct torus_dm *dm;
	unsigned int m;
	uint8_t *port;
	uint32_t *gateway;
	uint16_t *best, *hops;
	uint32_t *away, *total, *legs, *queue;
};

static void free_walker(struct walker *w)
{
	free(w->port);
	free(w->gateway);
	free(w->best);
	free(w->hops);
	free(w->away);
	free(w->total);
	free(w->legs);
	free(w->queue);
}

/* Return: 0 or -ENOMEM. */
static int make_walker(struct walker *w, const struct address_graph *g, const struct torus_dm *dm)
{
	size_t rows = (size_t)g->n * (torus_dm_digits(dm) + 1u);

	*w = (struct walker){ .g = g, .dm = dm, .m = torus_dm_digits(dm) };
	w->port = malloc(rows * sizeof(*w->port));
	w->gateway = malloc(rows * sizeof(*w->gateway));
	w->best = malloc(rows * sizeof(*w->best));
	w->hops = malloc((rows * g->degree + 1) * sizeof(*w->hops));
	w->away = malloc(g->n * sizeof(*w->away));
	w->total = malloc(g->n * sizeof(*w->total));
	w->legs = malloc(g->n * sizeof(*w->legs));
	w->queue = malloc(g->n * sizeof(*w->queue));
	if (!w->port || !w->gateway || !w->best || !w->hops || !w->away || !w->total || !w->legs ||
	    !w->queue)
		return -ENOMEM;
	for (uint32_t v = 0; v < g->n; v++) {
		size_t row = (size_t)v * w->m;

		if (torus_dm_tables(dm, v, w->port + row, w->gateway + row,
				    w->hops + row * g->degree))
			return -ENOMEM;
		for (unsigned int i = 0; i < w->m; i++)
			w->best[row + i] = w->port[row + i] == TORUS_DM_NO_PORT ? TORUS_DM_NO_WAY :
				w->hops[(row + i) * g->degree + w->port[row + i]];
	}
	return 0;
}

static size_t row_towards(const struct walker *w, uint32_t v, uint32_t to)
{
	return (size_t)v * w->m + torus_dm_digit(w->m, torus_dm_address(w->dm, v),
						 torus_dm_address(w->dm, to));
}

/* Sets the shortest distances to @to. Edges lead both ways. */
static void measure_distances(struct walker *w, uint32_t to)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t v = 0; v < w->g->n; v++)
		w->away[v] = NEVER;
	w->away[to] = 0;
	w->queue[tail++] = to;
	while (head < tail) {
		uint32_t at = w->queue[head++];

		for (unsigned int p = 0; p < w->g->degree; p++) {
			uint32_t next = w->g->to[(size_t)at * w->g->degree + p];

			if (next == TORUS_NO_NODE || w->away[next] != NEVER)
				continue;
			w->away[next] = w->away[at] + 1;
			w->queue[tail++] = next;
		}
	}
}

/*
 * Follows the path from @from until it comes to a vertex whose path is known, or to itself, and
 * sets the vertices on it.
 */
static void follow_path(struct walker *w, uint32_t from, uint32_t to, bool as_written)
{
	uint32_t n = 0, at = from, total, legs;

	while (!w->legs[at] && at != to) {
		size_t row = row_towards(w, at, to);

		w->queue[n++] = at;
		w->legs[at] = NEVER;	/* if no case below sets it, the path has met itself */
		at = as_written ? w->g->to[(size_t)at * w->g->degree + w->port[row]] :
		     w->gateway[row];
	}
	total = at == to ? 0 : w->total[at];
	legs = at == to ? 0 : w->legs[at];
	while (n--) {
		at = w->queue[n];
		if (legs != NEVER) {
			legs++;
			total += as_written ? 1 : w->best[row_towards(w, at, to)];
		}
		w->legs[at] = legs;
		w->total[at] = total;
	}
}

/* Return: number of vertices from which no choice of equally short ports leads to @to. */
static uint32_t count_unserved(struct walker *w, uint32_t to)
{
	const struct address_graph *g = w->g;
	uint32_t head = 0, tail = 0;

	memset(w->legs, 0, g->n * sizeof(*w->legs));
	w->legs[to] = 1;
	w->queue[tail++] = to;
	while (head < tail) {
		uint32_t at = w->queue[head++];

		for (unsigned int p = 0; p < g->degree; p++) {
			uint32_t from = g->to[(size_t)at * g->degree + p];
			size_t row;

			if (from == TORUS_NO_NODE || w->legs[from])
				continue;
			row = row_towards(w, from, to);
			for (unsigned int q = 0; q < g->degree && !w->legs[from]; q++)
				w->legs[from] = g->to[(size_t)from * g->degree + q] == at &&
						w->hops[row * g->degree + q] == w->best[row];
			if (w->legs[from])
				w->queue[tail++] = from;
		}
	}
	return g->n - tail;
}

int address_walk(const struct address_graph *g, const struct torus_dm *dm, bool as_written,
		 struct address_walk *out)
{
	struct walker w;
	int err = make_walker(&w, g, dm);

	*out = (struct address_walk){ .pairs = (uint64_t)g->n * (g->n - 1) };
	for (uint32_t to = 0; !err && to < g->n; to++) {
		measure_distances(&w, to);
		memset(w.legs, 0, g->n * sizeof(*w.legs));
		for (uint32_t from = 0; from < g->n; from++) {
			if (from == to)
				continue;
			follow_path(&w, from, to, as_written);
			if (w.legs[from] == NEVER) {
				out->loops++;
				continue;
			}
			out->hops += w.total[from];
			out->legs += w.legs[from];
			out->minimal += w.away[from];
		}
		if (as_written)
			out->loops_any += count_unserved(&w, to);
	}
	free_walker(&w);
	return err;
}
