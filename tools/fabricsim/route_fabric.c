// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "jobs.h"
#include "lib/util/clock.h"
#include "route_fabric.h"

/**
 * struct fabric - the fabric that is examined
 * @excluded: closed exclusion table
 * @routes: rows of each live node; @rows: arrays of these rows
 * @found: rows of all nodes, for an engine that libtorus does not have
 * @again: rows of one node, computed again from the beginning
 */
struct fabric {
	const struct route_case *c;
	uint32_t nodes;
	uint64_t random;
	uint16_t *excluded;
	bool *up;
	struct torus_health *health;
	struct torus_routes **routes;
	const uint64_t **rows;
	uint64_t *found;
	uint64_t *again;
};

static uint64_t processor_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint32_t draw_node(struct fabric *f, uint32_t n)
{
	f->random = jobs_seed(f->random, 0);
	return (uint32_t)((f->random >> 32) * n >> 32);
}

uint32_t route_links(const struct torus_shape *shape)
{
	uint32_t links = 0;

	for (unsigned int d = 0; d < shape->ndims; d++)
		links += shape->size[d] > 1 ? torus_nodes(shape) : 0;
	return links;
}

/* Draws a healthy cable; the caller knows that there is one. */
static struct torus_cable some_cable(struct fabric *f)
{
	struct torus_cable c;

	do {
		c.node = draw_node(f, f->nodes);
		c.dim = (uint8_t)draw_node(f, f->c->shape.ndims);
	} while (f->c->shape.size[c.dim] < 2 || f->excluded[c.node] & 1u << c.dim);
	return c;
}

static void break_things(struct fabric *f)
{
	const struct torus_shape *s = &f->c->shape;
	unsigned int n;

	for (uint32_t i = 0; i < f->nodes; i++)
		f->up[i] = true;
	for (n = 0; n < f->c->dead_nodes; ) {
		uint32_t node = draw_node(f, f->nodes);

		n += f->up[node];
		f->up[node] = false;
		f->excluded[node] = (uint16_t)((1u << 2 * s->ndims) - 1);
	}
	torus_exclusions_close(s, f->excluded);
	for (n = 0; n < f->c->cut_links; n++) {
		struct torus_cable c = some_cable(f);

		f->excluded[c.node] |= (uint16_t)(1u << c.dim);
		f->excluded[torus_neighbour(s, c.node, c.dim)] |=
			(uint16_t)(1u << (s->ndims + c.dim));
	}
}

static unsigned int route_flags(const struct fabric *f)
{
	return f->c->engine == ROUTE_RELAYS ? TORUS_ROUTES_RELAY : 0;
}

static bool is_own_cable(const struct fabric *f)
{
	return f->c->engine >= ROUTE_STEPS;
}

/* Finds the rows by an engine that exists here only to be compared with libtorus. */
static int find_rows(struct fabric *f)
{
	f->found = calloc((size_t)f->nodes * f->nodes, sizeof(*f->found));
	if (!f->found)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nodes; i++) {
		uint64_t *rows = f->found + (size_t)i * f->nodes;

		if (!f->up[i])
			continue;
		for (uint32_t to = 0; to < f->nodes; to++)
			rows[to] = route_engine_row(f->c->engine, &f->c->shape, f->excluded, i, to);
		f->rows[i] = rows;
	}
	return 0;
}

static int make_tables(struct fabric *f, struct route_result *r)
{
	uint64_t began;
	int err = 0;

	/*
	 * All tables are made one after the other in the same memory, so that this measures the
	 * time to compute rows and not the time of memory accesses.
	 */
	began = processor_ns();
	for (uint32_t i = 0; i < f->nodes && err >= 0; i++)
		if (f->up[i])
			err = torus_health_rows(f->health, i, route_flags(f), f->again);
	r->tables_ns = processor_ns() - began;
	if (err < 0)
		return err;
	for (uint32_t i = 0; i < f->nodes; i++) {
		if (!f->up[i])
			continue;
		err = torus_routes_new(f->health, i, route_flags(f), &f->routes[i]);
		if (err)
			return err;
		f->rows[i] = torus_routes_rows(f->routes[i]);
		r->tables++;
	}
	return 0;
}

