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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_was_done),
		cmocka_unit_test(first_write_was_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
