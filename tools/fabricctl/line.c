// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <torus/uapi.h>
#include <uapi/torus_policy.h>

#include "command.h"
#include "line.h"
#include "output.h"

#define CELSIUS_MIN (-40)
#define CELSIUS_MAX 125

static const struct line_class line_classes[] = {
	{ "dac24", 1600, 8, "copper, twinax of 24 AWG" },
	{ "dac26", 2000, 10, "copper, twinax of 26 AWG" },
	{ "dac28", 2400, 10, "copper, twinax of 28 AWG" },
	{ "dac30", 2900, 12, "copper, twinax of 30 AWG" },
	{ "fr4", 20000, 20, "backplane of FR-4" },
	{ "megtron", 9000, 15, "backplane of low-loss laminate" },
	{ "optical", 1, 0, "active optical cable" },
	{ 0 },
};

const struct line_class *line_class(const char *name)
{
	for (const struct line_class *c = line_classes; c->name; c++)
		if (!strcmp(name, c->name))
			return c;
	fail("--class '%s': must be one of " LINE_CLASSES, name);
	return NULL;
}

/* Parses a lane or a range of lanes, and sets @text to the character after it. */
static bool parse_range(const char **text, uint64_t *mask)
{
	unsigned long first, last;
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	first = last = strtoul(*text, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		last = strtoul(end + 1, &end, 10);
	if (first > last || last >= TORUS_LANES_MAX)
		return false;
	*mask |= ((1ull << (last + 1)) - 1) & ~((1ull << first) - 1);
	*text = end;
	return true;
}

int line_lanes(const char *option, const char *text, uint64_t *mask)
{
	const char *at = text;

	*mask = !strcmp(text, "all") ? TORUS_LANES_MASK : 0;
	if (*mask || !strcmp(text, "none"))
		return OK;
	while (parse_range(&at, mask)) {
		if (!*at)
			return OK;
		if (*at++ != ',')
			break;
	}
	return fail("--%s '%s': must be lanes 0 to %d such as 0,2,5-7, 'all' or 'none'",
		    option, text, TORUS_LANES_MAX - 1);
}

int line_celsius(const char *option, const char *text, uint64_t *kelvin)
{
	char *end;
	long v = strtol(text, &end, 10);

	if (end == text || *end || v < CELSIUS_MIN || v > CELSIUS_MAX)
		return fail("--%s '%s': must be degrees Celsius, %d to %d", option, text,
			    CELSIUS_MIN, CELSIUS_MAX);
	*kelvin = (uint64_t)(v + TORUS_KELVIN);
	return OK;
}
