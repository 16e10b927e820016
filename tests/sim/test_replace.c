// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node is replaced by another one under traffic: same place and cables, another GUID, no memory
 * and an empty disk; its name is that of the old one, or another. It may come at once or after
 * seconds, before or after the old one counts as dead, and the root may be the one that goes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "trial.h"
#include "tests/unit/random.h"
#include "tools/fabricsim/world_impl.h"

#define SEEDS 60

static struct trial s;

static void begin(const char *shape, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = seed % 3 == 0;
	c.vanish = seed / 2 % 2;
	trial_begin(&s, &c);
	s.sparing = true;
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, 200 * US);
	trial_run(&s, 10 * MS);
}

/*
 * Return: a GUID for a new NIC. @higher: above all others, else below them: of the nodes without a
 * place, the one of the lowest GUID asks to be root.
 */
static uint64_t new_guid(uint64_t *random, bool higher)
{
	return higher ? ~random_below(random, 1000) : 1 + random_below(random, 0x6000);
}

static void replace(uint32_t node, uint64_t *random)
{
	uint64_t guid = new_guid(random, random_below(random, 2));
	char name[16];

	world_power(s.w, node, false);
	trial_run(&s, trial_some_time(random, 100 * US, 5));
	world_wipe(s.w, node);
	world_guid(s.w, node, guid);
	snprintf(name, sizeof(name), "new%u", node);
	if (random_below(random, 2))
		world_name(s.w, node, name);
	world_power(s.w, node, true);
}

/*
 * Checks that all nodes have their places in the table of the root, under their GUIDs, and that no
 * problem is left.
 */
static void in_place(uint64_t seed)
{
	const struct fm *root = world_fm(s.w, world_root(s.w));

	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		const struct fm_entry *e = fm_node(root, i);

		if (!e || e->state != FM_NODE_UP || e->guid != s.w->node[i].guid)
			fail_msg("seed %llu: node %u is not up in the table, or another one is",
				 (unsigned long long)seed, i);
	}
	/* Candidates are judged later (ranks.c). */
	trial_run(&s, 200 * MS);
	if (trial_problem(&s, "node", "") || trial_problem(&s, "name", "") ||
	    trial_problem(&s, "bootstrap", ""))
		fail_msg("seed %llu: a problem of a node is left", (unsigned long long)seed);
}

static void one(uint64_t seed, const char *shape, unsigned int times, bool root_too)
{
	uint64_t random = seed;

	begin(shape, seed);
	for (unsigned int i = 0; i < times; i++) {
		uint32_t n = world_nodes(s.w);

		replace(root_too && !i ? world_root(s.w) : random_below(&random, n), &random);
		trial_run(&s, trial_some_time(&random, MS, 2));
	}
	trial_rest(&s, 20 * SEC);
	in_place(seed);
	if (!trial_end(&s))
		fail_msg("seed %llu: %s", (unsigned long long)seed, s.wrong);
}

static void replaced_nic_takes_place_of_old_one(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		one(seed, seed % 2 ? "3x3" : "4x2x2", 1, false);
}

static void replaced_nic_of_root_takes_its_place(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		one(1000 + seed, seed % 2 ? "3x3" : "4x2x2", 1, true);
}

/* Several NICs are replaced, some of them twice, or again before the new one has joined. */
static void several_replaced_nics_take_their_places(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		one(2000 + seed, seed % 2 ? "2x2" : "4x3", 3, seed % 4 == 0);
}

/* A NIC with an excluded port is replaced: the exclusion belongs to the place, so it stays. */
static void exclusions_stay_at_place_of_replaced_nic(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += 10 * trial_every()) {
		uint64_t random = seed;

		begin("3x3", 3000 + seed);
		assert_int_equal(trial_exclude(&s, 4, 0, true), 0);
		trial_rest(&s, 10 * SEC);
		replace(4, &random);
		trial_rest(&s, 20 * SEC);
		if (!(fm_node(world_fm(s.w, world_root(s.w)), 4)->admin & 1))
			fail_msg("seed %llu: the exclusion is lost", (unsigned long long)seed);
		assert_int_equal(trial_exclude(&s, 4, 0, false), 0);
		trial_rest(&s, 10 * SEC);
		if (!trial_end(&s))
			fail_msg("seed %llu: %s", (unsigned long long)seed, s.wrong);
	}
}

