// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cable comes back between two parts of a fabric while their service networks are still apart:
 * the nodes at the cable stay with their roots, which they reach, so that recoveries of both parts
 * are as fast as before. When the service network is whole, the parts become one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <torus/topology.h>

#include "daemon/fm/node/machine.h"
#include "trial.h"

#define SEEDS 4
#define WEST 0x3333	/* the columns 0 and 1 of 4x4 */
#define HALF_RING 0x7	/* half of a ring of six nodes */
#define CORNER 0x23	/* the nodes 0,0, 1,0 and 1,1 of 4x4 */
#define JOINED (5 * SEC)	/* within which the parts are one: the limit of a connection, the wait
				 * until the next one, longer after the death of another root, and
				 * the time to rest */

static struct trial s;
static uint64_t west_mask;

static bool is_west(uint32_t node)
{
	return west_mask >> node & 1;
}

static bool has_leader(bool west)
{
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (world_managed(s.w, i) && is_west(i) == west && fm_is_root(world_fm(s.w, i)))
			return true;
	return false;
}

/* Return: the only root of that part. */
static uint32_t leads(bool west)
{
	uint32_t root = TORUS_NO_NODE;

	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		if (!world_managed(s.w, i) || is_west(i) != west || !fm_is_root(world_fm(s.w, i)))
			continue;
		assert_int_equal(root, TORUS_NO_NODE);
		root = i;
	}
	assert_int_not_equal(root, TORUS_NO_NODE);
	return root;
}

/* Fails if a node of that part has no connection to the root of it. */
static void stay(bool west, uint32_t root)
{
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		const struct fm *fm = world_fm(s.w, i);

		if (world_managed(s.w, i) && is_west(i) == west &&
		    (fm->cut_off || fm->root_guid != world_fm(s.w, root)->guid))
			fail_msg("node %u has left root %u", i, root);
	}
}

/* Cuts or mends a cable inside of a part, and waits until a new table is in force in it. */
static void recovers(bool west, uint32_t cable, bool cut)
{
	uint64_t begun = world_now(s.w), version;
	uint32_t root = leads(west);

	version = fm_version(world_fm(s.w, root));
	world_cut(s.w, cable, cut);
	while (fm_version(world_fm(s.w, root)) == version ||
	       !fm_in_force(world_fm(s.w, root), fm_version(world_fm(s.w, root)))) {
		trial_run(&s, 1 * MS);
		stay(west, root);
		if (world_now(s.w) > begun + 1 * SEC)
			fail_msg("%s of cable %u: not in force", cut ? "cut" : "mend", cable);
	}
}

static void cut_between(void)
{
	const struct torus_shape *shape = &world_config(s.w)->shape;

	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		for (unsigned int d = 0; d < shape->ndims; d++)
			if (is_west(i) != is_west(torus_neighbour(shape, i, d)))
				world_cut(s.w, i * shape->ndims + d, true);
}

/*
 * Splits a fabric and its service network: the nodes of @mask are the west. The part that the cut
 * leaves without the root has one of its own after member_max. @ends: the node that loses its power
 * at the same time, or none.
 */
static void begin_without(const char *shape, uint64_t mask, uint32_t ends, uint64_t seed)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = false;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	s.sparing = true;
	trial_traffic(&s, 1 * MS);
	west_mask = mask;
	if (ends != TORUS_NO_NODE)
		world_power(s.w, ends, false);
	world_partition(s.w, mask);
	cut_between();
	trial_run(&s, 9 * SEC);
}

static void begin(const char *shape, uint64_t mask, uint64_t seed)
{
	begin_without(shape, mask, TORUS_NO_NODE, seed);
}

/* Mends the service network: the parts become one. */
static void join(uint32_t back, uint64_t seed)
{
	world_partition(s.w, 0);
	trial_run(&s, JOINED);
	assert_int_not_equal(world_root(s.w), TORUS_NO_NODE);
	stay(true, world_root(s.w));
	stay(false, world_root(s.w));
	if (!trial_end(&s))
		fail_msg("cable %u, seed %llu: %s", back, (unsigned long long)seed, s.wrong);
}

