// SPDX-License-Identifier: GPL-2.0-only
/* How late a manager is, and how much longer it waits for others because of that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/random.h"

uint64_t fm_mix(uint64_t v)
{
	return v;
}

static void begin(struct fm *fm)
{
	*fm = (struct fm) { .now = SEC };
	fm->cfg.resend = 100 * MS;
	fm->cfg.keepalive = SEC;
	fm->cfg.takeover = 200 * MS;
	assert_true(fm_conns_new(fm));
}

/* Return: true if the lag fell when the timer comes so late at @at. */
static bool late_at(struct fm *fm, uint64_t at, uint64_t late)
{
	fm->now = at;
	fm->alarm = at - late;
	return fm_lag_note(fm);
}

/* Small delays of timers are no lag. */
static void small_delay_is_no_lag(void **state)
{
	struct fm fm;

	(void)state;
	begin(&fm);
	assert_false(late_at(&fm, SEC, 12 * MS));
	assert_int_equal(fm_lag_late(&fm), 0);
	assert_int_equal(fm.alarm, NEVER);
	assert_false(late_at(&fm, 2 * SEC, 0));
	assert_false(fm_lag_note(&fm));
	assert_int_equal(fm_lag_late(&fm), 0);
	assert_false(late_at(&fm, 2 * SEC, 13 * MS));
	assert_int_equal(fm_lag_late(&fm), 13 * MS);
	assert_int_equal(fm_lag_answer(&fm), 52 * MS);
	fm_conns_free(&fm);
}

/* The longest delay counts; half of it after each keep-alive, and at last none. */
static void lag_is_longest_delay_and_halves(void **state)
{
	struct fm fm;

	(void)state;
	begin(&fm);
	assert_false(late_at(&fm, 10 * SEC, 2 * SEC));
	assert_int_equal(fm_lag_late(&fm), 2 * SEC);
	assert_false(late_at(&fm, 11 * SEC - 1, 300 * MS));
	assert_int_equal(fm_lag_late(&fm), 2 * SEC);
	assert_true(late_at(&fm, 11 * SEC, 300 * MS));
	assert_int_equal(fm_lag_late(&fm), SEC);
	assert_false(late_at(&fm, 12 * SEC - 1, 0));
	assert_false(late_at(&fm, 12 * SEC - 1, SEC));	/* as late as before: counted from now on */
	assert_false(late_at(&fm, 13 * SEC - 2, 0));
	assert_true(late_at(&fm, 13 * SEC - 1, 0));
	assert_int_equal(fm_lag_late(&fm), 500 * MS);
	for (unsigned int s = 14; s < 20; s++)
		late_at(&fm, s * SEC, 0);
	assert_int_equal(fm_lag_late(&fm), 0);
	fm_conns_free(&fm);
}

/* A manager that was stopped for longer than two seconds is not late. */
static void stopped_manager_has_no_lag(void **state)
{
	struct fm fm;

	(void)state;
	begin(&fm);
	assert_false(late_at(&fm, 10 * SEC, 2 * SEC + 1));
	assert_int_equal(fm_lag_late(&fm), 0);
	assert_false(late_at(&fm, 11 * SEC, 300 * MS));
	assert_false(late_at(&fm, 12 * SEC - 1, 9 * SEC));
	assert_int_equal(fm_lag_late(&fm), 300 * MS);
	/* A manager that was late by nearly as much before lacks processor time. */
	assert_false(late_at(&fm, 20 * SEC, 2 * SEC));
	assert_false(late_at(&fm, 21 * SEC - 1, 3 * SEC));
	assert_int_equal(fm_lag_late(&fm), 3 * SEC);
	fm_conns_free(&fm);
}

/*
 * Connections to a parent, a child and the root count as lost, and HELLO is repeated, later by the
 * lag.
 */
static void lag_puts_off_loss_of_connections(void **state)
{
	struct fm_conn *parent, *child, *root;
	uint64_t lost[3], next;
	struct fm fm;

	(void)state;
	begin(&fm);
	parent = fm_conn_add(&fm, 1, FM_CONN_PARENT);
	child = fm_conn_add(&fm, 2, FM_CONN_STRANGER);
	root = fm_conn_add(&fm, 3, FM_CONN_ROOT);
	assert_true(parent && child && root);
	fm_conn_child(&fm, child, 2);
	parent->ready = parent->confirmed = root->ready = true;
	lost[0] = fm_conn_lost_at(&fm, parent);
	lost[1] = fm_conn_lost_at(&fm, child);
	lost[2] = fm_conn_lost_at(&fm, root);
	next = fm_conn_expiry(&fm, root);
	late_at(&fm, SEC, 70 * MS);
	assert_int_equal(fm_conn_lost_at(&fm, parent), lost[0] + 280 * MS);
	assert_int_equal(fm_conn_lost_at(&fm, child), lost[1] + 280 * MS);
	assert_int_equal(fm_conn_lost_at(&fm, root), lost[2] + 280 * MS);
	assert_int_equal(fm_conn_expiry(&fm, root), next + 70 * MS);
	/* A connection that is awaited in a recovery is lost sooner, but also later than before. */
	child->awaited = true;
	assert_int_equal(fm_conn_expiry(&fm, child), SEC + 2 * SEC + 280 * MS);
	fm_conns_free(&fm);
}

