// SPDX-License-Identifier: GPL-2.0-only
/* A text with several holders is in memory once, until the last one has sent it. */
#include <event2/buffer.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricweb/body.h"

static void body_is_freed_when_last_buffer_is(void **state)
{
	struct evbuffer *a = evbuffer_new(), *b = evbuffer_new();
	char *text = malloc(100001), got[4];
	struct body *body;

	(void)state;
	assert_null(body_new(NULL, 3));
	memset(text, 'a', 100000);
	memcpy(text, "head", 4);
	body = body_new(text, 100000);
	assert_int_equal(body_total(), 100000);
	assert_int_equal(body_add(a, body, body->at, 4), 0);
	assert_int_equal(body_add(a, body, body->at, body->len), 0);
	assert_int_equal(body_add(b, body, body->at + 2, 3), 0);
	assert_int_equal(body_add(b, body, body->at, 0), 0);
	body_drop(body);
	assert_int_equal(evbuffer_get_length(a), 100004);
	assert_int_equal(evbuffer_get_length(b), 3);
	assert_int_equal(body_total(), 100000);
	evbuffer_free(a);
	assert_int_equal(body_total(), 100000);
	assert_int_equal(evbuffer_remove(b, got, 4), 3);
	assert_memory_equal(got, "ada", 3);
	assert_int_equal(body_total(), 0);
	evbuffer_free(b);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(body_is_freed_when_last_buffer_is),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
