// SPDX-License-Identifier: GPL-2.0-only
/* The judgement of links by their round trips: slow cables, busy machines, idle and new links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/slow.h"

#define LINKS	4
#define LIMIT	(3 * MS)

static struct slow links[LINKS];
static uint64_t now;
static uint32_t session;

static int begin(void **state)
{
	(void)state;
	memset(links, 0, sizeof(links));
	now = 50 * SEC;
	session = 7;
	return 0;
}

/* Two seconds later each link reports its member of @trip. Return: mask of links that changed. */
static unsigned int reports(const uint64_t trip[LINKS])
{
	unsigned int changed = 0;
	bool new[LINKS];

	now += 2 * SEC;
	for (unsigned int i = 0; i < LINKS; i++)
		new[i] = slow_note(&links[i], now, session, trip[i]);
	for (unsigned int i = 0; i < LINKS; i++)
		if (new[i] && slow_judge(links, LINKS, i, now, LIMIT))
			changed |= 1u << i;
	return changed;
}

#define REPORTS(a, b, c, d) reports((const uint64_t[LINKS]){ a, b, c, d })

static void slow_cable_is_found_after_four_reports(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(REPORTS(10 * MS + i, MS + i, US + i, 0), 0);
		assert_true(slow_suspects(&links[0]));
		assert_false(slow_suspects(&links[1]));
	}
	assert_int_equal(REPORTS(10 * MS + 3, 2 * MS, US + 3, 0), 1);
	assert_true(links[0].slow);
	assert_int_equal(links[0].trip, 10 * MS + 3);
	assert_int_equal(links[0].usual, 2 * MS);
	assert_false(slow_suspects(&links[0]));
	assert_int_equal(REPORTS(10 * MS, MS, 0, 0), 0);
	/* A report within the limit ends it. */
	assert_int_equal(REPORTS(LIMIT, MS + 1, 0, 0), 1);
	assert_false(links[0].slow);
}

static void report_within_limit_begins_count_anew(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 20; i += 4) {
		assert_int_equal(REPORTS(10 * MS + i, US + i, 0, 0), 0);
		assert_int_equal(REPORTS(10 * MS + i + 1, US + i + 1, 0, 0), 0);
		assert_int_equal(REPORTS(10 * MS + i + 2, US + i + 2, 0, 0), 0);
		assert_int_equal(REPORTS(LIMIT - i, US + i + 3, 0, 0), 0);
	}
	for (uint64_t i = 0; i < 20; i++)	/* just below the limit */
		assert_int_equal(REPORTS(LIMIT - i, US + i, 0, 0), 0);
}

/*
 * On a busy machine links report long round trips, unless packets carry their acknowledgements, and
 * differ by chance.
 */
static void busy_machine_makes_no_link_slow(void **state)
{
	(void)state;
	srand(5);
	for (unsigned int i = 0; i < 10000; i++) {
		uint64_t t[LINKS];

		for (unsigned int k = 0; k < LINKS; k++)
			t[k] = 20 * MS + (uint64_t)rand() % (60 * MS);
		t[i % 2] = 20 * US + i;
		assert_int_equal(reports(t), 0);
	}
	/* The bound is four times the usual one. */
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(REPORTS(40 * MS - i, 10 * MS + i, 0, 0), 0);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(REPORTS(41 * MS + i, 10 * MS + i, US + i, 0), i == 3);
}

static void link_alone_is_not_judged(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(REPORTS(100 * MS + i, 0, 0, 0), 0);
	/* A report of another link that is old says nothing about now. */
	assert_int_equal(REPORTS(100 * MS, MS, 0, 0), 0);
	now += SLOW_FRESH;
	for (uint64_t i = 1; i < 10; i++)
		assert_int_equal(REPORTS(100 * MS + i, MS, 0, 0), 0);
	/* A slow link stays slow while the others are idle. */
	for (uint64_t i = 0; i < 4; i++)
		REPORTS(90 * MS + i, 2 * MS + i, 0, 0);
	assert_true(links[0].slow);
	now += SLOW_FRESH;
	assert_int_equal(REPORTS(95 * MS, 2 * MS + 2, 0, 0), 0);
	assert_true(links[0].slow);
}

static void same_report_counts_once(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(REPORTS(10 * MS, MS + i, 0, 0), 0);
	assert_int_equal(links[0].over, 1);
}

static void new_session_is_judged_from_beginning(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(REPORTS(10 * MS + i, MS + i, 0, 0), 0);
	session++;
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(REPORTS(10 * MS + i, MS + i, 0, 0), i == 3);
	session++;
	assert_int_equal(REPORTS(0, MS, 0, 0), 0);
	assert_int_equal(links[0].trip, 0);
}

static void without_limit_no_link_is_slow(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		REPORTS(10 * MS + i, MS + i, 0, 0);
	assert_true(links[0].slow);
	assert_true(slow_judge(links, LINKS, 0, now, 0));
	assert_false(links[0].slow);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test_setup(slow_cable_is_found_after_four_reports, begin),
		cmocka_unit_test_setup(report_within_limit_begins_count_anew, begin),
		cmocka_unit_test_setup(busy_machine_makes_no_link_slow, begin),
		cmocka_unit_test_setup(link_alone_is_not_judged, begin),
		cmocka_unit_test_setup(same_report_counts_once, begin),
		cmocka_unit_test_setup(new_session_is_judged_from_beginning, begin),
		cmocka_unit_test_setup(without_limit_no_link_is_slow, begin),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
