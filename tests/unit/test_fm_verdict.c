// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node's memory of its arbiter's answers, by itself. The functions of the manager that the file
 * calls are in this test.
 */
#include <string.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/verdict.h"

static struct fm fm;
static uint64_t question, node;
static unsigned int questions, cleared, reported;

static void arbitrate(void *io, uint64_t epoch, uint64_t guid)
{
	assert_ptr_equal(io, &fm);
	questions++;
	question = epoch;
	node = guid;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	(void)f;
	(void)fmt;
	assert_int_equal(level, FM_INFO);
	assert_string_equal(kind, "arbiter");
	reported++;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_string_equal(kind, "arbiter");
	assert_int_equal(key, 0);
	cleared++;
}

static void begin(void)
{
	memset(&fm, 0, sizeof(fm));
	fm.io = &fm;
	fm.guid = 0xabc;
	fm.ops.arbitrate = arbitrate;
	fm.now = 1000 * MS;
	questions = cleared = reported = 0;
	assert_true(fm_verdict_new(&fm));
}

/* The last question and whether it waits for its answer. */
static void asked(uint64_t epoch, bool is)
{
	bool waits = !is;

	assert_int_equal(fm_verdict_asked(&fm, &waits), epoch);
	assert_int_equal(waits, is);
}

/* Only the answer to the last question is taken, and once. */
static void only_answer_to_last_question_is_taken_once(void **state)
{
	static const enum fm_verdict verdicts[] = { FM_UNKNOWN, FM_GRANTED, FM_REFUSED };

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		enum fm_verdict v = verdicts[k];
		const struct fm_answer *a;

		begin();
		asked(0, false);
		assert_false(fm_verdict_take(&fm, 0, v, 5, "not asked"));
		fm.term = 7;
		fm_verdict_ask(&fm);
		assert_int_equal(questions, 1);
		assert_int_equal(question, 7);
		assert_int_equal(node, 0xabc);
		asked(7, true);
		assert_false(fm_verdict_take(&fm, 6, v, 5, "late"));
		assert_false(fm_verdict_take(&fm, 8, v, 5, "early"));
		asked(7, true);
		a = fm_verdict(&fm);
		assert_int_equal(a->at, 0);
		fm_verdict_put_off(&fm);
		fm.now += MS;
		assert_true(fm_verdict_take(&fm, 7, v, 5, "because"));
		asked(7, false);
		assert_int_equal(a->at, fm.now);
		assert_int_equal(a->epoch, 7);
		assert_int_equal(a->verdict, v);
		assert_int_equal(a->high, v == FM_REFUSED ? 5 : 0);
		assert_string_equal(a->why, v == FM_GRANTED ? "" : "because");
		/* A grant ends the problem, and the time until the next question. */
		assert_int_equal(cleared, v == FM_GRANTED);
		assert_int_equal(reported, v == FM_GRANTED);
		assert_int_equal(fm_verdict_again(&fm), v == FM_GRANTED ? 0 : fm.now + 249 * MS);
		assert_false(fm_verdict_take(&fm, 7, v, 5, "twice"));
		fm_verdict_put_off(&fm);
		assert_int_equal(fm_verdict_again(&fm),
				 fm.now + (v == FM_GRANTED ? 250 : 500) * MS);
		fm_verdict_free(&fm);
	}
}

/* The gap between questions doubles, up to 8 s, and is short again once another node leads. */
static void gap_between_questions_doubles_to_8_s(void **state)
{
	static const unsigned int gap[] = { 250, 500, 1000, 2000, 4000, 8000, 8000, 8000 };

	(void)state;
	begin();
	assert_int_equal(fm_verdict_again(&fm), 0);
	for (unsigned int k = 0; k < 8; k++) {
		fm_verdict_put_off(&fm);
		assert_int_equal(fm_verdict_again(&fm), fm.now + gap[k] * MS);
		fm.now += gap[k] * MS;
	}
	fm_verdict_forget(&fm);
	assert_int_equal(cleared, 1);
	assert_int_equal(fm_verdict_again(&fm), 0);
	fm_verdict_put_off(&fm);
	assert_int_equal(fm_verdict_again(&fm), fm.now + 250 * MS);
	fm_verdict_free(&fm);
}

static void verdict_without_memory_fails(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_verdict_new(&fm));
	assert_true(memory_failed());
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(only_answer_to_last_question_is_taken_once),
		cmocka_unit_test(gap_between_questions_doubles_to_8_s),
		cmocka_unit_test(verdict_without_memory_fails),
	};

	return cmocka_run_group_tests_name("fm_verdict", all, NULL, NULL);
}
