// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node's part in a recovery: the sums that it reports, the children that it waits for, and the
 * messages to a child that joins or asks.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/member.h"
#include "stage_member.h"

/* --- sums ------------------------------------------------------------------------------- */

static void fill(struct fm_sums *u, unsigned int base)
{
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			u->flow[f][c] = base + 10 * f + c;
	u->parked = base + 201;
	u->unresolved = base + 202;
	u->held = base + 203;
	u->lost = base + 204;
	u->reopen = base + 205;
	u->relayed = base + 206;
}

static uint64_t set_of(uint32_t node)
{
	return stage_report(&s, node, 1, 1).report.set;
}

/* Managers of other releases compute the same fingerprints: these numbers must stay. */
static void fingerprints_stay_the_same_between_releases(void **state)
{
	(void)state;
	in_force();
	assert_int_equal(set_of(1), 0x1c4e9249b20f8268);
	assert_int_equal(set_of(2), 0x6eb4261ee5492130);
	stage_end(&s);
}

/* The sums of all nodes below are added once each, however the tree has changed meanwhile. */
static void sums_of_all_nodes_below_are_added_once(void **state)
{
	struct fm_msg two, three;
	char want[2000];
	int n;

	(void)state;
	in_force();
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			s.park.flow.counter[f][c] = 3;
	s.park.parked = 4;
	s.park.unresolved = 5;
	s.park.held = 6;
	s.lost = 7;
	step(1, 1, FM_STEP_RESUME);
	stage_forget(&s);
	two = stage_report(&s, 2, 1, 1);
	three = stage_report(&s, 3, 1, 1);
	fill(&two.report.sums, 5000);
	fill(&three.report.sums, 1000);
	stage_msg(&s, 52, &two);
	/* A child reports other sums: these count. */
	fill(&two.report.sums, 2000);
	stage_msg(&s, 52, &two);
	stage_did_nothing(&s);
	stage_msg(&s, 53, &three);
	n = sprintf(want, "1 < report 1.1 of 3 term 126");
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			n += sprintf(want + n, " flow%u.%u %u", f, c, 3003 + 20 * f + 2 * c);
	sprintf(want + n, " parked 3406 unresolved 3409 held 3412 lost 3415 reopen 3410 relayed "
		"3412\n");
	stage_did(&s, want);
	assert_int_equal(s.set, set_of(1) + set_of(2) + set_of(3));
	/* A child that leaves is no longer in the sum. */
	stage_down(&s, 53);
	stage_did_some(&s, "report 1.1 of 2 term 126 flow0.0 2003 ");
	assert_int_equal(s.set, set_of(1) + set_of(2));
	stage_down(&s, 52);
	stage_did_some(&s, "report 1.1 of 1 term 126 flow0.0 3 ");
	assert_int_equal(s.set, set_of(1));
	/* The child returns, and the sum waits for it. */
	child(54, 2, 1);
	stage_did_some(&s, "54 < step 1.1 resume term 126\n");
	step(1, 1, FM_STEP_RESUME);
	stage_did(&s, "54 < step 1.1 resume term 126\n1 < pong waits\n");
	stage_end(&s);
}

/* If the counters of the NIC cannot be read, nothing is reported until they can. */
static void nothing_is_reported_until_counters_can_be_read(void **state)
{
	(void)state;
	joined();
	s.park.parked = 4;
	table(1);
	reports(52, 2, 1, 0);
	reports(53, 3, 1, 0);
	stage_did_some(&s, "1 < report 1.0 of 3 term 126 parked 4\n");
	s.err.count = -EIO;
	step(1, 1, FM_STEP_COUNT);
	reports(52, 2, 1, 1);
	reports(53, 3, 1, 1);
	assert_int_equal(stage_count(&s, "report"), 0);
	stage_did_some(&s,
		       "log error nic: the NIC's counters cannot be read: Input/output error\n");
	step(1, 1, FM_STEP_COUNT);
	stage_did_some(&s, "1 < pong waits\n");
	s.err.count = 0;
	step(1, 1, FM_STEP_COUNT);
	stage_did(&s,
		  "1 < pong waits\nlog info nic: over: the NIC's counters cannot be read: "
		  "Input/output error\n"
		  "1 < report 1.1 of 3 term 126 parked 4\n");
	stage_end(&s);
}

