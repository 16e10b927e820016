// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root dies under traffic where the site has an arbiter, which grants, refuses, is down or slow. No
 * answer of it loses a packet or makes a second root; without one the majority decides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "trial.h"

#define NOBODY UINT32_MAX
#define TAKEOVER (3 * SEC)

static struct trial s;

static uint64_t seed = 5;

static void begin(const char *shape, enum fm_verdict verdict, uint64_t delay)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.vanish = true;
	c.arbiter = true;
	trial_begin(&s, &c);
	world_arbiter(s.w, verdict, delay);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
	/* The first root of all claims nothing. */
	assert_int_equal(world_arbiter_asked(s.w), 0);
	s.sparing = true;
	trial_traffic(&s, 500 * US);
}

/*
 * Return: the node that leads and has a table, as soon as there is one within @limit; else NOBODY.
 */
static uint32_t leader(uint64_t limit)
{
	for (limit += world_now(s.w); world_now(s.w) < limit; trial_run(&s, 10 * MS))
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			if (world_managed(s.w, i) && fm_is_root(world_fm(s.w, i)) &&
			    fm_version(world_fm(s.w, i)))
				return i;
	return NOBODY;
}

/* Return: true if any node reports the problem with that text in it. */
static bool problem(const char *text)
{
	const struct fm_problem *p;

	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		for (unsigned int k = 0; world_managed(s.w, i) && (p = fm_problem(world_fm(s.w, i), k)); k++)
			if (!strcmp(p->kind, "arbiter") && strstr(p->text, text))
				return true;
	return false;
}

static void last_answer(uint32_t node, enum fm_verdict verdict)
{
	struct fm_status status;

	fm_status(world_fm(s.w, node), &status);
	assert_true(status.root.arbiter);
	assert_int_equal(status.root.verdict, verdict);
	assert_int_equal(status.root.asked_epoch, status.root.epoch);
	assert_int_not_equal(status.root.answered, 0);
}

static void finish(void)
{
	if (!trial_end(&s))
		fail_msg("%s", s.wrong);
}

static void granted_node_leads_and_asks_no_more(void **state)
{
	unsigned int asked;
	uint32_t root;

	(void)state;
	begin("4x4", FM_GRANTED, 300 * MS);
	world_power(s.w, 0, false);
	root = leader(TAKEOVER);
	assert_int_not_equal(root, NOBODY);
	assert_int_equal(world_arbiter_asked(s.w), 1);
	last_answer(root, FM_GRANTED);
	assert_false(problem(""));
	world_power(s.w, 0, true);
	trial_rest(&s, 20 * SEC);
	/* A root that leads by a grant has no more questions. */
	asked = world_arbiter_asked(s.w);
	trial_run(&s, 20 * SEC);
	assert_int_equal(world_arbiter_asked(s.w), asked);
	finish();
}

/*
 * The arbiter does not answer: the majority decides, and a problem is reported until the arbiter is
 * back.
 */
static void majority_decides_while_arbiter_is_down(void **state)
{
	uint32_t root;

	(void)state;
	begin("4x4", FM_UNKNOWN, 1 * SEC);
	world_power(s.w, 0, false);
	root = leader(TAKEOVER);
	assert_int_not_equal(root, NOBODY);
	assert_true(problem("the arbiter gives no answer: it is down; this node leads"));
	last_answer(root, FM_UNKNOWN);
	trial_run(&s, 10 * SEC);
	assert_in_range(world_arbiter_asked(s.w), 3, 8);
	/* A root that leads goes on, whatever it says then. */
	world_arbiter(s.w, FM_REFUSED, MS);
	trial_run(&s, 10 * SEC);
	assert_int_equal(leader(MS), root);
	assert_true(problem("refuses to let this node lead: no; this node leads"));
	world_arbiter(s.w, FM_GRANTED, MS);
	trial_run(&s, 10 * SEC);
	assert_false(problem(""));
	last_answer(root, FM_GRANTED);
	trial_rest(&s, 20 * SEC);
	assert_int_equal(world_root(s.w), root);
	finish();
}

static void refused_node_does_not_lead_and_asks_again(void **state)
{
	(void)state;
	begin(trial_every() > 1 ? "3x2" : "4x4", FM_REFUSED, 5 * MS);
	world_power(s.w, 0, false);
	assert_int_equal(leader(20 * SEC), NOBODY);
	assert_true(problem("the arbiter refuses to let this node lead: no; this node asks again"));
	/* It asks later each time: not hundreds of times, but often enough. */
	assert_in_range(world_arbiter_asked(s.w), 5, 100);
	world_arbiter(s.w, FM_GRANTED, 5 * MS);
	assert_int_not_equal(leader(20 * SEC), NOBODY);
	trial_rest(&s, 20 * SEC);
	assert_false(problem(""));
	finish();
}

/*
 * The arbiter granted a later epoch than any NIC knows of: that is reported, and the next claim is
 * above.
 */
static void next_claim_is_above_epoch_that_arbiter_granted(void **state)
{
	uint32_t root;

	(void)state;
	begin("4x4", FM_GRANTED, 5 * MS);
	world_arbiter_granted(s.w, 40, 1);
	world_power(s.w, 0, false);
	root = leader(TAKEOVER);
	assert_int_not_equal(root, NOBODY);
	assert_int_equal(fm_epoch(world_fm(s.w, root)), 41);
	trial_rest(&s, 20 * SEC);
	finish();
}

