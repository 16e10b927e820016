/* SPDX-License-Identifier: GPL-2.0-only */
/* Parser of moments: a time of day, a date, or how long ago. */
#ifndef MOMENT_H
#define MOMENT_H

#include <stdint.h>
#include <time.h>

/**
 * moment_parse() - convert @text, in the local time zone, to ms since 1970
 * @now: the present time
 * @after: if @text is only a time of day: the result is the first such time after this one, in ms
 *	since 1970; INT64_MIN: it is the last such time before @now
 * A date alone means its midnight. Return: 0, or -EINVAL: MOMENT_ALLOWED.
 */
int moment_parse(const char *text, time_t now, int64_t after, int64_t *out);

#define MOMENT_FORMS "a time of day (03:00 or 03:00:30), a date (2026-11-26), both " \
	"('2026-11-26 03:00'), today, yesterday, now, or how long ago "
#define MOMENT_ALLOWED MOMENT_FORMS "(-30min, -2h, -7d)"
#define MOMENT_ALLOWED_ARGUMENT MOMENT_FORMS "(30min, 2h, 7d)"

/** moment_text() - write a date and a time of day with ms. Return: @buf, of 32 bytes */
char *moment_text(double seconds, char *buf);

#endif /* MOMENT_H */
