// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim translate: the figures of the paper about bridges, operations of its programs. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/program.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricsim/translate_paper.h"
#include "tools/fabricsim/translate_time.h"

const struct program this_program = { .name = "test_fabricsim_translate" };

static double at(json_t *all, const char *a, const char *b, const char *c)
{
	json_t *v = json_object_get(json_object_get(all, a), b);

	v = c ? json_object_get(v, c) : v;
	assert_true(json_is_real(v));
	return json_real_value(v);
}

static void numbers_of_paper_are_reproduced(void **state)
{
	json_t *all;

	(void)state;
	expect("translate --paper --json", OK);
	all = printed();
	assert_float_equal(at(all, "ratio", "avg", NULL), 1.776, 0.0005);
	assert_float_equal(at(all, "ratio", "min", NULL), 1.302, 0.0005);
	assert_float_equal(at(all, "ratio", "max", NULL), 1.439, 0.0005);
	assert_float_equal(at(all, "ns", "before", "avg"), 52.2, 0.05);
	assert_float_equal(at(all, "ns", "before", "min"), 12.3, 0.05);
	assert_float_equal(at(all, "ns", "before", "max"), 75.1, 0.05);
	assert_float_equal(at(all, "ns", "after", "avg"), 29.4, 0.05);
	assert_float_equal(at(all, "ns", "after", "min"), 9.4, 0.05);
	assert_float_equal(at(all, "ns", "after", "max"), 52.2, 0.05);
	assert_float_equal(at(all, "operations", "before", "avg"), 208.935, 1e-9);
	assert_float_equal(at(all, "operations", "after", "max"), 208.935, 1e-9);
	assert_float_equal(at(all, "search", "ratio_avg", NULL), 2, 1e-9);
	assert_float_equal(at(all, "search", "ratio_max", NULL), 1.469, 0.0005);
	assert_float_equal(at(all, "search", "saved_once", NULL), 11.4, 1e-9);
	json_decref(all);
	expect("translate --paper", OK);
	has(out, "average  208.935  117.621  1.776     1.77       52.2       52      29.4       29");
	has(out, "0x0002ffff  0x1d00ffff  0x0400ffff    0x1d00ffff");
	has(out, "Its 11 ns are 12");
	has(out, "64 by high bits, 80 with key and index");
}

/* Tables 1 and 2 name the same targets; the invalid row carries once it is valid. */
static void both_tables_of_paper_name_same_targets(void **state)
{
	static const struct {
		uint64_t index, high;
		int err;
		uint64_t to;
	} want[] = {
		{ 0x00001234, 0x01001234, 0, 0x11001234 }, { 0x00010000, 0x02000000, 0, 0x16000000 },
		{ 0x0002ffff, 0x0400ffff, 0, 0x1d00ffff }, { 0x00035000, 0x05005000, -ESTALE, 0 },
		{ 0x00040000, 0x03000000, -ENXIO, 0 }, { 0x00ff0000, 0xffff0000, -ENXIO, 0 },
		{ 1ull << 48, 0x01000000 | 1ull << 48, -ENXIO, 0 },
	};
	struct translate_row rows[4];
	struct translate_bridge b = { .by_table = true, .row = rows, .n = 4 };
	uint64_t to, ops = 0;

	(void)state;
	memcpy(rows, translate_tables, sizeof(rows));
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		for (int which = 0; which < TRANSLATE_PROGRAMS; which++) {
			uint64_t addr = which == TRANSLATE_HIGH ? want[i].high : want[i].index;

			to = 0;
			assert_int_equal(translate_run(which, &b, addr, &to, &ops), want[i].err);
			assert_int_equal(to, want[i].to);
			to = 0;
			assert_int_equal(translate_plain(which, &b, addr, &to), want[i].err);
			assert_int_equal(to, want[i].to);
		}
	}
	rows[3].valid = true;
	assert_int_equal(translate_run(TRANSLATE_HIGH, &b, 0x05005000, &to, &ops), 0);
	assert_int_equal(to, 0xb1011000);
	b.by_table = false;
	assert_int_equal(translate_run(TRANSLATE_HIGH, &b, 0x01000000, &to, &ops), -EINVAL);
}

/*
 * Operations grow by the same number with each row; taking the index for each row costs two more a
 * row, and taking it once costs what the high bits cost.
 */
