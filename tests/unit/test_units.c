// SPDX-License-Identifier: GPL-2.0-only
/* Numbers, times, sizes and error rates as people type them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "lib/util/units.h"

#define UNTOUCHED 4711

static void number_is_read_or_refused(void **state)
{
	static const struct {
		const char *text;
		uint64_t max;
		int err;
		uint64_t v;
	} t[] = {
		{ "0", 9, 0, 0 }, { "9", 9, 0, 9 }, { "10", 9, -ERANGE, UNTOUCHED },
		{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, -ERANGE, UNTOUCHED },
		{ "18446744073709551616x", UINT64_MAX, -EINVAL, UNTOUCHED },
		{ "", 9, -EINVAL, UNTOUCHED }, { "-1", 9, -EINVAL, UNTOUCHED },
		{ " 1", 9, -EINVAL, UNTOUCHED }, { "1 ", 9, -EINVAL, UNTOUCHED },
		{ "+1", 9, -EINVAL, UNTOUCHED }, { "0x1", 9, -EINVAL, UNTOUCHED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t v = UNTOUCHED;

		assert_int_equal(number_parse(t[i].text, 0, t[i].max, &v), t[i].err);
		assert_int_equal(v, t[i].v);
	}
}

static void time_is_read_or_refused(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t ns;
	} t[] = {
		{ "5ns", 0, 5 }, { "5us", 0, 5000 }, { "5ms", 0, 5000000 }, { "5 ms", 0, 5000000 },
		{ "5s", 0, 5000000000 }, { "5min", 0, 300000000000 }, { "0", 0, 0 }, { "00", 0, 0 },
		{ "1.5us", 0, 1500 }, { "0.25 s", 0, 250000000 }, { "1.23456789123s", 0, 1234567891 },
		{ "0.9ns", 0, 0 }, { "1.s", 0, 1000000000 }, { "0.5min", 0, 30000000000 },
		{ "60min", 0, 3600000000000 }, { "5m", 0, 300000000000 }, { "60.0000000001min", -ERANGE, UNTOUCHED },
		{ "3600.000000001s", -ERANGE, UNTOUCHED },
		{ "18446744073709551615ns", -ERANGE, UNTOUCHED },
		{ "18446744073709551616ns", -ERANGE, UNTOUCHED },
		{ "18446744073709551615min", -ERANGE, UNTOUCHED },
		{ "5", -EINVAL, UNTOUCHED }, { "0.0", -EINVAL, UNTOUCHED }, { "", -EINVAL, UNTOUCHED },
		{ "ms", -EINVAL, UNTOUCHED }, { "-1s", -EINVAL, UNTOUCHED }, { " 1s", -EINVAL, UNTOUCHED },
		{ "1s ", -EINVAL, UNTOUCHED }, { "1..2s", -EINVAL, UNTOUCHED }, { ".5s", -EINVAL, UNTOUCHED },
		{ "1e3s", -EINVAL, UNTOUCHED }, { "1w", -EINVAL, UNTOUCHED }, { "5 ", -EINVAL, UNTOUCHED },
		{ "0.5h", 0, 1800000000000 }, { "1h", 0, 3600000000000 }, { "1d", -ERANGE, UNTOUCHED },
		{ "18446744073709551616", -EINVAL, UNTOUCHED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t ns = UNTOUCHED;
		int err = time_parse(t[i].text, 0, 3600000000000, &ns);

		if (err != t[i].err || ns != t[i].ns)
			fail_msg("'%s': %d and %llu", t[i].text, err, (unsigned long long)ns);
	}
	assert_int_equal(time_parse("9ns", 10, 20, &(uint64_t){ 0 }), -ERANGE);
	assert_int_equal(time_parse("10ns", 10, 20, &(uint64_t){ 0 }), 0);
	assert_int_equal(time_parse("20ns", 10, 20, &(uint64_t){ 0 }), 0);
	assert_int_equal(time_parse("21ns", 10, 20, &(uint64_t){ 0 }), -ERANGE);
	assert_int_equal(time_parse("0", 10, 20, &(uint64_t){ 0 }), -ERANGE);
	assert_int_equal(time_parse("1d", 86400000000000, 86400000000000, &(uint64_t){ 0 }), 0);
}

static void size_is_read_or_refused(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t v;
	} t[] = {
		{ "0", 0, 0 }, { "1k", 0, 1024 }, { "1K", 0, 1024 }, { "16M", 0, 16 << 20 },
		{ "2G", 0, 2ull << 30 }, { "18446744073709551615", 0, UINT64_MAX },
		{ "18014398509481983K", 0, UINT64_MAX - 1023 },
		{ "18014398509481984K", -ERANGE, UNTOUCHED },
		{ "18446744073709551616", -ERANGE, UNTOUCHED },
		{ "M", -EINVAL, UNTOUCHED }, { "", -EINVAL, UNTOUCHED }, { "1m", -EINVAL, UNTOUCHED },
		{ "1MB", -EINVAL, UNTOUCHED }, { "1.5M", -EINVAL, UNTOUCHED }, { "-1", -EINVAL, UNTOUCHED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t v = UNTOUCHED;

		assert_int_equal(size_parse(t[i].text, &v), t[i].err);
		assert_int_equal(v, t[i].v);
	}
}

static void rate_is_read_or_refused(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t v;
	} t[] = {
		{ "1e-6", 0, 1000000000000 }, { "0", 0, 0 }, { "1", 0, 1000000000000000000 },
		{ "1e-18", 0, 1 }, { ".5", 0, 500000000000000000 },
		{ "1.1", -ERANGE, UNTOUCHED }, { "1e-19", -ERANGE, UNTOUCHED },
		{ "1e999", -ERANGE, UNTOUCHED }, { "-1", -EINVAL, UNTOUCHED },
		{ "nan", -EINVAL, UNTOUCHED }, { "inf", -EINVAL, UNTOUCHED },
		{ "0x1p-3", -EINVAL, UNTOUCHED }, { "", -EINVAL, UNTOUCHED }, { ".", -EINVAL, UNTOUCHED },
		{ "1e-6x", -EINVAL, UNTOUCHED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint64_t v = UNTOUCHED;

		assert_int_equal(rate_parse(t[i].text, &v), t[i].err);
		assert_int_equal(v, t[i].v);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(number_is_read_or_refused),
		cmocka_unit_test(time_is_read_or_refused),
		cmocka_unit_test(size_is_read_or_refused),
		cmocka_unit_test(rate_is_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
