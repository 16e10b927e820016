// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabricd of a lab whose disk hangs: fsync() of a file in its directory "state" does not return as
 * long as there is a file "hang" beside that directory. The linker puts this in place of libc's
 * function (--wrap), so fabricd has no such switch.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	char link[40], path[PATH_MAX + 8], *end;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
	end = strstr(path, "/state");
	if (end) {
		strcpy(end, "/hang");
		while (!access(path, F_OK))
			usleep(10000);
	}
	return __real_fsync(fd);
}
