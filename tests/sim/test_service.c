// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that the administrator takes out of service, while they are dead, silent, or were never
 * seen: they stay excluded, whoever leads, until they are included, and nothing waits for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ends.h"

#define NODE 10			/* 2,2 of 4x4: no candidate */
#define ANSWER (2 * SEC)	/* time that fabricd waits until a change is in force */
#define TAKEOVER (3 * SEC)

static struct trial s;

static void begin(uint64_t seed, bool absent)
{
	struct world_config c;

	trial_config(&c, "4x4", seed);
	c.discover = false;
	c.vanish = true;
	trial_begin(&s, &c);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_power(s.w, i, i != NODE || !absent);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, 1 * MS);
	s.sparing = true;
	trial_run(&s, 20 * MS);
}

static const struct fm *root(void)
{
	return world_fm(s.w, world_root(s.w));
}

static bool in_force(struct world *w)
{
	const struct fm *fm = world_fm(w, world_root(w));

	return fm && fm_is_root(fm) && fm_in_force(fm, fm_version(fm));
}

static void order(bool excluded)
{
	assert_int_equal(trial_exclude(&s, NODE, -1, excluded), 0);
	if (!world_until(s.w, in_force, ANSWER))
		fail_msg("not in force");
}

/* Checks the state of the node in the output of status and nodes, and in the table. */
static void expect(const char *when, bool out, unsigned int state)
{
	struct fm_status st;

	fm_status(root(), &st);
	if (st.nodes_excluded != out || fm_out_of_service(root(), NODE) != out)
		fail_msg("%s: %u nodes excluded, not %u", when, st.nodes_excluded, out);
	if (fm_node(root(), NODE)->state != state)
		fail_msg("%s: it is %s", when, fm_node_state_name(fm_node(root(), NODE)->state));
	for (unsigned int p = 0; out && p < 4; p++)
		if (!(fm_exclusions(root())[NODE] & 1u << p))
			fail_msg("%s: port %u is in use", when, p);
	if (out && trial_problem(&s, "node", "2,2"))
		fail_msg("%s: it is a problem", when);
}

static void finish(const char *what)
{
	if (!trial_end(&s))
		fail_msg("%s: %s", what, s.wrong);
}

/*
 * Waits until the fabric is at rest, or, if a manager hangs, until the table is in force: a
 * manager that hangs has not taken the latest table, so the fabric is never at rest.
 */
static void rest(enum ending how)
{
	if (how == HANG && !world_until(s.w, in_force, 10 * SEC))
		fail_msg("not in force");
	else if (how != HANG)
		trial_rest(&s, 10 * SEC);
}

/*
 * Ends the last root, and waits until another one takes over. @how: in which way the excluded node
 * has ended
 */
static void take_over(enum ending how)
{
	uint32_t former = world_root(s.w);

	end_node(s.w, former, KILL);
	assert_int_not_equal(ends_await(&s, former, TAKEOVER), TORUS_NO_NODE);
	rest(how);
	end_undo(s.w, former, KILL);
	trial_run(&s, 100 * MS);
	rest(how);
}

/*
 * The excluded node comes back under another root, is still excluded, and works once it is
 * included.
 */
static void back(enum ending how, const char *what)
{
	end_undo(s.w, NODE, how);
	trial_rest(&s, 10 * SEC);
	trial_run(&s, 100 * MS);
	expect("back", true, FM_NODE_UP);
	order(false);
	trial_rest(&s, 10 * SEC);
	expect("included", false, FM_NODE_UP);
	finish(what);
}

static void dead_node_stays_excluded_after_takeover(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed += trial_every()) {
		begin(seed, false);
		end_node(s.w, NODE, POWER);
		trial_rest(&s, 10 * SEC);
		assert_true(trial_problem(&s, "node", "2,2"));
		order(true);
		expect("excluded", true, FM_NODE_DEAD);
		take_over(POWER);
		expect("taken over", true, FM_NODE_DEAD);
		back(POWER, "dead");
	}
}

/* The manager has ended only just: the order does not wait until the node is silent. */
static void node_without_manager_is_excluded_at_once(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed += trial_every()) {
		enum ending how = seed % 2 ? KILL : HANG;

		begin(seed, false);
		end_node(s.w, NODE, how);
		trial_run(&s, how == KILL ? seed * MS : 4 * SEC);
		order(true);
		expect("excluded", true, FM_NODE_SILENT);
		take_over(how);
		expect("taken over", true, FM_NODE_SILENT);
		back(how, "without manager");
	}
}

