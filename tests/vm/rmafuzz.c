// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that breaks all rules of /dev/torus: rmafuzz NETDEV ROUNDS SEED. In each round it binds
 * a file, makes calls that may be right or not, of memory that may be there or not, writes anything
 * into rings and regions while the NIC works on them, unmaps what it has shared, rings the doorbell,
 * and goes away. Some files stay open while others come and go. It prints how many contexts and
 * regions it got.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "../netns/rmahostile.h"

#define KEPT	4
#define PAGE	4096u

static const char *name;
static unsigned int contexts, regions;
static int kept[KEPT] = { -1, -1, -1, -1 };

static int open_device(void)
{
	int fd = open(TORUS_RMA_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	perror(TORUS_RMA_DEVICE);
	exit(1);
}

static void bind_device(int fd)
{
	struct torus_rma_where where;

	memset(&where, below(20) ? 0 : 'x', sizeof(where));
	if (below(20))
		strncpy(where.ifname, name, sizeof(where.ifname) - 1);
	ioctl(fd, TORUS_RMA_BIND, below(40) ? (void *)&where : (void *)64);
}

static void *map_any(size_t bytes, int prot)
{
	return mmap(NULL, bytes, prot, (below(2) ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
}

/* Shares memory, or something else, and often unmaps it at once. */
static void share_anything(int fd)
{
	struct torus_rma_call call = {
		.call = TORUS_RMA_SHARE, .bytes = below(8) ? 1 + below(4 * PAGE) : any(),
		.access = below(8) ? 15 : (uint32_t)any(), .flags = below(8),
		.addr = below(2) ? below(64) * PAGE : any(),
	};
	size_t bytes = (1 + below(4)) * (size_t)PAGE;
	void *mem = map_any(bytes, below(8) ? PROT_READ | PROT_WRITE : below(2) ? PROT_READ : PROT_NONE);

	if (below(4))
		call.bytes &= ~7ull;
	call.memory = below(8) ? (uintptr_t)mem : any();
	if (!below(8))
		call.memory += below(PAGE);
	if (!ioctl(fd, TORUS_RMA_CALL, &call) && !call.error)
		regions++;
	if (mem == MAP_FAILED)
		return;
	if (below(2))
		mprotect(mem, bytes, PROT_READ | PROT_WRITE);
	if (!below(4))
		madvise(mem, bytes, MADV_DONTNEED);
	if (below(4))
		munmap(mem, bytes);
}

static void call_anything(int fd)
{
	struct torus_rma_call call;

	for (size_t i = 0; i < sizeof(call); i++)
		((uint8_t *)&call)[i] = (uint8_t)any();
	call.call = below(8) ? below(7) : (uint32_t)any();
	if (below(2))
		call.region = below(8);
	ioctl(fd, below(8) ? TORUS_RMA_CALL : (unsigned long)any() & 0xffffffff,
	      below(8) ? (void *)&call : (void *)(uintptr_t)any());
}

static void open_and_break(int fd)
{
	struct torus_rma_call call = {
		.call = TORUS_RMA_OPEN, .version = TORUS_RMA_VERSION,
		.entries = below(8) ? 1u << below(9) : (uint32_t)any(),
	};
	struct torus_rma_head *rings;
	size_t bytes;

	if (ioctl(fd, TORUS_RMA_CALL, &call) || call.error)
		return;
	contexts++;
	bytes = call.bytes;
	rings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	mmap(NULL, below(64) * (size_t)PAGE, PROT_READ, MAP_SHARED, fd, below(16) * PAGE);
	for (unsigned int i = below(4); i; i--)
		share_anything(fd);
	if (rings == MAP_FAILED) {
		puts("the rings cannot be mapped");
		exit(1);
	}
	rings->wants = 1;
	break_rings(rings, bytes, fd);
	call = (struct torus_rma_call) { .call = TORUS_RMA_UNSHARE, .region = below(8) };
	ioctl(fd, TORUS_RMA_CALL, &call);
	if (below(4))
		munmap(rings, bytes);
}

int main(int argc, char **argv)
{
	char woken[64];

	if (argc != 4)
		return 2;
	name = argv[1];
	state = strtoull(argv[3], NULL, 0);
	for (unsigned long n = strtoul(argv[2], NULL, 0); n; n--) {
		unsigned int at = below(KEPT);
		int fd = open_device();

		bind_device(fd);
		for (unsigned int i = below(3); i; i--)
			call_anything(fd);
		open_and_break(fd);
		call_anything(fd);
		if (read(fd, woken, below(sizeof(woken))) < 0 && errno == EINVAL)
			errno = 0;
		if (kept[at] >= 0)
			close(kept[at]);
		kept[at] = fd;
	}
	printf("%u contexts, %u regions\n", contexts, regions);
	return contexts && regions ? 0 : 1;
}
