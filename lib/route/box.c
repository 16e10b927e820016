// SPDX-License-Identifier: LGPL-2.1-or-later
#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "box.h"
#include "search.h"

void lt_channels(const struct torus_health *h, const struct torus_cable *c,
		 struct channel out[2])
{
	torus_node_coords(&h->shape, c->node, &out[0].at);
	out[0].dir = c->dim;
	out[1] = out[0];
	lt_step(h, &out[1].at, 0, c->dim);
	out[1].dir = (uint8_t)(c->dim + h->shape.ndims);
}

static bool is_empty(const struct span *s)
{
	return !s->here && s->lo[0] > s->hi[0] && s->lo[1] > s->hi[1];
}

static void set_side(struct span *s, unsigned int which, unsigned int lo, unsigned int hi)
{
	s->lo[which] = (uint16_t)lo;
	s->hi[which] = (uint16_t)hi;
}

/* Return: hops along + from one coordinate to another. */
static unsigned int hops_up(unsigned int from, unsigned int to, unsigned int size)
{
	return to >= from ? to - from : to + size - from;
}

/*
 * Sets @s to the coordinates of dimension @d such that a packet to one of them can be at coordinate
 * @w when it leaves a node by @dir, a direction of another dimension.
 */
static void span_across(const struct torus_health *h, unsigned int from, unsigned int w,
			unsigned int d, unsigned int dir, bool path, struct span *s)
{
	unsigned int size = h->shape.size[d], half = size / 2, which;

	s->here = w == from;
	for (which = 0; which < 2; which++) {
		unsigned int hops = which ? hops_up(w, from, size) : hops_up(from, w, size);

		if (d + which * h->shape.ndims < dir) {
			/* Packets use dimension @d before @dir, so its coordinate is reached. */
			if (hops && hops <= half)
				set_side(s, which, hops, hops);
			else
				set_side(s, which, 1, 0);
		} else if (path) {
			/*
			 * Packets use dimension @d after @dir, so the path has not moved in it yet.
			 */
			set_side(s, which, 1, hops ? 0 : half);
		} else {
			set_side(s, which, hops ? hops : 1, half);
		}
	}
}

/* Sets @s to the coordinates to which a path along @dir crosses the channel that leaves @w. */
static void span_along(const struct torus_health *h, unsigned int from, unsigned int w,
		       unsigned int d, bool up, struct span *s)
{
	unsigned int size = h->shape.size[d];

	s->here = false;
	set_side(s, !up, (up ? hops_up(from, w, size) : hops_up(w, from, size)) + 1, size / 2);
	set_side(s, up, 1, 0);
}

static void make_span(const struct torus_health *h, const struct torus_coords *from,
		      const struct channel *ch, unsigned int d, bool path, struct span *s)
{
	unsigned int n = h->shape.ndims, along = ch->dir < n ? ch->dir : ch->dir - n;

	if (d == along)
		span_along(h, from->c[d], ch->at.c[d], d, ch->dir < n, s);
	else
		span_across(h, from->c[d], ch->at.c[d], d, ch->dir, path, s);
}

static bool half_in_side(const struct span *s, unsigned int size, unsigned int which)
{
	return s->lo[which] <= s->hi[which] && 2 * s->hi[which] == size;
}

static bool has_half(const struct span *s, unsigned int size)
{
	return half_in_side(s, size, 0) || half_in_side(s, size, 1);
}

/*
 * If the coordinate half way round is in one side, adds it to the other side, too; that side is
 * empty or has it already.
 */
static void widen_span(const struct torus_health *h, unsigned int d, struct box *box)
{
	unsigned int size = h->shape.size[d], which;
	struct span *s = &box->dim[d];

	if (!has_half(s, size))
		return;
	for (which = 0; which < 2; which++)
		if (s->lo[which] > s->hi[which]) {
			set_side(s, which, size / 2, size / 2);
			box->other |= (uint16_t)(1u << (d + which * h->shape.ndims));
		}
}

bool lt_box_path(const struct torus_health *h, const struct torus_coords *from,
		 const struct channel *ch, struct box *box)
{
	unsigned int d;

	box->path = true;
	box->other = 0;
	for (d = 0; d < h->shape.ndims; d++) {
		make_span(h, from, ch, d, true, &box->dim[d]);
		if (is_empty(&box->dim[d]))
			return false;
	}
	return true;
}

/*
 * Return: true if the plain path to some destination takes the channel, because the channel is at
 * most half way round.
 */
