// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root dies under traffic, at any step of a recovery, in any way in which a root can end.
 * Another node becomes root and recovers from a cable that is cut then, and the former root, when
 * it is back, leads no node any more. All checkers of a trial follow the packets of the other
 * nodes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ends.h"
#include "tests/unit/random.h"

#define SEEDS 3
#define TAKEOVER (3 * SEC)	/* within which another node leads, whatever became of the first */

static struct trial s;

static void begin(const char *shape, uint64_t seed, uint64_t traffic)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = seed % 2;
	c.vanish = true;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	s.sparing = true;
	trial_traffic(&s, traffic);
	world_run(s.w, 5 * MS);
}

/* Waits until a node other than @former leads, by a table of its own. Return: that node. */
static uint32_t taken_over(uint32_t former, const char *what)
{
	uint64_t limit = world_now(s.w) + TAKEOVER;
	uint32_t root = former;

	while (world_now(s.w) < limit && (root == former || !fm_version(world_fm(s.w, root)))) {
		trial_run(&s, 10 * MS);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			if (i != former && world_managed(s.w, i) && fm_is_root(world_fm(s.w, i)))
				root = i;
	}
	if (root == former)
		trial_fail(&s, "%s: nobody leads", what);
	return root;
}

static void finish(const char *what, uint64_t seed)
{
	if (ends_roots(s.w) != 1)
		trial_fail(&s, "%u roots", ends_roots(s.w));
	if (!trial_end(&s))
		fail_msg("%s, seed %llu: %s", what, (unsigned long long)seed, s.wrong);
}

/* --- one root after the other ----------------------------------------------------------- */

/* The root ends, a cable is cut, and the root is back: then it is a node like all others. */
static void one(const char *shape, enum ending end, uint64_t seed)
{
	char what[100];
	uint32_t root;

	begin(shape, seed, 300 * US);
	snprintf(what, sizeof(what), "the root of %s %s", shape, end_names[end]);
	end_node(s.w, 0, end);
	root = taken_over(0, what);
	world_cut(s.w, world_cables(s.w) - 1, true);
	trial_run(&s, 500 * MS);
	end_undo(s.w, 0, end);
	trial_rest(&s, 20 * SEC);
	if (world_root(s.w) != root)
		trial_fail(&s, "node %u leads, and no more node %u", world_root(s.w), root);
	finish(what, seed);
}

/* With EVERY, each shape and each step of a recovery meets a third of the ways to end. */
static unsigned int ends_step(void)
{
	return trial_every() > 1 ? 3 : 1;
}

static void root_ended_each_way_is_replaced(void **state)
{
	static const char *const shapes[] = { "4x4", "6", "3x3x2", "5x2" };

	(void)state;
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
		for (unsigned int end = k % ends_step(); end < ENDS; end += ends_step())
			for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
				one(shapes[k], (enum ending)end, seed);
}

/* Each of eight candidates in turn becomes root and ends, down to the last. */
static void each_of_eight_candidates_becomes_root(void **state)
{
	uint32_t root = 0;

	(void)state;
	begin("4x4", 7, 1 * MS);
	for (unsigned int i = 0; i < 7; i++) {
		end_node(s.w, root, KILL);
		root = taken_over(root, "one after the other");
		trial_rest(&s, 20 * SEC);
		assert_true(root < 8);
	}
	for (uint32_t i = 0; i < 8; i++)
		if (i != root)
			end_undo(s.w, i, KILL);
	trial_rest(&s, 20 * SEC);
	assert_int_equal(world_root(s.w), root);
	finish("all candidates but one end", 7);
}

/* --- in a recovery ------------------------------------------------------------------------- */

/*
 * A cable is cut; when the recovery is at @step, the root ends, and another cable is cut. Return:
 * true if the recovery came to that step.
 */
static bool at(enum trial_step step, enum ending end, uint64_t seed)
{
	char what[100];
	bool met;

	begin("4x4", seed, 200 * US);
	world_cut(s.w, 5, true);
	for (unsigned int i = 0; i < 4000 && trial_step(&s) != step; i++)
		world_run(s.w, 5 * US);
	met = trial_step(&s) == step;
	end_node(s.w, 0, end);
	world_cut(s.w, 11 + (uint32_t)seed, true);
	snprintf(what, sizeof(what), "the root %s at step %u", end_names[end], step);
	taken_over(0, what);
	trial_run(&s, 1 * SEC);
	end_undo(s.w, 0, end);
	trial_rest(&s, 20 * SEC);
	finish(what, seed);
	return met;
}

