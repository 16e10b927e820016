// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node at a slow NIC: the order of its actions, its messages meanwhile, and the end of an action
 * whose step is outdated, or that failed.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/task.h"
#include "stage_member.h"

/* Makes the NIC slow. It obeys the root already: test_fm_obey.c has other cases. */
static void slow_from_now(void)
{
	fm_nic_obey_soon(s.fm);
	stage_end_of(&s);
	assert_true(fm_nic_obeys(s.fm));
	s.slow = true;
	stage_forget(&s);
}

/* Each action begins when the one before has ended, and the report follows the last one. */
static void actions_of_step_follow_each_other_before_report(void **state)
{
	(void)state;
	joined();
	slow_from_now();
	table(1);
	reports(52, 2, 1, 0);
	reports(53, 3, 1, 0);
	stage_did(&s, "52 < table 1 term 126 4x1" ALL "53 < table 1 term 126 4x1" ALL
		  "place 4x1 at 1,0\n");
	assert_int_equal(fm_own(s.fm), TORUS_NO_NODE);
	stage_end_of(&s);
	stage_did(&s, "rows 1: 4\n");
	assert_int_equal(fm_own(s.fm), 1);
	assert_int_equal(fm_applied(s.fm), 0);
	stage_end_of(&s);
	stage_did(&s, "lost\n");
	assert_int_equal(fm_applied(s.fm), 1);
	stage_end_of(&s);
	stage_did(&s, "1 < report 1.0 of 3 term 126\n");
	assert_int_equal(s.under_way, 0);
	step(1, 1, FM_STEP_RESUME);
	stage_did_some(&s, "release 1\n");
	assert_false(fm_in_force(s.fm, 1));
	stage_end_of(&s);
	stage_did(&s, "lost\n");
	stage_end_of(&s);
	assert_true(fm_in_force(s.fm, 1));
	stage_end(&s);
}

/*
 * The root asks for the step again meanwhile: the node answers that it lives, and begins nothing
 * twice.
 */
static void repeated_step_is_answered_and_begins_nothing_twice(void **state)
{
	(void)state;
	joined();
	slow_from_now();
	table(1);
	stage_forget(&s);
	step(1, 0, FM_STEP_APPLY);
	stage_did_some(&s, "1 < pong waits\n");
	stage_end_of(&s);
	stage_did(&s, "rows 1: 4\n");
	step(1, 0, FM_STEP_APPLY);
	assert_int_equal(stage_count(&s, "rows"), 0);
	stage_did_some(&s, "1 < pong waits\n");
	stage_end(&s);
}

/* A newer table waits only for the action under way, and nothing of the older one is reported. */
static void newer_table_replaces_older_after_present_action(void **state)
{
	(void)state;
	joined();
	slow_from_now();
	table(1);
	stage_end_of(&s);
	stage_did_some(&s, "rows 1: 4\n");
	table(2);
	table(3);
	reports(52, 2, 3, 0);
	reports(53, 3, 3, 0);
	stage_did_no(&s, "rows");
	stage_end_of(&s);
	assert_int_equal(fm_applied(s.fm), 1);
	stage_did(&s, "rows 3: 0\n");
	stage_end_of(&s);
	stage_did(&s, "lost\n");
	stage_end_of(&s);
	stage_did(&s, "1 < report 3.0 of 3 term 126\n");
	stage_end(&s);
}

/*
 * The root proves by two counts that the network is empty: those of the second one must have been
 * read after all had answered the first.
 */
static void later_count_is_read_after_it_was_asked_for(void **state)
{
	(void)state;
	in_force();
	slow_from_now();
	s.park.parked = 4;
	step(1, 1, FM_STEP_COUNT);
	assert_int_not_equal(s.under_way, 0);
	step(1, 2, FM_STEP_COUNT);
	reports(52, 2, 1, 2);
	reports(53, 3, 1, 2);
	s.park.parked = 5;
	stage_forget(&s);
	stage_end_of(&s);
	stage_did_nothing(&s);
	assert_int_not_equal(s.under_way, 0);
	stage_end_of(&s);
	stage_did(&s, "1 < report 1.2 of 3 term 126 parked 5\n");
	stage_end(&s);
}

