// SPDX-License-Identifier: GPL-2.0-only
/* Where clients come from, and how often they may try something. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricweb/source.h"

static struct source source(const char *text)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in in = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
		return source_of_address((const struct sockaddr *)&in);
	assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
	return source_of_address((const struct sockaddr *)&in6);
}

static bool same(const char *a, const char *b)
{
	struct source x = source(a), y = source(b);

	return source_is_same(&x, &y);
}

static void addresses_of_one_source_are_the_same(void **state)
{
	(void)state;
	assert_true(same("10.0.0.1", "10.0.0.1"));
	assert_true(same("10.0.0.1", "::ffff:10.0.0.1"));
	assert_false(same("10.0.0.1", "10.0.0.2"));
	assert_true(same("127.0.0.1", "127.3.4.5"));
	assert_true(same("127.0.0.1", "::1"));
	assert_true(same("fd00:1:2:3::1", "fd00:1:2:3:4:5:6:7"));
	assert_false(same("fd00:1:2:3::1", "fd00:1:2:4::1"));
	assert_false(same("::1", "::2"));
}

static unsigned int take_many(struct tries *t, const struct source *from, double now)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 100; i++)
		n += tries_take(t, from, now);
	return n;
}

static void source_has_10_tries_that_come_back_with_time(void **state)
{
	static struct tries t;
	struct source me = source("10.0.0.1"), other = source("10.0.0.2");

	(void)state;
	assert_int_equal(take_many(&t, &me, 100), 10);
	assert_int_equal(take_many(&t, &other, 100), 10);
	assert_int_equal(take_many(&t, &me, 101.5), 1);
	assert_int_equal(take_many(&t, &me, 102), 1);
	assert_int_equal(take_many(&t, &me, 1000), 10);
	assert_int_equal(take_many(&t, &other, 1000), 10);
}

/* With more clients than places, the one that was not seen for longest begins anew. */
static void longest_unseen_source_gives_way(void **state)
{
	static struct tries t;
	struct source me = source("10.0.0.1");
	char text[32];

	(void)state;
	assert_int_equal(take_many(&t, &me, 100), 10);
	for (int i = 0; i < 127; i++) {
		struct source s;

		snprintf(text, sizeof(text), "10.0.1.%d", i);
		s = source(text);
		assert_true(tries_take(&t, &s, 100.1));
	}
	assert_int_equal(take_many(&t, &me, 100.2), 0);
	for (int i = 0; i < 128; i++) {
		struct source s;

		snprintf(text, sizeof(text), "10.0.2.%d", i);
		s = source(text);
		assert_true(tries_take(&t, &s, 100.3));
	}
	assert_int_equal(take_many(&t, &me, 100.4), 10);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(addresses_of_one_source_are_the_same),
		cmocka_unit_test(source_has_10_tries_that_come_back_with_time),
		cmocka_unit_test(longest_unseen_source_gives_way),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
