// SPDX-License-Identifier: GPL-2.0-only
/* Service addresses in the prefixes of an address plan, compared bit by bit. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/wire/plan.h"

#define PORT ":7471"

static bool is_bit_same(const uint8_t *a, const uint8_t *b, unsigned int i)
{
	return ((a[i / 8] ^ b[i / 8]) & 0x80 >> i % 8) == 0;
}

/* An address that differs from the prefix in one bit, or in none. */
static void one_address(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct torus_plan plan = { .len4 = (uint8_t)(1 + rnd_below(&r, 32)),
				   .len6 = (uint8_t)(1 + rnd_below(&r, 128)) };
	bool v6 = rnd_one_in(&r, 2), same = true;
	const uint8_t *net = v6 ? plan.net6 : plan.net4;
	unsigned int len = v6 ? plan.len6 : plan.len4, bits = v6 ? 128 : 32;
	unsigned int wrong = rnd_one_in(&r, 2) ? rnd_below(&r, bits) : len - rnd_below(&r, 2);
	char ip[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 16];
	uint8_t bytes[16];

	rnd_fill(&r, plan.net4, sizeof(plan.net4));
	rnd_fill(&r, plan.net6, sizeof(plan.net6));
	memcpy(bytes, net, bits / 8);
	for (unsigned int i = len; i < bits; i++)
		bytes[i / 8] ^= (uint8_t)(rnd_below(&r, 2) << (7 - i % 8));
	if (wrong < bits)
		bytes[wrong / 8] ^= (uint8_t)(0x80 >> wrong % 8);
	for (unsigned int i = 0; i < len; i++)
		same &= is_bit_same(bytes, net, i);
	assert_non_null(inet_ntop(v6 ? AF_INET6 : AF_INET, bytes, ip, sizeof(ip)));
	snprintf(text, sizeof(text), v6 ? "[%s]" PORT : "%s" PORT, ip);
	expect(&r, fm_plan_has(&plan, text) == same, "%s: prefix of %u bits", text, len);
}

static void address_is_in_prefix_if_all_bits_of_it_are_same(void **state)
{
	(void)state;
	for_seeds(4000, one_address);
}

/* A text that is no address is in no prefix: not in that of all addresses with a first bit of 0 or 1. */
static void text_without_address_is_in_no_prefix(void **state)
{
	static const char *const wrong[] = {
		"", "1.2.3.4", PORT, "x" PORT, "1.2.3" PORT, "1.2.3.4.5" PORT, "[1.2.3.4]" PORT,
		"::1" PORT, "[]" PORT, "[" PORT, "[:]" PORT, "[::1:]" PORT,
		/* one character more than an address may have; the others are one */
		"[0000:0000:0000:0000:0000:0000:255.255.255.2555]" PORT,
		"[0000:0000:0000:0000:0000:0000:255.255.255.25555]" PORT,
	};
	struct torus_plan plan = { .len4 = 1, .len6 = 1 };

	(void)state;
	for (unsigned int first = 0; first < 2; first++) {
		plan.net4[0] = plan.net6[0] = (uint8_t)(first << 7);
		for (unsigned int i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
			assert_false(fm_plan_has(&plan, wrong[i]));
		assert_int_equal(fm_plan_has(&plan, "127.0.0.1" PORT), !first);
		assert_int_equal(fm_plan_has(&plan, "[8000::]" PORT), first);
		assert_int_equal(fm_plan_has(&plan, "[0000:0000:0000:0000:0000:0000:255.255.255.255]"
						    PORT), !first);
	}
}

static void plan_of_zeros_is_default_plan(void **state)
{
	struct torus_plan none = { .len4 = 0 }, usual;
	char text[TORUS_TEXT_MAX], address[TORUS_TEXT_MAX + 16];

	(void)state;
	torus_plan_default(&usual);
	inet_ntop(AF_INET, usual.net4, text, sizeof(text));
	snprintf(address, sizeof(address), "%s" PORT, text);
	assert_true(fm_plan_has(&none, address));
	assert_false(fm_plan_has(&none, "203.0.113.1" PORT));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(address_is_in_prefix_if_all_bits_of_it_are_same),
		cmocka_unit_test(text_without_address_is_in_no_prefix),
		cmocka_unit_test(plan_of_zeros_is_default_plan),
	};

	return cmocka_run_group_tests_name("fm_prefixes", all, NULL, NULL);
}
