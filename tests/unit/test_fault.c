// SPDX-License-Identifier: GPL-2.0-only
/* Bit errors: how many bits are hit, how far they lie apart, that a seed repeats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernel/core/fault.h"

#define BYTES	4096u
#define FRAMES	2000u

static u8 frame[BYTES];

/* Bits flipped in @n frames; every flip is undone. */
static u64 flips(struct tn_fault *f, unsigned int n, u64 *where)
{
	u64 count = 0;

	*where = 0;
	while (n--) {
		if (!tn_fault_hits(f, BYTES))
			continue;
		tn_fault_corrupt(f, frame, BYTES);
		for (u32 i = 0; i < BYTES; i++) {
			if (frame[i])
				*where = *where * 31 + i + 1;
			count += (u64)__builtin_popcount(frame[i]);
			frame[i] = 0;
		}
	}
	return count;
}

static void arm(struct tn_fault *f, u64 ber, u64 seed)
{
	*f = (struct tn_fault) { .ber = ber, .seed = seed };
	tn_fault_arm(f);
}

static void test_rate(void **state)
{
	const u64 bits = 8ull * BYTES * FRAMES;
	struct tn_fault f;
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
	struct tn_fault f;
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
	struct tn_fault f;
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

/*
 * The share of distances of at least n bits must be (1 - p)^n. The distance is
 * what is left to skip when the bit before it has just been hit.
 */
static void test_distances(void **state)
{
	static const u64 rates[] = {
		TORUS_BER_ONE / 3, TORUS_BER_ONE / 1000, TORUS_BER_ONE / 1025,
		TORUS_BER_ONE / 1000000, 3,
	};
	const unsigned int n = 20000;

	(void)state;
	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
		double p = (double)rates[r] / (double)TORUS_BER_ONE;
		double half = -M_LN2 / log1p(-p), sum = 0, sigma = 1 / sqrt(n);
		unsigned int beyond = 0;
		struct tn_fault f;

		for (unsigned int seed = 1; seed <= n; seed++) {
			arm(&f, rates[r], seed * 0x9e3779b97f4a7c15ull);
			beyond += (double)f.skip >= half;
			sum += (double)f.skip;
		}
		assert_true(fabs(sum / n * p / (1 - p) - 1) < 5 * sigma);
		/* Distances are whole numbers, so the median is coarse for large p. */
		if (p < 0.01)
			assert_true(fabs((double)beyond / n - 0.5) < 2.5 * sigma);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_distances),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
