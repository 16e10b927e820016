// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "search.h"

/**
 * struct header - a candidate for the header of a pair
 * @hops: length of its path, steps included
 * @rank: order among headers of the same length
 */
struct header {
	uint16_t dirs;
	uint8_t first;
	uint8_t last;
	uint32_t hops;
	uint32_t rank;
};

/**
 * struct leg - the part of a path between the first and the last step
 * @hops: for each direction, number of hops; 0 if the dimension does not differ
 * @dim: the @k dimensions in which both ends differ
 */
struct leg {
	struct torus_coords from;
	struct torus_coords to;
	uint16_t hops[TORUS_MAX_PORTS];
	uint8_t dim[DIMS];
	unsigned int k;
};

static void leg_set(const struct torus_health *h, struct leg *leg,
		    const struct torus_coords *from, const struct torus_coords *to)
{
	unsigned int n = h->shape.ndims, d;

	leg->from = *from;
	leg->to = *to;
	leg->k = 0;
	for (d = 0; d < n; d++) {
		unsigned int a = from->c[d], b = to->c[d], size = h->shape.size[d];

		leg->hops[d] = (uint16_t)(b >= a ? b - a : b + size - a);
		leg->hops[n + d] = (uint16_t)(a >= b ? a - b : a + size - b);
		invariant(a == b || leg->hops[d] + leg->hops[n + d] == (int)size);
		if (a != b)
			leg->dim[leg->k++] = (uint8_t)d;
	}
}

/* Return: true if the segments in the directions @dirs, one for each dimension, are usable. */
static bool leg_ok(const struct torus_health *h, const struct leg *leg, unsigned int dirs)
{
	unsigned int n = h->shape.ndims;
	struct torus_coords at = leg->from;

	while (dirs) {
		unsigned int dir = (unsigned int)__builtin_ctz(dirs);
		unsigned int d = dir < n ? dir : dir - n;

		if (!lt_run_ok(h, &at, dir, leg->hops[dir]))
			return false;
		at.c[d] = leg->to.c[d];
		dirs &= dirs - 1;
	}
	invariant(!memcmp(at.c, leg->to.c, n * sizeof(at.c[0])));
	return true;
}

/* Return: for each dimension in which the coordinates differ, the shorter direction. */
static unsigned int plain_dirs(const struct torus_health *h, const struct leg *leg)
{
	unsigned int n = h->shape.ndims, from_odd = 0, to_odd = 0, dirs = 0, d;

	for (d = 0; d < n; d++)
		to_odd ^= leg->to.c[d];
	for (d = 0; d < n; d++) {
		unsigned int plus = leg->hops[d], minus = leg->hops[n + d];

		from_odd ^= leg->from.c[d];
		to_odd ^= leg->to.c[d];
		if (!plus)
			continue;
		dirs |= plus < minus || (plus == minus && lt_tie_up(from_odd, to_odd))
				? 1u << d : 1u << (n + d);
	}
	return dirs;
}

/* --- the search ------------------------------------------------------------ */

/**
 * struct search - the search for the header of one pair
 * @best: the best header so far; its hops are ~0 if there is none
 */
struct search {
	const struct torus_health *h;
	struct torus_coords from;
	struct torus_coords to;
	uint64_t hash;
	struct header best;
};

static bool is_better(const struct header *a, const struct header *b)
{
	return a->hops != b->hops ? a->hops < b->hops : a->rank < b->rank;
}

static bool is_ordered(const struct header *c)
{
	unsigned int low = c->dirs ? (unsigned int)__builtin_ctz(c->dirs) : c->last;
	unsigned int high = c->dirs ? 31 - (unsigned int)__builtin_clz(c->dirs) : 0;

	/* TORUS_ROW_NO_STEP as last step is greater than all directions. */
	return (c->first == TORUS_ROW_NO_STEP || c->first <= low) && c->last >= high;
}

/* Return: a bit for each dimension of @leg, set if the - direction is the shorter one. */
static unsigned int short_signs(const struct leg *leg, unsigned int n)
{
	unsigned int signs = 0, j;

	for (j = 0; j < leg->k; j++)
		signs |= (leg->hops[n + leg->dim[j]] < leg->hops[leg->dim[j]]) << j;
	return signs;
}

