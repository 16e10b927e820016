// SPDX-License-Identifier: GPL-2.0-only
/*
 * A member in a recovery; the test is the root: the orders to the member's NIC for rows, holds and
 * parked packets, and the member's reports.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <torus/route.h>

#include "tests/unit/one_member.h"

static void resolved(unsigned int port, uint32_t session, int seq)
{
	assert_int_equal(o.resolves, 1);
	assert_int_equal(o.resolve[0].port, port);
	assert_int_equal(o.resolve[0].session, session);
	assert_int_equal(o.resolve[0].seq, seq);
	o.resolves = 0;
}

/* --- reports -------------------------------------------------------------------------- */

static void report_has_counts_of_nic(void **state)
{
	struct fm_sums *s = &o.node[SELF].sums;

	(void)state;
	begin();
	*s = (struct fm_sums) { .parked = 2, .unresolved = 1, .held = 4, .lost = 7 };
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			s->flow[f][c] = 10 * f + c;
	table(2, 0);
	assert_int_equal(report()->term, o.term);
	assert_int_equal(report()->version, 2);
	assert_int_equal(report()->round, 0);
	assert_int_equal(report()->count, 1);
	assert_int_equal(report()->set, one_fingerprint(&o, SELF));
	assert_memory_equal(report()->sums.flow, s->flow, sizeof(s->flow));
	assert_int_equal(report()->sums.parked, 2);
	assert_int_equal(report()->sums.unresolved, 1);
	assert_int_equal(report()->sums.held, 4);
	assert_int_equal(report()->sums.lost, 7);
	one_end(&o);
}

/*
 * Counters cannot be read: nothing is reported, because zero, or counts from before the switch,
 * would prove something false.
 */
static void unreadable_counters_are_not_reported(void **state)
{
	(void)state;
	begin();
	o.node[SELF].sums.parked = 2;
	o.node[SELF].sums.flow[TORUS_FC_INJECTED][1] = 5;
	table(2, 0);
	assert_int_equal(report()->sums.flow[TORUS_FC_INJECTED][1], 5);
	o.count_err = -EIO;
	table(3, 0);
	assert_int_equal(o.written, 3);
	assert_int_equal(report()->version, 2);
	o.count_err = 0;
	step(3, 0, FM_STEP_APPLY);
	assert_int_equal(report()->version, 3);
	assert_int_equal(report()->sums.flow[TORUS_FC_INJECTED][1], 5);
	assert_int_equal(report()->sums.parked, 2);
	one_end(&o);
}

/* A repeated step is answered again; an older one, or one of another root, is not done. */
static void repeated_step_is_answered_and_older_one_ignored(void **state)
{
	unsigned int n;

	(void)state;
	begin();
	table(2, 0);
	step(2, 3, FM_STEP_REPLAY);
	assert_int_equal(o.replays, 1);
	n = o.nsent[FM_MSG_REPORT];
	step(2, 3, FM_STEP_REPLAY);
	assert_int_equal(o.nsent[FM_MSG_REPORT], n + 1);
	assert_int_equal(o.replays, 1);
	step(2, 2, FM_STEP_RESUME);
	step(1, 9, FM_STEP_RESUME);
	table(1, 0);
	o.term++;
	step(2, 4, FM_STEP_RESUME);
	table(3, 0);
	o.term--;
	assert_int_equal(o.releases, 1);
	assert_int_equal(o.written, 2);
	assert_int_equal(o.nsent[FM_MSG_REPORT], n + 1);
	/* A step of an unknown table, or changes to one: the member asks for the whole table. */
	assert_int_equal(o.nsent[FM_MSG_FETCH], 0);
	step(3, 1, FM_STEP_RESUME);
	assert_int_equal(o.nsent[FM_MSG_FETCH], 1);
	assert_int_equal(o.releases, 1);
	table(4, 3);
	assert_int_equal(o.nsent[FM_MSG_FETCH], 2);
	assert_int_equal(o.sent[FM_MSG_FETCH].fetch.version, 2);
	assert_int_equal(o.written, 2);
	table(4, 0);
	assert_int_equal(report()->version, 4);
	one_end(&o);
}