static bool has_problem(const char *kind, const char *text)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (!strcmp(p->kind, kind) && strstr(p->text, text))
			return true;
	return false;
}

static void table_of_plan(uint64_t version, const char *v4, const char *v6)
{
	struct fm_msg m = stage_table(&s, version, entry);

	torus_plan_default(&m.table.plan);
	assert_false(torus_plan_parse4(v4, &m.table.plan));
	assert_false(torus_plan_parse6(v6, &m.table.plan));
	stage_msg(&s, 1, &m);
}

/* A plan that has the service address of this node changes nothing at its NIC, and is reported. */
static void refuses_plan(const char *address, const char *v4, const char *v6)
{
	node_1();
	strcpy(s.cfg.address, address);
	joins();
	table_of_plan(1, v4, v6);
	stage_did_no(&s, "place");
	assert_true(has_problem("plan", address));
	assert_true(has_problem("plan", "give it an address of another network"));
	step(1, 0, FM_STEP_APPLY);
	stage_did_some(&s, "1 < failed 101/1 version 1 error 98\n");
	table_of_plan(2, "172.16.0.0/12", "fd00:31::/32");
	stage_did_some(&s, "place 4x1 at 1,0 plan /12 /32\n");
	assert_false(has_problem("plan", ""));
	stage_end(&s);
}

static void plan_that_contains_own_service_address_is_refused(void **state)
{
	(void)state;
	refuses_plan("30.0.0.1:1", "30.0.0.0/8", "fd00:31::/32");
	refuses_plan("30.0.0.1:1", "30.0.0.0/29", "fd00:31::/32");
	refuses_plan("[fd00:30::1]:1", "172.16.0.0/12", "fd00:30::/32");
	refuses_plan("[fd74:6f72::1]:1", "172.16.0.0/12", "fd74:6f72::/32");
}

