// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arbiter of a claim, by itself: every answer, for a claim with and without a majority, and
 * when a root that leads asks again. Stubs in this test stand for the functions of the manager that
 * it calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/log.h"
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/root/arbiter.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/quorum.h"

#define EPOCH 7

static struct fm_root r;
static struct fm fm = { .root = &r };
static struct fm_answer answer = { .why = "because" };
static uint64_t asked, again;
static bool unanswered;
static uint32_t needed;
static unsigned int questions, put_off;
static char problem[FM_TEXT_MAX];

const struct fm_answer *fm_verdict(const struct fm *f)
{
	(void)f;
	return &answer;
}

void fm_verdict_ask(struct fm *f)
{
	(void)f;
	questions++;
}

uint64_t fm_verdict_asked(const struct fm *f, bool *waits)
{
	(void)f;
	*waits = unanswered;
	return asked;
}

void fm_verdict_put_off(struct fm *f)
{
	(void)f;
	put_off++;
}

uint64_t fm_verdict_again(const struct fm *f)
{
	(void)f;
	return again;
}

void fm_quorum_count(const struct fm *f, uint32_t *here, uint32_t *need)
{
	(void)f;
	*here = 1;
	*need = needed;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "arbiter");
	assert_int_equal(key, 0);
	va_start(args, fmt);
	vsnprintf(problem, sizeof(problem), fmt, args);
	va_end(args);
}

static void reset(void)
{
	fm.cfg.arbiter = true;
	fm.term = EPOCH;
	fm.now = 0;
	asked = again = 0;
	unanswered = false;
	questions = put_off = 0;
	problem[0] = '\0';
}

/* Checks what has been done since reset(). */
static void did(unsigned int asks, unsigned int puts_off, const char *says)
{
	assert_int_equal(questions, asks);
	assert_int_equal(put_off, puts_off);
	assert_string_equal(problem, says);
}

#define REFUSES "the arbiter refuses to let this node lead: because; "
#define SILENT "the arbiter gives no answer: because; "

/* The claim is put to the arbiter once; a node with a majority leads without an answer. */
static void arbiter_is_asked_once_and_majority_leads_anyway(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 12; k++) {
		bool quorum = k & 1, majority = quorum || k & 2, ends = true;

		needed = k & 2 ? 0 : 3;		/* 0: it is not known who would be a majority */
		answer.verdict = (uint8_t[]){ FM_GRANTED, FM_REFUSED, FM_UNKNOWN }[k / 4];
		reset();
		fm.cfg.arbiter = false;
		assert_true(fm_arbiter_lets(&fm, quorum, &ends));
		assert_false(ends);
		did(0, 0, "");

		/* The last question was about another epoch, and its answer counts no more. */
		for (unsigned int waits = 0; waits < 2; waits++) {
			reset();
			asked = waits ? EPOCH + 1 : EPOCH - 1;
			unanswered = waits;
			ends = true;
			assert_false(fm_arbiter_lets(&fm, quorum, &ends));
			assert_false(ends);
			did(1, 0, "");
		}

		reset();
		asked = EPOCH;
		unanswered = true;
		ends = true;
		assert_false(fm_arbiter_lets(&fm, quorum, &ends));
		assert_false(ends);
		did(0, 0, "");

		unanswered = false;
		ends = true;
		if (answer.verdict == FM_GRANTED) {
			assert_true(fm_arbiter_lets(&fm, quorum, &ends));
			assert_false(ends);
			did(0, 0, "");
		} else if (answer.verdict == FM_UNKNOWN && majority) {
			assert_true(fm_arbiter_lets(&fm, quorum, &ends));
			assert_false(ends);
			did(0, 1, SILENT "this node leads nevertheless");
		} else {
			assert_false(fm_arbiter_lets(&fm, quorum, &ends));
			assert_true(ends);
			did(0, 1, answer.verdict == FM_REFUSED ?
				  REFUSES "this node asks again" :
				  SILENT "this node has no majority and asks again");
		}
	}
}

/* If there is an arbiter, a claim that comes too early after its answer waits. */
static void claim_soon_after_answer_of_arbiter_waits(void **state)
{
	(void)state;
	reset();
	again = 10;
	fm.now = 9;
	assert_true(fm_arbiter_waits(&fm));
	fm.now = 10;
	assert_false(fm_arbiter_waits(&fm));
	fm.now = 9;
	fm.cfg.arbiter = false;
	assert_false(fm_arbiter_waits(&fm));
}

/*
 * A node that leads has a problem after each answer but a grant; a claim looks at the answer
 * itself.
 */
static void leading_root_without_grant_has_problem(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 9; k++) {
		enum fm_stage stage = (enum fm_stage)(k % 3);
		const char *text = "";

		reset();
		r.stage = stage;
		answer.verdict = (uint8_t)(k / 3);
		if (stage == FM_STAGE_LEADS && answer.verdict != FM_GRANTED)
			text = answer.verdict == FM_REFUSED ?
				REFUSES "this node leads nevertheless" :
				SILENT "this node leads nevertheless";
		fm_arbiter_answered(&fm);
		did(0, text[0] != '\0', text);
	}
}

/*
 * Only a root that leads without a grant asks again, when its time has come, one question at a
 * time.
 */
static void only_leading_root_without_grant_asks_again(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 32; k++) {
		bool leads = k & 1, due = k & 16;
		bool on;

		reset();
		r.stage = leads ? FM_STAGE_LEADS : k & 2 ? FM_STAGE_CLAIMS : FM_STAGE_ASKS;
		again = k & 4 ? 10 : 0;
		unanswered = k & 8;
		fm.now = due ? 10 : 9;
		on = leads && again && !unanswered;
		assert_true(fm_arbiter_expiry(&fm) == (on ? 10 : NEVER));
		fm_arbiter_due(&fm);
		did(on && due, 0, "");
		fm.cfg.arbiter = false;
		assert_true(fm_arbiter_expiry(&fm) == NEVER);
		fm_arbiter_due(&fm);
		did(on && due, 0, "");
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(arbiter_is_asked_once_and_majority_leads_anyway),
		cmocka_unit_test(claim_soon_after_answer_of_arbiter_waits),
		cmocka_unit_test(leading_root_without_grant_has_problem),
		cmocka_unit_test(only_leading_root_without_grant_asks_again),
	};

	return cmocka_run_group_tests_name("fm_arbiter", all, NULL, NULL);
}
