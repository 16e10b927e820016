// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes die under traffic, with packets in them. The root must prove that no packet of an old
 * table is left in the network, instead of waiting until the sums do not move any more
 * (drain_max). check_drain.c checks each proof packet by packet, here and in all trials.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "trial.h"
#include "tests/unit/random.h"

#define SEEDS 4

static struct trial s;
static uint64_t seen;		/* version of the last recovery that ended */
/* recoveries that ended with proof, and those that ended by drain_max */
static unsigned int proven, bounded;

/*
 * Counts the recoveries that end within @ns. Once there has been none for 20 ms, nodes send less,
 * which saves simulation time, until shortly before the end.
 */
static void watch(uint64_t ns)
{
	uint64_t end = world_now(s.w) + ns, busy = world_now(s.w);
	bool calm;

	while (world_now(s.w) < end) {
		const struct fm_recovery *last;

		if (trial_step(&s) != STEP_REST)
			busy = world_now(s.w);
		calm = world_now(s.w) - busy > 20 * MS && end - world_now(s.w) > 10 * MS;
		world_traffic(s.w, calm ? 4 * MS : s.interval);
		world_run(s.w, 50 * US);
		last = world_fm(s.w, world_root(s.w)) ? fm_last(world_fm(s.w, world_root(s.w))) : NULL;
		if (!last || last->version == seen)
			continue;
		seen = last->version;
		proven += !last->bounded;
		bounded += last->bounded;
	}
}

static void begin(const char *shape, uint64_t seed, uint64_t traffic)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = false;
	c.member_max = 500 * MS;
	c.vanish = seed / 2 % 2;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, traffic);
	world_run(s.w, 10 * MS);
	seen = fm_last(world_fm(s.w, 0))->version;
	proven = bounded = 0;
}

/* Ends a trial. @why: why some recoveries may end without proof; NULL if none may */
static void end(uint64_t seed, const char *why)
{
	bool ended = proven && (why || !bounded);
	unsigned int p = proven, b = bounded;

	if (!trial_end(&s))
		fail_msg("seed %llu: %s", (unsigned long long)seed, s.wrong);
	if (!ended)
		fail_msg("seed %llu: %u recoveries with proof, %u without",
			 (unsigned long long)seed, p, b);
}

static void dead_node_loses_only_its_packets(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		begin(seed % 2 ? "4x4" : "3x3x3", seed, 20 * US);
		world_power(s.w, 1 + (uint32_t)seed, false);
		watch(200 * MS);
		end(seed, NULL);
	}
}

/* Neighbours die together: then no node knows what one had accepted from the other. */
static void several_dead_nodes_lose_only_their_packets(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		uint64_t random = seed;

		begin("4x4x2", seed, 30 * US);
		for (uint32_t k = 0; k < 2 + seed % 3; k++)
			world_power(s.w, 1 + (uint32_t)seed + k, false);
		world_power(s.w, 1 + random_below(&random, 31), false);
		watch(800 * MS);
		end(seed, NULL);
	}
}

/* Runs until the recovery that was begun is at @step. */
static void until(enum trial_step step, uint64_t seed)
{
	for (uint64_t end = world_now(s.w) + 1 * SEC; trial_step(&s) != step;) {
		watch(10 * US);
		if (world_now(s.w) > end)
			fail_msg("seed %llu: no step %u", (unsigned long long)seed, step);
	}
}

/* A second node dies at each step of the recovery from the first death. */
static void second_node_dies_at_each_step(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2 * SEEDS; seed += trial_every()) {
		enum trial_step step = (enum trial_step)(STEP_TABLE + seed % (STEPS - STEP_TABLE));

		begin("4x3", seed, 40 * US);
		world_power(s.w, 5, false);
		until(step, seed);
		world_power(s.w, 7, false);
		watch(300 * MS);
		end(seed, NULL);
	}
}

/* A dead node comes back with a new NIC, before and at each step of its recovery. */
static void node_back_with_new_nic_loses_no_other_packets(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2 * SEEDS; seed += trial_every()) {
		enum trial_step step = (enum trial_step)(STEP_REST + seed % (STEPS - STEP_REST));

		begin("4x3", seed, 40 * US);
		world_power(s.w, 5, false);
		until(step, seed);
		world_power(s.w, 5, true);
		watch(1500 * MS);
		end(seed, "the node may be back without taking part yet");
	}
}

/* A node that lives is cut off with its packets, and joins again with its old counters. */
static void cut_off_node_joins_with_old_counters(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		begin("4x4", seed, 40 * US);
		for (uint32_t c = 0; c < world_cables(s.w); c++)
			if (c / 2 == 10 || c == 2 * 6 || c == 2 * 9 + 1 || c == 2 * 9 ||
			    c == 2 * 6 + 1)
				world_cut(s.w, c, true);
		world_manager(s.w, 10, false);
		watch(300 * MS);
		world_manager(s.w, 10, true);
		for (uint32_t c = 0; c < world_cables(s.w); c++)
			world_cut(s.w, c, false);
		watch(300 * MS);
		end(seed, "its manager was away");
	}
}

/* A ring is split; the part without the root loses its managers, too. */
static void part_of_split_ring_loses_its_managers_too(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		begin("9", seed, 40 * US);
		world_cut(s.w, 2, true);
		world_cut(s.w, 6, true);
		for (uint32_t i = 3; i <= 6; i++)
			world_manager(s.w, i, false);
		watch(800 * MS);
		end(seed, NULL);
	}
}

/* Cuts cables until some row names a relay other than the root. Return: that relay. */
static uint32_t need_relay(uint64_t *random)
{
	uint32_t relay = 0;

	for (unsigned int cuts = 0; !relay; cuts++) {
		assert_true(cuts < world_cables(s.w));
		world_cut(s.w, random_below(random, world_cables(s.w)), true);
		watch(100 * MS);
		trial_relays(&world_config(s.w)->shape, fm_exclusions(world_fm(s.w, 0)), random,
			     &relay);
	}
	return relay;
}

/* A relay dies, with the packets in its memory. */
static void dead_relay_loses_only_its_packets(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		uint64_t random = seed;
		uint32_t relay;

		begin("4x4", seed, 40 * US);
		relay = need_relay(&random);
		proven = bounded = 0;
		world_power(s.w, relay, false);
		watch(600 * MS);
		end(seed, NULL);
	}
}

/* A cable is cut and no node dies: all recoveries end with proof. */
static void cut_without_death_ends_with_proof(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		begin("4x4", seed, 20 * US);
		world_cut(s.w, (uint32_t)seed * 3, true);
		watch(50 * MS);
		end(seed, NULL);
	}
}

/* An argument names the one test to run. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dead_node_loses_only_its_packets),
		cmocka_unit_test(several_dead_nodes_lose_only_their_packets),
		cmocka_unit_test(second_node_dies_at_each_step),
		cmocka_unit_test(node_back_with_new_nic_loses_no_other_packets),
		cmocka_unit_test(cut_off_node_joins_with_old_counters),
		cmocka_unit_test(part_of_split_ring_loses_its_managers_too),
		cmocka_unit_test(dead_relay_loses_only_its_packets),
		cmocka_unit_test(cut_without_death_ends_with_proof),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