/* Rows that could not be written are not reported, and are written when asked for again. */
static void unwritten_rows_are_not_reported_and_written_later(void **state)
{
	unsigned int n;

	(void)state;
	begin();
	n = o.nsent[FM_MSG_REPORT];
	o.write_err = -ENOMEM;
	one_lose(&o, SELF, 0, 9, 5);
	entry[SELF].fault = 1;
	table(2, 0);
	assert_int_equal(o.nsent[FM_MSG_REPORT], n);
	assert_false(fm_in_force(o.fm, 2));
	o.write_err = 0;
	step(2, 0, FM_STEP_APPLY);
	assert_int_equal(o.written, 2);
	assert_int_equal(o.nsent[FM_MSG_REPORT], n + 1);
	one_end(&o);
}

/* --- its place -------------------------------------------------------------------------- */

/* The NIC gets its place once, and again when that changes; all rows are then written. */
static void nic_gets_changed_place_and_all_rows(void **state)
{
	(void)state;
	begin();
	table(2, 0);
	assert_int_equal(o.placed, 1);
	assert_int_equal(o.place, SELF);
	swap_places(SELF, 3);
	memset(o.row, 0, sizeof(o.row));
	table(3, 0);
	assert_int_equal(o.placed, 2);
	assert_int_equal(o.place, 3);
	for (uint32_t i = 0; i < SIZE; i++) {
		assert_true(o.row[i] & TORUS_ROW_VALID);
		assert_int_equal(is_held(i), i != 3);
	}
	assert_int_equal(report()->version, 3);
	/* The same number in another shape is another place. */
	shape.ndims = 2;
	shape.size[0] = shape.size[1] = 2;
	table(4, 0);
	assert_int_equal(o.placed, 3);
	assert_int_equal(o.place, 3);
	assert_int_equal(report()->version, 4);
	one_end(&o);
}

/* Without a place there are no rows; the table is tried again. */
static void refused_place_has_no_rows_and_is_tried_again(void **state)
{
	unsigned int n;

	(void)state;
	begin();
	swap_places(SELF, 3);
	o.place_err = -EIO;
	n = o.nsent[FM_MSG_REPORT];
	table(2, 0);
	assert_int_equal(o.written, 1);
	assert_int_equal(o.nsent[FM_MSG_REPORT], n);
	o.place_err = 0;
	table(3, 0);
	assert_int_equal(o.place, 3);
	assert_int_equal(report()->version, 3);
	/* The fabric has more dimensions than its NIC has ports for. */
	shape.ndims = 3;
	shape.size[0] = shape.size[1] = 2;
	n = o.nsent[FM_MSG_REPORT];
	table(4, 0);
	assert_int_equal(o.written, 3);
	assert_int_equal(o.nsent[FM_MSG_REPORT], n);
	one_end(&o);
}

/* --- what is parked -------------------------------------------------------------------- */

static void parked_packets_are_resolved_by_report_of_other_end(void **state)
{
	(void)state;
	begin();
	entry[2].ended = 2;
	entry[2].session[1] = 9;
	entry[2].seq[1] = 3;
	lost(2);
	resolved(0, 9, 3);
	one_end(&o);
	/* The other end is dead: then all parked packets of the link are kept. */
	begin();
	entry[2].ended = 2;
	entry[2].session[1] = 9;
	entry[2].seq[1] = FM_SEQ_GONE;
	lost(2);
	resolved(0, 9, -1);
	one_end(&o);
	begin();
	entry[2].state = FM_NODE_DEAD;
	lost(2);
	resolved(0, 9, -1);
	one_end(&o);
}

/* Reports of the far end of an up link about an older session are ignored. */
static void report_about_older_session_of_up_link_is_ignored(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < SIZE; i++) {
		entry[i].ended = 3;
		entry[i].session[0] = entry[i].session[1] = 9;
	}
	table(2, 0);
	assert_int_equal(o.resolves, 0);
	/* While the link is closed, the report may concern packets that wait in front of it. */
	one_lose(&o, SELF, 1, 8, 5);
	one_mend(&o, SELF, 1, 12);
	table(3, 0);
	resolved(1, 9, 0);
	one_end(&o);
}

/*
 * The other end of a lost link does not report what it had received. Nothing is decided until the
 * root orders not to wait any longer; then all packets are kept, because a duplicate is recognised,
 * and a missing packet is not.
 */
static void all_parked_packets_are_kept_if_other_end_does_not_report(void **state)
{
	struct fm_msg msg = { .type = FM_MSG_STEP };

	(void)state;
	begin();
	lost(2);
	step(2, 1, FM_STEP_COUNT);
	assert_int_equal(o.resolves, 0);
	msg.step = (struct fm_step) { .term = o.term, .version = 2, .round = 2,
				      .step = FM_STEP_COUNT, .orphans = true };
	one_root_sends(&o, &msg);
	resolved(0, 9, -1);
	one_end(&o);
}

