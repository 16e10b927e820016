// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim recovery: every scenario on small shapes, with equal results twice; bad input. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/program.h"
#include "tools/fabricctl/command.h"

static json_t *point(json_t *all, size_t i)
{
	json_t *p = json_array_get(json_object_get(all, "points"), i);

	assert_non_null(p);
	assert_true(json_is_true(json_object_get(p, "settled")));
	return p;
}

static double number(json_t *p, const char *key)
{
	json_t *v = json_object_get(p, key);

	assert_non_null(v);
	return json_number_value(v);
}

/* The steps of a recovery come in their order, after the event that caused it. */
static void in_order(json_t *p)
{
	static const char *const keys[] = {
		"detected_ms", "table_ms", "rebuilt_ms", "drained_ms", "resumed_ms"
	};
	double before = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_true(number(p, keys[i]) >= before);
		before = number(p, keys[i]);
	}
	assert_true(number(p, "rest_ms") >= before);
}

static void fault_has_times_in_order_and_expected_counts(void **state)
{
	json_t *all, *p;

	(void)state;
	expect("recovery --shape 4x4 --json", OK);
	all = printed();
	assert_int_equal(json_array_size(json_object_get(all, "points")), 5);
	for (size_t i = 0; i < 5; i++)
		in_order(point(all, i));
	p = point(all, 0);
	assert_true(number(p, "rows") == 16 * 16);
	assert_true(number(p, "flows_held") == 16 * 15);
	/* A cut cable holds the flows that crossed it, and only those that may have. */
	p = point(all, 1);
	assert_true(number(p, "versions") == 1);
	assert_true(number(p, "flows_held") > 0 && number(p, "flows_held") < 16 * 15);
	assert_true(number(p, "rows") >= number(p, "flows_held"));
	assert_true(number(p, "root_bytes") < number(p, "bytes"));
	assert_true(number(p, "lost") == 0);
	/* Mended, as many flows go back, and as many rows are written. Which ones is not printed. */
	assert_true(number(point(all, 2), "flows_held") == number(p, "flows_held"));
	assert_true(number(point(all, 2), "rows") == number(p, "rows"));
	json_decref(all);
}

static void each_scenario_has_its_points_with_times_in_order(void **state)
{
	json_t *all;
	size_t n;

	(void)state;
	expect("recovery --shape 3x2x3 --scenario bring-up,burst,during,dark,flap,root "
	       "--faults 3 --flaps 3 --traffic-us 2000 --jitter-us 30 --fanout 3 --json", OK);
	all = printed();
	n = json_array_size(json_object_get(all, "points"));
	assert_int_equal(n, 1 + 3 + 2 + 3 + 2 + 2);
	for (size_t i = 0; i < n; i++)
		in_order(point(all, i));
	json_decref(all);
	/* A torus of one dimension, and one with a dimension of size 1. */
	expect("recovery --shape 2 --scenario bring-up,dark,root", OK);
	expect("recovery --shape 5x1 --scenario dark", OK);
}

/* A cabinet of any size, at the given place or at any, but never with the root. */
static void cabinet_never_contains_root(void **state)
{
	static const struct {
		const char *args, *goes;
	} cabinets[] = {
		{ "--shape 4x4x4 --dark 2x2x2@3,3,1", "cabinet 2x2x2 at 3,3,1 goes dark" },
		{ "--shape 4x4x4 --dark 4x1x4@2,3,0", "cabinet y=3 goes dark" },
		{ "--shape 3x4 --dark 2x4", "cabinet 2x4 at 1,0 goes dark" },
		{ "--shape 4x4 --nics links --dark 1x2@2,3", "cabinet 1x2 at 2,3 goes dark" },
	};
	json_t *all;

	(void)state;
	for (size_t i = 0; i < sizeof(cabinets) / sizeof(cabinets[0]); i++) {
		char line[120];

		snprintf(line, sizeof(line), "recovery --scenario dark %s --json", cabinets[i].args);
		expect(line, OK);
		all = printed();
		assert_string_equal(json_string_value(json_object_get(point(all, 1), "act")),
				    cabinets[i].goes);
		assert_true(number(point(all, 1), "rows") > 0);
		assert_true(json_is_true(json_object_get(point(all, 2), "settled")));
		json_decref(all);
	}
}

