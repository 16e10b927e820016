// SPDX-License-Identifier: GPL-2.0-only
/*
 * Facts that the fabric may not forget when managers, or NICs, or both do: shape, places, names,
 * what is excluded. It is in tables and NICs, and on the disks of the candidates for the root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/machine.h"
#include "trial.h"

#define SEEDS 4

static struct trial s;

/* Begins a trial. @open: dimensions without a cable from the last node back to the first */
static void begin_open(const char *shape, uint64_t seed, bool discover, uint8_t open)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.discover = discover;
	c.open = open;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
}

static void begin(const char *shape, uint64_t seed, bool discover)
{
	begin_open(shape, seed, discover, 0);
}

static void exclude(uint32_t node, int port, bool is)
{
	assert_int_equal(fm_exclude(world_fm(s.w, world_root(s.w)), node, port, is, world_now(s.w)), 0);
	trial_rest(&s, 10 * SEC);
}

static bool is_excluded(uint32_t node, unsigned int port)
{
	const struct fm_entry *e = fm_node(world_fm(s.w, world_root(s.w)), node);

	return e && e->admin & 1u << port;
}

/* Checks that all nodes have the names and places that they had when the fabric came up. */
static void places_are_as_before(void)
{
	struct fm *root = world_fm(s.w, world_root(s.w));
	char name[TORUS_NAME_MAX + 1];

	assert_memory_equal(fm_shape(root), &world_config(s.w)->shape, sizeof(struct torus_shape));
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		snprintf(name, sizeof(name), "n%u", i);
		assert_string_equal(fm_node(root, i)->name, name);
	}
}

static void finish(const char *what, uint64_t seed)
{
	if (!trial_end(&s))
		fail_msg("%s, seed %llu: %s", what, (unsigned long long)seed, s.wrong);
}

static void all(bool power, bool on)
{
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		if (power)
			world_power(s.w, i, on);
		else
			world_manager(s.w, i, on);
}

/* --- all at once ------------------------------------------------------------------------------ */

/*
 * All managers restart in any order while the NICs work on, or all nodes lose their power, so that
 * no NIC remembers anything.
 */
static void restarted_fabric_keeps_exclusions_and_places(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		for (unsigned int power = 0; power < 2; power++)
			for (unsigned int discover = 0; discover < 2; discover++) {
				begin("4x3", seed, discover);
				exclude(5, 2, true);
				exclude(7, 0, true);
				exclude(7, 0, false);
				exclude(10, 3, true);
				all(power, false);
				trial_run(&s, 100 * MS);
				all(power, true);
				trial_rest(&s, 30 * SEC);
				places_are_as_before();
				assert_true(is_excluded(5, 2));
				assert_false(is_excluded(7, 0));
				assert_true(is_excluded(10, 3));
				exclude(5, 2, false);
				exclude(10, 3, false);
				finish("all begin anew", seed);
			}
}

/* Cuts all service connections between managers, or mends all. */
static void service_network(bool works)
{
	for (uint32_t a = 0; a < world_nodes(s.w); a++)
		for (uint32_t b = 0; b < world_nodes(s.w); b++)
			if (a != b)
				world_one_way(s.w, a, b, !works);
}

/*
 * All managers begin anew long before the service network works: what each node finds out alone
 * until then changes nothing.
 */
static void service_network_is_late(uint64_t seed, bool power, bool discover)
{
	struct fm_status st;

	begin("4x3", seed, discover);
	exclude(5, 2, true);
	exclude(10, 3, true);
	all(power, false);
	trial_run(&s, 100 * MS);
	service_network(false);
	all(power, true);
	trial_run(&s, 20 * SEC);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		assert_false(fm_is_root(world_fm(s.w, i)));
	service_network(true);
	trial_rest(&s, 30 * SEC);
	places_are_as_before();
	assert_true(is_excluded(5, 2));
	assert_true(is_excluded(10, 3));
	fm_status(world_fm(s.w, world_root(s.w)), &st);
	assert_int_equal(st.links_excluded, 2);
	exclude(5, 2, false);
	exclude(10, 3, false);
	finish("the service network is late", seed);
}

static void late_service_network_keeps_decisions(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		for (unsigned int how = 0; how < 4; how++)
			service_network_is_late(seed, how & 1, how & 2);
}

/* Checks that the root knows which dimensions are open, and counts no cables there. */
static void is_open(uint8_t open, const char *when)
{
	const struct fm *root = world_fm(s.w, world_root(s.w));
	struct fm_status st;

	if (root->table.open != open)
		fail_msg("open is %u instead of %u %s", root->table.open, open, when);
	fm_status(root, &st);
	assert_int_equal(st.links, 24 - 3 * (open & 1) - 4 * (open >> 1 & 1));
}