static bool is_used(const struct torus_health *h, const struct torus_coords *from,
		    const struct channel *ch)
{
	unsigned int n = h->shape.ndims, d = ch->dir < n ? ch->dir : ch->dir - n;
	unsigned int size = h->shape.size[d], a = from->c[d], w = ch->at.c[d];

	return (ch->dir < n ? hops_up(a, w, size) : hops_up(w, a, size)) < size / 2;
}

/* Intersects @s with @with. */
static void span_meet(struct span *s, const struct span *with)
{
	unsigned int i;

	s->here = s->here && with->here;
	for (i = 0; i < 2; i++)
		set_side(s, i, s->lo[i] > with->lo[i] ? s->lo[i] : with->lo[i],
			 s->hi[i] < with->hi[i] ? s->hi[i] : with->hi[i]);
}

/* Does the work of lt_box_escape_in(). @in: NULL: the box is not limited. */
static bool find_escape(const struct torus_health *h, const struct torus_coords *from,
			const struct channel *ch, const struct box *in, struct box *box)
{
	unsigned int d;

	if (!is_used(h, from, ch))
		return false;
	box->path = false;
	box->other = 0;
	for (d = 0; d < h->shape.ndims; d++) {
		make_span(h, from, ch, d, false, &box->dim[d]);
		if (is_empty(&box->dim[d]))
			return false;
		widen_span(h, d, box);
		if (!in)
			continue;
		span_meet(&box->dim[d], &in->dim[d]);
		if (is_empty(&box->dim[d]))
			return false;
	}
	return true;
}

bool lt_box_escape(const struct torus_health *h, const struct torus_coords *from,
		   const struct channel *ch, struct box *box)
{
	return find_escape(h, from, ch, NULL, box);
}

bool lt_box_escape_in(const struct torus_health *h, const struct torus_coords *from,
		      const struct channel *ch, const struct box *in, struct box *box)
{
	return find_escape(h, from, ch, in, box);
}

void lt_box_narrow(const struct torus_health *h, struct box *box)
{
	unsigned int d;

	for (d = 0; d < 2u * h->shape.ndims; d++)
		if (box->other >> d & 1)
			set_side(&box->dim[d % h->shape.ndims], d >= h->shape.ndims, 1, 0);
	box->other = 0;
}

/* --- enumeration ----------------------------------------------------------- */

/*
 * Most pieces of a span: the source's own coordinate, one interval on each side of it, and one more
 * because an interval may wrap around.
 */
#define PIECES 4

/** struct pieces - the coordinates of a ring that are in a box, as @n intervals */
struct pieces {
	unsigned int n;
	struct {
		uint32_t first, n;
	} piece[PIECES];
};

/**
 * struct tour - state of visiting all destinations of a box
 * @odd: for each dimension, parity of the sum of the source's coordinates up to it
 * @pieces: of each dimension, for both parities of the destination's coordinates above it
 * @tie: of each dimension, 1 if the pieces of both parities differ; else 0, and only the first
 *	pieces are set
 * The other members are the arguments of lt_box_each().
 */
struct tour {
	const struct torus_health *h;
	const struct torus_coords *from;
	const struct box *box;
	unsigned int odd[DIMS];
	struct pieces pieces[DIMS][2];
	unsigned int tie[DIMS];
	void (*run)(void *arg, const struct patch *p);
	void *arg;
};

/* Return: true if a piece of dimension @d may not contain coordinates of both sides. */
static bool is_apart(const struct tour *t, unsigned int d)
{
	return t->box->path && !d;
}

/*
 * Adds a piece of @n coordinates from @first on, which may wrap around. @first is less than twice
 * @size.
 */
static void add_piece(struct pieces *p, uint32_t size, uint32_t first, uint32_t n)
{
	first = n == size ? 0 : first >= size ? first - size : first;
	invariant(p->n < PIECES && n && n <= size && first < size);
	p->piece[p->n].first = first;
	p->piece[p->n++].n = first + n > size ? size - first : n;
	if (first + n <= size)
		return;
	invariant(p->n < PIECES);
	p->piece[p->n].first = 0;
	p->piece[p->n++].n = first + n - size;
}

/*
 * Sets the pieces of dimension @d. @less: the side, 0 or 1, that ends before the coordinate half
 * way round; 2: neither side does.
 */
static void set_pieces(const struct tour *t, unsigned int d, unsigned int less, struct pieces *p)
{
	unsigned int from = t->from->c[d], size = t->h->shape.size[d], which;
	const struct span *s = &t->box->dim[d];
	uint32_t n[2], own[2] = { 0, 0 };

	p->n = 0;
	for (which = 0; which < 2; which++) {
		n[which] = s->hi[which] + 1u - (which == less);
		n[which] = n[which] > s->lo[which] ? n[which] - s->lo[which] : 0;
		if (!s->here || s->lo[which] != 1 || is_apart(t, d))
			continue;
		own[which] = n[which];
		n[which] = 0;
	}
	if (s->here)
		add_piece(p, size, from + size - own[1], own[0] + 1 + own[1]);
	if (n[0])
		add_piece(p, size, from + s->lo[0], n[0]);
	if (n[1])
		add_piece(p, size, from + size - (s->lo[1] + n[1] - 1), n[1]);
}

