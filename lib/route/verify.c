// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Proof that a set of rows is safe. It does not depend on the program that made the rows.
 *
 * A row's own leg is walked by the routers' code (walk.c). Beyond its relay the relay's rows count,
 * any of them if tables are mixed: for each destination the relays that rows name make a graph over
 * the nodes, and this graph must have no cycle. A relay takes the packet out of the network into
 * its memory and sends it again, so nothing in the network waits across it; legs are separate paths
 * in the channel dependency graph.
 *
 * An adaptive packet may be at every node that its adaptive bits reach, and can enter the
 * deterministic channels from there. The proof walks that path from each such node, once for each
 * destination and for each set of directions that the packet may have left there. The first hop in
 * a dimension rules out the opposite direction; once the coordinate is reached, no direction of the
 * dimension is left.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "deps.h"
#include "health.h"
#include "kernel/core/route.h"

enum visit { NEW, OPEN, DONE };

/**
 * struct proof - state of the proof
 * @hop: hops of the present leg; it has room for @max
 * @load: for each channel, number of rows whose path crosses it
 * @hops: for each node, length of its whole way to the present destination, the worst of
 *	all tables; @legs: legs of that way; @visit: progress of this computation
 * @bad: a row on the way from the node is wrong
 * @seen: for each node, the adaptive directions that were left at its last visit, with a flag for
 *	old tables, which have other rules
 * @stack: nodes to visit
 */
struct proof {
	const struct torus_verify *v;
	struct torus_verified *out;
	struct torus_health *h;
	struct deps deps;
	uint32_t nodes;
	struct torus_hop *hop;
	uint32_t max;
	uint64_t *load;
	uint32_t *hops, *legs;
	uint8_t *visit;
	bool *bad;
	uint16_t *seen;
	uint32_t *stack;
};

static uint64_t valid_row(const struct proof *p, unsigned int table, uint32_t from, uint32_t to)
{
	const uint64_t *rows = p->v->tables[table].rows[from];

	return rows && rows[to] & TORUS_ROW_VALID ? rows[to] : 0;
}

static void report_culprit(struct proof *p, enum torus_wrong what, unsigned int table,
			   uint32_t from, uint32_t to, const struct torus_hop *at)
{
	struct torus_culprit c = {
		.what = what,
		.table = table,
		.from = from,
		.to = to,
		.row = p->v->tables[table].rows[from][to],
		.node = at ? at->node : TORUS_NO_NODE,
		.port = at ? at->port : 0,
	};

	p->out->wrong++;
	if (p->v->culprit)
		p->v->culprit(p->v->arg, &c);
}

/* Return: the node at which the first leg of the row ends. */
static uint32_t leg_end(uint64_t row, uint32_t to)
{
	return row & TORUS_ROW_RELAY ? row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK : to;
}

/* --- legs ------------------------------------------------------------------ */

/* Return: the first hop by which the leg goes all the way round a ring; NULL if there is none. */
static const struct torus_hop *whole_ring(const struct proof *p, uint32_t n)
{
	uint32_t i, run = 1;

	for (i = 1; i < n; i++) {
		unsigned int d = tn_dir_dim(p->v->shape, p->hop[i].port);

		run = p->hop[i].port == p->hop[i - 1].port ? run + 1 : 1;
		if (run >= p->v->shape->size[d])
			return &p->hop[i];
	}
	return NULL;
}

/*
 * Writes the hops of a leg to @p->hop, and their number to *@n. Return: true if the leg is right.
 */
