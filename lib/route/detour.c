// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "detour.h"
#include "search.h"

#define SIGNS (1u << (DIMS - 1))

/**
 * struct sign - a choice of signs for the dimensions above 0; @hops: hops of its segments together
 */
struct sign {
	uint32_t dirs, hops;
};

/**
 * struct stretch - up to 64 destinations that are consecutive along dimension 0
 * @h: the torus
 * @from_id: source
 * @from: coordinates of the source
 * @first: node id of the first destination
 * @which: wanted destinations, as in lt_detours()
 * @to: coordinates of the first destination
 * @n: number of destinations up to the last wanted one
 * @hops: for each direction, hops to the first destination; 0 if its dimension does not differ
 * @away: for each dimension, what it adds to the node id from the source to @to, modulo 2^32
 * @unfit: directions of the plain header of all destinations, whose path is not healthy
 * @sign: choices of signs, short ones first
 * @signs: number of choices
 * @best: for each destination, hops of the shortest path so far; ~0: none
 * @dirs: for each destination, the directions of that path
 * @offered: a healthy header was found
 * @all: while only one header was found, and for all destinations: its directions; @best and @dirs
 *	are not set then
 * @all_dir: the direction of @all in dimension 0
 * @all_hops: hops of @all in all other dimensions
 */
struct stretch {
	const struct torus_health *h;
	uint32_t from_id;
	struct torus_coords from;
	uint32_t first;
	struct torus_coords to;
	uint64_t which;
	unsigned int n;
	uint16_t hops[TORUS_MAX_PORTS];
	uint32_t away[DIMS];
	unsigned int unfit;
	unsigned int signs;
	struct sign sign[SIGNS];
	uint32_t best[LT_DETOURS_MAX];
	uint16_t dirs[LT_DETOURS_MAX];
	bool offered;
	unsigned int all, all_dir;
	uint32_t all_hops;
};

/* Adds a dimension, which doubles the choices; both halves are sorted, and are merged. */
static void add_dim(struct stretch *s, unsigned int d)
{
	unsigned int n = s->h->shape.ndims, count = s->signs, i, j, k;
	unsigned int near = s->hops[d] <= s->hops[n + d] ? d : n + d, far = n + 2 * d - near;
	struct sign was[SIGNS / 2];

	invariant(2 * count <= SIGNS);
	memcpy(was, s->sign, count * sizeof(was[0]));
	for (i = j = k = 0; k < 2 * count; k++) {
		bool by_near = j == count || (i < count && was[i].hops + s->hops[near] <=
							   was[j].hops + s->hops[far]);
		unsigned int dir = by_near ? near : far;
		const struct sign *w = &was[by_near ? i++ : j++];

		s->sign[k].dirs = w->dirs | 1u << dir;
		s->sign[k].hops = w->hops + s->hops[dir];
		invariant(!k || s->sign[k - 1].hops <= s->sign[k].hops);
	}
	s->signs = k;
}

static void stretch_set(struct stretch *s, uint32_t first, uint64_t which)
{
	unsigned int n = s->h->shape.ndims, d;

	torus_node_coords(&s->h->shape, first, &s->to);
	s->first = first;
	s->which = which;
	s->n = 64 - (unsigned int)__builtin_clzll(which);
	s->signs = 1;
	s->sign[0] = (struct sign){ 0, 0 };
	for (d = 0; d < n; d++) {
		unsigned int a = s->from.c[d], b = s->to.c[d], size = s->h->shape.size[d];

		s->hops[d] = (uint16_t)(b >= a ? b - a : b + size - a);
		s->hops[n + d] = (uint16_t)(a >= b ? a - b : a + size - b);
		s->away[d] = (b - a) * s->h->stride[d];
		if (d && a != b)
			add_dim(s, d);
	}
	s->all = 0;
	s->offered = false;
}

/* Return: number of hops along dimension 0 to destination @i. */
static uint32_t hops_along(const struct stretch *s, unsigned int dir, unsigned int i)
{
	return dir ? s->hops[dir] - i : s->hops[dir] + i;
}

