// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim route: the engines that it compares with ours, by a model; and the command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "tests/unit/naive.h"
#include "tests/unit/program.h"
#include "tests/unit/random.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricsim/route_engine.h"

const struct program this_program = { .name = "test_fabricsim_route" };

static struct model m;
static uint16_t closed[NODES_MAX];

/* A torus with @cuts dead cables. */
static void begin(const char *shape, unsigned int cuts, uint64_t *random)
{
	model_make(&m, shape);
	for (unsigned int i = 0; i < cuts; i++)
		m.reported[random_below(random, m.nodes)] |= (uint16_t)(1u << random_below(random, 2 * m.n));
	memcpy(closed, m.reported, sizeof(closed));
	torus_exclusions_close(&m.shape, closed);
}

/* The fewest hops of all choices of a direction for each dimension, or NEVER. */
static uint32_t best_signs(uint32_t from, uint32_t to)
{
	uint32_t best = NEVER;

	for (unsigned int signs = 0; signs < 1u << m.n; signs++) {
		struct head h = { .first = NO_STEP, .last = NO_STEP };
		uint32_t hops;

		for (unsigned int d = 0; d < m.n; d++)
			if (m.c[from][d] != m.c[to][d])
				h.dirs |= 1u << (signs >> d & 1 ? m.n + d : d);
		hops = travel(&m, from, to, &h);
		best = hops < best ? hops : best;
	}
	return best;
}

/*
 * The directions that the paper's walk takes, said in another way: +x from the source, if it is
 * healthy; then +y from where that led, or from the source; ... Return: false: it ends elsewhere.
 */
static bool paper_walk(uint32_t from, uint32_t to, unsigned int *dirs)
{
	*dirs = 0;
	for (unsigned int port = 0; port < 2 * m.n; port++) {
		unsigned int d = port < m.n ? port : port - m.n;
		uint32_t at = from;
		bool healthy = true;

		if (m.c[from][d] == m.c[to][d])
			continue;
		for (; m.c[at][d] != m.c[to][d]; at = m.next[at][port])
			healthy &= !dead(&m, at, port);
		if (!healthy)
			continue;
		*dirs |= 1u << port;
		from = at;
	}
	return from == to;
}

static void check_pair(uint32_t from, uint32_t to)
{
	uint64_t walk = route_engine_row(ROUTE_WALK, &m.shape, closed, from, to);
	uint64_t signs = route_engine_row(ROUTE_SIGNS, &m.shape, closed, from, to);
	uint32_t best = best_signs(from, to);
	unsigned int dirs;

	if (paper_walk(from, to, &dirs)) {
		struct head h = head_of(walk);

		assert_true(walk & TORUS_ROW_VALID);
		assert_int_equal(h.dirs, dirs);
		assert_true(h.first == NO_STEP && h.last == NO_STEP);
		assert_true(travel(&m, from, to, &h) >= best && travel(&m, from, to, &h) != NEVER);
	} else {
		assert_int_equal(walk, 0);
	}
	if (best == NEVER) {
		assert_int_equal(signs, 0);
	} else {
		struct head h = head_of(signs);

		assert_true(signs & TORUS_ROW_VALID);
		assert_int_equal(travel(&m, from, to, &h), best);
	}
}

static void rows_of_each_engine_equal_model(void **state)
{
	static const char *const shapes[] = { "2", "5", "4x4", "3x2", "1x4x3", "4x4x4", "2x2x2x2" };
	uint64_t random = random_seed(1);

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		begin(shapes[i % 7], i / 7 * 2, &random);
		for (uint32_t from = 0; from < m.nodes; from++)
			for (uint32_t to = 0; to < m.nodes; to++)
				check_pair(from, to);
	}
}

/* A ring of five without faults: the walk goes +x wherever it leads, all round if need be. */
static void walk_goes_positive_way_all_round_if_need_be(void **state)
{
	uint64_t random = 1;

	(void)state;
	begin("5", 0, &random);
	assert_int_equal(head_of(route_engine_row(ROUTE_WALK, &m.shape, closed, 1, 0)).dirs, 1);
	assert_int_equal(head_of(route_engine_row(ROUTE_SIGNS, &m.shape, closed, 1, 0)).dirs, 2);
	closed[3] |= 1;
	closed[4] |= 2;
	assert_int_equal(head_of(route_engine_row(ROUTE_WALK, &m.shape, closed, 1, 0)).dirs, 2);
	closed[1] |= 2;
	closed[0] |= 1;
	assert_int_equal(route_engine_row(ROUTE_WALK, &m.shape, closed, 1, 0), 0);
	assert_int_equal(head_of(route_engine_row(ROUTE_WALK, &m.shape, closed, 1, 1)).dirs, 0);
}