static bool walk_leg(struct proof *p, unsigned int table, uint32_t from, uint32_t to, uint64_t row,
		     uint32_t *n)
{
	uint32_t end = leg_end(row, to), i;
	const struct torus_hop *at;
	enum torus_walk_end walk;

	if (end >= p->nodes || end == from || (row & TORUS_ROW_RELAY && end == to)) {
		report_culprit(p, TORUS_WRONG_RELAY, table, from, to, NULL);
		return false;
	}
	walk = torus_walk(p->v->shape, p->v->excluded, from, end, row, p->hop, p->max, n);
	*n = *n < p->max ? *n : p->max;
	for (i = 0; i < *n; i++)
		p->load[lt_channel(&p->deps, p->hop[i].node, p->hop[i].port)]++;
	for (i = 1; i < *n; i++)
		lt_deps_add(&p->deps, p->hop[i - 1].node, p->hop[i - 1].port, p->hop[i].port);
	if (walk == TORUS_WALK_DEAD_LINK && p->v->tables[table].old)
		return true;
	at = *n ? &p->hop[*n - 1] : NULL;
	if (walk != TORUS_WALK_ARRIVED) {
		report_culprit(p, (enum torus_wrong)walk, table, from, to, at);
		return false;
	}
	at = whole_ring(p, *n);
	if (at)
		report_culprit(p, TORUS_WRONG_RING, table, from, to, at);
	return !at;
}

/* --- the escape ------------------------------------------------------------ */

/*
 * Return: the port of the next hop of the deterministic path at @at; the number of ports or more:
 * there is none.
 */
static unsigned int escape_port(const struct proof *p, const struct torus_coords *at, uint32_t to,
				uint16_t dirs)
{
	struct tn_path path = {
		.dst = to, .dir = dirs, .first = TORUS_ROW_NO_STEP, .last = TORUS_ROW_NO_STEP,
	};

	return tn_route_next(p->v->shape, at, &path);
}

static uint16_t seen_as(uint16_t dirs, bool old)
{
	return (uint16_t)(dirs | (old ? 1u << TORUS_MAX_PORTS : 0));
}

/*
 * Return: the directions of @dirs in which a packet at @at may still go. @dir: direction in which
 * it arrived; 2 * ndims or more: the packet starts there.
 */
static uint16_t dirs_ahead(const struct torus_shape *s, const struct torus_coords *at,
			   const struct torus_coords *goal, uint16_t dirs, unsigned int dir)
{
	unsigned int d;

	if (dir < 2u * s->ndims)
		dirs &= (uint16_t)~(1u << tn_dir_opposite(s, dir));
	for (d = 0; d < s->ndims; d++)
		if (at->c[d] == goal->c[d])
			dirs &= (uint16_t)~(1u << d | 1u << (s->ndims + d));
	return dirs;
}

/*
 * Checks one node that an adaptive packet may reach, and pushes the nodes to which it may go from
 * there.
 * Return: true if the deterministic path from there is healthy. Where an old row meets a dead link,
 * the packet is parked; it may have crossed that link before.
 */
static bool escape_at(struct proof *p, uint32_t node, uint32_t to, uint16_t dirs, bool old,
		      uint32_t *height, struct torus_hop *where)
{
	const struct torus_shape *s = p->v->shape;
	struct torus_coords at, goal, next;
	unsigned int dir, det, then;

	tn_node_coords(s, node, &at);
	tn_node_coords(s, to, &goal);
	det = escape_port(p, &at, to, dirs);
	*where = (struct torus_hop){ node, (uint8_t)det };
	if (det == TN_ROUTE_HERE)
		return true;
	if (det >= 2u * s->ndims || (torus_health_cut(p->h, node, det) && !old))
		return false;
	next = at;
	tn_step(s, &next, det);
	then = escape_port(p, &next, to, dirs);
	if (then < 2u * s->ndims)
		lt_deps_add(&p->deps, node, det, then);
	for (dir = 0; dir < 2u * s->ndims; dir++) {
		uint32_t to_node;
		uint16_t left;

		if (!(dirs & 1u << dir) || (torus_health_cut(p->h, node, dir) && !old))
			continue;
		next = at;
		tn_step(s, &next, dir);
		to_node = tn_node_id(s, &next);
		left = seen_as(dirs_ahead(s, &next, &goal, dirs, dir), old);
		if (p->seen[to_node] == left)
			continue;
		p->seen[to_node] = left;
		invariant(*height < p->nodes);
		p->stack[(*height)++] = to_node;
	}
	return true;
}

/* Begins another search for the present destination, in which no node counts as visited. */
static void see_anew(struct proof *p)
{
	memset(p->seen, 0xff, p->nodes * sizeof(*p->seen));
}