static void note_culprit(void *arg, const struct torus_culprit *c)
{
	struct route_result *r = arg;

	r->unsafe += c->what != TORUS_WRONG_NO_ROW;
}

static int verify_tables(struct fabric *f, struct route_result *r)
{
	struct torus_tables tables = { .rows = f->rows };
	struct torus_verify v = {
		.shape = &f->c->shape, .excluded = f->excluded, .tables = &tables, .n = 1,
		.up = f->up, .culprit = note_culprit, .arg = r,
	};
	int err = torus_verify(&v, &r->sound);

	r->connected = !r->sound.apart;
	return err;
}

/* Updates all tables after the health of the fabric has changed; adds the time to *@ns. */
static int follow_health(struct fabric *f, const struct torus_cable *cable, uint32_t n,
			 uint64_t *ns)
{
	uint64_t began = processor_ns();
	int err = 0;

	for (uint32_t i = 0; i < f->nodes && !err; i++)
		if (f->up[i])
			err = torus_routes_update(f->routes[i], cable, n, NULL, NULL);
	*ns += processor_ns() - began;
	return err;
}

/* Compares all rows with rows that are computed from the beginning. */
static int compare_anew(struct fabric *f, struct route_result *r)
{
	for (uint32_t i = 0; i < f->nodes; i++) {
		if (!f->up[i])
			continue;
		if (torus_health_rows(f->health, i, route_flags(f), f->again) < 0)
			return -ENOMEM;
		for (uint32_t to = 0; to < f->nodes; to++)
			r->unequal += f->again[to] != f->rows[i][to];
	}
	return 0;
}

static int one_more_fault(struct fabric *f, struct route_result *r)
{
	struct torus_cable c, changed[TORUS_MAX_PORTS];
	uint64_t ns = 0;
	uint16_t ports;
	int n, err;

	if (torus_health_faults(f->health, NULL) == route_links(&f->c->shape))
		return 0;
	c = some_cable(f);
	ports = f->excluded[c.node];
	n = torus_health_set(f->health, c.node, ports | (uint16_t)(1u << c.dim), changed);
	if (n < 0)
		return n;
	err = follow_health(f, changed, (uint32_t)n, &ns);
	if (!err)
		err = compare_anew(f, r);
	n = torus_health_set(f->health, c.node, ports, changed);
	if (n < 0)
		return n;
	if (!err)
		err = follow_health(f, changed, (uint32_t)n, &ns);
	if (!err)
		err = compare_anew(f, r);
	r->increment_ns = ns / 2;
	return err;
}

static int make_fabric(struct fabric *f)
{
	f->nodes = torus_nodes(&f->c->shape);
	f->excluded = calloc(f->nodes, sizeof(*f->excluded));
	f->up = calloc(f->nodes, sizeof(*f->up));
	f->routes = calloc(f->nodes, sizeof(struct torus_routes *));
	f->rows = calloc(f->nodes, sizeof(uint64_t *));
	f->again = calloc(f->nodes, sizeof(*f->again));
	if (!f->excluded || !f->up || !f->routes || !f->rows || !f->again)
		return -ENOMEM;
	break_things(f);
	return torus_health_new(&f->c->shape, f->excluded, &f->health);
}

int route_fabric(const struct route_case *c, uint64_t seed, struct route_result *r)
{
	struct fabric f = { .c = c, .random = seed };
	int err;

	*r = (struct route_result){ .connected = false };
	err = make_fabric(&f);
	if (!err)
		err = is_own_cable(&f) ? make_tables(&f, r) : find_rows(&f);
	if (!err)
		err = verify_tables(&f, r);
	if (!err && is_own_cable(&f))
		err = one_more_fault(&f, r);
	for (uint32_t i = 0; f.routes && i < f.nodes; i++)
		torus_routes_free(f.routes[i]);
	torus_health_free(f.health);
	free(f.excluded);
	free(f.up);
	free(f.routes);
	free(f.rows);
	free(f.found);
	free(f.again);
	return err;
}
