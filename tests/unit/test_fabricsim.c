// SPDX-License-Identifier: GPL-2.0-only
/* The parts that the commands of fabricsim share: ranges, words, jobs, help. */
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
#include "tools/fabricsim/jobs.h"
#include "tools/fabricsim/range.h"

const struct program this_program = { .name = "test_fabricsim" };

/* Error texts are not tested here. */
static int quietly_parse(const char *text, double min, double max, struct range *r)
{
	int keep = dup(2), status;

	assert_non_null(freopen("/dev/null", "w", stderr));
	status = range_parse("x", text, min, max, r);
	fflush(stderr);
	dup2(keep, 2);
	close(keep);
	return status;
}

static void ranges_of_numbers_are_read_or_refused(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		double first, last;
	} good[] = {
		{ "0.5", 1, 0.5, 0.5 },		 { "0.1:1.0:0.1", 10, 0.1, 1 },
		{ "0.1,0.5,0.9", 3, 0.1, 0.9 },	 { "0:1:0.25", 5, 0, 1 },
		{ "0.2:0.3:0.2", 1, 0.2, 0.2 },	 { "1:1:1", 1, 1, 1 },
		{ "1e-1", 1, 0.1, 0.1 },	 { "0:1:0.001", 1001, 0, 1 },
		{ "0.05:0.95:0.1", 10, 0.05, 0.95 },
	};
	static const char *const bad[] = {
		"", "x", "1.5", "-0.1", "0.1:", "0.1:0.5", "0.5:0.1:0.1", "0.1:0.5:0", "0.1:0.5:-1",
		"0.1,", ",0.1", "0.1,2", "nan", "inf", "0x1", "0.1:0.5:0.1:0.1", "0.1 ", "0:1:1e-9",
		"0.1,0.2:0.5:0.1",
	};
	struct range r;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(range_parse("x", good[i].text, 0, 1, &r), OK);
		assert_int_equal(r.n, good[i].n);
		assert_true(r.v[0] == good[i].first && r.v[r.n - 1] == good[i].last);
		free(r.v);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (quietly_parse(bad[i], 0, 1, &r) != CANNOT)
			fail_msg("'%s' is taken for a range", bad[i]);
	assert_int_equal(range_decades("x", "64:1000000", 1, 1e6, 5, &r), OK);
	assert_int_equal(r.n, 5);
	assert_true(r.v[0] == 64 && fabs(r.v[4] - 1e6) < 1e-3 && fabs(r.v[2] - 8000) < 1e-6);
	free(r.v);
}

static void option_word_gives_its_index(void **state)
{
	static const char *const list[] = { "one", "two", "twofold", NULL };

	(void)state;
	assert_int_equal(word_option("x", "one", 3, list), 0);
	assert_int_equal(word_option("x", "two,one", 3, list), 1);
	assert_int_equal(word_option("x", "twofold", 7, list), 2);
}

#define JOBS 1000

static int count(void *arg, size_t i)
{
	unsigned int *done = arg;

	return __atomic_add_fetch(&done[i], 1, __ATOMIC_RELAXED) == 1 ? 0 : -1;
}

static int fail_from_7(void *arg, size_t i)
{
	(void)arg;
	return i < 7 ? 0 : (int)i;
}

static void each_job_runs_once_on_any_number_of_threads(void **state)
{
	static unsigned int done[JOBS];

	(void)state;
	for (unsigned int threads = 0; threads < 5; threads++) {
		memset(done, 0, sizeof(done));
		assert_int_equal(jobs_run(JOBS, threads, "test", count, done), 0);
		for (size_t i = 0; i < JOBS; i++)
			assert_int_equal(done[i], 1);
		assert_int_equal(jobs_run(JOBS, threads, "test", fail_from_7, NULL), 7);
	}
	assert_int_equal(jobs_run(0, 2, "test", count, done), 0);
}

static void seeds_of_jobs_differ(void **state)
{
	(void)state;
	for (size_t i = 0; i < 100; i++)
		for (size_t k = 0; k < i; k++)
			assert_true(jobs_seed(1, i) != jobs_seed(1, k));
	assert_true(jobs_seed(1, 0) != jobs_seed(2, 0));
}

static void help_and_version_are_shown_and_errors_exit_2(void **state)
{
	(void)state;
	expect("--help", 0);
	has(out, "usage: fabricsim COMMAND");
	has(out, "flow");
	expect("", 2);
	expect("--version", 0);
	has(out, "fabricsim " TORUS_VERSION);
	expect("flwo", 2);
	has(err, "did you mean 'flow'");
	expect("flow --help", 0);
	has(out, "--policy");
	expect("flow x", 2);
	has(err, "one argument too many");
	expect("flow --nonsense", 2);
	has(err, "no option '--nonsense'");
	expect("flow --json --csv", 2);
	expect("flow --seed -1", 2);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_of_numbers_are_read_or_refused),
		cmocka_unit_test(option_word_gives_its_index),
		cmocka_unit_test(each_job_runs_once_on_any_number_of_threads),
		cmocka_unit_test(seeds_of_jobs_differ),
		cmocka_unit_test(help_and_version_are_shown_and_errors_exit_2),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
