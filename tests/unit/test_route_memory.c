// SPDX-License-Identifier: GPL-2.0-only
/*
 * Routing without enough memory: each request for memory is refused in turn. The call then fails as
 * <torus/route.h> says, nothing leaks, and later calls give right results. Also, how much memory is
 * used when there is enough.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <torus/route.h>
#include <torus/topology.h>
#include "tests/unit/memory.h"
#include "tests/unit/random.h"

#define NODES_MAX 256
#define MORE 1000		/* more than the requests for memory of any call */

static struct torus_shape shape_of(const char *text)
{
	struct torus_shape s;

	assert_int_equal(torus_shape_parse(text, &s), 0);
	return s;
}

/* Random exclusions, so many that some destinations are only reached through relays. */
static void exclude(const struct torus_shape *s, uint16_t *excluded, unsigned int n,
		    uint64_t *seed)
{
	memset(excluded, 0, NODES_MAX * sizeof(*excluded));
	while (n--)
		excluded[random_below(seed, torus_nodes(s))] |=
			(uint16_t)(1u << random_below(seed, 2u * s->ndims));
	torus_exclusions_close(s, excluded);
}

static void health_without_memory_fails_cleanly(void **state)
{
	struct torus_shape s = shape_of("4x4x4");
	uint16_t excluded[NODES_MAX];
	uint64_t seed = random_seed(1);
	size_t before = memory_blocks();
	struct torus_health *h;
	unsigned int n;

	(void)state;
	exclude(&s, excluded, 40, &seed);
	for (n = 1; n < MORE; n++) {
		int err;

		h = (struct torus_health *)&s;
		memory_fails_at(n);
		err = torus_health_new(&s, excluded, &h);
		if (!memory_failed())
			break;
		assert_int_equal(err, -ENOMEM);
		assert_null(h);
		assert_int_equal(memory_blocks(), before);
	}
	assert_in_range(n, 3, MORE - 1);
	/* Past the last node there is no memory to read. */
	assert_false(torus_health_disagree(h, torus_nodes(&s), 0));
	assert_true(torus_health_cut(h, torus_nodes(&s), 0));
	torus_health_free(h);
	assert_int_equal(memory_blocks(), before);
}

/* A change that gets no memory changes nothing; the same change, with memory, succeeds. */
static void change_without_memory_changes_nothing(void **state)
{
	struct torus_shape s = shape_of("8x8x4");
	struct torus_cable changed[TORUS_MAX_PORTS];
	unsigned int refused = 0;
	struct torus_health *h;
	uint32_t node;

	(void)state;
	assert_int_equal(torus_health_new(&s, NULL, &h), 0);
	for (node = 0; node < torus_nodes(&s); node++) {
		uint32_t faults = torus_health_faults(h, NULL);
		int ret;

		memory_fails_at(1);
		ret = torus_health_set(h, node, 7, changed);
		if (memory_failed()) {
			refused++;
			assert_int_equal(ret, -ENOMEM);
			assert_int_equal(torus_health_faults(h, NULL), faults);
			for (unsigned int p = 0; p < 3; p++) {
				assert_false(torus_health_cut(h, node, p));
				assert_false(torus_health_disagree(h, node, p));
			}
			ret = torus_health_set(h, node, 7, changed);
		}
		assert_int_equal(ret, 3);
		assert_int_equal(torus_health_faults(h, NULL), faults + 3);
	}
	/* The array of excluded cables doubles when it is full. */
	assert_in_range(refused, 2, 8);
	for (node = 0; node < torus_nodes(&s); node++)
		assert_int_equal(torus_health_set(h, node, 0, changed), 3);
	assert_int_equal(torus_health_faults(h, NULL), 0);
	torus_health_free(h);
}

