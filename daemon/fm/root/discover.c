// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: sizes and coordinates from reported cables
 *
 * Every node reports for every port the GUID and port at the other end. So the root knows the whole
 * graph, and need not trust the positions from the wave of Inits.
 *
 * Size of a dimension. The root follows + ports until they come back to the start. Each such ring
 * votes for its length; the majority wins, and the shorter length if there are equally many.
 * Crossed cables change the length of a few rings; two rings that became one have one vote, not one
 * for each node. If no ring closes (each has a link that is down, or the dimension is a mesh), the
 * nodes are laid out by breadth first search without modulo. A cable that then leads to another
 * position than one step on leads round the dimension: what it is off by is a multiple of the size,
 * so the size is the greatest common divisor of these numbers. If there is no such cable either,
 * the dimension is a mesh, and its size is the number of its positions.
 *
 * Coordinates. Cables that close a square (corner.c), or are on rings that close after the right
 * number of nodes, are trusted first; those whose squares stay open, or whose ring closes after
 * another number of nodes, last. The root is at 0. The next node to be placed is the one with the
 * most placed neighbours that imply the same place. Then nodes move to the place that most of their
 * neighbours imply, or exchange places, as long as that makes more cables right. So a crossed pair
 * of cables is reported as two wrong cables, not as two wrong nodes. All of this takes time in
 * proportion to the number of cables, and is skipped if no node waits for a place.
 *
 * A node that joins a fabric that has a table is placed for good. If one cable alone implies its
 * place, and that closes no square yet, the node waits for the places of the other neighbours that
 * its port row names, until the time `quiet` has passed since the first table in which it has no
 * place. New connections of the node do not prolong this time.
 *
 * Tests: tests/unit/test_fm_graph.c, tests/unit/test_fm_discover.c, tests/unit/test_fm_places.c,
 * tests/sim/test_wave.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/discover.h"
#include "daemon/fm/root/corner.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "lib/deps/invariant.h"
#include "lib/util/gcd.h"

#define REFINE_PASSES 8
#define NONE (~0U)

/**
 * struct cables - the graph of cables; nodes are numbers in the roster
 * @peer: for each port of each node, the node at the other end, if the cable joins opposite ports;
 *	else NONE
 * @line: for each dimension of each node, the length of the ring through the node; 0: the ring does
 *	not close
 */
struct cables {
	unsigned int ndims;
	uint32_t n;
	uint32_t *peer;
	uint32_t *line;
};

static uint32_t peer_of(const struct cables *c, uint32_t i, unsigned int p)
{
	return c->peer[(size_t)i * 2 * c->ndims + p];
}

static uint32_t *line_of(const struct cables *c, uint32_t i, unsigned int d)
{
	return &c->line[(size_t)i * c->ndims + d];
}

static uint32_t find_peer(const struct fm *fm, const struct fm_record *m, unsigned int p)
{
	const struct fm_port_row *port = &m->row.port[p];
	const struct fm_record *o;

	if (p >= m->row.nports || port->state != FM_PORT_UP || port->problem ||
	    port->peer_port != fm_opposite(fm->ndims, p))
		return NONE;
	o = fm_record(fm->root, port->peer_guid);
	return !o || o == m ? NONE : fm_record_number(fm->root, o);
}

/*
 * Follows + ports from @i to find the length of its ring. Stores the result for all nodes on the
 * ring, or on the line up to its end; if the line runs into a ring that does not contain @i, only
 * for @i.
 */
static void find_line(const struct cables *c, uint32_t i, unsigned int d)
{
	uint32_t at = i, n = 0, length;

	do {
		at = peer_of(c, at, d);
		n++;
	} while (at != NONE && at != i && n < TORUS_MAX_SIZE);
	length = at == i ? n : 0;
	if (at != NONE && at != i)
		n = 1;
	for (at = i; n; n--, at = peer_of(c, at, d))
		*line_of(c, at, d) = length;
}

static void cables_free(struct cables *c)
{
	free(c->peer);
	free(c->line);
}

