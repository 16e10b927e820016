// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that breaks all rules of remote memory: rmahostile SOCKET ROUNDS SEED. In each round it
 * connects, makes calls that may be right or not, with descriptors that may be memory or not,
 * writes anything into rings and regions while the NIC works on them, rings the doorbell, and goes
 * away without a word. It prints how many contexts and regions it got.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "rmahostile.h"

#define FDS	5

static const char *path;
static unsigned int contexts, regions;
static int kept = -1;	/* doorbell of a context that is gone */

static int connect_to_nic(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return fd;
	perror(path);
	exit(1);
}

/* Sends @bytes as a call, with @n descriptors. */
static void send_anything(int sock, const void *call, size_t bytes, const int *fds, size_t n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(FDS * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)call, bytes };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n) {
		mh.msg_control = control.room;
		mh.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	}
	sendmsg(sock, &mh, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Return: false if the NIC has closed the connection. */
static bool take_answer_of(int sock, struct torus_rma_call *call, int *fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(TORUS_RMA_FDS * sizeof(int))];
	} control;
	struct iovec iov = { call, sizeof(*call) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.room, .msg_controllen = sizeof(control.room),
	};
	const struct cmsghdr *c;

	if (recvmsg(sock, &mh, MSG_CMSG_CLOEXEC) != sizeof(*call))
		return false;
	c = CMSG_FIRSTHDR(&mh);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), TORUS_RMA_FDS * sizeof(int));
	return true;
}

/* Return: a descriptor of some kind of memory, or of something else. */
static int any_memory(void)
{
	static const int seals[] = {
		F_SEAL_SHRINK, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_GROW,
		F_SEAL_SHRINK | F_SEAL_WRITE, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE, 0,
	};
	unsigned int kind = below(10);
	int fd;

	if (kind == 0)
		return open("/dev/zero", O_RDWR | O_CLOEXEC);
	if (kind == 1)
		return open("/", O_RDONLY | O_CLOEXEC);
	fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING | (kind == 2 ? MFD_HUGETLB : 0));
	if (fd >= 0 && !ftruncate(fd, kind == 3 ? 0 : SHARED))
		fcntl(fd, F_ADD_SEALS, kind < 5 ? seals[below(7)] : F_SEAL_SHRINK);
	return fd;
}

static void share_anything(int sock, void **mem)
{
	struct torus_rma_call call = {
		.call = TORUS_RMA_SHARE, .bytes = below(8) ? SHARED : any(),
		.access = below(8) ? 15 : (uint32_t)any(), .flags = below(4),
	};
	int fds[FDS], none[TORUS_RMA_FDS];
	size_t n = below(8) ? 1 : below(FDS + 1);

	for (size_t i = 0; i < FDS; i++)
		fds[i] = any_memory();
	if (fds[0] >= 0) {
		send_anything(sock, &call, sizeof(call), fds, n);
		if (take_answer_of(sock, &call, none) && !call.error) {
			regions++;
			*mem = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
			if (ftruncate(fds[0], 0) == 0) {
				puts("a region has shrunk");
				exit(1);
			}
		}
		if (!below(3))
			fallocate(fds[0], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, SHARED);
	}
	for (size_t i = 0; i < FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void open_and_break(int sock)
{
	struct torus_rma_call call = {
		.call = TORUS_RMA_OPEN, .version = TORUS_RMA_VERSION,
		.entries = below(8) ? 1u << below(9) : (uint32_t)any(),
	};
	int fds[TORUS_RMA_FDS] = { -1, -1, -1 };
	void *mem = MAP_FAILED, *rings;
	struct stat st;

	send_anything(sock, &call, sizeof(call), NULL, 0);
	if (!take_answer_of(sock, &call, fds) || call.error)
		return;
	contexts++;
	fstat(fds[TORUS_RMA_FD_RINGS], &st);
	if (!ftruncate(fds[TORUS_RMA_FD_RINGS], 0)) {
		puts("the rings have shrunk");
		exit(1);
	}
	rings = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		     fds[TORUS_RMA_FD_RINGS], 0);
	for (unsigned int i = below(4); i; i--)
		share_anything(sock, &mem);
	/* if the NIC writes to the same open file, it waits from then on */
	fcntl(fds[TORUS_RMA_FD_WAKE], F_SETFL, 0);
	eventfd_write(fds[TORUS_RMA_FD_WAKE], UINT64_MAX - 1);
	if (rings != MAP_FAILED)
		((struct torus_rma_head *)rings)->wants = 1;
	if (rings != MAP_FAILED)
		break_rings(rings, (size_t)st.st_size, fds[TORUS_RMA_FD_BELL]);
	if (mem != MAP_FAILED)
		memset(mem, (int)any(), SHARED);
	call = (struct torus_rma_call) { .call = TORUS_RMA_UNSHARE, .region = below(8) };
	send_anything(sock, &call, sizeof(call), NULL, 0);
	call = (struct torus_rma_call) {
		.call = TORUS_RMA_REGION_GET + below(2), .region = below(2) ? below(8) : (uint32_t)any(),
		.bytes = below(2) ? 0 : any(),
	};
	send_anything(sock, &call, sizeof(call), NULL, 0);
	if (kept >= 0)
		close(kept);
	kept = fds[TORUS_RMA_FD_BELL];
	close(fds[TORUS_RMA_FD_RINGS]);
	close(fds[TORUS_RMA_FD_WAKE]);
	munmap(rings, (size_t)st.st_size);
	if (mem != MAP_FAILED)
		munmap(mem, SHARED);
}

int main(int argc, char **argv)
{
	const int some[FDS] = { 0, 1, 2, 0, 1 };
	uint8_t junk[512];

	if (argc != 4)
		return 2;
	path = argv[1];
	state = strtoull(argv[3], NULL, 0);
	for (unsigned long n = strtoul(argv[2], NULL, 0); n; n--) {
		int sock = connect_to_nic();

		for (size_t i = 0; i < sizeof(junk); i++)
			junk[i] = (uint8_t)any();
		if (!below(8))
			send_anything(sock, junk, below(2) ? below(sizeof(junk)) : 0, some,
				      below(FDS + 1));
		else
			open_and_break(sock);
		close(sock);
		if (kept >= 0)
			eventfd_write(kept, 1);
	}
	printf("%u contexts, %u regions\n", contexts, regions);
	return contexts && regions ? 0 : 1;
}