/* The arbiter names an epoch far above any that can be true: it is not believed. */
static void far_epoch_of_arbiter_is_ignored(void **state)
{
	(void)state;
	begin("4x4", FM_GRANTED, 5 * MS);
	world_arbiter_granted(s.w, 1ULL << 60, 1);
	world_power(s.w, 0, false);
	assert_int_equal(leader(10 * SEC), NOBODY);
	for (uint32_t i = 1; i < 16; i++)
		assert_true(fm_epoch(world_fm(s.w, i)) < 1024);
	assert_true(problem("refuses"));
	world_arbiter_granted(s.w, 1, 1);
	assert_int_not_equal(leader(20 * SEC), NOBODY);
	finish();
}

/* A part without a majority, of which no link leads out, leads only by a grant. */
static void few_left(enum fm_verdict verdict, const char *text)
{
	begin("5", verdict, 5 * MS);
	for (uint32_t i = 0; i < 3; i++)
		world_power(s.w, i, false);
	if (verdict != FM_GRANTED) {
		assert_int_equal(leader(10 * SEC), NOBODY);
		assert_true(problem(text));
		world_arbiter(s.w, FM_GRANTED, 5 * MS);
	}
	/* A candidate asks when no link has led out of its part for member_max. */
	assert_int_not_equal(leader(verdict == FM_GRANTED ? TAKEOVER + 3 * SEC : 20 * SEC), NOBODY);
	trial_run(&s, 1 * SEC);
	assert_false(problem(""));
	finish();
}

static void part_without_majority_leads_only_if_granted(void **state)
{
	(void)state;
	few_left(FM_GRANTED, "");
	few_left(FM_UNKNOWN, "the arbiter gives no answer: it is down; this node has no majority and asks again");
	few_left(FM_REFUSED, "the arbiter refuses to let this node lead: no; this node asks again");
}

/* The former root is back while a refused node asks: all follow it, or one of them leads. */
static void root_back_during_refusals_is_followed(void **state)
{
	(void)state;
	begin("4x4", FM_REFUSED, 5 * MS);
	world_hang(s.w, 0, true);
	trial_run(&s, 6 * SEC);
	assert_true(problem("refuses"));
	world_arbiter(s.w, FM_GRANTED, 5 * MS);
	world_hang(s.w, 0, false);
	trial_rest(&s, 30 * SEC);
	assert_false(problem(""));
	finish();
}

/*
 * All candidates ask and are refused; then one is granted, at any moment of their trials. All
 * follow it soon, also the former root, and candidates that asked without success and wait longer
 * each time.
 */
static void candidate_granted_after_refusals_leads(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 24 / trial_every(); k++) {
		seed = 100 + k;
		begin("3x2", FM_REFUSED, 5 * MS);
		if (k % 2)
			world_power(s.w, 0, false);
		else
			world_manager(s.w, 0, false);
		trial_run(&s, (1000 + k * 7919 % 9000) * MS);
		world_arbiter(s.w, FM_GRANTED, 5 * MS);
		assert_int_not_equal(leader(20 * SEC), NOBODY);
		world_power(s.w, 0, true);
		world_manager(s.w, 0, true);
		trial_rest(&s, 20 * SEC);
		assert_false(problem(""));
		finish();
	}
	seed = 5;
}

/*
 * The arbiter sends an answer that no node waits for, or about another epoch: it changes nothing.
 */
static void answer_that_no_node_awaits_changes_nothing(void **state)
{
	(void)state;
	begin("4x4", FM_GRANTED, 400 * MS);
	fm_arbiter(world_fm(s.w, 1), 2, FM_REFUSED, 9, "no", world_now(s.w));
	world_power(s.w, 0, false);
	for (unsigned int i = 0; i < 1000 && !world_arbiter_asked(s.w); i++)
		world_run(s.w, 2 * MS);
	assert_int_equal(world_arbiter_asked(s.w), 1);
	for (uint32_t i = 1; i < 16; i++) {
		fm_arbiter(world_fm(s.w, i), 1, FM_GRANTED, 0, "", world_now(s.w));
		fm_arbiter(world_fm(s.w, i), 77, FM_REFUSED, 0, "no", world_now(s.w));
	}
	trial_run(&s, 200 * MS);
	assert_int_equal(leader(MS), NOBODY);
	assert_int_not_equal(leader(TAKEOVER), NOBODY);
	assert_false(problem(""));
	trial_rest(&s, 20 * SEC);
	finish();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(granted_node_leads_and_asks_no_more),
		cmocka_unit_test(majority_decides_while_arbiter_is_down),
		cmocka_unit_test(refused_node_does_not_lead_and_asks_again),
		cmocka_unit_test(next_claim_is_above_epoch_that_arbiter_granted),
		cmocka_unit_test(far_epoch_of_arbiter_is_ignored),
		cmocka_unit_test(part_without_majority_leads_only_if_granted),
		cmocka_unit_test(root_back_during_refusals_is_followed),
		cmocka_unit_test(candidate_granted_after_refusals_leads),
		cmocka_unit_test(answer_that_no_node_awaits_changes_nothing),
	};

	return cmocka_run_group_tests_name("arbiter", all, NULL, NULL);
}
