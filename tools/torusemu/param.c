// SPDX-License-Identifier: GPL-2.0-only
#include "param.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <torus_uapi.h>
#include "lib/util/units.h"

#define BYTES_U32 4
#define BYTES_U64 8

const struct param params[PARAMS_MAX + 1] = {
#define X(id, name, kind, unit, min, max) \
	{ #name, IFLA_TORUS_##id, BYTES_##kind, PARAM_##unit, min, max },
	TORUS_PARAM_LIST(X)
#undef X
	{ 0 },
};

static int parse_value(const char *text, enum param_unit unit, uint64_t *out)
{
	switch (unit) {
	case PARAM_TIME:
		return time_parse(text, 0, UINT64_MAX, out);
	case PARAM_SIZE:
		return size_parse(text, out);
	case PARAM_RATE:
		return rate_parse(text, out);
	default:
		return number_parse(text, 0, UINT64_MAX, out);
	}
}

const char *param_allowed(const struct param *p)
{
	if (p->unit == PARAM_TIME)
		return "a number with ns, us, ms, s or min";
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
	int err;

	if (!p) {
		say_names(text, why, size);
		return NULL;
	}
	err = parse_value(eq + 1, p->unit, v);
	if (err == -EINVAL) {
		snprintf(why, size, "--set %s: '%s' is not %s", p->name, eq + 1,
			 param_allowed(p));
		return NULL;
	}
	if (err || *v < p->min || *v > p->max) {
		snprintf(why, size, "--set %s: '%s' is out of range, allowed %" PRIu64 " to %" PRIu64
			 "%s", p->name, eq + 1, p->min, p->max, p->unit == PARAM_TIME ? " ns" :
			 p->unit == PARAM_RATE ? " e-18" : "");
		return NULL;
	}
	return p;
}
