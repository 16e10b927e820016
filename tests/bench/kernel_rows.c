// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long it takes to write a table to a NIC through its netlink family, beside the machine's
 * netlink round trip (FLOW_GET, the smallest request with an answer). A table is begun, put in
 * messages of 64 KiB, committed and read back. Prints the best of ROUNDS; fails if a row is read
 * back differently. In a guest: kernel_rows genl:torus0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <torus/torus.h>
#include <torus/uapi.h>

#include "tests/bench/sample.h"

#define ROUNDS	5
#define TRIPS	2000

static struct torus_dev *dev;

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "kernel_rows: %s: %s\n", what, torus_error(dev));
	exit(1);
}

static double round_trip(void)
{
	double start = now_ms();
	struct torus_flow flow;

	for (int i = 0; i < TRIPS; i++)
		must(torus_flow_get(dev, &flow), "flow get");
	return (now_ms() - start) / TRIPS;
}

static void place(unsigned int x, unsigned int y, unsigned int z)
{
	struct torus_shape shape = { .ndims = 3, .size = { 1, 1, 1, 1, 1, 1 } };
	struct torus_coords at = { 0 };

	shape.size[0] = (uint16_t)x;
	shape.size[1] = (uint16_t)y;
	shape.size[2] = (uint16_t)z;
	must(torus_place_set(dev, &shape, &at), "place");
}

static void table(uint32_t n, double trip)
{
	uint64_t *rows = malloc(n * sizeof(*rows)), *back = malloc(n * sizeof(*back)), version;
	double write = 1e9, read = 1e9, start;
	uint32_t got;

	if (!rows || !back)
		exit(1);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		for (uint32_t i = 0; i < n; i++)
			rows[i] = TORUS_ROW_VALID | 15ull << TORUS_ROW_FIRST_SHIFT |
				  15ull << TORUS_ROW_LAST_SHIFT | 1ull << (i + round) % 6;
		start = now_ms();
		must(torus_rows_begin(dev, round), "begin");
		must(torus_rows_put(dev, round, 0, rows, n), "put");
		must(torus_rows_commit(dev, round), "commit");
		write = write < now_ms() - start ? write : now_ms() - start;
		start = now_ms();
		got = n;
		must(torus_rows_get(dev, 0, back, &got, &version), "get");
		read = read < now_ms() - start ? read : now_ms() - start;
		if (got != n || version != round || memcmp(rows, back, n * sizeof(*rows))) {
			fprintf(stderr, "kernel_rows: other rows came back\n");
			exit(1);
		}
	}
	sample(n == 32768 ? "32768 rows, write" : "1048576 rows, write", "ms", write);
	printf("%9u rows   write %8.2f ms = %6.0f round trips   read %8.2f ms\n", n, write,
	       write / trip, read);
	free(rows);
	free(back);
}

int main(int argc, char **argv)
{
	struct torus_link links[TORUS_MAX_PORTS];
	unsigned int n = TORUS_MAX_PORTS;
	double trip, start;

	if (argc != 2) {
		fprintf(stderr, "usage: kernel_rows DEVICE\n");
		return 2;
	}
	must(torus_open(argv[1], &dev), argv[1]);
	must(torus_timeout_set(dev, 60000), "timeout");
	trip = round_trip();
	printf("netlink round trip %.4f ms\n", trip);
	place(32, 32, 32);
	table(32768, trip);
	place(128, 128, 64);
	table(1048576, trip);
	start = now_ms();
	must(torus_links_get(dev, links, &n), "links");
	printf("counters of %u ports %.3f ms\n", n, now_ms() - start);
	torus_close(dev);
	return 0;
}
