// SPDX-License-Identifier: GPL-2.0-only
/*
 * The routing engine on one core: processor time to compute a node's table, beside a memcpy of
 * it, and the mean time to update it when a random link fails or comes back. Every run uses the
 * same random links.
 *
 *	bench_route [SHAPE FAULTS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <torus/route.h>
#include <torus/topology.h>
#include "tests/bench/sample.h"
#include "tests/unit/random.h"

#define TABLES 9	/* tables per median */
#define SOURCES 10
#define INCREMENTS 400	/* updates of each source's table */
#define ALL (SOURCES * INCREMENTS)

static double processor_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct bench {
	struct torus_shape shape;
	uint32_t nodes;
	struct torus_health *health;
	uint64_t seed;
};

/* Cuts one more link of a random node that has no fault yet. */
static void fail_one(struct bench *b, uint32_t *node, struct torus_cable *changed)
{
	unsigned int ports = 2u * b->shape.ndims, p;

	do {
		*node = random_below(&b->seed, b->nodes);
		for (p = 0; p < ports && !torus_health_cut(b->health, *node, p); p++)
			;
	} while (p < ports);
	if (torus_health_set(b->health, *node,
			     (uint16_t)(1u << random_below(&b->seed, b->shape.ndims)), changed) != 1)
		abort();
}

/* Times the updates of a random source's table and adds their share to the means. */
static void increments(struct bench *b, double *us, double *rows)
{
	struct torus_cable changed[TORUS_MAX_PORTS];
	struct torus_routes *r;
	unsigned int done = 0;

	if (torus_routes_new(b->health, random_below(&b->seed, b->nodes), TORUS_ROUTES_RELAY, &r))
		abort();
	while (done < INCREMENTS) {
		const struct torus_range *range;
		uint32_t node, n;
		double began;

		fail_one(b, &node, changed);
		for (int back = 0; back < 2; back++) {
			if (back && torus_health_set(b->health, node, 0, changed) != 1)
				abort();
			began = processor_us();
			if (torus_routes_update(r, changed, 1, &range, &n))
				abort();
			us[back] += (processor_us() - began) / ALL;
			for (uint32_t i = 0; !back && i < n; i++)
				*rows += (double)range[i].count / ALL;
		}
		done++;
	}
	torus_routes_free(r);
}

/**
 * struct timing - medians of TABLES tables, in microseconds
 * @table: to compute a table; @copy: to copy it by memcpy
 */
struct timing {
	double table, copy;
};

/* Times the tables of random nodes; @own: with their own cable along +x cut. */
static struct timing tables(struct bench *b, bool own)
{
	uint64_t *to = malloc(b->nodes * sizeof(*to)), *from = malloc(b->nodes * sizeof(*from));
	double table[TABLES], copy[TABLES];

	if (!to || !from)
		abort();
	for (unsigned int i = 0; i < TABLES; i++) {
		uint32_t node = random_below(&b->seed, b->nodes);
		double began;

		if (own && torus_health_set(b->health, node, 1, NULL) < 0)
			abort();
		began = processor_us();
		if (torus_health_rows(b->health, node, TORUS_ROUTES_RELAY, from) < 0)
			abort();
		table[i] = processor_us() - began;
		began = processor_us();
		memcpy(to, from, b->nodes * sizeof(*to));
		copy[i] = processor_us() - began;
		if (own && torus_health_set(b->health, node, 0, NULL) < 0)
			abort();
	}
	qsort(table, TABLES, sizeof(*table), by_value);
	qsort(copy, TABLES, sizeof(*copy), by_value);
	free(to);
	free(from);
	return (struct timing){ table[TABLES / 2], copy[TABLES / 2] };
}

static void bench(const char *shape, unsigned int faults)
{
	struct bench b = { .seed = random_seed(1) };
	struct torus_cable changed[TORUS_MAX_PORTS];
	double us[2] = { 0 }, rows = 0;
	struct timing any, own;
	char what[64];
	uint32_t node;

	if (torus_shape_parse(shape, &b.shape) || torus_health_new(&b.shape, NULL, &b.health))
		abort();
	b.nodes = torus_nodes(&b.shape);
	while (torus_health_faults(b.health, NULL) < faults)
		fail_one(&b, &node, changed);
	any = tables(&b, false);
	own = tables(&b, true);
	for (unsigned int i = 0; i < SOURCES; i++)
		increments(&b, us, &rows);
	printf("%-12s %8u %7u %10.1f %10.1f %7.1f %10.1f %7.1f %10.2f %10.2f %10.0f\n", shape,
	       b.nodes, faults, any.copy, any.table, any.table / any.copy, own.table,
	       own.table / own.copy, us[0], us[1], rows);
	snprintf(what, sizeof(what), "%s, %u faults: table", shape, faults);
	sample(what, "us", any.table);
	snprintf(what, sizeof(what), "%s, %u faults: link fails", shape, faults);
	sample(what, "us", us[0]);
	torus_health_free(b.health);
}

int main(int argc, char **argv)
{
	static const unsigned int faults[] = { 0, 1, 100 };
	static const char *const shapes[] = { "16x16x16", "32x32x32", "128x128x64" };

	printf("one node's rows, one core, microseconds of processor time; own: its +x cable is cut too\n"
	       "%-12s %8s %7s %10s %10s %7s %10s %7s %10s %10s %10s\n", "shape", "nodes", "faults",
	       "memcpy", "table", "ratio", "own", "ratio", "link fails", "comes back",
	       "rows told");
	if (argc == 3) {
		bench(argv[1], (unsigned int)strtoul(argv[2], NULL, 10));
		return 0;
	}
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int j = 0; j < 3; j++)
			bench(shapes[i], faults[j]);
	return 0;
}