/*
 * The sum is sent again on a new connection to the root, because it may have been lost on the old
 * one.
 */
static void sum_is_sent_again_on_new_connection(void **state)
{
	(void)state;
	in_force();
	stage_welcome(&s, 1, TERM, "30.0.0.9:1");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_welcome(&s, 2, TERM, "");
	assert_int_equal(stage_count(&s, "2 < report 1.0 of 3 term 126\n"), 1);
	stage_end(&s);
}

/* The NIC's count of lost packets is read when rows are switched, and at the end. */
static void lost_packets_are_read_at_table_and_end(void **state)
{
	(void)state;
	joined();
	s.lost = 5;
	table(1);
	reports(52, 2, 1, 0);
	reports(53, 3, 1, 0);
	stage_did_some(&s, "1 < report 1.0 of 3 term 126 lost 5\n");
	step(1, 1, FM_STEP_COUNT);
	reports(52, 2, 1, 1);
	reports(53, 3, 1, 1);
	assert_int_equal(stage_count(&s, "\nlost"), 0);
	stage_did_some(&s, "1 < report 1.1 of 3 term 126\n");
	stage_end(&s);
}

/* --- children that come and ask --------------------------------------------------------- */

/* A child that joins gets the table, unless it has it, and the step. */
static void joining_child_gets_table_and_step(void **state)
{
	(void)state;
	in_force();
	stage_down(&s, 52);
	stage_forget(&s);
	child(54, 2, 0);
	stage_did(&s, "54 < welcome term 126 root 100 parent ''\n"
		      "1 < adopted 102/1 parent 101 attach 1\n"
		      "54 < table 1 term 126 4x1" ALL);
	stage_down(&s, 54);
	stage_forget(&s);
	child(55, 2, 1);
	stage_did(&s, "55 < welcome term 126 root 100 parent ''\n"
		      "1 < adopted 102/1 parent 101 attach 1\n");
	step(1, 1, FM_STEP_COUNT);
	stage_forget(&s);
	child(56, 2, 1);
	stage_did_some(&s, "56 < step 1.1 count term 126\n");
	stage_send(&s, 56, FM_MSG_FETCH);
	stage_did(&s, "56 < table 1 term 126 4x1" ALL "56 < step 1.1 count term 126\n");
	stage_end(&s);
	/* Absent nodes are left out. */
	joined();
	struct fm_msg m = stage_table(&s, 1, entry);

	entry[0] = entry[1];
	entry[1] = entry[3];
	m.table.nentries = 2;
	m.table.open = 1;
	stage_msg(&s, 1, &m);
	stage_forget(&s);
	stage_send(&s, 52, FM_MSG_FETCH);
	stage_did(&s, "52 < table 1 term 126 4x1 open 1 [1 'n1' 101/1] [3 'n3' 103/1]\n");
	stage_end(&s);
	/* A node without a table gives none, nor does one whose child has another root. */
	joined();
	stage_send(&s, 52, FM_MSG_FETCH);
	stage_did_nothing(&s);
	stage_end(&s);
	in_force();
	stage_down(&s, 1);
	stage_run(&s, 100);
	stage_up(&s, 2);
	stage_welcome(&s, 2, TERM + 1, "");
	stage_forget(&s);
	struct fm_msg h = stage_hello(&s, 2);

	h.hello.role = FM_ROLE_CHILD;
	h.hello.term = TERM + 1;
	stage_up(&s, 57);
	stage_msg(&s, 57, &h);
	stage_did(&s, "57 < welcome term 127 root 100 parent ''\n"
		      "2 < adopted 102/1 parent 101 attach 1\n");
	stage_end(&s);
}

/* A child that is not in the table, or has another epoch, is not waited for. */
static void child_outside_table_is_not_waited_for(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		struct fm_msg m;

		joined();
		m = stage_table(&s, 1, entry);
		if (k == 1)
			entry[3].epoch = 2;
		else if (k == 2)
			entry[3].guid = 0x777;
		else if (k == 3)
			m.table.nentries = 3;
		stage_msg(&s, 1, &m);
		reports(52, 2, 1, 0);
		assert_int_equal(stage_count(&s, "report 1.0 of 2"), k > 0);
		/* If the child reports nevertheless, its report is passed on. */
		reports(53, 3, 1, 0);
		stage_did_some(&s, "report 1.0 of 3");
		stage_end(&s);
	}
}