/* An answer that comes twice, or to no action under way, changes nothing. */
static void answer_to_no_action_changes_nothing(void **state)
{
	static const struct fm_counts counts = { .park = { .parked = 9 } };
	uint32_t tag;

	(void)state;
	joined();
	slow_from_now();
	table(1);
	tag = s.under_way;
	stage_forget(&s);
	fm_done(s.fm, tag + 1, 0, NULL, START + s.now);
	fm_done(s.fm, tag - 1, 0, &counts, START + s.now);
	fm_done(s.fm, 0, -EIO, NULL, START + s.now);
	stage_did_nothing(&s);
	stage_end_of(&s);
	stage_forget(&s);
	fm_done(s.fm, tag, 0, NULL, START + s.now);
	fm_done(s.fm, tag, -EIO, NULL, START + s.now);
	stage_did_nothing(&s);
	s.slow = false;
	reports(52, 2, 1, 0);
	reports(53, 3, 1, 0);
	stage_run(&s, 2);
	stage_did_some(&s, "1 < report 1.0 of 3 term 126\n");
	fm_done(s.fm, tag + 2, 0, &counts, START + s.now);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* A count without an error but without counters, which no host gives, is not reported. */
static void count_without_counters_is_not_reported(void **state)
{
	(void)state;
	in_force();
	slow_from_now();
	step(1, 1, FM_STEP_COUNT);
	reports(52, 2, 1, 1);
	reports(53, 3, 1, 1);
	stage_forget(&s);
	fm_done(s.fm, s.under_way, 0, NULL, START + s.now);
	stage_did(&s, "log error nic: the NIC's counters cannot be read: Protocol error\n");
	s.under_way = 0;
	stage_end(&s);
}

/* Holds whose release failed are released again: otherwise their flows would wait for ever. */
static void failed_release_is_tried_again(void **state)
{
	(void)state;
	in_force();
	s.err.release = -ETIMEDOUT;
	step(1, 1, FM_STEP_RESUME);
	reports(52, 2, 1, 1);
	reports(53, 3, 1, 1);
	assert_int_equal(stage_count(&s, "report"), 0);
	stage_did_some(&s, "log error nic: the NIC cannot end its holds: Connection timed out\n");
	s.err.release = 0;
	step(1, 1, FM_STEP_RESUME);
	stage_did(&s, "release 1\n1 < pong waits\n"
		  "log info nic: over: the NIC cannot end its holds: Connection timed out\n"
		  "lost\n1 < report 1.1 of 3 term 126\n");
	stage_end(&s);
}

/*
 * An action that fails for an older step is no failure of the present one, which is done without
 * being asked for again.
 */
static void failure_of_older_step_is_no_failure_of_present(void **state)
{
	(void)state;
	joined();
	slow_from_now();
	s.err.place = -ETIMEDOUT;
	table(1);
	stage_forget(&s);
	s.err.place = 0;
	table(2);
	stage_forget(&s);
	stage_end_of(&s);
	stage_did(&s, "log error nic: the NIC does not take its coordinates: Connection timed out\n"
		  "place 4x1 at 1,0\n");
	s.err.rows = -ETIMEDOUT;
	stage_end_of(&s);
	stage_did(&s,
		  "log info nic: over: the NIC does not take its coordinates: Connection timed "
		  "out\n"
		  "rows 2: 4\n");
	s.err.rows = 0;
	table(3);
	stage_forget(&s);
	stage_end_of(&s);
	/* The rows in the NIC are not known: all that were written are written again. */
	stage_did(&s, "log error table: table 2 cannot be applied: Connection timed out\n"
		  "rows 3: 4\n");
	s.err.count = -ETIMEDOUT;
	stage_end_of(&s);
	stage_did(&s, "log info table: over: table 2 cannot be applied: Connection timed out\n"
		  "lost\n");
	s.err.count = 0;
	table(4);
	reports(52, 2, 4, 0);
	reports(53, 3, 4, 0);
	stage_forget(&s);
	stage_end_of(&s);
	stage_did(&s,
		  "log error nic: the NIC's counters cannot be read: Connection timed out\nrows 4: "
		  "0\n");
	s.slow = false;
	stage_run(&s, 2);
	stage_did_some(&s, "1 < report 4.0 of 3 term 126\n");
	stage_end(&s);
}

/* Asks for a step 50 times. Return: how many lines the log got. */
static unsigned int lines_of_50(uint32_t round, enum fm_step_kind kind)
{
	unsigned int reported;

	for (unsigned int i = 0; i < 50; i++)
		step(1, round, kind);
	reported = stage_count(&s, "log ");
	stage_forget(&s);
	return reported;
}

/*
 * A NIC that refuses an action each time is logged once, and when that ends: the step is asked for
 * every few milliseconds, and otherwise these lines would displace all others from the list of
 * events.
 */
static void repeated_refusal_of_nic_is_logged_once(void **state)
{
	(void)state;
	joined();
	s.err.place = s.err.rows = s.err.release = s.err.count = -EIO;
	table(1);
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "the NIC does not take its coordinates: Input/output error");
	stage_forget(&s);
	assert_int_equal(lines_of_50(0, FM_STEP_APPLY), 0);
	s.err.place = 0;
	assert_int_equal(lines_of_50(0, FM_STEP_APPLY), 2);
	s.err.rows = 0;
	assert_int_equal(lines_of_50(0, FM_STEP_APPLY), 2);
	assert_int_equal(lines_of_50(1, FM_STEP_RESUME), 1);
	s.err.count = 0;
	s.err.replay = -EBUSY;
	assert_int_equal(lines_of_50(2, FM_STEP_REPLAY), 2);
	s.err.release = 0;
	/* A version that is resumed is replayed, or another one's to replay. */
	assert_int_equal(lines_of_50(3, FM_STEP_RESUME), 2);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/*
 * The problem of a replay that the NIC refused stays after RESUME as long as parked packets, or a
 * port that is still closed, are left for the replay of another version.
 */
static void problem_of_replay_stays_while_packets_are_parked(void **state)
{
	(void)state;
	for (unsigned int left = 0; left < 3; left++) {
		in_force();
		if (left == 1) {
			stage_link_lost(&s, 0, 9);
			stage_link_up(&s, 0, 2);
			table(2);
		} else {
			table(2);
		}
		s.err.replay = -EBUSY;
		s.park.parked = left == 2 ? 4 : 0;
		step(2, 1, FM_STEP_REPLAY);
		assert_true(has_problem("nic", "the NIC refuses to replay its parked packets"));
		step(2, 2, FM_STEP_RESUME);
		assert_int_equal(has_problem("nic", "the NIC refuses to replay its parked packets"),
				 left > 0);
		/* The node reports its failure for good only if it cannot do what is left. */
		stage_run(&s, 3 * (unsigned int)(s.cfg.member_max / MS));
		assert_int_equal(fm_task_refuses(s.fm), left > 0);
		s.park.parked = 0;
		stage_end(&s);
	}
}

/* HELLO reports the version that a failed write may have put in force. */
static void hello_reports_version_of_failed_write(void **state)
{
	(void)state;
	in_force();
	s.err.rows = -ETIMEDOUT;
	table(2);
	assert_int_equal(fm_applied(s.fm), 1);
	stage_down(&s, 1);
	stage_run(&s, 100);
	stage_up(&s, 2);
	stage_did_some(&s, " version 2 term 126");
	stage_end(&s);
}

/*
 * A port that is lost while parked packets are replayed may be closed: its row goes on to report
 * that.
 */
static void port_lost_in_replay_stays_closed_in_row(void **state)
{
	static const struct {
		unsigned int port;
		const char *lost, *up;
	} t[] = {
		{ 0, ": f102.2,s2/11,closed d u100.0,s1/7,closed d\n",
		  ": u102.2,s2/11,closed d u100.0 d\n" },
		{ 2, ": u102.2,s1/9,closed d f100.0,s3/11,closed d\n",
		  ": u102.2 d u100.0,s3/11,closed d\n" },
	};

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		in_force();
		stage_link_lost(&s, 0, 9);
		stage_link_up(&s, 0, 2);
		stage_link_lost(&s, 2, 7);
		stage_link_up(&s, 2, 3);
		table(2);
		slow_from_now();
		step(2, 1, FM_STEP_REPLAY);
		reports(52, 2, 2, 1);
		reports(53, 3, 2, 1);
		stage_did_some(&s, "replay 2: 5\n");
		stage_link_lost(&s, t[k].port, 11);
		stage_did_some(&s, t[k].lost);
		s.slow = false;
		stage_run(&s, 2);
		stage_did_some(&s, "report 2.1 of 3");
		stage_link_up(&s, t[k].port, 4);
		stage_did_some(&s, t[k].up);
		stage_end(&s);
	}
}

