// SPDX-License-Identifier: GPL-2.0-only
/* Messages in a stream: however the stream is cut, the same messages come out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/frame.h"

static uint64_t seed = 88172645463325252ULL;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void put(uint8_t *to, size_t *n, uint64_t id, const char *text)
{
	struct svc_msg m = { .type = SVC_ANSWER, .answer = { .id = id, .reply = (char *)text } };
	uint8_t *data;
	size_t len;

	assert_int_equal(frame_pack(&m, 5, &data, &len), 0);
	memcpy(to + *n, data, len);
	*n += len;
	free(data);
}

static void framed_messages_come_out_in_order(void **state)
{
	uint8_t stream[8192];
	size_t n = 0, have = 0, at = 0;
	uint64_t next = 1;

	(void)state;
	for (uint64_t id = 1; id <= 100; id++)
		put(stream, &n, id, id % 3 ? "{}" : "{\"cmd\":\"status\"}");
	while (at < n) {
		const uint8_t *body;
		struct svc_msg m;
		size_t len;
		ssize_t used = frame_next(stream + at, have - at, FRAME_MAX, &body, &len);

		if (!used) {
			size_t step = 1 + rnd() % 40;

			assert_true(have < n);
			have = have + step > n ? n : have + step;
			continue;
		}
		assert_true(used > 0);
		assert_int_equal(svc_msg_unpack(body, len, &m), 0);
		assert_int_equal(m.type, SVC_ANSWER);
		assert_int_equal(m.answer.id, next);
		assert_string_equal(m.answer.reply, next % 3 ? "{}" : "{\"cmd\":\"status\"}");
		svc_msg_clear(&m);
		next++;
		at += (size_t)used;
	}
	assert_int_equal(next, 101);
}

static void frame_of_wrong_length_is_refused(void **state)
{
	uint8_t data[8] = { 0, 0, 4, 0, 1 };
	const uint8_t *body;
	size_t len;

	(void)state;
	for (size_t n = 0; n < FRAME_HEADER; n++)
		assert_int_equal(frame_next(data, n, 1024, &body, &len), 0);
	/* The length alone is refused; nothing more needs to be kept. */
	assert_int_equal(frame_next(data, 4, 1023, &body, &len), -EMSGSIZE);
	assert_int_equal(frame_next(data, 8, 1024, &body, &len), 0);
	memset(data, 0xff, 4);
	assert_int_equal(frame_next(data, 4, FRAME_MAX, &body, &len), -EMSGSIZE);
	memset(data, 0, 4);
	assert_int_equal(frame_next(data, 4, FRAME_MAX, &body, &len), -EBADMSG);
}

static void message_that_fits_no_frame_is_refused(void **state)
{
	struct svc_msg m = { .type = SVC_ANSWER };
	uint8_t *data;
	size_t len;

	(void)state;
	m.answer.reply = malloc(FRAME_MAX + 1);
	assert_non_null(m.answer.reply);
	memset(m.answer.reply, 'x', FRAME_MAX);
	m.answer.reply[FRAME_MAX] = '\0';
	assert_int_equal(frame_pack(&m, 5, &data, &len), -EMSGSIZE);
	m.answer.reply[FRAME_MAX - 64] = '\0';
	assert_int_equal(frame_pack(&m, 5, &data, &len), 0);
	free(data);
	free(m.answer.reply);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(framed_messages_come_out_in_order),
		cmocka_unit_test(frame_of_wrong_length_is_refused),
		cmocka_unit_test(message_that_fits_no_frame_is_refused),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
