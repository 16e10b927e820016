// SPDX-License-Identifier: GPL-2.0-only
/*
 * Round trips of small UDP datagrams, one at a time.
 *
 *	udp_ask answer ADDRESS			sends back what arrives, until it is killed
 *	udp_ask ask ADDRESS BYTES COUNT		prints median, 5th and 95th percentile, ns
 *
 * The first WARM round trips, or as many as COUNT, are not counted.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define PORT		7002
#define MAX		2048
#define WARM		100
#define COUNT_MAX	100000
#define PATIENCE	2000	/* ms after which an answer counts as lost */

static char buf[MAX];
static long long took[COUNT_MAX];

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (long long)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int answer_all(int fd)
{
	struct sockaddr_in from;
	socklen_t size;
	ssize_t got;

	do {
		size = sizeof(from);
		got = recvfrom(fd, buf, MAX, 0, (struct sockaddr *)&from, &size);
	} while (got >= 0 && sendto(fd, buf, (size_t)got, 0, (struct sockaddr *)&from, size) == got);
	perror("udp_ask");
	return 1;
}

/* Return: the time until the answer to question @number is here, in ns; -1 if none came. */
static long long ask_one(int fd, size_t bytes, int number)
{
	long long start;
	int got;

	memcpy(buf, &number, sizeof(number));
	start = now_ns();
	if (send(fd, buf, bytes, 0) != (ssize_t)bytes || recv(fd, buf, MAX, 0) != (ssize_t)bytes)
		return -1;
	memcpy(&got, buf, sizeof(got));
	return got == number ? now_ns() - start : -1;
}

static int compare_times(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

static int ask_all(int fd, size_t bytes, int count)
{
	struct timeval limit = { PATIENCE / 1000, PATIENCE % 1000 * 1000 };
	int warm = count < WARM ? count : WARM;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (int i = 0; i < warm + count; i++) {
		long long t = ask_one(fd, bytes, i);

		if (t < 0) {
			fprintf(stderr, "udp_ask: no answer to question %d\n", i);
			return 1;
		}
		if (i >= warm)
			took[i - warm] = t;
	}
	qsort(took, (size_t)count, sizeof(took[0]), compare_times);
	printf("%lld %lld %lld\n", took[count / 2], took[count / 20], took[count - 1 - count / 20]);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), bytes, count;

	if (argc < 3 || fd < 0 || inet_pton(AF_INET, argv[2], &at.sin_addr) != 1) {
		fprintf(stderr, "usage: udp_ask answer ADDRESS | ask ADDRESS BYTES COUNT\n");
		return 2;
	}
	if (!strcmp(argv[1], "answer"))
		return bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ? 2 : answer_all(fd);
	bytes = argc == 5 ? atoi(argv[3]) : 0;
	count = argc == 5 ? atoi(argv[4]) : 0;
	if (bytes < (int)sizeof(int) || bytes > MAX || count < 1 || count > COUNT_MAX ||
	    connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return 2;
	return ask_all(fd, (size_t)bytes, count);
}
