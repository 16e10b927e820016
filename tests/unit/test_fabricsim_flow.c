// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim flow as users run it: right and wrong options, its answers, traces. */
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
#include "tools/fabricsim/flow_sweep.h"

#define FAST " --shape 4x4 --warmup 500 --cycles 1000 --seeds 2"

const struct program this_program = { .name = "test_fabricsim_flow" };

static char dir[] = "/tmp/fabricsim-test-XXXXXX";
static char file[64];

static void write_file(const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void wrong_flow_options_are_refused(void **state)
{
	static const struct {
		const char *args, *says;
	} c[] = {
		{ "--load 1.1", "0 to 1" },
		{ "--load -0.1", "0 to 1" },
		{ "--load x", "'x'" },
		{ "--load 0:1:0.0001", "--load: '0:1:0.0001' has more than the 4096 numbers" },
		{ "--policy blok", "there is no 'blok', known: bloc, cbs" },
		{ "--policy bloc,", "there is no ''" },
		{ "--pattern unifrom", "there is no 'unifrom', known: uniform" },
		{ "--pattern trace", "--trace FILE" },
		{ "--shape 8y8", "'8y8' is not a shape" },
		{ "--shape 1x1", "no traffic" },
		{ "--shape 8x8x8x8x8x8x8", "not a shape" },
		{ "--queue 0", "smaller than a packet" },
		{ "--queue 1.5", "not a whole number" },
		{ "--queue 1 --policy bloc", "queue of 2" },
		{ "--bubbles 0", "1 to" },
		{ "--bubbles 16 --policy mbs", "must be 1 to 15" },
		{ "--bubbles 0 --policy mbs", "must be 1 to 16777216" },
		{ "--bubbles 3 --policy bloc", "--bubbles 3: only cbs and mbs have" },
		{ "--bubbles 3 --policy dateline,none", "not --policy dateline,none" },
		{ "--bubbles 8 --policy cbs --queue 1", "must be 1 to 7" },
		{ "--preset mbs2013", "known: mbs2012" },
		{ "--bubble-test here", "known: downstream, local, either" },
		{ "--bubble-test local --hop 17", "not safe" },
		{ "--seeds 0", "1 to 1000" },
		{ "--cycles 0", "1 to" },
		{ "--hop 0", "1 to" },
		{ "--timer 0", "1 to" },
		{ "--figure wang2012-4", "known: wang2012-3" },
		{ "--figure wang2012-3 --policy mbs", "--policy: --figure wang2012-3" },
		{ "--figure wang2012-3 --queue 1", "--queue: --figure wang2012-3" },
		{ "--trace /nonexistent", "cannot read '/nonexistent'" },
		{ "--trace /dev/null", "has no packets" },
		{ "--pattern transpose --shape 4x8", "read backwards" },
		{ "--svg /nonexistent/x --load 0.1 --shape 4 --cycles 1", "cannot write" },
	};
	char args[256];

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		snprintf(args, sizeof(args), "flow %s", c[i].args);
		expect(args, 2);
		has(err, c[i].says);
		has(err, "fabricsim: ");
	}
}

static void json_has_one_object_per_point(void **state)
{
	static const char *const keys[] = { "accepted", "latency_mean", "ci95", "latency_ci95",
		"latency_p99", "cycles_per_s", "load" };
	json_t *j, *points, *p;
	size_t i;

	(void)state;
	expect("flow --json --policy bloc,mbs,dateline,adaptive --bubbles 1,2 --load 0.1:0.3:0.1"
	       " --pattern uniform,transpose" FAST, 0);
	j = printed();
	points = json_object_get(j, "points");
	/* only mbs has a number of bubbles */
	assert_int_equal(json_array_size(points), 2 * 3 * (4 + 1));
	json_array_foreach(points, i, p) {
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			assert_true(json_is_number(json_object_get(p, keys[k])));
		assert_true(json_is_string(json_object_get(p, "policy")));
		assert_true(json_is_string(json_object_get(p, "pattern")));
		assert_true(json_is_false(json_object_get(p, "deadlock")));
	}
	p = json_array_get(points, 4);
	assert_string_equal(json_string_value(json_object_get(p, "policy")), "mbs");
	assert_int_equal(json_integer_value(json_object_get(p, "bubbles")), 1);
	assert_true(json_real_value(json_object_get(p, "load")) == 0.2);
	assert_true(json_real_value(json_object_get(j, "bytes_per_buffer")) < 1024);
	json_decref(j);
}

