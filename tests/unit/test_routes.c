// SPDX-License-Identifier: GPL-2.0-only
/*
 * Incremental updates compared with rows computed from scratch, over random histories of faults and
 * repairs; and relays compared with a search over healthy cables: each node that the search reaches
 * must have a row, and its chain of relays must end there.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <torus/route.h>
#include <torus/topology.h>
#include "lib/route/search.h"
#include "random.h"

#define NODES_MAX 2048
#define OBSERVERS 3

static const char *const shapes[] = {
	"4x4x4", "4x4", "8x2x4", "2x2x3", "1x7x1", "9", "2", "1", "1x1", "2x2", "5x3x2x4",
	"2x3x1x2x4", "2x2x2x2x2x2", "3x2x1x2x3x4", "130", "70x3", "6x6x6", "65x2x2",
};

/* With EVERY=N only one of N rounds is made, with other shapes each time. */
static unsigned int every(void)
{
	return getenv("EVERY") ? (unsigned int)strtoul(getenv("EVERY"), NULL, 10) : 1;
}

static struct torus_shape shape_of(const char *text)
{
	struct torus_shape s;

	assert_int_equal(torus_shape_parse(text, &s), 0);
	return s;
}

/**
 * struct history - a torus that changes, and rows that follow
 * @reported: what each node excludes: the model of the health
 * @was: rows before the present update
 */
struct history {
	struct torus_shape shape;
	uint32_t nodes;
	struct torus_health *health;
	uint16_t reported[NODES_MAX];
	uint16_t closed[NODES_MAX];
	unsigned int n;
	uint32_t from[OBSERVERS];
	unsigned int flags[OBSERVERS];
	struct torus_routes *routes[OBSERVERS];
	uint64_t was[OBSERVERS][NODES_MAX];
	struct torus_cable changed[512];
	unsigned int nchanged;
	uint64_t seed, began;
};

static void begin(struct history *h, const char *shape, uint64_t seed)
{
	unsigned int i;

	memset(h, 0, sizeof(*h));
	h->seed = h->began = seed;
	h->shape = shape_of(shape);
	h->nodes = torus_nodes(&h->shape);
	h->n = OBSERVERS;
	assert_true(h->nodes <= NODES_MAX);
	assert_int_equal(torus_health_new(&h->shape, NULL, &h->health), 0);
	for (i = 0; i < h->n; i++) {
		h->from[i] = random_below(&h->seed, h->nodes);
		h->flags[i] = i ? TORUS_ROUTES_RELAY : 0;
		assert_int_equal(torus_routes_new(h->health, h->from[i], h->flags[i],
						  &h->routes[i]), 0);
	}
}

static void end(struct history *h)
{
	unsigned int i;

	for (i = 0; i < h->n; i++)
		torus_routes_free(h->routes[i]);
	torus_health_free(h->health);
}

static void set_ports(struct history *h, uint32_t node, uint16_t ports)
{
	int ret = torus_health_set(h->health, node, ports, h->changed + h->nchanged);

	assert_true(ret >= 0);
	h->reported[node] = ports;
	h->nchanged += (unsigned int)ret;
}

/* Draws an event: mostly at one end of a cable, sometimes at a whole node. */
static void event(struct history *h, unsigned int density)
{
	uint32_t node = random_below(&h->seed, h->nodes);
	unsigned int ports = 2u * h->shape.ndims;

	switch (random_below(&h->seed, 12)) {
	case 0:
		set_ports(h, node, (uint16_t)((1u << ports) - 1));
		break;
	case 1:
	case 2:
		set_ports(h, node, 0);
		break;
	default:
		if (random_below(&h->seed, 100) < density)
			set_ports(h, node, h->reported[node] |
				  (uint16_t)(1u << random_below(&h->seed, ports)));
		else
			set_ports(h, node, h->reported[node] &
				  (uint16_t)~(1u << random_below(&h->seed, ports)));
	}
}

/* Checks that rows outside the ranges that an update returns have not changed. */
static void check_ranges(const struct history *h, unsigned int i,
			 const struct torus_range *range, uint32_t n)
{
	static bool reported[NODES_MAX];
	const uint64_t *rows = torus_routes_rows(h->routes[i]);
	uint32_t j, to;

	memset(reported, 0, sizeof(reported));
	for (j = 0; j < n; j++) {
		assert_true(range[j].first < h->nodes);
		assert_true(range[j].count <= h->nodes - range[j].first);
		for (to = 0; to < range[j].count; to++)
			reported[range[j].first + to] = true;
	}
	for (to = 0; to < h->nodes; to++)
		if (rows[to] != h->was[i][to] && !reported[to])
			fail_msg("SEED=%llu row %u to %u changed untold",
				 (unsigned long long)h->began, h->from[i], to);
}

