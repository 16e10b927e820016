// SPDX-License-Identifier: GPL-2.0-only
#include "param.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus_uapi.h>

#define BYTES_U32 4
#define BYTES_U64 8

const struct param params[PARAMS_MAX + 1] = {
#define X(id, name, kind, unit, min, max) \
	{ #name, IFLA_TORUS_##id, BYTES_##kind, PARAM_##unit, min, max },
	TORUS_PARAM_LIST(X)
#undef X
	{ 0 },
};

/* 1e-12 and the like, not hexadecimal; what is no rate is out of range. */
static bool rate(const char *text, uint64_t *out)
{
	char *end;
	double v = strtod(text, &end);

	if (*text < '0' || *text > '9' || *end || end == text || strpbrk(text, "xX"))
		return false;
	*out = v <= 1 ? (uint64_t)(v * 1e18 + 0.5) : UINT64_MAX;
	return true;
}

/* Digits, then one of the unit's suffixes. */
static bool number(const char *text, enum param_unit unit, uint64_t *out)
{
	static const struct {
		enum param_unit unit;
		const char *suffix;
		uint64_t factor;
	} suffixes[] = {
		{ PARAM_TIME, "ns", 1 }, { PARAM_TIME, "us", 1000 },
		{ PARAM_TIME, "ms", 1000000 }, { PARAM_TIME, "s", 1000000000 },
		{ PARAM_SIZE, "", 1 }, { PARAM_SIZE, "k", 1 << 10 }, { PARAM_SIZE, "K", 1 << 10 },
		{ PARAM_SIZE, "M", 1 << 20 }, { PARAM_SIZE, "G", 1 << 30 },
		{ PARAM_COUNT, "", 1 },
	};
	char *end;
	uint64_t v;

	if (unit == PARAM_RATE)
		return rate(text, out);
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno)
		return false;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (suffixes[i].unit == unit && !strcmp(end, suffixes[i].suffix))
			return !__builtin_mul_overflow(v, suffixes[i].factor, out);
	return false;
}

const char *param_allowed(const struct param *p)
{
	if (p->unit == PARAM_TIME)
		return "a number with ns, us, ms or s";
	if (p->unit == PARAM_RATE)
		return "an error rate such as 1e-12";
	return p->unit == PARAM_SIZE ? "a number, or one with K, M or G" : "a number";
}

const struct param *param_find(const char *name, size_t len)
{
	for (const struct param *p = params; p->name; p++)
		if (strlen(p->name) == len && !strncmp(p->name, name, len))
			return p;
	return NULL;
}

static void say_names(const char *text, char *why, size_t size)
{
	int n = snprintf(why, size, "--set '%s': allowed PARAM=VALUE with PARAM one of", text);

	for (const struct param *p = params; p->name && n > 0 && (size_t)n < size; p++)
		n += snprintf(why + n, size - (size_t)n, " %s", p->name);
}

const struct param *param_parse(const char *text, uint64_t *v, char *why, size_t size)
{
	const char *eq = strchr(text, '=');
	const struct param *p = eq ? param_find(text, (size_t)(eq - text)) : NULL;

	if (!p) {
		say_names(text, why, size);
		return NULL;
	}
	if (!number(eq + 1, p->unit, v)) {
		snprintf(why, size, "--set %s: '%s' is not %s", p->name, eq + 1,
			 param_allowed(p));
		return NULL;
	}
	if (*v < p->min || *v > p->max) {
		snprintf(why, size, "--set %s: '%s' is out of range, allowed %" PRIu64 " to %" PRIu64
			 "%s", p->name, eq + 1, p->min, p->max, p->unit == PARAM_TIME ? " ns" :
			 p->unit == PARAM_RATE ? " e-18" : "");
		return NULL;
	}
	return p;
}
