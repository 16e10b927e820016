// SPDX-License-Identifier: GPL-2.0-only
/* The judgement of lines by their errors: exact bounds, a naive model, chance, and odd counters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/quality.h"
#include "lib/util/times.h"
#include "tests/unit/random.h"

#define LIMIT	1e-9
#define FALL	((1 - 0.1) / log(10))	/* how much the errors that the limit allows lower the sum */

static struct quality_rules rules = {
	.warn_ber = LIMIT, .fail_ber = 1e-6, .errors_min = 20, .clean_for = 60 * SEC,
};

static struct quality q;
static struct quality_sample s;

static void begin(void)
{
	memset(&q, 0, sizeof(q));
	s = (struct quality_sample) { .at = 1000 * SEC, .session = 7, .up = true };
	assert_false(quality_read(&q, &rules, &s));
}

/* Gives a reading two seconds later. Return: true if the level changed. */
static bool next(uint64_t bits, uint64_t errors)
{
	s.at += 2 * SEC;
	s.bits += bits;
	s.errors += errors;
	return quality_read(&q, &rules, &s);
}

/* --- bounds ---------------------------------------------------------------- */

static void sum_at_bound_makes_line_fail(void **state)
{
	(void)state;
	begin();
	assert_false(next(0, 10));
	assert_true(quality_suspects(&q));
	assert_false(next(0, 9));
	assert_int_equal(q.level, QUALITY_GOOD);
	assert_true(next(0, 1));
	assert_int_equal(q.level, QUALITY_FAIL);	/* there are more errors than bits */
	assert_false(quality_suspects(&q));
}

/* Gives a reading of a NIC that counts seconds with errors. Return: true if the level changed. */
static bool next_seconds(uint64_t bits, uint64_t errors, uint64_t seconds)
{
	s.seconds += seconds;
	return next(bits, errors);
}

/*
 * Any number of errors within a moment does not make a line bad, whether one reading or two contain
 * them. Each later second with an error counts.
 */
static void one_burst_does_not_make_line_bad(void **state)
{
	(void)state;
	begin();
	assert_false(next_seconds(1000, 1000000, 1));
	assert_false(next_seconds(1000, 1000000, 0));
	for (unsigned int i = 0; i < 10; i++)
		assert_false(next(1000, 0));
	assert_false(quality_suspects(&q));
	assert_false(next_seconds(1000, 1, 1));
	assert_true(next_seconds(1000, 1, 1));
	assert_int_equal(q.level, QUALITY_FAIL);
}

/*
 * A cable with 1e-6 under traffic for five seconds within one reading, and no packet after it, is
 * found by this reading. Two seconds are not enough, and a clean time begins them anew.
 */
static void errors_of_one_reading_count_if_spread(void **state)
{
	(void)state;
	begin();
	assert_true(next_seconds(9500000000, 9500, 5));
	assert_int_equal(q.level, QUALITY_FAIL);
	assert_true(fabs(quality_ber(&(struct quality_count) { .bits = 9500000000, .errors = 9500 })
			 - 1e-6) < 1e-12);
	assert_int_equal(quality_recent(&q).errors, 9500);
	begin();
	assert_false(next_seconds(9500000000, 9500, QUALITY_SECONDS - 1));
	assert_int_equal(q.level, QUALITY_GOOD);
	begin();
	assert_false(next_seconds(1000, 10, QUALITY_SECONDS - 1));
	assert_false(next((uint64_t)(1000 / LIMIT), 0));	/* the sums are 0 */
	assert_false(next_seconds(1000, 1000, 1));
	assert_false(next_seconds(1000, 0, 0));
	assert_true(next_seconds(1000, 2, 2));
}

/* A NIC that does not count seconds: each reading with errors is one. */
static void readings_count_without_seconds(void **state)
{
	(void)state;
	begin();
	for (unsigned int i = 0; i < QUALITY_SECONDS - 1; i++) {
		assert_false(next(1000, 1000000));
		assert_false(next(1000, 0));
	}
	assert_true(next(1000, 1));
}

/* With errors at the limit the sum rises by 1 - 0.39 with each error. */
static void errors_at_limit_make_line_warn_after_known_number(void **state)
{
	unsigned int n = 0;

	(void)state;
	begin();
	while (q.level == QUALITY_GOOD && n < 1000) {
		next((uint64_t)(1 / LIMIT), 1);
		n++;
	}
	assert_int_equal(q.level, QUALITY_WARN);
	assert_int_equal(n, (unsigned int)ceil(20 / (1 - FALL)));
	assert_true(fabs(20 / (1 - FALL) - 20 / 0.6) < 1);	/* figures of quality.h */
}

static void limit_0_makes_no_line_bad(void **state)
{
	(void)state;
	rules.warn_ber = rules.fail_ber = 0;
	begin();
	for (unsigned int i = 0; i < 10; i++)
		assert_false(next(1000, 1000));
	rules.warn_ber = LIMIT;
	rules.fail_ber = 1e-6;
}

