// SPDX-License-Identifier: GPL-2.0-only
/*
 * Machines that stand still: NICs and managers get no processor time for a while, and lose links
 * to nodes that live. No node died, so no packet may be lost, and no root may call a node dead:
 * then nothing is excused by that, and packets to it do not come back as unreachable. Limit: a
 * root that goes on while others stand still makes a table without their links, in which no row
 * leads to nodes that are cut off by that. Packets to these come back until their links are up
 * again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "trial.h"
#include "tests/unit/random.h"

#define SEEDS 2

static struct trial s;

static void begin(const char *shape, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = false;
	c.vanish = true;
	trial_begin(&s, &c);
	s.sparing = true;
	s.none_late = true;
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, 200 * US);
	trial_run(&s, 20 * MS);
}

/* Ends a trial. @all: no manager went on while others stood still, so no packet may come back */
static void end(const char *shape, uint64_t seed, bool all)
{
	uint64_t returned = check_flow_returned(s.flow);

	if (all && returned)
		trial_fail(&s, "%llu packets came back as unreachable",
			   (unsigned long long)returned);
	if (!trial_end(&s))
		fail_msg("%s, seed %llu: %s", shape, (unsigned long long)seed, s.wrong);
}

/* Checks that no root has a dead node in its table. */
static void check_none_dead(void)
{
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		const struct fm *fm = world_fm(s.w, i);

		for (uint32_t k = 0; fm && fm_is_root(fm) && k < world_nodes(s.w); k++)
			if (fm_node(fm, k) && fm_node(fm, k)->state == FM_NODE_DEAD)
				trial_fail(&s, "root %u calls node %u dead", i, k);
	}
}

static void run(uint64_t ns)
{
	uint64_t end = world_now(s.w) + ns;

	while (world_now(s.w) < end) {
		trial_run(&s, end - world_now(s.w) < 10 * MS ? end - world_now(s.w) : 10 * MS);
		check_none_dead();
	}
}

/* Stops all nodes of @n for @ns, and then lets them go on one after the other, in random order. */
static void pause_nodes(const uint32_t *node, uint32_t n, uint64_t ns, uint64_t gap,
			uint64_t *random)
{
	uint32_t order[64];

	assert_true(n <= 64);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = random_below(random, i + 1);

		order[i] = order[k];
		order[k] = node[i];
		world_pause(s.w, node[i], true);
	}
	run(ns);
	for (uint32_t i = 0; i < n; i++) {
		world_pause(s.w, order[i], false);
		run(gap);
	}
}

static void pause_all(const char *shape, uint64_t ns, uint64_t gap)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		uint32_t node[64];
		uint64_t random = seed;

		begin(shape, seed);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			node[i] = i;
		pause_nodes(node, world_nodes(s.w), ns, gap, &random);
		run(8 * SEC);
		end(shape, seed, !gap);
	}
}

static void no_node_is_dead_after_pause_of_all(void **state)
{
	(void)state;
	pause_all("3x3", 600 * MS, 0);
	pause_all("3x3", 1500 * MS, 0);
	pause_all("3x3", 2500 * MS, 0);
	pause_all("4x2", 4 * SEC, 0);
}

static void no_node_is_dead_after_pauses_one_by_one(void **state)
{
	(void)state;
	pause_all("3x3", 1500 * MS, 20 * MS);
	pause_all("3x3", 2500 * MS, 30 * MS);
	pause_all("4x2", 4 * SEC, 30 * MS);
	if (trial_every() > 1)
		return;
	pause_all("3x3", 1500 * MS, 150 * MS);
	pause_all("3x3", 2500 * MS, 200 * MS);
	pause_all("3", 2500 * MS, 300 * MS);
	pause_all("2", 2500 * MS, 500 * MS);
}

/* The others are more than half with or without the root; but they lose all links to it. */
static void no_node_is_dead_after_pause_of_majority(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		uint32_t node[64], n = 0;
		uint64_t random = seed;

		begin("3x3", seed);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			if (i != world_root(s.w) && i != 1 + seed % 8)
				node[n++] = i;
		pause_nodes(node, n, 1500 * MS, 20 * MS, &random);
		run(8 * SEC);
		end("3x3", seed, false);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_node_is_dead_after_pause_of_all),
		cmocka_unit_test(no_node_is_dead_after_pauses_one_by_one),
		cmocka_unit_test(no_node_is_dead_after_pause_of_majority),
	};

	return cmocka_run_group_tests_name("pause", tests, NULL, NULL);
}
