// SPDX-License-Identifier: GPL-2.0-only
/*
 * A NIC starts anew in the midst of a recovery: it has no rows any more, so the recovery must not
 * open ports nor lift holds, which let packets go to it. The next table is due.
 */
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/member.h"
#include "stage_root.h"

/* Makes table 2, without the cable from 1 to 2, and lets all nodes apply it. */
static void table_2(void)
{
	ring();
	s.deaf = "init ping pong report lost rows place release close log ";
	for (uint32_t i = 1; i < 3; i++) {
		struct fm_row r = stage_row(&s, i);

		r.serial = 2;
		r.port[i == 1 ? 0 : 2].state = FM_PORT_FAULTY;
		row(i, &r);
	}
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(fm_version(s.fm), 2);
	stage_forget(&s);
}

/* Lets time pass in small steps, in which nodes report what they are asked. */
static void report_all(uint32_t nodes)
{
	for (uint64_t until = s.now + 19 * MS / 10; s.now < until;) {
		for (uint32_t i = 1; i < nodes; i++)
			reports(i, fm_member_round(s.fm));
		stage_run_ns(&s, s.now + MS / 20);
	}
}

static void no_further_step_follows_if_node_began_anew(void **state)
{
	struct fm_msg m;

	(void)state;
	table_2();
	report_all(4);
	assert_int_equal(fm_version(s.fm), 2);
	assert_true(stage_count(&s, " resume ") > 0);
	stage_end(&s);
	table_2();
	m = hello(3);
	m.hello.epoch = 2;
	m.hello.attach = 9;
	stage_up(&s, 203);
	stage_msg(&s, 203, &m);
	report_all(3);
	assert_int_equal(fm_version(s.fm), 2);
	assert_int_equal(stage_count(&s, " resume "), 0);
	assert_int_equal(stage_count(&s, " replay "), 0);
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(fm_version(s.fm), 3);
	stage_end(&s);
}

/* Nodes that live and wait answer for @ns, and this manager is late by @lag all the time. */
static void wait_with_lag(uint64_t ns, uint64_t lag)
{
	struct fm_msg waits = { .type = FM_MSG_PONG, .pong.waits = true };

	for (uint64_t end = s.now + ns; s.now < end;) {
		s.fm->lag = lag;
		s.fm->lag_at = START + s.now;
		stage_run_ns(&s, earlier(end, s.now + s.cfg.resend));
		for (int conn = 101; conn < 104; conn++)
			stage_msg(&s, conn, &waits);
	}
}

/*
 * No node reports that it has the table. After ten resends a problem names one of them. After three
 * times member_max, doubled for each time before, all are asked to join anew. Both come later if
 * the root is late.
 */
static void no_node_reports(uint64_t lag, unsigned int rolls)
{
	uint64_t named, anew;

	ring();
	named = 10 * s.cfg.resend + 4 * lag;
	anew = 3 * (s.cfg.member_max + 4 * lag) << rolls;
	assert_true(named < anew);
	s.fm->rolls = rolls;
	stage_link_lost(&s, 0, 7);
	for (unsigned int ms = 0; fm_version(s.fm) == 1; ms++) {
		assert_in_range(ms, 0, 100);
		stage_run_ns(&s, s.now + MS);
	}
	stage_forget(&s);
	wait_with_lag(named - 2 * MS, lag);
	assert_int_equal(stage_count(&s, "waits for an answer of"), 0);
	wait_with_lag(2 * s.cfg.resend + 4 * lag, lag);
	assert_int_equal(stage_count(&s, "waits for an answer of"), 1);
	wait_with_lag(anew - named - 2 * s.cfg.resend - 4 * lag - 2 * MS, lag);
	assert_int_equal(stage_count(&s, "join anew"), 0);
	wait_with_lag(2 * s.cfg.resend + 4 * lag, lag);
	assert_int_equal(stage_count(&s, "join anew"), 1);
	assert_int_equal(s.fm->rolls, rolls < 4 ? rolls + 1 : 4);
	stage_end(&s);
}

static void recovery_goes_on_if_nodes_do_not_report(void **state)
{
	(void)state;
	no_node_reports(0, 0);
	no_node_reports(30 * MS, 0);
	no_node_reports(0, 2);
	no_node_reports(0, 4);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(no_further_step_follows_if_node_began_anew),
		cmocka_unit_test(recovery_goes_on_if_nodes_do_not_report),
	};

	return cmocka_run_group_tests_name("fm_anew", all, NULL, NULL);
}
