// SPDX-License-Identifier: GPL-2.0-only
/* Lists of texts that are packed as differences: they come out unchanged; bad data are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/texts.h"
#include "tests/unit/random.h"

/* Compares each text of a list before and after the codec. */
static size_t same(const char (*text)[TEXTS_MAX], size_t n)
{
	struct texts_out out = { 0 };
	struct texts_in in = { 0 };
	char got[TEXTS_MAX];

	for (size_t i = 0; i < n; i++)
		texts_put(&out, text[i]);
	assert_false(out.failed);
	in.at = out.data;
	in.end = out.data + out.n;
	for (size_t i = 0; i < n; i++) {
		assert_false(texts_end(&in));
		assert_true(texts_get(&in, got, sizeof(got)));
		assert_string_equal(got, text[i]);
	}
	assert_true(texts_end(&in));
	assert_false(texts_get(&in, got, sizeof(got)));
	free(out.data);
	return out.n;
}

#define TEXTS 3000

/* Lists of numbers that count up, wrap and grow; and of texts of few letters that nearly do. */
static void packed_texts_are_read_as_written(void **state)
{
	static char text[TEXTS][TEXTS_MAX];
	static const char letters[] = "019a.";
	uint64_t seed = random_seed(1);

	(void)state;
	for (unsigned int i = 0; i < TEXTS; i++)
		snprintf(text[i], TEXTS_MAX, "node%03u", i);
	assert_true(same((void *)text, TEXTS) < 50);
	for (unsigned int i = 0; i < TEXTS; i++)
		snprintf(text[i], TEXTS_MAX, "10.%u.%u:4711", i / 50, i % 50);
	assert_true(same((void *)text, TEXTS) < TEXTS);
	for (unsigned int round = 0; round < 30; round++) {
		for (unsigned int i = 0; i < TEXTS; i++) {
			size_t len = random_next(&seed) % (round < 20 ? 5 : TEXTS_MAX);

			for (size_t k = 0; k < len; k++)
				text[i][k] = letters[random_next(&seed) % (sizeof(letters) - 1)];
			text[i][len] = '\0';
		}
		same((void *)text, TEXTS);
	}
	/* No room for the digit that counting up would need. */
	memset(text[0], '9', TEXTS_MAX - 1);
	text[0][TEXTS_MAX - 1] = '\0';
	memcpy(text[1], text[0], TEXTS_MAX);
	same((void *)text, 2);
}

static void malformed_texts_are_refused(void **state)
{
	static const struct {
		uint8_t data[8];
		size_t n;
	} bad[] = {
		{ { 0, 0 }, 2 },			/* the data are cut off */
		{ { 0, 0, 2, 'a', 'b' }, 4 },		/* the data end one byte too soon */
		{ { 1, 0, 1, 'a' }, 4 },		/* more than the text before has */
		{ { 0, 1, 1, 'a' }, 4 },
		{ { 255, 1 }, 2 },			/* counts up a text without number */
		{ { 255, 0, 0, 0, 1, 'a' }, 6 },
		{ { 0, 0, 1, 27 }, 4 },			/* the text has an unprintable character */
		{ { 0, 0, 1, 0 }, 4 },
		{ { 0, 0, 1, 127 }, 4 },
	};
	static const uint8_t fits[] = { 0, 0, 3, 'a', 'b', 'c' }, counts[] = { 0, 0, 1, '1', 255, 1 };
	struct texts_in half = { .at = counts, .end = counts + 5 };
	char got[TEXTS_MAX];

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct texts_in in = { .at = bad[i].data, .end = bad[i].data + bad[i].n };

		assert_false(texts_get(&in, got, sizeof(got)));
	}
	for (size_t room = 3; room < 5; room++) {
		struct texts_in in = { .at = fits, .end = fits + sizeof(fits) };

		assert_int_equal(texts_get(&in, got, room), room == 4);
	}
	assert_true(texts_get(&half, got, sizeof(got)));
	assert_false(texts_get(&half, got, sizeof(got)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_texts_are_read_as_written),
		cmocka_unit_test(malformed_texts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