/* @back: the cable that comes back */
static void split(uint32_t back, uint64_t seed)
{
	uint32_t west, east;

	begin("4x4", WEST, seed);
	west = leads(true);
	east = leads(false);
	world_cut(s.w, back, false);
	for (unsigned int i = 0; i < 400; i++) {
		trial_run(&s, 50 * MS);
		stay(true, west);
		stay(false, east);
	}
	/* The cable between 0,2 and 0,3; then that between 2,2 and 2,3. */
	recovers(true, 2 * 8 + 1, true);
	recovers(false, 2 * 10 + 1, true);
	recovers(true, 2 * 8 + 1, false);
	recovers(false, 2 * 10 + 1, false);
	join(back, seed);
}

static void nodes_stay_with_root_that_they_reach(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		split(2 * 5, seed);	/* between 1,1 and 2,1 */
}

/* The root of the part with the earlier epoch is itself at the cable. */
static void root_beside_joining_cable_stays_root(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		split(2 * 3, seed);	/* between 3,0 and 0,0 */
}

/* Starts the manager of @node again, with that name. */
static void rename_node(uint32_t node, const char *name)
{
	world_manager(s.w, node, false);
	world_name(s.w, node, name);
	world_manager(s.w, node, true);
}

/*
 * The manager of a node in the west, at the cable that comes back, has got the name of a node in the
 * east while the parts were apart. So the root of the east, the later one, refuses it for ever. The
 * west, which may have that node as its root, is led on as if there was no east.
 */
static void refuse(uint32_t node, uint32_t back, uint64_t seed)
{
	uint32_t west, east;

	begin("4x4", WEST, seed);
	rename_node(node, "n6");
	trial_run(&s, 5 * SEC);
	west = leads(true);
	/* The root of the west may have got a later epoch: let the east get one, too. */
	while (fm_epoch(world_fm(s.w, leads(false))) <= fm_epoch(world_fm(s.w, west))) {
		world_power(s.w, leads(false), false);
		trial_run(&s, 5 * SEC);
	}
	east = leads(false);
	assert_true(node || !west);
	world_partition(s.w, 0);
	world_cut(s.w, back, false);
	/* A node that left its root would be back within a millisecond after it is refused. */
	for (unsigned int i = 0; i < 10000; i++) {
		trial_run(&s, 100 * US);
		stay(true, west);
		stay(false, east);
	}
	for (unsigned int i = 0; i < 780; i++) {
		trial_run(&s, 50 * MS);
		stay(true, west);
		stay(false, east);
	}
	assert_true(trial_problem(&s, "root", "this node is refused at"));
	recovers(true, 2 * 8 + 1, true);
	recovers(true, 2 * 8 + 1, false);
	/* The administrator gives the node its name again. */
	rename_node(node, node ? "n5" : "n0");
	trial_run(&s, 10 * SEC);
	join(back, seed);
}

static void part_keeps_node_that_later_root_refuses(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		refuse(5, 2 * 5, seed);
}

static void part_keeps_root_that_later_root_refuses(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		refuse(0, 2 * 3, seed);
}

/* The root of a part dies while the cable @back leads to the other part. */
static void die(uint32_t back, bool west, uint64_t seed)
{
	uint64_t begun;

	world_cut(s.w, back, false);
	trial_run(&s, 5 * SEC);
	world_power(s.w, leads(west), false);
	begun = world_now(s.w);
	while (!has_leader(west)) {
		trial_run(&s, 10 * MS);
		if (world_now(s.w) > begun + 3 * SEC)
			fail_msg("seed %llu: no root in the %s", (unsigned long long)seed,
				 west ? "west" : "east");
	}
	/* The node at the cable knows the epoch of the other part. */
	assert_int_not_equal(fm_epoch(world_fm(s.w, leads(west))),
			     fm_epoch(world_fm(s.w, leads(!west))));
	join(back, seed);
}

