// SPDX-License-Identifier: GPL-2.0-only
/*
 * torus_verify() must accept what the engine makes, also old and new tables together, and must find
 * every kind of wrong row.
 */
#include <errno.h>

#include "random.h"
#include "verify_fabric.h"

/* With EVERY=N fewer rounds, but of all kinds. */
static unsigned int every(void)
{
	return getenv("EVERY") ? 5 : 1;
}

static void rows_of_engine_are_free_of_cycles(void **state)
{
	static const char *const shapes[] = { "4x4", "4x4x4", "2x2x2x2x2x2", "3x5", "7", "2x3x1x4",
					      "1" };
	static struct fabric f;
	uint64_t seed = random_seed(1), was, relayed = 0, adaptive = 0;
	unsigned int i, round, k;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (round = every() - 1; round < 30; round += every()) {
			was = seed;
			begin(&f, shapes[i]);
			make_rows(&f);
			for (k = 0; k < round % 20; k++) {
				cut(&f, random_below(&seed, f.nodes),
				    random_below(&seed, 2u * f.shape.ndims));
				make_rows(&f);
			}
			good(&f, 1, was);
			relayed += f.found.relayed;
			adaptive += f.found.adaptive;
		}
	assert_true(relayed > 50 && adaptive > 100);
}

/*
 * In the middle of a recovery some nodes have the new table and some the old one. Relays are
 * left out: a chain through rows of different tables need not end, which a later test shows to
 * be found.
 */
static void old_and_new_rows_together_are_safe(void **state)
{
	static const char *const shapes[] = { "4x4", "4x4x4", "2x2x2x2", "3x5" };
	static struct fabric f;
	uint64_t seed = random_seed(2), was;
	unsigned int i, round, k;
	uint32_t node;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (round = 0; round < 40; round += every()) {
			was = seed;
			begin(&f, shapes[i]);
			make_rows(&f);
			for (k = 0; k < 1 + round % 3; k++)
				cut(&f, random_below(&seed, f.nodes),
				    random_below(&seed, 2u * f.shape.ndims));
			make_rows(&f);
			if (round % 2) {
				/* A repair: the old table avoids cables that work again. */
				memset(f.excluded, 0, sizeof(f.excluded));
				make_rows(&f);
			}
			for (node = 0; node < f.nodes; node++)
				if (!random_below(&seed, 3))
					f.list[random_below(&seed, 2)][node] = NULL;
			good(&f, 2, was);
		}
}

/* --- wrong rows must be found ------------------------------------------------ */

static void wrong_row(const char *shape, uint32_t from, uint32_t to, uint64_t row,
		      enum torus_wrong what)
{
	static struct fabric f;

	begin(&f, shape);
	make_rows(&f);
	f.rows[0][from][to] = row;
	expect(&f, what, from, to);
}

static void each_wrong_row_has_its_reason(void **state)
{
	(void)state;
	/* 4x4: ports +x 0, +y 1, -x 2, -y 3; node x + 4 y. */
	wrong_row("4x4", 0, 5, 0, TORUS_WRONG_NO_ROW);
	wrong_row("4x4", 0, 5, NONE | 1, TORUS_WRONG_LOST);
	wrong_row("4x4", 0, 5, steps(1, 9, 15), TORUS_WRONG_LOST);
	wrong_row("4x4", 0, 5, steps(1, 1, 15), TORUS_WRONG_ORDER);
	/* First step +x, then all the way round to where it began. */
	wrong_row("4x4", 0, 4, steps(1 | 2, 0, 15), TORUS_WRONG_RING);
	wrong_row("2x4", 0, 2, steps(1 | 2, 0, 15), TORUS_WRONG_RING);
	wrong_row("4x2", 0, 1, steps(1 | 2, 1, 15), TORUS_WRONG_ORDER);
	wrong_row("1x4", 0, 1, steps(2, 0, 15), TORUS_WRONG_DEAD_LINK);
	/* However right the paths are that adaptive routing may choose. */
	wrong_row("4x4", 0, 5, NONE | TORUS_ROW_ADAPTIVE | 3ull << TORUS_ROW_ADAPT_SHIFT | 1,
		  TORUS_WRONG_LOST);
	wrong_row("4x4", 0, 5, NONE | TORUS_ROW_ADAPTIVE | 3, TORUS_WRONG_ESCAPE);
	wrong_row("4x4", 0, 5, NONE | TORUS_ROW_ADAPTIVE | 3 | 1ull << TORUS_ROW_ADAPT_SHIFT,
		  TORUS_WRONG_ESCAPE);
	wrong_row("4x4", 0, 5, NONE | 1 | TORUS_ROW_RELAY | 16ull << TORUS_ROW_RELAY_SHIFT,
		  TORUS_WRONG_RELAY);
	wrong_row("4x4", 0, 5, NONE | 1 | TORUS_ROW_RELAY |
		  TORUS_ROW_NODE_MASK << TORUS_ROW_RELAY_SHIFT, TORUS_WRONG_RELAY);
	wrong_row("4x4", 0, 5, NONE | 1 | TORUS_ROW_RELAY, TORUS_WRONG_RELAY);
	/* Whatever else a row contains, it is not a row if it is not valid. */
	wrong_row("4x4", 0, 5, (NONE | 3) & ~TORUS_ROW_VALID, TORUS_WRONG_NO_ROW);
	wrong_row("4x4", 0, 5, NONE | 3 | TORUS_ROW_RELAY | 5ull << TORUS_ROW_RELAY_SHIFT,
		  TORUS_WRONG_RELAY);
}

