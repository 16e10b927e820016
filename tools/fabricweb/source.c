// SPDX-License-Identifier: GPL-2.0-or-later
/* Test: tests/unit/test_fabricweb_source.c. */
#include <netinet/in.h>
#include <string.h>

#include "source.h"

#define TRIES_AT_ONCE	10
#define TRIES_A_SECOND	1

static void keep_ipv4(struct source *s, const unsigned char *bytes)
{
	s->key[10] = s->key[11] = 0xff;
	memcpy(s->key + 12, bytes, bytes[0] == 127 ? 1 : 4);
}

struct source source_of_address(const struct sockaddr *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	struct source s = { { 0 } };

	if (address->sa_family == AF_INET)
		keep_ipv4(&s, (const unsigned char *)&in->sin_addr);
	else if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		keep_ipv4(&s, in6->sin6_addr.s6_addr + 12);
	else if (address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr))
		keep_ipv4(&s, (const unsigned char[]){ 127, 0, 0, 1 });
	else if (address->sa_family == AF_INET6)
		memcpy(s.key, in6->sin6_addr.s6_addr, 8);
	return s;
}

bool source_is_same(const struct source *a, const struct source *b)
{
	return !memcmp(a->key, b->key, sizeof(a->key));
}

bool tries_take(struct tries *t, const struct source *from, double now)
{
	unsigned int n = sizeof(t->of) / sizeof(t->of[0]), i, oldest = 0;

	for (i = 0; i < n; i++) {
		if (t->of[i].at > 0 && source_is_same(&t->of[i].from, from))
			break;
		if (t->of[i].at < t->of[oldest].at)
			oldest = i;
	}
	if (i == n) {
		i = oldest;
		t->of[i].from = *from;
		t->of[i].left = TRIES_AT_ONCE;
	} else if (now > t->of[i].at) {
		t->of[i].left += (now - t->of[i].at) * TRIES_A_SECOND;
	}
	t->of[i].at = now;
	if (t->of[i].left > TRIES_AT_ONCE)
		t->of[i].left = TRIES_AT_ONCE;
	if (t->of[i].left < 1)
		return false;
	t->of[i].left--;
	return true;
}
