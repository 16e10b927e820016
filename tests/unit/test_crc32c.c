// SPDX-License-Identifier: GPL-2.0-only
/* Compares all implementations of tn_crc32c() with the definition, bit by bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/deps/crc32c.c"

static u32 seed = 1;
static bool have_instruction, have_lanes;

static u32 rnd(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

static u32 by_bits(u32 crc, const u8 *p, size_t len)
{
	while (len--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLY : 0);
	}
	return crc;
}

static void crc_of_known_texts_is_right(void **state)
{
	u8 zero[32] = { 0 };

	(void)state;
	/* RFC 3720, B.4, and the usual check value. */
	assert_int_equal(~tn_crc32c(~0u, "123456789", 9), 0xe3069283);
	assert_int_equal(~tn_crc32c(~0u, zero, sizeof(zero)), 0x8a9136aa);
	assert_int_equal(tn_crc32c(0x12345678, "", 0), 0x12345678);
}

static void check(const u8 *p, size_t len, u32 start)
{
	u32 want = by_bits(start, p, len);

	assert_int_equal(by_tables(start, p, len), want);
	if (have_instruction)
		assert_int_equal(by_instruction(start, p, len), want);
	if (have_lanes)
		assert_int_equal(by_lanes(start, p, len), want);
	assert_int_equal(tn_crc32c(start, p, len), want);
}

static void all_implementations_agree_at_each_length(void **state)
{
	static u8 buf[20000];

	(void)state;
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (u8)rnd();
	have_instruction = instruction_init();
	have_lanes = have_instruction && lanes_init();
	print_message("CRC instruction: %s, wide lanes: %s\n", have_instruction ? "yes" : "no",
		      have_lanes ? "yes" : "no");
	for (size_t len = 0; len <= 600; len++)
		check(buf + len % 16, len, rnd());
	for (size_t len = 4070; len <= 4110; len++)
		check(buf + len % 8, len, rnd());
	for (int i = 0; i < 300; i++) {
		size_t at = rnd() % 5000;

		check(buf + at, rnd() % (sizeof(buf) - at), rnd());
	}
}

static void crc_of_two_parts_equals_crc_of_whole(void **state)
{
	u8 buf[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (u8)rnd();
	for (int i = 0; i < 200; i++) {
		size_t cut = rnd() % sizeof(buf);
		u32 crc = tn_crc32c(tn_crc32c(~0u, buf, cut), buf + cut, sizeof(buf) - cut);

		assert_int_equal(crc, tn_crc32c(~0u, buf, sizeof(buf)));
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(crc_of_known_texts_is_right),
		cmocka_unit_test(all_implementations_agree_at_each_length),
		cmocka_unit_test(crc_of_two_parts_equals_crc_of_whole),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