/* --- a naive model --------------------------------------------------------- */

#define STEPS 400

/* Return: the largest sum over all last readings, and how many of these readings have errors. */
static bool naive_bad(const double *bits, const double *errors, unsigned int n)
{
	double sum = 0, best = 0;
	unsigned int with = 0, best_with = 0;

	for (unsigned int i = n; i-- > 0;) {
		sum += errors[i] - LIMIT * bits[i] * FALL;
		with += errors[i] > 0;
		if (sum > best) {
			best = sum;
			best_with = with;
		}
	}
	return best >= 20 && best_with >= 3;
}

static uint64_t poisson(uint64_t *r, double mean)
{
	double p = 1, end = exp(-mean);
	uint64_t n = 0;

	while ((p *= (double)(1 + random_below(r, 1u << 30)) / (1u << 30)) > end)
		n++;
	return n;
}

static void verdicts_equal_naive_computation(void **state)
{
	uint64_t seed = random_seed(5), r = seed;
	unsigned int found = 0;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int run = 0; run < 300; run++) {
		double rate = LIMIT * pow(10, (double)random_below(&r, 200) / 100 - 1);
		double bits[STEPS], errors[STEPS];
		unsigned int i;

		begin();
		for (i = 0; i < STEPS && q.level == QUALITY_GOOD; i++) {
			bits[i] = (double)random_below(&r, 4) / LIMIT / 2;
			errors[i] = (double)poisson(&r, bits[i] * rate);
			next((uint64_t)bits[i], (uint64_t)errors[i]);
			if ((q.level != QUALITY_GOOD) != naive_bad(bits, errors, i + 1))
				fail_msg("run %u, reading %u: level %u", run, i, q.level);
		}
		found += q.level != QUALITY_GOOD;
	}
	assert_in_range(found, 100, 250);
}

/* --- chance ---------------------------------------------------------------- */

/*
 * A thousand links for 100 months each, of 20 Gbit/s, with a tenth of the limit: 5e15 bits are
 * 5e6 errors allowed at the limit. By Wald's bound one alarm is to come in 10^20 errors.
 */
static void errors_at_tenth_of_limit_raise_no_alarm(void **state)
{
	uint64_t seed = random_seed(6), r = seed, errors = 0;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	begin();
	for (unsigned int i = 0; i < 2000000; i++) {
		uint64_t e = poisson(&r, 0.5);

		errors += e;
		if (next((uint64_t)(5 / LIMIT), e))
			fail_msg("an alarm after %llu errors", (unsigned long long)errors);
	}
	assert_in_range(errors, 900000, 1100000);
}

/* With ten times the limit a line is found after some 22 errors, and never after 100. */
static void errors_at_ten_times_limit_are_found_soon(void **state)
{
	uint64_t seed = random_seed(7), r = seed, sum = 0, most = 0;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int run = 0; run < 1000; run++) {
		uint64_t errors = 0;

		begin();
		while (q.level == QUALITY_GOOD) {
			uint64_t e = poisson(&r, 1);

			errors += e;
			next((uint64_t)(0.1 / LIMIT), e);
		}
		sum += errors;
		most = errors > most ? errors : most;
	}
	assert_in_range(sum / 1000, 20, 23);
	assert_true(most < 40);
}

/* --- over ------------------------------------------------------------------ */

static void make_bad(void)
{
	begin();
	while (q.level == QUALITY_GOOD)
		next((uint64_t)(0.1 / LIMIT), 5);
	assert_int_equal(q.level, QUALITY_WARN);
}

static void clean_line_is_good_after_clean_for(void **state)
{
	uint64_t bad_at;
	unsigned int i;

	(void)state;
	make_bad();
	bad_at = s.at;
	for (i = 0; i < 29; i++)	/* 58 s, and more than enough bits */
		assert_false(next((uint64_t)(1 / LIMIT), 0));
	assert_true(next((uint64_t)(1 / LIMIT), 0));
	assert_int_equal(q.level, QUALITY_GOOD);
	assert_int_equal(s.at - bad_at, rules.clean_for);
	assert_int_equal(quality_recent(&q).errors, 0);
}

/* A line without traffic does not become good, and each new error keeps it bad. */
static void line_without_traffic_or_with_errors_stays_bad(void **state)
{
	(void)state;
	make_bad();
	for (unsigned int i = 0; i < 1000; i++)
		assert_false(next(0, 0));
	assert_false(next((uint64_t)(4.9 / LIMIT), 0));
	assert_true(next((uint64_t)(0.2 / LIMIT), 0));
	make_bad();
	for (unsigned int i = 0; i < 1000; i++)		/* half of the limit */
		assert_false(next((uint64_t)(2 / LIMIT), 1));
	make_bad();
	for (unsigned int i = 0; i < 30; i++)
		assert_false(next((uint64_t)(0.3 / LIMIT), i == 25));
}