static double accepted(const char *args)
{
	char line[256];
	double got;
	json_t *j;

	snprintf(line, sizeof(line), "flow --json --seeds 1 %s", args);
	expect(line, 0);
	j = printed();
	got = json_real_value(json_object_get(json_array_get(json_object_get(j, "points"), 0),
					      "accepted"));
	json_decref(j);
	return got;
}

/* Points of the tables in tools/fabricsim/README.md: one load, first seed, to the packet. */
static void throughput_equals_cells_of_readme(void **state)
{
	static const struct {
		const char *args;
		double accepted;
	} cells[] = {
		{ "--policy bloc --load 0.8 --bubble-test local", 0.3877000 },
		{ "--policy bloc --load 1", 0.4835125 },
		{ "--policy bloc --load 0.8 --bubble-test either", 0.5045875 },
		{ "--policy cbs --bubbles 1 --load 0.5", 0.4506500 },
		{ "--policy mbs --bubbles 2 --load 1", 0.4776375 },
		{ "--policy mbs --bubbles 2 --load 0.8 --queue 1", 0.3417500 },
		{ "--policy mbs --bubbles 4 --load 0.8 --pattern hotregion", 0.4553875 },
		{ "--policy cbs --bubbles 1 --load 1", 0.4214750 },
		{ "--policy adaptive --load 1", 0.7403000 },
		{ "--policy mbs --bubbles 2 --load 0.8 --pattern distribute", 0.5591625 },
		{ "--policy mbs --bubbles 2 --load 0.7 --pattern transpose", 0.2375500 },
		{ "--policy bloc --bubble-test local --load 0.3 --pattern transpose", 0.2286125 },
		{ "--policy bloc --bubble-test local --load 1 --pattern hotregion", 0.3624375 },
		{ "--policy mbs --bubbles 2 --queue 1 --load 0.8 --pattern hotregion", 0.3343250 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		double got = accepted(cells[i].args);

		if (fabs(got - cells[i].accepted) > 1e-6)
			fail_msg("%s: %.7f, was %.7f", cells[i].args, got, cells[i].accepted);
	}
}

/* If bubbles gather in one input, nodes that would enter the ring there are blocked for ever. */
static void cbs_throughput_halves_with_four_bubbles(void **state)
{
	double few, many;

	(void)state;
	few = accepted("--policy cbs --bubbles 1 --load 1 --warmup 100000 --cycles 20000");
	many = accepted("--policy cbs --bubbles 4 --load 1 --warmup 100000 --cycles 20000");
	assert_true(few > 0.38 && many < few / 2);
}

/*
 * Why the NIC uses BLOC (kernel/core/bubble.h, fabricsim flow --help): with the best number of
 * moved bubbles, throughput is a tenth higher in rings of 4 nodes, hardly higher in rings of 8, and
 * lower in rings of 16. With one bubble, throughput collapses in rings of 16.
 */
static void gain_of_moved_bubbles_is_as_documented(void **state)
{
	static const struct {
		const char *shape;
		int bubbles;
		double least, most;
	} is[] = {
		{ "4x4", 1, 1.07, 1.12 }, { "8x8", 4, 1.01, 1.05 }, { "16x16", 10, 0.93, 0.98 },
		{ "16x16", 1, 0.10, 0.25 },
	};
	char args[128];
	double bloc, mbs;

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		snprintf(args, sizeof(args), "--shape %s --load 1 --policy bloc", is[i].shape);
		bloc = accepted(args);
		snprintf(args, sizeof(args), "--shape %s --load 1 --policy mbs --bubbles %d",
			 is[i].shape, is[i].bubbles);
		mbs = accepted(args);
		if (mbs < is[i].least * bloc || mbs > is[i].most * bloc)
			fail_msg("%s: %.4f, bloc %.4f", args, mbs, bloc);
	}
}

static double real_of(const json_t *curve, const char *key)
{
	return json_real_value(json_object_get(curve, key));
}