static void components_without_memory_fail_cleanly(void **state)
{
	struct torus_shape s = shape_of("4x2");
	uint16_t excluded[NODES_MAX] = { 0 };
	struct torus_health *h;
	unsigned int n, failed = 0;

	(void)state;
	/* 1 and 2 are separated from 0 and 3, in both rings. */
	excluded[0] = excluded[2] = excluded[4] = excluded[6] = 1;
	for (n = 1; n < MORE; n++) {
		assert_int_equal(torus_health_new(&s, excluded, &h), 0);
		memory_fails_at(n);
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t lowest = torus_health_component(h, i);

			failed += lowest == TORUS_NO_NODE;
			if (lowest != TORUS_NO_NODE)
				assert_int_equal(lowest, i % 4 == 1 || i % 4 == 2);
		}
		/* At most one of all calls was refused. */
		assert_int_equal(failed, memory_failed() ? n : n - 1);
		torus_health_free(h);
		if (failed < n)
			break;
	}
	assert_in_range(n, 2, MORE - 1);
}

/* Computes the rows of node 5 in one of three ways. */
static int rows_by(unsigned int way, const struct torus_shape *s, const uint16_t *excluded,
		   struct torus_health *h, uint64_t *rows)
{
	struct torus_routes *r = (struct torus_routes *)h;
	int err;

	if (way == 0)
		return torus_route_rows(s, excluded, 5, rows);
	if (way == 1)
		return torus_health_rows(h, 5, TORUS_ROUTES_RELAY, rows);
	err = torus_routes_new(h, 5, TORUS_ROUTES_RELAY, &r);
	if (err) {
		assert_null(r);
		return err;
	}
	memcpy(rows, torus_routes_rows(r), torus_nodes(s) * sizeof(*rows));
	torus_routes_free(r);
	return 0;
}

/* Rows are right, or the call fails: a search may do without some of its memory. */
static void rows_without_memory_are_right_or_refused(void **state)
{
	struct torus_shape s = shape_of("4x4x4");
	uint16_t excluded[NODES_MAX];
	uint64_t seed = random_seed(2), rows[NODES_MAX], want[NODES_MAX];
	struct torus_health *h;
	unsigned int n, refused;
	bool failed = true;

	(void)state;
	for (unsigned int way = 0; way < 3; way++) {
		exclude(&s, excluded, 60, &seed);
		assert_int_equal(torus_health_new(&s, excluded, &h), 0);
		assert_true(rows_by(way, &s, excluded, h, want) >= 0);
		torus_health_free(h);
		for (n = 1, refused = 0; failed || n == 1; n++) {
			size_t before = memory_blocks();
			int err;

			assert_int_equal(torus_health_new(&s, excluded, &h), 0);
			memory_fails_at(n);
			err = rows_by(way, &s, excluded, h, rows);
			failed = memory_failed();
			if (err < 0)
				assert_true(failed && err == -ENOMEM);
			else
				assert_memory_equal(rows, want, sizeof(want[0]) * torus_nodes(&s));
			refused += err < 0;
			torus_health_free(h);
			assert_int_equal(memory_blocks(), before);
		}
		assert_in_range(refused, 2, n - 2);
	}
}

/**
 * struct follower - rows that are updated with a health, and a driver's copy of them, which only
 * gets the ranges that an update returns
 */
struct follower {
	struct torus_shape shape;
	uint16_t reported[NODES_MAX];
	struct torus_health *health;
	struct torus_routes *routes;
	uint64_t copy[NODES_MAX];
};

static void take(struct follower *f, const struct torus_range *range, uint32_t n)
{
	for (; n--; range++)
		memcpy(f->copy + range->first, torus_routes_rows(f->routes) + range->first,
		       range->count * sizeof(f->copy[0]));
}

