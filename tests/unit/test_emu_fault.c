// SPDX-License-Identifier: GPL-2.0-only
/* torusemu's faults: how many bits are hit, that a seed repeats, that delay keeps order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tools/torusemu/fault.h"

#define BYTES	4096u
#define FRAMES	2000u

static u8 frame[BYTES];

/* Bits flipped in @n frames; every flip is undone. */
static u64 flips(struct fault *f, unsigned int n, u64 *where)
{
	u64 count = 0;

	*where = 0;
	while (n--) {
		if (!fault_hits(f, BYTES))
			continue;
		fault_corrupt(f, frame, BYTES);
		for (u32 i = 0; i < BYTES; i++) {
			if (frame[i])
				*where = *where * 31 + i + 1;
			count += (u64)__builtin_popcount(frame[i]);
			frame[i] = 0;
		}
	}
	return count;
}

static void arm(struct fault *f, u64 ber, u64 seed)
{
	fault_init(f);
	f->ber = ber;
	f->seed = seed;
	fault_arm(f);
}

static void test_rate(void **state)
{
	const u64 bits = 8ull * BYTES * FRAMES;
	struct fault f;
	u64 where;

	(void)state;
	for (u64 ber = TORUS_BER_ONE / 1000000; ber <= TORUS_BER_ONE / 10; ber *= 10) {
		double want = (double)bits * (double)ber / (double)TORUS_BER_ONE;
		double got;

		arm(&f, ber, ber);
		got = (double)flips(&f, FRAMES, &where);
		/* Five standard deviations of a binomial count. */
		assert_true((got - want) * (got - want) < 25 * want);
	}
}

static void test_ends(void **state)
{
	struct fault f;
	u64 where;

	(void)state;
	arm(&f, 0, 1);
	assert_int_equal(flips(&f, 10, &where), 0);
	arm(&f, TORUS_BER_ONE, 1);
	assert_int_equal(flips(&f, 10, &where), 10 * 8 * BYTES);
	arm(&f, 1, 1);
	assert_int_equal(flips(&f, FRAMES, &where), 0);
}

static void test_seed(void **state)
{
	struct fault f;
	u64 a, b, c;

	(void)state;
	arm(&f, TORUS_BER_ONE / 100000, 7);
	flips(&f, FRAMES, &a);
	arm(&f, TORUS_BER_ONE / 100000, 7);
	flips(&f, FRAMES, &b);
	arm(&f, TORUS_BER_ONE / 100000, 8);
	flips(&f, FRAMES, &c);
	assert_int_equal(a, b);
	assert_int_not_equal(a, c);
}

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
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_delay),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