/*
 * Tries every choice of signs for @leg, between the given steps. Short paths come first, so that
 * most others are rejected by their length alone.
 */
static void search_signs(struct search *s, const struct leg *leg, unsigned int first,
			 unsigned int last)
{
	unsigned int steps = (first != TORUS_ROW_NO_STEP) + (last != TORUS_ROW_NO_STEP);
	unsigned int n = s->h->shape.ndims, best = short_signs(leg, n), i, j;

	for (i = 0; i < 1u << leg->k; i++) {
		unsigned int signs = i ^ best;
		struct header c = { .first = (uint8_t)first,
				    .last = (uint8_t)last,
				    .hops = steps };

		for (j = 0; j < leg->k; j++) {
			unsigned int dir = leg->dim[j] + (signs & 1u << j ? n : 0);

			c.dirs |= (uint16_t)(1u << dir);
			c.hops += leg->hops[dir];
		}
		invariant((unsigned int)__builtin_popcount(c.dirs) == leg->k);
		if (c.hops > s->best.hops || !is_ordered(&c))
			continue;
		c.rank = lt_rank(s->hash, c.dirs, first, last);
		if (is_better(&c, &s->best) && leg_ok(s->h, leg, c.dirs))
			s->best = c;
	}
}

/* Moves from @p one hop along @dir, to @out. Return: true if the cable between them is healthy. */
static bool step_from(const struct torus_health *h, const struct torus_coords *p,
		      unsigned int dir, struct torus_coords *out)
{
	unsigned int n = h->shape.ndims;

	if (h->shape.size[dir < n ? dir : dir - n] < 2 || !lt_run_ok(h, p, dir, 1))
		return false;
	*out = *p;
	lt_step(h, out, 0, dir);
	return true;
}

/*
 * Searches with each last step that may follow the first step @first. The leg ends one hop before
 * the destination.
 */
static void search_last(struct search *s, const struct torus_coords *from, unsigned int first)
{
	unsigned int ndirs = 2u * s->h->shape.ndims, last;
	struct torus_coords to;
	struct leg leg;

	for (last = 0; last < ndirs; last++) {
		if (first != TORUS_ROW_NO_STEP && last < first)
			continue;
		if (!step_from(s->h, &s->to, torus_dir_opposite(&s->h->shape, last), &to))
			continue;
		leg_set(s->h, &leg, from, &to);
		search_signs(s, &leg, first, last);
	}
}

static void search_steps(struct search *s)
{
	unsigned int ndirs = 2u * s->h->shape.ndims, first;
	struct torus_coords from;
	struct leg leg;

	search_last(s, &s->from, TORUS_ROW_NO_STEP);
	for (first = 0; first < ndirs; first++) {
		if (!step_from(s->h, &s->from, first, &from))
			continue;
		leg_set(s->h, &leg, &from, &s->to);
		search_signs(s, &leg, first, TORUS_ROW_NO_STEP);
		search_last(s, &from, first);
	}
}

uint64_t lt_pair_row(struct torus_health *h, const struct lt_pair *pair, bool *plain)
{
	struct search s = {
		.h = h, .from = pair->from, .to = pair->to,
		.hash = lt_pair_hash(pair->from_id, pair->to_id),
		.best = { .hops = UINT32_MAX },
	};
	struct leg leg;
	unsigned int dirs;

	leg_set(h, &leg, &s.from, &s.to);
	dirs = plain_dirs(h, &leg);
	*plain = leg_ok(h, &leg, dirs);
	if (*plain)
		return ROW_PLAIN | (uint64_t)dirs << TORUS_ROW_DIR_SHIFT;
	if (lt_isolated(h, pair->to_id) || lt_isolated(h, pair->from_id))
		return 0;
	search_signs(&s, &leg, TORUS_ROW_NO_STEP, TORUS_ROW_NO_STEP);
	if (s.best.hops == UINT32_MAX) {
		/*
		 * Finding components takes a search of all nodes: this is done once, after the
		 * first pair without a header was found.
		 */
		if (h->labelled && lt_apart(h, pair->from_id, pair->to_id))
			return 0;
		search_steps(&s);
	}
	if (s.best.hops == UINT32_MAX) {
		lt_apart(h, pair->from_id, pair->to_id);
		return 0;
	}
	invariant(is_ordered(&s.best));
	return TORUS_ROW_VALID | (uint64_t)s.best.dirs << TORUS_ROW_DIR_SHIFT |
	       (uint64_t)s.best.first << TORUS_ROW_FIRST_SHIFT |
	       (uint64_t)s.best.last << TORUS_ROW_LAST_SHIFT;
}

