// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses by arithmetic on one core: processor time and memory to give all nodes of a torus their
 * addresses, time to compute one node's tables, and to find the row of a random destination, by the
 * first digit that differs and, beside it, in an array with a row for each node, one look-up after
 * the other and if each waits for the one before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <torus/route.h>
#include <torus/topology.h>
#include "tests/bench/sample.h"
#include "tests/unit/random.h"

#define LOOKS	(1u << 24)
#define ASKED	4096u	/* random destinations; a power of two */

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static __attribute__((noreturn)) void give_up(const char *what)
{
	fprintf(stderr, "bench_dm: %s\n", what);
	exit(1);
}

static void print_figure(const char *what, uint32_t nodes, const char *unit, double value)
{
	char name[96];

	snprintf(name, sizeof(name), "%s, %u nodes", what, nodes);
	printf("%-60s %10.2f %s\n", name, value, unit);
	sample(name, unit, value);
}

static uint32_t node_next(void *arg, uint32_t v, unsigned int port)
{
	return torus_neighbour(arg, v, port);
}

static unsigned int node_dim(void *arg, uint32_t v, unsigned int port)
{
	(void)v;
	return port % ((const struct torus_shape *)arg)->ndims;
}

/* Return: the most memory that the process has had since reset_peak(), in KiB. */
static double peak_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	if (!kib)
		give_up("no VmHWM in /proc/self/status");
	return (double)kib;
}

static void reset_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");

	if (!f || fputs("5", f) < 0 || fclose(f))
		give_up("cannot write /proc/self/clear_refs");
}

/** struct looks - rows of a node; @n: 0: one for each digit, else the number of rows */
struct looks {
	const uint64_t *rows;
	unsigned int m;
	uint32_t own, n, to[ASKED];
};

static inline uint64_t find_row(const struct looks *l, uint32_t i)
{
	uint32_t dst = l->to[i % ASKED];

	return l->n ? l->rows[dst] : l->rows[torus_dm_digit(l->m, l->own, dst)];
}

/* Times look-ups, with the loop around them. @wait: each waits for the one before. */
static double look_ns(struct looks *l, bool wait, uint64_t *seed)
{
	uint64_t sum = 0;
	double began;

	for (uint32_t i = 0; i < ASKED; i++)
		do
			l->to[i] = random_below(seed, 1u << l->m);
		while (l->to[i] == l->own);
	began = cpu_ms();
	/* Rows are even, so the sum does not change the destination, but is needed for it. */
	if (wait)
		for (uint32_t i = 0; i < LOOKS; i++)
			sum += find_row(l, i + (uint32_t)(sum & 1));
	else
		for (uint32_t i = 0; i < LOOKS; i++)
			sum += find_row(l, i);
	if (sum & 1)
		give_up("a row is odd");
	return (cpu_ms() - began) * 1e6 / LOOKS;
}

static void bench_looks(unsigned int m, uint64_t *seed)
{
	uint32_t n = 1u << m;
	uint64_t *rows = malloc(n * sizeof(*rows));
	static struct looks l;

	if (!rows)
		give_up("out of memory");
	for (uint32_t i = 0; i < n; i++)
		rows[i] = 2 * (uint64_t)i;
	l = (struct looks){ .rows = rows, .m = m, .own = n / 3 };
	for (int wait = 0; wait < 2; wait++) {
		l.n = 0;
		print_figure(wait ? "a row for each digit, waiting" : "a row for each digit", n, "ns",
			     look_ns(&l, wait, seed));
		l.n = n;
		print_figure(wait ? "a row for each node, waiting" : "a row for each node", n, "ns",
			     look_ns(&l, wait, seed));
	}
	free(rows);
}

/* Times the rows of one node, with all paths that a header may take. */
static void bench_rows(const char *text)
{
	uint64_t rows[TORUS_DM_DIGITS_MAX];
	struct torus_shape shape;
	struct torus_health *h;
	struct torus_dm *dm;
	double began;

	if (torus_shape_parse(text, &shape) || torus_health_new(&shape, NULL, &h))
		give_up("no torus");
	if (torus_dm_new_torus(h, 0, NULL, &dm))
		give_up("no addresses");
	began = cpu_ms();
	if (torus_dm_rows(dm, torus_nodes(&shape) / 3, rows))
		give_up("no rows");
	print_figure("rows of a node", torus_nodes(&shape), "ms", cpu_ms() - began);
	torus_dm_free(dm);
	torus_health_free(h);
}

static void bench_torus(const char *text)
{
	uint32_t gateway[TORUS_DM_DIGITS_MAX], nodes;
	uint8_t port[TORUS_DM_DIGITS_MAX];
	struct torus_shape shape;
	struct torus_graph g;
	struct torus_dm *dm;
	double began, before;

	if (torus_shape_parse(text, &shape))
		give_up("wrong shape");
	nodes = torus_nodes(&shape);
	g = (struct torus_graph){ .n = nodes, .degree = 2u * shape.ndims, .next = node_next,
		.dim = node_dim, .arg = &shape };
	reset_peak();
	before = peak_kib();
	began = cpu_ms();
	if (torus_dm_new(&g, NULL, &dm))
		give_up("no addresses");
	print_figure("all addresses", nodes, "ms", cpu_ms() - began);
	/* Pages of a small torus say little. */
	if (nodes >= 1u << 16)
		print_figure("most memory", nodes, "bytes/node", (peak_kib() - before) * 1024 / nodes);
	began = cpu_ms();
	if (torus_dm_tables(dm, nodes / 3, port, gateway, NULL))
		give_up("no tables");
	print_figure("tables and gateways of a node", nodes, "ms", cpu_ms() - began);
	torus_dm_free(dm);
}

int main(void)
{
	uint64_t seed = random_seed(1);

	bench_torus("16x16x16");
	bench_torus("128x128x64");
	bench_rows("16x16x16");
	bench_looks(12, &seed);
	bench_looks(24, &seed);
	return 0;
}
