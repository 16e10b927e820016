// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rows of one node: computed from the beginning, and updated after each change.
 *
 * A row is one of three kinds.
 *	plain: the header of the fault-free torus (plain.c), all of whose cables are healthy;
 *		adaptive unless an excluded channel forbids it (2);
 *	detour: the best of all headers that work (search.c; of many at once, detour.c);
 *	far: no header works: a relay (relay.c), or no row.
 * Plain rows are in no list: box.c computes which of them a cable affects. All others are in @odd.
 *
 *  1. A cable that is lost takes adaptive directions from the rows of its escape box, and turns the
 *     rows of its path box into detours. A detour that does not cross it stays: no other header has
 *     become better. A cable that is back affects detours which could now cross it, and far rows;
 *     those that become plain, and all plain rows of its escape box, get adaptive directions unless
 *     the box of another excluded channel forbids it. Far rows look for a relay again after every
 *     change, when all others are right. So each row is what it would be if computed from nothing
 *     (updated_rows_equal_rows_made_anew() of tests/unit/test_routes.c;
 *     tests/unit/test_routes_naive.c), and that is one such update: all excluded cables are lost at
 *     once in a fault-free torus.
 *  2. Adaptive packets may take the directions of their plain row, and both of a dimension in which
 *     the destination is half way round. Only the escape boxes of excluded channels (box.h) forbid
 *     that: a row of such a box has no adaptive directions, or, if its own path does not need the
 *     channel, only its own. Detours are not adaptive: they leave the minimal directions where a
 *     channel of the plain path is excluded, so the escapes of all their choices would have to be
 *     checked channel by channel at each change of the table, for the few rows around a fault.
 *     Their packets on VCA use the escape only; if that dies, they are parked like those of VCD0.
 *
 * The work of an update is in tests/unit/test_routes_work.c, memory that runs out in
 * tests/unit/test_route_memory.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "box.h"
#include "detour.h"
#include "plain.h"
#include "relay.h"
#include "search.h"

/* If more cables than this have changed, all rows are computed from the beginning. */
#define UPDATE_MAX 64

/**
 * struct torus_routes - see <torus/route.h>
 * @own: coordinates of @from
 * @alone: no healthy cable reaches @from
 * @stale: an update failed half-way
 * @track: the caller wants the ranges of changed rows
 * @failed: out of memory in a callback
 * @invalid: number of invalid rows; @far: number of invalid rows and of rows through relays
 * @odd: destinations whose row is not plain, in no order; @is_odd: one bit each
 * @first_new: index of the first entry of @odd that the present update added
 */
struct torus_routes {
	struct torus_health *h;
	uint32_t from;
	struct torus_coords own;
	unsigned int flags;
	bool alone;
	bool stale;
	bool track;
	bool failed;
	uint64_t *rows;
	uint32_t invalid, far;
	uint32_t *odd;
	uint32_t nodd, odd_room, first_new;
	uint64_t *is_odd;
	struct torus_range *range;
	uint32_t nranges, range_room;
};

/**
 * struct change - a cable of an update
 * @went: the cable has become excluded
 * @at: the node at its - end
 * @any: dimensions in which a path from here may meet the cable whatever its destination is:
 *	the cable's own, and those in which the source is at most one hop from the cable
 * @period, @low, @span: the ids whose coordinate in one dimension is near the cable's, as
 *	is_near() tests it first for each row that is not plain
 */
struct change {
	struct torus_cable cable;
	bool went;
	struct torus_coords at;
	bool any[DIMS];
	uint64_t period, low, span;
};

/* Grows an array, by doubling it, to have room for entry @n. Return: false if out of memory. */
static bool grow_array(struct torus_routes *r, void **array, uint32_t n, uint32_t *room,
		       size_t size)
{
	uint32_t want = *room ? 2 * *room : 128;
	void *bigger;

	if (n < *room)
		return true;
	bigger = realloc(*array, want * size);
	if (!bigger) {
		r->failed = true;
		return false;
	}
	*array = bigger;
	*room = want;
	return true;
}

