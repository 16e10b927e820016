// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/clock.h"
#include "number.h"

#define TEXT_MAX 32

int seconds_parse(const char *text, double *out)
{
	char *end;
	double v;

	/* strtod() also accepts "nan", "inf" and hexadecimal numbers, which are refused here. */
	if (strspn(text, "0123456789.") == 0 || (text[0] == '0' && (text[1] | 32) == 'x'))
		return -EINVAL;
	v = strtod(text, &end);
	if (end == text || *end)
		return -EINVAL;
	if (v < 0.01 || v > 86400)
		return -ERANGE;
	*out = v;
	return 0;
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
	double now = seconds_of(CLOCK_REALTIME);

	return now > since ? now - since : 0;
}

static double seconds_left(double until)
{
	double now = seconds_of(CLOCK_REALTIME);

	return until > now ? until - now : 0;
}

/* Writes whole seconds, because the times are not known more exactly. */
static char *whole_text(double seconds, char *buf)
{
	if (seconds < 60)
		snprintf(buf, TEXT_MAX, "%d s", (int)seconds);
	else
		duration_text(seconds, buf);
	return buf;
}

char *ago_text(double since, char *buf)
{
	double seconds = age(since);

	if (seconds < 1)
		return strcpy(buf, "just now");
	return strcat(whole_text(seconds, buf), " ago");
}

/* The result may be up to a second later than @until. */
char *left_text(double until, char *buf)
{
	return whole_text(seconds_left(until) + 0.5, buf);
}

static char *scaled_text(double v, double step, const char *const *units, char *buf)
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

	return scaled_text((double)bytes, 1024, units, buf);
}

char *count_text(uint64_t n, char *buf)
{
	static const char *const units[] = { "", " k", " M", " G", " T", NULL };

	return scaled_text((double)n, 1000, units, buf);
}

char *dims_text(unsigned int n, char *buf)
{
	static const char all[] = "x, y, z, a, b, c";

	snprintf(buf, TEXT_MAX, "%.*s", n ? (int)(3 * n - 2) : 0, all);
	return buf;
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
