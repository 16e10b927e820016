// SPDX-License-Identifier: GPL-2.0-only
#include "param.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/torus.h>
#include "lib/util/units.h"

#define DSCP_MAX 63u

static int protocol_parse(const char *text, uint64_t *out)
{
	enum torus_retry protocol;
	int err = torus_retry_parse(text, &protocol);

	if (!err)
		*out = protocol;
	return err;
}

static const char *const policies[TORUS_BUBBLES] = {
	[TORUS_BUBBLE_BLOC] = "bloc",
	[TORUS_BUBBLE_CBS] = "cbs",
	[TORUS_BUBBLE_MBS] = "mbs",
};

static int parse_policy(const char *text, uint64_t *out)
{
	for (unsigned int i = 0; i < TORUS_BUBBLES; i++) {
		if (strcmp(text, policies[i]))
			continue;
		*out = i;
		return 0;
	}
	return -EINVAL;
}

/* Parses the DSCP that @text begins with. Return: the text after it; NULL if there is none. */
static const char *parse_dscp(const char *text, unsigned int *out)
{
	unsigned long v;
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	v = strtoul(text, &end, 10);
	*out = (unsigned int)v;
	return v <= DSCP_MAX ? end : NULL;
}

/* Parses "8" or "10-12" into bits of @mask. Return: the text after it; NULL if it is wrong. */
static const char *parse_dscp_range(const char *text, uint64_t *mask)
{
	unsigned int first, last;
	const char *end = parse_dscp(text, &first);

	last = first;
	if (end && *end == '-')
		end = parse_dscp(end + 1, &last);
	if (!end || last < first)
		return NULL;
	*mask |= UINT64_MAX >> (DSCP_MAX - (last - first)) << first;
	return end;
}

/* Parses "none", or a list such as "8,10-12", into a mask with a bit for each DSCP. */
static int parse_dscps(const char *text, uint64_t *out)
{
	uint64_t mask = 0;

	if (strcmp(text, "none")) {
		text = parse_dscp_range(text, &mask);
		while (text && *text == ',')
			text = parse_dscp_range(text + 1, &mask);
		if (!text || *text)
			return -EINVAL;
	}
	*out = mask;
	return 0;
}

static int parse_value(const char *text, enum tn_unit unit, uint64_t *out)
{
	switch (unit) {
	case TN_TIME:
		return time_parse(text, 0, UINT64_MAX, out);
	case TN_SIZE:
		return size_parse(text, out);
	case TN_RATE:
		return rate_parse(text, out);
	case TN_PROTOCOL:
		return protocol_parse(text, out);
	case TN_POLICY:
		return parse_policy(text, out);
	case TN_DSCPS:
		return parse_dscps(text, out);
	default:
		return number_parse(text, 0, UINT64_MAX, out);
	}
}

const char *param_allowed(const struct tn_param *p)
{
	if (p->unit == TN_TIME)
		return "a number with ns, us, ms, s or min";
	if (p->unit == TN_RATE)
		return "an error rate such as 1e-12";
	if (p->unit == TN_PROTOCOL)
		return "angara, acknak, hippi or auto";
	if (p->unit == TN_POLICY)
		return "bloc, cbs or mbs";
	if (p->unit == TN_DSCPS)
		return "none, or DSCPs from 0 to 63 such as 8,10-12";
	return p->unit == TN_SIZE ? "a number, or one with K, M or G" : "a number";
}

const char *param_range(const struct tn_param *p, char *buf)
{
	if (p->unit == TN_PROTOCOL || p->unit == TN_POLICY || p->unit == TN_DSCPS)
		return strcpy(buf, "");
	snprintf(buf, PARAM_RANGE_MAX, ", %" PRIu64 " to %" PRIu64 "%s", (uint64_t)p->min,
		 (uint64_t)p->max, p->unit == TN_TIME ? " ns" : p->unit == TN_RATE ? " e-18" : "");
	return buf;
}