/*
 * The NIC of the node with the bootstrap flag is replaced while another node leads, which has
 * received messages of both the old NIC and the new one.
 */
static void replaced_marked_node_joins(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += 5 * trial_every()) {
		uint64_t random = seed;

		begin("3x3", 5000 + seed);
		assert_int_equal(world_move(s.w, 0, 1), 0);
		trial_run(&s, SEC);
		trial_rest(&s, 10 * SEC);
		assert_int_equal(world_root(s.w), 1);
		replace(0, &random);
		trial_rest(&s, 20 * SEC);
		in_place(seed);
		if (!trial_end(&s))
			fail_msg("seed %llu: %s", (unsigned long long)seed, s.wrong);
	}
}

/*
 * The NIC of the node with the bootstrap flag is replaced, and the service network does not lead
 * to the new one. The node leads as the first root until it hears the other root, and never again:
 * otherwise its neighbours would close the links to it each time, and open them again. As soon as
 * the service network leads there, the node has its place.
 */
static void marked_node_replaced_apart_joins(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += 5 * trial_every()) {
		uint64_t random = seed;

		begin("3x3", 6000 + seed);
		assert_int_equal(world_move(s.w, 0, 1), 0);
		trial_run(&s, SEC);
		trial_rest(&s, 10 * SEC);
		world_partition(s.w, 1);
		replace(0, &random);
		trial_run(&s, SEC);
		world_counts(s.w);
		for (unsigned int i = 0; i < 1000; i++) {
			if (fm_is_root(world_fm(s.w, 0)))
				fail_msg("seed %llu: it leads again", (unsigned long long)seed);
			trial_run(&s, 10 * MS);
		}
		if (fm_epoch(world_fm(s.w, 0)) > fm_epoch(world_fm(s.w, 1)) ||
		    world_counts(s.w).versions)
			fail_msg("seed %llu: it disturbs the root", (unsigned long long)seed);
		world_partition(s.w, 0);
		trial_rest(&s, 20 * SEC);
		in_place(seed);
		if (!trial_end(&s))
			fail_msg("seed %llu: %s", (unsigned long long)seed, s.wrong);
	}
}

static void cut_cables(uint32_t node)
{
	for (uint32_t i = 0; i < world_cables(s.w); i++) {
		const struct cable *c = &s.w->cable[i];

		if (world_cable_there(s.w, i) && (c->node[0] == node || c->node[1] == node))
			world_cut(s.w, i, true);
	}
}

/*
 * A root without cables is replaced. The others reach the new one by the service network alone, at
 * the address of the former root. It leads itself, and they need a root that is one of them.
 */
static void replaced_cut_off_root_joins(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += 4 * trial_every()) {
		uint64_t random = seed;
		uint32_t node;

		begin(seed / 4 % 2 ? "3x3" : "4x2x2", 4000 + seed);
		node = world_root(s.w);
		cut_cables(node);
		trial_rest(&s, 10 * SEC);
		replace(node, &random);
		trial_run(&s, 10 * SEC);
		for (uint32_t i = 0; i < world_nodes(s.w); i++) {
			const struct fm *fm = world_fm(s.w, i);

			if (i == node)
				continue;
			if (!fm_reachable(fm))
				fail_msg("seed %llu: node %u has no root",
					 (unsigned long long)seed, i);
			if (fm_node(fm, i)->state != FM_NODE_UP)
				fail_msg("seed %llu: node %u is not up in its table",
					 (unsigned long long)seed, i);
		}
		if (!trial_end(&s))
			fail_msg("seed %llu: %s", (unsigned long long)seed, s.wrong);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(replaced_nic_takes_place_of_old_one),
		cmocka_unit_test(replaced_nic_of_root_takes_its_place),
		cmocka_unit_test(several_replaced_nics_take_their_places),
		cmocka_unit_test(exclusions_stay_at_place_of_replaced_nic),
		cmocka_unit_test(replaced_marked_node_joins),
		cmocka_unit_test(marked_node_replaced_apart_joins),
		cmocka_unit_test(replaced_cut_off_root_joins),
	};

	return cmocka_run_group_tests_name("replace", all, NULL, NULL);
}
