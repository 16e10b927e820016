// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends data by TCP as fast as possible, without Nagle's algorithm.
 *
 *	tcp_rate serve ADDRESS			answers one client after the other
 *	tcp_rate trip ADDRESS BYTES SECONDS	median time until 8 bytes come back, microseconds
 *	tcp_rate stream ADDRESS BYTES SECONDS	messages per second, all of which have arrived
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PORT	7002
#define MAX	(1u << 20)
#define SAMPLES	100000

static char buf[MAX];
static double sample[SAMPLES];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

__attribute__((noreturn))
static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int read_all(int fd, size_t bytes)
{
	ssize_t n;

	for (; bytes; bytes -= (size_t)n) {
		n = read(fd, buf, bytes < MAX ? bytes : MAX);
		if (n <= 0)
			return 0;
	}
	return 1;
}

static void write_all(int fd, size_t bytes)
{
	ssize_t n;

	for (size_t done = 0; done < bytes; done += (size_t)n) {
		n = write(fd, buf, bytes - done);
		if (n <= 0)
			die("write");
	}
}

static int make_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("socket");
	return fd;
}

/*
 * The client sends the length of its messages first; 0: it streams, and expects one answer at the
 * end.
 */
static void serve_client(int fd)
{
	uint64_t bytes;

	if (read(fd, &bytes, sizeof(bytes)) != sizeof(bytes))
		return;
	if (!bytes) {
		while (read_all(fd, MAX))
			;
		write_all(fd, 8);
		return;
	}
	while (read_all(fd, bytes))
		write_all(fd, 8);
}

static void serve(const struct sockaddr_in *a)
{
	int l = make_socket(), fd;

	if (bind(l, (const struct sockaddr *)a, sizeof(*a)) || listen(l, 4))
		die("listen");
	for (;;) {
		fd = accept(l, NULL, NULL);
		if (fd < 0)
			die("accept");
		serve_client(fd);
		close(fd);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void trip(int fd, size_t bytes, double seconds)
{
	double end = now() + seconds, at;
	size_t n = 0;

	do {
		at = now();
		write_all(fd, bytes);
		if (!read_all(fd, 8))
			die("read");
		sample[n++] = now() - at;
	} while (n < SAMPLES && now() < end);
	qsort(sample, n, sizeof(*sample), by_value);
	printf("%.1f\n", sample[n / 2] * 1e6);
}

static void stream(int fd, size_t bytes, double seconds)
{
	double begin = now(), end = begin + seconds;
	unsigned long n = 0;

	do {
		write_all(fd, bytes);
		n++;
	} while (n % 64 || now() < end);
	shutdown(fd, SHUT_WR);
	if (!read_all(fd, 8))
		die("read");
	printf("%.1f\n", (double)n / (now() - begin));
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	uint64_t bytes = argc == 5 ? strtoull(argv[3], NULL, 0) : 0, reported;
	int fd, trips = argc == 5 && !strcmp(argv[1], "trip");

	if ((argc != 3 && argc != 5) || inet_pton(AF_INET, argv[2], &a.sin_addr) != 1)
		return 2;
	if (argc == 3)
		serve(&a);
	if (!bytes || bytes > MAX)
		return 2;
	fd = make_socket();
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	reported = trips ? bytes : 0;
	if (write(fd, &reported, sizeof(reported)) != sizeof(reported))
		die("write");
	if (trips)
		trip(fd, bytes, strtod(argv[4], NULL));
	else
		stream(fd, bytes, strtod(argv[4], NULL));
	return 0;
}
