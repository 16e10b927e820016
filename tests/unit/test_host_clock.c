// SPDX-License-Identifier: GPL-2.0-only
/* The clock of NICs that get no processor time: it stands still, and never goes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernel/host/clock.h"
#include "lib/util/times.h"
#include "random.h"

#define MOST TORUS_HOST_STALL_MAX

/* A turn that was due 3 s ago: the clock counts MOST of that. */
static void late(void **state)
{
	struct torus_host_clock c = { 0 };

	(void)state;
	assert_int_equal(torus_host_clock_woke(&c, 5 * SEC, 0), 5 * SEC);
	assert_int_equal(torus_host_clock_woke(&c, 6 * SEC, 6 * SEC), 6 * SEC);
	assert_int_equal(torus_host_clock_woke(&c, 10 * SEC, 7 * SEC), 7 * SEC + MOST);
	assert_int_equal(torus_host_clock(&c, 10 * SEC), 7 * SEC + MOST);
	assert_int_equal(torus_host_clock(&c, 11 * SEC), 8 * SEC + MOST);
	/* It goes on from there. */
	assert_int_equal(torus_host_clock_woke(&c, 11 * SEC, 8 * SEC + MOST), 8 * SEC + MOST);
	assert_int_equal(torus_host_clock_woke(&c, 12 * SEC, 8 * SEC + MOST), 8 * SEC + 2 * MOST);
}

/* A small delay is counted, and so is any time before a turn is due. */
static void in_time(void **state)
{
	struct torus_host_clock c = { 0 };

	(void)state;
	assert_int_equal(torus_host_clock_woke(&c, 5 * SEC, 1 * SEC), 5 * SEC);	/* the first turn */
	assert_int_equal(torus_host_clock_woke(&c, 6 * SEC + MOST, 6 * SEC), 6 * SEC + MOST);
	assert_int_equal(torus_host_clock_woke(&c, 8 * SEC, 9 * SEC), 8 * SEC);
	assert_int_equal(torus_host_clock_woke(&c, 50 * SEC, ~0ull), 50 * SEC);
	/* A turn that was due before the last one began waited for the end of that one. */
	assert_int_equal(torus_host_clock_woke(&c, 50 * SEC + MOST, 20 * SEC), 50 * SEC + MOST);
	assert_int_equal(c.stood, 0);
}

/* Whatever is due: it does not go back, is no faster than the machine's, and at most MOST late. */
static void never_back(void **state)
{
	struct torus_host_clock c = { 0 };
	uint64_t random = 1, machine = SEC, last = 0;

	(void)state;
	torus_host_clock_woke(&c, machine, 0);
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t is = torus_host_clock(&c, machine), due = is + random_below(&random, 100) * MS;
		uint64_t step = random_below(&random, 200) * MS, now;

		machine += step;
		now = torus_host_clock_woke(&c, machine, due);
		assert_true(now >= last && now >= is && now - is <= step && now <= due + MOST);
		assert_true(now == is + step || now == due + MOST);
		last = now;
	}
	assert_true(c.stood);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(late),
		cmocka_unit_test(in_time),
		cmocka_unit_test(never_back),
	};

	return cmocka_run_group_tests_name("host_clock", all, NULL, NULL);
}