/* The texts of errors are those that an administrator reads. */
static void each_reason_has_its_text(void **state)
{
	static const char *const text[] = {
		[TORUS_WRONG_NO_ROW] = "no valid row",
		[TORUS_WRONG_LOST] = "directions exhausted before the destination",
		[TORUS_WRONG_DEAD_LINK] = "crosses an excluded link",
		[TORUS_WRONG_ORDER] = "breaks the direction order",
		[TORUS_WRONG_LOOP] = "does not end",
		[TORUS_WRONG_RING] = "goes once round a ring",
		[TORUS_WRONG_RELAY] = "its chain of relays does not end",
		[TORUS_WRONG_ESCAPE] = "adaptive, but comes to a node from which no healthy link leads on",
		[TORUS_WRONG_CYCLE] = "is part of a circle of channels that wait for each other",
	};

	(void)state;
	for (unsigned int i = TORUS_WRONG_NO_ROW; i < sizeof(text) / sizeof(text[0]); i++)
		assert_string_equal(torus_wrong_text((enum torus_wrong)i), text[i]);
	assert_string_equal(torus_walk_end_text(TORUS_WALK_ARRIVED), "arrived");
	assert_string_equal(torus_walk_end_text((enum torus_walk_end)(TORUS_WALK_LOOP + 1)),
			    "unknown");
	assert_string_equal(torus_wrong_text((enum torus_wrong)99), "unknown");
}

/*
 * No row by itself can have a path without an end: a router takes each direction up to a
 * coordinate, and each step once. This is tried with all rows.
 */
static void all_rows(const char *shape)
{
	struct torus_hop hop[64];
	struct torus_shape s;
	uint32_t to, n;

	assert_int_equal(torus_shape_parse(shape, &s), 0);
	for (uint64_t dirs = 0; dirs < 1u << 2 * s.ndims; dirs++)
		for (uint64_t i = 0; i < 16 * 16; i++)
			for (to = 0; to < torus_nodes(&s); to++)
				assert_int_not_equal(torus_walk(&s, NULL, 0, to,
								steps(dirs, i % 16, i / 16), hop,
								64, &n), TORUS_WALK_LOOP);
}

static void walks_of_all_rows_end(void **state)
{
	(void)state;
	all_rows("5");
	all_rows("4x3");
	all_rows("2x3x3");
	all_rows("1x4");
}

static void row_over_dead_link_is_wrong(void **state)
{
	static struct fabric f;

	(void)state;
	begin(&f, "4x4");
	cut(&f, 1, 0);
	make_rows(&f);
	f.rows[0][0][2] = NONE | 1;
	expect(&f, TORUS_WRONG_DEAD_LINK, 0, 2);
	assert_int_equal(f.last.node, 1);
	assert_int_equal(f.last.port, 0);
	/* A row of the old table may lead to a dead link: its packets are parked there. */
	f.rows[0][0][2] = f.rows[1][0][2] = 0;
	f.list[0][0] = NULL;
	f.rows[1][0][2] = NONE | 1;
	good(&f, 2, 0);
}

