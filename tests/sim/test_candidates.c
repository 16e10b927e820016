// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the candidate that becomes root: the only one that is left of eight, the next one if the
 * first ends together with the root, and the one with the highest root_priority.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "daemon/fm/wire/msg.h"
#include "ends.h"

#define CANDIDATES 8		/* nodes that are candidates where nothing is configured */
#define TAKEOVER (3 * SEC)	/* limit of a takeover while a majority lives */

static struct trial s;
static char name[120];		/* name of the scenario */

/* @priority: of each node, or NULL: none is configured. @fanout: of the tree of managers; 0: the default. */
static void begin_tree(const char *shape, const unsigned int *priority, uint64_t seed, unsigned int fanout)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = false;
	c.vanish = true;
	c.fanout = fanout ? fanout : c.fanout;
	trial_begin(&s, &c);
	for (uint32_t i = 0; priority && i < world_nodes(s.w); i++)
		world_priority(s.w, i, priority[i]);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	s.sparing = true;
	trial_traffic(&s, 1 * MS);
	world_run(s.w, 5 * MS);
}

static void begin(const char *shape, const unsigned int *priority, uint64_t seed)
{
	begin_tree(shape, priority, seed, 0);
}

static void finish(void)
{
	if (ends_roots(s.w) != 1)
		trial_fail(&s, "%u roots", ends_roots(s.w));
	if (!trial_end(&s))
		fail_msg("%s: %s", name, s.wrong);
}

/* Waits until a node other than @but leads, which must be soon. Return: that node. */
static uint32_t taken_over(uint32_t but)
{
	uint32_t root = ends_await(&s, but, TAKEOVER);

	if (root == TORUS_NO_NODE)
		trial_fail(&s, "nobody leads");
	return root;
}

static void leads(uint32_t expected)
{
	uint32_t root = ends_leader(s.w, TORUS_NO_NODE);

	if (root != expected)
		trial_fail(&s, "node %d leads, and not %u", (int)root, expected);
}

/* --- all but one ------------------------------------------------------------------- */

static void all_but(uint32_t last, enum ending end, bool ends)
{
	for (uint32_t i = 0; i < CANDIDATES; i++)
		if (i != last && ends)
			end_node(s.w, i, end);
		else if (i != last)
			end_undo(s.w, i, end);
}

/* Nine of 16 nodes live, one of them a candidate. The others come back, and it leads on. */
static void last_living_candidate_of_eight_leads(void **state)
{
	(void)state;
	for (uint32_t last = 1; last < CANDIDATES; last += 2 * trial_every())
		for (unsigned int end = 0; end < ENDS; end++) {
			snprintf(name, sizeof(name), "only node %u is left, each other %s", last,
				 end_names[end]);
			begin("4x4", NULL, last);
			all_but(last, (enum ending)end, true);
			ends_await(&s, 0, TAKEOVER);
			leads(last);
			trial_run(&s, 300 * MS);
			all_but(last, (enum ending)end, false);
			trial_rest(&s, 20 * SEC);
			leads(last);
			finish();
		}
}

/*
 * The same as last_living_candidate_of_eight_leads(), but the other nodes hang, and the tree of
 * managers is deep: nodes whose parents hang together with the root learn of its end from no other
 * node.
 */
static void last_candidate_leads_in_deep_tree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed += trial_every()) {
		unsigned int fanout = 1 + (unsigned int)seed % 3;
		uint32_t last = 1 + (uint32_t)seed % 7;

		snprintf(name, sizeof(name), "only node %u is left, fanout %u, seed %u", last, fanout,
			 (unsigned int)seed);
		begin_tree(seed % 2 ? "4x4" : "16", NULL, seed, fanout);
		trial_run(&s, seed * 41 % 1000 * MS);
		all_but(last, HANG, true);
		ends_await(&s, 0, TAKEOVER);
		leads(last);
		all_but(last, HANG, false);
		trial_rest(&s, 20 * SEC);
		finish();
	}
}

/*
 * Two of 9 nodes live, and the NICs of the others work on: no node may lead until enough come back,
 * and a problem says so.
 */
static void no_node_leads_without_majority(void **state)
{
	(void)state;
	for (unsigned int end = KILL; end < ENDS; end++) {
		snprintf(name, sizeof(name), "7 of 9: each %s", end_names[end]);
		begin("3x3", NULL, 1);
		all_but(7, (enum ending)end, true);
		trial_run(&s, 5 * SEC);
		assert_int_equal(ends_leader(s.w, TORUS_NO_NODE), TORUS_NO_NODE);
		if (!trial_problem(&s, "root", " of the 5 nodes that it needs answered"))
			trial_fail(&s, "it is not told that too few answer");
		for (uint32_t i = 1; i < 4; i++)
			end_undo(s.w, i, (enum ending)end);
		if (ends_await(&s, 0, 20 * SEC) == TORUS_NO_NODE)
			trial_fail(&s, "nobody leads, though 5 of 9 live again");
		all_but(7, (enum ending)end, false);
		trial_rest(&s, 20 * SEC);
		if (trial_problem(&s, "root", "that it needs answered"))
			trial_fail(&s, "it is told still that too few answer");
		finish();
	}
}