/*
 * Makes the pieces of all dimensions. A coordinate half way round that is in one side belongs only
 * to lines whose parity takes that side. If it is in both sides, it belongs to all lines, as a part
 * of the longer side, unless the sides are kept apart.
 */
static void make_pieces(struct tour *t, unsigned int d)
{
	unsigned int size = t->h->shape.size[d], to_odd, less;
	const struct span *s = &t->box->dim[d];
	bool half[2] = { half_in_side(s, size, 0), half_in_side(s, size, 1) };
	bool both = half[0] && half[1] && !is_apart(t, d);

	t->tie[d] = !both && (half[0] || half[1]);
	for (to_odd = 0; to_odd <= t->tie[d]; to_odd++) {
		less = both ? s->lo[1] > s->lo[0] : lt_tie_up(t->odd[d], to_odd);
		set_pieces(t, d, half[less] ? less : 2, &t->pieces[d][to_odd]);
	}
}

/*
 * Calls @t->run for @count lines along dimension 0. The coordinates of all these lines in the other
 * dimensions have sums of the same parity, @to_odd.
 */
static void run_lines(const struct tour *t, uint32_t id, unsigned int to_odd, uint32_t count,
		      uint32_t stride)
{
	const struct pieces *p = &t->pieces[0][to_odd & t->tie[0]];

	for (unsigned int i = 0; i < p->n; i++) {
		struct patch patch = { id + p->piece[i].first, p->piece[i].n, count, stride };

		invariant(count && patch.first + (count - 1) * stride + patch.n <= t->h->nodes);
		t->run(t->arg, &patch);
	}
}

/* Visits lines at coordinates @c to @end - 1 of dimension 1. */
static void run_plane(const struct tour *t, uint32_t id, unsigned int to_odd, unsigned int c,
		      unsigned int end)
{
	uint32_t stride = t->h->stride[1];

	id += c * stride;
	if (!t->tie[0]) {
		run_lines(t, id, 0, end - c, stride);
		return;
	}
	run_lines(t, id, to_odd ^ c, (end - c + 1) / 2, 2 * stride);
	if (end - c > 1)
		run_lines(t, id + stride, to_odd ^ c ^ 1, (end - c) / 2, 2 * stride);
}

/*
 * Visits all lines of the box in dimension @d > 0 and lower ones; @id: node with coordinate 0 in
 * these dimensions.
 */
static void run_each(const struct tour *t, unsigned int d, uint32_t id, unsigned int to_odd)
{
	const struct pieces *p = &t->pieces[d][to_odd & t->tie[d]];
	unsigned int i, c, end;

	for (i = 0; i < p->n; i++) {
		c = p->piece[i].first;
		end = c + p->piece[i].n;
		if (d == 1)
			run_plane(t, id, to_odd, c, end);
		else
			for (; c < end; c++)
				run_each(t, d - 1, id + c * t->h->stride[d], to_odd ^ c);
	}
}

void lt_box_each(const struct torus_health *h, const struct torus_coords *from,
		 const struct box *box, void (*run)(void *arg, const struct patch *p), void *arg)
{
	struct tour t;
	unsigned int d, odd = 0;

	t.h = h;
	t.from = from;
	t.box = box;
	t.run = run;
	t.arg = arg;
	for (d = 0; d < h->shape.ndims; d++) {
		t.odd[d] = odd ^= from->c[d];
		make_pieces(&t, d);
	}
	if (h->shape.ndims > 1)
		run_each(&t, h->shape.ndims - 1u, 0, 0);
	else
		run_lines(&t, 0, 0, 1, 0);
}

void lt_box_each_tie(const struct torus_health *h, const struct torus_coords *from,
		     const struct box *box, unsigned int d,
		     void (*run)(void *arg, const struct patch *p), void *arg)
{
	unsigned int half = h->shape.size[d] / 2;
	struct box tie = *box;

	if (!has_half(&box->dim[d], h->shape.size[d]))
		return;
	tie.dim[d].here = false;
	set_side(&tie.dim[d], 0, half, half);
	set_side(&tie.dim[d], 1, half, half);
	lt_box_each(h, from, &tie, run, arg);
}