static void check(const struct follower *f, uint32_t from)
{
	size_t size = torus_nodes(&f->shape) * sizeof(uint64_t);
	uint64_t rows[NODES_MAX];
	struct torus_health *h;

	assert_int_equal(torus_health_new(&f->shape, f->reported, &h), 0);
	assert_int_equal(torus_health_rows(h, from, TORUS_ROUTES_RELAY, rows),
			 torus_routes_invalid(f->routes));
	assert_memory_equal(torus_routes_rows(f->routes), rows, size);
	assert_memory_equal(f->copy, rows, size);
	torus_health_free(h);
}

/* Return: a node without any cable; its rows are always computed anew. */
static bool alone(const struct follower *f, uint32_t from)
{
	for (unsigned int p = 0; p < 2u * f->shape.ndims; p++)
		if (!torus_health_cut(f->health, from, p))
			return false;
	return true;
}

/*
 * Some nodes exclude other cables; request @n of the update is refused. If the update fails, the
 * next one, which is given no cables, does not. Return: whether it failed.
 */
static bool update(struct follower *f, uint32_t from, unsigned int n, uint64_t *seed)
{
	struct torus_cable changed[8 * TORUS_MAX_PORTS];
	const struct torus_range *range;
	uint32_t count = 0, ranges = 0;
	bool failed;
	int err;

	for (unsigned int i = 1 + random_below(seed, 8); i--; ) {
		uint32_t node = random_below(seed, torus_nodes(&f->shape));

		f->reported[node] ^= (uint16_t)(1u << random_below(seed, 2u * f->shape.ndims));
		err = torus_health_set(f->health, node, f->reported[node], changed + count);
		assert_true(err >= 0);
		count += (uint32_t)err;
	}
	memory_fails_at(n);
	err = torus_routes_update(f->routes, random_below(seed, 4) ? changed : NULL, count,
				  &range, &ranges);
	failed = memory_failed();
	assert_true(err == 0 || (failed && err == -ENOMEM));
	if (err)
		assert_int_equal(torus_routes_update(f->routes, changed, 0, &range, &ranges), 0);
	take(f, range, ranges);
	check(f, from);
	/* Without a change there is nothing to write. */
	assert_int_equal(torus_routes_update(f->routes, changed, 0, &range, &ranges), 0);
	assert_true(ranges == 0 || alone(f, from));
	return err;
}

/* After a failure the next update computes all rows, and returns all of them as changed. */
static void update_after_failure_returns_all_rows(void **state)
{
	uint64_t seed = random_seed(3);
	unsigned int failed = 0;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		struct follower f = { .shape = shape_of(round % 2 ? "5x3x4" : "4x8") };
		uint32_t from = random_below(&seed, torus_nodes(&f.shape));
		size_t before = memory_blocks();

		assert_int_equal(torus_health_new(&f.shape, NULL, &f.health), 0);
		assert_int_equal(torus_routes_new(f.health, from, TORUS_ROUTES_RELAY,
						  &f.routes), 0);
		memcpy(f.copy, torus_routes_rows(f.routes),
		       torus_nodes(&f.shape) * sizeof(f.copy[0]));
		for (unsigned int step = 0; step < 12; step++)
			failed += update(&f, from, 1 + random_below(&seed, 3), &seed);
		torus_routes_free(f.routes);
		torus_health_free(f.health);
		assert_int_equal(memory_blocks(), before);
	}
	assert_true(failed > 30);
}

static void verification_without_memory_fails_cleanly(void **state)
{
	static uint64_t rows[NODES_MAX][NODES_MAX];
	struct torus_shape s = shape_of("3x4");
	uint16_t excluded[NODES_MAX];
	const uint64_t *list[NODES_MAX];
	struct torus_tables table = { .rows = list };
	struct torus_verify v = { .shape = &s, .excluded = excluded, .tables = &table, .n = 1 };
	struct torus_verified found;
	uint64_t seed = random_seed(4);
	size_t before = memory_blocks();
	unsigned int n;

	(void)state;
	exclude(&s, excluded, 3, &seed);
	for (uint32_t i = 0; i < torus_nodes(&s); i++) {
		assert_true(torus_route_rows(&s, excluded, i, rows[i]) >= 0);
		list[i] = rows[i];
	}
	for (n = 1; n < MORE; n++) {
		int err;

		memory_fails_at(n);
		err = torus_verify(&v, &found);
		assert_int_equal(err, memory_failed() ? -ENOMEM : 0);
		assert_int_equal(memory_blocks(), before);
		if (!err)
			break;
	}
	assert_in_range(n, 12, MORE - 1);
	assert_true(found.pairs > 0);
}

