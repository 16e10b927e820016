// SPDX-License-Identifier: GPL-2.0-only
/*
 * Problems that have not ended, and their lines in the log: each problem is logged once; if it
 * keeps ending and beginning again, less and less often.
 */
#include <stdio.h>

#include "stage.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/spare.h"

#define SECOND 1000ULL
#define HOUR (3600 * SECOND)

static struct stage s;

static void until(uint64_t ns)
{
	stage_run_ns(&s, ns);
	s.fm->now = START + s.now;
}

/* Lets @ms pass. */
static void later_by(uint64_t ms)
{
	until(s.now + ms * MS);
}

/* Starts a node that is alone, with nothing to do. */
static struct fm *start(void)
{
	stage_init(&s, "4x4", 5);
	s.deaf = "";
	stage_start(&s);
	/* The node reports that it has received no Init of a root. */
	until(40 * SECOND * MS);
	fm_problem_clear(s.fm, "root", 0);
	stage_forget(&s);
	return s.fm;
}

static unsigned int standing(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	return st.problems;
}

static void problem_is_logged_when_it_begins_changes_and_ends(void **state)
{
	char long_text[3 * FM_TEXT_MAX], want[3 * FM_TEXT_MAX];
	struct fm *fm = start();

	(void)state;
	assert_null(fm_problem(fm, 0));
	fm_problem_set(fm, "one", 1, "text %u", 1u);
	fm_problem_set(fm, "one", 1, "text %u", 1u);
	stage_did(&s, "log error one: text 1\n");
	/* Another text is logged; another key or kind is another problem. */
	later_by(SECOND);
	fm_problem_set(fm, "one", 1, "text %u", 2u);
	stage_did(&s, "at 41000 ms\nlog error one: text 2\n");
	fm_problem_set(fm, "one", 2, "text");
	fm_problem_set(fm, "two", 1, "text");
	stage_did(&s, "log error one: text\nlog error two: text\n");
	assert_int_equal(standing(), 3);
	fm_problem_clear(fm, "two", 2);
	fm_problem_clear(fm, "three", 1);
	stage_did_nothing(&s);
	fm_problem_clear(fm, "one", 1);
	stage_did(&s, "log info one: over: text 2\n");
	fm_problem_clear(fm, "one", 1);
	stage_did_nothing(&s);
	assert_int_equal(standing(), 2);
	/* Problems of a kind that are not set again are over. */
	fm_problem_set(fm, "one", 3, "text 3");
	fm_problem_set(fm, "one", 4, "text 4");
	stage_forget(&s);
	fm_problems_mark(fm, "one");
	fm_problem_set(fm, "one", 3, "text 3");
	fm_problem_set(fm, "one", 5, "text 5");
	fm_problems_sweep(fm, "two");
	stage_did(&s, "log error one: text 5\n");
	fm_problems_sweep(fm, "one");
	assert_int_equal(stage_count(&s, "\n"), 2);
	assert_int_equal(stage_count(&s, "log info one: over: text\n"), 1);
	stage_did_some(&s, "log info one: over: text 4\n");
	fm_problems_sweep(fm, "one");
	stage_did_nothing(&s);
	assert_int_equal(standing(), 3);
	/* Long texts are cut off, and the same long text is still the same. */
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	fm_problem_set(fm, "a kind that has no end", 9, "%s", long_text);
	sprintf(want, "log error a kind that has: %.*s\n", FM_TEXT_MAX - 1, long_text);
	stage_did(&s, want);
	assert_string_equal(fm_problem(fm, 3)->kind, "a kind that has");
	assert_int_equal(strlen(fm_problem(fm, 3)->text), FM_TEXT_MAX - 1);
	fm_log(fm, FM_DEBUG, "say", "%s", long_text);
	sprintf(want, "log debug say: %.*s\n", 2 * FM_TEXT_MAX - 1, long_text);
	stage_did(&s, want);
	stage_end(&s);
}