static void note_range(struct torus_routes *r, uint32_t first, uint32_t n)
{
	void *array = r->range;

	if (!r->track || !grow_array(r, &array, r->nranges, &r->range_room, sizeof(*r->range)))
		return;
	invariant(n && first + n <= r->h->nodes);
	r->range = array;
	r->range[r->nranges++] = (struct torus_range){ first, n };
}

static bool is_far(uint64_t row)
{
	return !row || row & TORUS_ROW_RELAY;
}

static void store_row(struct torus_routes *r, uint32_t to, uint64_t row)
{
	if (r->rows[to] == row)
		return;
	r->invalid += !row;
	r->invalid -= !r->rows[to];
	r->far += is_far(row);
	r->far -= is_far(r->rows[to]);
	r->rows[to] = row;
	invariant(r->invalid <= r->far && r->far <= r->nodd);
	note_range(r, to, 1);
}

/* --- a cable that went ----------------------------------------------------- */

#define ADAPT_MASK ((uint64_t)TORUS_ROW_DIR_MASK << TORUS_ROW_ADAPT_SHIFT)

/**
 * struct adapt - a change of the adaptive directions of many rows
 * @dirs: directions of which the rows are treated separately
 */
struct adapt {
	struct torus_routes *r;
	uint64_t dirs;
};

static uint64_t own_adaptive(uint64_t row)
{
	return (row & TORUS_ROW_DIR_MASK) << TORUS_ROW_ADAPT_SHIFT;
}

/*
 * Four rows in each step, so that the compiler vectorises the loop: updates of the table spend most
 * of their time here.
 */
static void unflag_line(uint64_t *row, uint32_t n)
{
	uint64_t *end = row + n;

	for (; end - row >= 4; row += 4) {
		uint64_t a = row[0] & ~ROW_FLAGS, b = row[1] & ~ROW_FLAGS;
		uint64_t c = row[2] & ~ROW_FLAGS, d = row[3] & ~ROW_FLAGS;

		row[0] = a;
		row[1] = b;
		row[2] = c;
		row[3] = d;
	}
	for (; row < end; row++)
		*row &= ~ROW_FLAGS;
}

static void narrow_rows(uint64_t *row, uint32_t n, uint64_t other)
{
	for (uint64_t *end = row + n; row < end; row++)
		*row &= *row & other ? ~ADAPT_MASK | own_adaptive(*row) : ~ROW_FLAGS;
}

/*
 * Like unflag_line(), but the few rows with a direction of @other keep their own directions as
 * adaptive ones.
 */
static void narrow_line(uint64_t *row, uint32_t n, uint64_t other)
{
	uint64_t *end = row + n;

	for (; end - row >= 4; row += 4) {
		if ((row[0] | row[1] | row[2] | row[3]) & other)
			narrow_rows(row, 4, other);
		else
			unflag_line(row, 4);
	}
	narrow_rows(row, (uint32_t)(end - row), other);
}

static void forbid_patch(void *arg, const struct patch *p)
{
	const struct adapt *a = arg;
	uint64_t *row = a->r->rows + p->first;

	if (a->dirs)
		for (uint32_t i = 0; i < p->lines; i++, row += p->stride)
			narrow_line(row, p->n, a->dirs);
	else
		for (uint32_t i = 0; i < p->lines; i++, row += p->stride)
			unflag_line(row, p->n);
}

static void touched_all(struct torus_routes *r, const struct patch *p)
{
	for (uint32_t i = 0; i < p->lines; i++)
		note_range(r, p->first + i * p->stride, p->n);
}

static void forbid_and_note(void *arg, const struct patch *p)
{
	const struct adapt *a = arg;

	forbid_patch(arg, p);
	touched_all(a->r, p);
}

/* Takes from the rows of @box the adaptive directions that its excluded channel forbids. */
static void forbid_box(struct torus_routes *r, const struct box *box, bool tell)
{
	struct adapt a = { r, box->other };

	lt_box_each(r->h, &r->own, box, tell ? forbid_and_note : forbid_patch, &a);
}

/*
 * Adds up to 64 destinations to the odd rows. Return: mask of the destinations whose rows were
 * plain until now.
 */