static void operations_grow_linearly_with_rows(void **state)
{
	struct translate_counts index, once, high, more;

	(void)state;
	for (size_t n = 1; n <= 64; n++) {
		double passes = ((double)n + 1) / 2;

		assert_int_equal(translate_count(TRANSLATE_INDEX, n, &index), 0);
		assert_int_equal(translate_count(TRANSLATE_INDEX_ONCE, n, &once), 0);
		assert_int_equal(translate_count(TRANSLATE_HIGH, n, &high), 0);
		assert_memory_equal(&once, &high, sizeof(once));
		assert_float_equal(index.hit.avg - high.hit.avg, 2 * passes, 1e-9);
		assert_float_equal(high.hit.min, 24, 0);
		assert_float_equal(high.hit.avg, high.hit.min + 6 * (passes - 1), 1e-9);
		assert_float_equal(high.hit.max, high.hit.min + 6 * ((double)n - 1), 1e-9);
		assert_int_equal(translate_count(TRANSLATE_HIGH, n + 1, &more), 0);
		assert_float_equal(more.miss - high.miss, 6, 0);
		assert_true(translate_ratio(index.hit, high.hit).avg < 8. / 6);
	}
}

static void translate_prints_points_in_json_and_csv(void **state)
{
	json_t *all, *points;

	(void)state;
	expect("translate --json", OK);
	all = printed();
	points = json_object_get(all, "points");
	assert_int_equal(json_array_size(points), 14);
	assert_float_equal(json_real_value(json_object_get(json_array_get(points, 11), "ratio_avg")),
			   70. / 57, 1e-9);
	json_decref(all);
	expect("translate --entries 3,5 --csv", OK);
	has(out, "entries,index_avg,index_min");
	has(out, "\n5,42,");
}

/* The command checks that each method finds its targets; here the shape of its answer. */
static void each_method_is_timed_for_each_size(void **state)
{
	json_t *all, *points, *v;
	size_t i;

	(void)state;
	expect("translate --time --entries 1,100 --json", OK);
	all = printed();
	points = json_object_get(all, "points");
	assert_int_equal(json_array_size(points), 2 * TRANSLATE_METHODS);
	json_array_foreach(points, i, v) {
		assert_string_equal(json_string_value(json_object_get(v, "method")),
				    translate_methods[i / 2]);
		assert_int_equal(json_integer_value(json_object_get(v, "entries")), i % 2 ? 100 : 1);
		assert_true(json_real_value(json_object_get(v, "ns")) > 0);
		assert_true(json_real_value(json_object_get(v, "chain_ns")) > 0);
	}
	json_decref(all);
}

static void translate_draws_svg(void **state)
{
	char command[64], name[] = "/tmp/translate-XXXXXX", text[1 << 16] = "";
	int fd = mkstemp(name);
	FILE *f;

	(void)state;
	assert_true(fd >= 0);
	snprintf(command, sizeof(command), "translate --svg %s", name);
	expect(command, OK);
	f = fdopen(fd, "r");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	has(text, "the paper");
	has(text, "index_once / high");
	fclose(f);
	unlink(name);
}

static void size_on_wire_is_rounded_up_to_flits(void **state)
{
	(void)state;
	assert_int_equal(translate_bytes(8, false), 64);
	assert_int_equal(translate_bytes(8, true), 80);
	assert_int_equal(translate_bytes(0, false), 48);
	assert_int_equal(translate_bytes(4080, false), 4096 + 32);
	assert_int_equal(translate_bytes(4064, true), 4096 + 32);
}

static void wrong_translate_options_are_refused(void **state)
{
	(void)state;
	expect("translate --paper --time", CANNOT);
	has(err, "--paper and --time exclude each other");
	expect("translate --paper --csv", CANNOT);
	has(err, "--csv: --paper has no points");
	expect("translate --paper --entries 5", CANNOT);
	has(err, "--entries 5: the tables of --paper have 4 rows");
	expect("translate --entries 0", CANNOT);
	has(err, "must be 1 to 4096");
	expect("translate --time --entries 1000001", CANNOT);
	has(err, "must be 1 to 1000000");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(numbers_of_paper_are_reproduced),
		cmocka_unit_test(both_tables_of_paper_name_same_targets),
		cmocka_unit_test(operations_grow_linearly_with_rows),
		cmocka_unit_test(translate_prints_points_in_json_and_csv),
		cmocka_unit_test(each_method_is_timed_for_each_size),
		cmocka_unit_test(translate_draws_svg),
		cmocka_unit_test(size_on_wire_is_rounded_up_to_flits),
		cmocka_unit_test(wrong_translate_options_are_refused),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests_name("fabricsim_translate", all, NULL, NULL);
}
