// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return value of draw_distance(): floor(ln u / ln(1 - p)), where p is the bit error rate and u is
 * uniform in (0, 1]. In fixed point: logarithms have LOG_BITS fraction bits, with an error below
 * 1e-9.
 */
#include "fault.h"
#include "splitmix64.h"

#define LOG_BITS	40
#define LN2		762123384785ull		/* ln 2 in LOG_BITS */
#define SMALL		(TORUS_BER_ONE >> 10)
#define FAR		(1ull << 63)

static u64 draw_bits(struct tn_fault *f)
{
	return splitmix64_mix(f->rng += SPLITMIX64_STEP);
}

/* Return: the high 64 bits of the product @a * @b; *@low gets the low 64 bits. */
static u64 multiply_high(u64 a, u64 b, u64 *low)
{
	u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
	u64 mid = ah * bl + (al * bl >> 32);
	u64 mid2 = al * bh + (u32)mid;

	*low = a * b;
	return ah * bh + (mid >> 32) + (mid2 >> 32);
}

/*
 * Return: -log2(u / 2^64), for @u > 0. Each squaring of the mantissa gives one more fraction bit.
 */
static u64 minus_log2(u64 u)
{
	u64 whole = 1, frac = 0, low;
	unsigned int i;

	for (; !(u >> 63); u <<= 1)
		whole++;
	for (i = 0; i < LOG_BITS; i++) {
		u64 square = multiply_high(u, u, &low);	/* u in [1, 2), 63 fraction bits */

		frac <<= 1;
		if (square >> 63) {
			frac |= 1;
			u = square;
		} else {
			u = square << 1 | low >> 63;
		}
	}
	return (whole << LOG_BITS) - frac;
}

/* Return: @part / @whole in units of 2^-64; @part < @whole < 2^63. */
static u64 make_fraction(u64 part, u64 whole)
{
	u64 q = 0;
	unsigned int i;

	tn_assert(part < whole && !(whole >> 63));
	for (i = 0; i < 64; i++) {
		part <<= 1;
		q <<= 1;
		if (part >= whole) {
			part -= whole;
			q |= 1;
		}
	}
	return q;
}

/* Return: the random number of good bits before the next error. */
static u64 draw_distance(struct tn_fault *f)
{
	u64 u = draw_bits(f), log, high, low, p;

	if (f->ber >= TORUS_BER_ONE)
		return 0;
	tn_assert(f->ber);	/* draw_distance() divides by it */
	log = minus_log2(u ? u : 1);
	if (f->ber >= SMALL)
		return log / minus_log2(make_fraction(TORUS_BER_ONE - f->ber, TORUS_BER_ONE));
	/* p is small here, so -ln(1 - p) is p + p^2 / 2 to good precision; in units of 1e-18. */
	p = f->ber / 1000000000;
	p = f->ber + p * p / 2;
	high = multiply_high(log, LN2, &low);
	/* from log2 to the natural logarithm */
	log = high << (64 - LOG_BITS) | low >> LOG_BITS;
	high = multiply_high(log, TORUS_BER_ONE, &low);
	if (high >> (LOG_BITS - 1))
		return FAR / p;
	return (high << (64 - LOG_BITS) | low >> LOG_BITS) / p;
}

void tn_fault_arm(struct tn_fault *f)
{
	f->rng = f->seed;
	f->left = TN_FAULT_ERRORS_MAX;
	if (f->ber)
		f->skip = draw_distance(f);
}

void tn_fault_rate(struct tn_fault *f, u64 ber)
{
	if (f->ber == ber)
		return;
	f->ber = ber;
	if (ber)
		f->skip = draw_distance(f);
}

bool tn_fault_hits(struct tn_fault *f, u32 bytes)
{
	u64 bits = 8ull * bytes;

	if (!f->ber)
		return false;
	if (f->skip < bits) {
		f->left = TN_FAULT_ERRORS_MAX;
		return true;
	}
	f->skip -= bits;
	return false;
}

bool tn_fault_next(struct tn_fault *f)
{
	if (!f->ber)
		return false;
	if (f->skip) {
		f->skip--;
		return false;
	}
	f->skip = draw_distance(f);
	return true;
}

void tn_fault_corrupt(struct tn_fault *f, u8 *data, u32 bytes)
{
	u64 bits = 8ull * bytes;

	while (f->skip < bits) {
		if (!f->left) {
			f->skip = draw_distance(f);
			return;
		}
		f->left--;
		tn_assert(f->skip / 8 < bytes);
		data[f->skip / 8] ^= (u8)(1u << f->skip % 8);
		f->skip += 1 + draw_distance(f);
	}
	f->skip -= bits;
}
