// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rows of one node.
 *
 * A header fixes a path: the first step, if any; then for each dimension that
 * still differs one direction, all the way, in the order +x +y ... -x -y ...;
 * then the last step. So a path is at most one straight segment a dimension,
 * and struct health checks a segment in one look. What can be chosen is the
 * sign of each dimension and the two steps; a path is fit for use if its
 * directions never decrease and no segment crosses an excluded cable. Paths of
 * that kind, of whatever tables, never wait for each other in a circle.
 *
 * Most destinations take the minimal path at the first try. For the others all
 * signs are compared, then all signs with all steps; the shortest wins, and
 * among equals the smallest hash of (from, to, header). So a path stays as it
 * is while it and everything better than it stays as it is, whatever changes
 * elsewhere: nobody's traffic is held without need.
 */
#include <errno.h>
#include <string.h>

#include <torus/topology.h>
#include "health.h"

/** struct place - a node: its coordinates and its id */
struct place {
	struct torus_coords at;
	uint32_t id;
};

/**
 * struct header - a candidate
 * @hops: length of its path, steps included
 * @rank: order among equals
 */
struct header {
	uint16_t dirs;
	uint8_t first;
	uint8_t last;
	uint32_t hops;
	uint32_t rank;
};

/**
 * struct leg - what lies between the steps
 * @plus: hops along + for each dimension; 0 if it does not differ
 * @dim: the @k dimensions that differ
 */
struct leg {
	struct place from;
	struct place to;
	uint16_t plus[TORUS_MAX_DIMS];
	uint8_t dim[TORUS_MAX_DIMS];
	unsigned int k;
};

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

static void leg_set(const struct health *h, struct leg *leg, const struct place *from,
		    const struct place *to)
{
	unsigned int d;

	leg->from = *from;
	leg->to = *to;
	leg->k = 0;
	for (d = 0; d < h->shape->ndims; d++) {
		unsigned int a = from->at.c[d], b = to->at.c[d];

		leg->plus[d] = (uint16_t)(b >= a ? b - a : b + h->shape->size[d] - a);
		if (a != b)
			leg->dim[leg->k++] = (uint8_t)d;
	}
}

static unsigned int leg_hops(const struct health *h, const struct leg *leg,
			     unsigned int dir)
{
	unsigned int n = h->shape->ndims;

	return dir < n ? leg->plus[dir]
		       : h->shape->size[dir - n] - (unsigned int)leg->plus[dir - n];
}

/* Whether the segments of @dirs, one for each dimension that differs, are fit. */
static bool leg_ok(const struct health *h, const struct leg *leg, unsigned int dirs)
{
	unsigned int n = h->shape->ndims;
	uint32_t node = leg->from.id;

	if (!h->run)
		return true;
	while (dirs) {
		unsigned int dir = (unsigned int)__builtin_ctz(dirs);
		unsigned int d = dir < n ? dir : dir - n;

		if (!lt_health_run_ok(h, node, dir, leg_hops(h, leg, dir)))
			return false;
		/* Unsigned wrap-around is meant: the sum is what counts. */
		node += ((uint32_t)leg->to.at.c[d] - leg->from.at.c[d]) * h->stride[d];
		dirs &= dirs - 1;
	}
	return true;
}

/*
 * Shorter way in each dimension. Half way round, both are: then the parity of a
 * corner of the box decides, the one with the coordinates of from up to this
 * dimension and those of to above it. The nodes of a ring take turns that way and
 * so do the rings, which loads the links of a healthy torus alike (exactly so if
 * sizes are multiples of 4), where a hash would only do so on average.
 */
static struct header minimal(const struct health *h, const struct leg *leg)
{
	struct header c = { .first = TORUS_ROW_NO_STEP, .last = TORUS_ROW_NO_STEP };
	unsigned int corner = 0, d;

	for (d = 0; d < h->shape->ndims; d++)
		corner += leg->to.at.c[d];
	for (d = 0; d < h->shape->ndims; d++) {
		unsigned int plus = leg->plus[d], minus = h->shape->size[d] - plus;
		bool up;

		corner += (unsigned int)leg->from.at.c[d] - leg->to.at.c[d];
		if (!plus)
			continue;
		up = plus < minus || (plus == minus && !(corner & 1));
		c.dirs |= (uint16_t)(1u << (up ? d : d + h->shape->ndims));
		c.hops += up ? plus : minus;
	}
	return c;
}

