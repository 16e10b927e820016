// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends a flow of numbered datagrams at a steady rate, or receives one and counts what arrived.
 *
 *	udp_flow send ADDRESS BYTES RATE SECONDS	prints what was sent
 *	udp_flow receive ADDRESS SECONDS		prints what arrived until then
 *
 * A datagram that the kernel refuses to send counts as failed and uses no number. The receiver
 * has a large socket buffer, and reports how many datagrams overflowed it. Arrival times are the
 * kernel's timestamps. The output is one JSON object.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define PORT	7002
#define BATCH	64
#define MAX	2048
#define BUFFER	(128 << 20)
#define NUMBERS	(1u << 26)	/* of one flow, at most */
#define TURN	100000		/* ns between two looks at what is due */

/** struct flow - what arrived; times in ns */
struct flow {
	uint64_t received, doubled, reordered, overflowed;
	uint64_t highest, last_at, silence;
};

static uint8_t seen[NUMBERS / 8];
static char buf[BATCH][MAX], control[BATCH][128];
static struct iovec iov[BATCH];
static struct mmsghdr mm[BATCH];

static uint64_t ns_of(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ns_of(&t);
}

/* --- sending --------------------------------------------------------------------- */

static void transmit(int fd, size_t bytes, double rate, double seconds)
{
	uint64_t start = now(), t = start, end = start + (uint64_t)(seconds * 1e9), late = 0;
	uint64_t number = 0, failed = 0, due;
	struct timespec turn = { .tv_nsec = TURN };
	int why = 0;

	for (; t < end && number < NUMBERS; t = now()) {
		due = (uint64_t)((double)(t - start) * rate / 1e9);
		for (; number + failed < due && number < NUMBERS; ) {
			memcpy(buf[0], &number, sizeof(number));
			if (send(fd, buf[0], bytes, 0) == (ssize_t)bytes) {
				number++;
			} else {
				failed++;
				why = errno;
			}
		}
		late = now() - t > late ? now() - t : late;
		nanosleep(&turn, NULL);
	}
	printf("{\"sent\":%llu,\"failed\":%llu,\"error\":\"%s\",\"longest_turn_ms\":%.1f}\n",
	       (unsigned long long)number, (unsigned long long)failed, why ? strerror(why) : "",
	       (double)late / 1e6);
}

/* --- receiving ------------------------------------------------------------------- */

static void take(struct flow *f, uint64_t number, uint64_t at)
{
	if (number >= NUMBERS)
		return;
	if (f->last_at && at > f->last_at && at - f->last_at > f->silence)
		f->silence = at - f->last_at;
	f->last_at = at;
	if (seen[number / 8] >> number % 8 & 1) {
		f->doubled++;
		return;
	}
	seen[number / 8] |= (uint8_t)(1u << number % 8);
	f->received++;
	if (number < f->highest)
		f->reordered++;
	else
		f->highest = number;
}

static void take_message(struct flow *f, struct mmsghdr *m, const char *data)
{
	uint64_t number, at = 0;
	struct timespec t;
	uint32_t drops;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m->msg_hdr); c; c = CMSG_NXTHDR(&m->msg_hdr, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_TIMESTAMPNS) {
			memcpy(&t, CMSG_DATA(c), sizeof(t));
			at = ns_of(&t);
		} else if (c->cmsg_type == SO_RXQ_OVFL) {
			memcpy(&drops, CMSG_DATA(c), sizeof(drops));
			f->overflowed = drops;
		}
	}
	if (m->msg_len < sizeof(number))
		return;
	memcpy(&number, data, sizeof(number));
	take(f, number, at);
}

static void receive(int fd, double seconds)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = now() + (uint64_t)(seconds * 1e9);
	static struct flow f;

	while (now() < end && poll(&p, 1, 100) >= 0) {
		int got;

		for (int i = 0; i < BATCH; i++) {
			iov[i] = (struct iovec) { buf[i], MAX };
			mm[i].msg_hdr = (struct msghdr) {
				.msg_iov = &iov[i], .msg_iovlen = 1,
				.msg_control = control[i], .msg_controllen = sizeof(control[i]),
			};
		}
		got = recvmmsg(fd, mm, BATCH, MSG_DONTWAIT, NULL);
		for (int i = 0; i < got; i++)
			take_message(&f, &mm[i], buf[i]);
	}
	printf("{\"received\":%llu,\"doubled\":%llu,\"reordered\":%llu,\"overflowed\":%llu,"
	       "\"silence_ms\":%.1f}\n", (unsigned long long)f.received,
	       (unsigned long long)f.doubled, (unsigned long long)f.reordered,
	       (unsigned long long)f.overflowed, (double)f.silence / 1e6);
}

/* --- options --------------------------------------------------------------------- */

static int usage(void)
{
	fprintf(stderr, "usage: udp_flow send ADDRESS BYTES RATE SECONDS | "
		"receive ADDRESS SECONDS\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes = BUFFER, on = 1;
	bool send = argc == 6 && !strcmp(argv[1], "send");

	if (fd < 0 || (!send && (argc != 4 || strcmp(argv[1], "receive"))) ||
	    inet_pton(AF_INET, argv[2], &at.sin_addr) != 1)
		return usage();
	if (!send) {
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
		setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on));
		if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
		    bind(fd, (struct sockaddr *)&at, sizeof(at))) {
			perror("udp_flow");
			return 2;
		}
		receive(fd, atof(argv[3]));
		return 0;
	}
	if (atoi(argv[3]) < (int)sizeof(uint64_t) || atoi(argv[3]) > MAX || atof(argv[4]) <= 0)
		return usage();
	if (connect(fd, (struct sockaddr *)&at, sizeof(at))) {
		perror("udp_flow");
		return 2;
	}
	transmit(fd, (size_t)atoi(argv[3]), atof(argv[4]), atof(argv[5]));
	return 0;
}
