// SPDX-License-Identifier: GPL-2.0-only
/* A member's write of rows whose answer is lost: whether it was done is not known. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/one_member.h"

/*
 * The answer to a write is lost, and the write was done. The next table asks for the rows from
 * before it: these are written, and on hold, because other rows are in the NIC.
 */
static void rows_of_lost_answer_are_written_again(void **state)
{
	uint64_t detour;

	(void)state;
	begin();
	lost(2);
	detour = o.row[2];
	step(2, 1, FM_STEP_RESUME);
	assert_false(is_held(2));
	o.answers_lost = true;
	o.write_err = -ETIMEDOUT;
	entry[SELF].fault = 0;
	table(3, 0);
	assert_int_equal(o.written, 3);
	assert_int_equal(report()->version, 2);
	assert_int_not_equal(o.row[2], detour);
	o.answers_lost = false;
	o.write_err = 0;
	entry[SELF].fault = 1;
	table(4, 0);
	assert_int_equal(o.row[2], detour);
	assert_true(is_held(2));
	assert_false(is_held(0) || is_held(SELF));
	one_end(&o);
}

/* The row to the node itself is never on hold, whatever came of the write before. */
static void row_to_own_node_is_never_on_hold(void **state)
{
	(void)state;
	begin();
	swap_places(SELF, 3);
	o.answers_lost = true;
	o.write_err = -ETIMEDOUT;
	table(2, 0);
	assert_int_equal(o.place, 3);
	assert_int_equal(o.written, 2);
	o.answers_lost = false;
	o.write_err = 0;
	step(2, 0, FM_STEP_APPLY);
	assert_int_equal(report()->version, 2);
	for (uint32_t i = 0; i < SIZE; i++) {
		assert_true(o.row[i] & TORUS_ROW_VALID);
		assert_int_equal(is_held(i), i != 3);
	}
	one_end(&o);
}

/* Lets the root repeat table @version every resend, for @ns. */
static void asks_for(uint64_t version, uint64_t ns)
{
	for (uint64_t end = o.now + ns; o.now < end;) {
		one_run(&o, ONE_RESEND);
		if (o.up)
			step(version, 0, FM_STEP_APPLY);
	}
}

/*
 * A NIC always refuses its rows: after a while that is reported to the root, and again. The root
 * leaves the node out, which joins again later and later, and is not reported any more once its NIC
 * takes rows.
 */
static void nic_that_never_takes_rows_is_reported_to_root(void **state)
{
	const uint64_t patience = 2 * ONE_MEMBER_MAX;
	unsigned int sent;

	(void)state;
	begin();
	o.write_err = -EINVAL;
	entry[SELF].fault = 1;
	table(2, 0);
	asks_for(2, patience - ONE_RESEND);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 0);
	asks_for(2, ONE_RESEND);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 1);
	assert_int_equal(o.sent[FM_MSG_FAILED].failed.guid, o.node[SELF].guid);
	assert_int_equal(o.sent[FM_MSG_FAILED].failed.epoch, o.node[SELF].epoch);
	assert_int_equal(o.sent[FM_MSG_FAILED].failed.version, 2);
	assert_int_equal(o.sent[FM_MSG_FAILED].failed.err, EINVAL);
	asks_for(2, ONE_RESEND);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 2);
	/* The table counts on it no more: it stays where it is for a while. */
	entry[SELF].state = FM_NODE_SILENT;
	table(3, 0);
	sent = o.nsent[FM_MSG_FAILED];
	asks_for(3, ONE_MEMBER_MAX - ONE_RESEND);
	assert_int_not_equal(o.up, 0);
	asks_for(3, ONE_RESEND);
	assert_int_equal(o.up, 0);
	assert_int_equal(o.nsent[FM_MSG_FAILED], sent);
	one_end(&o);
}

/* A NIC that is slow, and does what it is asked, is waited for. */
static void slow_nic_is_waited_for(void **state)
{
	(void)state;
	begin();
	o.write_err = -ETIMEDOUT;
	entry[SELF].fault = 1;
	table(2, 0);
	asks_for(2, ONE_MEMBER_MAX);
	o.write_err = 0;
	asks_for(2, ONE_RESEND);
	assert_int_equal(report()->version, 2);
	asks_for(2, 10 * ONE_MEMBER_MAX);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 0);
	one_end(&o);
}