/* A place is excluded at which no node has been yet. */
static void absent_node_stays_excluded_after_takeover(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed += trial_every()) {
		begin(seed, true);
		order(true);
		expect("excluded", true, FM_NODE_ABSENT);
		take_over(POWER);
		expect("taken over", true, FM_NODE_ABSENT);
		back(POWER, "never seen");
	}
}

/* A node is still dead when it is included: it is a problem again. */
static void included_dead_node_is_problem_again(void **state)
{
	(void)state;
	begin(1, false);
	end_node(s.w, NODE, POWER);
	trial_rest(&s, 10 * SEC);
	order(true);
	assert_false(trial_problem(&s, "node", "2,2"));
	order(false);
	expect("included", false, FM_NODE_DEAD);
	assert_true(trial_problem(&s, "node", "node 2,2 ('n10') is dead"));
	end_undo(s.w, NODE, POWER);
	trial_rest(&s, 10 * SEC);
	assert_false(trial_problem(&s, "node", "2,2"));
	finish("included dead");
}

#define TERM 20		/* seconds */
#define BEGAN 1000000	/* seconds since 1970, when the world begins */

/* Each manager that lives gets the time of day, as when its machine begins. */
static void set_clocks(void)
{
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (world_managed(s.w, i))
			fm_clock(world_fm(s.w, i), BEGAN + world_now(s.w) / SEC, world_now(s.w));
}

/*
 * A node is out of service for a while, and the root is lost: the next root brings the node back,
 * at that time and not before.
 */
static void next_root_ends_exclusion_in_time(void **state)
{
	struct fm_order o = { .uid = 1000, .by = "n0", .reason = "new fan" };
	uint64_t over;

	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed += trial_every()) {
		begin(seed, false);
		set_clocks();
		o.since = BEGAN + world_now(s.w) / SEC;
		o.until = o.since + TERM;
		over = world_now(s.w) + TERM * SEC;
		check_flow_ordered(s.flow, world_root(s.w), NODE, -1, true);
		assert_int_equal(fm_exclude_by(world_fm(s.w, world_root(s.w)), NODE, -1, &o,
					       world_now(s.w)), 0);
		assert_true(world_until(s.w, in_force, ANSWER));
		expect("excluded", true, FM_NODE_UP);
		trial_run(&s, (1 + seed) * SEC);
		take_over(KILL);
		expect("taken over", true, FM_NODE_UP);
		assert_int_equal(fm_out_until(root(), NODE), o.until);
		assert_true(world_now(s.w) + 2 * SEC < over);
		trial_run(&s, over - 2 * SEC - world_now(s.w));
		expect("nearly over", true, FM_NODE_UP);
		check_flow_ordered(s.flow, world_root(s.w), NODE, -1, false);
		trial_run(&s, 3 * SEC);
		trial_rest(&s, 10 * SEC);
		expect("over", false, FM_NODE_UP);
		assert_null(fm_order(root(), 0));
		finish("for a while");
	}
}

/*
 * A place at which no node has been is excluded, and the discovered shape grows: the exclusion
 * holds for the same place, which has another id then.
 */
static void exclusion_of_absent_node_stays_after_growth(void **state)
{
	struct world_config c;
	char text[TORUS_TEXT_MAX];

	(void)state;
	trial_config(&c, "4x2", 1);
	c.discover = true;
	trial_begin(&s, &c);
	for (uint32_t i = 0; i < 8; i++)
		world_power(s.w, i, i % 4 < 3 && i != 5);
	world_run(s.w, 5 * SEC);
	assert_string_equal(torus_shape_text(fm_shape(root()), text), "3x2");
	assert_int_equal(fm_exclude(world_fm(s.w, 0), 4, -1, true, world_now(s.w)), 0);
	world_run(s.w, 1 * SEC);
	assert_true(fm_out_of_service(root(), 4));
	world_power(s.w, 3, true);
	world_power(s.w, 7, true);
	world_run(s.w, 10 * SEC);
	assert_string_equal(torus_shape_text(fm_shape(root()), text), "4x2");
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(fm_out_of_service(root(), i), i == 5);
	world_power(s.w, 5, true);
	world_run(s.w, 5 * SEC);
	assert_int_equal(fm_node(root(), 5)->state, FM_NODE_UP);
	assert_true(fm_out_of_service(root(), 5));
	fm_exclude(world_fm(s.w, 0), 5, -1, false, world_now(s.w));
	finish("never seen, and grows");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dead_node_stays_excluded_after_takeover),
		cmocka_unit_test(node_without_manager_is_excluded_at_once),
		cmocka_unit_test(absent_node_stays_excluded_after_takeover),
		cmocka_unit_test(next_root_ends_exclusion_in_time),
		cmocka_unit_test(exclusion_of_absent_node_stays_after_growth),
		cmocka_unit_test(included_dead_node_is_problem_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
