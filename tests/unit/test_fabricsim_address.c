// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim address: the figures of the paper, stretch of tori, and the pairs that never arrive. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/program.h"
#include "tools/fabricctl/command.h"

/* Runs the command. Return: point @i; the caller drops @all. */
static json_t *point_of(const char *args, size_t i, json_t **all)
{
	char line[512];
	json_t *point;

	snprintf(line, sizeof(line), "address --json %s", args);
	expect(line, OK);
	*all = printed();
	point = json_array_get(json_object_get(*all, "points"), i);
	assert_non_null(point);
	return point;
}

static int64_t whole(json_t *point, const char *key)
{
	assert_true(json_is_integer(json_object_get(point, key)));
	return json_integer_value(json_object_get(point, key));
}

static double real(json_t *point, const char *key)
{
	assert_true(json_is_real(json_object_get(point, key)));
	return json_real_value(json_object_get(point, key));
}

static void figures_of_paper_have_its_addresses(void **state)
{
	static const uint32_t seven[] = { 8, 9, 4, 5, 6, 7, 0, 16, 17, 18 };
	json_t *all, *list;

	(void)state;
	expect("address --figure 7 --json", OK);
	all = printed();
	assert_int_equal(whole(all, "m"), 5);
	assert_int_equal(whole(all, "holes"), 3);
	assert_int_equal(whole(all, "loops"), 0);
	list = json_object_get(all, "addresses");
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(json_integer_value(json_array_get(list, i)), seven[i]);
	list = json_object_get(all, "renumbered");
	assert_int_equal(json_array_size(list), 3);
	for (size_t i = 0; i < 3; i++) {
		json_t *pair = json_array_get(list, i);

		assert_int_equal(json_integer_value(json_array_get(pair, 0)), 1 + i);
		assert_int_equal(json_integer_value(json_array_get(pair, 1)), 16 + i);
	}
	json_decref(all);
	expect("address --figure 8", OK);
	has(out, "Figure 8: 4 digits, 1 renumbered");
	has(out, "     9     1010       5");
}

static void digits_and_stretch_of_tori_are_as_documented(void **state)
{
	static const struct {
		const char *shape;
		int m;
		double stretch;
	} want[] = { { "4", 2, 1.000 }, { "8", 3, 1.0625 }, { "16", 4, 1.078 }, { "64", 6, 1.083 },
		{ "4x4x4", 6, 1.000 }, { "8x8x8", 9, 1.0625 } };

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		char args[64];
		json_t *all, *p;

		snprintf(args, sizeof(args), "--shape %s", want[i].shape);
		p = point_of(args, 0, &all);
		assert_int_equal(whole(p, "m"), want[i].m);
		assert_int_equal(whole(p, "holes"), 0);
		assert_int_equal(whole(p, "loops"), 0);
		assert_int_equal(whole(p, "table_bytes"), 8 * want[i].m);
		assert_float_equal(real(p, "stretch"), want[i].stretch, 0.0005);
		assert_float_equal(real(p, "mean_hops"), real(p, "minimal_hops") * real(p, "stretch"), 1e-6);
		json_decref(all);
	}
}

/* 2, 2 and 2 vertices are 1, 2 and 3 hops away: none of degree 2 has shorter paths. */
static void heptagon_has_paths_of_two_hops(void **state)
{
	json_t *all, *p = point_of("--graph ring:7", 0, &all);

	(void)state;
	assert_float_equal(real(p, "minimal_hops"), 2, 1e-6);
	json_decref(all);
}

