// SPDX-License-Identifier: GPL-2.0-only
/* Bit errors: how many bits are hit, how far apart they are, and that a seed repeats them. */
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

static void count_of_errors_agrees_with_rate(void **state)
{
	const u64 bits = 8ull * BYTES * FRAMES;
	struct tn_fault f;
	u64 where;

	(void)state;
	for (u64 ber = TORUS_BER_ONE / 1000000; ber <= TORUS_BER_ONE / 1000; ber *= 10) {
		double want = (double)bits * (double)ber / (double)TORUS_BER_ONE;
		double got;

		arm(&f, ber, ber);
		got = (double)flips(&f, FRAMES, &where);
		/* Five standard deviations of a binomial count. */
		assert_true((got - want) * (got - want) < 25 * want);
	}
}

static void rate_0_makes_no_errors_and_rate_1_most(void **state)
{
	struct tn_fault f;
	u64 where;

	(void)state;
	arm(&f, 0, 1);
	assert_int_equal(flips(&f, 10, &where), 0);
	arm(&f, TORUS_BER_ONE, 1);
	assert_int_equal(flips(&f, 10, &where), 10 * TN_FAULT_ERRORS_MAX);
	arm(&f, 1, 1);
	assert_int_equal(flips(&f, FRAMES, &where), 0);
}

static void same_seed_makes_same_errors(void **state)
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

/* A frame gets a limited number of errors, however many pieces it has; the next one as many. */
static void errors_of_one_frame_are_limited(void **state)
{
	static const u64 rates[] = { TORUS_BER_ONE / 10, TORUS_BER_ONE / 2, TORUS_BER_ONE };

	(void)state;
	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
		for (u32 piece = 64; piece <= BYTES; piece *= 4) {
			unsigned int count = 0;
			struct tn_fault f;

			arm(&f, rates[r], r);
			for (unsigned int n = 0; n < 3; n++) {
				assert_true(tn_fault_hits(&f, BYTES));
				for (u32 at = 0; at < BYTES; at += piece)
					tn_fault_corrupt(&f, frame + at, piece);
				for (u32 i = 0; i < BYTES; i++) {
					count += (unsigned int)__builtin_popcount(frame[i]);
					frame[i] = 0;
				}
				assert_int_equal(count, (n + 1) * TN_FAULT_ERRORS_MAX);
			}
		}
	}
}

/* Bit by bit, the same bits are wrong as in a stream of bytes, up to the bound. */
static void stepwise_errors_equal_those_of_stream(void **state)
{
	static const u64 rates[] = { 0, 1, TORUS_BER_ONE / 50, TORUS_BER_ONE / 2, TORUS_BER_ONE };

	(void)state;
	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
		unsigned int left = TN_FAULT_ERRORS_MAX;
		u8 bytes[2000] = { 0 };
		struct tn_fault a, b;

		arm(&a, rates[r], r + 3);
		arm(&b, rates[r], r + 3);
		if (tn_fault_hits(&a, sizeof(bytes)))
			tn_fault_corrupt(&a, bytes, sizeof(bytes));
		for (u32 i = 0; i < 8 * sizeof(bytes); i++) {
			bool bad = left && tn_fault_next(&b);

			assert_int_equal(bad, bytes[i / 8] >> i % 8 & 1);
			left -= bad;
		}
		if (left)
			assert_true(a.skip == b.skip && a.rng == b.rng);
	}
}

/*
 * The share of distances of at least n bits must be (1 - p)^n. The distance is
 * what is left to skip when the bit before it has just been hit.
 */
static void distances_between_errors_are_geometric(void **state)
{
	static const u64 rates[] = {
		TORUS_BER_ONE / 3, TORUS_BER_ONE / 1000, TORUS_BER_ONE / 1025,
		TORUS_BER_ONE / 1000000, 3,
	};
	const unsigned int n = getenv("EVERY") ? 5000 : 20000;

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

/* The first random number of a seed, as users who report a seed rely on: splitmix64. */
static double uniform(u64 seed)
{
	u64 z = seed + 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return ldexp((double)(z ^ z >> 31), -64);
}

/* Each seed's first distance is floor(ln u / ln(1 - p)), up to the precision of logarithms. */
static void first_distance_is_that_of_formula(void **state)
{
	static const u64 rates[] = {
		TORUS_BER_ONE - 1, TORUS_BER_ONE / 10 * 9, TORUS_BER_ONE / 2, TORUS_BER_ONE / 3,
		TORUS_BER_ONE / 1000, TORUS_BER_ONE >> 10, (TORUS_BER_ONE >> 10) - 1,
		TORUS_BER_ONE / 1025, TORUS_BER_ONE / 1000000, 1000000, 1000,
	};

	(void)state;
	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
		double whole = log1p(-(double)rates[r] / (double)TORUS_BER_ONE);

		for (u64 seed = 1; seed <= 300; seed++) {
			double want = log(uniform(seed)) / whole;
			struct tn_fault f;

			arm(&f, rates[r], seed);
			assert_true((double)f.skip <= want * (1 + 1e-7) + 1e-6);
			assert_true((double)f.skip >= want * (1 - 1e-7) - 1 - 1e-6);
		}
	}
}

/* After a change of the rate the random numbers continue; the same rate changes nothing. */
static void changed_rate_continues_random_numbers(void **state)
{
	struct tn_fault f, was;

	(void)state;
	arm(&f, 1000, 5);
	was = f;
	tn_fault_rate(&f, 1000);
	assert_memory_equal(&f, &was, sizeof(f));
	tn_fault_rate(&f, 2000);
	assert_true(f.ber == 2000 && f.rng != was.rng && f.skip != was.skip);
	was = f;
	tn_fault_rate(&f, 0);
	assert_true(f.ber == 0 && f.rng == was.rng);
	assert_false(tn_fault_hits(&f, 0xffffffff));
	assert_int_equal(f.skip, was.skip);
}

/* Bits pass one by one: the frame that has the bad one is hit, at that bit. */
static void frame_that_has_the_bad_bit_is_hit(void **state)
{
	struct tn_fault f = { .ber = 1, .seed = 1 };

	(void)state;
	for (u64 skip = 0; skip < 64; skip++) {
		memset(frame, 0, 8);
		f.skip = skip;
		assert_int_equal(tn_fault_hits(&f, 2), skip < 16);
		if (skip >= 16) {
			assert_int_equal(f.skip, skip - 16);
			continue;
		}
		assert_int_equal(f.skip, skip);
		tn_fault_corrupt(&f, frame, 2);
		assert_int_equal(frame[skip / 8], 1 << skip % 8);
		assert_int_equal(frame[1 - skip / 8], 0);
		assert_true(f.skip > 16);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(count_of_errors_agrees_with_rate),
		cmocka_unit_test(rate_0_makes_no_errors_and_rate_1_most),
		cmocka_unit_test(same_seed_makes_same_errors),
		cmocka_unit_test(errors_of_one_frame_are_limited),
		cmocka_unit_test(stepwise_errors_equal_those_of_stream),
		cmocka_unit_test(first_distance_is_that_of_formula),
		cmocka_unit_test(changed_rate_continues_random_numbers),
		cmocka_unit_test(frame_that_has_the_bad_bit_is_hit),
		cmocka_unit_test(distances_between_errors_are_geometric),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
