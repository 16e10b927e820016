// SPDX-License-Identifier: GPL-2.0-only
/*
 * A second implementation of every row, made in a slow way: it tries all headers one by one,
 * follows each hop by hop over a table of cables, finds components and distances by search, and for
 * the adaptive flag checks every node between source and destination.
 *
 * It implements what the headers of lib/route/ promise (search.h, relay.h, box.h) and shares no
 * code with them; of equal candidates it accepts any. Rows come from random histories, by updates,
 * so that both are tested.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <torus/route.h>
#include <torus/topology.h>
#include "naive.h"
#include "random.h"

/*
 * Return: the fewest hops of all choices of signs between two steps; NEVER if no choice can be
 * used.
 */
static uint32_t best_signs(const struct model *m, uint32_t from, uint32_t to,
			   unsigned int first, unsigned int last)
{
	uint32_t best = NEVER;

	for (unsigned int signs = 0; signs < 1u << m->n; signs++) {
		struct head h = { .first = first, .last = last };
		uint32_t hops;

		for (unsigned int d = 0; d < m->n; d++)
			h.dirs |= 1u << (signs >> d & 1 ? m->n + d : d);
		hops = travel(m, from, to, &h);
		best = hops < best ? hops : best;
	}
	return best;
}

static uint32_t best_steps(const struct model *m, uint32_t from, uint32_t to)
{
	uint32_t best = NEVER;

	for (unsigned int first = 0; first <= 2 * m->n; first++)
		for (unsigned int last = 0; last <= 2 * m->n; last++) {
			uint32_t hops = best_signs(m, from, to, first < 2 * m->n ? first : NO_STEP,
						   last < 2 * m->n ? last : NO_STEP);

			best = hops < best ? hops : best;
		}
	return best;
}

/* --- adaptive packets ------------------------------------------------------ */

/*
 * Return: true if the first of the remaining directions is healthy at each node that @dirs reach.
 */
static bool escapes(const struct model *m, uint32_t from, uint32_t to,
		    unsigned int dirs)
{
	struct visit visit[NODES_MAX];

	for (unsigned int n = visits(m, from, to, dirs, visit); n--; )
		if (dead(m, visit[n].node, visit[n].port))
			return false;
	return true;
}

/*
 * Return: the directions that a plain row with @dirs should allow adaptive packets
 * (lt_box_escape()): these, if they escape everywhere; in dimensions half way round both, if all
 * choices of one each would.
 */
static unsigned int adaptive_dirs(const struct model *m, uint32_t from, uint32_t to,
				  unsigned int dirs)
{
	unsigned int ways = half_apart(m, from, to), all = dirs | ways | ways << m->n;

	for (unsigned int flip = 1; flip <= ways; flip++)
		if (!(flip & ~ways) && !escapes(m, from, to, dirs ^ (flip | flip << m->n)))
			all = dirs;
	return escapes(m, from, to, dirs) ? all : 0;
}

/* --- rows ------------------------------------------------------------------ */

/** enum kind - of row, in the order in which they are tried */
enum kind { PLAIN, SIGNS, STEPS, RELAYED, NONE, KINDS };

static const char *const kind_name[KINDS] = { "plain", "signs", "steps", "relayed", "none" };

/**
 * struct opinion - on one pair
 * @hops: of the header's path, to the destination or to the relay
 */
struct opinion {
	enum kind kind;
	uint32_t hops;
	struct head plain;
};

static struct opinion direct(const struct model *m, uint32_t from, uint32_t to)
{
	struct opinion o = { .kind = PLAIN,
			     .plain = { plain_dirs(m, from, to), NO_STEP, NO_STEP } };

	o.hops = travel(m, from, to, &o.plain);
	if (o.hops != NEVER)
		return o;
	o.kind = SIGNS;
	o.hops = best_signs(m, from, to, NO_STEP, NO_STEP);
	if (o.hops != NEVER)
		return o;
	o.kind = STEPS;
	o.hops = best_steps(m, from, to);
	if (o.hops == NEVER)
		o.kind = NONE;
	return o;
}