/*
 * Checks the escapes of one leg, from @from to @end, which is @to or a relay. Return: true if they
 * are healthy.
 */
static bool escapes_to(struct proof *p, unsigned int table, uint32_t from, uint32_t to,
		       uint32_t end, uint64_t row)
{
	uint16_t dirs = (uint16_t)(row >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK);
	bool old = p->v->tables[table].old;
	struct torus_coords at, goal;
	struct torus_hop where;
	uint32_t height = 0;

	tn_node_coords(p->v->shape, from, &at);
	tn_node_coords(p->v->shape, end, &goal);
	dirs = dirs_ahead(p->v->shape, &at, &goal, dirs, TN_ROUTE_HERE);
	if (p->seen[from] == seen_as(dirs, old))
		return true;
	p->seen[from] = seen_as(dirs, old);
	p->stack[height++] = from;
	while (height) {
		uint32_t node = p->stack[--height];

		dirs = p->seen[node] & TORUS_ROW_DIR_MASK;
		if (escape_at(p, node, end, dirs, old, &height, &where))
			continue;
		/* Clear the visits, so that another path to this node is reported, too. */
		see_anew(p);
		report_culprit(p, TORUS_WRONG_ESCAPE, table, from, to, &where);
		return false;
	}
	return true;
}

/*
 * Checks the escapes of a row. A relay is another destination, so the visits are forgotten before
 * its leg.
 */
static bool check_escape(struct proof *p, unsigned int table, uint32_t from, uint32_t to,
			 uint64_t row)
{
	bool right;

	if (!(row & TORUS_ROW_RELAY))
		return escapes_to(p, table, from, to, to, row);
	see_anew(p);
	right = escapes_to(p, table, from, to, leg_end(row, to), row);
	see_anew(p);
	return right;
}

/* --- chains of relays ------------------------------------------------------ */

/* Checks one row: the path of its leg, and the deterministic path as its escape. */
static void check_row(struct proof *p, unsigned int table, uint32_t from, uint32_t to)
{
	uint64_t row = valid_row(p, table, from, to);
	bool old = p->v->tables[table].old, right;
	uint32_t n;

	if (!p->v->tables[table].rows[from])
		return;
	if (!row) {
		if (!old)
			report_culprit(p, TORUS_WRONG_NO_ROW, table, from, to, NULL);
		p->bad[from] = p->bad[from] || !old;
		return;
	}
	right = walk_leg(p, table, from, to, row, &n);
	if (right && row & TORUS_ROW_ADAPTIVE) {
		right = check_escape(p, table, from, to, row);
		p->out->adaptive++;
	}
	p->out->relayed += !!(row & TORUS_ROW_RELAY);
	p->bad[from] = p->bad[from] || !right;
	if (!(row & TORUS_ROW_RELAY) && right) {
		p->hops[from] = n > p->hops[from] ? n : p->hops[from];
		p->legs[from] = p->legs[from] ? p->legs[from] : 1;
	}
}

/*
 * Return: the relay that a row to @to names; TORUS_NO_NODE if the row has no relay, or its relay
 * does not exist.
 */
static uint32_t relay_of(const struct proof *p, unsigned int table, uint32_t from, uint32_t to)
{
	uint64_t row = valid_row(p, table, from, to);
	uint32_t relay = leg_end(row, to);

	return row & TORUS_ROW_RELAY && relay < p->nodes ? relay : TORUS_NO_NODE;
}

/*
 * Sets hops, legs and errors of the path from @node, when the values of all its relays are known.
 */
static void chain_done(struct proof *p, uint32_t node, uint32_t to)
{
	unsigned int t;
	uint32_t n;

	for (t = 0; t < p->v->n; t++) {
		uint32_t relay = relay_of(p, t, node, to);

		if (relay == TORUS_NO_NODE)
			continue;
		torus_walk(p->v->shape, p->v->excluded, node, relay, valid_row(p, t, node, to),
			   NULL, 0, &n);
		if (relay == to)
			continue;
		if (p->bad[relay])
			p->bad[node] = true;
		if (p->hops[node] < n + p->hops[relay])
			p->hops[node] = n + p->hops[relay];
		if (p->legs[node] < 1 + p->legs[relay])
			p->legs[node] = 1 + p->legs[relay];
	}
	p->visit[node] = DONE;
}