/*
 * HELLO has the counters of the NIC, and is sent when these are read, unless the connection is gone
 * by then.
 */
static void hello_waits_for_counters_of_nic(void **state)
{
	(void)state;
	in_force();
	stage_down(&s, 1);
	stage_run(&s, 100);
	slow_from_now();
	stage_up(&s, 2);
	stage_did_nothing(&s);
	s.park.parked = 7;
	s.counts.park.parked = 7;
	stage_end_of(&s);
	stage_did_some(&s, "parked 7");
	stage_run(&s, 150);
	stage_forget(&s);
	stage_down(&s, 2);
	stage_run(&s, 200);
	stage_up(&s, 3);
	stage_down(&s, 3);
	stage_forget(&s);
	stage_end_of(&s);
	stage_did_no(&s, "hello");
	stage_end(&s);
}

/*
 * The counters for a HELLO cannot be read: it is sent when they can. Until then the root does not
 * learn that the given parent does not accept this node.
 */
static void hello_is_sent_when_counters_can_be_read(void **state)
{
	int parent;

	(void)state;
	in_force();
	stage_welcome(&s, 1, TERM, "30.0.0.3:1");
	parent = s.next_conn - 1;
	s.err.count = -EIO;
	stage_forget(&s);
	stage_down(&s, parent);
	stage_run(&s, 100);
	stage_did_no(&s, "hello");
	s.err.count = 0;
	stage_run(&s, 100 + (double)s.cfg.keepalive / MS);
	stage_did_some(&s, "1 < hello");
	stage_end(&s);
}

