// SPDX-License-Identifier: GPL-2.0-only
/* The walk from links that wait to the node that keeps the credits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/stall_walk.h"

/* 4x4: +x is port 0, +y 1, -x 2, -y 3; id = x + 4 y. */
static const struct torus_shape shape = { .ndims = 2, .size = { 4, 4 } };
static uint8_t node[16];

static void begin(void)
{
	memset(node, STALL_REPORTED, sizeof(node));
}

#define W(n, p) { .node = (n), .port = (p), .ns = 100 }
#define WALK(w) stall_walk(&shape, node, w, sizeof(w) / sizeof(w[0]))

/* 0 waits for 1, 1 for 2, 2 for 3: 3 is the sink, and only the port 2:+x leads there. */
static void chain_of_waits_ends_at_its_sink(void **state)
{
	struct stall_wait w[] = { W(0, 0), W(1, 0), W(2, 0) };

	(void)state;
	begin();
	WALK(w);
	assert_int_equal(w[0].verdict, STALL_PASSES);
	assert_int_equal(w[1].verdict, STALL_PASSES);
	assert_int_equal(w[2].verdict, STALL_SINK);
	assert_int_equal(node[3], STALL_REPORTED);
}

/* All neighbours of 5 wait for it, and one of their neighbours for them. */
static void all_neighbours_of_sink_are_before_it(void **state)
{
	struct stall_wait w[] = { W(4, 0), W(6, 2), W(1, 1), W(9, 3), W(0, 1), W(0, 0) };

	(void)state;
	begin();
	WALK(w);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(w[i].verdict, STALL_SINK);
	assert_int_equal(w[4].verdict, STALL_PASSES);
	assert_int_equal(w[5].verdict, STALL_PASSES);
}

/* 1 waits for 2, which is a sink, and for 5, which waits for the sink 6. */
static void each_of_two_sinks_is_found(void **state)
{
	struct stall_wait w[] = { W(1, 0), W(1, 1), W(5, 0) };

	(void)state;
	begin();
	WALK(w);
	assert_int_equal(w[0].verdict, STALL_SINK);
	assert_int_equal(w[1].verdict, STALL_PASSES);
	assert_int_equal(w[2].verdict, STALL_SINK);
}

/* A ring of nodes that wait for each other, and one that waits for the ring: no node's fault. */
static void circle_of_waits_is_no_fault_of_a_node(void **state)
{
	struct stall_wait w[] = { W(0, 0), W(1, 0), W(2, 0), W(3, 0), W(4, 3) };

	(void)state;
	begin();
	WALK(w);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(w[i].verdict, STALL_CIRCLE);
}

/* Two nodes wait for each other, and one of them for a sink: that one is named. */
static void sink_beside_circle_is_named(void **state)
{
	struct stall_wait w[] = { W(0, 0), W(1, 2), W(1, 1) };

	(void)state;
	begin();
	WALK(w);
	assert_int_equal(w[0].verdict, STALL_PASSES);
	assert_int_equal(w[1].verdict, STALL_PASSES);
	assert_int_equal(w[2].verdict, STALL_SINK);
}

/* A neighbour that did not answer may wait itself. */
static void wait_for_silent_node_has_no_sink(void **state)
{
	struct stall_wait w[] = { W(0, 0), W(1, 0) };

	(void)state;
	begin();
	node[2] = 0;
	WALK(w);
	assert_int_equal(w[0].verdict, STALL_PASSES);
	assert_int_equal(w[1].verdict, STALL_SILENT);
}

/* Only the same wait of an earlier walk counts, not another that began since. */
static void wait_counts_only_if_earlier_walk_found_it_too(void **state)
{
	struct stall_wait before[] = { W(0, 0), W(1, 0) }, now = W(1, 0);

	(void)state;
	begin();
	WALK(before);
	now.ns = 200;
	assert_ptr_equal(stall_same(before, 2, &now), &before[1]);
	now.ns = 50;			/* packets went in between */
	assert_null(stall_same(before, 2, &now));
	now.ns = 200;
	now.port = 1;
	assert_null(stall_same(before, 2, &now));
	now = (struct stall_wait)W(0, 0);
	now.ns = 200;			/* the node was not a sink then */
	assert_null(stall_same(before, 2, &now));
	assert_null(stall_same(NULL, 0, &now));
}

/* On a ring of two, two cables join the same nodes. */
static void both_cables_to_one_sink_are_found(void **state)
{
	static const struct torus_shape two = { .ndims = 1, .size = { 2 } };
	struct stall_wait w[] = { W(0, 0), W(0, 1) };

	(void)state;
	begin();
	stall_walk(&two, node, w, 2);
	assert_int_equal(w[0].verdict, STALL_SINK);
	assert_int_equal(w[1].verdict, STALL_SINK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_of_waits_ends_at_its_sink),
		cmocka_unit_test(all_neighbours_of_sink_are_before_it),
		cmocka_unit_test(each_of_two_sinks_is_found),
		cmocka_unit_test(circle_of_waits_is_no_fault_of_a_node),
		cmocka_unit_test(sink_beside_circle_is_named),
		cmocka_unit_test(wait_for_silent_node_has_no_sink),
		cmocka_unit_test(wait_counts_only_if_earlier_walk_found_it_too),
		cmocka_unit_test(both_cables_to_one_sink_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