/*
 * Walks depth first from relay to relay: if the walk meets a relay whose own walk has not ended
 * (OPEN), the relays form a cycle.
 */
static void walk_chain(struct proof *p, uint32_t from, uint32_t to)
{
	uint32_t height = 0;

	if (p->visit[from] != NEW)
		return;
	p->stack[height++] = from;
	p->visit[from] = OPEN;
	while (height) {
		uint32_t node = p->stack[height - 1], next = TORUS_NO_NODE;
		unsigned int t;

		for (t = 0; t < p->v->n && next == TORUS_NO_NODE; t++) {
			uint32_t relay = relay_of(p, t, node, to);

			if (relay == TORUS_NO_NODE || p->visit[relay] == DONE)
				continue;
			if (p->visit[relay] == NEW) {
				next = relay;
			} else if (!p->bad[node]) {
				p->bad[node] = true;
				report_culprit(p, TORUS_WRONG_RELAY, t, node, to, NULL);
			}
		}
		if (next != TORUS_NO_NODE) {
			invariant(height < p->nodes);
			p->visit[next] = OPEN;
			p->stack[height++] = next;
		} else {
			chain_done(p, node, to);
			height--;
		}
	}
}

/* --- the whole ------------------------------------------------------------- */

static bool is_counted(const struct proof *p, uint32_t node)
{
	return p->v->up ? p->v->up[node] : !lt_isolated(p->h, node);
}

static bool is_node_known(const struct proof *p, uint32_t node)
{
	unsigned int t;

	for (t = 0; t < p->v->n; t++)
		if (p->v->tables[t].rows[node])
			return true;
	return false;
}

static int check_to(struct proof *p, uint32_t to)
{
	struct torus_verified *out = p->out;
	uint32_t from;
	unsigned int t;

	memset(p->hops, 0, p->nodes * sizeof(*p->hops));
	memset(p->legs, 0, p->nodes * sizeof(*p->legs));
	memset(p->visit, NEW, p->nodes);
	memset(p->bad, 0, p->nodes * sizeof(*p->bad));
	see_anew(p);
	for (from = 0; from < p->nodes; from++) {
		int apart = from == to || !is_counted(p, from) || !is_node_known(p, from)
			    ? -1 : lt_apart(p->h, from, to);

		if (apart == -ENOMEM)
			return apart;
		p->visit[from] = apart ? DONE : NEW;
		out->apart += apart == 1;
		for (t = 0; !apart && t < p->v->n; t++)
			check_row(p, t, from, to);
	}
	for (from = 0; from < p->nodes; from++)
		walk_chain(p, from, to);
	return 0;
}

/* Adds the load of the pair on channels beyond its first relay. */
static void load_on(struct proof *p, unsigned int table, uint32_t from, uint32_t to)
{
	uint32_t node = relay_of(p, table, from, to), n, i;

	while (node != TORUS_NO_NODE && node != to && !p->bad[node]) {
		uint64_t row = valid_row(p, table, node, to);

		if (!row)
			return;
		torus_walk(p->v->shape, p->v->excluded, node, leg_end(row, to), row, p->hop,
			   p->max, &n);
		for (i = 0; i < n && i < p->max; i++)
			p->load[lt_channel(&p->deps, p->hop[i].node, p->hop[i].port)]++;
		node = leg_end(row, to);
	}
}

static void count_pairs(struct proof *p, uint32_t to)
{
	struct torus_verified *out = p->out;
	uint32_t from;
	unsigned int t;

	for (from = 0; from < p->nodes; from++) {
		if (from == to || !is_counted(p, from) || !is_node_known(p, from) ||
		    lt_apart(p->h, from, to))
			continue;
		for (t = 0; t < p->v->n && !p->bad[from]; t++)
			load_on(p, t, from, to);
		out->pairs++;
		out->unroutable += p->bad[from];
		out->hops += p->bad[from] ? 0 : p->hops[from];
		out->hops_max = p->hops[from] > out->hops_max ? p->hops[from] : out->hops_max;
		out->legs_max = p->legs[from] > out->legs_max ? p->legs[from] : out->legs_max;
	}
}

