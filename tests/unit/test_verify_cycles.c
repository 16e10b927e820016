// SPDX-License-Identifier: GPL-2.0-only
/*
 * torus_verify() must find channels that can wait for each other in a circle, and no circle where
 * there is none.
 */
#include "verify_fabric.h"

/* Rows are right one by one, with each pair of turns allowed; together they close a circle. */
static void cycle_of_right_rows_is_found(void **state)
{
	static struct fabric f;

	(void)state;
	begin(&f, "5x5");
	make_rows(&f);
	good(&f, 1, 0);
	assert_int_equal(f.found.cycles, 0);
	/* 0,1 to 1,0 by -y +x: the one turn that the order of directions forbids. */
	f.rows[0][5][1] = steps(1, 3, 15);
	expect(&f, TORUS_WRONG_CYCLE, 5, 1);
	assert_true(f.found.cycles >= 1);
	assert_true(f.reported[TORUS_WRONG_ORDER] >= 1);
}

/* A circle across the origin of the coordinates; a row to node 0 closes it. */
static void cycle_at_node_0_is_found(void **state)
{
	static struct fabric f;

	(void)state;
	begin(&f, "5x5");
	f.tables[0].old = true;		/* missing rows are accepted */
	f.rows[0][4][5] = NONE | 3;
	f.rows[0][0][9] = NONE | 2 | 4;
	f.rows[0][5][4] = NONE | 4 | 8;
	f.rows[0][9][0] = steps(1, 3, 15);
	verify(&f, 1);
	assert_int_equal(f.found.cycles, 1);
	assert_int_equal(f.reported[TORUS_WRONG_CYCLE], 1);
	assert_true(f.cycle.from == 9 && f.cycle.to == 0 && f.cycle.node == 4);
	/* In the old table a row that is not valid closes no circle. */
	f.rows[0][9][0] &= ~TORUS_ROW_VALID;
	good(&f, 1, 0);
}

/* Rows that go up and down one ring close a circle of two channels, which no bubble prevents. */
static void cycle_of_two_turns_back_is_found(void **state)
{
	static struct fabric f;

	(void)state;
	begin(&f, "5");
	f.tables[0].old = true;
	f.rows[0][0][4] = steps(2, 0, 15);	/* +x, then -x */
	verify(&f, 1);
	assert_int_equal(f.found.cycles, 0);
	f.rows[0][1][2] = steps(1, 1, 15);	/* -x, then +x */
	verify(&f, 1);
	assert_int_equal(f.found.cycles, 1);
	/* All the way round in one direction is not an error. */
	begin(&f, "5");
	make_rows(&f);
	for (uint32_t i = 0; i < f.nodes; i++)
		f.rows[0][i][(i + 4) % 5] = NONE | 1;
	good(&f, 1, 0);
}

/* Old and new rows are right one by one, and in order: only together they close a circle. */
static void cycle_of_old_and_new_rows_is_found(void **state)
{
	static struct fabric f;
	uint32_t i;

	(void)state;
	begin(&f, "5x5");
	make_rows(&f);
	make_rows(&f);
	for (i = 0; i < f.nodes; i++)
		memset(f.rows[0][i], 0, sizeof(f.rows[0][i]));
	memcpy(f.rows[1], f.rows[0], sizeof(f.rows[1]));
	f.tables[0].old = true;		/* missing rows are accepted */
	/* Four turns round a square: +x +y, +y -x, -x -y in one, -y +x in the other. */
	f.rows[0][0][6] = NONE | 3;
	f.rows[0][1][5] = NONE | 2 | 4;
	f.rows[0][6][0] = NONE | 4 | 8;
	verify(&f, 2);
	assert_int_equal(f.found.cycles, 0);
	f.rows[1][5][1] = steps(1, 3, 15);
	verify(&f, 2);
	assert_true(f.found.cycles >= 1 && f.reported[TORUS_WRONG_CYCLE] >= 1);
}

/* --- each turn of a circle ---------------------------------------------------- */

