// SPDX-License-Identifier: GPL-2.0-only
/* The judgement of lines by their margins: bounds, swings of the temperature, and its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/wear.h"

#define CLEAN	(60 * SEC)

static struct wear w;
static uint64_t now;

static void begin(uint32_t margin)
{
	memset(&w, 0, sizeof(w));
	now = 5 * SEC;
	assert_false(wear_read(&w, now, 1, margin, CLEAN));
}

/* Gives a reading two seconds later. Return: true if the verdict changed. */
static bool next(uint32_t margin)
{
	now += 2 * SEC;
	return wear_read(&w, now, 1, margin, CLEAN);
}

/* Return: number of readings after which the line is worn; 1000: it is not */
static unsigned int readings(uint32_t usual, uint32_t margin)
{
	unsigned int n;

	begin(usual);
	for (n = 1; n < 1000 && !next(margin); n++)
		;
	return n;
}

static void line_is_worn_below_bound_for_two_minutes(void **state)
{
	(void)state;
	assert_int_equal(readings(200, 159), 60);	/* less than 60 %, for 2 minutes */
	assert_int_equal(readings(200, 160), 1000);
	assert_int_equal(readings(120, 110), 60);	/* 10 percent of the mask less */
	assert_int_equal(readings(118, 109), 1000);
	assert_int_equal(readings(200, 0), 60);
	/* the eye never had room beyond the mask */
	assert_int_equal(readings(90, 0), 1000);
}

/* A line that has enough margin half of the time is not worn. */
static void line_with_margin_half_of_the_time_is_not_worn(void **state)
{
	(void)state;
	begin(200);
	for (unsigned int i = 0; i < 10000; i++)
		assert_false(next(i & 1 ? 150 : 170));
}

/* The best day is the reference, however slowly the margin has shrunk since. */
static void best_day_is_reference_for_slow_wear(void **state)
{
	unsigned int days = 0;

	(void)state;
	begin(150);
	for (unsigned int i = 0; i < 5 * 1440; i++, now += 58 * SEC)
		assert_false(next(200));
	assert_in_range((unsigned int)w.usual, 198, 200);
	for (uint32_t margin = 200; !w.worn; margin--, days++)
		for (unsigned int i = 0; i < 1440 && !w.worn; i++, now += 58 * SEC)
			next(margin);
	assert_in_range(days, 40, 42);
}

static void line_recovers_when_margin_stays(void **state)
{
	unsigned int n = 0;

	(void)state;
	readings(200, 150);
	assert_true(w.worn);
	for (unsigned int i = 0; i < 100; i++)
		assert_false(next(i % 20 ? 185 : 175));
	while (!next(180))
		n++;
	assert_in_range(n, 5, 29);
	assert_false(w.worn);
}

/* A new session alone is no new cable: the line stays worn, and its usual margin is kept. */
static void new_session_keeps_worn_line_worn(void **state)
{
	(void)state;
	readings(200, 150);
	now += 2 * SEC;
	assert_false(wear_read(&w, now, 2, 150, CLEAN));
	assert_true(w.worn);
	assert_in_range((unsigned int)w.usual, 199, 200);
	now += CLEAN;
	assert_true(wear_read(&w, now, 2, 190, CLEAN));
	assert_false(w.worn);
}

/* The time between two sessions does not count: the link was down. */
static void time_between_sessions_does_not_count(void **state)
{
	(void)state;
	begin(200);
	now += 2 * WEAR_HOLD;
	assert_false(wear_read(&w, now, 2, 150, CLEAN));
	assert_false(w.worn);
	now += WEAR_HOLD;
	assert_true(wear_read(&w, now, 2, 150, CLEAN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_is_worn_below_bound_for_two_minutes),
		cmocka_unit_test(line_with_margin_half_of_the_time_is_not_worn),
		cmocka_unit_test(best_day_is_reference_for_slow_wear),
		cmocka_unit_test(line_recovers_when_margin_stays),
		cmocka_unit_test(new_session_keeps_worn_line_worn),
		cmocka_unit_test(time_between_sessions_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