/* Packets by the rule of the paper may never arrive; legs always do. */
static void rule_of_paper_may_loop_and_legs_never_do(void **state)
{
	static const struct {
		const char *args;
		int loops, any, pairs;
	} want[] = {
		{ "--graph ring:10 --pairs 9-0,1-2,3-4,5-6,7-8/9-1,3-5/9-3/9-7", 16, 16, 90 },
		{ "--graph ring:7 --pairs 5-6,0-1,2-3/0-5/0-4/2-0", 2, 2, 42 },
		{ "--graph ring:4", 0, 0, 12 },
		{ "--graph ring:6", 0, 0, 30 },
		{ "--graph ring:7", 0, 0, 42 },
		{ "--shape 4x4x4", 0, 0, 4032 },
		{ "--graph hypercube:5", 0, 0, 992 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		char args[128];
		json_t *all, *p;

		snprintf(args, sizeof(args), "--as-written %s", want[i].args);
		p = point_of(args, 0, &all);
		assert_int_equal(whole(p, "loops"), want[i].loops);
		assert_int_equal(whole(p, "loops_any"), want[i].any);
		assert_int_equal(whole(p, "pairs"), want[i].pairs);
		json_decref(all);
		p = point_of(want[i].args, 0, &all);
		assert_int_equal(whole(p, "loops"), 0);
		assert_null(json_object_get(p, "loops_any"));
		json_decref(all);
	}
}

static void part_of_torus_is_addressed_the_same_each_time(void **state)
{
	json_t *all, *again, *p;

	(void)state;
	p = point_of("--shape 8x8x8 --part 64 --seed 3", 0, &all);
	assert_int_equal(whole(p, "nodes"), 64);
	assert_int_equal(whole(p, "loops"), 0);
	assert_in_range(whole(p, "m"), 6, 8);
	assert_true(real(p, "stretch") >= 1 && real(p, "stretch") < 1.5);
	point_of("--shape 8x8x8 --part 64 --seed 3", 0, &again);
	assert_true(json_equal(all, again));
	json_decref(again);
	json_decref(all);
	p = point_of("--shape 5x5x5,3x3x3 --match dominant", 1, &all);
	assert_int_equal(whole(p, "nodes"), 27);
	json_decref(all);
	p = point_of("--graph dragonfly:4", 0, &all);
	assert_int_equal(whole(p, "nodes"), 20);
	assert_true(real(p, "minimal_hops") < 3);
	json_decref(all);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* A file of edges, and the drawing of its addresses. */
static void edges_from_file_are_drawn_with_addresses(void **state)
{
	char path[] = "/tmp/test_address.XXXXXX", args[256], text[4096];
	int fd = mkstemp(path);
	json_t *all, *p;
	size_t n;
	FILE *f;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_file(path, "# a path\n0 1\n\n1 2\n2 3\n");
	snprintf(args, sizeof(args), "--graph file:%s", path);
	p = point_of(args, 0, &all);
	assert_int_equal(whole(p, "nodes"), 4);
	assert_int_equal(whole(p, "m"), 2);
	json_decref(all);
	snprintf(args, sizeof(args), "address --graph ring:5 --svg %s", path);
	expect(args, OK);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	has(text, "<svg ");
	has(text, ">ring:5</text>");
	has(text, ">100</text>");
	write_file(path, "0 1\n1 x\n");
	snprintf(args, sizeof(args), "address --graph file:%s", path);
	expect(args, CANNOT);
	has(err, ":2: must be two vertices");
	write_file(path, "0 0\n");
	expect(args, CANNOT);
	has(err, "edge 0 0: must be two different vertices");
	write_file(path, "0 1\n2 3\n");
	expect(args, CANNOT);
	has(err, "is not connected");
	write_file(path, "");
	expect(args, CANNOT);
	has(err, "the file has no edges");
	unlink(path);
}

static void wrong_address_options_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "--shape 4x", "--shape '4x'" },
		{ "--shape 32x32x32", "32768 nodes, must have at most 16384" },
		{ "--shape 4x4 --part 17", "shape 4x4 has 16 nodes" },
		{ "--shape 4x4 --graph ring:4", "exclude each other" },
		{ "--graph ring:4 --part 2", "parts are of tori" },
		{ "--graph ring:0", "must be ring:1 to ring:16384" },
		{ "--graph tree:4", "must be ring:N" },
		{ "--graph file:/none", "No such file" },
		{ "--figure 9", "figure" },
		{ "--figure 7 --pairs 0-1", "has its own pairs" },
		{ "--figure 7 --csv", "has no points" },
		{ "--graph ring:4 --pairs 0-2", "not adjacent" },
		{ "--graph ring:4 --pairs 0-1", "not one set" },
		{ "--graph ring:4 --pairs 0-1;", "must be pairs" },
		{ "--graph ring:600 --match exact", "too many vertices, must have at most 512" },
		{ "--shape 8x8x8 --svg /dev/null", "a tree is drawn of up to 128" },
		{ "--shape 4,8 --svg /dev/null", "a drawing has one shape" },
		{ "--match best", "match" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[256];

		snprintf(line, sizeof(line), "address %s", bad[i][0]);
		expect(line, CANNOT);
		has(err, bad[i][1]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_paper_have_its_addresses),
		cmocka_unit_test(digits_and_stretch_of_tori_are_as_documented),
		cmocka_unit_test(heptagon_has_paths_of_two_hops),
		cmocka_unit_test(rule_of_paper_may_loop_and_legs_never_do),
		cmocka_unit_test(part_of_torus_is_addressed_the_same_each_time),
		cmocka_unit_test(edges_from_file_are_drawn_with_addresses),
		cmocka_unit_test(wrong_address_options_are_refused),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
