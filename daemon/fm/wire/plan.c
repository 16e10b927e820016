// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "daemon/fm/wire/plan.h"

static bool are_bits_same(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int n = bits / 8, rest = bits % 8;

	return !memcmp(a, b, n) && (!rest || !((a[n] ^ b[n]) >> (8 - rest)));
}

bool fm_plan_has(const struct torus_plan *plan, const char *address)
{
	struct torus_plan full = fm_plan_full(plan);
	const char *end = strrchr(address, ':');
	bool v6 = address[0] == '[';
	char ip[INET6_ADDRSTRLEN];
	uint8_t bytes[16];
	int n = end ? (int)(end - address) - 2 * v6 : 0;

	if (n <= 0 || n >= (int)sizeof(ip))
		return false;
	snprintf(ip, sizeof(ip), "%.*s", n, address + v6);
	if (inet_pton(v6 ? AF_INET6 : AF_INET, ip, bytes) != 1)
		return false;
	return v6 ? are_bits_same(bytes, full.net6, full.len6) :
		    are_bits_same(bytes, full.net4, full.len4);
}
