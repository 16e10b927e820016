// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random faults on 4x4x4: every pair that healthy links join has a way, nothing
 * can deadlock, and increments are right.
 *
 *	test_coverage [FABRICS]		of each kind, 60 by default
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

static unsigned long fabrics = 60;

static void cover(const char *shape, unsigned int dead_nodes, unsigned int cut_links)
{
	struct route_case c = {
		.dead_nodes = dead_nodes, .cut_links = cut_links, .relays = true,
	};
	unsigned long connected = 0, relayed = 0, i;
	uint64_t seed = random_seed(1), load = 0;

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
		connected += r.connected;
		relayed += r.sound.relayed;
		load = r.sound.load_max > load ? r.sound.load_max : load;
	}
	printf("%s, %u nodes and %2u links dead: all of %lu routed, %lu connected; %lu rows through "
	       "relays; load %llu\n", shape, dead_nodes, cut_links, fabrics, connected, relayed,
	       (unsigned long long)load);
}

static void dead_nodes(void **state)
{
	(void)state;
	cover("4x4x4", 2, 0);
	cover("4x4x4", 3, 0);
	cover("4x4x4", 4, 0);
}

static void cut_links(void **state)
{
	(void)state;
	cover("4x4x4", 0, 4);
	cover("4x4x4", 0, 8);
	cover("4x4x4", 0, 12);
	cover("4x4x4", 0, 16);
}

/* So much is broken that fabrics fall apart: each part goes on. */
static void ruins(void **state)
{
	(void)state;
	cover("4x4x4", 6, 90);
	cover("3x3x3", 2, 40);
	cover("5x4", 1, 15);
	cover("2x2x2x2x2", 3, 30);
	cover("1x6x2", 1, 5);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dead_nodes),
		cmocka_unit_test(cut_links),
		cmocka_unit_test(ruins),
	};

	if (argc > 1)
		fabrics = strtoul(argv[1], NULL, 10);
	else if (getenv("EVERY"))
		fabrics /= strtoul(getenv("EVERY"), NULL, 10);
	return cmocka_run_group_tests_name("coverage", tests, NULL, NULL);
}
