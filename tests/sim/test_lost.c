// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number that last_recovery gives as lost after deaths is that of the packets that died: as the
 * receiving NICs count it, and as the checker does, which follows each packet. After the death of
 * members, of the root, of two at once, of one more during the recovery, and of a member with
 * cables cut during the recovery. Packets from and to dead nodes are not counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ends.h"

static struct trial s;
static uint64_t total;		/* packets that died in all worlds of a test */

/* All packets have sequence numbers, so that receivers miss those that die. */
static void begin(const char *shape, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = false;
	c.vanish = true;
	c.member_max = 300 * MS;
	c.link_latency = 50 * US;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	s.sparing = true;
	trial_traffic(&s, 15 * US);
	world_run(s.w, 10 * MS);
}

/*
 * Stops the frames that these nodes send on two of their cables, so that packets that they
 * accept on others are in their NICs when they lose their power.
 */
static void fill(uint64_t mask)
{
	uint32_t ndims = world_config(s.w)->shape.ndims;

	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		for (uint32_t d = 0; d < 2 && mask & 1ull << i; d++)
			world_silence(s.w, i * ndims + d, true);
	world_run(s.w, 300 * US);
}

/* Nodes of @mask have lost their power. All recoveries from that have ended. */
static void look(const char *what, uint64_t mask)
{
	uint64_t died = check_flow_died(s.flow), counted = 0, reported = 0;
	uint32_t root = ends_leader(s.w, TORUS_NO_NODE);

	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (!(mask & 1ull << i))
			counted += tn_nic_counters(world_nic(s.w, i))[TORUS_NC_LOST];
	if (root == TORUS_NO_NODE)
		trial_fail(&s, "nobody leads");
	else
		reported = fm_last(world_fm(s.w, root))->lost;
	if (counted != died)
		trial_fail(&s, "the NICs count %llu packets as lost, and %llu died",
			   (unsigned long long)counted, (unsigned long long)died);
	if (reported != died)
		trial_fail(&s, "last_recovery says that %llu packets were lost, and %llu died",
			   (unsigned long long)reported, (unsigned long long)died);
	total += died;
	if (!trial_end(&s))
		fail_msg("%s: %s", what, s.wrong);
}

static void die(const char *what, const char *shape, uint64_t mask, uint64_t seed)
{
	begin(shape, seed);
	fill(mask);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (mask & 1ull << i)
			world_power(s.w, i, false);
	trial_run(&s, 3 * SEC);
	look(what, mask);
}

static void losses_of_dead_member_are_counted(void **state)
{
	(void)state;
	total = 0;
	for (uint64_t seed = 1; seed <= 3; seed += trial_every())
		die("a member", seed % 2 ? "4x4" : "3x3x2", 1ull << (1 + 2 * seed), seed);
	assert_int_not_equal(total, 0);
}

static void losses_of_dead_root_are_counted(void **state)
{
	(void)state;
	total = 0;
	for (uint64_t seed = 1; seed <= 3; seed += trial_every())
		die("the root", seed % 2 ? "4x4" : "3x3x2", 1, seed);
	assert_int_not_equal(total, 0);
}

/* Two members die that are neighbours or not, or the root and one more node. */
static void losses_of_two_dead_nodes_are_counted(void **state)
{
	static const uint64_t masks[] = { 1 << 10 | 1 << 5, 1 << 10 | 1 << 6, 1 | 1 << 9, 1 | 1 << 1 };

	(void)state;
	total = 0;
	for (unsigned int k = 0; k < sizeof(masks) / sizeof(masks[0]); k += trial_every())
		die("two at once", "4x4", masks[k], 1 + k);
	assert_int_not_equal(total, 0);
}

/* The second one dies at some step of the recovery from the death of the first. */
static void losses_of_death_in_recovery_are_counted(void **state)
{
	uint64_t mask = 1 << 5 | 1 << 10;

	(void)state;
	total = 0;
	for (unsigned int step = STEP_TABLE; step < STEPS; step += trial_every()) {
		begin("4x4", step);
		/* Nothing is replayed before the silent cables of a node that lives are noticed. */
		fill(step < STEP_REPLAY ? mask : 1 << 5);
		world_power(s.w, 5, false);
		for (unsigned int i = 0; i < 20000 && trial_step(&s) != step; i++)
			world_run(s.w, 5 * US);
		assert_int_equal(trial_step(&s), step);
		world_power(s.w, 10, false);
		trial_run(&s, 2 * SEC);
		look("one in the recovery from another", mask);
	}
	assert_int_not_equal(total, 0);
}

/* Runs until packets are replayed by a version after @version. Return: that. */
static uint64_t await_replay(uint64_t version)
{
	const struct fm *root = world_fm(s.w, 0);

	for (unsigned int i = 0; i < 20000; i++) {
		if (trial_step(&s) == STEP_REPLAY && fm_version(root) > version)
			return fm_version(root);
		world_run(s.w, 5 * US);
	}
	fail_msg("nothing is replayed after version %llu", (unsigned long long)version);
	return 0;
}

/*
 * A cable is cut while packets are replayed, and one more when they are again. Each time the
 * network had been drained before, so at the end it is known of all colours how many packets are
 * missing. How many of them the death took is not known from that.
 */
static void losses_are_counted_despite_cuts_in_recovery(void **state)
{
	(void)state;
	total = 0;
	for (uint64_t seed = 1; seed <= 2; seed += trial_every()) {
		uint64_t version;

		begin("4x4", seed);
		version = fm_version(world_fm(s.w, 0));
		fill(1 << 5);
		world_power(s.w, 5, false);
		version = await_replay(version);
		world_cut(s.w, 2 * 10, true);
		version = await_replay(version);
		world_cut(s.w, 2 * 2, true);
		trial_run(&s, 2 * SEC);
		look("cuts in the recovery from a death", 1 << 5);
	}
	assert_int_not_equal(total, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_of_dead_member_are_counted),
		cmocka_unit_test(losses_of_dead_root_are_counted),
		cmocka_unit_test(losses_of_two_dead_nodes_are_counted),
		cmocka_unit_test(losses_of_death_in_recovery_are_counted),
		cmocka_unit_test(losses_are_counted_despite_cuts_in_recovery),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
