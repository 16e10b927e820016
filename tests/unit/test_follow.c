// SPDX-License-Identifier: GPL-2.0-only
/* Each event is shown once, whatever the clocks of the managers say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricctl/command.h"
#include "tools/fabricctl/follow.h"

const struct program this_program = { .name = "test" };

static struct follow f;

static bool shows(const char *log, int seq, double time)
{
	json_t *event = json_pack("{s:s, s:i, s:f}", "log", log, "seq", seq, "time", time);
	bool is = follow_take(&f, event);

	json_decref(event);
	return is;
}

static int begin(void **state)
{
	(void)state;
	f = (struct follow) { .last = 1000 };
	return 0;
}

static void events_are_followed_by_number(void **state)
{
	(void)state;
	assert_true(shows("a", 1, 1001));
	assert_true(shows("a", 2, 900));	/* the clock was set back */
	assert_false(shows("a", 2, 1002));
	assert_false(shows("a", 1, 1001));
	assert_true(shows("b", 1, 10));
	assert_true(shows("a", 4, 1003));
	assert_false(shows("a", 3, 1004));
}

/*
 * Events of the next root are new although its clock is behind; events of a log that had ended long
 * before are not.
 */
static void events_of_next_root_are_new(void **state)
{
	(void)state;
	assert_true(shows("a", 7, 2000));
	assert_int_equal(follow_again(&f), 1400000);
	assert_false(shows("a", 7, 2000));
	assert_true(shows("b", 1, 1995));
	assert_true(shows("b", 2, 1800));
	assert_true(shows("a", 8, 1500));
	assert_false(shows("c", 3, 1900));
	assert_false(shows("c", 4, 1989));
	assert_true(shows("c", 5, 1991));
	f.last = 100;
	assert_int_equal(follow_again(&f), 0);
}

static void events_of_many_logs_are_shown_once(void **state)
{
	char log[16];

	(void)state;
	for (int i = 0; i < 2 * FOLLOW_LOGS; i++) {
		sprintf(log, "%d", i);
		assert_true(shows(log, 1, 1000 + i));
		assert_false(shows(log, 1, 1000 + i));
	}
}

static bool same(const char *text, uint64_t seq, double time)
{
	json_t *events = json_loads(text, 0, NULL);
	bool is = follow_is_same_run(events, seq, time);

	assert_non_null(events);
	json_decref(events);
	return is;
}

static void run_is_known_by_events_it_still_has(void **state)
{
#define EVENTS "[{\"seq\":3,\"time\":50.5},{\"seq\":4,\"time\":40.5}]"
	(void)state;
	assert_true(same(EVENTS, 4, 40.5));
	assert_true(same(EVENTS, 3, 50.5));
	assert_true(same(EVENTS, 1, 60.5));	/* the event was forgotten */
	assert_false(same(EVENTS, 3, 40.5));
	assert_false(same(EVENTS, 5, 40.5));
	assert_false(same("[]", 5, 40.5));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test_setup(events_are_followed_by_number, begin),
		cmocka_unit_test_setup(events_of_next_root_are_new, begin),
		cmocka_unit_test_setup(events_of_many_logs_are_shown_once, begin),
		cmocka_unit_test_setup(run_is_known_by_events_it_still_has, begin),
	};

	return cmocka_run_group_tests_name("follow", all, NULL, NULL);
}