static void check_equal(const struct history *h, unsigned int i)
{
	static uint64_t fresh[NODES_MAX];
	const uint64_t *rows = torus_routes_rows(h->routes[i]);
	struct torus_health *health;
	int invalid;
	uint32_t to;

	/* The health is made from scratch, with these exclusions. */
	assert_int_equal(torus_health_new(&h->shape, h->reported, &health), 0);
	invalid = torus_health_rows(health, h->from[i], h->flags[i], fresh);
	torus_health_free(health);
	for (to = 0; to < h->nodes; to++)
		if (rows[to] != fresh[to])
			fail_msg("SEED=%llu row %u to %u is %016llx, anew %016llx",
				 (unsigned long long)h->began, h->from[i], to,
				 (unsigned long long)rows[to], (unsigned long long)fresh[to]);
	assert_int_equal(torus_routes_invalid(h->routes[i]), invalid);
}

static void follow(struct history *h)
{
	unsigned int i;

	for (i = 0; i < h->n; i++) {
		const struct torus_range *range;
		uint32_t n;

		memcpy(h->was[i], torus_routes_rows(h->routes[i]), h->nodes * sizeof(uint64_t));
		assert_int_equal(torus_routes_update(h->routes[i], h->changed, h->nchanged,
						     &range, &n), 0);
		check_ranges(h, i, range, n);
		check_equal(h, i);
	}
	h->nchanged = 0;
}

static void check_health(struct history *h)
{
	uint32_t node, faults = 0;
	unsigned int p;

	memcpy(h->closed, h->reported, sizeof(h->reported));
	torus_exclusions_close(&h->shape, h->closed);
	for (node = 0; node < h->nodes; node++)
		for (p = 0; p < 2u * h->shape.ndims; p++) {
			bool there = h->shape.size[p % h->shape.ndims] > 1;
			bool down = h->closed[node] >> p & 1;

			assert_int_equal(torus_health_cut(h->health, node, p), down || !there);
			faults += down && there && p < h->shape.ndims;
		}
	assert_int_equal(torus_health_faults(h->health, NULL), faults);
}

static void updated_rows_equal_rows_made_anew(void **state)
{
	static struct history h;
	uint64_t seed = random_seed(1);
	unsigned int i, round, step, k;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (round = every() > 1 ? i % 6 : 0; round < 6; round += every()) {
			begin(&h, shapes[i], getenv("SEED") ? seed : random_next(&seed));
			for (step = 0; step < (every() > 1 ? 20 : 40); step++) {
				unsigned int batch = random_below(&h.seed, 8) ? 1 :
						     random_below(&h.seed, 30);

				for (k = 0; k < batch; k++)
					event(&h, 30 + 10 * round);
				check_health(&h);
				follow(&h);
			}
			end(&h);
		}
}

/*
 * The same for large shapes, where ids and rings are long, and for many faults, near the source and
 * far from it.
 */
static void updated_rows_of_large_torus_equal_new_ones(void **state)
{
	static const char *const large[] = { "4096x3x2", "3x4096", "33x31x29", "16x8x8x4x2x2" };
	const char *more = getenv("SHAPE");
	uint64_t seed = random_seed(3);
	unsigned int i, step;

	(void)state;
	for (i = 0; i < (more ? 1 : sizeof(large) / sizeof(large[0])); i++) {
		struct torus_shape s = shape_of(more ? more : large[i]);
		uint32_t nodes = torus_nodes(&s), from, node;
		uint64_t *anew = calloc(nodes, sizeof(*anew));
		struct torus_cable changed[TORUS_MAX_PORTS];
		struct torus_health *h;
		struct torus_routes *r;

		assert_non_null(anew);
		assert_int_equal(torus_health_new(&s, NULL, &h), 0);
		from = random_below(&seed, nodes);
		assert_int_equal(torus_routes_new(h, from, 0, &r), 0);
		for (step = 0; step < (every() > 1 ? 10 : 100); step++) {
			uint16_t ports = (uint16_t)(random_below(&seed, 3) ? 1u << random_below(
						    &seed, 2u * s.ndims) : 0);
			int n;

			node = step % 4 ? random_below(&seed, nodes) : (from + step) % nodes;
			n = torus_health_set(h, node, ports, changed);
			assert_true(n >= 0);
			assert_int_equal(torus_routes_update(r, changed, (uint32_t)n, NULL, NULL),
					 0);
			assert_int_equal(torus_health_rows(h, from, 0, anew),
					 torus_routes_invalid(r));
			assert_memory_equal(anew, torus_routes_rows(r), nodes * sizeof(*anew));
		}
		/* Computed again with the same exclusions. */
		assert_int_equal(torus_routes_update(r, NULL, 0, NULL, NULL), 0);
		assert_memory_equal(anew, torus_routes_rows(r), nodes * sizeof(*anew));
		torus_routes_free(r);
		torus_health_free(h);
		free(anew);
	}
}