static void check_failed(uint64_t version, uint32_t err)
{
	const struct fm_failed *f = &o.sent[FM_MSG_FAILED].failed;

	assert_int_equal(f->guid, o.node[SELF].guid);
	assert_int_equal(f->epoch, o.node[SELF].epoch);
	assert_int_equal(f->by, 0);
	assert_int_equal(f->version, version);
	assert_int_equal(f->err, err);
}

/* Forgets the reports of failures so far. */
static void forget_failure(void)
{
	o.nsent[FM_MSG_FAILED] = 0;
}

/*
 * A table leaves the node out, which joins again after @wait, and no sooner, and is in the next
 * table.
 */
static void left_out_for(uint64_t version, uint64_t wait)
{
	struct fm_msg welcome = { .type = FM_MSG_WELCOME };

	welcome.welcome = (struct fm_welcome) { .term = o.term, .root_guid = o.node[0].guid };
	entry[SELF].state = FM_NODE_SILENT;
	table(version, 0);
	asks_for(version, wait - ONE_RESEND);
	assert_int_not_equal(o.up, 0);
	asks_for(version, ONE_RESEND);
	assert_int_equal(o.up, 0);
	while (!o.up)
		one_run(&o, MS);
	fm_conn_up(o.fm, o.up, o.now);
	one_ends(&o);
	one_root_sends(&o, &welcome);
	entry[SELF].state = FM_NODE_UP;
	table(version + 1, 0);
}

/*
 * A NIC takes no place: a new one, or one that has another place, or is in another shape. All nodes
 * once waited for such a node for ever.
 */
static void nic_that_takes_no_place_is_reported_to_root(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		uint32_t at = k ? SELF : 3;
		unsigned int placed;

		begin();
		if (k == 0) {
			swap_places(SELF, at);
		} else {
			shape.ndims = 2;
			shape.size[0] = shape.size[1] = 2;
		}
		placed = o.placed;
		o.place_err = -EBUSY;
		table(2, 0);
		asks_for(2, 2 * ONE_MEMBER_MAX - ONE_RESEND);
		assert_int_equal(o.nsent[FM_MSG_FAILED], 0);
		asks_for(2, ONE_RESEND);
		assert_int_equal(o.nsent[FM_MSG_FAILED], 1);
		check_failed(2, EBUSY);
		forget_failure();
		/* Nothing is asked of the NIC while the node is left out; then it has less time. */
		entry[at].state = FM_NODE_SILENT;
		table(3, 0);
		asks_for(3, ONE_MEMBER_MAX - ONE_RESEND);
		assert_int_not_equal(o.up, 0);
		asks_for(3, ONE_RESEND);
		assert_int_equal(o.up, 0);
		assert_int_equal(o.nsent[FM_MSG_FAILED], 0);
		assert_int_equal(o.placed, placed);
		one_end(&o);
	}
}

/* The NIC has more ports than it needs for some shapes only: no action is begun that could fail. */
static void shape_with_too_many_ports_is_reported(void **state)
{
	(void)state;
	begin();
	shape.ndims = 3;
	shape.size[0] = shape.size[1] = 2;
	table(2, 0);
	asks_for(2, 2 * ONE_MEMBER_MAX);
	check_failed(2, EINVAL);
	one_end(&o);
}

/*
 * A NIC that failed, joined again and fails again is reported sooner; one that works in between is
 * treated as before.
 */
static void nic_that_fails_again_is_reported_sooner(void **state)
{
	(void)state;
	begin();
	o.write_err = -EINVAL;
	entry[SELF].fault = 1;
	table(2, 0);
	asks_for(2, 2 * ONE_MEMBER_MAX);
	forget_failure();
	left_out_for(3, ONE_MEMBER_MAX);
	asks_for(4, ONE_MEMBER_MAX / 4 - ONE_RESEND);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 0);
	asks_for(4, ONE_RESEND);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 1);
	forget_failure();
	left_out_for(5, 2 * ONE_MEMBER_MAX);
	o.write_err = 0;
	asks_for(6, ONE_RESEND);
	assert_int_equal(report()->version, 6);
	o.write_err = -EINVAL;
	entry[SELF].fault = 0;
	table(7, 0);
	asks_for(7, 2 * ONE_MEMBER_MAX - ONE_RESEND);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 0);
	one_end(&o);
}

