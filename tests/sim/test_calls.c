// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes to which all cables lead through NICs with hung managers. The wave of Inits does not come
 * to them, so a node that asks to be root calls them over the service network (root/calls.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ends.h"

#define TAKEOVER (3 * SEC)
#define BIT(n) (1ULL << (n))

static struct trial s;

static void begin(const char *shape, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.vanish = true;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	s.sparing = true;
	trial_traffic(&s, 300 * US);
	world_run(s.w, 5 * MS);
}

static void hang(uint64_t nodes, bool hung)
{
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (nodes & BIT(i))
			world_hang(s.w, i, hung);
}

/* Return: a node that leads and is not in @but; or TORUS_NO_NODE. */
static uint32_t leader(uint64_t but)
{
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (!(but & BIT(i)) && world_managed(s.w, i) && fm_is_root(world_fm(s.w, i)))
			return i;
	return TORUS_NO_NODE;
}

static uint32_t taken_over(uint64_t but, const char *what)
{
	uint64_t limit = world_now(s.w) + TAKEOVER;

	while (world_now(s.w) < limit && leader(but) == TORUS_NO_NODE)
		trial_run(&s, 10 * MS);
	if (leader(but) == TORUS_NO_NODE) {
		trial_fail(&s, "%s: nobody leads", what);
		return 0;
	}
	return leader(but);
}

/* Checks that all nodes but those of @away have the table of the root, and are up in it. */
static void all_follow(uint64_t away, const char *what)
{
	uint32_t root = leader(away);

	for (uint32_t i = 0; i < world_nodes(s.w) && root != TORUS_NO_NODE; i++) {
		const struct fm_entry *e = fm_node(world_fm(s.w, root), i);

		if (away & BIT(i))
			continue;
		if (!fm_reachable(world_fm(s.w, i)) || fm_version(world_fm(s.w, i)) != fm_version(world_fm(s.w, root)))
			trial_fail(&s, "%s: node %u does not follow root %u", what, i, root);
		else if (!e || e->state != FM_NODE_UP)
			trial_fail(&s, "%s: node %u is not up", what, i);
	}
}

/* Return: true if a node that asks has called a node that does not answer. */
static bool calls_in_vain(void)
{
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		struct fm_status st;

		if (!world_managed(s.w, i))
			continue;
		fm_status(world_fm(s.w, i), &st);
		if (st.root.calls.called > st.root.calls.follow + st.root.calls.others)
			return true;
	}
	return false;
}

static void finish(const char *what, uint64_t seed)
{
	if (!trial_end(&s))
		fail_msg("%s, seed %llu: %s", what, (unsigned long long)seed, s.wrong);
}

/*
 * The managers of @hung hang, and the root ends: another one leads soon, and all that live follow
 * it.
 */
static void around(const char *shape, uint64_t hung, enum ending end, uint64_t seed)
{
	char what[100];
	uint32_t root;

	snprintf(what, sizeof(what), "%s, hung %llx, end %u", shape, (unsigned long long)hung, end);
	begin(shape, seed);
	hang(hung, true);
	end_node(s.w, 0, end);
	root = taken_over(hung | BIT(0), what);
	trial_run(&s, 3 * SEC);
	all_follow(hung | BIT(0), what);
	/* A cable between two that live is lost: flows move on. */
	world_cut(s.w, root * world_config(s.w)->shape.ndims, true);
	trial_run(&s, 1 * SEC);
	hang(hung, false);
	end_undo(s.w, 0, end);
	trial_rest(&s, 20 * SEC);
	if (world_root(s.w) != root)
		trial_fail(&s, "%s: node %u leads, and no more node %u", what, world_root(s.w), root);
	finish(what, seed);
}

/*
 * Node 3 is between 2 and 4, and 1 between 2 and the root; without both of them there is no
 * majority.
 */
static void calls_reach_node_between_hanging_ones(void **state)
{
	(void)state;
	for (unsigned int end = 0; end < ENDS; end++)
		for (uint64_t seed = 1; seed <= 3; seed += trial_every())
			around("8", BIT(2) | BIT(4), (enum ending)end, seed);
}

