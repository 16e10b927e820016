// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two fabrics of one name and key, each of four nodes in a row, that a wrong cable joins: nodes 0 to
 * 3, and 4 to 7. The manager of node 3, at the cable, starts again while its own neighbour is
 * silent. It knows no table then, but its NIC has its place and rows, and its disk may have a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "trial.h"

#define HALF 4u
#define WRONG 3u		/* the cable from node 3 to node 4 */
#define AROUND 7u
#define INSISTS (30 * SEC)	/* time for which a node waits for its own fabric in any case */

/* Starts the root of a half again and again, so that its epoch rises. */
static void lead_again(struct trial *s, uint32_t node)
{
	for (unsigned int k = 0; k < 3; k++) {
		world_manager(s->w, node, false);
		world_run(s->w, 10 * MS);
		world_manager(s->w, node, true);
		world_run(s->w, 5 * SEC);
	}
}

/*
 * Begins a trial of two halves. @later: the half whose root is node 4 is in a later epoch than the
 * half of node 0
 */
static void begin(struct trial *s, bool later)
{
	struct world_config c;

	trial_config(&c, "8", 7);
	c.discover = true;
	trial_begin(s, &c);
	world_bootstrap(s->w, HALF, true);
	world_cut(s->w, WRONG, true);
	world_cut(s->w, AROUND, true);
	trial_power_all(s);
	world_run(s->w, 2 * SEC);
	lead_again(s, later ? HALF : 0);
	assert_int_equal(fm_epoch(world_fm(s->w, HALF)) > fm_epoch(world_fm(s->w, 0)), later);
}

static void end(struct trial *s)
{
	if (s->wrong[0])
		fail_msg("%s", s->wrong);
	check_flow_free(s->flow);
	world_free(s->w);
}

static void start_again(struct trial *s, bool wiped)
{
	world_manager(s->w, 3, false);
	if (wiped)
		world_wipe(s->w, 3);
	world_run(s->w, 100 * MS);
	world_cut(s->w, WRONG, false);
	world_manager(s->w, 3, true);
}

static uint32_t nodes_of(const struct trial *s, uint32_t node)
{
	struct fm_status st;

	fm_status(world_fm(s->w, node), &st);
	return st.nodes;
}

/* Node 3 obeys the root of its own half, in its own place. */
static bool is_at_home(const struct trial *s)
{
	return fm_own(world_fm(s->w, 3)) == 3 && nodes_of(s, 3) == HALF && nodes_of(s, 0) == HALF &&
	       nodes_of(s, HALF) == HALF && !fm_is_root(world_fm(s->w, 3)) &&
	       fm_epoch(world_fm(s->w, 3)) == fm_epoch(world_fm(s->w, 0));
}

/* @called: the neighbour is silent until the root has missed node 3, and calls it by itself. */
static void waits_for_its_own(bool later, bool wiped, bool called)
{
	struct trial s;
	uint64_t epoch;

	begin(&s, later);
	epoch = fm_epoch(world_fm(s.w, 0));
	world_hang(s.w, 2, true);
	start_again(&s, wiped);
	world_run(s.w, 1500 * MS);
	assert_int_equal(nodes_of(&s, HALF), HALF);
	assert_true(trial_problem(&s, "root", "is not of the fabric"));
	if (called) {
		world_run(s.w, INSISTS);
		assert_true(is_at_home(&s));
	}
	world_hang(s.w, 2, false);
	world_run(s.w, 10 * SEC);
	assert_true(is_at_home(&s));
	assert_int_equal(fm_epoch(world_fm(s.w, 0)), epoch);
	world_cut(s.w, WRONG, true);
	world_run(s.w, 2 * SEC);
	assert_false(trial_problem(&s, "root", "is not of the fabric"));
	end(&s);
}

static void node_beside_foreign_fabric_waits_for_its_own(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 8; k++)
		waits_for_its_own(k & 1, k & 2, k & 4);
}

/*
 * No cable leads from a node to its own fabric any more: the node waits for its own root for a
 * while, then follows the other one.
 */
static void node_joins_foreign_fabric_when_its_own_is_gone(void **state)
{
	struct trial s;

	(void)state;
	begin(&s, true);
	world_priority(s.w, 3, 0);
	start_again(&s, true);
	world_cut(s.w, 2, true);
	world_run(s.w, INSISTS - SEC);
	assert_true(trial_problem(&s, "root", "is not of the fabric"));
	assert_int_not_equal(fm_epoch(world_fm(s.w, 3)), fm_epoch(world_fm(s.w, HALF)));
	world_run(s.w, 3 * SEC);
	assert_false(trial_problem(&s, "root", "is not of the fabric"));
	assert_int_equal(fm_epoch(world_fm(s.w, 3)), fm_epoch(world_fm(s.w, HALF)));
	end(&s);
}

/*
 * The root, which has not the place of the origin, gets another NIC, while all other managers start
 * again. None of them can be root. No NIC knows the new one, which has no place: its Inits imply other
 * places than the NICs have. All nodes wait for their fabric, and must not wait for each other.
 */
static void nodes_follow_replaced_root_without_place(void **state)
{
	struct world_config c;
	struct trial s;

	(void)state;
	trial_config(&c, "4x4", 7);
	trial_begin(&s, &c);
	trial_power_all(&s);
	world_run(s.w, 5 * SEC);
	world_move(s.w, world_root(s.w), 2);
	world_run(s.w, 5 * SEC);
	assert_int_equal(world_root(s.w), 2);
	world_power(s.w, 2, false);
	world_bootstrap(s.w, 0, false);
	world_bootstrap(s.w, 2, true);
	for (uint32_t i = 0; i < 16; i++) {
		if (i != 2) {
			world_priority(s.w, i, 0);
			world_manager(s.w, i, false);
		}
		world_wipe(s.w, i);
	}
	world_run(s.w, 2 * SEC);
	for (uint32_t i = 0; i < 16; i++)
		if (i != 2)
			world_manager(s.w, i, true);
	world_guid(s.w, 2, 0x777005);
	world_power(s.w, 2, true);
	world_run(s.w, INSISTS - SEC);
	assert_true(trial_problem(&s, "root", "is not of the fabric"));
	world_run(s.w, INSISTS);
	assert_false(trial_problem(&s, "root", "is not of the fabric"));
	assert_int_equal(nodes_of(&s, 2), 16);
	end(&s);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_beside_foreign_fabric_waits_for_its_own),
		cmocka_unit_test(node_joins_foreign_fabric_when_its_own_is_gone),
		cmocka_unit_test(nodes_follow_replaced_root_without_place),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