uint64_t lt_direct_row(struct torus_health *h, uint32_t from, uint32_t to)
{
	struct lt_pair pair = { .from_id = from, .to_id = to };
	bool plain;

	torus_node_coords(&h->shape, from, &pair.from);
	torus_node_coords(&h->shape, to, &pair.to);
	return lt_pair_row(h, &pair, &plain);
}

/* --- questions about a row ------------------------------------------------- */

/**
 * struct straights - the path of a direct row as straight segments
 * @dir, @hops: direction and length of each segment; first and last step are segments of one hop
 */
struct straights {
	unsigned int n;
	uint8_t dir[DIMS + 2];
	uint16_t hops[DIMS + 2];
};

static void add_straight(struct straights *s, unsigned int dir, unsigned int hops)
{
	invariant(s->n < DIMS + 2 && hops);
	s->dir[s->n] = (uint8_t)dir;
	s->hops[s->n++] = (uint16_t)hops;
}

static void find_straights(const struct torus_health *h, const struct torus_coords *from,
			   const struct torus_coords *to, uint64_t row, struct straights *s)
{
	unsigned int dirs = row >> TORUS_ROW_DIR_SHIFT & TORUS_ROW_DIR_MASK;
	unsigned int first = row >> TORUS_ROW_FIRST_SHIFT & TORUS_ROW_STEP_MASK;
	unsigned int last = row >> TORUS_ROW_LAST_SHIFT & TORUS_ROW_STEP_MASK;
	struct torus_coords a = *from, b = *to;
	struct leg leg;

	s->n = 0;
	if (first != TORUS_ROW_NO_STEP) {
		lt_step(h, &a, 0, first);
		add_straight(s, first, 1);
	}
	if (last != TORUS_ROW_NO_STEP)
		lt_step(h, &b, 0, torus_dir_opposite(&h->shape, last));
	leg_set(h, &leg, &a, &b);
	for (; dirs; dirs &= dirs - 1) {
		unsigned int dir = (unsigned int)__builtin_ctz(dirs);

		if (leg.hops[dir])
			add_straight(s, dir, leg.hops[dir]);
	}
	if (last != TORUS_ROW_NO_STEP)
		add_straight(s, last, 1);
}

unsigned int lt_row_hops(const struct torus_health *h, const struct torus_coords *from,
			 const struct torus_coords *to, uint64_t row)
{
	struct straights s;
	unsigned int i, hops = 0;

	find_straights(h, from, to, row, &s);
	for (i = 0; i < s.n; i++)
		hops += s.hops[i];
	return hops;
}

/* Return: true if a segment crosses the cable, which is in the ring of the segment. */
static bool spans_cable(unsigned int size, unsigned int at, bool up, unsigned int hops,
			unsigned int cable)
{
	unsigned int away = up ? cable + size - at : at + size - cable - 1;

	return away % size < hops;
}

bool lt_row_crosses(const struct torus_health *h, const struct torus_coords *from,
		    const struct torus_coords *to, uint64_t row, const struct torus_cable *c)
{
	unsigned int n = h->shape.ndims, i, d, j;
	struct torus_coords at = *from, cable;
	struct straights s;

	torus_node_coords(&h->shape, c->node, &cable);
	find_straights(h, from, to, row, &s);
	for (i = 0; i < s.n; i++) {
		bool up = s.dir[i] < n;
		unsigned int size;

		d = up ? s.dir[i] : s.dir[i] - n;
		size = h->shape.size[d];
		if (d == c->dim) {
			for (j = 0; j < n; j++)
				if (j != d && at.c[j] != cable.c[j])
					break;
			if (j == n && spans_cable(size, at.c[d], up, s.hops[i], cable.c[d]))
				return true;
		}
		at.c[d] = (uint16_t)((at.c[d] + (up ? s.hops[i] : size - s.hops[i])) % size);
	}
	invariant(!memcmp(at.c, to->c, n * sizeof(at.c[0])));
	return false;
}