/* The NIC is lost, and the manager ends with an action under way: all memory is freed. */
static void lost_nic_frees_all_memory(void **state)
{
	(void)state;
	joined();
	slow_from_now();
	table(1);
	stage_end(&s);
	joined();
	slow_from_now();
	table(1);
	stage_end_of(&s);
	assert_int_not_equal(s.under_way, 0);
	stage_end(&s);
}

static void table_with(int conn, uint64_t version, enum fm_node_state state, uint32_t epoch)
{
	struct fm_msg m = stage_table(&s, version, entry);

	entry[1].state = (uint8_t)state;
	entry[1].epoch = epoch;
	stage_msg(&s, conn, &m);
}

/* Brings the next connection to the root up, on which the node is accepted. Return: its number. */
static int joins_again(void)
{
	int conn;

	stage_wait(&s, "connect 30.0.0.0:1");
	conn = s.next_conn - 1;
	stage_up(&s, conn);
	stage_welcome(&s, conn, TERM, "");
	stage_forget(&s);
	return conn;
}

/* A table does not count on this node, in its present life: it joins anew at once, and once. */
static void node_left_out_of_table_joins_anew_once(void **state)
{
	int conn;

	(void)state;
	joined();
	s.deaf = "init ping pong log hello row kept adopted welcome ";
	table(1);
	stage_forget(&s);
	table_with(1, 2, FM_NODE_DEAD, 2);
	stage_did_no(&s, "close 1");
	table_with(1, 3, FM_NODE_DEAD, 1);
	stage_did_some(&s, "close 1\n");
	conn = joins_again();
	for (unsigned int i = 0; i < 30; i++) {
		stage_run_ns(&s, s.now + s.cfg.member_max / 10);
		stage_send(&s, conn, FM_MSG_PONG);
		stage_send(&s, 52, FM_MSG_PING);
		stage_send(&s, 53, FM_MSG_PING);
	}
	stage_did_no(&s, "close");
	stage_end(&s);
}

/*
 * A table does not count on this node because its NIC failed: it joins after a while; then its NIC
 * is treated as any other.
 */
static void node_left_out_after_nic_failure_joins_later(void **state)
{
	uint64_t wait;
	int conn;

	(void)state;
	joined();
	s.deaf = "init ping pong log hello row kept adopted welcome ";
	wait = s.cfg.member_max;
	s.err.rows = -EIO;
	table(1);
	table_with(1, 3, FM_NODE_DEAD, 1);
	stage_forget(&s);
	stage_run_ns(&s, s.now + wait - 1);
	stage_did_no(&s, "close 1");
	stage_run_ns(&s, s.now + 1);
	stage_did_some(&s, "close 1\n");
	conn = joins_again();
	s.err.rows = 0;
	table_with(conn, 4, FM_NODE_DEAD, 1);
	assert_true(stage_count(&s, "close ") > 0);
	stage_end(&s);
}

/*
 * A node whose NIC refuses rows waits twice as long after each failure until it joins again, but
 * not longer than 20 times member_max.
 */
static void node_with_failing_nic_waits_twice_as_long_each_time(void **state)
{
	static const unsigned int waits[] = { 1, 2, 4, 8, 16, 20, 20 };
	uint64_t version = 1;
	int conn = 1;

	(void)state;
	node_1();
	s.cfg.member_max = 2 * s.cfg.resend;
	joins();
	s.deaf = "init ping pong log hello row kept adopted welcome ";
	s.err.rows = -EIO;
	for (unsigned int i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		uint64_t left_out;
		char line[32];

		table_with(conn, version++, FM_NODE_UP, 1);
		table_with(conn, version++, FM_NODE_DEAD, 1);
		left_out = s.now;
		stage_forget(&s);
		snprintf(line, sizeof(line), "close %d\n", conn);
		while (!stage_count(&s, line)) {
			stage_run_ns(&s, s.now + s.cfg.resend);
			stage_send(&s, conn, FM_MSG_PONG);
		}
		assert_int_equal(s.now - left_out, waits[i] * s.cfg.member_max);
		conn = joins_again();
	}
	stage_end(&s);
}