/* With NICs that are only links, the same faults change the same rows. */
static void links_without_nics_change_same_rows(void **state)
{
	static const char *const keys[] = { "rows", "flows_held", "versions" };
	json_t *packets, *links;

	(void)state;
	expect("recovery --shape 4x3x5 --scenario fault,burst,during --json --nics packets", OK);
	packets = printed();
	expect("recovery --shape 4x3x5 --scenario fault,burst,during --json --nics links", OK);
	links = printed();
	for (size_t i = 0; i < 5 + 3 + 2; i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			assert_true(number(point(packets, i), keys[k]) ==
				    number(point(links, i), keys[k]));
	json_decref(packets);
	json_decref(links);
	expect("recovery --shape 3x4 --scenario dark,flap,root --nics links", OK);
}

/* A slower service network only delays everything. */
static void slow_service_network_only_delays(void **state)
{
	double fast, slow, narrow;
	json_t *all;

	(void)state;
	expect("recovery --shape 4x4 --scenario bring-up --json", OK);
	all = printed();
	fast = number(point(all, 0), "resumed_ms");
	json_decref(all);
	expect("recovery --shape 4x4 --scenario bring-up --hop-us 500 --json", OK);
	all = printed();
	slow = number(point(all, 0), "resumed_ms");
	json_decref(all);
	expect("recovery --shape 4x4 --scenario bring-up --gbps 0.01 --json", OK);
	all = printed();
	narrow = number(point(all, 0), "resumed_ms");
	json_decref(all);
	assert_true(slow > fast && narrow > fast);
}

static void same_seed_gives_same_result(void **state)
{
	static const char args[] = "recovery --shape 3x3 --scenario fault,during --jitter-us 40 "
				   "--traffic-us 1000 --csv --seed ";
	static char first[sizeof(out)];
	char line[256];

	(void)state;
	for (unsigned int seed = 1; seed <= 2; seed++) {
		snprintf(line, sizeof(line), "%s%u", args, seed);
		expect(line, OK);
		if (seed == 2)
			assert_string_not_equal(out, first);
		strcpy(first, out);
		expect(line, OK);
		assert_string_equal(out, first);
	}
}

static void bad(const char *args, const char *what)
{
	expect(args, CANNOT);
	has(err, what);
}

/*
 * A fault of a large fabric; memory must be small enough for a million nodes in 16 GiB. Programs
 * with sanitizers need more memory, and get a smaller fabric.
 */
static void large_recovery_needs_bounded_memory(void **state)
{
	bool watched = getenv("EVERY");
	double nodes = watched ? 8 * 8 * 16 : 16 * 32 * 32;
	json_t *all, *p;

	(void)state;
	expect(watched ? "recovery --shape 8x8x16 --nics links --scenario cut --cost --json" :
			 "recovery --shape 16x32x32 --scenario cut --cost --json", OK);
	all = printed();
	assert_int_equal(json_array_size(json_object_get(all, "points")), 2);
	p = point(all, 0);
	in_order(p);
	/*
	 * Each node gets one whole table, 12.5 bytes for each node, and little else. It joins with HELLO,
	 * CLAIM, HELLO when its NIC obeys, and WELCOME.
	 */
	assert_true(number(p, "messages") < 14 * nodes);
	assert_true(number(p, "bytes") > 12.5 * nodes * nodes);
	assert_true(number(p, "bytes") < 12.5 * nodes * nodes + 1000 * nodes * log2(nodes));
	p = point(all, 1);
	in_order(p);
	assert_true(number(p, "versions") == 1);
	assert_true(number(p, "lost") == 0);
	assert_true(number(p, "resumed_ms") < 2);
	/*
	 * Two messages down the tree to each node, and two up; the root's are those of its children.
	 * The rows of both ends go up first, and each node on their way asks its parent whether it
	 * lives.
	 */
	assert_in_range(number(p, "messages"), 4 * nodes, 4 * nodes + 40);
	assert_in_range(number(p, "root_messages"), 4 * 8, 4 * 8 + 6);
	assert_true(number(p, "bytes") < 700 * nodes);
	assert_true(number(p, "cpu_s") > 0);
	if (!watched)
		assert_true(number(p, "peak_mib") <= 16 * 32 * 32 * 18 / 1024);	/* 18 KiB a node */
	json_decref(all);
}

static void wrong_recovery_options_are_refused(void **state)
{
	(void)state;
	bad("recovery --shape 0x4", "--shape '0x4'");
	bad("recovery --shape 4x-1", "--shape '4x-1'");
	bad("recovery --shape 1", "must have 2 to");
	bad("recovery --shape 4096x4096x2", "--shape '4096x4096x2'");
	bad("recovery --shape 17x16x16 --nics packets", "must have 2 to 4096");
	bad("recovery --nics links --traffic-us 10", "--traffic-us 10");
	bad("recovery --nics some", "--nics");
	bad("recovery --scenario fire", "bring-up");
	bad("recovery --scenario fault,", "--scenario");
	bad("recovery --gbps 0", "--gbps");
	bad("recovery --gbps nan", "--gbps");
	bad("recovery --hop-us 0", "--hop-us");
	bad("recovery --fanout 0", "--fanout");
	bad("recovery --faults -1", "--faults");
	bad("recovery --dark 4x4x4", "--dark '4x4x4': is the whole fabric");
	bad("recovery --dark 2x2", "must be 3 sizes, up to those of the fabric, 4x4x4");
	bad("recovery --dark 5x1x1", "must be 3 sizes, up to those of the fabric, 4x4x4");
	bad("recovery --dark 2x2x2@3,3,3", "contains node 0, the root");
	bad("recovery --dark 2x2x2@4,0,0", "'4,0,0' is not a node of 4x4x4");
	bad("recovery --dark @1,1,1", "as 2x2x1 or 2x2x1@0,0,3");
	bad("recovery --json --csv", "--csv");
	bad("recovery --shape 2x2 --svg /nonexistent/x", "cannot write");
	bad("recovery now", "fabricsim recovery --help");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_has_times_in_order_and_expected_counts),
		cmocka_unit_test(each_scenario_has_its_points_with_times_in_order),
		cmocka_unit_test(cabinet_never_contains_root),
		cmocka_unit_test(links_without_nics_change_same_rows),
		cmocka_unit_test(slow_service_network_only_delays),
		cmocka_unit_test(same_seed_gives_same_result),
		cmocka_unit_test(large_recovery_needs_bounded_memory),
		cmocka_unit_test(wrong_recovery_options_are_refused),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
