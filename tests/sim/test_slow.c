// SPDX-License-Identifier: GPL-2.0-only
/*
 * Managers whose NICs are slow, or fail at actions. Recoveries take longer then, but nothing is
 * lost or reordered, and no manager counts as hung.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "trial.h"
#include "tools/fabricsim/world_impl.h"

#define INITS_MAX 12		/* for a change, on each cable: see daemon/fm/node/bootstrap.c */
#define SLOW (500 * MS)	/* duration of each action */
#define FAULTS 12		/* cables cut or mended in a history */

static void start(struct trial *s, const char *shape, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = false;
	trial_begin(s, &c);
	trial_power_all(s);
	trial_rest(s, 10 * SEC);
	trial_traffic(s, 300 * US);
	s->sparing = true;
	world_run(s->w, 5 * MS);
}

static void end(struct trial *s, const char *what, uint64_t seed)
{
	if (trial_end(s))
		return;
	print_error("%s, seed %llu: %s\n", what, (unsigned long long)seed, s->wrong);
	fail();
}

/* Lets @ns pass. All nodes are up in the root's table, and have a way to the root, all the time. */
static void nobody_is_lost(struct trial *s, uint64_t ns)
{
	uint64_t until = world_now(s->w) + ns;

	while (world_now(s->w) < until) {
		trial_run(s, 50 * MS);
		for (uint32_t i = 0; i < world_nodes(s->w); i++) {
			assert_int_equal(fm_node(world_fm(s->w, 0), i)->state, FM_NODE_UP);
			assert_true(fm_reachable(world_fm(s->w, i)));
		}
	}
}

/* Return: number of management packets that the NIC of @node has sent from @port */
static uint64_t packets_of(struct world *w, uint32_t node, unsigned int port)
{
	return tn_nic_port_counters(w->node[node].nic, port, w->now)[TORUS_PC_MGMT_TX];
}

static void cut_and_mended(struct trial *s, uint32_t cable)
{
	world_cut(s->w, cable, true);
	nobody_is_lost(s, 15 * SEC);
	assert_true(world_settled(s->w));
	world_cut(s->w, cable, false);
	nobody_is_lost(s, 15 * SEC);
	assert_true(world_settled(s->w));
}

/*
 * One NIC is slow, node 5's or the root's, while a cable is cut and mended: cable 10 is node 5's,
 * cable 0 the root's, and cable 31 of neither.
 */
static void recovery_waits_for_one_slow_nic(void **state)
{
	static const uint32_t cables[] = { 10, 0, 31 }, slow[] = { 5, 0 };
	struct trial s;

	(void)state;
	for (unsigned int k = 0; k < 2; k += trial_every()) {
		start(&s, "4x4", 1 + k);
		world_slow(s.w, slow[k], SLOW, 0);
		for (unsigned int i = 0; i < 3; i += trial_every())
			cut_and_mended(&s, cables[i]);
		end(&s, "one slow NIC", 1 + k);
	}
}

/*
 * All NICs are slow. Their queues contain only one Init of each port, so actions of the recovery do
 * not wait long although Inits are repeated. Once they waited for so many repetitions that all
 * nodes lost the root.
 */
static void recovery_waits_for_all_slow_nics(void **state)
{
	struct trial s;

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed += trial_every()) {
		start(&s, "3x3", seed);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			world_slow(s.w, i, SLOW, 0);
		cut_and_mended(&s, 4);
		end(&s, "all NICs slow", seed);
	}
}

/* A slow NIC sends two of the packets for a port: the one in its queue, and the last one. */
static void slow_nic_sends_last_of_waiting_management_packets(void **state)
{
	uint64_t sent[2];
	struct trial s;
	void *io;

	(void)state;
	start(&s, "3x3", 6);
	trial_run(&s, 2 * SEC);
	io = fm_io(world_fm(s.w, 4));
	for (unsigned int p = 0; p < 2; p++)
		sent[p] = packets_of(s.w, 4, p);
	world_slow(s.w, 4, SLOW, 0);
	for (unsigned int k = 0; k < 5; k++)
		host_mgmt_send(io, 0, "no Init", 7);
	host_mgmt_send(io, 1, "no Init", 7);
	trial_run(&s, 10 * SLOW);
	assert_int_equal(packets_of(s.w, 4, 0) - sent[0], 2);
	assert_int_equal(packets_of(s.w, 4, 1) - sent[1], 1);
	/* None is left over when the manager starts again. */
	for (unsigned int k = 0; k < 2; k++)
		host_mgmt_send(io, 0, "no Init", 7);
	world_manager(s.w, 4, false);
	trial_run(&s, 10 * SLOW);
	assert_int_equal(packets_of(s.w, 4, 0) - sent[0], 2);
	end(&s, "packets that wait", 6);
}

