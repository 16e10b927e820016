// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends small UDP packets as fast as possible.
 *
 *	udp_rate send ADDRESS BYTES SECONDS	prints packets sent per second
 *	udp_rate receive ADDRESS SECONDS	prints packets received per second
 *
 * The receiver counts from the first packet to the last.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define PORT	7001
#define BATCH	64
#define MAX	2048

static char buf[BATCH][MAX];
static struct iovec iov[BATCH];
static struct mmsghdr mm[BATCH];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void batch(size_t bytes)
{
	for (int i = 0; i < BATCH; i++) {
		iov[i] = (struct iovec) { buf[i], bytes };
		mm[i].msg_hdr = (struct msghdr) { .msg_iov = &iov[i], .msg_iovlen = 1 };
	}
}

static void transmit(int fd, double seconds)
{
	double start = now(), t = start;
	unsigned long n = 0;

	while (t < start + seconds) {
		int sent = sendmmsg(fd, mm, BATCH, 0);

		if (sent > 0)
			n += (unsigned long)sent;
		t = now();
	}
	printf("%.0f\n", (double)n / (t - start));
}

static void receive(int fd, double seconds)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	double end = now() + seconds, first = 0, last = 0;
	unsigned long n = 0;

	while (now() < end && poll(&p, 1, 100) >= 0) {
		int got = recvmmsg(fd, mm, BATCH, MSG_DONTWAIT, NULL);

		if (got <= 0)
			continue;
		last = now();
		if (!n)
			first = last;
		n += (unsigned long)got;
	}
	printf("%.0f\n", last > first ? (double)n / (last - first) : 0.0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes = 8 << 20;

	if (argc < 4 || fd < 0 || inet_pton(AF_INET, argv[2], &at.sin_addr) != 1) {
		fprintf(stderr, "usage: udp_rate send ADDRESS BYTES SECONDS | receive ADDRESS SECONDS\n");
		return 2;
	}
	if (!strcmp(argv[1], "receive")) {
		setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
		batch(MAX);
		if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
			return 2;
		receive(fd, atof(argv[3]));
		return 0;
	}
	if (argc < 5 || atoi(argv[3]) < 1 || atoi(argv[3]) > MAX)
		return 2;
	batch((size_t)atoi(argv[3]));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return 2;
	transmit(fd, atof(argv[4]));
	return 0;
}
