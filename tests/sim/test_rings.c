// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of two and three nodes, in which each node ends in each way at each step of a recovery.
 * The right node leads then, the former root joins as a member when it continues, and no packet is
 * lost but those that were in a NIC without power. One of two nodes is no majority.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ends.h"

#define TAKEOVER (3 * SEC)

static struct trial s;
static char name[100];		/* name of the scenario */

static void begin(uint32_t nodes, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, nodes == 2 ? "2" : "3", seed);
	c.discover = seed % 2;
	c.vanish = true;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	s.sparing = true;
	s.none_late = true;
	trial_traffic(&s, 40 * US);
	world_run(s.w, 5 * MS);
}

/* Cuts a cable, unless @step is STEP_REST. Return: whether the recovery came to @step. */
static bool reach(enum trial_step step)
{
	if (step != STEP_REST)
		world_cut(s.w, 0, true);
	for (unsigned int i = 0; i < 4000 && trial_step(&s) != step; i++)
		world_run(s.w, 2 * US);
	return trial_step(&s) == step;
}

/* Checks who leads after @node has ended. Return: the node that leads now, or TORUS_NO_NODE. */
static uint32_t look_who_leads(uint32_t node, enum ending end)
{
	uint32_t root;

	if (node) {
		trial_run(&s, 1 * SEC);
		root = ends_leader(s.w, TORUS_NO_NODE);
		if (root)
			trial_fail(&s, "node 0 does not lead any more");
	} else if (world_nodes(s.w) == 2 && end != POWER) {
		trial_run(&s, TAKEOVER);
		root = ends_leader(s.w, TORUS_NO_NODE);
		if (root != TORUS_NO_NODE)
			trial_fail(&s, "half of the nodes have a root");
	} else {
		/* Half of two nodes are no majority: they wait for member_max more. */
		root = ends_await(&s, 0, (world_nodes(s.w) == 2 ? 2 : 1) * TAKEOVER);
		if (root == TORUS_NO_NODE)
			trial_fail(&s, "nobody leads");
	}
	return root;
}

/*
 * Checks what becomes of @node, which goes on: if @root led meanwhile, it still leads, and @node
 * is a member.
 */
static void look_who_joins(uint32_t node, uint32_t root)
{
	const struct fm *fm;

	trial_run(&s, 20 * MS);
	if (root != TORUS_NO_NODE && ends_leader(s.w, root) != TORUS_NO_NODE)
		trial_fail(&s, "node %u leads beside node %u", ends_leader(s.w, root), root);
	trial_rest(&s, 20 * SEC);
	if (root == TORUS_NO_NODE)
		return;
	fm = world_fm(s.w, node);
	if (fm_is_root(fm) || !fm_reachable(fm) || fm_epoch(fm) != fm_epoch(world_fm(s.w, root)))
		trial_fail(&s, "node %u is no member of node %u", node, root);
}

static bool at(uint32_t nodes, uint32_t node, enum ending end, enum trial_step step)
{
	uint32_t root;
	bool met;

	snprintf(name, sizeof(name), "ring of %u: node %u %s at step %u", nodes, node,
		 end_names[end], step);
	begin(nodes, 1 + step + node);
	met = reach(step);
	end_node(s.w, node, end);
	root = look_who_leads(node, end);
	trial_run(&s, 500 * MS);
	end_undo(s.w, node, end);
	look_who_joins(node, root);
	if (ends_roots(s.w) != 1)
		trial_fail(&s, "%u roots", ends_roots(s.w));
	if (end != POWER && check_flow_counted(s.flow, TORUS_NC_LOST))
		trial_fail(&s, "packets are lost, though no NIC was");
	if (!trial_end(&s))
		fail_msg("%s: %s", name, s.wrong);
	return met;
}

static void ring(uint32_t nodes)
{
	for (unsigned int step = STEP_REST; step < STEPS; step++) {
		unsigned int met = 0;

		for (uint32_t k = step % trial_every(); k < nodes * ENDS; k += trial_every())
			met += at(nodes, k / ENDS, (enum ending)(k % ENDS), (enum trial_step)step);
		/* Two nodes are drained as soon as both have the rows. */
		if (!met && trial_every() == 1 && (nodes > 2 || step != STEP_DRAIN))
			fail_msg("%s: never reached", name);
	}
}

static void ring_of_two_survives_end_of_node_at_each_step(void **state)
{
	(void)state;
	ring(2);
}

static void ring_of_three_survives_end_of_node_at_each_step(void **state)
{
	(void)state;
	ring(3);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_of_two_survives_end_of_node_at_each_step),
		cmocka_unit_test(ring_of_three_survives_end_of_node_at_each_step),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
