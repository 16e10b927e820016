// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Edmonds' matching of greatest weight, O(n^3), by the primal-dual method. Each vertex has a label,
 * and so has each blossom, an odd cycle that is treated as one vertex. Labels of the ends of an
 * edge never add up to less than twice its weight; the difference is its slack. Trees of tight
 * edges (slack 0), in which outer and inner nodes alternate, grow from all free vertices. A tight
 * edge between two trees gives a path along which the matching gains an edge; one within a tree
 * makes a blossom. If there is none, labels change until there is. An inner blossom whose label
 * falls to 0 is dissolved.
 *
 * Vertices are 1 to n, blossoms n + 1 to @top, and 0 is none. A node is a vertex or a blossom, and
 * is outermost if it is in no blossom.
 */
#include <errno.h>
#include <stdlib.h>
#include "lib/deps/invariant.h"
#include "dm.h"

enum side { NO_TREE, OUTER, INNER };

/**
 * struct tie - an edge between two nodes
 * @u, @v: vertices at its ends
 * @w: weight; 0: no edge
 */
struct tie {
	uint32_t u, v;
	int64_t w;
};

/**
 * struct blossoms - state of the search
 * @n: number of vertices
 * @top: last node that was used
 * @width: entries of a row of @tie and @via
 * @tie: for two nodes the edge with the least slack
 * @via: for a blossom and a vertex in it, the child of the blossom that has the vertex
 * @child: children of a blossom, in the order of the cycle, from its base on
 * @children: number of children
 * @label: labels
 * @mate: vertex at the other end of the node's edge in the matching
 * @nearest: outer vertex whose edge to the node has the least slack
 * @in: outermost node that has the node; 0 for a blossom that is not in use
 * @parent: vertex that led to an inner node
 * @seen: last round of find_base() that met the node
 * @side: side of an outermost node
 * @queue, @head, @tail: outer vertices whose edges are to be looked at
 */
struct blossoms {
	uint32_t n, top, width, round;
	struct tie *tie;
	uint16_t *via, *child;
	uint32_t *children;
	int64_t *label;
	uint32_t *mate, *nearest, *in, *parent, *seen, *queue, head, tail;
	enum side *side;
};

static struct tie *tie_of(const struct blossoms *b, uint32_t u, uint32_t v)
{
	return &b->tie[(size_t)u * b->width + v];
}

static uint16_t *via_of(const struct blossoms *b, uint32_t blossom, uint32_t vertex)
{
	return &b->via[(size_t)blossom * b->width + vertex];
}

static uint16_t *cycle_of(const struct blossoms *b, uint32_t blossom)
{
	return &b->child[(size_t)(blossom - b->n - 1) * (b->n + 1)];
}

static int64_t slack_of(const struct blossoms *b, const struct tie *t)
{
	return b->label[t->u] + b->label[t->v] - 2 * tie_of(b, t->u, t->v)->w;
}

static void note_nearest(struct blossoms *b, uint32_t u, uint32_t node)
{
	if (!b->nearest[node] || slack_of(b, tie_of(b, u, node)) <
				 slack_of(b, tie_of(b, b->nearest[node], node)))
		b->nearest[node] = u;
}

static void find_nearest(struct blossoms *b, uint32_t node)
{
	b->nearest[node] = 0;
	for (uint32_t u = 1; u <= b->n; u++)
		if (tie_of(b, u, node)->w > 0 && b->in[u] != node && b->side[b->in[u]] == OUTER)
			note_nearest(b, u, node);
}

static void queue_vertices(struct blossoms *b, uint32_t node)
{
	if (node <= b->n) {
		b->queue[b->tail++] = node;
		return;
	}
	for (uint32_t i = 0; i < b->children[node]; i++)
		queue_vertices(b, cycle_of(b, node)[i]);
}

static void put_inside(struct blossoms *b, uint32_t node, uint32_t outermost)
{
	b->in[node] = outermost;
	if (node <= b->n)
		return;
	for (uint32_t i = 0; i < b->children[node]; i++)
		put_inside(b, cycle_of(b, node)[i], outermost);
}

static void reverse_cycle(uint16_t *first, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint16_t node = first[i];

		first[i] = first[n - 1 - i];
		first[n - 1 - i] = node;
	}
}

/*
 * Turns the cycle so that an even number of edges leads from the base to @child. Return: that
 * number.
 */
