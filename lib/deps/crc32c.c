// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * CRC-32C for user space: with the CPU's CRC instruction if the CPU has one, else with eight
 * tables.
 *
 * The instruction takes 3 cycles, but one can start in every cycle. So a buffer is divided into
 * three runs of equal length, whose CRCs are computed in parallel. The CRC of a run followed by n
 * bytes is its CRC times x^(8 n) mod P. That is one carry-less multiplication by a constant, and a
 * reduction by one more CRC instruction. The instruction multiplies by x^32, and the product of two
 * reflected numbers has another factor x, so the constant shift_by[n / 8] is x^(8 n - 33) mod P.
 *
 * With AVX-512, 64 bytes are folded over the next n bytes by multiplying the halves of each 16
 * bytes by such constants; at the end 16 bytes with the same CRC are left.
 */
#include "tn_deps.h"

#define POLY	0x82f63b78u
#define TABLES	8

static u32 table[TABLES][256];

static void table_init(void)
{
	for (u32 i = 0; i < 256; i++) {
		u32 c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? POLY : 0);
		table[0][i] = c;
	}
	for (int t = 1; t < TABLES; t++)
		for (u32 i = 0; i < 256; i++)
			table[t][i] = table[t - 1][i] >> 8 ^
				      table[0][table[t - 1][i] & 0xff];
}

static u32 by_tables(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;

	for (; len >= 8; len -= 8, p += 8) {
		u32 lo = tn_get_le32(p) ^ crc;
		u32 hi = tn_get_le32(p + 4);

		crc = table[7][lo & 0xff] ^ table[6][lo >> 8 & 0xff] ^
		      table[5][lo >> 16 & 0xff] ^ table[4][lo >> 24] ^
		      table[3][hi & 0xff] ^ table[2][hi >> 8 & 0xff] ^
		      table[1][hi >> 16 & 0xff] ^ table[0][hi >> 24];
	}
	while (len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return crc;
}

static u32 (*crc32c)(u32 crc, const void *data, size_t len) = by_tables;

#ifdef __x86_64__

#include <immintrin.h>

#define HW		__attribute__((target("sse4.2,pclmul")))
#define RUN_MIN		32	/* bytes; dividing a shorter run costs more time than it saves */
#define RUN_MAX		1360	/* bytes; a payload of 4096 bytes has three runs of this length
				 * or less */

static u32 shift_by[2 * RUN_MAX / 8 + 1];

HW static void shift_init(void)
{
	u32 k = 1;		/* x^31 in the reflected order of bits */

	for (size_t i = 1; i < ARRAY_SIZE(shift_by); i++) {
		shift_by[i] = k;
		k = (u32)_mm_crc32_u64(k, 0);
	}
}

HW static u64 shift(u64 crc, size_t bytes)
{
	__m128i p = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
					 _mm_cvtsi32_si128((int)shift_by[bytes / 8]), 0);

	return _mm_crc32_u64(0, (u64)_mm_cvtsi128_si64(p));
}

HW static u32 by_instruction(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;
	u64 a = crc;

	while (len >= 3 * RUN_MIN) {
		size_t run = len / 24 * 8 < RUN_MAX ? len / 24 * 8 : RUN_MAX;
		u64 b = 0, c = 0;

		for (const u8 *end = p + run; p < end; p += 8) {
			a = _mm_crc32_u64(a, tn_get_le64(p));
			b = _mm_crc32_u64(b, tn_get_le64(p + run));
			c = _mm_crc32_u64(c, tn_get_le64(p + 2 * run));
		}
		a = shift(a, 2 * run) ^ shift(b, run) ^ c;
		p += 2 * run;
		len -= 3 * run;
	}
	for (; len >= 8; len -= 8, p += 8)
		a = _mm_crc32_u64(a, tn_get_le64(p));
	while (len--)
		a = _mm_crc32_u8((u32)a, *p++);
	return (u32)a;
}

#define WIDE		__attribute__((target("avx512f,vpclmulqdq,pclmul,sse4.2")))
#define LANE		((size_t)64)
#define WIDE_MIN	(4 * LANE)

/*
 * Return: the sum of @there and of @a moved on by @bytes (a shift of the polynomial, modulo that of
 * the CRC).
 */
WIDE static __m512i carry(__m512i a, size_t bytes, __m512i there)
{
	__m512i k = _mm512_broadcast_i32x4(_mm_set_epi64x(shift_by[bytes / 8],
							  shift_by[bytes / 8 + 1]));

	return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(a, k, 0x00),
					 _mm512_clmulepi64_epi128(a, k, 0x11), there, 0x96);
}

WIDE static u32 by_lanes(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;
	__m512i a, b, c, d;
	u64 last[8], r;

	if (len < WIDE_MIN)
		return by_instruction(crc, data, len);
	a = _mm512_xor_si512(_mm512_loadu_si512(p),
			     _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
	b = _mm512_loadu_si512(p + LANE);
	c = _mm512_loadu_si512(p + 2 * LANE);
	d = _mm512_loadu_si512(p + 3 * LANE);
	for (p += WIDE_MIN, len -= WIDE_MIN; len >= WIDE_MIN; p += WIDE_MIN, len -= WIDE_MIN) {
		a = carry(a, WIDE_MIN, _mm512_loadu_si512(p));
		b = carry(b, WIDE_MIN, _mm512_loadu_si512(p + LANE));
		c = carry(c, WIDE_MIN, _mm512_loadu_si512(p + 2 * LANE));
		d = carry(d, WIDE_MIN, _mm512_loadu_si512(p + 3 * LANE));
	}
	_mm512_storeu_si512(last, carry(carry(carry(a, LANE, b), LANE, c), LANE, d));
	r = 0;
	for (size_t i = 0; i < ARRAY_SIZE(last); i++)
		r = _mm_crc32_u64(r, last[i]);
	return by_instruction((u32)r, p, len);
}

static bool lanes_init(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
}

static bool instruction_init(void)
{
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul"))
		return false;
	shift_init();
	return true;
}

#else

#define by_instruction by_tables
#define by_lanes by_tables

static bool lanes_init(void)
{
	return false;
}

static bool instruction_init(void)
{
	return false;
}

#endif

/* Runs before main(), so that no thread sees an incomplete table. */
__attribute__((constructor)) static void choose_crc32c(void)
{
	table_init();
	if (instruction_init())
		crc32c = lanes_init() ? by_lanes : by_instruction;
}

u32 tn_crc32c(u32 crc, const void *data, size_t len)
{
	return crc32c(crc, data, len);
}