/* A row that a test sets. */
struct row {
	uint32_t from, to;
	uint64_t row;
};

/*
 * Four turns round the square of 0, 1, 6 and 5 in 5x5: +x +y, +y -x, -x -y, and -y +x, which breaks
 * the order; without it no circle is possible. Ports +x 0, +y 1, -x 2, -y 3.
 */
static const struct row turns[4] = {
	{ 0, 6, NONE | 3 }, { 1, 5, NONE | 2 | 4 }, { 6, 0, NONE | 4 | 8 },
	{ 5, 1, TORUS_ROW_VALID | 1 | 3ull << TORUS_ROW_FIRST_SHIFT |
		15ull << TORUS_ROW_LAST_SHIFT },
};

/* Return: true if there are circles with @row in the place of turn @missing. */
static bool closes(unsigned int missing, const struct row *row, bool old)
{
	static struct fabric f;
	unsigned int i;

	begin(&f, "5x5");
	f.tables[0].old = old;		/* missing or wrong rows are accepted */
	for (i = 0; i < 4; i++)
		if (i != missing)
			f.rows[0][turns[i].from][turns[i].to] = turns[i].row;
	if (row)
		f.rows[0][row->from][row->to] = row->row;
	verify(&f, 1);
	assert_int_equal(f.reported[TORUS_WRONG_CYCLE], !!f.found.cycles);
	if (f.found.cycles)		/* the one turn to a lower direction is the culprit */
		assert_true(f.cycle.from == 5 && f.cycle.to == 1 && f.cycle.node == 0 &&
			    f.cycle.port == 0);
	return f.found.cycles;
}

static void closed_by(unsigned int missing, uint32_t from, uint32_t to, uint64_t row)
{
	const struct row r = { from, to, row };

	assert_true(closes(missing, &r, true));
	assert_true(closes(missing, &r, false));
}

static void left_open_by(unsigned int missing, uint32_t from, uint32_t to, uint64_t row)
{
	const struct row r = { from, to, row };

	assert_false(closes(missing, &r, true));
	assert_false(closes(missing, &r, false));
}

/* Each turn of the circle is needed, and may be made by any two hops of a leg. */
static void cycle_needs_each_of_its_turns(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_false(closes(i, NULL, true));
		closed_by(i, turns[i].from, turns[i].to, turns[i].row);
	}
	closed_by(0, 0, 6, steps(2, 0, 15));	/* after the first step */
	closed_by(0, 0, 6, steps(1, 15, 1));	/* before the last one */
	closed_by(0, 0, 6, steps(0, 0, 1));	/* a step between the two */
	closed_by(0, 4, 6, NONE | 3);		/* at the end of three hops */
	closed_by(0, 0, 11, NONE | 3);		/* at their beginning */
	closed_by(0, 4, 11, NONE | 3);		/* in the middle of four */
	left_open_by(0, 0, 7, steps(2 | 1, 0, 15));	/* +x +x +y: another turn */
}

/* A leg ends in the memory of the relay: nothing waits across it, but packets wait up to it. */
static void leg_that_ends_in_relay_breaks_cycle(void **state)
{
	(void)state;
	closed_by(0, 0, 12, NONE | 3 | RELAY(6));
	closed_by(1, 1, 24, NONE | 2 | 4 | RELAY(5));
	left_open_by(0, 0, 6, NONE | 1 | RELAY(1));
	left_open_by(1, 1, 5, NONE | 2 | RELAY(6));
}

/*
 * Legs that go the other way round a ring, and turn elsewhere; wherever adaptive bits lead a
 * packet, the escape from there makes the turn.
 */