/* A stop that follows a timer that was on time is a stop again, however many there were before. */
static void each_stop_between_timely_timers_is_no_lag(void **state)
{
	struct fm fm;

	(void)state;
	begin(&fm);
	for (unsigned int k = 1; k < 4; k++) {
		assert_false(late_at(&fm, 100 * k * SEC, 3 * SEC));
		assert_int_equal(fm_lag_late(&fm), 0);
		assert_false(late_at(&fm, 100 * k * SEC + SEC, 0));
	}
	fm_conns_free(&fm);
}

/* A timer that is late by more than 2 s is a lag if the one before was, too. */
static void second_long_delay_in_succession_is_lag(void **state)
{
	struct fm fm;

	(void)state;
	begin(&fm);
	late_at(&fm, 10 * SEC, 3 * SEC);
	late_at(&fm, 20 * SEC, 4 * SEC);
	assert_int_equal(fm_lag_late(&fm), 4 * SEC);
	/* Twice the lag is no stop, a little more is one. */
	late_at(&fm, 20 * SEC + 1, 8 * SEC);
	assert_int_equal(fm_lag_late(&fm), 8 * SEC);
	late_at(&fm, 20 * SEC + 2, 16 * SEC + 1);
	assert_int_equal(fm_lag_late(&fm), 8 * SEC);
	fm_conns_free(&fm);
}

/* The lag ends when its half is below the delay that is normal; a delay of just that counts. */
static void shortest_lag_is_normal_delay(void **state)
{
	struct fm fm;

	(void)state;
	begin(&fm);
	late_at(&fm, 10 * SEC, 25 * MS);
	late_at(&fm, 11 * SEC, 0);
	assert_int_equal(fm_lag_late(&fm), 12500 * 1000);
	late_at(&fm, 12 * SEC, 0);
	assert_int_equal(fm_lag_late(&fm), 0);
	late_at(&fm, 13 * SEC, 12500 * 1000 - 1);
	assert_int_equal(fm_lag_late(&fm), 0);
	late_at(&fm, 13 * SEC, 12500 * 1000);
	assert_int_equal(fm_lag_late(&fm), 12500 * 1000);
	late_at(&fm, 20 * SEC, 30 * MS);
	late_at(&fm, 21 * SEC, 0);
	assert_int_equal(fm_lag_late(&fm), 15 * MS);
	fm_conns_free(&fm);
}

/* Return: how long after an event that is @late the manager calls no node dead. */
static uint64_t doubts_after(struct fm *fm, uint64_t late)
{
	fm->doubts = 0;
	fm->alarm = fm->now - late;
	fm_lag_event(fm);
	return fm_lag_doubts(fm) ? fm_lag_doubts(fm) - fm->now : 0;
}

/*
 * A manager that stood for 5 resends or longer has doubts for four times as long, at most for
 * member_max. A shorter stop ends no doubts.
 */
static void stopped_manager_has_doubts(void **state)
{
	struct fm fm;

	(void)state;
	begin(&fm);
	fm.cfg.member_max = 5 * SEC;
	fm.now = 100 * SEC;
	assert_int_equal(doubts_after(&fm, 0), 0);
	assert_int_equal(doubts_after(&fm, 500 * MS - 1), 0);
	assert_int_equal(doubts_after(&fm, 500 * MS), 2 * SEC);
	assert_int_equal(doubts_after(&fm, SEC), 4 * SEC);
	assert_int_equal(doubts_after(&fm, 50 * SEC), 5 * SEC);
	fm.now += SEC;
	fm.alarm = fm.now - 500 * MS;
	fm_lag_event(&fm);
	assert_int_equal(fm_lag_doubts(&fm), 105 * SEC);
	fm.alarm = fm.now + SEC;
	fm.doubts = 0;
	fm.cfg.resend = 0;
	fm_lag_event(&fm);		/* the timer is not due yet */
	assert_int_equal(fm_lag_doubts(&fm), fm.now);
	fm_conns_free(&fm);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_delay_is_no_lag),
		cmocka_unit_test(lag_is_longest_delay_and_halves),
		cmocka_unit_test(stopped_manager_has_no_lag),
		cmocka_unit_test(lag_puts_off_loss_of_connections),
		cmocka_unit_test(each_stop_between_timely_timers_is_no_lag),
		cmocka_unit_test(second_long_delay_in_succession_is_lag),
		cmocka_unit_test(shortest_lag_is_normal_delay),
		cmocka_unit_test(stopped_manager_has_doubts),
	};

	return cmocka_run_group_tests_name("lag", tests, NULL, NULL);
}