/*
 * A row whose own path is healthy is wrong if the path from where adaptive routing may lead is not.
 */
static void adaptive_row_with_dead_escape_is_wrong(void **state)
{
	uint64_t adaptive = TORUS_ROW_ADAPTIVE | 3ull << TORUS_ROW_ADAPT_SHIFT;
	static struct fabric f;

	(void)state;
	begin(&f, "5x5");
	cut(&f, 5, 0);		/* 0,1:+x; to 1,1 the path is +x +y */
	make_rows(&f);
	assert_false(f.rows[0][0][6] & TORUS_ROW_ADAPTIVE);
	f.rows[0][0][6] |= adaptive;
	expect(&f, TORUS_WRONG_ESCAPE, 0, 6);
	assert_int_equal(f.last.node, 5);
	/* A link that only adaptive packets would take is not an error: they still have +x. */
	begin(&f, "5x5");
	cut(&f, 0, 1);
	make_rows(&f);
	assert_true(f.rows[0][0][6] & TORUS_ROW_ADAPTIVE);
	good(&f, 1, 0);
}

/*
 * Half way round a ring an adaptive packet may take either way; after its first hop it goes on that
 * way alone, and must be able to escape there.
 */
static void adaptive_row_needs_both_ways_healthy(void **state)
{
	static const struct {
		uint32_t node;
		unsigned int port, left;
	} cable[] = { { 3, 2, 1 }, { 0, 2, 1 }, { 0, 0, 0 }, { 1, 0, 0 } };
	static struct fabric f;

	(void)state;
	begin(&f, "4x4");
	make_rows(&f);
	assert_int_equal(f.rows[0][0][2] >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK, 1 | 4);
	assert_int_equal(f.rows[0][0][10] >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK, 15);
	good(&f, 1, 0);
	for (unsigned int i = 0; i < sizeof(cable) / sizeof(cable[0]); i++) {
		begin(&f, "4x4");
		cut(&f, cable[i].node, cable[i].port);
		make_rows(&f);
		assert_int_equal(f.rows[0][0][2] >> TORUS_ROW_ADAPT_SHIFT & TORUS_ROW_DIR_MASK,
				 cable[i].left);
		good(&f, 1, 0);
		f.rows[0][0][2] |= ADAPTIVE(1 | 4);
		if (i == 1) {	/* no escape is missed: packets go by +x */
			good(&f, 1, 0);
			continue;
		}
		expect(&f, TORUS_WRONG_ESCAPE, 0, 2);
		assert_int_equal(f.last.node, cable[i].node);
	}
}

/*
 * Two tables together. A row of the old table may end at a dead link, where packets are parked, and
 * may be missing; no other error is accepted in it, and in the new table not even these.
 */
