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

static void no_step_follows(void **state)
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

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(no_step_follows),
	};

	return cmocka_run_group_tests_name("fm_anew", all, NULL, NULL);
}