/*
 * Reports the rows that close a cycle: rows with a turn from a direction to a lower one within a
 * bad component of the graph. Each cycle has such a turn.
 */
static void blame_cycles(struct proof *p)
{
	uint32_t from, to, n, i;
	unsigned int t;

	for (t = 0; t < p->v->n; t++)
		for (from = 0; from < p->nodes; from++)
			for (to = 0; to < p->nodes; to++) {
				uint64_t row = valid_row(p, t, from, to);

				torus_walk(p->v->shape, p->v->excluded, from, leg_end(row, to),
					   row, p->hop, p->max, &n);
				for (i = 1; i < n && i < p->max; i++) {
					const struct torus_hop *a = &p->hop[i - 1], *b = a + 1;

					if (a->port <= b->port ||
					    !lt_deps_bad(&p->deps,
							 lt_channel(&p->deps, a->node, a->port),
							 lt_channel(&p->deps, b->node, b->port)))
						continue;
					report_culprit(p, TORUS_WRONG_CYCLE, t, from, to, b);
					break;
				}
			}
}

static int prove_all(struct proof *p)
{
	uint32_t to, i;
	int ret = 0;

	for (to = 0; to < p->nodes && !ret; to++) {
		if (!is_counted(p, to))
			continue;
		ret = check_to(p, to);
		count_pairs(p, to);
	}
	if (ret)
		return ret;
	ret = lt_deps_solve(&p->deps);
	if (ret < 0)
		return ret;
	p->out->cycles = (uint32_t)ret;
	if (ret)
		blame_cycles(p);
	for (i = 0; i < p->deps.channels; i++)
		if (p->load[i] > p->out->load_max)
			p->out->load_max = p->load[i];
	return 0;
}

static int make_proof(struct proof *p)
{
	const struct torus_shape *s = p->v->shape;
	unsigned int d;
	int err = torus_health_new(s, p->v->excluded, &p->h);

	if (err)
		return err;
	p->nodes = torus_nodes(s);
	p->max = 4;
	for (d = 0; d < s->ndims; d++)
		p->max += 2u * s->size[d];
	p->hop = malloc(p->max * sizeof(*p->hop));
	p->load = calloc((size_t)p->nodes * 2 * s->ndims, sizeof(*p->load));
	p->hops = calloc(p->nodes, sizeof(*p->hops));
	p->legs = calloc(p->nodes, sizeof(*p->legs));
	p->visit = calloc(p->nodes, sizeof(*p->visit));
	p->bad = calloc(p->nodes, sizeof(*p->bad));
	p->seen = calloc(p->nodes, sizeof(*p->seen));
	p->stack = calloc(p->nodes, sizeof(*p->stack));
	if (!p->hop || !p->load || !p->hops || !p->legs || !p->visit || !p->bad || !p->seen ||
	    !p->stack)
		return -ENOMEM;
	return lt_deps_init(&p->deps, s);
}

int torus_verify(const struct torus_verify *v, struct torus_verified *out)
{
	struct proof p = { .v = v, .out = out };
	int err;

	*out = (struct torus_verified){ .wrong = 0 };
	err = make_proof(&p);
	if (!err)
		err = prove_all(&p);
	lt_deps_free(&p.deps);
	free(p.hop);
	free(p.load);
	free(p.hops);
	free(p.legs);
	free(p.visit);
	free(p.bad);
	free(p.seen);
	free(p.stack);
	torus_health_free(p.h);
	return err;
}

const char *torus_wrong_text(enum torus_wrong what)
{
	switch (what) {
	case TORUS_WRONG_RING:
		return "goes once round a ring";
	case TORUS_WRONG_RELAY:
		return "its chain of relays does not end";
	case TORUS_WRONG_ESCAPE:
		return "adaptive, but comes to a node from which no healthy link leads on";
	case TORUS_WRONG_CYCLE:
		return "is part of a circle of channels that wait for each other";
	default:
		return torus_walk_end_text((enum torus_walk_end)what);
	}
}