/**
 * struct table - what the rows of one source should be
 * @count: rows of each kind so far, of all tables; @adaptive, @both: of these, that are adaptive,
 *	and that have both directions of a dimension
 */
struct table {
	const struct model *m;
	uint32_t from;
	bool relays;
	struct opinion want[NODES_MAX];
	unsigned long count[KINDS], adaptive, both;
};

static void wrong(const struct table *t, uint32_t to, uint64_t row, const char *what)
{
	fail_msg("SEED=%llu %u to %u, should be %s with %u hops, is %016llx: %s",
		 (unsigned long long)t->m->began, t->from, to, kind_name[t->want[to].kind],
		 t->want[to].hops, (unsigned long long)row, what);
}

/* Checks that the row's header leads to @end, with the fewest hops. */
static void check_head(const struct table *t, uint32_t to, uint32_t end, uint64_t row)
{
	const struct opinion *o = &t->want[end];
	struct head h = head_of(row);

	if (o->kind == PLAIN && memcmp(&h, &o->plain, sizeof(h)))
		wrong(t, to, row, "not the plain header");
	if (o->kind == SIGNS && (h.first != NO_STEP || h.last != NO_STEP))
		wrong(t, to, row, "has steps without need");
	if (travel(t->m, t->from, end, &h) != o->hops)
		wrong(t, to, row, "its way is not the shortest");
}

static void check_adaptive(struct table *t, uint32_t to, uint64_t row)
{
	unsigned int bits = row >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK, want = 0;
	const struct opinion *o = &t->want[to];

	if (to != t->from && o->kind == PLAIN)
		want = adaptive_dirs(t->m, t->from, to, o->plain.dirs);
	if (!!(row & TORUS_ROW_ADAPTIVE) != !!want)
		wrong(t, to, row, want ? "may be adaptive" : "must not be adaptive");
	if (bits != want)
		wrong(t, to, row, "wrong adaptive bits");
	if (want && !escapes(t->m, t->from, to, want))
		wrong(t, to, row, "adaptive packets come where they cannot escape");
	t->adaptive += !!want;
	t->both += !!(want & want >> t->m->n);
}

/*
 * Checks that the relay is the nearest to @to of all nodes that headers reach, and of these the
 * nearest to the source.
 */
static void check_relay(struct table *t, uint32_t to, uint64_t row, const uint32_t *away)
{
	uint32_t relay = row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK, i;

	if (!(row & TORUS_ROW_RELAY) || relay >= t->m->nodes || relay == t->from)
		wrong(t, to, row, "no relay");
	for (i = 0; i < t->m->nodes; i++) {
		if (i == t->from || i == to || t->want[i].kind == NONE)
			continue;
		if (away[i] < away[relay])
			wrong(t, to, row, "a relay is nearer to the destination");
		if (away[i] == away[relay] && t->want[i].hops < t->want[relay].hops)
			wrong(t, to, row, "a relay as near is nearer to the source");
	}
	if (t->want[relay].kind == NONE)
		wrong(t, to, row, "the relay is not reached directly");
	check_head(t, to, relay, row);
}

static void check_table(struct table *t, const uint64_t *rows)
{
	static uint32_t away[NODES_MAX];

	for (uint32_t to = 0; to < t->m->nodes; to++)
		t->want[to] = direct(t->m, t->from, to);
	for (uint32_t to = 0; to < t->m->nodes; to++) {
		enum kind kind = t->want[to].kind;
		uint64_t row = rows[to];

		if (kind == NONE && t->relays)
			flood(t->m, to, away);
		if (kind == NONE && t->relays && away[t->from] != NEVER)
			kind = RELAYED;
		t->count[kind]++;
		if (!!(row & TORUS_ROW_VALID) != (kind != NONE) || (kind == NONE && row))
			wrong(t, to, row, "valid or not");
		if (kind == RELAYED)
			check_relay(t, to, row, away);
		else if (row & TORUS_ROW_RELAY)
			wrong(t, to, row, "a relay without need");
		else if (kind != NONE)
			check_head(t, to, to, row);
		check_adaptive(t, to, row);
	}
}

/* --- histories ------------------------------------------------------------- */

