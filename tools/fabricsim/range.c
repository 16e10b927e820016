// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "range.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/output.h"

/* Parses a decimal number, which may have an exponent; sets @end to the text after it. */
static int real_parse(const char *text, const char **end, double *out)
{
	const char *digits = text + (*text == '-');
	char *stop;

	if (!isdigit((unsigned char)*digits) && *digits != '.')
		return -1;
	if (digits[0] == '0' && (digits[1] | 32) == 'x')
		return -1;
	*out = strtod(text, &stop);
	*end = stop;
	return stop == text || !isfinite(*out) ? -1 : 0;
}

static int fail_outside(const char *option, const char *text, double min, double max)
{
	return fail("--%s: '%s' is not allowed, a number must be %.10g to %.10g", option, text,
		    min, max);
}

int real_option(const char *option, const char *text, double min, double max, double *out)
{
	const char *end;

	if (real_parse(text, &end, out) || *end || *out < min || *out > max)
		return fail_outside(option, text, min, max);
	return OK;
}

static int fail_long(const char *option, const char *text)
{
	return fail("--%s: '%.60s' has more than the %d numbers that are allowed", option, text,
		    RANGE_MAX);
}

static int add_value(struct range *r, double v)
{
	double *more;

	more = realloc(r->v, (r->n + 1) * sizeof(*more));
	if (!more)
		return fail("out of memory");
	r->v = more;
	r->v[r->n++] = v;
	return OK;
}

/*
 * Adds the numbers of FROM:TO:STEP. Each number is computed from its index, so that rounding errors
 * do not add up: 0.1:1.0:0.1 ends at 1.
 */
static int add_steps(struct range *r, double from, double to, double step)
{
	double count = floor((to - from) / step + 1e-9);

	for (double i = 0; i <= count; i++) {
		double v = from + i * step;

		/*
		 * users type decimal numbers of few digits, so the value is rounded to such a
		 * number
		 */
		v = round(v * 1e12) / 1e12;
		if (add_value(r, v < to ? v : to))
			return CANNOT;
	}
	return OK;
}

int range_parse(const char *option, const char *text, double min, double max,
		struct range *r)
{
	const char *at = text;
	double v[3];
	int n = 0;

	*r = (struct range){ .n = 0 };
	while (n < 3 && !real_parse(at, &at, &v[n])) {
		if (v[n] < min || v[n] > max) {
			/* a step may be less than the smallest value allowed */
			if (n < 2 || v[n] <= 0 || v[n] > max)
				return fail_outside(option, text, min, max);
		}
		n++;
		if (*at != ':')
			break;
		at++;
	}
	if (n == 3 && !*at && v[0] <= v[1] && v[2] > 0) {
		if ((v[1] - v[0]) / v[2] + 1e-9 >= RANGE_MAX)
			return fail_long(option, text);
		return add_steps(r, v[0], v[1], v[2]);
	}
	for (at = text; n == 1; at++) {
		if (r->n == RANGE_MAX) {
			free(r->v);
			return fail_long(option, text);
		}
		if (real_parse(at, &at, &v[0]) || v[0] < min || v[0] > max || add_value(r, v[0]))
			break;
		if (!*at)
			return OK;
		if (*at != ',')
			break;
	}
	free(r->v);
	return fail("--%s: '%s' is not a range: must be a number, some with commas between, or "
		    "FROM:TO:STEP, each %g to %g", option, text, min, max);
}

int range_decades(const char *option, const char *text, double min, double max, size_t n,
		  struct range *r)
{
	const char *at = text;
	double from, to;

	*r = (struct range){ .n = 0 };
	if (real_parse(at, &at, &from) || from < min || from <= 0 || *at++ != ':' ||
	    real_parse(at, &at, &to) || *at || to > max || from > to)
		return fail("--%s: '%s' is not a range: must be FROM:TO, each %g to %g",
			    option, text, min, max);
	for (size_t i = 0; i < n; i++)
		if (add_value(r, n == 1 ? from :
					  from * pow(to / from, (double)i / (double)(n - 1)))) {
			free(r->v);
			return CANNOT;
		}
	return OK;
}

int word_option(const char *option, const char *text, size_t len, const char *const *words)
{
	char all[512] = "";

	for (int i = 0; words[i]; i++) {
		if (strlen(words[i]) == len && !strncmp(words[i], text, len))
			return i;
		if (strlen(all) + strlen(words[i]) + 3 < sizeof(all)) {
			strcat(all, i ? ", " : "");
			strcat(all, words[i]);
		}
	}
	fail("--%s: there is no '%.*s', known: %s", option, (int)len, text, all);
	return -1;
}