/* Return: mask of the destinations that a path reaches with @reach hops along dimension 0. */
static uint64_t reached_by(const struct stretch *s, unsigned int dir, unsigned int reach)
{
	unsigned int hops = s->hops[dir], past;

	if (dir)
		return hops <= reach ? ~0ull : hops - reach < 64 ? ~0ull << (hops - reach) : 0;
	past = reach >= hops ? reach - hops + 1 : 0;
	return past < 64 ? (1ull << past) - 1 : ~0ull;
}

/** struct place - a position on a path: node id @node, coordinates @at */
struct place {
	uint32_t node;
	struct torus_coords at;
};

/*
 * Return: the destinations of @which whose segment along @dir is healthy. Called when the segments
 * of different destinations are in different rings; each one begins one node after that of the last
 * destination.
 */
static uint64_t side_by_side(const struct stretch *s, const struct place *p, unsigned int dir,
			     unsigned int d, uint64_t which)
{
	uint64_t ask = which & lt_hurt_word(s->h, p->node, d);
	struct torus_coords at = p->at;

	for (; ask; ask &= ask - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(ask);

		at.c[0] = (uint16_t)(p->at.c[0] + i);
		if (!lt_run_ok(s->h, &at, dir, s->hops[dir]))
			which &= ~(1ull << i);
	}
	return which;
}

/* Return: as side_by_side(), for destinations whose paths have the segment in common. */
static uint64_t fit_together(const struct stretch *s, const struct place *p, unsigned int dir,
			     unsigned int d, uint64_t which)
{
	if (!lt_hurt(s->h, p->node, d))
		return which;
	if (!d)
		return which & reached_by(s, dir, lt_reach(s->h, &p->at, dir));
	return lt_run_ok(s->h, &p->at, dir, s->hops[dir]) ? which : 0;
}

/* Return: the destinations of @which whose path in the directions @dirs is healthy. */
static uint64_t fit_path(const struct stretch *s, unsigned int dirs, uint64_t which)
{
	unsigned int n = s->h->shape.ndims;
	struct place p = { s->from_id, s->from };
	bool parted = false;

	for (; dirs && which; dirs &= dirs - 1) {
		unsigned int dir = (unsigned int)__builtin_ctz(dirs);
		unsigned int d = dir < n ? dir : dir - n;

		which = parted ? side_by_side(s, &p, dir, d, which) :
				 fit_together(s, &p, dir, d, which);
		parted |= !d;
		p.node += s->away[d];
		p.at.c[d] = s->to.c[d];
	}
	invariant(!which || p.node == s->first);
	return which;
}

static bool ranks_before(const struct stretch *s, unsigned int i, unsigned int dirs)
{
	uint64_t hash = lt_pair_hash(s->from_id, s->first + i);

	return lt_rank(hash, dirs, TORUS_ROW_NO_STEP, TORUS_ROW_NO_STEP) <
	       lt_rank(hash, s->dirs[i], TORUS_ROW_NO_STEP, TORUS_ROW_NO_STEP);
}

static void compare_path(struct stretch *s, uint64_t which, unsigned int dirs, unsigned int dir,
			 uint32_t len)
{
	for (; which; which &= which - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(which);
		uint32_t hops = len + hops_along(s, dir, i);

		invariant(i < s->n);
		if (hops > s->best[i] || (hops == s->best[i] && !ranks_before(s, i, dirs)))
			continue;
		s->best[i] = hops;
		s->dirs[i] = (uint16_t)dirs;
	}
}

/*
 * Uses the header @dirs for the destinations @which, if it is better than their best header so far;
 * @len: number of hops of the path without those along @dir (dimension 0).
 */
static void offer_path(struct stretch *s, uint64_t which, unsigned int dirs, unsigned int dir,
		       uint32_t len)
{
	unsigned int all = s->all;

	if (!which)
		return;
	if (!s->offered && which == s->which) {
		s->all = dirs;
		s->all_dir = dir;
		s->all_hops = len;
	} else {
		if (!s->offered || all)
			memset(s->best, 0xff, s->n * sizeof(s->best[0]));
		s->all = 0;
		if (all)
			compare_path(s, s->which, all, s->all_dir, s->all_hops);
		compare_path(s, which, dirs, dir, len);
	}
	s->offered = true;
}

