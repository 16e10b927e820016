// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <unistd.h>

#include "guid.h"

/* FNV-1a */
static uint64_t mix(uint64_t h, const char *text)
{
	while (*text)
		h = (h ^ (uint8_t)*text++) * 0x100000001b3ull;
	return h;
}

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
	h = mix(mix(0xcbf29ce484222325ull, id), name);
	return h ? h : 1;
}