/*
 * Breaks or repairs a cable or a node. @changed gets the cables that this concerns. Return: how
 * many.
 */
static uint32_t event(struct model *m, struct torus_health *h, unsigned int density,
		      struct torus_cable *changed)
{
	uint32_t node = random_below(&m->seed, m->nodes);
	uint16_t bit = (uint16_t)(1u << random_below(&m->seed, 2 * m->n));
	int ret;

	if (!random_below(&m->seed, 25))
		m->reported[node] = (uint16_t)((1u << 2 * m->n) - 1);
	else if (random_below(&m->seed, 100) < density)
		m->reported[node] |= bit;
	else
		m->reported[node] &= random_below(&m->seed, 2) ? (uint16_t)~bit : 0;
	ret = torus_health_set(h, node, m->reported[node], changed);
	assert_true(ret >= 0);
	return (uint32_t)ret;
}

static void history(struct model *m, struct table *t, unsigned int density)
{
	struct torus_cable changed[8 * TORUS_MAX_PORTS];
	struct torus_health *h;
	struct torus_routes *r;

	memset(m->reported, 0, sizeof(m->reported));
	t->from = random_below(&m->seed, m->nodes);
	assert_int_equal(torus_health_new(&m->shape, NULL, &h), 0);
	assert_int_equal(torus_routes_new(h, t->from, t->relays ? TORUS_ROUTES_RELAY : 0, &r), 0);
	check_table(t, torus_routes_rows(r));
	for (unsigned int step = 0; step < 12; step++) {
		uint32_t events = 1 + random_below(&m->seed, 8), n = 0;

		while (events--)
			n += event(m, h, density, changed + n);
		assert_int_equal(torus_routes_update(r, changed, n, NULL, NULL), 0);
		check_table(t, torus_routes_rows(r));
	}
	torus_routes_free(r);
	torus_health_free(h);
}

static void second_opinion(const char *shape, unsigned int rounds, uint64_t seed)
{
	static struct model m;
	static struct table t;
	unsigned int every = getenv("EVERY") ? (unsigned int)strtoul(getenv("EVERY"), NULL, 10) : 1;

	model_make(&m, shape);
	memset(&t, 0, sizeof(t));
	t.m = &m;
	m.seed = random_seed(seed);
	/* A part of the rounds also has some rounds of each kind. */
	for (unsigned int round = 0; round * every < rounds; round++) {
		if (!getenv("SEED"))
			m.seed = seed * 1000 + round * every;
		m.began = m.seed;
		t.relays = round % 4;
		history(&m, &t, 50 + round % 8 * 7);
	}
	printf("%s:", shape);
	for (unsigned int k = 0; k < KINDS; k++)
		printf(" %lu %s,", t.count[k], kind_name[k]);
	printf(" %lu adaptive, of these %lu with both ways\n", t.adaptive, t.both);
}

static void rows_of_three_dimensions_equal_naive_ones(void **state)
{
	(void)state;
	second_opinion("4x4x4", 240, 1);
	second_opinion("6x6x6", 48, 2);
	second_opinion("5x3x2", 240, 3);
}

static void rows_of_two_and_one_dimension_equal_naive_ones(void **state)
{
	(void)state;
	second_opinion("6x5", 240, 4);
	second_opinion("4x4", 240, 5);
	second_opinion("9", 120, 6);
	second_opinion("2", 80, 7);
	second_opinion("70x2", 40, 8);
}

static void rows_of_four_to_six_dimensions_equal_naive_ones(void **state)
{
	(void)state;
	second_opinion("3x4x2x3", 80, 9);
	second_opinion("3x1x2x3x2", 120, 10);
	second_opinion("2x2x2x2x2x2", 48, 11);
	second_opinion("2x1x3x2x2x3", 48, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_three_dimensions_equal_naive_ones),
		cmocka_unit_test(rows_of_two_and_one_dimension_equal_naive_ones),
		cmocka_unit_test(rows_of_four_to_six_dimensions_equal_naive_ones),
	};

	return cmocka_run_group_tests_name("routes_naive", tests, NULL, NULL);
}
