// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "output.h"

static bool in_progress, hushed;
static char message[1024];

/*
 * Prints a message, which may quote a file or an argument, with '?' in place of characters that
 * control a terminal.
 */
static void put_plain(const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' && *text != '\n' && *text != '\t' ? '?' :
		      *text == 0x7f ? '?' : *text, stderr);
}

static void print_message(const char *fmt, va_list ap)
{
	int err = errno;	/* %m prints errno, which other calls change */
	va_list again;
	char *text;

	va_copy(again, ap);
	vsnprintf(message, sizeof(message), fmt, again);
	va_end(again);
	if (hushed)
		return;
	progress("%s", "");
	fprintf(stderr, "%s: ", this_program.name);
	errno = err;
	if (vasprintf(&text, fmt, ap) >= 0) {
		put_plain(text);
		free(text);
	}
	fputc('\n', stderr);
	errno = err;
}

void hush_output(bool on)
{
	hushed = on;
}

const char *last_message(void)
{
	return message;
}

int fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	return CANNOT;
}

int fail_as(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	return status;
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
}

static bool is_coloured(void)
{
	static int known = -1;
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (known < 0)
		known = isatty(STDOUT_FILENO) && !(no && *no) && term &&
			strcmp(term, "dumb");
	return known;
}

const char *paint(enum colour c)
{
	static const char *const code[COLOURS] = {
		[PLAIN] = "\033[0m",	 [GOOD] = "\033[32m", [BAD] = "\033[1;31m",
		[DOUBTFUL] = "\033[33m", [FAINT] = "\033[2m", [STRONG] = "\033[1m",
	};

	return is_coloured() ? code[c] : "";
}

bool wide(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

int screen_columns(void)
{
	const char *given = getenv("COLUMNS");
	struct winsize w;
	int columns;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col)
		return w.ws_col;
	columns = given ? atoi(given) : 0;
	return columns > 0 && columns < 10000 ? columns : 80;
}

void progress(const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (!isatty(STDERR_FILENO))
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (*line || in_progress)
		fprintf(stderr, "\r\033[K%s", line);
	in_progress = *line;
	fflush(stderr);
}
