// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recoveries for packets that were left parked, by themselves: when the next one is demanded. Stubs
 * in this test stand for the functions of the manager that the file calls.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/memory.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/leftover.h"

#define FIRST (1000 * MS)
#define SOON (20 * MS)
#define LAST (32000 * MS)

static struct fm_root root;
static struct fm fm = { .root = &root };
static unsigned int demands;
static uint32_t asks;

void fm_demand(struct fm *f, uint64_t delay, const char *fmt, ...)
{
	assert_ptr_equal(f, &fm);
	assert_int_equal(delay, 0);
	assert_string_equal(fmt, "packets left parked");
	demands++;
}

uint32_t fm_demand_asks(const struct fm_root *r)
{
	assert_ptr_equal(r, &root);
	return asks;
}

static void begin(void)
{
	assert_true(fm_leftover_new(&root));
	assert_int_equal(fm_leftover_expiry(&fm), NEVER);
	fm.now = 5000 * MS;
	demands = 0;
	asks = 1;
}

static void end(void)
{
	fm_leftover_free(&root);
	assert_int_equal(memory_blocks(), 0);
}

/* Ends a recovery, and checks that the next one is due after @wait; 0: that no other is due. */
static void ends(bool parked, bool reopen, bool bounded, uint64_t wait)
{
	const struct fm_sums sums = { .parked = parked, .reopen = reopen };

	fm_leftover_end(&fm, &sums, bounded);
	assert_int_equal(fm_leftover_expiry(&fm), wait ? fm.now + wait : NEVER);
}

/* Waits until the next recovery is demanded, and begins it for @of reasons. */
static void comes(uint32_t of)
{
	uint64_t at = fm_leftover_expiry(&fm);

	fm.now = at - 1;
	fm_leftover_due(&fm);
	assert_int_equal(demands, 0);
	fm.now = at;
	fm_leftover_due(&fm);
	assert_int_equal(demands, 1);
	assert_int_equal(fm_leftover_expiry(&fm), NEVER);
	fm_leftover_due(&fm);	/* demanded once */
	assert_int_equal(demands, 1);
	demands = 0;
	asks = of;
	fm_leftover_begin(&fm);
	asks = 1;
	fm.now += 3 * MS;
}

/* Each recovery waits twice as long as the one before, from 20 ms, or 1 s, up to 32 s. */
static void recovery_for_leftovers_doubles_its_wait(void **state)
{
	(void)state;
	for (unsigned int bounded = 0; bounded < 2; bounded++) {
		uint64_t wait = bounded ? FIRST : SOON;

		begin();
		ends(true, false, bounded, wait);
		for (unsigned int i = 0; i < 14; i++) {
			comes(1);
			wait = wait < LAST / 2 ? 2 * wait : LAST;
			ends(true, false, bounded, wait);
		}
		/* A recovery that leaves no packets parked is the last. */
		comes(1);
		ends(false, false, bounded, 0);
		ends(true, false, bounded, bounded ? FIRST : SOON);
		end();
	}
}

/* After a recovery that reached a bound the next one comes after a second at least. */
static void recovery_after_reached_bound_waits_a_second(void **state)
{
	(void)state;
	begin();
	ends(true, false, false, SOON);
	comes(1);
	ends(true, false, true, FIRST);
	comes(1);
	ends(true, false, false, 2 * FIRST);
	end();
}

/* While a port is closed the wait does not grow. */
static void wait_does_not_grow_while_port_is_closed(void **state)
{
	(void)state;
	for (unsigned int parked = 0; parked < 2; parked++) {
		begin();
		for (unsigned int i = 0; i < 3; i++) {
			ends(parked, true, false, SOON);
			comes(1);
		}
		ends(parked, true, true, FIRST);
		end();
	}
}

/* After a recovery that has a different reason, or a second one, the waits restart. */
static void recovery_for_another_reason_resets_wait(void **state)
{
	(void)state;
	begin();
	ends(true, false, false, SOON);
	comes(1);
	ends(true, false, false, 2 * SOON);
	comes(2);
	ends(true, false, false, SOON);
	comes(1);
	ends(true, false, false, 2 * SOON);
	fm_leftover_begin(&fm);	/* begun before it was demanded */
	assert_int_equal(fm_leftover_expiry(&fm), NEVER);
	ends(true, false, false, SOON);
	comes(1);
	fm_leftover_begin(&fm);	/* another recovery, which was not demanded for this */
	ends(true, false, false, SOON);
	end();
}

static void leftover_without_memory_fails(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_leftover_new(&root));
	assert_true(memory_failed());
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(recovery_for_leftovers_doubles_its_wait),
		cmocka_unit_test(recovery_after_reached_bound_waits_a_second),
		cmocka_unit_test(wait_does_not_grow_while_port_is_closed),
		cmocka_unit_test(recovery_for_another_reason_resets_wait),
		cmocka_unit_test(leftover_without_memory_fails),
	};

	return cmocka_run_group_tests_name("fm_leftover", all, NULL, NULL);
}