/* The other end reports after the table was made. */
static void parked_packets_are_resolved_by_late_report(void **state)
{
	struct fm_msg msg = { .type = FM_MSG_STEP };

	(void)state;
	begin();
	lost(2);
	msg.step = (struct fm_step) { .term = o.term, .version = 2, .round = 1,
				      .step = FM_STEP_COUNT, .nended = 1,
				      .ended = { { .node = 2, .session = 9, .seq = 4,
						   .port = 1 } } };
	one_root_sends(&o, &msg);
	resolved(0, 9, 4);
	one_end(&o);
}

/* --- replay ------------------------------------------------------------------------------ */

/* The link is up again, and the NIC keeps it closed until the replay. */
static void mended(uint64_t version)
{
	one_mend(&o, SELF, 0, 10);
	assert_true(o.sent[FM_MSG_ROW].row.row.port[0].closed);
	assert_int_equal(o.sent[FM_MSG_ROW].row.row.port[0].session, 9);
	assert_int_equal(o.sent[FM_MSG_ROW].row.row.port[0].seq, 5);
	entry[SELF].fault = 0;
	table(version, 0);
	assert_int_equal(report()->sums.reopen, 1);
}

static void hello_anew(void)
{
	unsigned int n = o.nsent[FM_MSG_HELLO];
	int up = o.up;

	o.up = 0;
	fm_conn_down(o.fm, up, o.now);
	while (!o.up)
		one_run(&o, MS);
	fm_conn_up(o.fm, o.up, o.now);
	one_ends(&o);
	assert_int_equal(o.nsent[FM_MSG_HELLO], n + 1);
}

/*
 * The node opens a port, and the root knows that without a report: otherwise the row of a node that
 * joins anew would be news, and would begin a recovery for nothing.
 */
static void replay_opens_port_without_report(void **state)
{
	const struct fm_port_row *p = &o.sent[FM_MSG_HELLO].hello.row.port[0];
	unsigned int n;

	(void)state;
	begin();
	lost(2);
	mended(3);
	n = o.nsent[FM_MSG_ROW];
	step(3, 1, FM_STEP_REPLAY);
	assert_int_equal(o.replays, 1);
	assert_int_equal(o.opened, 1);
	assert_int_equal(report()->sums.reopen, 0);
	assert_int_equal(o.nsent[FM_MSG_ROW], n);
	hello_anew();
	assert_int_equal(p->state, FM_PORT_UP);
	assert_false(p->closed);
	assert_int_equal(p->session, 0);
	assert_int_equal(p->seq, 0);
	one_end(&o);
}

/* A link that is lost again stays closed, and its last session is still reported. */
static void link_lost_again_stays_closed(void **state)
{
	const struct fm_port_row *p = &o.sent[FM_MSG_HELLO].hello.row.port[0];

	(void)state;
	begin();
	lost(2);
	mended(3);
	one_lose(&o, SELF, 0, 10, 7);
	step(3, 1, FM_STEP_REPLAY);
	assert_int_equal(o.replays, 1);
	assert_int_equal(o.opened, 0);
	assert_int_equal(report()->sums.reopen, 0);
	hello_anew();
	assert_int_equal(p->state, FM_PORT_FAULTY);
	assert_true(p->closed);
	assert_int_equal(p->session, 10);
	assert_int_equal(p->seq, 7);
	one_end(&o);
}

/*
 * A replay is refused, for example because packets are unresolved: the port stays closed, and the
 * next replay opens it.
 */
static void port_stays_closed_until_replay_is_done(void **state)
{
	(void)state;
	begin();
	lost(2);
	mended(3);
	o.replay_err = -EBUSY;
	step(3, 1, FM_STEP_REPLAY);
	assert_int_equal(report()->round, 1);
	assert_int_equal(report()->sums.reopen, 1);
	o.replay_err = 0;
	step(3, 2, FM_STEP_REPLAY);
	assert_int_equal(o.opened, 1);
	assert_int_equal(report()->sums.reopen, 0);
	one_end(&o);
}

/* --- holds ------------------------------------------------------------------------------- */

/*
 * Rows whose path changes are on hold, also those of a superseded version, until the release of the
 * last version; other rows never are.
 */
