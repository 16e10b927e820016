// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include "dm.h"

/**
 * struct ripple - a search that meets the vertices in the order of their distance
 * @dm: the addresses
 * @from: vertex at which it begins
 * @hops: for each digit hops to the nearest vertex of the other half; TORUS_DM_NO_WAY
 * @gateway: for each digit that vertex
 * @queue: vertices that were met
 * @met: for each vertex, number of the search that met it last
 * @round: number of the present search
 */
struct ripple {
	const struct torus_dm *dm;
	uint32_t from;
	uint16_t hops[TORUS_DM_DIGITS_MAX];
	uint32_t gateway[TORUS_DM_DIGITS_MAX];
	uint32_t *queue, *met, round;
};

/*
 * Called for each vertex @at that is @hops away: keeps it as the gateway of its half if it is the
 * nearest one, or has the lowest address of the nearest ones. @own: the address to which halves
 * refer.
 */
static void note_vertex(struct ripple *r, uint32_t own, uint32_t at, uint16_t hops)
{
	const struct torus_dm *dm = r->dm;
	unsigned int digit;

	if (dm->address[at] == own)
		return;
	digit = torus_dm_digit(dm->m, own, dm->address[at]);
	if (hops > r->hops[digit] || (hops == r->hops[digit] &&
				      dm->address[at] > dm->address[r->gateway[digit]]))
		return;
	r->hops[digit] = hops;
	r->gateway[digit] = at;
}

/* Searches breadth first from @from, for the gateway of each half. */
static void search_halves(struct ripple *r, uint32_t own, uint32_t from)
{
	const struct torus_graph *g = &r->dm->graph;
	uint32_t head = 0, tail = 0, end = 1;
	uint16_t hops = 0;

	for (unsigned int i = 0; i < TORUS_DM_DIGITS_MAX; i++) {
		r->hops[i] = TORUS_DM_NO_WAY;
		r->gateway[i] = TORUS_NO_NODE;
	}
	r->round++;
	r->queue[tail++] = from;
	r->met[from] = r->round;
	while (head < tail) {
		uint32_t at = r->queue[head++];

		note_vertex(r, own, at, hops);
		for (unsigned int port = 0; port < g->degree; port++) {
			uint32_t to = g->next(g->arg, at, port);

			if (to == TORUS_NO_NODE || r->met[to] == r->round)
				continue;
			r->met[to] = r->round;
			r->queue[tail++] = to;
		}
		if (head == end) {
			end = tail;
			hops += hops < TORUS_DM_NO_WAY - 2;
		}
	}
}

/*
 * Finds the gateways behind @p, one hop from the vertex itself, and takes those that are nearer
 * than before.
 */
static void add_way_by(struct ripple *r, unsigned int p, uint8_t *port, uint32_t *gateway,
		       uint16_t *best, uint16_t *hops)
{
	const struct torus_dm *dm = r->dm;
	unsigned int degree = dm->graph.degree;
	uint32_t to = dm->graph.next(dm->graph.arg, r->from, p);

	if (to == TORUS_NO_NODE)
		return;
	search_halves(r, dm->address[r->from], to);
	for (unsigned int i = 0; i < dm->m; i++) {
		uint16_t h = r->hops[i];

		if (h == TORUS_DM_NO_WAY)
			continue;
		h++;
		if (hops)
			hops[i * degree + p] = h;
		if (h < best[i]) {
			best[i] = h;
			port[i] = (uint8_t)p;
			if (gateway)
				gateway[i] = r->gateway[i];
		} else if (h == best[i] && gateway &&
			   dm->address[r->gateway[i]] < dm->address[gateway[i]]) {
			gateway[i] = r->gateway[i];
		}
	}
}

int torus_dm_tables(const struct torus_dm *dm, uint32_t v, uint8_t *port, uint32_t *gateway,
		    uint16_t *hops)
{
	struct ripple r = { .dm = dm, .from = v };
	uint16_t best[TORUS_DM_DIGITS_MAX];
	int err = 0;

	if (v >= dm->graph.n)
		return -EINVAL;
	r.queue = malloc(dm->graph.n * sizeof(*r.queue));
	r.met = calloc(dm->graph.n, sizeof(*r.met));
	if (!r.queue || !r.met)
		err = -ENOMEM;
	for (unsigned int i = 0; !err && i < dm->m; i++) {
		best[i] = TORUS_DM_NO_WAY;
		port[i] = TORUS_DM_NO_PORT;
		if (gateway)
			gateway[i] = TORUS_NO_NODE;
		for (unsigned int p = 0; hops && p < dm->graph.degree; p++)
			hops[i * dm->graph.degree + p] = TORUS_DM_NO_WAY;
	}
	for (unsigned int p = 0; !err && p < dm->graph.degree; p++)
		add_way_by(&r, p, port, gateway, best, hops);
	free(r.queue);
	free(r.met);
	return err;
}