/* The curves of Wang and Zhang's figure 3 in one command, and which of them hold past saturation. */
static void figure_wang2012_3_has_all_curves(void **state)
{
	static const struct { const char *policy; int queue, bubbles; } want[] = {
		{ "bloc", 2, 0 }, { "mbs", 1, 2 }, { "mbs", 2, 2 },
		{ "cbs", 2, 1 }, { "cbs", 2, 2 }, { "cbs", 2, 4 },
	};
	json_t *j, *curves;

	(void)state;
	expect("flow --json --figure wang2012-3 --seeds 1 --load 0.3,0.6,1 --pattern uniform", 0);
	j = printed();
	assert_string_equal(json_string_value(json_object_get(j, "figure")), "wang2012-3");
	assert_string_equal(json_string_value(json_object_get(j, "bubble_test")), "local");
	assert_int_equal(json_array_size(json_object_get(j, "points")), 6 * 3);
	curves = json_object_get(j, "curves");
	assert_int_equal(json_array_size(curves), 6);
	for (size_t i = 0; i < 6; i++) {
		const json_t *c = json_array_get(curves, i);
		const json_t *peak = json_array_get(json_object_get(j, "points"), 3 * i);

		assert_string_equal(json_string_value(json_object_get(c, "policy")), want[i].policy);
		assert_int_equal(json_integer_value(json_object_get(c, "queue")), want[i].queue);
		assert_int_equal(json_integer_value(json_object_get(c, "bubbles")), want[i].bubbles);
		assert_true(real_of(c, "peak") >= real_of(peak, "accepted"));
		assert_true(real_of(c, "peak") >= real_of(c, "saturated"));
		/* BLOC and MBS hold past saturation; CBS with four bubbles is far below MBS then. */
		if (strcmp(want[i].policy, "cbs"))
			assert_true(real_of(c, "saturated") > 0.97 * real_of(c, "peak"));
	}
	assert_true(real_of(json_array_get(curves, 5), "saturated") <
		    0.85 * real_of(json_array_get(curves, 2), "saturated"));
	json_decref(j);
	/* The traffic carried at the highest load, in whichever order loads are given. */
	expect("flow --json --figure wang2012-3 --seeds 1 --load 1,0.2 --pattern uniform --warmup 500 "
	       "--cycles 1000", 0);
	j = printed();
	assert_true(real_of(json_array_get(json_object_get(j, "curves"), 0), "saturated") ==
		    real_of(json_array_get(json_object_get(j, "points"), 0), "accepted"));
	json_decref(j);
	/* People see the curves; 15 seeds unless they ask for others. */
	expect("flow --figure wang2012-3 --seeds 1 --load 0.1 --warmup 10 --cycles 100", 0);
	has(out, "hotregion");
	has(out, "saturated");
	expect("flow --json --figure wang2012-3 --load 0.1 --warmup 10 --cycles 50", 0);
	j = printed();
	assert_int_equal(json_integer_value(json_object_get(j, "seeds")), 15);
	assert_int_equal(json_array_size(json_object_get(j, "curves")), 4 * 6);
	json_decref(j);
}

static void deadlock_is_a_problem(void **state)
{
	json_t *j, *p;

	(void)state;
	expect("flow --policy none --load 0.9 --seeds 2 --json", 1);
	j = printed();
	p = json_array_get(json_object_get(j, "points"), 0);
	assert_true(json_is_true(json_object_get(p, "deadlock")));
	assert_int_equal(json_integer_value(json_object_get(p, "deadlocks")), 2);
	json_decref(j);
}

/* All keys but the speed of the simulation. */
static json_t *without_speed(void)
{
	json_t *j = printed(), *p;
	size_t i;

	json_array_foreach(json_object_get(j, "points"), i, p)
		json_object_del(p, "cycles_per_s");
	return j;
}

static void result_does_not_depend_on_threads(void **state)
{
	json_t *a, *b;

	(void)state;
	expect("flow --json --load 0.2,0.8 --threads 1" FAST, 0);
	a = without_speed();
	expect("flow --json --load 0.2,0.8 --threads 3" FAST, 0);
	b = without_speed();
	assert_true(json_equal(a, b));
	json_decref(b);
	expect("flow --json --load 0.2,0.8 --seed 2" FAST, 0);
	b = without_speed();
	assert_false(json_equal(a, b));
	json_decref(a);
	json_decref(b);
}

static unsigned int commas(const char *line)
{
	unsigned int n = 0;

	for (; *line && *line != '\n'; line++)
		n += *line == ',';
	return n;
}

static void csv_has_one_line_per_point_and_equal_columns(void **state)
{
	unsigned int lines = 0, wide;

	(void)state;
	expect("flow --csv --load 0.1,0.2 --policy bloc" FAST, 0);
	wide = commas(out);
	assert_memory_equal(out, "policy,bubbles,", 15);
	for (const char *p = out; *p; p = strchr(p, '\n') + 1, lines++)
		assert_int_equal(commas(p), wide);
	assert_int_equal(lines, 3);
	expect("flow --load 0.1,0.2 --policy bloc" FAST, 0);
	has(out, "accepted");
	has(out, "bloc");
}