/* Return: the most Inits that a cable has carried since @before, which becomes the present count */
static uint64_t most_inits(struct trial *s, uint64_t *before)
{
	const struct torus_shape *shape = &world_config(s->w)->shape;
	uint64_t most = 0;

	for (uint32_t i = 0; i < world_nodes(s->w); i++)
		for (unsigned int p = 0; p < shape->ndims; p++) {
			uint32_t peer = torus_neighbour(shape, i, p);
			uint64_t now = packets_of(s->w, i, p) +
				       packets_of(s->w, peer, torus_dir_opposite(shape, p));
			uint64_t *was = &before[i * shape->ndims + p];

			most = now - *was > most ? now - *was : most;
			*was = now;
		}
	return most;
}

/* With NICs in time, a cable that is cut or mended costs few Inits, at it and at all others. */
static void change_costs_few_inits(void **state)
{
	uint64_t before[32] = { 0 };
	struct trial s;

	(void)state;
	start(&s, "4x4", 7);
	trial_run(&s, 5 * SEC);
	most_inits(&s, before);
	for (uint32_t i = 0; i < 32; i += 5 * trial_every())
		for (unsigned int cut = 2; cut--; ) {
			world_cut(s.w, i, cut);
			trial_run(&s, 5 * SEC);
			assert_in_range(most_inits(&s, before), !cut, INITS_MAX);
		}
	end(&s, "Inits of a change", 7);
}

/* A node that dies is recovered from although its neighbour's NIC is slow. */
static void death_beside_slow_nic_is_recovered(void **state)
{
	struct trial s;

	(void)state;
	start(&s, "4x4", 4);
	world_slow(s.w, 5, SLOW, 0);
	world_power(s.w, 6, false);
	trial_run(&s, 15 * SEC);
	assert_int_equal(fm_node(world_fm(s.w, 0), 6)->state, FM_NODE_DEAD);
	assert_int_equal(fm_node(world_fm(s.w, 0), 5)->state, FM_NODE_UP);
	assert_true(world_settled(s.w));
	world_power(s.w, 6, true);
	trial_run(&s, 15 * SEC);
	assert_true(world_settled(s.w));
	end(&s, "death beside a slow NIC", 4);
}

/*
 * A manager lives, and its NIC refuses all that it is asked: the recoveries of the others end
 * without it. Once all of them waited for it, for ever. When its NIC works again it is back.
 */
static void recovery_ends_without_failing_nic(void **state)
{
	struct trial s;

	(void)state;
	start(&s, "4x4", 5);
	world_slow(s.w, 6, MS, 1000);
	world_cut(s.w, 31, true);
	trial_run(&s, 5 * SEC);
	assert_true(trial_under_way(&s, 0));
	trial_run(&s, 3 * SEC);
	assert_false(trial_under_way(&s, 0));
	assert_int_equal(fm_node(world_fm(s.w, 0), 6)->state, FM_NODE_SILENT);
	assert_true(trial_problem(&s, "node", "cannot follow version"));
	/* The node tries again some times, and fails. */
	trial_run(&s, 30 * SEC);
	assert_int_equal(fm_node(world_fm(s.w, 0), 5)->state, FM_NODE_UP);
	world_slow(s.w, 6, 0, 0);
	trial_run(&s, 60 * SEC);
	assert_int_equal(fm_node(world_fm(s.w, 0), 6)->state, FM_NODE_UP);
	assert_false(trial_problem(&s, "node", "cannot follow"));
	assert_true(world_settled(s.w) && !trial_under_way(&s, 0));
	end(&s, "one NIC fails", 5);
}

/*
 * Cables are cut and mended at any moment while half of the NICs take up to 20 ms for an action,
 * and some of the actions fail, of which some were done.
 */
static void history(uint64_t seed)
{
	struct trial s;

	start(&s, seed % 2 ? "4x4" : "3x2x2", seed);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (world_random(s.w) % 2)
			world_slow(s.w, i, 1 + world_random(s.w) % (20 * MS),
				   world_random(s.w) % 400);
	for (unsigned int k = 0; k < FAULTS; k++) {
		uint32_t cable = (uint32_t)(world_random(s.w) % world_cables(s.w));

		if (world_cable_there(s.w, cable))
			world_cut(s.w, cable, world_cable_whole(s.w, cable));
		trial_run(&s, world_random(s.w) % (100 * MS));
	}
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_slow(s.w, i, 0, 0);
	end(&s, "NICs that fail", seed);
}

static void random_failing_nics_do_not_stop_recovery(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed += trial_every())
		history(seed);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(recovery_waits_for_one_slow_nic),
		cmocka_unit_test(recovery_waits_for_all_slow_nics),
		cmocka_unit_test(slow_nic_sends_last_of_waiting_management_packets),
		cmocka_unit_test(change_costs_few_inits),
		cmocka_unit_test(death_beside_slow_nic_is_recovered),
		cmocka_unit_test(recovery_ends_without_failing_nic),
		cmocka_unit_test(random_failing_nics_do_not_stop_recovery),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
