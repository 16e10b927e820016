// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "number.h"

#define TEXT_MAX 32

int number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno == ERANGE || v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

/* strtod() takes "nan", "inf" and hexadecimal too; people who type these err. */
static int real_parse(const char *text, double *out, const char **end)
{
	char *stop;

	if (strspn(text, "0123456789.") == 0 || (text[0] == '0' && (text[1] | 32) == 'x'))
		return -EINVAL;
	errno = 0;
	*out = strtod(text, &stop);
	if (stop == text)
		return -EINVAL;
	if (errno == ERANGE || !isfinite(*out))
		return -ERANGE;
	*end = stop;
	return 0;
}

int seconds_parse(const char *text, double *out)
{
	const char *end;
	double v;
	int err = real_parse(text, &v, &end);

	if (err)
		return err;
	if (*end)
		return -EINVAL;
	if (v < 0.01 || v > 86400)
		return -ERANGE;
	*out = v;
	return 0;
}

int rate_parse(const char *text, uint64_t *out)
{
	const char *end;
	double v;
	int err = real_parse(text, &v, &end);

	if (err)
		return err;
	if (*end)
		return -EINVAL;
	if (v > 1 || (v > 0 && v < 1e-18))
		return -ERANGE;
	*out = (uint64_t)llround(v * 1e18);
	return 0;
}

int time_parse(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	const char *end;
	double v;
	int err = real_parse(text, &v, &end);

	if (err)
		return err;
	if (!*end && v == 0) {
		*ns = 0;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		if (v * units[i].ns > 10e9)
			return -ERANGE;
		*ns = (uint64_t)llround(v * units[i].ns);
		return 0;
	}
	return -EINVAL;
}

int size_parse(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMG";
	size_t len = strlen(text);
	const char *unit = len ? strchr(units, text[len - 1]) : NULL;
	unsigned int shift = unit ? 10 * (unsigned int)(unit - units + 1) : 0;
	char digits[24];
	int err;

	if (len >= sizeof(digits))
		return -EINVAL;
	snprintf(digits, sizeof(digits), "%.*s", (int)len - !!unit, text);
	err = number_parse(digits, 0, UINT64_MAX >> shift, bytes);
	if (!err)
		*bytes <<= shift;
	return err;
}

int hex_parse(const char *text, uint64_t *out)
{
	size_t len = strlen(text);

	if (len < 1 || len > 16 || strspn(text, "0123456789abcdefABCDEF") != len)
		return -EINVAL;
	*out = strtoull(text, NULL, 16);
	return *out ? 0 : -EINVAL;
}

double age(double since)
{
	struct timespec t;
	double now;

	clock_gettime(CLOCK_REALTIME, &t);
	now = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	return now > since ? now - since : 0;
}

static char *scaled(double v, double step, const char *const *units, char *buf)
{
	int i = 0;

	while (v >= step && units[i + 1]) {
		v /= step;
		i++;
	}
	if (i == 0)
		snprintf(buf, TEXT_MAX, "%.0f%s", v, units[i]);
	else
		snprintf(buf, TEXT_MAX, "%.*f%s", v < 10 ? 1 : 0, v, units[i]);
	return buf;
}

char *bytes_text(uint64_t bytes, char *buf)
{
	static const char *const units[] = { " B", " KiB", " MiB", " GiB", " TiB", NULL };

	return scaled((double)bytes, 1024, units, buf);
}

char *count_text(uint64_t n, char *buf)
{
	static const char *const units[] = { "", " k", " M", " G", " T", NULL };

	return scaled((double)n, 1000, units, buf);
}

char *duration_text(double seconds, char *buf)
{
	unsigned long s = (unsigned long)seconds;

	if (seconds < 1)
		snprintf(buf, TEXT_MAX, "%.0f ms", seconds * 1e3);
	else if (seconds < 60)
		snprintf(buf, TEXT_MAX, "%.1f s", seconds);
	else if (s < 3600)
		snprintf(buf, TEXT_MAX, "%lu min %02lu s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, TEXT_MAX, "%lu h %02lu min", s / 3600, s / 60 % 60);
	else
		snprintf(buf, TEXT_MAX, "%lu d %02lu h", s / 86400, s / 3600 % 24);
	return buf;
}