/* Builds the graph, which cables_free() frees in any case. Return: false if there is no memory. */
static bool find_cables(const struct fm *fm, struct cables *c)
{
	const struct fm_root *r = fm->root;

	c->ndims = fm->ndims;
	c->n = fm_roster_size(r);
	c->peer = malloc((size_t)c->n * 2 * c->ndims * sizeof(*c->peer));
	c->line = malloc((size_t)c->n * c->ndims * sizeof(*c->line));
	if (!c->peer || !c->line)
		return false;
	for (uint32_t i = 0; i < c->n; i++)
		for (unsigned int p = 0; p < 2 * c->ndims; p++)
			c->peer[(size_t)i * 2 * c->ndims + p] =
				find_peer(fm, fm_record_no(r, i), p);
	memset(c->line, 0xff, (size_t)c->n * c->ndims * sizeof(*c->line));
	for (uint32_t i = 0; i < c->n; i++)
		for (unsigned int d = 0; d < c->ndims; d++)
			if (*line_of(c, i, d) == NONE)
				find_line(c, i, d);
	return true;
}

/* --- sizes ------------------------------------------------------------------- */

static uint32_t size_by_lines(const struct cables *c, unsigned int d)
{
	uint32_t *on_lines = calloc(TORUS_MAX_SIZE + 1, sizeof(*on_lines));
	uint32_t best = 0;

	if (!on_lines)
		return 0;
	for (uint32_t i = 0; i < c->n; i++)
		on_lines[*line_of(c, i, d)]++;
	for (uint32_t n = 1; n <= TORUS_MAX_SIZE; n++)
		if (on_lines[n] && (!best || on_lines[n] / n > on_lines[best] / best))
			best = n;
	free(on_lines);
	return best;
}

/** struct layout - positions of nodes without modulo, 0 of those that are not @known */
struct layout {
	int32_t (*pos)[TORUS_MAX_DIMS];
	uint32_t *queue;
	bool *known;
};

static void lay_out(const struct cables *c, struct layout *l)
{
	uint32_t head = 0, tail = 0;

	l->queue[tail++] = 0;
	l->known[0] = true;
	while (head < tail) {
		uint32_t i = l->queue[head++];

		invariant(tail <= c->n);
		for (unsigned int p = 0; p < 2 * c->ndims; p++) {
			uint32_t j = peer_of(c, i, p);

			if (j == NONE || l->known[j])
				continue;
			memcpy(l->pos[j], l->pos[i], sizeof(l->pos[j]));
			l->pos[j][p % c->ndims] += p < c->ndims ? 1 : -1;
			l->known[j] = true;
			l->queue[tail++] = j;
		}
	}
}

/*
 * Return: the size of dimension @d, or a multiple of it, from the cables that lead to another
 * position than one step on; 0 if there are none.
 */
static uint32_t size_by_closing(const struct cables *c, const struct layout *l, unsigned int d)
{
	uint32_t g = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		for (unsigned int p = 0; l->known[i] && p < c->ndims; p++) {
			uint32_t j = peer_of(c, i, p);
			int32_t step = p == d ? 1 : 0;

			if (j != NONE)
				g = gcd((uint32_t)abs(l->pos[i][d] + step - l->pos[j][d]), g);
		}
	}
	return g;
}

static uint32_t find_extent(const struct cables *c, const struct layout *l, unsigned int d)
{
	int32_t low = 0, high = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		low = l->pos[i][d] < low ? l->pos[i][d] : low;
		high = l->pos[i][d] > high ? l->pos[i][d] : high;
	}
	return (uint32_t)(high - low) + 1;
}

static uint32_t find_size(struct fm *fm, const struct cables *c, const struct layout *l,
			  unsigned int d)
{
	uint32_t size = size_by_lines(c, d), wide;

	if (size)
		return size;
	wide = find_extent(c, l, d);
	size = size_by_closing(c, l, d);
	if (size > 1)
		return size;
	if (wide > 1)
		fm->root->open |= (uint8_t)(1u << d);
	return wide;
}

bool fm_discover_shape(struct fm *fm, struct torus_shape *shape)
{
	uint32_t n = fm_roster_size(fm->root);
	struct layout l = {
		.pos = calloc(n, sizeof(*l.pos)),
		.queue = calloc(n, sizeof(*l.queue)),
		.known = calloc(n, sizeof(*l.known)),
	};
	struct cables c = { .peer = NULL };
	bool memory = l.pos && l.queue && l.known && find_cables(fm, &c), fine = memory;
	uint64_t nodes = 1;

	memset(shape, 0, sizeof(*shape));
	shape->ndims = (uint8_t)fm->ndims;
	if (fine)
		lay_out(&c, &l);
	for (unsigned int d = 0; fine && d < TORUS_MAX_DIMS; d++) {
		uint32_t size = d < fm->ndims ? find_size(fm, &c, &l, d) : 1;

		nodes *= size;
		fine = size <= TORUS_MAX_SIZE && nodes <= TORUS_MAX_NODES;
		shape->size[d] = (uint16_t)size;
	}
	cables_free(&c);
	free(l.pos);
	free(l.queue);
	free(l.known);
	if (!memory)
		fm_problem_set(fm, "memory", 0, "no memory to find the shape");
	if (memory && !fine)
		fm_problem_set(fm, "bootstrap", 0, "no shape of at most %u nodes fits the cables",
			       TORUS_MAX_NODES);
	else
		fm_problem_clear(fm, "bootstrap", 0);
	return fine;
}

