// SPDX-License-Identifier: GPL-2.0-only
/* torusemu's faults: delayed frames keep their order, and the delay has a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tools/torusemu/fault.h"

static void test_delay(void **state)
{
	struct fault f;
	struct pool pool;
	struct frame *out;
	u32 bytes;

	(void)state;
	pool_init(&pool, 64);
	fault_init(&f);
	f.latency = 1000;
	assert_true(fault_expiry(&f) == ~0ull);
	for (u32 i = 1; i <= 10; i++)
		fault_delay(&f, &pool, frame_new(&pool, 64), i, 100 * i);
	assert_int_equal(fault_expiry(&f), 1100);
	assert_null(fault_due(&f, &bytes, 1099));
	for (u32 i = 1; i <= 10; i++) {
		out = fault_due(&f, &bytes, 5000);
		assert_non_null(out);
		assert_int_equal(bytes, i);
		frame_put(&pool, out);
	}
	for (u32 i = 0; i < FAULT_DELAYED_MAX + 50; i++)
		fault_delay(&f, &pool, frame_new(&pool, 64), 1, 1);
	assert_int_equal(f.ndelayed, FAULT_DELAYED_MAX);
	fault_flush(&f, &pool);
	assert_int_equal(f.ndelayed, 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_delay),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
