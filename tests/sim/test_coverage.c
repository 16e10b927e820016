// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routing with random faults, mostly on 4x4x4: every pair of nodes that healthy links join has a
 * path, nothing can deadlock, and incremental updates of tables are right.
 *
 *	test_coverage [FABRICS]		fabrics of each kind, 60 by default
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "tests/unit/random.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricsim/route_fabric.h"

const struct program this_program = { .name = "test_coverage" };

#define FABRICS 60

static unsigned long fabrics = FABRICS;

/** struct covered - totals: connected fabrics, rows through relays, largest load of a link */
struct covered {
	unsigned long connected, relayed;
	uint64_t load;
};

static struct covered cover(const char *shape, unsigned int dead_nodes, unsigned int cut_links)
{
	struct route_case c = {
		.dead_nodes = dead_nodes, .cut_links = cut_links, .engine = ROUTE_RELAYS,
	};
	struct covered all = { 0 };
	uint64_t seed = random_seed(1);
	unsigned long i;

	assert_int_equal(torus_shape_parse(shape, &c.shape), 0);
	for (i = 0; i < fabrics; i++) {
		uint64_t was = seed;
		struct route_result r;

		assert_int_equal(route_fabric(&c, random_next(&seed), &r), 0);
		if (r.sound.wrong || r.sound.unroutable || r.sound.cycles || r.unequal)
			fail_msg("SEED=%llu %s, %u nodes, %u links: %llu wrong, %llu unroutable, "
				 "%llu unequal", (unsigned long long)was, shape, dead_nodes,
				 cut_links, (unsigned long long)r.sound.wrong,
				 (unsigned long long)r.sound.unroutable,
				 (unsigned long long)r.unequal);
		all.connected += r.connected;
		all.relayed += r.sound.relayed;
		all.load = r.sound.load_max > all.load ? r.sound.load_max : all.load;
	}
	printf("%s, %u nodes and %2u links dead: all of %lu routed, %lu connected; %lu rows through "
	       "relays; load %llu\n", shape, dead_nodes, cut_links, fabrics, all.connected,
	       all.relayed, (unsigned long long)all.load);
	return all;
}

/*
 * Faults that leave each fabric connected. Any choice among several paths would be right. But the
 * README of fabricsim gives loads, so for the default seed relays and load must be those measured
 * when these figures were written.
 */
static void whole(unsigned int dead_nodes, unsigned int cut_links, unsigned long relayed,
		  uint64_t load)
{
	struct covered all = cover("4x4x4", dead_nodes, cut_links);

	assert_int_equal(all.connected, fabrics);
	if (fabrics == FABRICS && !getenv("SEED")) {
		assert_int_equal(all.relayed, relayed);
		assert_int_equal(all.load, load);
	}
}

static void coverage_with_dead_nodes_equals_known_numbers(void **state)
{
	(void)state;
	whole(2, 0, 0, 64);
	whole(3, 0, 5, 70);
	whole(4, 0, 36, 72);
}

static void coverage_with_cut_links_equals_known_numbers(void **state)
{
	(void)state;
	whole(0, 4, 0, 60);
	whole(0, 8, 3, 70);
	whole(0, 12, 76, 78);
	whole(0, 16, 267, 89);
}

/* With so many faults that fabrics fall apart, the nodes of each part still reach each other. */
static void nodes_of_each_part_reach_each_other(void **state)
{
	static const struct {
		const char *shape;
		unsigned int dead_nodes, cut_links;
	} some[] = {
		{ "4x4x4", 6, 90 }, { "3x3x3", 2, 40 }, { "5x4", 1, 15 }, { "2x2x2x2x2", 3, 30 },
		{ "1x6x2", 1, 5 },
	};
	unsigned long in_pieces = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct covered all = cover(some[i].shape, some[i].dead_nodes, some[i].cut_links);

		assert_true(all.relayed > 0);
		in_pieces += fabrics - all.connected;
	}
	assert_true(in_pieces > 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(coverage_with_dead_nodes_equals_known_numbers),
		cmocka_unit_test(coverage_with_cut_links_equals_known_numbers),
		cmocka_unit_test(nodes_of_each_part_reach_each_other),
	};

	unsigned long every = getenv("EVERY") ? strtoul(getenv("EVERY"), NULL, 10) : 0;

	if (argc > 1)
		fabrics = strtoul(argv[1], NULL, 10);
	else if (every)
		fabrics = (fabrics + every - 1) / every;
	return cmocka_run_group_tests_name("coverage", tests, NULL, NULL);
}