/*
 * Four of nine nodes have died before, and a table without them has been in force before the
 * latest. The root and one more of the other five hang. Their NICs work on, so the three that are
 * left need to be a majority of five.
 */
static void majority_of_latest_table_is_enough(void **state)
{
	(void)state;
	snprintf(name, sizeof(name), "3 of 5 are left of 9");
	begin("3x3", NULL, 1);
	for (uint32_t i = 5; i < 9; i++)
		end_node(s.w, i, POWER);
	trial_rest(&s, 20 * SEC);
	world_cut(s.w, 0, true);
	trial_rest(&s, 20 * SEC);
	end_node(s.w, 0, HANG);
	end_node(s.w, 3, HANG);
	if (ends_await(&s, 0, TAKEOVER) == TORUS_NO_NODE)
		trial_fail(&s, "nobody leads, though 3 of 5 live");
	end_undo(s.w, 0, HANG);
	end_undo(s.w, 3, HANG);
	trial_rest(&s, 20 * SEC);
	finish();
}

/* --- two at once -------------------------------------------------------------------- */

/* The root and the candidate that would be next end at one moment, in whatever ways. */
static void root_that_ends_during_takeover_is_replaced(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < ENDS * ENDS; k += trial_every()) {
		enum ending first = (enum ending)(k % ENDS), second = (enum ending)(k / ENDS);

		snprintf(name, sizeof(name), "the root %s, node 1 %s", end_names[first],
			 end_names[second]);
		begin(k % 2 ? "4x2" : "3x3", NULL, 1 + k);
		end_node(s.w, 0, first);
		end_node(s.w, 1, second);
		taken_over(0);
		world_cut(s.w, world_cables(s.w) - 1, true);
		trial_run(&s, 500 * MS);
		end_undo(s.w, 1, second);
		end_undo(s.w, 0, first);
		trial_rest(&s, 20 * SEC);
		if (world_root(s.w) < 2)
			trial_fail(&s, "node %u leads again", world_root(s.w));
		finish();
	}
}

/* --- by priority ----------------------------------------------------------------------- */

#define AUTO FM_PRIORITY_AUTO

static const unsigned int priorities[16] = { 250, 0, 60, 0, AUTO, 150, 0, 0,
					     0, 0, 0, 0, 200, 0, 0, 20 };

/*
 * The living candidate of the highest priority leads, even if it is not among the first eight
 * nodes, and it leads on when all those of higher priority come back. Nodes that never lead are a
 * majority. If the root loses its power, nodes notice that one after the other, so another
 * candidate may ask first.
 */
static void candidate_of_highest_priority_leads(void **state)
{
	static const uint32_t order[] = { 0, 12, 5, 4, 2, 15 };

	(void)state;
	for (unsigned int end = POWER; end <= KILL; end++) {
		unsigned int last = end == POWER ? 5 : 4, n = 0;
		uint32_t ended[5], root = 0;

		snprintf(name, sizeof(name), "by priority: each %s", end_names[end]);
		begin("4x4", priorities, 1 + end);
		while (n < last && root != TORUS_NO_NODE) {
			ended[n++] = root;
			end_node(s.w, root, (enum ending)end);
			root = taken_over(root);
			if (end == KILL)
				leads(order[n]);
			else if (root != TORUS_NO_NODE && !priorities[root])
				trial_fail(&s, "node %u leads", root);
			trial_rest(&s, 20 * SEC);
		}
		for (unsigned int i = 0; i < n; i++)
			end_undo(s.w, ended[i], (enum ending)end);
		trial_rest(&s, 20 * SEC);
		leads(root);
		finish();
	}
}

/* Not all notice at once that the root hangs: any may lead whose priority is not 0. */
static void any_candidate_but_0_may_lead_if_root_hangs(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed += trial_every()) {
		uint32_t root;

		snprintf(name, sizeof(name), "by priority: the root hangs, seed %u", (unsigned int)seed);
		begin("4x4", priorities, seed);
		end_node(s.w, 0, HANG);
		root = taken_over(0);
		if (root != TORUS_NO_NODE && !priorities[root])
			trial_fail(&s, "node %u leads", root);
		trial_run(&s, 1 * SEC);
		end_undo(s.w, 0, HANG);
		trial_rest(&s, 20 * SEC);
		leads(root);
		finish();
	}
}

