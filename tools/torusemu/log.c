// SPDX-License-Identifier: GPL-2.0-only
#include "log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int level_max = LOG_INFO;
static bool journal;

void log_init(int level)
{
	level_max = level;
	journal = getenv("JOURNAL_STREAM") != NULL;
}

int log_level(const char *text)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = {
		{ "error", LOG_ERR },
		{ "warning", LOG_WARNING },
		{ "info", LOG_INFO },
		{ "debug", LOG_DEBUG },
	};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (!strcmp(text, levels[i].name))
			return levels[i].level;
	return -1;
}

void log_print(int level, const char *who, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (level > level_max)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (journal)
		fprintf(stderr, "<%d>%s: %s\n", level, who, text);
	else
		fprintf(stderr, "torusemu %s: %s\n", who, text);
}