static uint32_t ring_next(void *arg, uint32_t v, unsigned int port)
{
	uint32_t n = *(uint32_t *)arg;

	return (v + (port ? n - 1 : 1)) % n;
}

/* Addresses by either kind of matching. A step may do without the last of its memory. */
static void addresses_without_memory_are_right_or_refused(void **state)
{
	static const enum torus_dm_match kinds[] = { TORUS_DM_EXACT, TORUS_DM_DOMINANT };
	uint32_t n = 37, gateway[TORUS_DM_DIGITS_MAX];
	const struct torus_graph g = { .n = n, .degree = 2, .next = ring_next, .arg = &n };
	uint16_t hops[2 * TORUS_DM_DIGITS_MAX];
	uint8_t port[TORUS_DM_DIGITS_MAX];
	size_t before = memory_blocks();
	struct torus_dm *dm;

	(void)state;
	for (int k = 0; k < 2; k++) {
		const struct torus_dm_rule rule = { .match = kinds[k] };
		bool failed = true;
		unsigned int i;
		int err;

		for (i = 1; failed && i < MORE; i++) {
			dm = NULL;
			memory_fails_at(i);
			err = torus_dm_new(&g, &rule, &dm);
			failed = memory_failed();
			assert_true(!err || (failed && err == -ENOMEM));
			assert_true(!err == (dm != NULL));
			torus_dm_free(dm);
			assert_int_equal(memory_blocks(), before);
		}
		assert_in_range(i, 20, MORE - 1);
		assert_int_equal(torus_dm_new(&g, &rule, &dm), 0);
		for (i = 1; i <= 2; i++) {
			memory_fails_at(i);
			assert_int_equal(torus_dm_tables(dm, 5, port, gateway, hops), -ENOMEM);
			assert_true(memory_failed());
		}
		torus_dm_free(dm);
		assert_int_equal(memory_blocks(), before);
	}
}

/* In so large a torus only the memory for each node matters. */
static void memory_per_node_is_bounded(void **state)
{
	struct torus_shape s = shape_of("32x16x16");
	size_t before = memory_bytes(), health, nodes = torus_nodes(&s);
	struct torus_health *h;
	struct torus_routes *r;

	(void)state;
	assert_int_equal(torus_health_new(&s, NULL, &h), 0);
	health = memory_bytes() - before;
	/* The exclusions of nodes, and in three dimensions a bit per broken ring and per cable. */
	assert_true(health < 8 * nodes);
	assert_int_equal(torus_routes_new(h, 77, TORUS_ROUTES_RELAY, &r), 0);
	/* Nothing but the rows, until a cable is excluded. */
	assert_true(memory_bytes() - before - health < 8 * nodes + 1024);
	torus_routes_free(r);
	torus_health_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(health_without_memory_fails_cleanly),
		cmocka_unit_test(change_without_memory_changes_nothing),
		cmocka_unit_test(components_without_memory_fail_cleanly),
		cmocka_unit_test(rows_without_memory_are_right_or_refused),
		cmocka_unit_test(update_after_failure_returns_all_rows),
		cmocka_unit_test(verification_without_memory_fails_cleanly),
		cmocka_unit_test(addresses_without_memory_are_right_or_refused),
		cmocka_unit_test(memory_per_node_is_bounded),
	};

	return cmocka_run_group_tests_name("route_memory", tests, NULL, NULL);
}