/* A child that does not answer a step is lost after 20 times the interval of repetition. */
static void child_that_hangs_in_step_is_lost(void **state)
{
	(void)state;
	joined();
	stage_run(&s, 100);
	stage_forget(&s);
	table(1);
	reports(52, 2, 1, 0);
	stage_forget(&s);
	stage_run(&s, 1000);
	stage_send(&s, 1, FM_MSG_PONG);
	stage_run(&s, 2099.999);
	stage_did_no(&s, "close");
	stage_run(&s, 2200);
	assert_int_equal(stage_count(&s, "at 2100 ms\nclose 53\n"), 1);
	assert_int_equal(stage_count(&s, "1 < left 103/1 parent 101 attach 1\n"), 1);
	/* The sum is sent without it. */
	stage_did_some(&s, "1 < report 1.0 of 2 term 126\n");
	stage_end(&s);
	/* Any message from it extends the time. */
	joined();
	table(1);
	stage_run(&s, 1500);
	stage_send(&s, 1, FM_MSG_PONG);
	stage_send(&s, 52, FM_MSG_PING);
	stage_forget(&s);
	stage_run(&s, 3400);
	assert_int_equal(stage_count(&s, "close"), 1);
	stage_did_some(&s, "close 53\n");
	stage_run(&s, 3499.999);
	stage_did_nothing(&s);
	stage_run(&s, 3500);
	stage_did_some(&s, "close 52\n");
	stage_end(&s);
}

/* --- children that do not report ----------------------------------------------------------- */

static void pong(int conn, bool waits)
{
	struct fm_msg m = { .type = FM_MSG_PONG };

	m.pong.waits = waits;
	stage_msg(&s, conn, &m);
}

/* Asks for the step again for @ns. Child 3 answers, and reports whether it waits. */
static void asked_for(uint64_t ns, bool waits)
{
	for (uint64_t end = s.now + ns; s.now < end;) {
		stage_run_ns(&s, s.now + s.cfg.resend);
		stage_send(&s, 1, FM_MSG_PONG);
		stage_send(&s, 52, FM_MSG_PING);
		pong(53, waits);
		step(1, 0, FM_STEP_APPLY);
	}
}

#define LACKS "1 < failed 103/1 version 1 round 0 by 101\n"

/*
 * A child answers, and neither reports nor waits for anything: that is reported to the root, again
 * and again.
 */
static void child_without_report_is_reported_to_root(void **state)
{
	(void)state;
	joined();
	table(1);
	reports(52, 2, 1, 0);
	asked_for(s.cfg.member_max - s.cfg.resend, false);
	assert_int_equal(stage_count(&s, "failed"), 0);
	asked_for(s.cfg.resend, false);
	assert_int_equal(stage_count(&s, LACKS), 1);
	asked_for(s.cfg.resend, false);
	assert_int_equal(stage_count(&s, LACKS), 2);
	assert_int_equal(stage_count(&s, "failed"), 2);
	/* The root has it dropped: then it is not in the sum. */
	stage_forget(&s);
	stage_down(&s, 53);
	stage_did_some(&s, "1 < report 1.0 of 2 term 126\n");
	asked_for(s.cfg.member_max, false);
	assert_int_equal(stage_count(&s, "failed"), 0);
	stage_end(&s);
}

/* The manager of the parent was handled late: it gives its child four times as long as that, to the ns. */
static void child_of_slow_host_is_reported_later(void **state)
{
	const uint64_t lag = 7 * MS;
	const struct fm_conn *c;

	(void)state;
	joined();
	table(1);
	reports(52, 2, 1, 0);
	stage_run_ns(&s, s.now + MS);
	stage_send(&s, 53, FM_MSG_PING);
	c = fm_conn_of_child(s.fm, NIC + 3, NULL);
	assert_non_null(c);
	s.fm->lag = lag;
	s.fm->now = c->asked + s.cfg.member_max + 4 * lag - 1;
	fm_member_repeat(s.fm);
	assert_int_equal(stage_count(&s, "failed"), 0);
	s.fm->now++;
	fm_member_repeat(s.fm);
	assert_int_equal(stage_count(&s, LACKS), 1);
	stage_end(&s);
}

