// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "output.h"
#include "replace.h"

static int write_text(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0)
			return -errno;
		text += n;
		left -= (size_t)n;
	}
	return fchmod(fd, 0644) ? -errno : 0;
}

/*
 * Writes the file under another name and renames it, so that a collector never reads half of it.
 * The other name begins with a point and has no ending that a collector looks for.
 */
int replace_file(const char *path, const char *text)
{
	const char *slash = strrchr(path, '/');
	size_t dir = slash ? (size_t)(slash + 1 - path) : 0;
	char other[4096];
	int fd, err;

	if ((size_t)snprintf(other, sizeof(other), "%.*s.%s.XXXXXX", (int)dir, path, path + dir) >=
	    sizeof(other))
		return fail("--output: the path is longer than 4000 bytes");
	fd = mkstemp(other);
	if (fd < 0)
		return fail("cannot write '%s': %s", path, strerror(errno));
	err = write_text(fd, text);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(other, path))
		err = -errno;
	if (!err)
		return OK;
	unlink(other);
	return fail("cannot write '%s': %s", path, strerror(-err));
}
