// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "inifile.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read_all.h"

void inifile_refuse(struct inifile *file, unsigned int line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	file->refused = true;
	file->complain(file->arg, line, text);
}

/*
 * Reads a line for inih. Without this function, inih would treat the rest of a line that is too
 * long as another line.
 */
static char *next_ini_line(char *buf, int room, void *arg)
{
	struct inifile *file = arg;
	const char *nl;
	size_t n;

	if (file->at == file->end)
		return NULL;
	file->line++;
	nl = memchr(file->at, '\n', (size_t)(file->end - file->at));
	n = nl ? (size_t)(nl - file->at) : (size_t)(file->end - file->at);
	buf[0] = '\0';
	if (n >= (size_t)room) {
		inifile_refuse(file, file->line, "the line has %zu bytes, must have at most %d", n,
			       room - 1);
	} else if (memchr(file->at, '\0', n)) {
		inifile_refuse(file, file->line, "the line contains a NUL byte");
	} else {
		memcpy(buf, file->at, n);
		buf[n] = '\0';
	}
	file->at += nl ? n + 1 : n;
	return buf;
}

static int pass_key(void *arg, const char *section, const char *name, const char *value)
{
	struct inifile *file = arg;

	file->key(file, section, name, value);
	return 1;
}

void inifile_parse(struct inifile *file, const char *text, size_t len)
{
	int err;

	file->at = text;
	file->end = text + len;
	file->line = 0;
	ini_allow_multiline = false;
	err = ini_parse_stream(next_ini_line, file, pass_key, file);
	if (err > 0 && !file->refused)
		inifile_refuse(file, (unsigned int)err, "not understood; must be one of: %s",
			       file->forms);
	else if (err < 0)
		inifile_refuse(file, 0, "out of memory");
}

int inifile_load(struct inifile *file, const char *path, size_t max)
{
	char *text = malloc(max + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : !text ? -ENOMEM : read_all(fd, text, max + 1);

	if (fd >= 0)
		close(fd);
	if (n > (ssize_t)max) {
		inifile_refuse(file, 0, "the file is too long, must have at most %zu bytes", max);
		n = -EFBIG;
	} else if (n < 0) {
		inifile_refuse(file, 0, "%s", strerror((int)-n));
	} else {
		inifile_parse(file, text, (size_t)n);
	}
	free(text);
	return n < 0 ? (int)n : 0;
}
