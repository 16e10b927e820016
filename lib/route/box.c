// SPDX-License-Identifier: LGPL-2.1-or-later
#include <torus/topology.h>
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

static bool empty(const struct span *s)
{
	return !s->here && s->lo[0] > s->hi[0] && s->lo[1] > s->hi[1];
}

static void side(struct span *s, unsigned int which, unsigned int lo, unsigned int hi)
{
	s->lo[which] = (uint16_t)lo;
	s->hi[which] = (uint16_t)hi;
}

/*
 * Coordinates @to of dimension @d such that a packet to it can be at @w along @d
 * while it leaves by @dir, which is of another dimension.
 */
static void span_across(const struct torus_health *h, unsigned int from, unsigned int w,
			unsigned int d, unsigned int dir, bool path, struct span *s)
{
	unsigned int size = h->shape.size[d], half = size / 2, which;

	s->here = w == from;
	for (which = 0; which < 2; which++) {
		unsigned int hops = which ? from + size - w : w + size - from;

		hops %= size;
		if (d + which * h->shape.ndims < dir) {
			/* Its turn was before: the coordinate is reached. */
			if (hops && hops <= half)
				side(s, which, hops, hops);
			else
				side(s, which, 1, 0);
		} else if (path) {
			/* Its turn comes later: the path has not moved in it. */
			side(s, which, 1, hops ? 0 : half);
		} else {
			side(s, which, hops ? hops : 1, half);
		}
	}
}

/* Coordinates to which the path along @dir crosses the channel that leaves @w. */
static void span_along(const struct torus_health *h, unsigned int from, unsigned int w,
		       unsigned int d, bool up, struct span *s)
{
	unsigned int size = h->shape.size[d];

	s->here = false;
	side(s, !up, (up ? w + size - from : from + size - w) % size + 1, size / 2);
	side(s, up, 1, 0);
}

static bool make(const struct torus_health *h, const struct torus_coords *from,
		 const struct channel *ch, bool path, struct box *box)
{
	unsigned int n = h->shape.ndims, d, along = ch->dir < n ? ch->dir : ch->dir - n;

	for (d = 0; d < n; d++) {
		if (d == along)
			span_along(h, from->c[d], ch->at.c[d], d, ch->dir < n, &box->dim[d]);
		else
			span_across(h, from->c[d], ch->at.c[d], d, ch->dir, path,
				    &box->dim[d]);
		if (empty(&box->dim[d]))
			return false;
	}
	return true;
}

bool lt_box_path(const struct torus_health *h, const struct torus_coords *from,
		 const struct channel *ch, struct box *box)
{
	return make(h, from, ch, true, box);
}

bool lt_box_escape(const struct torus_health *h, const struct torus_coords *from,
		   const struct channel *ch, struct box *box)
{
	return make(h, from, ch, false, box);
}

bool lt_box_meet(const struct torus_health *h, const struct box *a, const struct box *b,
		 struct box *out)
{
	unsigned int d, i;

	for (d = 0; d < h->shape.ndims; d++) {
		const struct span *x = &a->dim[d], *y = &b->dim[d];
		struct span *s = &out->dim[d];

		s->here = x->here && y->here;
		for (i = 0; i < 2; i++)
			side(s, i, x->lo[i] > y->lo[i] ? x->lo[i] : y->lo[i],
			     x->hi[i] < y->hi[i] ? x->hi[i] : y->hi[i]);
		if (empty(s))
			return false;
	}
	return true;
}

/* --- enumeration ----------------------------------------------------------- */

/**
 * struct tour - over a box
 * @odd: parity of the source's coordinates up to and with each dimension
 */
struct tour {
	const struct torus_health *h;
	const struct torus_coords *from;
	const struct box *box;
	unsigned int odd[DIMS];
	void (*run)(void *arg, uint32_t first, uint32_t n);
	void *arg;
};

static bool on_side(const struct tour *t, unsigned int d, unsigned int to_odd,
		    unsigned int which)
{
	return lt_tie_up(t->odd[d], to_odd) == !which;
}

/* Along dimension 0, where ids are successive. @id: of coordinate 0 there. */
static void line(const struct tour *t, uint32_t id, unsigned int to_odd)
{
	unsigned int size = t->h->shape.size[0], from = t->from->c[0], which;
	const struct span *s = &t->box->dim[0];

	if (s->here)
		t->run(t->arg, id + from, 1);
	for (which = 0; which < 2; which++) {
		unsigned int lo = s->lo[which], hi = s->hi[which], first, n;

		if (2 * hi == size && !on_side(t, 0, to_odd, which))
			hi--;
		if (lo > hi)
			continue;
		first = which ? from + size - hi : from + lo;
		first = first >= size ? first - size : first;
		n = hi - lo + 1;
		if (first + n > size) {
			t->run(t->arg, id + first, size - first);
			t->run(t->arg, id, first + n - size);
		} else {
			t->run(t->arg, id + first, n);
		}
	}
}

static void each(const struct tour *t, unsigned int d, uint32_t id, unsigned int to_odd)
{
	unsigned int size = t->h->shape.size[d], from = t->from->c[d], which, hops;
	const struct span *s = &t->box->dim[d];

	if (!d) {
		line(t, id, to_odd);
		return;
	}
	if (s->here)
		each(t, d - 1, id + from * t->h->stride[d], to_odd ^ from);
	for (which = 0; which < 2; which++)
		for (hops = s->lo[which]; hops <= s->hi[which]; hops++) {
			unsigned int c = which ? from + size - hops : from + hops;

			if (2 * hops == size && !on_side(t, d, to_odd, which))
				continue;
			c = c >= size ? c - size : c;
			each(t, d - 1, id + c * t->h->stride[d], to_odd ^ c);
		}
}

void lt_box_each(const struct torus_health *h, const struct torus_coords *from,
		 const struct box *box, void (*run)(void *arg, uint32_t first, uint32_t n),
		 void *arg)
{
	struct tour t = { .h = h, .from = from, .box = box, .run = run, .arg = arg };
	unsigned int d, odd = 0;

	for (d = 0; d < h->shape.ndims; d++)
		t.odd[d] = odd ^= from->c[d];
	each(&t, h->shape.ndims - 1, 0, 0);
}