static void root_ended_at_each_step_is_replaced(void **state)
{
	(void)state;
	for (unsigned int step = STEP_TABLE; step < STEPS; step++)
		for (unsigned int end = step % ends_step(); end < ENDS; end += ends_step()) {
			unsigned int met = 0;

			for (uint64_t seed = 1; seed <= SEEDS; seed += met ? trial_every() : 1)
				met += at((enum trial_step)step, (enum ending)end, seed);
			assert_int_not_equal(met, 0);
		}
}

/* --- few nodes --------------------------------------------------------------------------------- */

/* The second of two nodes leads if the first has lost its power, for no other can be reached. */
static void second_of_two_nodes_leads(void **state)
{
	(void)state;
	for (unsigned int n = 2; n < 4; n++) {
		begin(n == 2 ? "2" : "3", n, 300 * US);
		end_node(s.w, 0, POWER);
		if (n == 2)	/* no majority: only after it has been cut off for member_max */
			trial_run(&s, 3 * SEC);
		taken_over(0, "few nodes");
		end_undo(s.w, 0, POWER);
		trial_rest(&s, 20 * SEC);
		finish("few nodes", n);
	}
}

/*
 * The manager of one of two nodes hangs and its NIC works on: half of the nodes are not enough,
 * because that manager may come back.
 */
static void half_of_nodes_is_not_enough_to_lead(void **state)
{
	(void)state;
	begin("2", 3, 300 * US);
	end_node(s.w, 0, HANG);
	trial_run(&s, 10 * SEC);
	assert_false(fm_is_root(world_fm(s.w, 1)));
	end_undo(s.w, 0, HANG);
	trial_rest(&s, 20 * SEC);
	assert_int_equal(world_root(s.w), 0);
	finish("half of two", 3);
}

/*
 * All managers but one begin anew at once; the root's manager does not come back, and another one
 * hangs. The manager that did not begin anew knows which nodes were up, and the others know of
 * which nodes their NICs have rows.
 */
static void one_surviving_table_is_enough_to_lead(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed += trial_every()) {
		uint32_t knows = 1 + (uint32_t)seed % 7, hung = 1 + (uint32_t)(seed + 3) % 7;

		begin("4x2", seed, 300 * US);
		end_node(s.w, hung, HANG);
		for (uint32_t i = 0; i < 8; i++)
			if (i != knows && i != hung)
				end_node(s.w, i, KILL);
		trial_run(&s, 20 * MS);
		for (uint32_t i = 1; i < 8; i++)
			if (i != knows && i != hung)
				end_undo(s.w, i, KILL);
		taken_over(0, "all but one began anew");
		trial_run(&s, 1 * SEC);
		end_undo(s.w, hung, HANG);
		end_undo(s.w, 0, KILL);
		trial_rest(&s, 20 * SEC);
		finish("all but one began anew", seed);
	}
}

/* --- by order -------------------------------------------------------------------------------- */

/* Each candidate is made root, while cables are cut and traffic runs. Rows need not change for that. */
static void root_moves_to_each_candidate_under_traffic(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		begin("4x4", seed, 100 * US);
		for (uint32_t to = 7; to < 8; to--) {
			uint32_t root = world_root(s.w);

			assert_int_equal(world_move(s.w, root, to), 0);
			trial_run(&s, 30 * MS);
			world_cut(s.w, to, to % 2);
			if (root != to)
				assert_int_equal(taken_over(root, "by order"), to);
			trial_rest(&s, 20 * SEC);
			assert_int_equal(world_root(s.w), to);
		}
		finish("root moves", seed);
	}
}

/*
 * The node that is to become root ends, or the root itself, or another, at any moment of the
 * handover.
 */
static void some_root_leads_though_node_ends_during_move(void **state)
{
	static const uint32_t victims[] = { 0, 5, 3 };
	const uint32_t to = 5;

	(void)state;
	for (unsigned int k = 0; k < 3; k++)
		for (unsigned int end = 0; end < ENDS; end++)
			for (uint64_t at = 0; at < 60; at += 3 * trial_every()) {
				begin("4x4", 100 + at, 300 * US);
				assert_int_equal(world_move(s.w, 0, to), 0);
				trial_run(&s, 20 * MS + at * MS / 2);
				end_node(s.w, victims[k], (enum ending)end);
				trial_run(&s, TAKEOVER);
				if (ends_roots(s.w) < 1)
					trial_fail(&s, "no root after node %u %s", victims[k], end_names[end]);
				end_undo(s.w, victims[k], (enum ending)end);
				trial_rest(&s, 20 * SEC);
				finish("the root moves and a node ends", 100 + at);
			}
}