/* A problem whose cause another machine may report: its line waits, and comes only if it stays. */
static void awaited_problem_is_logged_only_if_it_stays(void **state)
{
	struct fm *fm = start();

	(void)state;
	fm_problem_await(fm, "one", 1);
	assert_null(fm_problem(fm, 0));
	fm_problem_set(fm, "one", 1, "text");
	assert_int_equal(standing(), 1);
	later_by(SECOND / 2);
	fm_problem_await(fm, "one", 1);
	fm_problem_clear(fm, "one", 1);
	later_by(5 * SECOND);
	stage_did_nothing(&s);
	fm_problem_await(fm, "one", 1);
	fm_problem_set(fm, "one", 1, "text");
	later_by(SECOND - 1);
	stage_did_nothing(&s);
	later_by(1);
	stage_did(&s, "at 46500 ms\nlog error one: text\n");
	fm_problem_clear(fm, "one", 1);
	stage_did(&s, "log info one: over: text\n");
	/* It was logged, so the gap until the next line is as long as ever. */
	fm_problem_await(fm, "one", 1);
	fm_problem_set(fm, "one", 1, "text");
	later_by(2 * SECOND - 1);
	stage_did_nothing(&s);
	later_by(1);
	stage_did_some(&s, "log error one: text\n");
	stage_end(&s);
}

static bool is_listed(const char *text)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (!strcmp(p->text, text))
			return true;
	return false;
}

/* Starts a node with as many problems as the list holds, and three more. */
static struct fm *start_many(void)
{
	struct fm *fm = start();

	for (unsigned int i = 0; i < FM_PROBLEMS_MAX + 3; i++) {
		stage_forget(&s);
		fm_problem_set(fm, "many", i, "text %u.", i);
		assert_int_equal(stage_count(&s, "log"), i < FM_PROBLEMS_MAX);
	}
	stage_forget(&s);
	return fm;
}

/* A limited number of problems is listed, and the others are counted. */
static void limited_number_of_problems_is_listed(void **state)
{
	struct fm *fm = start_many();
	const struct fm_problem *p;

	(void)state;
	for (unsigned int i = 0; (p = fm_problem(fm, i)); i++) {
		char want[32];

		sprintf(want, "text %u.", i);
		assert_string_equal(p->text, want);
		assert_string_equal(p->kind, "many");
	}
	assert_int_equal(standing(), FM_PROBLEMS_MAX);
	assert_int_equal(fm_problems_more(fm), 3);
	/* The same again is the same one, also with another text; another kind or key is not. */
	fm_problem_set(fm, "many", FM_PROBLEMS_MAX + 1, "other");
	assert_int_equal(fm_problems_more(fm), 3);
	fm_problem_set(fm, "few", FM_PROBLEMS_MAX + 1, "few");
	assert_int_equal(fm_problems_more(fm), 4);
	/* When one ends, the oldest of the others is logged and listed. */
	fm_problem_clear(fm, "many", 7);
	stage_did(&s, "log info many: over: text 7.\nlog error many: text 64.\n");
	fm_problem_clear(fm, "many", 8);
	stage_did(&s, "log info many: over: text 8.\nlog error many: other\n");
	assert_int_equal(standing(), FM_PROBLEMS_MAX);
	assert_int_equal(fm_problems_more(fm), 2);
	/* A problem that ends before there is room is never listed. */
	fm_problem_clear(fm, "many", FM_PROBLEMS_MAX + 2);
	fm_problem_clear(fm, "many", FM_PROBLEMS_MAX + 2);
	stage_did_nothing(&s);
	assert_int_equal(fm_problems_more(fm), 1);
	fm_problem_clear(fm, "many", 9);
	stage_did(&s, "log info many: over: text 9.\nlog error few: few\n");
	assert_int_equal(fm_problems_more(fm), 0);
	fm_problem_clear(fm, "many", 10);
	stage_did(&s, "log info many: over: text 10.\n");
	assert_int_equal(standing(), FM_PROBLEMS_MAX - 1);
	fm_problem_set(fm, "many", 900, "late");
	stage_did(&s, "log error many: late\n");
	stage_end(&s);
}

/* When a kind of problem is swept, those of it that wait for a place in the list end as well. */
static void swept_kind_ends_waiting_problems_too(void **state)
{
	struct fm *fm = start_many();

	(void)state;
	fm_problem_set(fm, "few", 1, "few");
	fm_problems_mark(fm, "many");
	fm_problem_set(fm, "many", FM_PROBLEMS_MAX, "text %u.", FM_PROBLEMS_MAX);
	fm_problem_set(fm, "many", FM_PROBLEMS_MAX + 1, "other");
	for (unsigned int i = 0; i < FM_PROBLEMS_MAX - 3; i++)
		fm_problem_set(fm, "many", i, "text %u.", i);
	fm_problems_sweep(fm, "other");
	assert_int_equal(fm_problems_more(fm), 4);
	fm_problems_sweep(fm, "many");
	assert_int_equal(standing(), FM_PROBLEMS_MAX);
	assert_int_equal(fm_problems_more(fm), 0);
	assert_true(is_listed("text 64.") && is_listed("other") && is_listed("few"));
	assert_false(is_listed("text 63.") || is_listed("text 66."));
	/* The mark of one that has got a place meanwhile still holds. */
	for (unsigned int i = 0; i < 3; i++)
		fm_problem_set(fm, "more", i, "more %u.", i);
	fm_problems_mark(fm, "more");
	fm_problem_set(fm, "more", 1, "more 1.");
	fm_problem_clear(fm, "many", 0);
	assert_true(is_listed("more 0."));
	fm_problems_sweep(fm, "more");
	assert_false(is_listed("more 0."));
	assert_true(is_listed("more 1."));
	assert_int_equal(fm_problems_more(fm), 0);
	stage_end(&s);
}