static uint32_t even_way(struct blossoms *b, uint32_t blossom, uint32_t child)
{
	uint16_t *cycle = cycle_of(b, blossom);
	uint32_t n = b->children[blossom], at = 0;

	while (cycle[at] != child)
		at++;
	if (at % 2 == 0)
		return at;
	reverse_cycle(cycle + 1, n - 1);
	return n - at;
}

/*
 * Makes the edge from @u to @v the matched edge of @u, and moves the bases of the blossoms that
 * contain @u.
 */
static void match_node(struct blossoms *b, uint32_t u, uint32_t v)
{
	const struct tie *t = tie_of(b, u, v);
	uint32_t child, way;
	uint16_t *cycle;

	b->mate[u] = t->v;
	if (u <= b->n)
		return;
	child = *via_of(b, u, t->u);
	way = even_way(b, u, child);
	cycle = cycle_of(b, u);
	for (uint32_t i = 0; i < way; i++)
		match_node(b, cycle[i], cycle[i ^ 1]);
	match_node(b, child, v);
	/* Rotate the cycle by three reversals, so that the child becomes the base. */
	reverse_cycle(cycle, way);
	reverse_cycle(cycle + way, b->children[u] - way);
	reverse_cycle(cycle, b->children[u]);
}

/* Exchanges the edges of the path from @u, which gets the edge to @v, to the root of its tree. */
static void exchange_path(struct blossoms *b, uint32_t u, uint32_t v)
{
	for (;;) {
		uint32_t next = b->in[b->mate[u]];

		match_node(b, u, v);
		if (!next)
			return;
		match_node(b, next, b->in[b->parent[next]]);
		u = b->in[b->parent[next]];
		v = next;
	}
}

/*
 * Return: the node where the paths from two outer nodes to their roots meet; 0 if they are in
 * different trees.
 */
static uint32_t find_base(struct blossoms *b, uint32_t u, uint32_t v)
{
	b->round++;
	while (u || v) {
		uint32_t other = v;

		if (u) {
			if (b->seen[u] == b->round)
				return u;
			b->seen[u] = b->round;
			u = b->in[b->mate[u]];
			if (u)
				u = b->in[b->parent[u]];
		}
		v = u;
		u = other;
	}
	return 0;
}

/* Adds the nodes from @u up to the base to the cycle of @blossom. */
static void add_side(struct blossoms *b, uint32_t blossom, uint32_t u, uint32_t base)
{
	uint16_t *cycle = cycle_of(b, blossom);

	while (u != base) {
		uint32_t inner = b->in[b->mate[u]];

		cycle[b->children[blossom]++] = (uint16_t)u;
		cycle[b->children[blossom]++] = (uint16_t)inner;
		queue_vertices(b, inner);
		u = b->in[b->parent[inner]];
	}
}

/* Computes the edges of a blossom from those of its children. */
static void take_ties(struct blossoms *b, uint32_t blossom)
{
	for (uint32_t x = 1; x <= b->top; x++)
		tie_of(b, blossom, x)->w = tie_of(b, x, blossom)->w = 0;
	for (uint32_t x = 1; x <= b->n; x++)
		*via_of(b, blossom, x) = 0;
	for (uint32_t i = 0; i < b->children[blossom]; i++) {
		uint32_t child = cycle_of(b, blossom)[i];

		for (uint32_t x = 1; x <= b->top; x++) {
			const struct tie *t = tie_of(b, child, x);

			if (tie_of(b, blossom, x)->w && (!t->w ||
			    slack_of(b, t) >= slack_of(b, tie_of(b, blossom, x))))
				continue;
			*tie_of(b, blossom, x) = *t;
			*tie_of(b, x, blossom) = *tie_of(b, x, child);
		}
		for (uint32_t x = 1; x <= b->n; x++)
			if (child == x || (child > b->n && *via_of(b, child, x)))
				*via_of(b, blossom, x) = (uint16_t)child;
	}
}

static void make_blossom(struct blossoms *b, uint32_t u, uint32_t base, uint32_t v)
{
	uint32_t blossom = b->n + 1;

	while (blossom <= b->top && b->in[blossom])
		blossom++;
	if (blossom > b->top)
		b->top = blossom;
	invariant(blossom < b->width);
	b->label[blossom] = 0;
	b->side[blossom] = OUTER;
	b->mate[blossom] = b->mate[base];
	b->children[blossom] = 1;
	cycle_of(b, blossom)[0] = (uint16_t)base;
	add_side(b, blossom, u, base);
	reverse_cycle(cycle_of(b, blossom) + 1, b->children[blossom] - 1);
	add_side(b, blossom, v, base);
	put_inside(b, blossom, blossom);
	take_ties(b, blossom);
	find_nearest(b, blossom);
}

