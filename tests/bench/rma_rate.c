// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remote memory as fast as it goes; SOCKET as for torus_rma_open().
 *
 *	rma_rate own SOCKET		makes a region, prints its name NODE REGION KEY, and waits
 *	rma_rate trip SOCKET NAME OPERATION BYTES SECONDS
 *					median time of an operation and its completion, microseconds
 *	rma_rate stream SOCKET NAME OPERATION BYTES SECONDS
 *					operations per second, as many at a time as the ring takes
 *
 * OPERATION: put, get, or add (fetch and add of 8 bytes, whatever BYTES is).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <torus/rma.h>
#include <unistd.h>

#define REGION	(2u << 20)
#define SAMPLES	100000
#define WAIT_MS	20000
#define ACCESS	(TORUS_RMA_ACCESS_READ | TORUS_RMA_ACCESS_WRITE | TORUS_RMA_ACCESS_AMO)

static struct torus_rma *rma;
static struct torus_region *mine;
static struct torus_far far;
static char operation;
static size_t bytes;
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
	fprintf(stderr, "rma_rate: %s: %s\n", what, torus_rma_error(rma));
	exit(1);
}

static int submit(void)
{
	if (operation == 'p')
		return torus_rma_put(rma, &far, 64, mine->base, bytes, 0);
	if (operation == 'g')
		return torus_rma_get(rma, mine->base, &far, 64, bytes, 0);
	return torus_rma_amo(rma, &far, 0, TORUS_RMA_ADD, TORUS_RMA_U64, 1, 0, 0);
}

/* Takes completions, and waits for one if there is none. */
static void take(void)
{
	struct torus_rma_end end[64];
	int n = torus_rma_wait(rma, end, 64, WAIT_MS);
	char text[128];

	if (n < 0)
		die("wait");
	for (int i = 0; i < n; i++) {
		if (end[i].status == TORUS_RMA_DONE)
			continue;
		fprintf(stderr, "rma_rate: %s\n", torus_rma_end_text(&end[i], text, sizeof(text)));
		exit(1);
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void trip(double seconds)
{
	double end = now() + seconds, at;
	size_t n = 0;

	do {
		at = now();
		if (submit())
			die("submit");
		take();
		sample[n++] = now() - at;
	} while (n < SAMPLES && now() < end);
	qsort(sample, n, sizeof(*sample), by_value);
	printf("%.1f\n", sample[n / 2] * 1e6);
}

static void stream(double seconds)
{
	double begin = now(), end = begin + seconds;
	unsigned long n = 0;

	while (n % 64 || now() < end) {
		int err = submit();

		if (!err)
			n++;
		else if (torus_rma_open_requests(rma))
			take();
		else
			die("submit");
	}
	while (torus_rma_open_requests(rma))
		take();
	printf("%.1f\n", (double)n / (now() - begin));
}

int main(int argc, char **argv)
{
	int owns = argc == 3 && !strcmp(argv[1], "own");

	if (!owns && argc != 9)
		return 2;
	if (torus_rma_open(argv[2], 256, &rma) ||
	    torus_region_new(rma, REGION, owns ? ACCESS : 0, 0, &mine))
		die("open");
	if (owns) {
		printf("%u %u %u\n", mine->far.node, mine->far.region, mine->far.key);
		fflush(stdout);
		pause();
	}
	far.node = (uint32_t)strtoul(argv[3], NULL, 0);
	far.region = (uint32_t)strtoul(argv[4], NULL, 0);
	far.key = (uint32_t)strtoul(argv[5], NULL, 0);
	operation = argv[6][0];
	bytes = strtoul(argv[7], NULL, 0);
	if (!strcmp(argv[1], "trip"))
		trip(strtod(argv[8], NULL));
	else
		stream(strtod(argv[8], NULL));
	torus_rma_close(rma);
	return 0;
}