static json_int_t of(const json_t *points, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(points, i), key));
}

/* On the same fabrics each engine serves no fewer pairs than the one before; relays serve all. */
static void each_engine_serves_no_fewer_pairs(void **state)
{
	static const char *const names[] = { "walk", "signs", "steps", "relays" };
	json_t *all, *points;

	(void)state;
	expect("route --json --shape 4x4x4 --cut-links 2,9 --fabrics 30 "
	       "--engine walk,signs,steps,relays", OK);
	all = printed();
	points = json_object_get(all, "points");
	assert_int_equal(json_array_size(points), 8);
	for (size_t i = 0; i < 8; i++) {
		const json_t *p = json_array_get(points, i);

		assert_string_equal(json_string_value(json_object_get(p, "engine")), names[i / 2]);
		assert_int_equal(of(points, i, "cut_links"), i % 2 ? 9 : 2);
		assert_true(json_is_true(json_object_get(p, "deadlock_free")));
		assert_int_equal(of(points, i, "pairs"), of(points, i % 2, "pairs"));
		if (i >= 2)
			assert_true(of(points, i, "unroutable_pairs") <=
				    of(points, i - 2, "unroutable_pairs"));
		assert_true(of(points, i, "relayed_pairs") == 0 || i / 2 == ROUTE_RELAYS);
	}
	assert_true(of(points, 1, "unroutable_pairs") > of(points, 3, "unroutable_pairs"));
	assert_true(of(points, 3, "unroutable_pairs") > of(points, 5, "unroutable_pairs"));
	assert_int_equal(of(points, 7, "unroutable_pairs"), 0);
	assert_int_equal(of(points, 7, "relayed_pairs"), of(points, 5, "unroutable_pairs"));
	/* +x first costs the walk about half of the hops more. */
	assert_true(json_number_value(json_object_get(json_array_get(points, 0), "mean_hops")) > 4.2);
	assert_true(json_number_value(json_object_get(json_array_get(points, 2), "mean_hops")) < 3.2);
	json_decref(all);
}

/* The default is what fabricd does; mean and longest path of a healthy ring of four. */
static void default_engine_is_that_of_fabricd(void **state)
{
	json_t *all, *p;

	(void)state;
	expect("route --json --shape 4 --fabrics 1", OK);
	all = printed();
	p = json_array_get(json_object_get(all, "points"), 0);
	assert_string_equal(json_string_value(json_object_get(p, "engine")), "relays");
	assert_float_equal(json_number_value(json_object_get(p, "mean_hops")), 4.0 / 3, 1e-9);
	assert_int_equal(json_integer_value(json_object_get(p, "max_hops")), 2);
	json_decref(all);
	expect("route --json --shape 4 --fabrics 1 --engine walk", OK);
	all = printed();
	p = json_array_get(json_object_get(all, "points"), 0);
	assert_float_equal(json_number_value(json_object_get(p, "mean_hops")), 2, 1e-9);
	assert_int_equal(json_integer_value(json_object_get(p, "tables_ms_all")), 0);
	json_decref(all);
}

static void wrong_route_options_are_refused(void **state)
{
	static const struct {
		const char *args, *says;
	} bad[] = {
		{ "--engine greedy", "walk, signs, steps" }, { "--engine walk,", "engine" },
		{ "--shape 4x0", "4x0" }, { "--cut-links 2.5", "2.5" }, { "--dead-nodes 64", "64" },
		{ "--no-relays", "--no-relays" }, { "--svg /nonexistent/x", "cannot write" },
	};
	char args[128];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(args, sizeof(args), "route %s", bad[i].args);
		expect(args, CANNOT);
		has(err, bad[i].says);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(rows_of_each_engine_equal_model),
		cmocka_unit_test(walk_goes_positive_way_all_round_if_need_be),
		cmocka_unit_test(each_engine_serves_no_fewer_pairs),
		cmocka_unit_test(default_engine_is_that_of_fabricd),
		cmocka_unit_test(wrong_route_options_are_refused),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests_name("fabricsim route", all, NULL, NULL);
}