static void cycle_over_escapes_is_found(void **state)
{
	static const struct {
		unsigned int missing;
		struct row r;
		unsigned int dirs;
	} t[] = {
		{ 0, { 0, 6, NONE | 2 | 4 }, 1 | 2 },	/* where it enters */
		{ 1, { 1, 5, NONE | 1 | 2 }, 2 | 4 },
		{ 2, { 6, 0, NONE | 1 | 8 }, 4 | 8 },
		{ 1, { 2, 5, NONE | 2 | 4 }, 2 | 4 },	/* after a hop */
		{ 1, { 3, 5, NONE | 1 | 2 }, 2 | 4 },	/* after two */
		{ 2, { 8, 0, NONE | 1 | 8 }, 4 | 8 },
		{ 2, { 11, 0, NONE | 4 | 8 }, 4 | 8 },	/* after a hop of the other direction */
		{ 0, { 20, 6, NONE | 2 | 4 }, 1 | 2 },
		{ 0, { 0, 12, NONE | 2 | 4 | RELAY(6) }, 1 | 2 },	/* on the way to a relay */
		{ 1, { 2, 24, NONE | 2 | 4 | RELAY(5) }, 2 | 4 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct row *r = &t[i].r;

		left_open_by(t[i].missing, r->from, r->to, r->row);
		closed_by(t[i].missing, r->from, r->to, r->row | ADAPTIVE(t[i].dirs));
	}
	/* With directions that adaptive packets do not take it stays open. */
	left_open_by(1, 3, 5, NONE | 1 | 2 | ADAPTIVE(1 | 2));
	/* Behind the relay is another leg. */
	left_open_by(0, 0, 6, NONE | 1 | RELAY(1) | ADAPTIVE(1));
}

/*
 * Before a link died an adaptive packet of the old table may have crossed it; one of the new table
 * does not.
 */
static void dead_link_counts_only_for_old_table(void **state)
{
	static struct fabric f;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		begin(&f, "5x5");
		cut(&f, 2, 2);
		f.tables[0].old = i;
		f.rows[0][0][6] = turns[0].row;
		f.rows[0][6][0] = turns[2].row;
		f.rows[0][5][1] = turns[3].row;
		f.rows[0][2][5] = NONE | 2 | 4 | ADAPTIVE(2 | 4);
		verify(&f, 1);
		assert_int_equal(f.reported[TORUS_WRONG_ESCAPE], 0);
		assert_true(!f.found.cycles == !i);
	}
}

/*
 * Two rows for one destination have different directions, of one table or of two: the escapes of
 * both count.
 */
static void escapes_of_two_rows_both_count(void **state)
{
	static struct fabric f;
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		begin(&f, "5x5");
		f.tables[0].old = f.tables[1].old = true;
		memcpy(f.rows[1], f.rows[0], sizeof(f.rows[1]));
		f.rows[0][0][6] = turns[0].row;
		f.rows[0][6][0] = turns[2].row;
		f.rows[0][5][1] = turns[3].row;
		/* Rows to 5 go through 2 and 1, too, but continue by +x. */
		f.rows[i / 2][1][5] = NONE | 1 | 2 | ADAPTIVE(1 | 2);
		f.rows[i / 2][2][5] = NONE | 1 | 2 | ADAPTIVE(1 | 2);
		verify(&f, 2);
		assert_int_equal(f.found.cycles, 0);
		f.rows[i % 2][3][5] = NONE | 1 | 2 | ADAPTIVE(2 | 4);
		verify(&f, 2);
		assert_int_equal(f.found.adaptive, 3);
		assert_true(f.found.cycles);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycle_of_old_and_new_rows_is_found),
		cmocka_unit_test(cycle_needs_each_of_its_turns),
		cmocka_unit_test(leg_that_ends_in_relay_breaks_cycle),
		cmocka_unit_test(cycle_over_escapes_is_found),
		cmocka_unit_test(dead_link_counts_only_for_old_table),
		cmocka_unit_test(escapes_of_two_rows_both_count),
		cmocka_unit_test(cycle_of_right_rows_is_found),
		cmocka_unit_test(cycle_at_node_0_is_found),
		cmocka_unit_test(cycle_of_two_turns_back_is_found),
	};

	return cmocka_run_group_tests_name("verify_cycles", tests, NULL, NULL);
}