static void part_of_split_torus_gets_another_root(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		for (unsigned int west = 0; west < 2; west++) {
			begin("4x4", WEST, seed);
			die(2 * 5, west, seed);
		}
}

/* Only with the node at the cable are there enough nodes. */
static void part_with_bare_majority_gets_another_root(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		for (unsigned int west = 0; west < 2; west++) {
			begin("6", HALF_RING, seed);
			die(west ? 2 : 5, west, seed);
		}
}

/* The node that takes over is itself at the cable, and knows which epoch the other part has. */
static void no_epoch_of_a_neighbour_is_used_again(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		begin("4x4", CORNER, seed);
		die(2, true, seed);
	}
}

static uint32_t find_root(uint64_t guid)
{
	uint32_t root = 0;

	while (world_fm(s.w, root)->guid != guid)
		root++;
	return root;
}

/* Fails if a node other than @except does not follow @root. */
static void all_follow(uint32_t root, uint32_t except, uint64_t seed)
{
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		const struct fm *fm = world_fm(s.w, i);

		if (i != except && (fm->cut_off || fm->root_guid != world_fm(s.w, root)->guid))
			fail_msg("seed %llu: node %u does not follow root %u",
				 (unsigned long long)seed, i, root);
	}
}

/*
 * The root of a ring loses its power while the ring and its service network are cut in two, so that
 * both parts get a root of the same epoch. Then all is mended, but with @apart the two roots do not
 * reach each other. Only the later one claims once more, and node 0, which has just started, may claim,
 * too. Then one leads all nodes that reach it.
 */
static void equals_meet(bool apart, uint64_t seed)
{
	uint32_t west, east, root, other = TORUS_NO_NODE;
	uint64_t epoch;

	begin_without("6", HALF_RING, 0, seed);
	west = leads(true);
	east = leads(false);
	epoch = fm_epoch(world_fm(s.w, west));
	assert_int_equal(fm_epoch(world_fm(s.w, east)), epoch);
	world_partition(s.w, 0);
	world_one_way(s.w, west, east, apart);
	world_one_way(s.w, east, west, apart);
	world_power(s.w, 0, true);
	for (uint32_t i = 0; i < world_cables(s.w); i++)
		world_cut(s.w, i, false);
	trial_run(&s, JOINED);
	root = find_root(world_fm(s.w, 0)->root_guid);
	if (apart && root)
		other = root == west ? east : west;
	for (unsigned int i = 0; i < 100; i++) {
		all_follow(root, other, seed);
		trial_run(&s, 50 * MS);
	}
	if (fm_epoch(world_fm(s.w, root)) > epoch + 2)
		fail_msg("seed %llu: epoch %llu after %llu", (unsigned long long)seed,
			 (unsigned long long)fm_epoch(world_fm(s.w, root)),
			 (unsigned long long)epoch);
	if (other != TORUS_NO_NODE)
		assert_true(trial_problem(&s, "root", "does not reach it at"));
	join(0, seed);
}

static void two_roots_of_one_epoch_need_two_further_epochs_at_most(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5 * SEEDS; seed += trial_every()) {
		equals_meet(false, seed);
		equals_meet(true, seed);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_stay_with_root_that_they_reach),
		cmocka_unit_test(root_beside_joining_cable_stays_root),
		cmocka_unit_test(part_keeps_node_that_later_root_refuses),
		cmocka_unit_test(part_keeps_root_that_later_root_refuses),
		cmocka_unit_test(part_of_split_torus_gets_another_root),
		cmocka_unit_test(part_with_bare_majority_gets_another_root),
		cmocka_unit_test(no_epoch_of_a_neighbour_is_used_again),
		cmocka_unit_test(two_roots_of_one_epoch_need_two_further_epochs_at_most),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