/* Dimensions that are open stay so with the next root, and when all begin anew. */
static void open_dimensions_stay_open(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		for (uint8_t open = 1; open < 4; open++) {
			begin_open("4x3", seed, true, open);
			is_open(open, "at first");
			exclude(5, 2, true);
			world_power(s.w, 0, false);
			trial_run(&s, 5 * SEC);
			assert_true(world_root(s.w) != TORUS_NO_NODE && world_root(s.w) != 0);
			assert_int_equal(world_fm(s.w, world_root(s.w))->table.open, open);
			world_power(s.w, 0, true);
			trial_rest(&s, 10 * SEC);
			is_open(open, "after a takeover");
			places_are_as_before();
			all(seed % 2, false);
			trial_run(&s, 100 * MS);
			all(seed % 2, true);
			trial_rest(&s, 30 * SEC);
			is_open(open, "when all began anew");
			places_are_as_before();
			assert_true(is_excluded(5, 2));
			exclude(5, 2, false);
			finish("open dimensions", seed);
		}
}

/*
 * A candidate that was away knows the decisions from before, but not those made meanwhile: the
 * latter must stay in force.
 */
static void later_decisions_of_missed_tables_count(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		begin("4x3", seed, seed % 2);
		exclude(5, 2, true);
		world_power(s.w, 0, false);
		trial_run(&s, 3 * SEC);
		exclude(5, 2, false);
		exclude(9, 1, true);
		all(true, false);
		trial_run(&s, 100 * MS);
		all(true, true);
		trial_rest(&s, 30 * SEC);
		places_are_as_before();
		assert_false(is_excluded(5, 2));
		assert_true(is_excluded(9, 1));
		exclude(9, 1, false);
		finish("the latest counts", seed);
	}
}

/* A node that does not come back keeps its name and its place. */
static void missing_node_keeps_name_and_place(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		begin("4x3", seed, true);
		exclude(5, 2, true);
		all(true, false);
		trial_run(&s, 100 * MS);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			if (i != 6)
				world_power(s.w, i, true);
		trial_run(&s, 30 * SEC);
		assert_int_equal(fm_node(world_fm(s.w, 0), 6)->state, FM_NODE_DEAD);
		places_are_as_before();
		world_power(s.w, 6, true);
		trial_rest(&s, 10 * SEC);
		places_are_as_before();
		exclude(5, 2, false);
		finish("one is missing", seed);
	}
}

/*
 * The NIC of one node has power, and its manager does not start: more than half of the known nodes
 * are there, and lead on.
 */
static void node_without_manager_keeps_name_and_place(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every()) {
		begin("4x3", seed, seed % 2);
		exclude(5, 2, true);
		all(true, false);
		trial_run(&s, 100 * MS);
		all(true, true);
		world_manager(s.w, 6, false);
		trial_run(&s, 30 * SEC);
		assert_true(world_root(s.w) != TORUS_NO_NODE);
		places_are_as_before();
		assert_true(is_excluded(5, 2));
		world_manager(s.w, 6, true);
		trial_rest(&s, 10 * SEC);
		places_are_as_before();
		exclude(5, 2, false);
		finish("one has no manager", seed);
	}
}

/* --- two parts ------------------------------------------------------------------------------- */

/*
 * Cuts a fabric of 4x4 in two, the columns 0 and 1 and the columns 2 and 3, and the service network
 * with it: else one root would lead both parts.
 */
static void cut_between(void)
{
	world_partition(s.w, 0x3333);
	/* cuts the cables from column 1 to 2, and from 3 to 0 */
	for (uint32_t i = 1; i < 16; i += 2)
		world_cut(s.w, 2 * i, true);
}

/* Return: the root of the part with @node. */
static struct fm *root_of(uint32_t node)
{
	for (uint32_t i = 0; i < 16; i++)
		if (i % 4 / 2 == node % 4 / 2 && world_managed(s.w, i) && fm_is_root(world_fm(s.w, i)))
			return world_fm(s.w, i);
	fail_msg("no root in the part of node %u", node);
	return NULL;
}

static void order(uint32_t node, unsigned int port, bool is)
{
	assert_int_equal(fm_exclude(root_of(node), node, (int)port, is, world_now(s.w)), 0);
	trial_run(&s, 1 * SEC);
}

static void begins_anew(uint32_t node)
{
	world_manager(s.w, node, false);
	trial_run(&s, 3 * SEC);
	world_manager(s.w, node, true);
	trial_run(&s, 3 * SEC);
}

