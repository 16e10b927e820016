// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hosts that vanish: they lose their power, and their service connections are not closed. The root
 * must find them by their cables, in a few milliseconds, whatever nodes are below them in the
 * tree.
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

#define HELD_MAX (60 * MS)	/* for flows; keep-alives end only after seconds */

static struct trial s;
static char name[100];		/* name of the scenario */

static void begin(const char *shape, unsigned int fanout, uint64_t seed)
{
	struct world_config c;

	world_config_default(&c);
	assert_int_equal(torus_shape_parse(shape, &c.shape), 0);
	c.adaptive = true;
	c.fanout = fanout;
	c.vanish = true;
	c.seed = seed;
	trial_begin(&s, &c);
	s.sparing = true;
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	trial_traffic(&s, 20 * US);
	trial_run(&s, 20 * MS);
}

static enum fm_node_state state_of(uint32_t node)
{
	return (enum fm_node_state)fm_node(world_fm(s.w, 0), node)->state;
}

/* All of @node[] vanish at one moment, and all else goes on soon. */
static void vanish(const uint32_t *node, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		world_power(s.w, node[i], false);
	trial_run(&s, 100 * MS);
	for (unsigned int i = 0; i < n; i++)
		if (state_of(node[i]) != FM_NODE_DEAD)
			trial_fail(&s, "node %u is not known to be dead", node[i]);
	if (fm_last(world_fm(s.w, 0))->bounded)
		trial_fail(&s, "the recovery had no proof");
	if (!world_settled(s.w))
		trial_fail(&s, "the fabric is not at rest");
	if (check_flow_held(s.flow) > HELD_MAX)
		trial_fail(&s, "flows were on hold for %.1f ms",
			   (double)check_flow_held(s.flow) / 1e6);
}

static void end(void)
{
	if (!trial_end(&s))
		fail_msg("%s: %s", name, s.wrong);
}

static void each_node(const char *shape, unsigned int fanout)
{
	struct torus_shape parsed;

	assert_int_equal(torus_shape_parse(shape, &parsed), 0);
	for (uint32_t i = 1; i < torus_nodes(&parsed); i += trial_every()) {
		snprintf(name, sizeof(name), "%s, fanout %u, node %u", shape, fanout, i);
		begin(shape, fanout, i);
		vanish(&i, 1);
		end();
	}
}

/*
 * One node vanishes. With a small fanout most of its neighbours are below it, or its parent, in
 * the tree.
 */
static void vanished_node_is_dead_in_time(void **state)
{
	(void)state;
	each_node("4x4", 8);
	each_node("4x4", 2);
	each_node("3x3x2", 1);
	each_node("5", 2);
	each_node("2x2", 2);
	each_node("3", 8);
	each_node("2", 8);
}

/* A block from @from to @to of each dimension vanishes. */
static void block(const char *text, const uint16_t from[3], const uint16_t to[3],
		  unsigned int fanout)
{
	struct torus_shape shape;
	uint32_t node[64];
	unsigned int n = 0;

	assert_int_equal(torus_shape_parse(text, &shape), 0);
	for (uint32_t i = 0; i < torus_nodes(&shape); i++) {
		struct torus_coords c;
		bool in = true;

		torus_node_coords(&shape, i, &c);
		for (unsigned int d = 0; d < 3; d++)
			in &= c.c[d] >= from[d] && c.c[d] <= to[d];
		if (in)
			node[n++] = i;
	}
	snprintf(name, sizeof(name), "block of %u of %s, fanout %u", n, text, fanout);
	begin(text, fanout, fanout);
	vanish(node, n);
	end();
}

/* A block of nodes vanishes: its inner nodes are known only to neighbours that vanish, too. */
static void vanished_cabinet_is_dead_in_time(void **state)
{
	(void)state;
	for (unsigned int fanout = 8; fanout > 1; fanout /= 2 * trial_every())
		block("5x5x4", (uint16_t[]){ 1, 1, 0 }, (uint16_t[]){ 3, 3, 3 }, fanout);
}

