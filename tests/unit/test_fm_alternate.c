// SPDX-License-Identifier: GPL-2.0-only
/*
 * Neighbours whose Inits change. No other node confirms an Init, so one neighbour with one cable
 * can send good and foreign ones in turn for ever: it costs its own link, and the fabric a few
 * recoveries and the log a few lines, however often it does.
 */
#include <stdio.h>

#include "stage_flaps.h"

/* The report of node 5's row about port 0; all other ports are well. */
struct wrong {
	enum fm_port_problem problem;
	uint64_t guid;
	uint8_t port;
};

static void well(void)
{
	reports_row(5, stage_row(&s, 5));
}

static void is_wrong(const struct wrong *w)
{
	struct fm_row r = stage_row(&s, 5);

	r.port[0].problem = (uint8_t)w->problem;
	if (w->guid) {
		r.port[0].peer_guid = w->guid;
		r.port[0].peer_port = w->port;
	}
	reports_row(5, r);
}

static bool held(void)
{
	struct fm_hold h;

	return fm_held(s.fm, 0, START + s.now, &h);
}

static const char *used(void)
{
	const char *why = fm_excluded(s.fm, 5, 0);

	return why ? why : "yes";
}

#define TIMES 200

/* Makes the port well and wrong in turn, then well. Return: how many tables that made. */
static uint64_t alternates(const struct wrong *one, const struct wrong *other)
{
	uint64_t before = fm_version(s.fm), from = s.now;

	for (unsigned int k = 0; k < TIMES; k++) {
		is_wrong(one);
		lives_ns(from + (2 * k + 1) * 50 * MS);
		if (other)
			is_wrong(other);
		else
			well();
		lives_ns(from + (2 * k + 2) * 50 * MS);
	}
	well();
	lives_ns(s.now + 50 * MS);
	return fm_version(s.fm) - before;
}

static const struct wrong fabric = { .problem = FM_PROBLEM_FABRIC };
static const struct wrong of_root = { .problem = FM_PROBLEM_ROOT };
static const struct wrong version = { .problem = FM_PROBLEM_VERSION };
static const struct wrong elsewhere = { .guid = NIC + 9, .port = 2 };
static const struct wrong crossed = { .guid = NIC + 6, .port = 3 };

/*
 * An alternating fault makes a few tables, of which the last holds the link; none while it is held;
 * and one when it is used again.
 */
static void alternating_fault_makes_few_tables_and_holds_link(void **state)
{
	static const struct wrong *t[][2] = {
		{ &fabric }, { &of_root }, { &version }, { &fabric, &of_root },
		{ &version, &fabric }, { &elsewhere }, { &crossed },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		uint64_t before;

		root();
		lives(100);
		assert_in_range(alternates(t[k][0], t[k][1]), 2, 2 * LIMIT);
		assert_true(held());
		assert_true(fm_node(s.fm, 5)->held & 1);
		/* The far end's manager need not have seen anything. */
		assert_string_equal(fm_excluded(s.fm, 6, 2), used());
		assert_true(stage_count(&s,
					"log error flap: the link from 1,1:+x ('n5') to ") >= 1);
		/* The cable has been quiet for long enough. */
		before = fm_version(s.fm);
		lives_ns(s.now + HOLD_MAX * MS + 100 * MS);
		assert_false(held());
		assert_string_equal(used(), "yes");
		assert_int_equal(fm_version(s.fm), before + 1);
		stage_end(&s);
	}
}

/* A fault that comes once, or stays, is no flapping: after it the link is used again at once. */
static void single_fault_is_no_flapping(void **state)
{
	uint64_t before;

	(void)state;
	root();
	lives(100);
	before = fm_version(s.fm);
	is_wrong(&fabric);
	lives(200);
	assert_string_equal(used(), "wiring");
	for (unsigned int k = 0; k < 10 * LIMIT; k++)
		is_wrong(&fabric);
	lives(300);
	assert_int_equal(fm_version(s.fm), before + 1);
	assert_false(held());
	well();
	lives(400);
	assert_string_equal(used(), "yes");
	assert_int_equal(fm_version(s.fm), before + 2);
	stage_end(&s);
}

/* A held link that turns out to be wrong is not used when its hold is over. */
static void held_link_that_is_wrong_stays_unused(void **state)
{
	(void)state;
	root();
	lives(100);
	alternates(&fabric, NULL);
	is_wrong(&of_root);
	lives_ns(s.now + HOLD_MAX * MS + 100 * MS);
	assert_false(held());
	assert_string_equal(used(), "wiring");
	stage_end(&s);
}

/* Faults of a link that is down count for nothing, because it is not used anyway. */
static void faults_of_link_that_is_down_do_not_count(void **state)
{
	struct fm_row r;

	(void)state;
	root();
	lives(100);
	r = stage_row(&s, 5);
	r.port[0].state = FM_PORT_DOWN;
	for (unsigned int k = 0; k < 10 * LIMIT; k++) {
		r.port[0].problem = k & 1 ? FM_PROBLEM_NONE : FM_PROBLEM_ROOT;
		r.port[0].peer_guid = NIC + k;
		reports_row(5, r);
	}
	assert_false(held());
	stage_end(&s);
}

/* --- the Inits themselves, at a port of the root's node ------------------------------------ */

static void alternating_inits_make_few_tables_and_hold_link(void **state)
{
	struct fm_init good, bad;
	unsigned int errors;
	uint64_t before;

	(void)state;
	root();
	lives(100);
	stage_forget(&s);
	good = bad = stage_neighbour(&s, 0);
	before = fm_version(s.fm);
	for (unsigned int k = 0; k < 20 * TIMES; k++) {
		/*
		 * Each Init has another name, so that the texts differ: the limit must not depend
		 * on equal texts.
		 */
		sprintf(bad.fabric, "other%u", k);
		stage_receive(&s, 0, &bad);
		if (k % 3 == 0) {
			sprintf(bad.name, "m%u", k);
			stage_receive(&s, 0, &bad);
		}
		stage_receive(&s, 0, &good);
		if (k % 20 == 0)
			lives_ns(s.now + 50 * MS);
	}
	assert_in_range(fm_version(s.fm) - before, 1, 2 * LIMIT);
	errors = stage_count(&s, "log error fabric: port +x leads to node ");
	/* Within 10 s lines are logged at once, and after 1, 2 and 4 s. */
	assert_in_range(errors, 2, 4);
	assert_in_range(stage_count(&s, "log info fabric: over: port +x leads"), 1, errors);
	assert_string_equal(fm_excluded(s.fm, 0, 0), "held");
	lives_ns(s.now + HOLD_MAX * MS + 100 * MS);
	assert_null(fm_excluded(s.fm, 0, 0));
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(alternating_fault_makes_few_tables_and_holds_link),
		cmocka_unit_test(single_fault_is_no_flapping),
		cmocka_unit_test(held_link_that_is_wrong_stays_unused),
		cmocka_unit_test(faults_of_link_that_is_down_do_not_count),
		cmocka_unit_test(alternating_inits_make_few_tables_and_hold_link),
	};

	return cmocka_run_group_tests_name("fm_alternate", all, NULL, NULL);
}