static void old_row_may_be_missing_or_end_at_dead_link_only(void **state)
{
	uint64_t adaptive = TORUS_ROW_ADAPTIVE | 3ull << TORUS_ROW_ADAPT_SHIFT;
	static const struct {
		uint64_t row;
		enum torus_wrong what;
	} wrong[] = {
		{ NONE | 1, TORUS_WRONG_LOST },
		{ TORUS_ROW_VALID | 1 | 1ull << TORUS_ROW_FIRST_SHIFT | 15ull << TORUS_ROW_LAST_SHIFT,
		  TORUS_WRONG_ORDER },
		{ NONE | TORUS_ROW_ADAPTIVE | 3, TORUS_WRONG_ESCAPE },
		{ NONE | 1 | TORUS_ROW_RELAY, TORUS_WRONG_RELAY },
	};
	static struct fabric f;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		begin(&f, "4x4");
		make_rows(&f);
		make_rows(&f);
		good(&f, 2, 0);
		f.rows[1][0][5] = wrong[i].row;
		verify(&f, 2);
		assert_true(f.reported[wrong[i].what] >= 1);
		assert_int_equal(f.last.table, 1);
		assert_int_equal(f.found.unroutable, 1);
	}
	/* 0,1:+x is dead: the old row's escape ends there, and is parked; a new one's must not. */
	begin(&f, "5x5");
	make_rows(&f);
	cut(&f, 5, 0);
	make_rows(&f);
	assert_true((f.rows[1][0][6] & adaptive) == adaptive);
	good(&f, 2, 0);
	f.rows[0][0][6] |= adaptive;
	verify(&f, 2);
	assert_int_equal(f.reported[TORUS_WRONG_ESCAPE], 1);
	assert_int_equal(f.last.table, 0);
	/* The right row of the other table does not make up for the wrong one. */
	assert_int_equal(f.found.unroutable, 1);
	/* All rows that may lead there are culprits, not only the first. */
	f.rows[0][4][6] |= adaptive;
	verify(&f, 2);
	assert_int_equal(f.reported[TORUS_WRONG_ESCAPE], 2);
	assert_int_equal(f.last.from, 4);
	f.rows[0][4][6] &= ~TORUS_ROW_ADAPTIVE;
	/* A missing row is only accepted in the old table. */
	f.rows[0][0][6] = f.rows[1][0][6] = 0;
	verify(&f, 2);
	assert_int_equal(f.reported[TORUS_WRONG_NO_ROW], 1);
	assert_int_equal(f.last.table, 0);
	/* An accepted old row does not excuse a wrong new row after it. */
	memset(f.rows, 0, sizeof(f.rows));
	f.tables[0].old = true;
	f.tables[1].old = false;
	f.rows[0][0][6] = f.rows[1][0][6] = NONE | 3 | adaptive;
	verify(&f, 2);
	assert_int_equal(f.found.adaptive, 2);
	assert_int_equal(f.reported[TORUS_WRONG_ESCAPE], 1);
}

/* The escape of a leg to a relay leads to the relay, not to the packet's final destination. */
static void escape_of_leg_leads_to_relay(void **state)
{
	static struct fabric f;

	(void)state;
	/* 0,1:+x is dead; to the relay 1,1 by +x +y. */
	begin(&f, "5x5");
	cut(&f, 5, 0);
	make_rows(&f);
	f.rows[0][0][5] = NONE | 3 | RELAY(6);
	good(&f, 1, 0);
	f.rows[0][0][5] |= ADAPTIVE(3);
	expect(&f, TORUS_WRONG_ESCAPE, 0, 5);
	assert_int_equal(f.last.node, 5);
	assert_int_equal(f.last.port, 0);
	/* 1,1:+x is dead, behind the relay: this leg does not cross it. */
	begin(&f, "5x5");
	cut(&f, 6, 0);
	make_rows(&f);
	f.rows[0][0][7] = NONE | 3 | RELAY(6) | ADAPTIVE(3);
	good(&f, 1, 0);
	/* The way to the final destination does not matter for it either. */
	f.rows[0][1][7] = NONE | 3 | ADAPTIVE(3);
	expect(&f, TORUS_WRONG_ESCAPE, 1, 7);
	assert_int_equal(f.last.node, 6);
}

static void circle_of_relays_is_found(void **state)
{
	static struct fabric f;

	(void)state;
	begin(&f, "8");
	make_rows(&f);
	/* 0 sends packets for 3 through 1, which sends them through 0. */
	f.rows[0][0][3] = NONE | 1 | TORUS_ROW_RELAY | 1ull << TORUS_ROW_RELAY_SHIFT;
	good(&f, 1, 0);
	assert_int_equal(f.found.legs_max, 2);
	f.rows[0][1][3] = NONE | 2 | TORUS_ROW_RELAY;
	verify(&f, 1);
	assert_int_equal(f.reported[TORUS_WRONG_RELAY], 1);
	assert_int_equal(f.found.unroutable, 2);
	/* The same with one of the two rows in the old table: either may be used. */
	f.rows[0][1][3] = NONE | 1;
	memcpy(f.rows[1], f.rows[0], sizeof(f.rows[1]));
	f.rows[1][1][3] = NONE | 2 | TORUS_ROW_RELAY;
	verify(&f, 2);
	assert_int_equal(f.reported[TORUS_WRONG_RELAY], 1);
	verify(&f, 1);
	assert_int_equal(f.found.wrong, 0);
}