/* --- the search ------------------------------------------------------------ */

/**
 * struct search - for the header of one pair
 * @best: so far; hops are ~0 if there is none
 */
struct search {
	const struct health *h;
	const struct place *from;
	const struct place *to;
	uint64_t hash;
	struct header best;
};

static bool better(const struct header *a, const struct header *b)
{
	return a->hops != b->hops ? a->hops < b->hops : a->rank < b->rank;
}

static bool ordered(const struct header *c)
{
	unsigned int low = c->dirs ? (unsigned int)__builtin_ctz(c->dirs) : c->last;
	unsigned int high = c->dirs ? 31 - (unsigned int)__builtin_clz(c->dirs) : 0;

	/* TORUS_ROW_NO_STEP as last is above all directions. */
	return (c->first == TORUS_ROW_NO_STEP || c->first <= low) && c->last >= high;
}

/* Every choice of signs for @leg, between the given steps. */
static void search_signs(struct search *s, const struct leg *leg, unsigned int first,
			 unsigned int last)
{
	unsigned int steps = (first != TORUS_ROW_NO_STEP) + (last != TORUS_ROW_NO_STEP);
	unsigned int signs, j;

	for (signs = 0; signs < 1u << leg->k; signs++) {
		struct header c = { .first = (uint8_t)first,
				    .last = (uint8_t)last,
				    .hops = steps };

		for (j = 0; j < leg->k; j++) {
			unsigned int dir = leg->dim[j];

			if (signs & 1u << j)
				dir += s->h->shape->ndims;
			c.dirs |= (uint16_t)(1u << dir);
			c.hops += leg_hops(s->h, leg, dir);
		}
		if (c.hops > s->best.hops || !ordered(&c))
			continue;
		c.rank = (uint32_t)mix(s->hash +
				       ((uint64_t)c.dirs | first << 12 | last << 16));
		if (better(&c, &s->best) && leg_ok(s->h, leg, c.dirs))
			s->best = c;
	}
}

/* The node next to @p along @dir, if the cable between them is fit for use. */
static bool step_from(const struct health *h, const struct place *p, unsigned int dir,
		      struct place *out)
{
	unsigned int n = h->shape->ndims, d = dir < n ? dir : dir - n;
	unsigned int size = h->shape->size[d], c = p->at.c[d];

	if (size < 2 || !lt_health_run_ok(h, p->id, dir, 1))
		return false;
	*out = *p;
	out->at.c[d] = (uint16_t)((dir < n ? c + 1 : c + size - 1) % size);
	out->id += ((uint32_t)out->at.c[d] - c) * h->stride[d];
	return true;
}

/* Every last step after the given first one; the step itself runs backwards. */
static void search_last(struct search *s, const struct place *from, unsigned int first)
{
	unsigned int ndirs = 2u * s->h->shape->ndims, last;
	struct place to;
	struct leg leg;

	for (last = 0; last < ndirs; last++) {
		if (first != TORUS_ROW_NO_STEP && last < first)
			continue;
		if (!step_from(s->h, s->to, torus_dir_opposite(s->h->shape, last), &to))
			continue;
		leg_set(s->h, &leg, from, &to);
		search_signs(s, &leg, first, last);
	}
}

static void search_steps(struct search *s)
{
	unsigned int ndirs = 2u * s->h->shape->ndims, first;
	struct place from;
	struct leg leg;

	search_last(s, s->from, TORUS_ROW_NO_STEP);
	for (first = 0; first < ndirs; first++) {
		if (!step_from(s->h, s->from, first, &from))
			continue;
		leg_set(s->h, &leg, &from, s->to);
		search_signs(s, &leg, first, TORUS_ROW_NO_STEP);
		search_last(s, &from, first);
	}
}

/* A node that no cable reaches needs no search. */
static bool cut_off(const struct health *h, uint32_t node)
{
	unsigned int dir;

	if (!h->run)
		return false;
	for (dir = 0; dir < 2u * h->shape->ndims; dir++)
		if (lt_health_run_ok(h, node, dir, 1))
			return false;
	return true;
}