/*
 * All candidates have the same priority: one leads soon. With the default priority it is the
 * living candidate of the lowest id, unless some nodes notice later than others that the root has
 * ended.
 */
static void one_of_equal_candidates_leads_soon(void **state)
{
	static const unsigned int values[] = {
		9, FM_PRIORITY_DEFAULT, FM_PRIORITY_DEFAULT, FM_PRIORITY_DEFAULT, 200, FM_PRIORITY_MAX,
	};

	(void)state;
	for (unsigned int k = 0; k < ENDS * sizeof(values) / sizeof(values[0]); k++) {
		enum ending end = (enum ending)(k % ENDS);
		unsigned int priority[CANDIDATES];

		for (unsigned int i = 0; i < CANDIDATES; i++)
			priority[i] = values[k / ENDS];
		snprintf(name, sizeof(name), "all have the priority %u: the root %s", values[k / ENDS],
			 end_names[end]);
		begin("4x2", priority, 1 + k);
		end_node(s.w, 0, end);
		taken_over(0);
		if (values[k / ENDS] == FM_PRIORITY_DEFAULT && end != HANG)
			leads(1);
		end_undo(s.w, 0, end);
		trial_rest(&s, 20 * SEC);
		finish();
	}
}

/* No node but the root is a candidate: none leads, and that is reported, until the root is back. */
static void lack_of_candidates_is_reported(void **state)
{
	static const unsigned int priority[9] = { AUTO };

	(void)state;
	snprintf(name, sizeof(name), "no candidate is left");
	begin("3x3", priority, 1);
	end_node(s.w, 0, POWER);
	trial_run(&s, 35 * SEC);
	assert_int_equal(ends_roots(s.w), 0);
	assert_true(trial_problem(&s, "root", "no node asks to be root"));
	end_undo(s.w, 0, POWER);
	trial_rest(&s, 20 * SEC);
	assert_int_equal(world_root(s.w), 0);
	assert_false(trial_problem(&s, "root", ""));
	finish();
}

/*
 * The service network of the marked node is cut, and its links are whole. All managers begin anew,
 * so no node has been led: that one asks first, and the others learn of it by Inits. They do not
 * wait for it.
 */
static void unreachable_asking_node_is_not_waited_for(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		snprintf(name, sizeof(name), "node 0 asks and cannot be reached, seed %u", k);
		begin("3x2", NULL, k);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			world_manager(s.w, i, false);
		world_partition(s.w, 1);
		trial_run(&s, 10 * MS);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			world_manager(s.w, i, true);
		/* No node has a table: the first one waits for node 0, to which links lead, for 6 s. */
		ends_await(&s, 0, TAKEOVER + 6 * SEC);
		leads(1);
		world_partition(s.w, 0);
		trial_rest(&s, 20 * SEC);
		finish();
	}
}

/*
 * All managers begin anew, so no node has been led. The candidate of the greater GUID reaches the
 * other one over the service network, and no third node: it asks without success. The other one
 * reaches all nodes, and gives way to it as long as it asks.
 */
static void asking_node_without_majority_gives_way(void **state)
{
	static const unsigned int priority[7] = { AUTO, 0, 0, 0, 0, 0, 200 };

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		snprintf(name, sizeof(name), "node 6 asks in vain, seed %u", k);
		begin("7", priority, k);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			world_manager(s.w, i, false);
		for (uint32_t i = 1; i < 6; i++) {
			world_one_way(s.w, i, 6, true);
			world_one_way(s.w, 6, i, true);
		}
		trial_run(&s, 10 * MS);
		for (uint32_t i = 1; i < world_nodes(s.w); i++)
			world_manager(s.w, i, true);
		trial_run(&s, 500 * MS);
		world_manager(s.w, 0, true);
		ends_await(&s, TORUS_NO_NODE, 6 * SEC);
		leads(0);
		for (uint32_t i = 1; i < 6; i++) {
			world_one_way(s.w, i, 6, false);
			world_one_way(s.w, 6, i, false);
		}
		trial_rest(&s, 20 * SEC);
		finish();
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_living_candidate_of_eight_leads),
		cmocka_unit_test(last_candidate_leads_in_deep_tree),
		cmocka_unit_test(no_node_leads_without_majority),
		cmocka_unit_test(majority_of_latest_table_is_enough),
		cmocka_unit_test(root_that_ends_during_takeover_is_replaced),
		cmocka_unit_test(candidate_of_highest_priority_leads),
		cmocka_unit_test(any_candidate_but_0_may_lead_if_root_hangs),
		cmocka_unit_test(one_of_equal_candidates_leads_soon),
		cmocka_unit_test(lack_of_candidates_is_reported),
		cmocka_unit_test(unreachable_asking_node_is_not_waited_for),
		cmocka_unit_test(asking_node_without_majority_gives_way),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