/* A path through a relay has the hops of both legs, and loads the channels of both. */
static void relayed_path_counts_hops_of_both_legs(void **state)
{
	static struct fabric f;

	(void)state;
	begin(&f, "8");
	make_rows(&f);
	f.rows[0][0][3] = NONE | 2 | TORUS_ROW_RELAY | 6ull << TORUS_ROW_RELAY_SHIFT;
	good(&f, 1, 0);
	assert_int_equal(f.found.hops_max, 2 + 3);
	assert_int_equal(f.found.legs_max, 2);
	begin(&f, "8");
	f.tables[0].old = true;
	f.rows[0][0][2] = NONE | 1 | TORUS_ROW_RELAY | 1ull << TORUS_ROW_RELAY_SHIFT;
	f.rows[0][1][2] = NONE | 1;
	verify(&f, 1);
	assert_int_equal(f.found.load_max, 2);
	assert_int_equal(f.found.relayed, 1);
	assert_int_equal(f.found.adaptive, 0);
}

/* Nodes that are cut off are not counted, like those that are given as down. */
static void cut_off_nodes_are_not_counted(void **state)
{
	static struct fabric f;
	bool up[8] = { true, true, false, true };
	struct torus_verify v = { .shape = &f.shape, .excluded = f.excluded, .tables = f.tables,
				  .n = 1, .culprit = note, .arg = &f, .up = up };

	(void)state;
	begin(&f, "4");
	cut(&f, 1, 0);
	cut(&f, 0, 0);
	make_rows(&f);
	good(&f, 1, 0);
	assert_int_equal(f.found.pairs, 6);
	assert_int_equal(f.found.apart, 0);
	begin(&f, "4");
	make_rows(&f);
	assert_int_equal(torus_verify(&v, &f.found), 0);
	assert_int_equal(f.found.pairs, 6);
	assert_int_equal(f.found.wrong, 0);
}

static void pairs_hops_and_legs_are_counted(void **state)
{
	static struct fabric f;
	struct torus_verify v = { .shape = &f.shape, .excluded = f.excluded, .n = 0 };

	(void)state;
	begin(&f, "4");
	make_rows(&f);
	good(&f, 1, 0);
	assert_int_equal(f.found.pairs, 12);
	assert_int_equal(f.found.hops_max, 2);
	assert_int_equal(f.found.hops, 16);
	assert_int_equal(f.found.legs_max, 1);
	/* Distances 1 2 1 from each of four: 16 hops over 8 channels, evenly. */
	assert_int_equal(f.found.load_max, 2);
	/* Pairs from a node whose rows are not known are not checked; pairs to that node are. */
	f.list[0][2] = NULL;
	good(&f, 1, 0);
	assert_int_equal(f.found.pairs, 9);
	assert_int_equal(f.found.hops, 12);
	assert_int_equal(f.found.hops_max, 2);
	f.list[0][2] = f.rows[0][2];
	/* The fabric is cut in two halves. */
	cut(&f, 1, 0);
	cut(&f, 3, 0);
	make_rows(&f);
	good(&f, 1, 0);
	assert_int_equal(f.found.pairs, 4);
	assert_int_equal(f.found.apart, 8);
	/* 1, 2 and 3 hops each way: a channel has one row's first, two second and three third. */
	begin(&f, "7");
	make_rows(&f);
	good(&f, 1, 0);
	assert_int_equal(f.found.hops_max, 3);
	assert_int_equal(f.found.load_max, 1 + 2 + 3);
	f.shape.size[0] = 0;
	assert_int_equal(torus_verify(&v, &f.found), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_engine_are_free_of_cycles),
		cmocka_unit_test(old_and_new_rows_together_are_safe),
		cmocka_unit_test(each_wrong_row_has_its_reason),
		cmocka_unit_test(each_reason_has_its_text),
		cmocka_unit_test(walks_of_all_rows_end),
		cmocka_unit_test(row_over_dead_link_is_wrong),
		cmocka_unit_test(adaptive_row_with_dead_escape_is_wrong),
		cmocka_unit_test(adaptive_row_needs_both_ways_healthy),
		cmocka_unit_test(old_row_may_be_missing_or_end_at_dead_link_only),
		cmocka_unit_test(escape_of_leg_leads_to_relay),
		cmocka_unit_test(circle_of_relays_is_found),
		cmocka_unit_test(relayed_path_counts_hops_of_both_legs),
		cmocka_unit_test(cut_off_nodes_are_not_counted),
		cmocka_unit_test(pairs_hops_and_legs_are_counted),
	};

	return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