/* Success of one action of a step, each time, is no progress if the next action fails each time. */
static void success_of_first_action_is_no_progress_of_step(void **state)
{
	static const enum fm_step_kind kinds[] = { FM_STEP_RESUME, FM_STEP_REPLAY };

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		begin();
		table(2, 0);
		o.count_err = -EIO;
		step(2, 1, kinds[k]);
		for (uint64_t end = o.now + 2 * ONE_MEMBER_MAX; o.now < end;) {
			assert_int_equal(o.nsent[FM_MSG_FAILED], 0);
			one_run(&o, ONE_RESEND);
			step(2, 1, kinds[k]);
		}
		assert_true(o.releases + o.replays > 3);
		check_failed(2, EIO);
		/* Should it be read after all, that comes too late for this table. */
		o.count_err = 0;
		step(2, 1, kinds[k]);
		assert_int_not_equal(report()->round, 1);
		one_end(&o);
	}
}

/* The root makes three versions, each with a replay that fails, for @ns. */
static void replays_for(uint64_t *version, uint64_t ns)
{
	uint64_t end = o.now + ns;

	for (unsigned int i = 0; i < 3; i++) {
		table(++*version, 0);
		step(*version, 1, FM_STEP_REPLAY);
		assert_int_equal(report()->round, 1);
		one_run(&o, ns / 3);
		step(*version, 2, FM_STEP_RESUME);
	}
	one_run(&o, end - o.now);
}

/*
 * A NIC refuses to replay: each recovery ends, and its parked packets wait. Its manager reports
 * that when it has lasted too long, whatever steps come in between.
 */
static void nic_that_never_replays_is_reported_to_root(void **state)
{
	uint64_t version = 3;
	unsigned int n;

	(void)state;
	begin();
	lost(2);
	one_mend(&o, SELF, 0, 10);
	entry[SELF].fault = 0;
	table(3, 0);
	o.replay_err = -EBUSY;
	replays_for(&version, 2 * ONE_MEMBER_MAX);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 0);
	table(++version, 0);
	step(version, 1, FM_STEP_REPLAY);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 1);
	check_failed(version, EBUSY);
	/* Ports of the node are of no use then, and it tries again later, with less time. */
	left_out_for(version + 1, ONE_MEMBER_MAX);
	version += 2;
	forget_failure();
	step(version, 1, FM_STEP_REPLAY);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 1);
	left_out_for(version + 1, 2 * ONE_MEMBER_MAX);
	version += 2;
	forget_failure();
	o.replay_err = 0;
	step(version, 1, FM_STEP_REPLAY);
	step(version, 2, FM_STEP_RESUME);
	n = o.nsent[FM_MSG_FAILED];
	assert_int_equal(n, 0);
	assert_false(one_problem(&o, "nic", ""));
	/* The count of refusals begins anew: one refusal causes nothing. */
	o.replay_err = -EBUSY;
	table(++version, 0);
	step(version, 1, FM_STEP_REPLAY);
	assert_int_equal(o.nsent[FM_MSG_FAILED], 0);
	one_end(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_lost_answer_are_written_again),
		cmocka_unit_test(row_to_own_node_is_never_on_hold),
		cmocka_unit_test(nic_that_never_takes_rows_is_reported_to_root),
		cmocka_unit_test(slow_nic_is_waited_for),
		cmocka_unit_test(nic_that_takes_no_place_is_reported_to_root),
		cmocka_unit_test(shape_with_too_many_ports_is_reported),
		cmocka_unit_test(nic_that_fails_again_is_reported_sooner),
		cmocka_unit_test(success_of_first_action_is_no_progress_of_step),
		cmocka_unit_test(nic_that_never_replays_is_reported_to_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