/* --- relays ---------------------------------------------------------------- */

static uint32_t find(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

static void components(const struct torus_shape *s, const uint16_t *closed, uint32_t *up)
{
	uint32_t nodes = torus_nodes(s), i;
	unsigned int p;

	for (i = 0; i < nodes; i++)
		up[i] = i;
	for (i = 0; i < nodes; i++)
		for (p = 0; p < s->ndims; p++)
			if (!(closed[i] & 1u << p) && s->size[p] > 1)
				up[find(up, i)] = find(up, torus_neighbour(s, i, p));
}

/* Follows a packet from relay to relay. Return: the number of legs. */
static unsigned int chain(const struct torus_shape *s, const uint16_t *closed,
			  uint64_t rows[][64], uint32_t from, uint32_t to)
{
	unsigned int legs = 0;
	uint32_t hops;

	while (from != to) {
		uint64_t row = rows[from][to];
		uint32_t next = row & TORUS_ROW_RELAY
				? row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK : to;

		assert_true(row & TORUS_ROW_VALID);
		assert_int_equal(torus_walk(s, closed, from, next, row, NULL, 0, &hops),
				 TORUS_WALK_ARRIVED);
		assert_true(++legs <= 64);
		from = next;
	}
	return legs;
}

static void all_connected_pairs_are_reached(void **state)
{
	static const char *const small[] = { "4x4x4", "4x4", "8x2x4", "2x2x2x2x2x2", "3x3",
					     "7", "2", "1x5x3" };
	static uint64_t rows[64][64];
	unsigned int i, round, k, legs, most = 0, relayed = 0;
	uint64_t seed = random_seed(2);
	uint32_t up[64], from, to;

	(void)state;
	for (i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		struct torus_shape s = shape_of(small[i]);
		uint32_t nodes = torus_nodes(&s);

		for (round = every() / 2; round < 60; round += every()) {
			struct torus_health *health;
			uint16_t closed[64] = { 0 };

			for (k = 0; k < round * nodes / 60; k++)
				closed[random_below(&seed, nodes)] |=
					(uint16_t)(1u << random_below(&seed, 2u * s.ndims));
			torus_exclusions_close(&s, closed);
			components(&s, closed, up);
			assert_int_equal(torus_health_new(&s, closed, &health), 0);
			for (from = 0; from < nodes; from++)
				assert_true(torus_health_rows(health, from, TORUS_ROUTES_RELAY,
							      rows[from]) >= 0);
			for (from = 0; from < nodes; from++)
				for (to = 0; to < nodes; to++) {
					bool joined = find(up, from) == find(up, to);

					assert_int_equal(torus_health_component(health, from) ==
							 torus_health_component(health, to),
							 joined);
					if (!joined) {
						assert_true(rows[from][to] == 0);
						continue;
					}
					legs = chain(&s, closed, rows, from, to);
					most = legs > most ? legs : most;
					relayed += legs > 1;
				}
			torus_health_free(health);
		}
	}
	printf("%u pairs through relays, %u legs at most\n", relayed, most);
	assert_true(relayed > 100 && most > 2);
}

/* --- the rest -------------------------------------------------------------- */

/* Neighbouring destinations are searched together: each row equals the one of a search alone. */
static void pairs_equal(const char *shape, unsigned int faults, uint16_t own, uint64_t seed)
{
	static uint64_t rows[NODES_MAX];
	struct torus_shape s = shape_of(shape);
	uint32_t nodes = torus_nodes(&s), from, to;
	struct torus_health *health;
	uint64_t began = seed;

	assert_true(nodes <= NODES_MAX);
	assert_int_equal(torus_health_new(&s, NULL, &health), 0);
	from = random_below(&seed, nodes);
	for (unsigned int i = 0; i < faults; i++)
		assert_true(torus_health_set(health, random_below(&seed, nodes),
			    (uint16_t)(1u << random_below(&seed, 2u * s.ndims)), NULL) >= 0);
	assert_true(torus_health_set(health, from, own & ((1u << 2 * s.ndims) - 1), NULL) >= 0);
	assert_true(torus_health_rows(health, from, 0, rows) >= 0);
	for (to = 0; to < nodes; to++)
		if ((rows[to] & ~ROW_FLAGS) != lt_direct_row(health, from, to))
			fail_msg("SEED=%llu %s: row %u to %u is %llx, alone it is %llx",
				 (unsigned long long)began, shape, from, to,
				 (unsigned long long)rows[to],
				 (unsigned long long)lt_direct_row(health, from, to));
	torus_health_free(health);
}

static void both_engines_give_same_rows(void **state)
{
	static const char *const wide[] = { "64x4x2", "128x3x4", "100x2x3x2", "12x12x8", "8x8x8",
					    "700", "2048", "300x3", "400x2x2" };
	uint64_t seed = random_seed(11);

	(void)state;
	for (unsigned int round = 0; round < 20; round += every()) {
		unsigned int faults = 1u << random_below(&seed, 8);
		uint16_t own = random_below(&seed, 2) ? (uint16_t)random_next(&seed) : 0;

		for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
			pairs_equal(shapes[i], faults, own, random_next(&seed));
		for (unsigned int i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
			pairs_equal(wide[i], faults, own, random_next(&seed));
	}
}

/* A cable that either end excludes is not used; it is used again when neither end excludes it. */
static void cable_excluded_at_one_end_is_not_used(void **state)
{
	struct torus_shape s = shape_of("4x4");
	struct torus_cable changed[TORUS_MAX_PORTS];
	struct torus_health *h;

	(void)state;
	assert_int_equal(torus_health_new(&s, NULL, &h), 0);
	assert_int_equal(torus_health_set(h, 0, 1 << 0, changed), 1);
	assert_int_equal(changed[0].node, 0);
	assert_int_equal(changed[0].dim, 0);
	assert_true(torus_health_cut(h, 0, 0) && torus_health_cut(h, 1, 2));
	assert_true(torus_health_disagree(h, 0, 0) && torus_health_disagree(h, 1, 2));
	assert_int_equal(torus_health_set(h, 1, 1 << 2, changed), 0);
	assert_false(torus_health_disagree(h, 0, 0));
	assert_int_equal(torus_health_set(h, 0, 0, changed), 0);
	assert_true(torus_health_cut(h, 0, 0) && torus_health_disagree(h, 0, 0));
	assert_int_equal(torus_health_set(h, 1, 0, changed), 1);
	assert_false(torus_health_cut(h, 0, 0));
	torus_health_free(h);
}

static void impossible_arguments_are_refused(void **state)
{
	static const struct torus_shape bad[] = {
		{ 0, { 1, 1, 1, 1, 1, 1 } }, { 7, { 2, 2, 2, 2, 2, 2 } },
		{ 2, { 0, 4, 1, 1, 1, 1 } }, { 1, { 4097, 1, 1, 1, 1, 1 } },
		{ 2, { 4, 4, 2, 1, 1, 1 } }, { 3, { 4096, 4096, 2, 1, 1, 1 } },
		{ 6, { 4096, 4096, 4096, 4096, 4096, 4096 } },
	};
	struct torus_shape s = shape_of("4x1");
	struct torus_routes *r;
	struct torus_health *h;
	uint64_t rows[4];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(torus_health_new(&bad[i], NULL, &h), -EINVAL);
		assert_null(h);
	}
	assert_int_equal(torus_health_new(&s, NULL, &h), 0);
	assert_int_equal(torus_health_set(h, 4, 1, NULL), -EINVAL);
	assert_int_equal(torus_health_set(h, 0, 1 << 4, NULL), -EINVAL);
	assert_int_equal(torus_health_faults(h, NULL), 0);
	/* A dimension of size 1 has no cable to exclude. */
	assert_int_equal(torus_health_set(h, 0, 1 << 1, NULL), 0);
	assert_true(torus_health_cut(h, 0, 1) && torus_health_cut(h, 0, 9));
	assert_true(torus_health_cut(h, 4, 0));
	assert_int_equal(torus_routes_new(h, 4, 0, &r), -EINVAL);
	assert_null(r);
	assert_int_equal(torus_health_rows(h, 4, 0, rows), -EINVAL);
	assert_int_equal(torus_health_component(h, 4), TORUS_NO_NODE);
	torus_routes_free(NULL);
	torus_health_free(NULL);
	torus_health_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(updated_rows_equal_rows_made_anew),
		cmocka_unit_test(updated_rows_of_large_torus_equal_new_ones),
		cmocka_unit_test(all_connected_pairs_are_reached),
		cmocka_unit_test(both_engines_give_same_rows),
		cmocka_unit_test(cable_excluded_at_one_end_is_not_used),
		cmocka_unit_test(impossible_arguments_are_refused),
	};

	return cmocka_run_group_tests_name("routes", tests, NULL, NULL);
}
