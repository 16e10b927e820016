/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef UTIL_READ_ALL_H
#define UTIL_READ_ALL_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/**
 * read_all() - read a file from its present position to its end, at most @max bytes
 * Return: number of bytes read, or a negative errno.
 */
static inline ssize_t read_all(int fd, void *data, size_t max)
{
	size_t n = 0;

	while (n < max) {
		ssize_t got = read(fd, (uint8_t *)data + n, max - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

#endif /* UTIL_READ_ALL_H */