/*
 * Dissolves an inner blossom. Of its children, those on the even path from the base to the edge of
 * its parent stay in the tree.
 */
static void dissolve_blossom(struct blossoms *b, uint32_t blossom)
{
	uint16_t *cycle = cycle_of(b, blossom);
	uint32_t child, way;

	for (uint32_t i = 0; i < b->children[blossom]; i++)
		put_inside(b, cycle[i], cycle[i]);
	child = *via_of(b, blossom, tie_of(b, blossom, b->parent[blossom])->u);
	way = even_way(b, blossom, child);
	for (uint32_t i = 0; i < way; i += 2) {
		uint32_t inner = cycle[i], outer = cycle[i + 1];

		b->parent[inner] = tie_of(b, outer, inner)->u;
		b->side[inner] = INNER;
		b->side[outer] = OUTER;
		b->nearest[inner] = 0;
		find_nearest(b, outer);
		queue_vertices(b, outer);
	}
	b->side[child] = INNER;
	b->parent[child] = b->parent[blossom];
	for (uint32_t i = way + 1; i < b->children[blossom]; i++) {
		b->side[cycle[i]] = NO_TREE;
		find_nearest(b, cycle[i]);
	}
	b->in[blossom] = 0;
}

/* Processes a tight edge from an outer vertex. Return: true if the matching has gained an edge. */
static bool use_tight(struct blossoms *b, const struct tie *t)
{
	uint32_t u = b->in[t->u], v = b->in[t->v], outer, base;

	if (b->side[v] == NO_TREE) {
		b->parent[v] = t->u;
		b->side[v] = INNER;
		outer = b->in[b->mate[v]];
		b->nearest[v] = b->nearest[outer] = 0;
		b->side[outer] = OUTER;
		queue_vertices(b, outer);
		return false;
	}
	if (b->side[v] != OUTER)
		return false;
	base = find_base(b, u, v);
	if (base) {
		make_blossom(b, u, base, v);
		return false;
	}
	exchange_path(b, u, v);
	exchange_path(b, v, u);
	return true;
}

/* Examines the edges of all vertices in the queue. Return: true if the matching has gained one. */
static bool scan_queue(struct blossoms *b)
{
	while (b->head < b->tail) {
		uint32_t u = b->queue[b->head++];

		if (b->side[b->in[u]] == INNER)
			continue;
		for (uint32_t v = 1; v <= b->n; v++) {
			const struct tie *t = tie_of(b, u, v);

			if (t->w <= 0 || b->in[u] == b->in[v])
				continue;
			if (slack_of(b, t))
				note_nearest(b, u, b->in[v]);
			else if (use_tight(b, t))
				return true;
		}
	}
	return false;
}

/* Return: the change of labels by which an edge becomes tight or a blossom must be dissolved. */
static int64_t label_step(const struct blossoms *b)
{
	int64_t step = INT64_MAX;

	for (uint32_t x = 1; x <= b->top; x++) {
		int64_t at = INT64_MAX;

		if (b->in[x] != x)
			continue;
		if (b->side[x] == INNER)
			at = x > b->n ? b->label[x] / 2 : INT64_MAX;
		else if (b->nearest[x])
			at = slack_of(b, tie_of(b, b->nearest[x], x)) /
			     (b->side[x] == OUTER ? 2 : 1);
		if (at < step)
			step = at;
	}
	return step;
}

/*
 * Changes the labels by label_step(). Return: false if no free vertex can get a partner any more.
 */
static bool change_labels(struct blossoms *b, int64_t step)
{
	for (uint32_t u = 1; u <= b->n; u++)
		if (b->side[b->in[u]] == OUTER && b->label[u] <= step)
			return false;
	for (uint32_t u = 1; u <= b->n; u++) {
		if (b->side[b->in[u]] == OUTER)
			b->label[u] -= step;
		else if (b->side[b->in[u]] == INNER)
			b->label[u] += step;
	}
	for (uint32_t x = b->n + 1; x <= b->top; x++) {
		if (b->in[x] != x)
			continue;
		if (b->side[x] == OUTER)
			b->label[x] += 2 * step;
		else if (b->side[x] == INNER)
			b->label[x] -= 2 * step;
	}
	return true;
}