static void changed_row_stays_on_hold_until_release(void **state)
{
	(void)state;
	begin();
	assert_false(is_held(0) || is_held(2) || is_held(3));
	lost(2);
	assert_true(is_held(2));
	assert_false(is_held(0) || is_held(SELF));
	entry[SELF].fault = 0;
	table(3, 0);		/* the path is as before */
	assert_true(is_held(2));
	step(3, 1, FM_STEP_REPLAY);
	assert_true(is_held(2));
	step(3, 2, FM_STEP_RESUME);
	assert_int_equal(o.releases, 2);
	assert_true(o.gave_up);
	assert_false(is_held(2));
	/* The manager does not restore a hold that the NIC has lifted. */
	entry[0].fault = 2;
	table(4, 0);
	assert_false(is_held(2));
	one_end(&o);
}

/*
 * A node comes back whose cables were faulty: the new row to it is on hold, as nodes on the new
 * path may lack theirs.
 */
static void row_to_returned_node_is_on_hold(void **state)
{
	(void)state;
	begin();
	entry[2].fault = 3;
	table(2, 0);
	assert_int_equal(o.row[2], 0);
	assert_true(o.row[3] & TORUS_ROW_VALID);
	entry[2].fault = 0;
	table(3, 0);
	assert_true(o.row[2] & TORUS_ROW_VALID);
	assert_true(is_held(2));
	one_end(&o);
}

/* After a failure all rows are made anew: rows that do not change stay on hold. */
static void row_stays_on_hold_through_failed_write(void **state)
{
	(void)state;
	begin();
	lost(2);
	assert_true(is_held(2));
	o.write_err = -ENOMEM;
	table(3, 0);
	o.write_err = 0;
	table(4, 0);
	assert_int_equal(o.written, 4);
	assert_true(is_held(2));
	assert_false(is_held(0) || is_held(SELF));
	one_end(&o);
}

static void rows_stay_on_hold_if_release_is_refused(void **state)
{
	(void)state;
	begin();
	lost(2);
	o.release_err = -EIO;
	step(2, 1, FM_STEP_RESUME);
	assert_true(is_held(2));
	o.release_err = 0;
	entry[SELF].fault = 0;
	table(3, 0);
	assert_true(is_held(2));
	step(3, 1, FM_STEP_RESUME);
	assert_false(is_held(2));
	one_end(&o);
}

/* A restarted root asks all nodes which losses the last root knew. */
static void hello_has_base_of_last_step(void **state)
{
	const struct fm_base *b = &o.sent[FM_MSG_HELLO].hello.base;
	struct fm_msg msg = { .type = FM_MSG_STEP };

	(void)state;
	begin();
	table(2, 0);
	msg.step = (struct fm_step) { .term = o.term, .version = 2, .round = 1,
				      .step = FM_STEP_RESUME,
				      .base = { .version = 2, .set = 5, .known = 7,
						.missing = { 1, 2, 3, 4 } } };
	one_root_sends(&o, &msg);
	step(2, 2, FM_STEP_COUNT);
	hello_anew();
	assert_int_equal(b->version, 2);
	assert_int_equal(b->set, 5);
	assert_int_equal(b->known, 7);
	assert_int_equal(b->missing[3], 4);
	one_end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(report_has_counts_of_nic),
		cmocka_unit_test(unreadable_counters_are_not_reported),
		cmocka_unit_test(repeated_step_is_answered_and_older_one_ignored),
		cmocka_unit_test(unwritten_rows_are_not_reported_and_written_later),
		cmocka_unit_test(nic_gets_changed_place_and_all_rows),
		cmocka_unit_test(refused_place_has_no_rows_and_is_tried_again),
		cmocka_unit_test(parked_packets_are_resolved_by_report_of_other_end),
		cmocka_unit_test(report_about_older_session_of_up_link_is_ignored),
		cmocka_unit_test(all_parked_packets_are_kept_if_other_end_does_not_report),
		cmocka_unit_test(parked_packets_are_resolved_by_late_report),
		cmocka_unit_test(replay_opens_port_without_report),
		cmocka_unit_test(link_lost_again_stays_closed),
		cmocka_unit_test(port_stays_closed_until_replay_is_done),
		cmocka_unit_test(changed_row_stays_on_hold_until_release),
		cmocka_unit_test(row_to_returned_node_is_on_hold),
		cmocka_unit_test(row_stays_on_hold_through_failed_write),
		cmocka_unit_test(rows_stay_on_hold_if_release_is_refused),
		cmocka_unit_test(hello_has_base_of_last_step),
	};

	return cmocka_run_group_tests_name("member", tests, NULL, NULL);
}