/*
 * Something is excluded in each of two parts, and then one cable is mended: all of that stays
 * excluded, also what one part alone has included meanwhile. The part with node 0 has the root of
 * the later epoch (@starts 2), or the other one has, or both epochs have one number.
 */
static void parts_meet(uint64_t seed, unsigned int starts)
{
	begin("4x4", seed, false);
	exclude(4, 1, true);
	exclude(14, 1, true);
	cut_between();
	for (unsigned int i = 0; i < starts; i++)
		begins_anew(0);
	trial_run(&s, 6 * SEC);	/* half of the nodes lead on after they were cut off for member_max */
	assert_ptr_not_equal(root_of(0), root_of(2));
	order(5, 1, true);
	order(10, 1, true);
	order(14, 1, false);
	order(6, 1, true);
	order(6, 1, false);
	world_partition(s.w, 0);
	world_cut(s.w, 2 * 5, false);
	trial_run(&s, 20 * SEC);
	assert_true(world_root(s.w) != TORUS_NO_NODE);
	assert_true(is_excluded(5, 1));
	assert_true(is_excluded(10, 1));
	assert_true(is_excluded(4, 1));
	assert_true(is_excluded(14, 1));	/* the other part knew nothing of that, whichever leads now */
	assert_false(is_excluded(6, 1));
	exclude(14, 1, false);
	exclude(5, 1, false);
	/* A node that comes later does not know better. */
	begins_anew(13);
	trial_rest(&s, 10 * SEC);
	assert_false(is_excluded(14, 1));
	assert_false(is_excluded(5, 1));
	exclude(4, 1, false);
	exclude(10, 1, false);
	finish("two parts meet", seed);
}

/*
 * The same, but all nodes lose their power before the parts meet: then the disks of the candidates
 * have the decisions of both parts.
 */
static void parts_meet_on_disk(uint64_t seed, unsigned int starts)
{
	begin("4x4", seed, false);
	exclude(4, 1, true);
	exclude(14, 1, true);
	cut_between();
	for (unsigned int i = 0; i < starts; i++)
		begins_anew(0);
	trial_run(&s, 6 * SEC);	/* half of the nodes lead on after they were cut off for member_max */
	assert_ptr_not_equal(root_of(0), root_of(2));
	order(5, 1, true);
	order(10, 1, true);
	order(14, 1, false);
	order(6, 1, true);
	order(6, 1, false);
	all(true, false);
	for (uint32_t i = 1; i < 16; i += 2)
		world_cut(s.w, 2 * i, false);
	world_partition(s.w, 0);
	all(true, true);
	trial_rest(&s, 30 * SEC);
	places_are_as_before();
	assert_true(is_excluded(5, 1));
	assert_true(is_excluded(10, 1));
	assert_true(is_excluded(4, 1));
	assert_true(is_excluded(14, 1));
	assert_false(is_excluded(6, 1));
	/* From now on one root decides. A candidate that is away, and comes back, does not know better. */
	world_power(s.w, 3, false);
	trial_run(&s, 1 * SEC);
	assert_int_equal(fm_exclude(world_fm(s.w, world_root(s.w)), 10, 1, false, world_now(s.w)), 0);
	assert_int_equal(fm_exclude(world_fm(s.w, world_root(s.w)), 5, 1, false, world_now(s.w)), 0);
	trial_run(&s, 1 * SEC);
	all(true, false);
	all(true, true);
	trial_rest(&s, 30 * SEC);
	assert_false(is_excluded(5, 1));
	assert_false(is_excluded(10, 1));
	assert_true(is_excluded(4, 1));
	exclude(4, 1, false);
	exclude(14, 1, false);
	finish("two parts meet on disks", seed);
}

static void parts_that_meet_on_disk_keep_exclusions_of_both(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		parts_meet_on_disk(seed, 1 + (unsigned int)seed % 3);
}

static void parts_that_meet_keep_exclusions_of_both(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed += trial_every())
		for (unsigned int starts = 1; starts < 4; starts++)
			parts_meet(seed, starts);
}

int main(void)
{
	const struct CMUnitTest all_tests[] = {
		cmocka_unit_test(restarted_fabric_keeps_exclusions_and_places),
		cmocka_unit_test(late_service_network_keeps_decisions),
		cmocka_unit_test(open_dimensions_stay_open),
		cmocka_unit_test(later_decisions_of_missed_tables_count),
		cmocka_unit_test(missing_node_keeps_name_and_place),
		cmocka_unit_test(node_without_manager_keeps_name_and_place),
		cmocka_unit_test(parts_that_meet_keep_exclusions_of_both),
		cmocka_unit_test(parts_that_meet_on_disk_keep_exclusions_of_both),
	};

	return cmocka_run_group_tests_name("keep", all_tests, NULL, NULL);
}