/* Keeps all connections alive for @ns, while the root asks for the table again and again. */
static void asked_for(uint64_t ns)
{
	uint64_t version = fm_version(s.fm);

	for (uint64_t end = s.now + ns; s.now < end;) {
		stage_run_ns(&s, s.now + s.cfg.resend);
		stage_send(&s, 1, FM_MSG_PONG);
		stage_send(&s, 52, FM_MSG_PING);
		stage_send(&s, 53, FM_MSG_PING);
		step(version, 0, FM_STEP_APPLY);
	}
}

/*
 * The time for which a NIC may fail in a step begins anew with each success: a NIC that takes its
 * place late is not reported while its rows are under way.
 */
static void time_for_nic_begins_anew_with_each_success(void **state)
{
	(void)state;
	joined();
	slow_from_now();
	table(1);
	asked_for(3 * s.cfg.member_max / 2);
	stage_did_no(&s, "failed 101");
	stage_end_of(&s);
	stage_did_some(&s, "rows 1: 4\n");
	asked_for(19 * s.cfg.member_max / 10);
	assert_int_equal(stage_count(&s, "close"), 0);
	assert_int_equal(stage_count(&s, "failed 101"), 0);
	asked_for(s.cfg.member_max / 5);
	assert_true(stage_count(&s, "failed 101") > 0);
	stage_end(&s);
}

/*
 * The end of a count of the step before is no success of this one, and the rows that are written
 * then are.
 */
static void end_of_former_count_is_no_success(void **state)
{
	uint64_t max;

	(void)state;
	in_force();
	slow_from_now();
	max = s.cfg.member_max;
	step(1, 1, FM_STEP_COUNT);
	table(2);
	asked_for(3 * max / 2);
	stage_end_of(&s);
	stage_did_some(&s, "rows 2: ");
	asked_for(2 * max / 5);
	stage_end_of(&s);
	asked_for(9 * max / 5);
	assert_int_equal(stage_count(&s, "failed 101"), 0);
	asked_for(max / 5);
	assert_true(stage_count(&s, "failed 101") > 0);
	stage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(actions_of_step_follow_each_other_before_report),
		cmocka_unit_test(repeated_step_is_answered_and_begins_nothing_twice),
		cmocka_unit_test(newer_table_replaces_older_after_present_action),
		cmocka_unit_test(later_count_is_read_after_it_was_asked_for),
		cmocka_unit_test(plan_that_contains_own_service_address_is_refused),
		cmocka_unit_test(answer_to_no_action_changes_nothing),
		cmocka_unit_test(count_without_counters_is_not_reported),
		cmocka_unit_test(failed_release_is_tried_again),
		cmocka_unit_test(failure_of_older_step_is_no_failure_of_present),
		cmocka_unit_test(repeated_refusal_of_nic_is_logged_once),
		cmocka_unit_test(problem_of_replay_stays_while_packets_are_parked),
		cmocka_unit_test(hello_reports_version_of_failed_write),
		cmocka_unit_test(port_lost_in_replay_stays_closed_in_row),
		cmocka_unit_test(hello_waits_for_counters_of_nic),
		cmocka_unit_test(hello_is_sent_when_counters_can_be_read),
		cmocka_unit_test(lost_nic_frees_all_memory),
		cmocka_unit_test(node_left_out_of_table_joins_anew_once),
		cmocka_unit_test(node_left_out_after_nic_failure_joins_later),
		cmocka_unit_test(node_with_failing_nic_waits_twice_as_long_each_time),
		cmocka_unit_test(time_for_nic_begins_anew_with_each_success),
		cmocka_unit_test(end_of_former_count_is_no_success),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
