// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <unistd.h>

#include "guid.h"
#include "lib/util/fnv.h"

uint64_t guid_lasting(const char *name)
{
	char id[128] = "";
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
	uint64_t h;

	if (fd >= 0) {
		ssize_t n = read(fd, id, sizeof(id) - 1);

		id[n > 0 ? n : 0] = '\0';
		close(fd);
	}
	h = fnv1a(fnv1a(FNV1A_START, id), name);
	return h ? h : 1;
}
