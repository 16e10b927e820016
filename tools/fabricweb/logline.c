// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "logline.h"
#include "request.h"

/*
 * A body, and what stands beside it. A character of two bytes is six in JSON of ASCII, and a number
 * can grow more: so what must not be lost stands before a body.
 */
#define LINE_MAX_BYTES (3 * WEB_BODY_MAX + 2048)

void log_line(const char *fmt, ...)
{
	static char line[LINE_MAX_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c >= 0x7f)
			*c = '?';
	fprintf(stderr, "fabricweb: %s\n", line);
}