/* Return: number of hops of the longest of the paths found; ~0 if some destination has none yet. */
static uint32_t longest_found(const struct stretch *s)
{
	uint64_t which = s->which;
	uint32_t max = 0;

	if (!s->offered)
		return UINT32_MAX;
	if (s->all)
		return s->all_hops + hops_along(s, s->all_dir, s->all_dir ? 0 : s->n - 1);
	for (; which; which &= which - 1) {
		uint32_t best = s->best[__builtin_ctzll(which)];

		max = best > max ? best : max;
	}
	return max;
}

/*
 * Tries all signs with @dir in dimension 0, shorter ones first, up to @max hops. For a destination
 * that has a healthy path, longer paths are not tried.
 */
static void search_detours(struct stretch *s, unsigned int dir, uint32_t max)
{
	uint32_t shortest = hops_along(s, dir, dir ? s->n - 1 : 0), x = s->hops[0] ? 1u << dir : 0;
	struct place here = { s->from_id, s->from };
	uint64_t left = s->which, found = 0;

	/* the + direction of dimension 0 comes first in the order of directions */
	if (x == 1)
		left = fit_together(s, &here, 0, 0, left);
	for (unsigned int i = 0; i < s->signs && left; i++) {
		const struct sign *sign = &s->sign[i];
		uint64_t good;

		if (shortest + sign->hops > max)
			break;
		if (i && sign->hops > sign[-1].hops)
			left &= ~found;
		if ((sign->dirs | x) == s->unfit)
			continue;
		good = fit_path(s, sign->dirs | x, left);
		offer_path(s, good, sign->dirs | x, dir, sign->hops);
		found |= good;
	}
}

static uint64_t plain_row(unsigned int dirs)
{
	return ROW_PLAIN | (uint64_t)dirs << TORUS_ROW_DIR_SHIFT;
}

static void put_all(const struct stretch *s, uint64_t *row)
{
	uint64_t which = s->which, same = plain_row(s->all);
	unsigned int i;

	if (which == ~0ull >> (64 - s->n))
		for (i = 0; i < s->n; i++)
			row[i] = same;
	else
		for (; which; which &= which - 1)
			row[__builtin_ctzll(which)] = same;
}

/* Writes the rows without steps. Return: mask of the destinations that have no such row. */
static uint64_t put_detours(const struct stretch *s, uint64_t *row)
{
	uint64_t which = s->which, none = 0;

	if (!s->offered)
		return which;
	if (s->all) {
		put_all(s, row);
		return 0;
	}
	for (; which; which &= which - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(which);

		if (s->best[i] == UINT32_MAX)
			none |= 1ull << i;
		else
			row[i] = plain_row(s->dirs[i]);
	}
	return none;
}

uint64_t lt_detours(struct torus_health *h, uint32_t from, const struct torus_coords *at,
		    uint32_t first, uint64_t which, uint64_t *row)
{
	unsigned int n = h->shape.ndims, near;
	struct stretch s;
	uint64_t none, i;

	s.h = h;
	s.from_id = from;
	s.from = *at;
	s.unfit = row[__builtin_ctzll(which)] >> TORUS_ROW_DIR_SHIFT & TORUS_ROW_DIR_MASK;
	stretch_set(&s, first, which);
	near = s.hops[n] < s.hops[0] ? n : 0;
	search_detours(&s, near, UINT32_MAX);
	if (s.hops[0])
		search_detours(&s, n - near, longest_found(&s));
	none = put_detours(&s, row);
	invariant(!(none & ~which));
	for (i = none; i; i &= i - 1) {
		unsigned int j = (unsigned int)__builtin_ctzll(i);
		uint64_t direct = lt_direct_row(h, from, first + j);

		if (!direct)
			continue;
		row[j] = direct;
		none &= ~(1ull << j);
	}
	return none;
}