/*
 * A node that waits for its NIC or for others is not reported. Its answer that it waits holds for
 * this step only.
 */
static void waiting_node_is_not_reported(void **state)
{
	(void)state;
	joined();
	table(1);
	reports(52, 2, 1, 0);
	asked_for(4 * s.cfg.member_max, true);
	asked_for(s.cfg.member_max - s.cfg.resend, false);
	assert_int_equal(stage_count(&s, "failed"), 0);
	asked_for(s.cfg.resend, false);
	assert_int_equal(stage_count(&s, LACKS), 1);
	stage_end(&s);
	/*
	 * A child that sends nothing at all is not reported either: its connection will end. Here
	 * that takes longer.
	 */
	node_1();
	s.cfg.member_max = 10 * s.cfg.resend;
	joins();
	table(1);
	reports(52, 2, 1, 0);
	for (unsigned int i = 0; i < 15; i++) {
		stage_run_ns(&s, s.now + s.cfg.resend);
		stage_send(&s, 1, FM_MSG_PONG);
		step(1, 0, FM_STEP_APPLY);
	}
	assert_int_equal(stage_count(&s, "failed"), 0);
	assert_int_equal(stage_count(&s, "close 53"), 0);
	stage_end(&s);
}

/*
 * A child reports that its NIC fails: that is passed on to the root, and the child is not waited
 * for any more.
 */
static void failed_child_is_reported_and_not_waited_for(void **state)
{
	struct fm_msg m = { .type = FM_MSG_FAILED };

	(void)state;
	joined();
	table(1);
	reports(52, 2, 1, 0);
	stage_forget(&s);
	m.failed = (struct fm_failed) { .guid = NIC + 3, .epoch = 1, .version = 2, .err = 5 };
	stage_msg(&s, 53, &m);
	stage_did(&s, "1 < failed 103/1 version 2 error 5\n");
	m.failed.version = 1;
	m.failed.epoch = 2;
	stage_msg(&s, 53, &m);
	stage_did(&s, "1 < failed 103/2 version 1 error 5\n");
	m.failed.epoch = 1;
	stage_msg(&s, 53, &m);
	stage_did(&s, "1 < failed 103/1 version 1 error 5\n1 < report 1.0 of 2 term 126\n");
	/*
	 * The failed child is not waited for in the later steps of this version; nodes below it
	 * still report through it.
	 */
	step(1, 1, FM_STEP_COUNT);
	stage_forget(&s);
	reports(52, 2, 1, 1);
	stage_did_some(&s, "1 < report 1.1 of 2 term 126\n");
	reports(53, 2, 1, 1);
	stage_did_some(&s, "1 < report 1.1 of 3 term 126\n");
	table(2);
	reports(52, 2, 2, 0);
	stage_did_no(&s, "report");
	/* A report of this node about another one comes back by a circle in the tree. */
	m.failed.by = NIC + 1;
	stage_msg(&s, 53, &m);
	stage_did_some(&s, "close 53\n");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(fingerprints_stay_the_same_between_releases),
		cmocka_unit_test(sums_of_all_nodes_below_are_added_once),
		cmocka_unit_test(nothing_is_reported_until_counters_can_be_read),
		cmocka_unit_test(sum_is_sent_again_on_new_connection),
		cmocka_unit_test(lost_packets_are_read_at_table_and_end),
		cmocka_unit_test(joining_child_gets_table_and_step),
		cmocka_unit_test(child_outside_table_is_not_waited_for),
		cmocka_unit_test(child_that_hangs_in_step_is_lost),
		cmocka_unit_test(child_without_report_is_reported_to_root),
		cmocka_unit_test(child_of_slow_host_is_reported_later),
		cmocka_unit_test(waiting_node_is_not_reported),
		cmocka_unit_test(failed_child_is_reported_and_not_waited_for),
	};

	return cmocka_run_group_tests_name("fm_sums", all, NULL, NULL);
}
