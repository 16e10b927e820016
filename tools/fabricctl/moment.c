// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "moment.h"
#include "lib/util/times.h"
#include "lib/util/units.h"

#define AGO_MAX (100ull * 365 * 24 * 3600 * SEC)

static int ago_parse(const char *text, time_t now, int64_t *out)
{
	uint64_t ns;

	if (time_parse(text, 0, AGO_MAX, &ns))
		return -EINVAL;
	*out = (int64_t)now * 1000 - (int64_t)(ns / MS);
	return 0;
}

/* Return: @day moved by @days, in ms; mktime() corrects days outside of the month. */
static int64_t ms_of(const struct tm *day, int days)
{
	struct tm tm = *day;

	tm.tm_mday += days;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm) * 1000;
}

/* Parses "03:00" or "03:00:30". Return: false if it is no time of day */
static bool clock_parse(const char *text, struct tm *tm)
{
	const char *end;

	tm->tm_sec = 0;
	if (strspn(text, "0123456789:") != strlen(text))
		return false;
	end = strptime(text, strlen(text) > 5 ? "%H:%M:%S" : "%H:%M", tm);
	return end && !*end && tm->tm_sec < 60;
}

/*
 * Return: the moment of a time of day without a date: the last such moment before @now, or the
 * first after @after.
 */
static int64_t find_day(const struct tm *tm, time_t now, int64_t after)
{
	int day = -1;

	if (after == INT64_MIN)
		return ms_of(tm, ms_of(tm, 0) <= (int64_t)now * 1000 ? 0 : -1);
	while (day > -36500 && ms_of(tm, day) > after)
		day--;
	while (ms_of(tm, day) <= after)
		day++;
	return ms_of(tm, day);
}

static bool date_parse(const char *text, struct tm *tm)
{
	struct tm same;
	const char *end = strptime(text, "%Y-%m-%d", tm);

	tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
	if (!end || end - text != 10)
		return false;
	same = *tm;
	same.tm_isdst = -1;
	mktime(&same);
	if (same.tm_mday != tm->tm_mday)	/* this month has no such day */
		return false;
	if (*end == ' ' || *end == 'T')
		return clock_parse(end + 1, tm);
	return !*end;
}

int moment_parse(const char *text, time_t now, int64_t after, int64_t *out)
{
	struct tm tm;

	localtime_r(&now, &tm);
	if (*text == '-')
		return ago_parse(text + 1, now, out);
	if (!strcmp(text, "now")) {
		*out = (int64_t)now * 1000;
	} else if (!strcmp(text, "today") || !strcmp(text, "yesterday")) {
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		*out = ms_of(&tm, *text == 't' ? 0 : -1);
	} else if (clock_parse(text, &tm)) {
		*out = find_day(&tm, now, after);
	} else {
		localtime_r(&now, &tm);
		if (!date_parse(text, &tm))
			return -EINVAL;
		*out = ms_of(&tm, 0);
	}
	return *out < 0 ? -EINVAL : 0;
}

char *moment_text(double seconds, char *buf)
{
	int64_t ms = isfinite(seconds) && fabs(seconds) < 1e12 ? (int64_t)(seconds * 1e3 + 0.5) : 0;
	time_t s = (time_t)(ms / 1000);
	char text[24];
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(text, sizeof(text), "%F %T", &tm);
	snprintf(buf, 32, "%s.%03d", text, (int)(ms % 1000));
	return buf;
}