/* --- coordinates ------------------------------------------------------------- */

/*
 * How far the cable at a port may be trusted. A square is four cables that lead back to where they
 * begin (node/square.c).
 */
enum trust {
	CROSSED,	/* its squares are open; or its ring has a wrong length, so one of the
			 * ring's cables is wrong */
	UNSURE,		/* nothing is known about the cable yet */
	SURE,		/* the cable closes a square, or its ring has the right length */
};

#define VOTES (TORUS_MAX_PORTS + 1)

/** struct fifo - a queue of roster indices */
struct fifo {
	uint32_t *at;
	uint32_t head, n, room;
};

/**
 * struct placing - one run of fm_discover_place()
 * @joined: mask of dimensions in which the last nodes are cabled to the first ones
 * @trust: for each port of each node, enum trust plus 1; 0: not known yet
 * @turn: for each number of votes, a queue of the nodes that had that many votes when they were
 *	queued
 */
struct placing {
	struct fm *fm;
	const struct torus_shape *shape;
	unsigned int joined;
	struct cables cables;
	uint8_t *trust;
	struct fifo turn[VOTES];
	bool no_memory;
};

static enum trust find_trust(const struct placing *g, uint32_t i, unsigned int p)
{
	unsigned int d = p % g->cables.ndims;
	uint32_t n = *line_of(&g->cables, i, d);
	enum fm_square is;

	if (n == g->shape->size[d])
		return SURE;
	is = fm_corner_judge(g->fm, g->shape, fm_record_no(g->fm->root, i), p);
	return is == FM_SQUARE_CLOSED ? SURE : is == FM_SQUARE_OPEN || n ? CROSSED : UNSURE;
}

static enum trust trust_of(const struct placing *g, uint32_t i, unsigned int p)
{
	uint8_t *known = &g->trust[(size_t)i * 2 * g->cables.ndims + p];

	if (!*known)
		*known = (uint8_t)(1 + find_trust(g, i, p));
	return (enum trust)(*known - 1);
}

/*
 * Return: true if port @p of @m, a node at the end of a dimension, is cabled to the other end of
 * that dimension.
 */
static bool leads_round(const struct placing *g, const struct fm_record *m, unsigned int p)
{
	const struct fm_port_row *port = &m->row.port[p];
	uint64_t peer = port->peer_guid;
	const struct fm_record *o = peer ? fm_record(g->fm->root, peer) : NULL;

	return p < m->row.nports && o && port->peer_port == fm_opposite(g->cables.ndims, p) &&
	       o->node == torus_neighbour(g->shape, m->node, p);
}

/*
 * Return: mask of the dimensions that are closed to rings, as the port row of some node at their
 * end shows.
 */
static unsigned int find_joined(const struct placing *g)
{
	const struct fm_root *r = g->fm->root;
	unsigned int joined = 0;

	for (uint32_t i = 0; r->open && i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);
		struct torus_coords at;

		if (m->node == TORUS_NO_NODE)
			continue;
		torus_node_coords(g->shape, m->node, &at);
		for (unsigned int d = 0; d < g->cables.ndims; d++)
			if (at.c[d] == g->shape->size[d] - 1 && leads_round(g, m, d))
				joined |= 1u << d;
	}
	return joined;
}

/*
 * Return: true if port @q of @node leads past the end of a dimension that was open when the shape
 * was found. A node that is cabled there later is not the node at the other end of the dimension,
 * but one for which the shape would have to grow (grow.c). Exception: the root has coordinate 0
 * wherever it is on its line. If it is not the first node of the line, the last place is before it
 * and joined to it by a cable, and the line is open between other places (@joined).
 */