/* A line gets from fail to warn to good. */
static void line_gets_from_fail_to_warn(void **state)
{
	(void)state;
	make_bad();
	for (unsigned int i = 0; q.level == QUALITY_WARN && i < 10; i++)
		next(1000000, 10);
	assert_int_equal(q.level, QUALITY_FAIL);
	for (unsigned int i = 0; i < 29; i++)		/* ten times warn_ber */
		assert_false(next((uint64_t)(0.1 / LIMIT), 1));
	for (unsigned int i = 0; q.level == QUALITY_FAIL && i < 10; i++)
		next((uint64_t)(0.1 / LIMIT), 1);
	assert_int_equal(q.level, QUALITY_WARN);
	assert_true(quality_recent(&q).bits <= (uint64_t)(0.1 / LIMIT));
}

/* --- odd counters ---------------------------------------------------------- */

/* The NIC began anew, so its counters fall: later readings count from zero. */
static void fallen_counters_count_from_zero(void **state)
{
	(void)state;
	begin();
	next(0, 15);
	s.bits = 50;
	s.errors = 12;
	assert_false(next(0, 0));
	assert_false(next(0, 4));
	assert_true(next(0, 1));
}

/* Readings of another session, and while the link is not up, do not count. */
static void readings_of_other_sessions_do_not_count(void **state)
{
	(void)state;
	begin();
	next(0, 15);
	s.session++;
	assert_false(next(0, 500));
	s.up = false;
	assert_false(next(0, 500));
	assert_false(next(0, 500));
	s.up = true;
	assert_false(next(0, 500));
	assert_false(next(0, 4));
	assert_true(next(0, 1));
}

/* Counters of 64 bits near their end; the clock may stand still. */
static void counters_near_their_end_are_handled(void **state)
{
	(void)state;
	begin();
	s.bits = UINT64_MAX - 100;
	s.errors = UINT64_MAX - 21;
	memset(&q, 0, sizeof(q));
	assert_false(next(0, 0));
	assert_false(next(100, 10));
	s.at -= 2 * SEC;
	assert_false(next(0, 10));
	assert_true(next(0, 1));
	assert_int_equal(quality_recent(&q).errors, 21);
	assert_int_equal(quality_recent(&q).bits, 100);
}

static void recent_counts_cover_last_readings(void **state)
{
	struct quality_count c;

	(void)state;
	begin();
	assert_int_equal(quality_recent(&q).bits, 0);
	assert_true(quality_ber(&(struct quality_count) { .errors = 3 }) == 0);
	for (unsigned int i = 0; i < 10; i++)
		next(1000000, 10);
	c = quality_recent(&q);
	assert_int_equal(c.errors, 40);
	assert_int_equal(c.bits, 4000000);
	assert_int_equal(s.at - c.at, 8 * SEC);
	assert_true(fabs(quality_ber(&c) - 1e-5) < 1e-12);
	for (unsigned int i = 0; i < 2 * 1800; i++)	/* two hours pass */
		next(1000000, 0);
	assert_true(quality_recent(&q).errors <= 20);
}

/* The reported rate at the verdict is not lowered by fifty clean minutes at 75 Gbit/s before. */
static void rate_at_verdict_is_that_of_recent_errors(void **state)
{
	struct quality_count c;

	(void)state;
	begin();
	for (unsigned int i = 0; i < 1500; i++)
		assert_false(next(150000000000, 0));
	while (q.level != QUALITY_FAIL)
		next(10000000, 10);
	c = quality_recent(&q);
	assert_true(fabs(quality_ber(&c) / 1e-6 - 1) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sum_at_bound_makes_line_fail),
		cmocka_unit_test(one_burst_does_not_make_line_bad),
		cmocka_unit_test(errors_of_one_reading_count_if_spread),
		cmocka_unit_test(readings_count_without_seconds),
		cmocka_unit_test(errors_at_limit_make_line_warn_after_known_number),
		cmocka_unit_test(limit_0_makes_no_line_bad),
		cmocka_unit_test(verdicts_equal_naive_computation),
		cmocka_unit_test(errors_at_tenth_of_limit_raise_no_alarm),
		cmocka_unit_test(errors_at_ten_times_limit_are_found_soon),
		cmocka_unit_test(clean_line_is_good_after_clean_for),
		cmocka_unit_test(line_without_traffic_or_with_errors_stays_bad),
		cmocka_unit_test(line_gets_from_fail_to_warn),
		cmocka_unit_test(fallen_counters_count_from_zero),
		cmocka_unit_test(readings_of_other_sessions_do_not_count),
		cmocka_unit_test(counters_near_their_end_are_handled),
		cmocka_unit_test(recent_counts_cover_last_readings),
		cmocka_unit_test(rate_at_verdict_is_that_of_recent_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
