// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host side of a user-space NIC: processor time that the kernel takes for one small datagram
 * in each step through sockets and tun devices. However fast torusemu is, a datagram over one hop
 * costs the sum of these steps, shared among the processors.
 *
 * io_uring was tried: 64 reads in one system call take 970 ns per datagram, readv() of 17 pieces
 * 1180 ns, where the sum was 4.2 us. A gain of 5 % is not worth a second way to read.
 *
 * Makes a network namespace of its own. Needs root.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/sample.h"
#include "tools/torusemu/gro.h"

#define BYTES	64
#define QUEUE	4096		/* datagrams at a time */
#define ROUNDS	32
#define PIECES	17
#define MESSAGE	2048
#define PORT	7001

#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

enum step { SEND, READ, READV, WRITE, MERGED, RECEIVE, STEPS };

static const char *const names[STEPS] = {
	"sendmmsg() to a tun device, batches of 64",
	"read() from it",
	"readv() in 17 pieces, as torusemu does",
	"write() to it, up to the socket",
	"writev() of 64 merged, up to the socket",
	"recvmmsg(), batches of 64",
};

static double spent[STEPS];
static unsigned long done[STEPS];
static u8 message[QUEUE][MESSAGE];
static size_t len[QUEUE];
static int tun, sock;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void count(enum step s, double began, unsigned long n)
{
	spent[s] += cpu() - began;
	done[s] += n;
}

static void command(int fd, unsigned long request, struct ifreq *ifr, const char *what)
{
	if (ioctl(fd, request, ifr) < 0)
		die(what);
}

static void address(struct ifreq *ifr, const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	inet_pton(AF_INET, text, &a.sin_addr);
	memcpy(&ifr->ifr_addr, &a, sizeof(a));
}

/* Disables IPv6, whose own packets would come between ours. */
static void no_ipv6(void)
{
	int fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY);

	if (fd >= 0 && write(fd, "1", 1) != 1)
		die("disable_ipv6");
	close(fd);
}

/* Makes a tun device with the address 10.0.0.1 and the network 10.0.0.0/8 behind it. */
static void make_tun(void)
{
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "t0");
	tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
	if (tun < 0)
		die("/dev/net/tun");
	command(tun, TUNSETIFF, &ifr, "tun");
	if (ioctl(tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_USO4 |
		  TUN_F_USO6) < 0)
		die("a tun device that segments UDP (Linux 6.2)");
	ifr.ifr_qlen = 2 * QUEUE;
	command(fd, SIOCSIFTXQLEN, &ifr, "queue");
	address(&ifr, "10.0.0.1");
	command(fd, SIOCSIFADDR, &ifr, "address");
	address(&ifr, "255.0.0.0");
	command(fd, SIOCSIFNETMASK, &ifr, "netmask");
	ifr.ifr_flags = IFF_UP;
	command(fd, SIOCSIFFLAGS, &ifr, "up");
	close(fd);
}

static int udp(const char *from, const char *to)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), bytes = 256 << 20;

	inet_pton(AF_INET, from, &a.sin_addr);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		die("bind");
	inet_pton(AF_INET, to, &a.sin_addr);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		die("connect");
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	return fd;
}

static void batch(struct mmsghdr *mm, struct iovec *iov)
{
	static char buf[64][BYTES];

	for (int i = 0; i < 64; i++) {
		iov[i] = (struct iovec) { buf[i], BYTES };
		mm[i] = (struct mmsghdr) { .msg_hdr = { .msg_iov = &iov[i], .msg_iovlen = 1 } };
	}
}

static void transmit(void)
{
	struct mmsghdr mm[64];
	struct iovec iov[64];
	double began;

	batch(mm, iov);
	began = cpu();
	for (int i = 0; i < QUEUE; i += 64)
		if (sendmmsg(sock, mm, 64, 0) != 64)
			die("sendmmsg");
	count(SEND, began, QUEUE);
}