static bool is_past_end(const struct placing *g, uint32_t node, unsigned int q)
{
	unsigned int d = q % g->cables.ndims;
	struct torus_coords at;

	if (!g->fm->table.version || !(g->fm->root->open & ~g->joined & 1u << d))
		return false;
	torus_node_coords(g->shape, node, &at);
	return at.c[d] == (q < g->cables.ndims ? g->shape->size[d] - 1 : 0);
}

/*
 * Return: the place of @i that its neighbour at port @p implies; TORUS_NO_NODE if the neighbour
 * implies none.
 */
static uint32_t implied_place(const struct placing *g, uint32_t i, unsigned int p)
{
	uint32_t j = peer_of(&g->cables, i, p), node;

	if (j == NONE || g->shape->size[p % g->cables.ndims] == 1)
		return TORUS_NO_NODE;
	node = fm_record_no(g->fm->root, j)->node;
	if (node == TORUS_NO_NODE ||
	    is_past_end(g, node, fm_opposite(g->cables.ndims, p)))
		return TORUS_NO_NODE;
	return torus_neighbour(g->shape, node, fm_opposite(g->cables.ndims, p));
}

/*
 * Return: how many neighbours of @i imply that it is at @node, by cables that are trusted at least
 * as much as @least.
 */
static unsigned int count_agreeing(const struct placing *g, uint32_t i, uint32_t node,
				   enum trust least)
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < 2 * g->cables.ndims; p++)
		n += implied_place(g, i, p) == node && trust_of(g, i, p) >= least;
	return n;
}

/*
 * Finds the free place of @i that most of its neighbours imply, and writes it to @node. Return: how
 * many imply it.
 */
static unsigned int find_best_place(const struct placing *g, uint32_t i, enum trust least,
			       uint32_t *node)
{
	unsigned int best = 0;

	for (unsigned int p = 0; p < 2 * g->cables.ndims; p++) {
		uint32_t at = implied_place(g, i, p);
		const struct fm_record *there = at == TORUS_NO_NODE ? NULL :
					      fm_record_at(g->fm->root, at);
		unsigned int n;

		if (at == TORUS_NO_NODE || (there && there->state != FM_NODE_DEAD))
			continue;
		n = count_agreeing(g, i, at, least);
		if (n > best) {
			best = n;
			*node = at;
		}
	}
	return best;
}

/* Logs that the NIC of @m is now in the place of another one, as after the change of a board. */
static void tell_replaced(struct fm *fm, const struct fm_record *m, const struct fm_record *former,
			  uint32_t node)
{
	char at[TORUS_TEXT_MAX];

	fm_log_of(fm, node, FM_INFO, "node",
		  "node %s ('%s') has another NIC: GUID %016llx, before %016llx",
		  torus_node_text(&fm->table.shape, node, at), m->name,
		  (unsigned long long)m->guid, (unsigned long long)former->guid);
}

/* Gives @i the place @node. A node that had that place has none then. */
static void put_node(struct fm *fm, uint32_t i, uint32_t node)
{
	struct fm_root *r = fm->root;
	struct fm_record *m = fm_record_no(r, i), *there = fm_record_at(r, node);

	invariant(!there || there->node == node);
	if (there && there != m) {
		if (there->state == FM_NODE_DEAD)
			tell_replaced(fm, m, there, node);
		fm_record_move(fm, there, TORUS_NO_NODE);
	}
	fm_record_move(fm, m, node);
	r->at[node] = i + 1;
}

static bool is_waiting(const struct fm_record *m)
{
	return m->node == TORUS_NO_NODE && m->state != FM_NODE_DEAD;
}

/* Return: true if a port that is up leads to a node that has not joined, or has no place. */
static bool has_unplaced(const struct placing *g, const struct fm_record *m)
{
	for (unsigned int p = 0; p < 2 * g->cables.ndims && p < m->row.nports; p++) {
		const struct fm_port_row *port = &m->row.port[p];
		const struct fm_record *o = fm_record(g->fm->root, port->peer_guid);

		if (port->state == FM_PORT_UP && port->peer_guid && !port->problem &&
		    (!fm_record_joined(o) || o->node == TORUS_NO_NODE))
			return true;
	}
	return false;
}

/*
 * Return: true if @i waits for its neighbours to be placed, though it has @votes by cables of trust
 * @least or more.
 */
