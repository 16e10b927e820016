// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "units.h"
#include "lib/util/times.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Parses the digits that @text begins with. Returns -EINVAL if there are none, -ERANGE if the
 * number exceeds 64 bits.
 */
static int parse_digits(const char *text, const char **end, uint64_t *out)
{
	char *stop;

	if (!is_digit(*text))
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, &stop, 10);
	*end = stop;
	return errno ? -ERANGE : 0;
}

int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *end = text;
	uint64_t v = 0;
	int err = parse_digits(text, &end, &v);

	if (err == -EINVAL || *end)
		return -EINVAL;
	if (err || v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

/*
 * Parses a fraction such as ".25". Return: this fraction of @unit; sets @end to the text after the
 * digits.
 */
static uint64_t parse_fraction(const char *text, uint64_t unit, const char **end)
{
	uint64_t sum = 0;

	while (is_digit(*++text)) {
		sum += unit * (uint64_t)(*text - '0') / 10;
		unit /= 10;
	}
	*end = text;
	return sum;
}

/* Return: nanoseconds of a unit of time; 0 if there is no such unit. */
static uint64_t time_unit(const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", US }, { "ms", MS }, { "s", SEC },
		{ "min", 60 * SEC }, { "m", 60 * SEC }, { "h", 3600 * SEC },
		{ "d", 86400 * SEC },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(text, units[i].name))
			return units[i].ns;
	return 0;
}

int time_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ns)
{
	const char *end = text, *point;
	uint64_t whole = 0, part = 0, unit;
	int err = parse_digits(text, &end, &whole);

	if (err == -EINVAL)
		return err;
	point = end;
	if (*point == '.')
		parse_fraction(point, 0, &end);
	while (*end == ' ')
		end++;
	unit = !*end && !err && !whole && *point != '.' ? 1 : time_unit(end);
	if (!unit)
		return -EINVAL;
	if (*point == '.')
		part = parse_fraction(point, unit, &end);
	if (err || __builtin_mul_overflow(whole, unit, &whole) ||
	    __builtin_add_overflow(whole, part, &whole) || whole < min || whole > max)
		return -ERANGE;
	*ns = whole;
	return 0;
}

int size_parse(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMG";
	const char *end = text, *unit;
	uint64_t v = 0;
	int err = parse_digits(text, &end, &v);
	unsigned int shift = 0;

	if (err == -EINVAL)
		return err;
	if (*end) {
		unit = strchr(units, *end == 'k' ? 'K' : *end);
		if (!unit || end[1])
			return -EINVAL;
		shift = 10 * (unsigned int)(unit - units + 1);
	}
	if (err || v > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = v << shift;
	return 0;
}

int rate_parse(const char *text, uint64_t *out)
{
	char *end;
	double v;

	/* strtod() also takes "nan", "inf" and hexadecimal numbers, which are errors here. */
	if (!strspn(text, "0123456789.") || (text[0] == '0' && (text[1] | 32) == 'x'))
		return -EINVAL;
	errno = 0;
	v = strtod(text, &end);
	if (end == text || *end)
		return -EINVAL;
	if (errno == ERANGE || v > 1 || (v > 0 && v < 1e-18))
		return -ERANGE;
	*out = (uint64_t)(v * 1e18 + 0.5);
	return 0;
}