static void flow_is_drawn_as_svg(void **state)
{
	char args[256], text[16384];
	size_t n;
	FILE *f;

	(void)state;
	snprintf(args, sizeof(args), "flow --load 0.1:0.9:0.2 --policy bloc,mbs --svg %s" FAST,
		 file);
	expect(args, 0);
	f = fopen(file, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	has(text, "<svg xmlns=");
	has(text, "</svg>");
	has(text, "bloc");
	has(text, "mbs, 2 a ring");
	has(text, "throughput");
	assert_null(strstr(text, "nan"));
}

static void trace_file_is_simulated_as_written(void **state)
{
	char args[256];
	json_t *j, *p;

	(void)state;
	write_file("# time src dst\n\n5 0 5\n0 0,0 1,1   # the same way\n5 3 0\n");
	snprintf(args, sizeof(args), "flow --shape 4x4 --policy dateline --seeds 1 --json"
		 " --trace %s",
		 file);
	expect(args, 0);
	j = printed();
	p = json_array_get(json_object_get(j, "points"), 0);
	assert_int_equal(json_integer_value(json_object_get(p, "delivered")), 3);
	assert_string_equal(json_string_value(json_object_get(p, "pattern")), "trace");
	/* two hops, two behind the first packet of the same node, one around the ring */
	assert_true(fabs(json_real_value(json_object_get(p, "latency_mean")) -
			 (18 + (16 - 5 + 18) + 17) / 3.0) < 1e-6);
	assert_true(json_is_null(json_object_get(p, "load")));
	json_decref(j);
	snprintf(args, sizeof(args), "flow --load 0.1 --trace %s", file);
	expect(args, 2);
	has(err, "--load: --trace sets");
}

static void broken_trace_line_is_refused_with_reason(void **state)
{
	static const struct {
		const char *line, *says;
	} c[] = {
		{ "1 2", "TIME SRC DST" },	   { "1 2 3 4", "TIME SRC DST" },
		{ "x 2 3", "the time" },	   { "-1 2 3", "the time" },
		{ "1 16 3", "no such source" },	   { "1 0 4,0", "no such destination" },
		{ "1 3 3", "the same" },	   { "1 1,1,1 3", "no such source" },
		{ "1 +1 3", "no such source" },	   { "99999999999999999999 1 2", "the time" },
	};
	char args[256], text[128], where[96];

	(void)state;
	snprintf(args, sizeof(args), "flow --shape 4x4 --trace %s", file);
	snprintf(where, sizeof(where), "%s:3: ", file);
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		snprintf(text, sizeof(text), "0 1 2\n# fine\n%s\n3 4 5\n", c[i].line);
		write_file(text);
		expect(args, 2);
		has(err, where);
		has(err, c[i].says);
	}
}

static void confidence_interval_of_sample_is_right(void **state)
{
	static const double sample[] = { 1, 2, 3, 4, 5 };
	struct mean m = mean_of(sample, 5);

	(void)state;
	/* sd 1.5811, t(4) 2.776 */
	assert_true(fabs(m.mean - 3) < 1e-12 && fabs(m.ci95 - 1.9629) < 1e-3);
	assert_true(isnan(mean_of(sample, 1).ci95) && mean_of(sample, 1).mean == 1);
	assert_true(isnan(mean_of(sample, 0).mean));
}

static int start(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(file, sizeof(file), "%s/file", dir);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	unlink(file);
	return rmdir(dir);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_flow_options_are_refused),
		cmocka_unit_test(json_has_one_object_per_point),
		cmocka_unit_test(throughput_equals_cells_of_readme),
		cmocka_unit_test(gain_of_moved_bubbles_is_as_documented),
		cmocka_unit_test(figure_wang2012_3_has_all_curves),
		cmocka_unit_test(cbs_throughput_halves_with_four_bubbles),
		cmocka_unit_test(deadlock_is_a_problem),
		cmocka_unit_test(result_does_not_depend_on_threads),
		cmocka_unit_test(csv_has_one_line_per_point_and_equal_columns),
		cmocka_unit_test(flow_is_drawn_as_svg),
		cmocka_unit_test(trace_file_is_simulated_as_written),
		cmocka_unit_test(broken_trace_line_is_refused_with_reason),
		cmocka_unit_test(confidence_interval_of_sample_is_right),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests(tests, start, stop);
}