static bool is_early(const struct placing *g, uint32_t i, enum trust least, unsigned int votes)
{
	const struct fm_record *m = fm_record_no(g->fm->root, i);

	return votes && votes < 2 && least < SURE && g->fm->table.version &&
	       m->worked_at == TORUS_NO_NODE &&
	       g->fm->now < m->waits_since + g->fm->cfg.quiet && has_unplaced(g, m);
}

/* If @i waits for a place and has votes, puts it into the queue of nodes with as many votes. */
static void queue_node(struct placing *g, uint32_t i, enum trust least)
{
	struct fm_record *m = fm_record_no(g->fm->root, i);
	uint32_t node;
	bool waits = is_waiting(m);
	unsigned int votes = waits ? find_best_place(g, i, least, &node) : 0;
	struct fifo *f = &g->turn[votes];

	invariant(votes < VOTES && f->head <= f->n && f->n <= f->room);
	if (!votes)
		return;
	if (f->n == f->room) {
		uint32_t room = f->room ? 2 * f->room : 64;
		uint32_t *at = realloc(f->at, room * sizeof(*at));

		if (!at) {
			g->no_memory = true;
			return;
		}
		f->at = at;
		f->room = room;
	}
	f->at[f->n++] = i;
}

/* Return: the next of the nodes with the most votes; NONE: no queue has any. */
static uint32_t take_next(struct placing *g)
{
	for (unsigned int votes = VOTES; votes-- > 0;) {
		struct fifo *f = &g->turn[votes];

		if (f->head < f->n)
			return f->at[f->head++];
		f->head = f->n = 0;
	}
	return NONE;
}

/*
 * Places all nodes that have votes, those with the most votes first. When a neighbour is placed,
 * the votes of a node rise, and it is queued again. When a place that it had votes for is taken,
 * its votes fall; that is noticed when the node is taken from its queue.
 */
static void place_nodes(struct placing *g, enum trust least)
{
	struct fm_root *r = g->fm->root;
	uint32_t i, node;

	for (i = 0; i < fm_roster_size(r); i++)
		queue_node(g, i, least);
	while ((i = take_next(g)) != NONE) {
		struct fm_record *m = fm_record_no(r, i);
		unsigned int votes = is_waiting(m) ? find_best_place(g, i, least, &node) : 0;
		unsigned int most = 0;

		for (unsigned int v = 0; v < VOTES; v++)
			if (g->turn[v].head < g->turn[v].n)
				most = v;
		if (votes < most) {
			queue_node(g, i, least);
			continue;
		}
		m->early = is_early(g, i, least, votes);
		if (!votes || m->early)
			continue;
		put_node(g->fm, i, node);
		for (unsigned int p = 0; p < 2 * g->cables.ndims; p++)
			if (peer_of(&g->cables, i, p) != NONE)
				queue_node(g, peer_of(&g->cables, i, p), least);
	}
}

/* Places all nodes that have votes, first by the cables that are trusted most. */
static void place_by_trust(struct placing *g)
{
	for (int least = SURE; least >= CROSSED; least--)
		place_nodes(g, (enum trust)least);
}

/*
 * Gives a node whose place no cable implies the place where its NIC already works, if that is free.
 * A root that starts again while other nodes are dead may find such nodes, and know none of their
 * neighbours. Return: true if there was such a node: then its neighbours may have votes.
 */
static bool keep_places(struct fm *fm)
{
	struct fm_root *r = fm->root;
	bool some = false;

	for (uint32_t i = 0; r->unplaced && i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);

		if (is_waiting(m) && m->worked_at != TORUS_NO_NODE && !r->at[m->worked_at]) {
			put_node(fm, i, m->worked_at);
			some = true;
		}
	}
	return some;
}

/*
 * Moves @i to a place by which more cables are right, or exchanges places with the node there.
 * Return: true if it moved.
 */
static bool refine_place(struct placing *g, uint32_t i)
{
	struct fm_root *r = g->fm->root;
	uint32_t from = fm_record_no(r, i)->node;
	int here = (int)count_agreeing(g, i, from, CROSSED);

	for (unsigned int p = 0; p < 2 * g->cables.ndims; p++) {
		uint32_t at = implied_place(g, i, p);
		struct fm_record *o = at == TORUS_NO_NODE ? NULL : fm_record_at(r, at);
		uint32_t j = o ? fm_record_number(r, o) : NONE;
		int gain;

		if (at == TORUS_NO_NODE || at == from || (o && o->fixed))
			continue;
		gain = (int)count_agreeing(g, i, at, CROSSED) - here;
		if (o)
			gain += (int)count_agreeing(g, j, from, CROSSED) -
				(int)count_agreeing(g, j, at, CROSSED);
		if (gain <= 0)
			continue;
		r->at[from] = 0;
		put_node(g->fm, i, at);
		if (o)
			put_node(g->fm, j, from);
		return true;
	}
	return false;
}