static void root_does_not_move_to_unfit_node(void **state)
{
	(void)state;
	begin("4x4", 1, 1 * MS);
	assert_int_equal(world_move(s.w, 1, 2), -EPERM);
	assert_int_equal(world_move(s.w, 0, 16), -EINVAL);
	assert_int_equal(world_move(s.w, 0, 0), 0);
	end_node(s.w, 3, KILL);
	trial_run(&s, 50 * MS);
	assert_int_equal(world_move(s.w, 0, 3), -EHOSTUNREACH);
	end_undo(s.w, 3, KILL);
	trial_rest(&s, 20 * SEC);
	world_cut(s.w, 9, true);
	for (unsigned int i = 0; i < 4000 && trial_step(&s) != STEP_APPLY; i++)
		world_run(s.w, 5 * US);
	assert_int_equal(world_move(s.w, 0, 3), -EAGAIN);
	trial_rest(&s, 20 * SEC);
	assert_int_equal(world_root(s.w), 0);
	finish("nobody becomes root", 1);
}

/*
 * The new root is told to include a port at any moment: if it cannot do that yet, it says so.
 * Before its first table it waits for a node that hangs.
 */
static void early_order_is_refused_until_root_leads(void **state)
{
	unsigned int done[2] = { 0, 0 };

	(void)state;
	begin("4x4", 4, 300 * US);
	end_node(s.w, 6, HANG);
	end_node(s.w, 0, POWER);
	for (unsigned int i = 0; i < 3000 && !done[1]; i++) {
		uint32_t root = world_root(s.w);
		int err = root && root < world_nodes(s.w) ?
			  fm_exclude(world_fm(s.w, root), 9, 1, false, world_now(s.w)) : -EPERM;

		assert_true(!err || err == -EAGAIN || err == -EPERM);
		done[0] += err == -EAGAIN;
		done[1] += !err;
		world_run(s.w, 1 * MS);
	}
	assert_true(done[0] && done[1]);
	end_undo(s.w, 0, POWER);
	end_undo(s.w, 6, HANG);
	trial_rest(&s, 20 * SEC);
	finish("orders", 4);
}

/*
 * All nodes of the former table have joined, or neighbours have lost all links to them: the new root
 * makes its first table at once, also if a cable was cut just before.
 */
static void new_root_makes_table_at_once(void **state)
{
	(void)state;
	for (unsigned int seed = 5; seed < 9; seed++) {
		uint64_t died;

		begin("4x4", seed, 300 * US);
		died = world_now(s.w);
		end_node(s.w, 0, POWER);
		trial_run(&s, 500 * MS);
		world_cut(s.w, 9, seed % 2);
		while (ends_leader(s.w, 0) == TORUS_NO_NODE && world_now(s.w) < died + TAKEOVER)
			world_run(s.w, 1 * MS);
		assert_in_range(world_now(s.w) - died, 0, 800 * MS);
		world_cut(s.w, 9, false);
		end_undo(s.w, 0, POWER);
		trial_rest(&s, 20 * SEC);
		finish("the first table", seed);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(root_ended_each_way_is_replaced),
		cmocka_unit_test(each_of_eight_candidates_becomes_root),
		cmocka_unit_test(root_ended_at_each_step_is_replaced),
		cmocka_unit_test(second_of_two_nodes_leads),
		cmocka_unit_test(half_of_nodes_is_not_enough_to_lead),
		cmocka_unit_test(one_surviving_table_is_enough_to_lead),
		cmocka_unit_test(root_moves_to_each_candidate_under_traffic),
		cmocka_unit_test(some_root_leads_though_node_ends_during_move),
		cmocka_unit_test(root_does_not_move_to_unfit_node),
		cmocka_unit_test(early_order_is_refused_until_root_leads),
		cmocka_unit_test(new_root_makes_table_at_once),
	};

	return cmocka_run_group_tests_name("takeover", all, NULL, NULL);
}