/* Reads messages into @pieces buffers, as torusemu does; a small one fits in the first. */
static void take(enum step s, int pieces)
{
	static u8 rest[4096];
	struct iovec iov[PIECES];
	double began = cpu();
	ssize_t n;

	for (int i = 0; i < QUEUE; i++) {
		for (int k = 1; k < pieces; k++)
			iov[k] = (struct iovec) { rest, sizeof(rest) };
		iov[0] = (struct iovec) { message[i], MESSAGE };
		n = pieces > 1 ? readv(tun, iov, pieces) : read(tun, message[i], MESSAGE);
		if (n < 0)
			die("tun");
		len[i] = (size_t)n;
	}
	count(s, began, QUEUE);
}

/* Swaps the addresses of all messages, so that they look like answers of 10.0.0.2. */
static void turn(void)
{
	for (int i = 0; i < QUEUE; i++) {
		u8 *ip = message[i] + sizeof(struct virtio_net_hdr), t[4];

		memcpy(t, ip + 12, 4);
		memcpy(ip + 12, ip + 16, 4);
		memcpy(ip + 16, t, 4);
	}
}

static void give(void)
{
	double began = cpu();

	for (int i = 0; i < QUEUE; i++)
		if (write(tun, message[i], len[i]) < 0)
			die("write");
	count(WRITE, began, QUEUE);
}

static void give_merged(void)
{
	double began = cpu();

	for (int i = 0, n; i < QUEUE; i += n) {
		struct iovec iov[1 + GRO_MAX];
		struct gro g;

		if (!gro_begin(&g, message[i], len[i])) {
			fprintf(stderr, "bench_host: no datagram\n");
			exit(2);
		}
		iov[1] = (struct iovec) { message[i] + g.len, len[i] - g.len };
		for (n = 1; i + n < QUEUE && gro_join(&g, message[i + n], len[i + n]); n++)
			iov[1 + n] = (struct iovec) {
				message[i + n] + g.len, len[i + n] - g.len
			};
		gro_finish(&g);
		iov[0] = (struct iovec) { g.head, g.len };
		if (writev(tun, iov, 1 + n) < 0)
			die("writev");
	}
	count(MERGED, began, QUEUE);
}

static void receive(void)
{
	struct mmsghdr mm[64];
	struct iovec iov[64];
	unsigned long n = 0;
	double began;
	int got;

	batch(mm, iov);
	began = cpu();
	while ((got = recvmmsg(sock, mm, 64, 0, NULL)) > 0)
		n += (unsigned long)got;
	count(RECEIVE, began, n);
	if (n != QUEUE) {
		fprintf(stderr, "bench_host: %lu of %d datagrams came\n", n, QUEUE);
		exit(2);
	}
}

int main(void)
{
	static const enum step sum[] = { SEND, READV, MERGED, RECEIVE };
	double all = 0;

	if (unshare(CLONE_NEWNET) < 0)
		die("a network namespace");
	no_ipv6();
	make_tun();
	sock = udp("10.0.0.1", "10.0.0.2");
	for (int round = 0; round < ROUNDS; round++) {
		transmit();
		take(round & 1 ? READV : READ, round & 1 ? PIECES : 1);
		turn();
		if (round & 2)
			give_merged();
		else
			give();
		receive();
	}
	printf("%-50s %10s\n", "a datagram of 64 bytes and the kernel", "ns");
	for (int s = 0; s < STEPS; s++) {
		printf("%-50s %10.0f\n", names[s], spent[s] / (double)done[s]);
		sample(names[s], "ns", spent[s] / (double)done[s]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sum); i++)
		all += spent[sum[i]] / (double)done[sum[i]];
	printf("%-50s %10.0f\n", "through one hop at least, merged", all);
	sample("through one hop at least, merged", "ns", all);
	printf("%-50s %10.0f\n", "so at most, of a processor, 1/s", 1e9 / all);
	return 0;
}