/* A plane of nodes vanishes: a node below a dead one may be the parent of another. */
static void vanished_plane_is_dead_in_time(void **state)
{
	(void)state;
	for (unsigned int fanout = 8; fanout > 2; fanout /= 2 * trial_every())
		block("5x5x3", (uint16_t[]){ 0, 0, 1 }, (uint16_t[]){ 4, 4, 1 }, fanout);
}

/*
 * Nodes drawn by lot vanish, which may cut the fabric in parts: then it is only required that all
 * ends well.
 */
static void some_vanished_nodes_are_dead_in_time(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed += trial_every()) {
		uint64_t random = seed;
		uint32_t last = 0;

		snprintf(name, sizeof(name), "some nodes, seed %llu", (unsigned long long)seed);
		begin("4x4x2", 1 + seed % 5, seed);
		for (unsigned int k = 0; k < 2 + seed % 4; k++) {
			last = 1 + random_below(&random, 31);
			world_power(s.w, last, false);
			trial_run(&s, random_below(&random, 20) * MS);
		}
		trial_run(&s, 100 * MS);
		if (state_of(last) != FM_NODE_DEAD)
			trial_fail(&s, "node %u is not known to be dead", last);
		end();
	}
}

/* A host has power again before its old connections have ended. */
static void vanished_node_soon_back_joins(void **state)
{
	static const uint64_t after[] = { MS, 4 * MS, 6 * MS, 12 * MS, 300 * MS };

	(void)state;
	for (unsigned int k = 0; k < 5; k += trial_every()) {
		snprintf(name, sizeof(name), "back after %llu ms",
			 (unsigned long long)(after[k] / MS));
		begin("4x4", 2, 1 + k);
		world_power(s.w, 1, false);
		trial_run(&s, after[k]);
		world_power(s.w, 1, true);
		trial_run(&s, 2 * SEC);
		assert_int_equal(state_of(1), FM_NODE_UP);
		assert_true(world_settled(s.w));
		end();
	}
}

/*
 * A manager hangs, and its NIC goes on, with one cable left. It is not dead: packets come over
 * that cable, and go.
 */
static void hung_node_with_one_cable_is_not_dead(void **state)
{
	(void)state;
	for (unsigned int fanout = 1; fanout <= 8; fanout += 7 * trial_every()) {
		snprintf(name, sizeof(name), "hung, fanout %u", fanout);
		begin("4x4", fanout, fanout);
		world_hang(s.w, 5, true);
		world_cut(s.w, 10, true);	/* its cables are 10, 11, 8 and 3 */
		world_cut(s.w, 11, true);
		world_cut(s.w, 8, true);
		trial_run(&s, 2 * SEC);
		assert_int_not_equal(state_of(5), FM_NODE_DEAD);
		world_hang(s.w, 5, false);
		trial_run(&s, 4 * SEC);
		assert_int_equal(state_of(5), FM_NODE_UP);
		end();
	}
}

/* All cables of a node that lives are pulled: the node reports that itself, and comes back. */
static void living_node_with_all_cables_pulled_stays_up(void **state)
{
	static const uint32_t cables[] = { 10, 11, 8, 3 };

	(void)state;
	snprintf(name, sizeof(name), "all cables pulled");
	begin("4x4", 2, 1);
	for (unsigned int i = 0; i < 4; i++)
		world_cut(s.w, cables[i], true);
	trial_run(&s, 300 * MS);
	assert_int_equal(state_of(5), FM_NODE_UP);
	for (unsigned int i = 0; i < 4; i++)
		world_cut(s.w, cables[i], false);
	trial_run(&s, 300 * MS);
	assert_int_equal(state_of(5), FM_NODE_UP);
	assert_true(world_settled(s.w));
	end();
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(vanished_node_is_dead_in_time),
		cmocka_unit_test(vanished_cabinet_is_dead_in_time),
		cmocka_unit_test(vanished_plane_is_dead_in_time),
		cmocka_unit_test(some_vanished_nodes_are_dead_in_time),
		cmocka_unit_test(vanished_node_soon_back_joins),
		cmocka_unit_test(hung_node_with_one_cable_is_not_dead),
		cmocka_unit_test(living_node_with_all_cables_pulled_stays_up),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
