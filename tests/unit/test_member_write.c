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
 * The answer to a write is lost, and the write was done. The rows that the next table asks for are
 * those from before it: these are written, and on hold, because they stand in for other ones.
 */
static void write_was_done(void **state)
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

/* Packets to the node itself wait for nothing, whatever came of the write before. */
static void first_write_was_done(void **state)
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

/* The root repeats table @version every resend, as long as @ns. */
static void asks_for(uint64_t version, uint64_t ns)
{
	for (uint64_t end = o.now + ns; o.now < end;) {
		one_run(&o, ONE_RESEND);
		if (o.up)
			step(version, 0, FM_STEP_APPLY);
	}
}

/*
 * A NIC that refuses its rows: after a while the root is told, and told again. It leaves the node
 * out, which joins again later and later, and is told nothing more once its NIC obeys.
 */
static void never_written(void **state)
{
	const uint64_t patience = 2 * ONE_MEMBER_MAX;
	unsigned int told;

	(void)state;
	begin();
	o.write_err = -EINVAL;
	entry[SELF].fault = 1;
	table(2, 0);
	asks_for(2, patience - ONE_RESEND);
	assert_int_equal(o.ntold[FM_MSG_FAILED], 0);
	asks_for(2, ONE_RESEND);
	assert_int_equal(o.ntold[FM_MSG_FAILED], 1);
	assert_int_equal(o.told[FM_MSG_FAILED].failed.guid, o.node[SELF].guid);
	assert_int_equal(o.told[FM_MSG_FAILED].failed.epoch, o.node[SELF].epoch);
	assert_int_equal(o.told[FM_MSG_FAILED].failed.version, 2);
	assert_int_equal(o.told[FM_MSG_FAILED].failed.err, EINVAL);
	asks_for(2, ONE_RESEND);
	assert_int_equal(o.ntold[FM_MSG_FAILED], 2);
	/* The table counts on it no more: it stays where it is for a while. */
	entry[SELF].state = FM_NODE_SILENT;
	table(3, 0);
	told = o.ntold[FM_MSG_FAILED];
	asks_for(3, ONE_MEMBER_MAX - ONE_RESEND);
	assert_int_not_equal(o.up, 0);
	asks_for(3, ONE_RESEND);
	assert_int_equal(o.up, 0);
	assert_int_equal(o.ntold[FM_MSG_FAILED], told);
	one_end(&o);
}

/* A NIC that is slow, and does what it is asked, is waited for. */
static void written_late(void **state)
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
	assert_int_equal(o.ntold[FM_MSG_FAILED], 0);
	one_end(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_was_done),
		cmocka_unit_test(first_write_was_done),
		cmocka_unit_test(never_written),
		cmocka_unit_test(written_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