/* Processes the edges that a change of labels has made tight. Return: as scan_queue(). */
static bool use_new_tight(struct blossoms *b)
{
	b->head = b->tail = 0;
	for (uint32_t x = 1; x <= b->top; x++) {
		uint32_t u = b->nearest[x];

		if (b->in[x] == x && u && b->in[u] != x && !slack_of(b, tie_of(b, u, x)) &&
		    use_tight(b, tie_of(b, u, x)))
			return true;
	}
	for (uint32_t x = b->n + 1; x <= b->top; x++)
		if (b->in[x] == x && b->side[x] == INNER && !b->label[x])
			dissolve_blossom(b, x);
	return false;
}

/* Grows trees from all free nodes until the matching gains an edge. Return: false if it cannot. */
static bool gain_edge(struct blossoms *b)
{
	b->head = b->tail = 0;
	for (uint32_t x = 1; x <= b->top; x++) {
		b->side[x] = NO_TREE;
		b->nearest[x] = 0;
		if (b->in[x] == x && !b->mate[x]) {
			b->parent[x] = 0;
			b->side[x] = OUTER;
			queue_vertices(b, x);
		}
	}
	if (!b->tail)
		return false;
	for (;;) {
		if (scan_queue(b))
			return true;
		if (!change_labels(b, label_step(b)))
			return false;
		if (use_new_tight(b))
			return true;
	}
}

/* --- the graph ----------------------------------------------------------------- */

static int64_t key_with_order(const struct lt_level *l, uint32_t a, const struct lt_edge *e)
{
	uint32_t apart = a < e->to ? e->to - a : a - e->to;

	return (int64_t)e->key * l->n * l->n + (l->n - apart);
}

/* Sets the weights so that a matching with more edges always weighs more than one with fewer. */
static void load_ties(struct blossoms *b, const struct lt_level *l)
{
	const struct lt_edge *e;
	int64_t most = 0, bonus;

	for (uint32_t a = 0; a < l->n; a++)
		for (uint32_t n = lt_dm_edges(l, a, &e); n--; e++)
			if (key_with_order(l, a, e) > most)
				most = key_with_order(l, a, e);
	bonus = (l->n / 2 + 1) * most;
	for (uint32_t u = 1; u <= b->n; u++) {
		for (uint32_t v = 1; v <= b->n; v++)
			*tie_of(b, u, v) = (struct tie){ u, v, 0 };
		b->in[u] = u;
		*via_of(b, u, u) = (uint16_t)u;
		b->label[u] = bonus + most;
	}
	for (uint32_t a = 0; a < l->n; a++)
		for (uint32_t n = lt_dm_edges(l, a, &e); n--; e++)
			tie_of(b, a + 1, e->to + 1)->w = bonus + key_with_order(l, a, e);
}

static void free_blossoms(struct blossoms *b)
{
	free(b->tie);
	free(b->via);
	free(b->child);
	free(b->children);
	free(b->label);
	free(b->mate);
	free(b->nearest);
	free(b->in);
	free(b->parent);
	free(b->seen);
	free(b->queue);
	free(b->side);
}

static bool make_blossoms(struct blossoms *b, uint32_t n)
{
	size_t w = n + n / 2 + 2;

	b->n = b->top = n;
	b->width = (uint32_t)w;
	b->tie = calloc(w * w, sizeof(*b->tie));
	b->via = calloc(w * w, sizeof(*b->via));
	b->child = calloc(w * (n + 1), sizeof(*b->child));
	b->children = calloc(w, sizeof(*b->children));
	b->label = calloc(w, sizeof(*b->label));
	b->mate = calloc(w, sizeof(*b->mate));
	b->nearest = calloc(w, sizeof(*b->nearest));
	b->in = calloc(w, sizeof(*b->in));
	b->parent = calloc(w, sizeof(*b->parent));
	b->seen = calloc(w, sizeof(*b->seen));
	/* Each vertex becomes outer at most once before the matching gains an edge. */
	b->queue = calloc(w, sizeof(*b->queue));
	b->side = calloc(w, sizeof(*b->side));
	return b->tie && b->via && b->child && b->children && b->label && b->mate && b->nearest &&
	       b->in && b->parent && b->seen && b->queue && b->side;
}

int lt_match_exact(const struct lt_level *l, uint32_t *mate)
{
	struct blossoms b = { 0 };

	if (!make_blossoms(&b, l->n)) {
		free_blossoms(&b);
		return -ENOMEM;
	}
	load_ties(&b, l);
	while (gain_edge(&b))
		;
	for (uint32_t v = 0; v < l->n; v++)
		mate[v] = b.mate[v + 1] ? b.mate[v + 1] - 1 : TORUS_NO_NODE;
	free_blossoms(&b);
	return 0;
}