/*
 * The managers of all nodes whose coordinates have an odd sum hang, but for two: nine of 16 live,
 * and most of them have no neighbour that lives.
 */
static void calls_cross_nodes_without_managers(void **state)
{
	(void)state;
	for (unsigned int end = 0; end < ENDS; end++)
		for (uint64_t seed = 1; seed <= 2; seed += trial_every())
			around("4x4", BIT(1) | BIT(3) | BIT(4) | BIT(6) | BIT(9) | BIT(12),
			       (enum ending)end, seed);
}

/*
 * Node 10 and all its neighbours hang: no manager that answers reports node 10. Its NIC works on,
 * so it is not dead, and its traffic goes on. The same in a ring, with three in a row.
 */
static void all_around(const char *shape, uint64_t hung, enum ending end, uint64_t seed)
{
	uint32_t root;

	begin(shape, seed);
	hang(hung, true);
	end_node(s.w, 0, end);
	root = taken_over(hung | BIT(0), "all around hang");
	trial_run(&s, 3 * SEC);
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		const struct fm_entry *e = fm_node(world_fm(s.w, root), i);

		if (hung & BIT(i) && (!e || e->state != FM_NODE_SILENT))
			trial_fail(&s, "node %u hangs, and is in state %u", i, e ? e->state : 0);
	}
	hang(hung, false);
	end_undo(s.w, 0, end);
	trial_rest(&s, 20 * SEC);
	finish("all around hang", seed);
}

static void calls_do_not_wait_for_hung_nodes(void **state)
{
	(void)state;
	for (unsigned int end = 0; end < ENDS; end++) {
		all_around("4x4", BIT(6) | BIT(9) | BIT(10) | BIT(11) | BIT(14), (enum ending)end, 1);
		all_around("9", BIT(3) | BIT(4) | BIT(5), (enum ending)end, 2);
	}
}

/* Node 10 has lost its power, which no node can see as long as its neighbours hang. */
static void dead_node_among_hung_ones_does_not_prevent_root(void **state)
{
	const uint64_t hung = BIT(6) | BIT(9) | BIT(11) | BIT(14);
	uint32_t root;

	(void)state;
	begin("4x4", 8);
	hang(hung, true);
	world_power(s.w, 10, false);
	end_node(s.w, 0, KILL);
	root = taken_over(hung | BIT(10) | BIT(0), "a dead one among hung ones");
	trial_run(&s, 3 * SEC);
	hang(hung, false);
	trial_run(&s, 3 * SEC);
	if (fm_node(world_fm(s.w, root), 10)->state != FM_NODE_DEAD)
		trial_fail(&s, "node 10 is in state %u", fm_node(world_fm(s.w, root), 10)->state);
	world_power(s.w, 10, true);
	end_undo(s.w, 0, KILL);
	trial_rest(&s, 20 * SEC);
	finish("a dead one among hung ones", 8);
}

/*
 * The managers that hang surround a node that the majority does not need: it is still told which
 * root leads.
 */
static void surrounded_node_learns_root_without_being_needed(void **state)
{
	(void)state;
	around("4x4", BIT(6) | BIT(9) | BIT(11) | BIT(14), KILL, 1);
	around("4x4", BIT(6) | BIT(9) | BIT(11) | BIT(14), POWER, 2);
}

/* The node that is called hangs, too: there is no majority until it wakes. */
static void called_node_that_hangs_gives_no_majority(void **state)
{
	const uint64_t hung = BIT(2) | BIT(3) | BIT(4);
	bool reported = false;

	(void)state;
	begin("8", 5);
	hang(hung, true);
	end_node(s.w, 0, POWER);
	for (unsigned int i = 0; i < 80; i++) {
		trial_run(&s, 100 * MS);
		reported |= calls_in_vain();
	}
	if (leader(hung | BIT(0)) != TORUS_NO_NODE)
		trial_fail(&s, "four of eight have a root");
	if (!reported)
		trial_fail(&s, "nobody says that a call is not answered");
	hang(BIT(3), false);
	taken_over(BIT(2) | BIT(4) | BIT(0), "node 3 has woken");
	trial_run(&s, 3 * SEC);
	all_follow(BIT(2) | BIT(4) | BIT(0), "node 3 has woken");
	hang(hung, false);
	end_undo(s.w, 0, POWER);
	trial_rest(&s, 20 * SEC);
	finish("the one that is called hangs", 5);
}