/* --- rows ------------------------------------------------------------------ */

/*
 * Whether a fault lies in the box spanned by @leg in the directions @dirs, so
 * that some order of them would cross it.
 */
static bool in_box(const struct health *h, const struct leg *leg, unsigned int dirs,
		   const struct fault *f)
{
	unsigned int n = h->shape->ndims, d;

	for (d = 0; d < n; d++) {
		unsigned int size = h->shape->size[d], a = leg->from.at.c[d];
		unsigned int u = f->at.c[d], away, len = 0;

		if (dirs & 1u << d) {
			away = (u + size - a) % size;
			len = leg->plus[d];
		} else if (dirs & 1u << (n + d)) {
			away = (a + size - u) % size;
			len = size - leg->plus[d];
		} else {
			away = u != a;
		}
		if (d == f->dim) {
			/* The cable spans a hop: from its near end it has to fit. */
			if (!len)
				return false;
			if (dirs & 1u << (n + d))
				away = (away + size - 1) % size;
			if (away >= len)
				return false;
		} else if (away > len) {
			return false;
		}
	}
	return true;
}

static bool box_ok(const struct health *h, const struct leg *leg, unsigned int dirs)
{
	uint32_t i;

	for (i = 0; i < h->nfaults; i++)
		if (in_box(h, leg, dirs, &h->fault[i]))
			return false;
	return true;
}

/* Best header if the minimal one is not fit. Return: whether there is any. */
static bool search(struct search *s, const struct leg *leg)
{
	if (cut_off(s->h, s->to->id))
		return false;
	s->best.hops = UINT32_MAX;
	search_signs(s, leg, TORUS_ROW_NO_STEP, TORUS_ROW_NO_STEP);
	if (s->best.hops == UINT32_MAX)
		search_steps(s);
	return s->best.hops != UINT32_MAX;
}

/* Row from @from to @to, 0 if there is none. */
static uint64_t row(const struct health *h, const struct place *from,
		    const struct place *to)
{
	uint64_t pair = ((uint64_t)from->id << 32 | to->id) + 0x9e3779b97f4a7c15ull;
	struct search s = { .h = h, .from = from, .to = to, .hash = mix(pair) };
	struct header *best = &s.best;
	struct leg leg;
	uint32_t least;
	uint64_t r;

	leg_set(h, &leg, from, to);
	*best = minimal(h, &leg);
	least = best->hops;
	if (!leg_ok(h, &leg, best->dirs) && !search(&s, &leg))
		return 0;
	r = TORUS_ROW_VALID | (uint64_t)best->dirs << TORUS_ROW_DIR_SHIFT |
	    (uint64_t)best->first << TORUS_ROW_FIRST_SHIFT |
	    (uint64_t)best->last << TORUS_ROW_LAST_SHIFT;
	/* A path of the least length has no steps that DIR bits could not say. */
	if (leg.k && best->hops == least && box_ok(h, &leg, best->dirs))
		r |= TORUS_ROW_ADAPTIVE | (uint64_t)best->dirs << TORUS_ROW_ADAPT_SHIFT;
	return r;
}

/* The node with the next id. */
static void next_place(const struct torus_shape *shape, struct place *p)
{
	unsigned int d;

	p->id++;
	for (d = 0; d < shape->ndims; d++) {
		if (++p->at.c[d] < shape->size[d])
			break;
		p->at.c[d] = 0;
	}
}

int torus_route_rows(const struct torus_shape *shape, const uint16_t *excluded,
		     uint32_t from, uint64_t *rows)
{
	struct place own = { .id = from }, to = { .id = 0 };
	struct health h;
	int invalid = 0, err;
	bool alone;

	err = lt_health_init(&h, shape, excluded);
	if (err)
		return err;
	if (from >= h.nodes) {
		lt_health_free(&h);
		return -EINVAL;
	}
	torus_node_coords(shape, from, &own.at);
	alone = cut_off(&h, from);
	for (; to.id < h.nodes; next_place(shape, &to)) {
		rows[to.id] = alone && to.id != from ? 0 : row(&h, &own, &to);
		invalid += !rows[to.id];
	}
	lt_health_free(&h);
	return invalid;
}