/* Writes the DSCPs of @mask as param_parse() reads them. */
static void write_dscps(uint64_t mask, char *buf)
{
	char *at = buf;

	for (unsigned int i = 0, first; i <= DSCP_MAX; i++) {
		if (!(mask >> i & 1))
			continue;
		for (first = i; i < DSCP_MAX && mask >> (i + 1) & 1; i++)
			;
		at += sprintf(at, i > first ? "%s%u-%u" : "%s%u", at == buf ? "" : ",", first, i);
	}
	if (!mask)
		strcpy(buf, "none");
}

const char *param_text(const struct tn_param *p, uint64_t v, char *buf)
{
	if (p->unit == TN_DSCPS)
		write_dscps(v, buf);
	else
		snprintf(buf, PARAM_TEXT_MAX, "%" PRIu64 "%s", v,
			 p->unit == TN_TIME ? " ns" : p->unit == TN_RATE ? " e-18" : "");
	return buf;
}

const struct tn_param *param_find(const char *name, size_t len)
{
	for (const struct tn_param *p = tn_param_list; p < tn_param_list + TN_PARAMS; p++)
		if (strlen(p->name) == len && !strncmp(p->name, name, len))
			return p;
	return NULL;
}

static void list_names(const char *text, char *why, size_t size)
{
	int n = snprintf(why, size, "--set '%s': must be PARAM=VALUE with PARAM one of", text);

	for (unsigned int i = 0; i < TN_PARAMS && n > 0 && (size_t)n < size; i++)
		n += snprintf(why + n, size - (size_t)n, " %s", tn_param_list[i].name);
}

const struct tn_param *param_parse(const char *text, uint64_t *v, char *why, size_t size)
{
	const char *eq = strchr(text, '=');
	const struct tn_param *p = eq ? param_find(text, (size_t)(eq - text)) : NULL;
	char range[PARAM_RANGE_MAX];
	int err;

	if (!p) {
		list_names(text, why, size);
		return NULL;
	}
	err = parse_value(eq + 1, p->unit, v);
	if (err == -EINVAL) {
		snprintf(why, size, "--set %s: '%s' is not %s", p->name, eq + 1,
			 param_allowed(p));
		return NULL;
	}
	if (err || *v < p->min || *v > p->max) {
		snprintf(why, size, "--set %s: '%s' is out of range, must be%s", p->name, eq + 1,
			 param_range(p, range) + 1);
		return NULL;
	}
	return p;
}

const char *params_refused(const struct tn_params *all, const struct tn_params_why *at, char *why,
			   size_t size)
{
	uint64_t is = tn_param_get(all, at->param), min = at->min;

	if (!at->than)
		snprintf(why, size, "%s: %" PRIu64 " is out of range, "
			 "must be %" PRIu64 " to %" PRIu64 " with bubble=%s", at->param->name,
			 is, min, (uint64_t)at->max, policies[all->bubble]);
	else if (!at->more)
		snprintf(why, size, "%s: must not be less than %s (%" PRIu64 ")", at->param->name,
			 at->than->name, min);
	else if (at->more == 1)
		snprintf(why, size, "%s: must be longer than %s (%" PRIu64 " ns)", at->param->name,
			 at->than->name, min - 1);
	else
		snprintf(why, size,
			 "%s: must be %" PRIu64 " at least, for packets with %s of %" PRIu64,
			 at->param->name, min, at->than->name, min - at->more);
	return why;
}

const struct tn_param *params_compare(const char *const *sets, char *why, size_t size)
{
	bool given[TN_PARAMS] = { false };
	struct tn_params_why at;
	struct tn_params all;
	uint64_t v;

	tn_params_default(&all);
	for (; *sets; sets++) {
		const struct tn_param *p = param_parse(*sets, &v, why, size);

		if (!p)
			continue;
		tn_param_set(&all, p, v);
		given[p - tn_param_list] = true;
	}
	while (tn_params_check(&all, &at)) {
		bool *param = &given[at.param - tn_param_list];
		bool *than = at.than ? &given[at.than - tn_param_list] : NULL;

		if (!than || (*param && *than)) {
			params_refused(&all, &at, why, size);
			return at.param;
		}
		/*
		 * Defaults differ between NICs, so assume for this parameter the value that
		 * contradicts least.
		 */
		if (!*param)
			tn_param_set(&all, at.param, at.param->max);
		else
			tn_param_set(&all, at.than, at.than->min);
		*param = *than = true;
	}
	return NULL;
}
