// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "logline.h"

#define LINE_MAX_BYTES 20000	/* a body of 16 KiB, and what stands beside it */

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