/* A problem with a limited time ends by itself, also if it is not in the list for want of room. */
static void problem_with_limited_time_ends_by_itself(void **state)
{
	struct fm *fm = start_many();

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		fm_problem_limit(fm, "many", FM_PROBLEMS_MAX + i, fm->now + (9 - i) * SECOND * MS);
	fm_problem_clear(fm, "many", 0);
	assert_true(is_listed("text 64."));
	stage_forget(&s);
	later_by(7 * SECOND - 1);
	assert_int_equal(fm_problems_more(fm), 2);
	later_by(1);
	assert_int_equal(fm_problems_more(fm), 1);
	later_by(SECOND);
	assert_int_equal(fm_problems_more(fm), 0);
	assert_true(is_listed("text 64."));
	later_by(SECOND);
	assert_false(is_listed("text 64."));
	stage_end(&s);
}

/*
 * As many problems as a large fabric may have are counted, and no more, because each takes memory.
 */
static void counted_problems_have_a_limit(void **state)
{
	struct fm *fm = start();

	(void)state;
	for (unsigned int i = 0; i < FM_PROBLEMS_MAX + FM_SPARES_MAX + 10; i++)
		fm_problem_set(fm, "many", i, "text %u.", i);
	assert_int_equal(fm_problems_more(fm), FM_SPARES_MAX);
	stage_end(&s);
}

/* --- again and again -------------------------------------------------------------------- */

static void again(const char *text)
{
	fm_problem_set(s.fm, "it", 1, "%s", text);
}

static void over(void)
{
	fm_problem_clear(s.fm, "it", 1);
}

/* The problem begins and ends @times within @ms. */
static void alternates(unsigned int times, uint64_t ms)
{
	uint64_t from = s.now;

	for (unsigned int k = 0; k < times; k++) {
		until(from + ms * MS / times * k);
		again("bad");
		over();
	}
	until(from + ms * MS);
}

/*
 * The first begin of a problem, and its end, are logged at once; the next begin is logged after a
 * second at the earliest.
 */
static void problem_is_logged_again_after_a_second(void **state)
{
	(void)state;
	start();
	again("bad");
	over();
	stage_did(&s, "log error it: bad\nlog info it: over: bad\n");
	/* A question is answered with the present problems, whether they are logged or not. */
	again("bad");
	assert_int_equal(standing(), 1);
	assert_string_equal(fm_problem(s.fm, 0)->text, "bad");
	over();
	assert_int_equal(standing(), 0);
	assert_null(fm_problem(s.fm, 0));
	stage_did_nothing(&s);
	/* Another problem is logged at once. */
	fm_problem_set(s.fm, "it", 2, "bad");
	fm_problem_set(s.fm, "that", 1, "bad");
	stage_did(&s, "log error it: bad\nlog error that: bad\n");
	/* Nothing is due: it does not stand. */
	later_by(SECOND - 1);
	again("bad");
	over();
	stage_did_nothing(&s);
	later_by(1);
	stage_did_nothing(&s);
	again("bad");
	stage_did(&s, "log error it: bad (said 2 times more meanwhile)\n");
	over();
	stage_did(&s, "log info it: over: bad\n");
	stage_end(&s);
}

/* A problem that stands when it may be logged again is logged, with its text of that time. */
static void later_log_line_has_text_of_its_time(void **state)
{
	(void)state;
	start();
	again("bad");
	over();
	stage_forget(&s);
	later_by(400);
	again("bad");
	later_by(599);
	stage_did_nothing(&s);
	later_by(1);
	stage_did(&s, "at 41000 ms\nlog error it: bad\n");
	/* The gap is two seconds now. */
	again("worse");
	again("bad");
	again("worst");
	later_by(2 * SECOND - 1);
	stage_did_nothing(&s);
	later_by(1);
	stage_did(&s, "at 43000 ms\nlog error it: worst (said 2 times more meanwhile)\n");
	later_by(HOUR);
	stage_did_nothing(&s);
	over();
	stage_did(&s, "log info it: over: worst\n");
	stage_end(&s);
}