static uint64_t crossed_word(struct torus_routes *r, uint32_t first, uint32_t n)
{
	uint64_t *word = &r->is_odd[first / 64], all = ~0ull >> (64 - n), new;
	void *array = r->odd;
	uint32_t i, *end;

	invariant(first / 64 == (first + n - 1) / 64);
	new = all & ~(*word >> first % 64);
	if (!new || !grow_array(r, &array, r->nodd + 64, &r->odd_room, sizeof(*r->odd)))
		return 0;
	r->odd = array;
	end = r->odd + r->nodd;
	*word |= new << first % 64;
	if (new == all)
		for (i = 0; i < n; i++)
			end[i] = first + i;
	else
		for (i = 0, all = new; all; all &= all - 1)
			end[i++] = first + (uint32_t)__builtin_ctzll(all);
	r->nodd += i;
	invariant(r->nodd < r->h->nodes);
	return new;
}

static void crossed_line(struct torus_routes *r, uint32_t first, uint32_t n)
{
	uint32_t most;

	for (; n; first += most, n -= most) {
		uint64_t new, none;

		most = 64 - first % 64 < n ? 64 - first % 64 : n;
		new = crossed_word(r, first, most);
		if (!new)
			continue;
		none = lt_detours(r->h, r->from, &r->own, first, new, r->rows + first);
		for (; none; none &= none - 1)
			store_row(r, first + (uint32_t)__builtin_ctzll(none), 0);
	}
}

/*
 * Computes new rows for destinations whose path crosses a lost cable. The caller has changed their
 * adaptive directions before.
 */
static void cross_patch(void *arg, const struct patch *p)
{
	for (uint32_t i = 0; i < p->lines; i++)
		crossed_line(arg, p->first + i * p->stride, p->n);
}

static void cable_went(struct torus_routes *r, const struct torus_cable *c)
{
	struct channel ch[2];
	struct box box;
	unsigned int i;

	if (!r->is_odd)
		r->is_odd = calloc((r->h->nodes + 63) / 64, sizeof(*r->is_odd));
	if (!r->is_odd) {
		r->failed = true;
		return;
	}
	lt_channels(r->h, c, ch);
	for (i = 0; i < 2; i++) {
		if (!lt_box_escape(r->h, &r->own, &ch[i], &box))
			continue;
		forbid_box(r, &box, r->track);
		if (lt_box_path(r->h, &r->own, &ch[i], &box))
			lt_box_each(r->h, &r->own, &box, cross_patch, r);
	}
}

/* --- a cable that came back ------------------------------------------------ */

static uint64_t with_adaptive(uint64_t row)
{
	return row | TORUS_ROW_ADAPTIVE | own_adaptive(row);
}

static void flag_line(uint64_t *row, uint32_t n)
{
	uint64_t *end = row + n;

	for (; end - row >= 2; row += 2) {
		uint64_t a = with_adaptive(row[0]), b = with_adaptive(row[1]);

		row[0] = a;
		row[1] = b;
	}
	if (row < end)
		*row = with_adaptive(*row);
}

/*
 * Gives adaptive directions to the plain rows among up to 64 rows, except to rows with a direction
 * of
 * @other.
 */
