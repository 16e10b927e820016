// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement of ranks without enough memory: each request for memory is refused in turn. The call
 * then fails, nothing leaks, and the placement is as it was.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <torus/map.h>
#include <torus/topology.h>
#include "tests/unit/memory.h"

#define NODES 9
#define MORE 1000		/* more than the requests for memory of any call */

static void refused_memory_leaves_placement_unchanged(void **state)
{
	static uint64_t row[NODES][NODES];
	static struct torus_traffic traffic[NODES];
	const uint64_t *rows[NODES];
	uint32_t slot[NODES], place[NODES], begin[NODES];
	struct torus_shape shape;
	struct torus_map m = { .shape = &shape, .rows = rows, .slot = slot, .slots = NODES,
		.ranks = NODES, .traffic = traffic, .n = NODES };
	unsigned int n;

	(void)state;
	assert_int_equal(torus_shape_parse("3x3", &shape), 0);
	for (uint32_t i = 0; i < NODES; i++) {
		assert_int_equal(torus_route_rows(&shape, NULL, i, row[i]), 0);
		rows[i] = row[i];
		slot[i] = i;
		begin[i] = i * 2 % NODES;
		/* The ring fits a grid, and its fourth neighbour none, so both methods are used. */
		traffic[i] = (struct torus_traffic){ i, i == 4 ? 0 : (i + 1) % NODES, 1 };
	}
	for (n = 1; n < MORE; n++) {
		size_t before = memory_blocks();
		int err;

		memcpy(place, begin, sizeof(place));
		memory_fails_at(n);
		err = torus_map_improve(&m, 1, 1000, place);
		assert_int_equal(memory_blocks(), before);
		if (!memory_failed())
			break;
		assert_int_equal(err, -ENOMEM);
		assert_memory_equal(place, begin, sizeof(place));
	}
	assert_in_range(n, 15, MORE - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_memory_leaves_placement_unchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