/* The gaps between log lines double until they are ten minutes long. */
static void gaps_between_log_lines_double_to_ten_minutes(void **state)
{
	uint64_t gap = SECOND;

	(void)state;
	start();
	again("bad");
	over();
	for (unsigned int k = 0; k < 14; k++) {
		stage_forget(&s);
		alternates(10, gap);
		stage_did_nothing(&s);
		again("bad");
		over();
		assert_int_equal(stage_count(&s, "log error it: bad (said 10 times more meanwhile)\n"),
				 1);
		assert_int_equal(stage_count(&s, "log info it: over: bad\n"), 1);
		gap = 2 * gap < 600 * SECOND ? 2 * gap : 600 * SECOND;
	}
	/* After an hour without the problem the gaps begin anew. */
	later_by(HOUR);
	stage_forget(&s);
	again("bad");
	over();
	stage_did(&s, "log error it: bad\nlog info it: over: bad\n");
	later_by(SECOND);
	stage_forget(&s);
	again("bad");
	stage_did(&s, "log error it: bad\n");
	stage_end(&s);
}

/* However often a problem begins and ends in a day, the log has some hundred lines of it. */
static void log_of_flapping_problem_is_bounded(void **state)
{
	(void)state;
	start();
	alternates(24 * 3600 * 4, 24 * HOUR);
	assert_in_range(stage_count(&s, "log error it: "), 24 * 6, 24 * 6 + 12);
	assert_int_equal(stage_count(&s, "log info it: over: "), stage_count(&s, "log error it: "));
	stage_end(&s);
}

/*
 * The log remembers for a limited number of problems when they were logged. It forgets first the
 * problem that is over and was logged longest ago.
 */
static void oldest_ended_problem_is_forgotten_first(void **state)
{
	(void)state;
	start();
	for (unsigned int k = 0; k < FM_PROBLEMS_KNOWN; k++) {
		fm_problem_set(s.fm, "many", k, "bad %u.", k);
		if (k >= FM_PROBLEMS_MAX / 2)
			fm_problem_clear(s.fm, "many", k);
		until(s.now + 1);
	}
	stage_forget(&s);
	fm_problem_set(s.fm, "many", FM_PROBLEMS_MAX / 2 + 1, "bad");
	stage_did_nothing(&s);
	fm_problem_clear(s.fm, "many", FM_PROBLEMS_MAX / 2 + 1);
	/* A new problem takes the room of the first one that is over. */
	fm_problem_set(s.fm, "many", 1000, "new");
	stage_did(&s, "log error many: new\n");
	fm_problem_set(s.fm, "many", FM_PROBLEMS_KNOWN - 1, "bad");
	stage_did_nothing(&s);
	fm_problem_set(s.fm, "many", FM_PROBLEMS_MAX / 2, "bad");
	stage_did(&s, "log error many: bad\n");
	/* All problems that stand are remembered. */
	for (unsigned int k = 0; k < FM_PROBLEMS_MAX / 2; k++) {
		char want[40];

		sprintf(want, "log info many: over: bad %u.\n", k);
		fm_problem_clear(s.fm, "many", k);
		stage_did(&s, want);
	}
	assert_int_equal(standing(), 3);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(problem_is_logged_when_it_begins_changes_and_ends),
		cmocka_unit_test(awaited_problem_is_logged_only_if_it_stays),
		cmocka_unit_test(limited_number_of_problems_is_listed),
		cmocka_unit_test(swept_kind_ends_waiting_problems_too),
		cmocka_unit_test(problem_with_limited_time_ends_by_itself),
		cmocka_unit_test(counted_problems_have_a_limit),
		cmocka_unit_test(problem_is_logged_again_after_a_second),
		cmocka_unit_test(later_log_line_has_text_of_its_time),
		cmocka_unit_test(gaps_between_log_lines_double_to_ten_minutes),
		cmocka_unit_test(log_of_flapping_problem_is_bounded),
		cmocka_unit_test(oldest_ended_problem_is_forgotten_first),
	};

	return cmocka_run_group_tests_name("fm_log", all, NULL, NULL);
}