/*
 * The service network has lost the called node, which cannot be reached until that is whole again.
 */
static void called_node_that_is_cut_off_gives_no_majority(void **state)
{
	const uint64_t hung = BIT(2) | BIT(4) | BIT(0);
	struct world_counts c;

	(void)state;
	begin("8", 6);
	hang(hung, true);
	world_partition(s.w, BIT(3));
	world_counts(s.w);
	trial_run(&s, 8 * SEC);
	c = world_counts(s.w);
	if (leader(hung) != TORUS_NO_NODE)
		trial_fail(&s, "four of eight have a root");
	if (c.messages > 4000)
		trial_fail(&s, "%llu messages in 8 s", (unsigned long long)c.messages);
	world_partition(s.w, 0);
	taken_over(hung, "the service network is whole");
	trial_run(&s, 3 * SEC);
	all_follow(hung, "the service network is whole");
	hang(hung, false);
	trial_rest(&s, 20 * SEC);
	finish("the one that is called is cut off", 6);
}

/*
 * A node loses the root over the service network, and asks to be root. The nodes that it calls
 * still receive from the root, and stay with it.
 */
static void called_nodes_with_living_root_stay_with_it(void **state)
{
	uint64_t epoch;

	(void)state;
	begin("8", 7);
	epoch = fm_epoch(world_fm(s.w, 0));
	hang(BIT(2) | BIT(4), true);
	world_one_way(s.w, 0, 1, true);
	world_one_way(s.w, 1, 0, true);
	trial_run(&s, 12 * SEC);
	if (leader(0) != 0 || fm_epoch(world_fm(s.w, 0)) != epoch || leader(BIT(0)) != TORUS_NO_NODE)
		trial_fail(&s, "the root was there, and node %u leads", leader(BIT(0)));
	world_one_way(s.w, 0, 1, false);
	world_one_way(s.w, 1, 0, false);
	hang(BIT(2) | BIT(4), false);
	trial_rest(&s, 20 * SEC);
	if (world_root(s.w) != 0)
		trial_fail(&s, "node %u leads", world_root(s.w));
	finish("the root lives", 7);
}

/*
 * Half of the managers of a long ring hang, so that calls bring a majority only after 3 s: the node
 * that asks goes on as long as more and more nodes take part. It once gave up after 2 s, and began
 * anew, for ever.
 */
static void calls_bring_majority_in_long_ring(void **state)
{
	struct world_config c;
	struct world *w;

	(void)state;
	world_config_default(&c);
	assert_int_equal(torus_shape_parse("256", &c.shape), 0);
	c.vanish = true;
	c.links_only = true;
	w = world_new(&c);
	for (uint32_t i = 0; i < world_nodes(w); i++)
		world_power(w, i, true);
	world_run(w, 8 * SEC);
	assert_true(world_settled(w));
	for (uint32_t i = 1; i < world_nodes(w) - 4; i += 2)
		world_hang(w, i, true);
	world_manager(w, 0, false);
	world_run(w, 6 * SEC);
	assert_int_not_equal(world_root(w), 0);
	assert_true(fm_is_root(world_fm(w, world_root(w))));
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(calls_reach_node_between_hanging_ones),
		cmocka_unit_test(calls_cross_nodes_without_managers),
		cmocka_unit_test(calls_do_not_wait_for_hung_nodes),
		cmocka_unit_test(dead_node_among_hung_ones_does_not_prevent_root),
		cmocka_unit_test(surrounded_node_learns_root_without_being_needed),
		cmocka_unit_test(called_node_that_hangs_gives_no_majority),
		cmocka_unit_test(called_node_that_is_cut_off_gives_no_majority),
		cmocka_unit_test(called_nodes_with_living_root_stay_with_it),
		cmocka_unit_test(calls_bring_majority_in_long_ring),
	};

	return cmocka_run_group_tests_name("calls", all, NULL, NULL);
}
