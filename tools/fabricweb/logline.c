// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "logline.h"
#include "request.h"

/*
 * The longest line: a body, and the text around it. In ASCII JSON a character of two bytes becomes
 * six, and a number can become longer still, so the body, whose end may be cut off, comes last in a
 * line.
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