static void flag_word(struct torus_routes *r, uint32_t first, uint32_t n, uint64_t other)
{
	uint64_t odd = r->is_odd[first / 64] >> first % 64 & ~0ull >> (64 - n);
	uint64_t *row = r->rows + first;

	if (!odd && !other) {
		flag_line(row, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!(odd >> i & 1) && !(row[i] & other))
			row[i] = with_adaptive(row[i]);
}

static void flag_patch(void *arg, const struct patch *p)
{
	const struct adapt *a = arg;
	uint32_t first, left, most;

	for (uint32_t i = 0; i < p->lines; i++) {
		first = p->first + i * p->stride;
		for (left = p->n; left; first += most, left -= most) {
			most = 64 - first % 64 < left ? 64 - first % 64 : left;
			flag_word(a->r, first, most, a->dirs);
		}
	}
	touched_all(a->r, p);
}

/* Adds both directions of a dimension to the rows of a patch, which already have one of the two. */
static void open_patch(void *arg, const struct patch *p)
{
	const struct adapt *a = arg;
	uint64_t *row = a->r->rows + p->first, both = a->dirs << TORUS_ROW_ADAPT_SHIFT;

	for (uint32_t i = 0; i < p->lines; i++, row += p->stride)
		for (uint32_t j = 0; j < p->n; j++)
			row[j] |= row[j] & TORUS_ROW_ADAPTIVE ? both : 0;
}

/* Gives the plain rows of @box all adaptive directions. */
static void allow_box(struct torus_routes *r, const struct box *box)
{
	struct adapt a = { r, box->other };
	unsigned int d, n = r->h->shape.ndims;

	lt_box_each(r->h, &r->own, box, flag_patch, &a);
	for (d = 0; d < n; d++) {
		a.dirs = 1u << d | 1u << (n + d);
		lt_box_each_tie(r->h, &r->own, box, d, open_patch, &a);
	}
}

static void cable_came(struct torus_routes *r, const struct torus_cable *c)
{
	struct channel ch[2], not[2];
	struct box box, both;
	unsigned int i;
	uint32_t f;

	if (!r->is_odd)
		return;		/* @is_odd is allocated at the first exclusion, so there was no
				 * excluded cable before */
	lt_channels(r->h, c, ch);
	for (i = 0; i < 2; i++) {
		if (!lt_box_escape(r->h, &r->own, &ch[i], &box))
			continue;
		allow_box(r, &box);
		for (f = 0; f < 2 * r->h->nfaults; f++) {
			if (f % 2 == 0)
				lt_channels(r->h, &r->h->fault[f / 2], not);
			if (lt_box_escape_in(r->h, &r->own, &not[f % 2], &box, &both))
				forbid_box(r, &both, false);
		}
	}
}

/* --- rows that are not plain ------------------------------------------------ */

static bool has_steps(uint64_t row)
{
	return (row & ROW_PLAIN) != ROW_PLAIN;
}

/*
 * Quick test, which excludes nearly all ids that are not near the cable in the dimension that
 * near_set() chose. Ids near it are an interval that repeats with a period. @c->period is 2
 *
 * 64 over that period, rounded up, so that the product is the position of @to in its period. A
 * division, and a look at the row, would cost as much as the rest of an update.
 */
static bool is_near(uint32_t to, const struct change *c)
{
	return to * c->period - c->low < c->span;
}

static bool near_any(uint32_t to, const struct change *c, uint32_t n)
{
	for (; n--; c++)
		if (is_near(to, c))
			return true;
	return false;
}

static void near_set(const struct torus_routes *r, struct change *c)
{
	const struct torus_health *h = r->h;
	unsigned int d, best = DIMS;

	*c = (struct change){ .cable = c->cable, .went = c->went, .at = c->at, .span = UINT64_MAX };
	for (d = 0; d < h->shape.ndims; d++) {
		unsigned int away = (unsigned int)(c->at.c[d] > r->own.c[d]
				    ? c->at.c[d] - r->own.c[d] : r->own.c[d] - c->at.c[d]);

		c->any[d] = d == c->cable.dim || away <= 1 || away == h->shape.size[d] - 1u;
		if (!c->any[d] && (best == DIMS || h->shape.size[d] > h->shape.size[best]))
			best = d;
	}
	if (best == DIMS)
		return;
	invariant(h->shape.size[best] > 3);
	c->period = UINT64_MAX / (h->stride[best] * h->shape.size[best]) + 1;
	c->low = (c->at.c[best] ? c->at.c[best] - 1u : h->shape.size[best] - 1u) *
		 h->stride[best] * c->period;
	c->span = 3 * h->stride[best] * c->period;
}

/*
 * Return: true if a path that a header describes could cross the cable. In dimensions that a path
 * has not reached yet, its coordinates are still those of the source, give or take a step.
 */
static bool within_reach(const struct torus_routes *r, uint32_t to, const struct change *c)
{
	unsigned int d = r->h->shape.ndims;

	if (!is_near(to, c))
		return false;
	while (d--) {
		unsigned int size = r->h->shape.size[d], to_c = to / r->h->stride[d], away;

		to -= to_c * r->h->stride[d];
		if (c->any[d])
			continue;
		away = to_c > c->at.c[d] ? to_c - c->at.c[d] : c->at.c[d] - to_c;
		if (away > 1 && away != size - 1)
			return false;
	}
	return true;
}

/* Return: true if a path without steps could cross the cable. */
static bool signs_reach(const struct torus_routes *r, const struct torus_coords *to,
			const struct change *c)
{
	unsigned int d;

	for (d = 0; d < r->h->shape.ndims; d++)
		if (d != c->cable.dim && c->at.c[d] != r->own.c[d] && c->at.c[d] != to->c[d])
			return false;
	return true;
}

/* Return: true if the change may alter a row that is not plain. Not called for relays. */
static bool is_concerned(const struct torus_routes *r, uint32_t to, const struct change *c,
			 uint32_t n)
{
	uint64_t row = r->rows[to];
	struct torus_coords at;

	for (; n--; c++) {
		if (!within_reach(r, to, c))
			continue;
		torus_node_coords(&r->h->shape, to, &at);
		if (c->went) {
			if (!is_far(row) && lt_row_crosses(r->h, &r->own, &at, row, &c->cable))
				return true;
		} else if (is_far(row) || has_steps(row) || signs_reach(r, &at, c)) {
			return true;
		}
	}
	return false;
}

/*
 * Searches new headers for the odd rows, from the last to the first. If a row becomes plain, the
 * last row of the list, which was searched already, moves to its place.
 */
static void search_odd(struct torus_routes *r, const struct change *c, uint32_t n)
{
	uint32_t *const odd = r->odd;
	struct lt_pair pair = { .from_id = r->from, .from = r->own };
	uint32_t i;

	invariant(r->first_new <= r->nodd);
	for (i = r->first_new; i--; ) {
		uint32_t to = odd[i];
		uint64_t row;
		bool plain;

		invariant(r->is_odd[to / 64] >> to % 64 & 1 && to != r->from);
		if (!near_any(to, c, n) || !is_concerned(r, to, c, n))
			continue;
		pair.to_id = to;
		torus_node_coords(&r->h->shape, to, &pair.to);
		row = lt_pair_row(r->h, &pair, &plain);
		if (!row && !is_far(r->rows[to]))
			store_row(r, to, 0);
		if (!row)
			continue;
		store_row(r, to, row);
		if (plain) {
			r->is_odd[to / 64] &= ~(1ull << to % 64);
			odd[i] = odd[--r->nodd];
		}
	}
}

static int relay_odd(struct torus_routes *r)
{
	uint32_t i;

	for (i = 0; r->far && i < r->nodd; i++) {
		uint32_t to = r->odd[i];
		uint64_t row = 0;
		int err;

		if (!is_far(r->rows[to]))
			continue;
		if (r->flags & TORUS_ROUTES_RELAY) {
			err = lt_relay_row(r->h, r->h, r->from, to, r->rows, &row);
			if (err)
				return err;
		}
		store_row(r, to, row);
	}
	invariant(r->flags & TORUS_ROUTES_RELAY || r->invalid == r->far);
	return 0;
}

/* --- making ---------------------------------------------------------------- */

static void clear_rows(struct torus_routes *r)
{
	memset(r->rows, 0, r->h->nodes * sizeof(*r->rows));
	r->rows[r->from] = ROW_PLAIN;
	r->invalid = r->h->nodes - 1;
}

static int make_rows(struct torus_routes *r)
{
	uint32_t i;

	r->failed = false;
	r->alone = lt_isolated(r->h, r->from);
	for (i = 0; i < r->nodd; i++)
		r->is_odd[r->odd[i] / 64] = 0;
	r->nodd = 0;
	if (r->alone) {
		clear_rows(r);
	} else {
		lt_plain_rows(r->h, r->from, &r->own, r->rows);
		r->invalid = 0;
		r->far = 0;
		for (i = 0; i < r->h->nfaults; i++)
			cable_went(r, &r->h->fault[i]);
		if (!r->failed && relay_odd(r))
			r->failed = true;
	}
	return r->failed ? -ENOMEM : 0;
}

static void change_set(const struct torus_routes *r, const struct torus_cable *cable,
		       struct change *c)
{
	c->cable = *cable;
	c->went = torus_health_cut(r->h, cable->node, cable->dim);
	torus_node_coords(&r->h->shape, cable->node, &c->at);
	near_set(r, c);
}

static int update_rows(struct torus_routes *r, const struct torus_cable *cables, uint32_t n)
{
	struct change c[UPDATE_MAX];
	uint32_t i;

	r->failed = false;
	r->first_new = r->nodd;
	for (i = 0; i < n; i++) {
		change_set(r, &cables[i], &c[i]);
		if (c[i].went)
			cable_went(r, &cables[i]);
	}
	search_odd(r, c, n);
	for (i = 0; i < n; i++)
		if (!c[i].went)
			cable_came(r, &cables[i]);
	return r->failed || relay_odd(r) ? -ENOMEM : 0;
}

int torus_routes_update(struct torus_routes *r, const struct torus_cable *cables, uint32_t n,
			const struct torus_range **ranges, uint32_t *n_ranges)
{
	int err;

	r->track = ranges;
	r->nranges = 0;
	if (r->stale || !cables || n > UPDATE_MAX || r->alone || lt_isolated(r->h, r->from)) {
		r->track = false;
		err = make_rows(r);
		r->track = ranges;
		r->nranges = 0;
		note_range(r, 0, r->h->nodes);
	} else {
		err = update_rows(r, cables, n);
	}
	/*
	 * Without memory for the ranges the update fails, too, because the caller would not know
	 * all changed rows.
	 */
	if (r->failed)
		err = -ENOMEM;
	r->stale = err;
	invariant(err || !r->alone || r->invalid == r->h->nodes - 1);
	invariant(err || r->rows[r->from] & TORUS_ROW_VALID);
	if (ranges) {
		*ranges = r->range;
		*n_ranges = r->nranges;
	}
	return err;
}

int torus_routes_new(struct torus_health *h, uint32_t from, unsigned int flags,
		     struct torus_routes **out)
{
	struct torus_routes *r;
	int err = -ENOMEM;

	*out = NULL;
	if (from >= h->nodes)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	*r = (struct torus_routes){ .h = h, .from = from, .flags = flags };
	torus_node_coords(&h->shape, from, &r->own);
	r->rows = malloc(h->nodes * sizeof(*r->rows));
	if (r->rows)
		err = make_rows(r);
	if (err) {
		torus_routes_free(r);
		return err;
	}
	*out = r;
	return 0;
}

static void free_arrays(struct torus_routes *r)
{
	free(r->odd);
	free(r->is_odd);
	free(r->range);
}

void torus_routes_free(struct torus_routes *r)
{
	if (!r)
		return;
	free(r->rows);
	free_arrays(r);
	free(r);
}

const uint64_t *torus_routes_rows(const struct torus_routes *r)
{
	return r->rows;
}

int torus_routes_around(const struct torus_routes *r, struct torus_health *relays, uint32_t to,
			uint64_t *row)
{
	if (to >= r->h->nodes || memcmp(&relays->shape, &r->h->shape, sizeof(relays->shape)))
		return -EINVAL;
	*row = r->rows[to];
	return *row & TORUS_ROW_RELAY ? lt_relay_row(r->h, relays, r->from, to, r->rows, row) : 0;
}

uint32_t torus_routes_invalid(const struct torus_routes *r)
{
	return r->invalid;
}

int torus_health_rows(struct torus_health *h, uint32_t from, unsigned int flags,
		      uint64_t *rows)
{
	struct torus_routes r = { .h = h, .from = from, .flags = flags, .rows = rows };
	int err;

	if (from >= h->nodes)
		return -EINVAL;
	torus_node_coords(&h->shape, from, &r.own);
	err = make_rows(&r);
	free_arrays(&r);
	return err ? err : (int)r.invalid;
}

int torus_route_rows(const struct torus_shape *shape, const uint16_t *excluded,
		     uint32_t from, uint64_t *rows)
{
	struct torus_health *h;
	int ret = torus_health_new(shape, excluded, &h);

	if (ret)
		return ret;
	ret = torus_health_rows(h, from, 0, rows);
	torus_health_free(h);
	return ret;
}