/*
 * Return: true if the wave may have placed @m at the same place, as far as the sizes of the
 * dimensions are known.
 */
static bool is_as_by_wave(const struct torus_shape *shape, const struct fm_record *m)
{
	struct torus_coords at;
	bool known = false, same = true;

	torus_node_coords(shape, m->node, &at);
	for (unsigned int d = 0; d < shape->ndims; d++) {
		known |= m->position[d];
		same &= !((m->position[d] - at.c[d]) % shape->size[d]);
	}
	return same || !known;
}

/*
 * Makes the place of @m final. The position by the wave has no effect on it, but if it differs,
 * that is logged: the administrator may have to look for a wrong cable, or for a manager that lies.
 */
static void confirm_place(struct fm *fm, const struct torus_shape *shape, struct fm_record *m)
{
	char is[TORUS_TEXT_MAX], was[TORUS_TEXT_MAX];
	size_t n = 0;

	m->fixed = true;
	if (is_as_by_wave(shape, m))
		return;
	for (unsigned int d = 0; d < shape->ndims; d++)
		n += (size_t)snprintf(was + n, sizeof(was) - n, d ? ",%d" : "%d",
				      (int)m->position[d]);
	fm_log(fm, FM_INFO, "bootstrap", "node '%s' is at %s by its cables; by the Inits of its "
	       "neighbours it was at %s", m->name, torus_node_text(shape, m->node, is), was);
}

static void refine_all(struct placing *g)
{
	struct fm_root *r = g->fm->root;
	bool moved = true;

	for (unsigned int pass = 0; moved && pass < REFINE_PASSES; pass++) {
		moved = false;
		for (uint32_t i = 0; i < fm_roster_size(r); i++)
			if (!fm_record_no(r, i)->fixed && fm_record_no(r, i)->node != TORUS_NO_NODE)
				moved |= refine_place(g, i);
		/* Places that have become free may be those of other nodes. */
		if (moved)
			place_nodes(g, CROSSED);
	}
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		if (fm_record_no(r, i)->node != TORUS_NO_NODE && !fm_record_no(r, i)->fixed)
			confirm_place(g->fm, g->shape, fm_record_no(r, i));
}

/* For each node that is without a place in a table for the first time: begins its wait. */
static void begin_waits(struct fm *fm)
{
	for (uint32_t i = 0; i < fm_roster_size(fm->root); i++) {
		struct fm_record *m = fm_record_no(fm->root, i);

		m->early = false;
		if (is_waiting(m) && fm_record_joined(m) && !m->waits_since)
			m->waits_since = fm->now;
	}
}

/* Counts the nodes that still wait for neighbours, and finds when the first of these waits ends. */
static void count_early(struct fm *fm)
{
	struct fm_root *r = fm->root;

	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);

		invariant(!m->early || m->node == TORUS_NO_NODE);
		if (!m->early)
			continue;
		r->early++;
		r->early_until = earlier(r->early_until, m->waits_since + fm->cfg.quiet);
	}
}

bool fm_discover_place(struct fm *fm, const struct torus_shape *shape)
{
	struct placing g = { .fm = fm, .shape = shape };

	fm->root->early = 0;
	fm->root->early_until = NEVER;
	if (!fm->root->unplaced) {
		fm_problem_clear(fm, "memory", 1);
		return true;
	}
	begin_waits(fm);
	g.trust = calloc((size_t)fm_roster_size(fm->root) * 2 * fm->ndims, sizeof(*g.trust));
	if (g.trust && find_cables(fm, &g.cables)) {
		g.joined = find_joined(&g);
		place_by_trust(&g);
		if (keep_places(fm))
			place_by_trust(&g);
		refine_all(&g);
		count_early(fm);
	} else {
		g.no_memory = true;
	}
	cables_free(&g.cables);
	free(g.trust);
	for (unsigned int v = 0; v < VOTES; v++)
		free(g.turn[v].at);
	if (g.no_memory)
		fm_problem_set(fm, "memory", 1, "no memory to place all nodes");
	else
		fm_problem_clear(fm, "memory", 1);
	return !g.no_memory;
}
