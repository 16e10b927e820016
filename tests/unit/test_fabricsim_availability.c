// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabricsim availability: formulas compared with results by hand and with a simulated clock;
 * formulas and random draws compared with all states of small tori; the figures of the README.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <torus/route.h>

#include "tests/unit/program.h"
#include "tests/unit/random.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricsim/avail_formula.h"
#include "tools/fabricsim/avail_option.h"
#include "tools/fabricsim/avail_sample.h"

const struct program this_program = { .name = "test_fabricsim_availability" };

static const struct torus_shape cube = { .ndims = 3, .size = { 16, 16, 16, 1, 1, 1 } };

/* --- by hand ------------------------------------------------------------------ */

/*
 * Four nodes and four links: in 40 hours of service 4 faults of nodes and 8 of links. One
 * fifth of the time is cut by links, a quarter of an hour for each of service; half of it if
 * nodes are masked.
 */
static void availability_equals_value_computed_by_hand(void **state)
{
	struct avail a = {
		.nodes = 4, .links = 4, .mtbf_node = 40, .mtbf_link = 20, .mttr = 1,
		.outage_node = 0.5, .outage_link = 0.1, .cut_links = 0.2, .cut_nodes = 0.5,
	};
	struct avail_k series = avail_series(&a), own = avail_independent(&a);

	(void)state;
	assert_float_equal(series.without, 40 / (40. + 4 + 8), 1e-12);
	assert_float_equal(series.with, 40 / (40. + 4 + 0.8 + 10), 1e-12);
	assert_float_equal(series.masked, 40 / (40. + 2 + 0.8 + 40), 1e-12);
	assert_float_equal(own.without, pow(40 / 41., 4) * pow(20 / 21., 4), 1e-12);
	/* 4 / 41 faults of nodes and 4 / 21 of links an hour */
	assert_float_equal(own.with, 0.8 * pow(40 / 41., 4) * exp(-0.1 * 4 / 21), 1e-12);
	assert_float_equal(own.masked, 0.5 * exp(-0.5 * 4 / 41 - 0.1 * 4 / 21), 1e-12);
	/* Several faults of one node's links are negligible: 4096 times 10^-30. */
	assert_float_equal(avail_cut(&cube, 4096, 0, 1e-5) / 4.096e-27, 1, 1e-9);
}

static double value(json_t *all, const char *list, size_t i, const char *key)
{
	json_t *v = json_object_get(json_array_get(json_object_get(all, list), i), key);

	assert_true(json_is_number(v));
	return json_number_value(v);
}

/* The tables of tools/fabricsim/README.md, to the digits that they have. */
static void availability_equals_tables_of_readme(void **state)
{
	static const double want[][4] = {
		/* without, with, 1 - with nodes masked, without if mended on their own */
		{ 0.9980, 0.99994, 2e-9, 0.9980 },
		{ 0.8873, 0.9959, 1.1e-7, 0.8808 },
		{ 0.4961, 0.9683, 8e-7, 0.3621 },
		{ 0.0313, 0.5000, 2.6e-5, 3e-14 },
	}, dims[] = { 0.957, 0.921, 0.887, 0.856, 0.827, 0.800 };
	json_t *all;

	(void)state;
	expect("availability --nodes 64,4096,32768,1000000 --json", OK);
	all = printed();
	for (size_t i = 0; i < 4; i++) {
		assert_float_equal(value(all, "points", i, "without"), want[i][0], 0.00006);
		assert_float_equal(value(all, "points", i, "with"), want[i][1], 0.00005);
		assert_float_equal((1 - value(all, "points", i, "with_nodes_masked")) / want[i][2],
				   1, 0.2);
		assert_float_equal(value(all, "points", i, "without_independent"), want[i][3], 0.00005);
	}
	/* 3 ms of outage for each bypassed fault, of 3 links per node and of nodes. */
	assert_float_equal(1 - value(all, "points", 3, "with_nodes_masked"),
			   1e6 * (1e-6 + 3e-5) * 0.003 / 3600, 1e-9);
	/* 99 hours of service for each hour of outage: (1e-6 + 3e-5) N, and 1e-6 N. */
	assert_int_equal(value(all, "limits", 0, "without"), 325);
	assert_int_equal(value(all, "limits", 0, "with"), 10100);
	json_decref(all);
	expect("availability --nodes 1000000 --recovery-node 2.5 --json", OK);
	all = printed();
	assert_float_equal(value(all, "points", 0, "with_nodes_masked"), 0.9993, 0.00005);
	json_decref(all);
	expect("availability --dims 1:6:1 --nodes 4096 --json", OK);
	all = printed();
	for (size_t i = 0; i < 6; i++)
		assert_float_equal(value(all, "points", i, "without"), dims[i], 0.0005);
	assert_int_equal(value(all, "limits", 0, "with"), 7451);
	json_decref(all);
}

/* --- all states of small tori ------------------------------------------------ */

/**
 * struct all - probabilities summed over every state
 * @cut: of some living nodes not being joined; @unserved: or of a pair without a header
 * @alone: expected number of nodes that live and are isolated
 */
struct all {
	double cut, unserved, alone;
};

#define NODES_MAX 16

/** struct around - the neighbours of each node in each direction */
struct around {
	uint32_t far[NODES_MAX][2 * TORUS_MAX_DIMS];
};

static struct around around_of(const struct torus_shape *s)
{
	struct around a = { 0 };

	for (uint32_t i = 0; i < torus_nodes(s); i++)
		for (unsigned int dir = 0; dir < 2u * s->ndims; dir++)
			a.far[i][dir] = torus_neighbour(s, i, dir);
	return a;
}

/* Lowest node of each node's component, by relaxing until nothing changes. */
static void join(const struct torus_shape *s, const struct around *a, const uint16_t *excluded,
		 uint32_t *of)
{
	uint32_t nodes = torus_nodes(s);
	bool more = true;

	for (uint32_t i = 0; i < nodes; i++)
		of[i] = i;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < nodes; i++)
			for (unsigned int dir = 0; dir < 2u * s->ndims; dir++) {
				uint32_t to = a->far[i][dir];

				if (excluded[i] & 1u << dir || of[to] >= of[i])
					continue;
				of[i] = of[to];
				more = true;
			}
	}
}

static void weigh(const struct torus_shape *s, const struct around *a, const uint16_t *excluded,
		  uint32_t dead, double chance, bool headers, struct all *all)
{
	uint32_t nodes = torus_nodes(s), of[NODES_MAX], first = nodes, living = 0;
	uint64_t rows[NODES_MAX];
	bool cut = false, unserved = false;

	join(s, a, excluded, of);
	for (uint32_t i = 0; i < nodes; i++) {
		unsigned int links = 0;

		if (dead >> i & 1)
			continue;
		living++;
		first = first == nodes ? i : first;
		cut |= of[i] != of[first];
		for (unsigned int dir = 0; dir < 2u * s->ndims; dir++)
			links += a->far[i][dir] != i && !(excluded[i] & 1u << dir);
		all->alone += links ? 0 : chance;
		if (headers)
			unserved |= torus_route_rows(s, excluded, i, rows) !=
				    __builtin_popcount(dead);
	}
	all->cut += cut || !living ? chance : 0;
	all->unserved += cut || !living || unserved ? chance : 0;
}

/* Each fault closes the ports that torus_exclusions_close() says; several faults close all of these. */
static struct all all_states(const struct torus_shape *s, double v, double u, bool headers)
{
	uint16_t faults[32][NODES_MAX] = { 0 };	/* what each fault excludes, cables first */
	struct around a = around_of(s);
	uint32_t nodes = torus_nodes(s), n = 0, fallible = v > 0 ? nodes : 0;
	struct all all = { 0 };

	for (uint32_t i = 0; i < nodes; i++)
		for (unsigned int d = 0; d < s->ndims; d++)
			if (s->size[d] > 1)
				faults[n++][i] = (uint16_t)(1u << d);
	for (uint32_t i = 0; i < fallible; i++)
		faults[n + i][i] = (uint16_t)((1u << 2 * s->ndims) - 1);
	for (uint32_t i = 0; i < n + fallible; i++)
		torus_exclusions_close(s, faults[i]);
	for (uint32_t state = 0; state < 1u << (fallible + n); state++) {
		uint32_t dead = state >> n, cut = state & ((1u << n) - 1);
		unsigned int ndead = (unsigned int)__builtin_popcount(dead);
		unsigned int ncut = (unsigned int)__builtin_popcount(cut);
		uint16_t excluded[NODES_MAX] = { 0 };

		for (uint32_t left = state; left; left &= left - 1)
			for (uint32_t i = 0; i < nodes; i++)
				excluded[i] |= faults[__builtin_ctz(left)][i];
		weigh(s, &a, excluded, dead, pow(v, ndead) * pow(1 - v, fallible - ndead) *
		      pow(u, ncut) * pow(1 - u, n - ncut), headers, &all);
	}
	return all;
}

/* The formula is exact for rings, and for one isolated node of any torus. */
static void formula_is_exact_for_rings_and_one_isolated_node(void **state)
{
	static const struct torus_shape some[] = {
		{ 1, { 2, 1, 1, 1, 1, 1 } }, { 1, { 3, 1, 1, 1, 1, 1 } }, { 1, { 4, 1, 1, 1, 1, 1 } },
		{ 1, { 7, 1, 1, 1, 1, 1 } }, { 2, { 2, 2, 1, 1, 1, 1 } }, { 2, { 2, 3, 1, 1, 1, 1 } },
		{ 3, { 1, 2, 3, 1, 1, 1 } },
	};
	static const double chance[][2] = { { 0, 0.3 }, { 0.2, 0.1 }, { 0.01, 0.4 } };

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		for (size_t j = 0; j < 3; j++) {
			double v = chance[j][0], u = chance[j][1];
			struct all all = all_states(&some[i], v, u, false);
			uint32_t nodes = torus_nodes(&some[i]);

			assert_float_equal(nodes * avail_alone(&some[i], v, u), all.alone, 1e-12);
			if (some[i].ndims == 1)
				assert_float_equal(avail_cut(&some[i], nodes, v, u), all.cut, 1e-12);
		}
}

static struct sample_found drawn(const struct sample_case *c, uint64_t seed, size_t runs)
{
	struct sample_run *run = calloc(runs, sizeof(*run));
	struct sample_found found;
	struct sample_plan *plan;

	assert_int_equal(sample_plan_new(c, &plan), 0);
	for (size_t i = 0; i < runs; i++)
		assert_int_equal(sample_run(plan, seed + i, &run[i]), 0);
	found = sample_sum(plan, run, runs);
	assert_int_equal(found.impossible, 0);
	free(plan);
	free(run);
	return found;
}

static const struct sample_case small[] = {
	{ { 1, { 5, 1, 1, 1, 1, 1 } }, 0.05, 0.1, true, 4000 },
	{ { 1, { 2, 1, 1, 1, 1, 1 } }, 0.3, 0.2, true, 4000 },
	{ { 2, { 2, 3, 1, 1, 1, 1 } }, 0.05, 0.15, true, 4000 },
	{ { 2, { 2, 2, 1, 1, 1, 1 } }, 0.2, 0.3, true, 4000 },
	{ { 3, { 1, 2, 3, 1, 1, 1 } }, 0, 0.3, true, 4000 },
	{ { 2, { 3, 3, 1, 1, 1, 1 } }, 0, 0.2, true, 4000 },
	{ { 2, { 2, 3, 1, 1, 1, 1 } }, 0, 0.3, false, 4000 },
	/* rare: 10^-11 and 10^-9, which plain random draws would never see */
	{ { 2, { 3, 3, 1, 1, 1, 1 } }, 0, 1e-3, true, 1000 },
	{ { 2, { 2, 3, 1, 1, 1, 1 } }, 1e-3, 2e-3, true, 1000 },
};

/* @halves: of the interval, wider on the side of what was not seen */
static bool holds(const struct sample_found *f, double right, double halves)
{
	return right >= f->cut - halves * f->error &&
	       right <= f->cut + halves * (f->error + f->unseen);
}

static void drawn_states_agree_with_all_states(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		const struct sample_case *c = &small[i];
		struct all all = all_states(&c->shape, c->node_down, c->link_down, !c->relays);
		double right = c->relays ? all.cut : all.unserved;
		struct sample_found f = drawn(c, 1000 * i, 4);

		/* half an interval is two standard deviations: allow four */
		if (!holds(&f, right, 2) || f.error > 0.01 + right / 2)
			fail_msg("case %zu: drawn %g +- %g, right is %g", i, f.cut, f.error, right);
	}
	/* The rare ones: to a part in ten, of 10^-11. */
	assert_float_equal(drawn(&small[7], 7, 4).alone / 9e-12, 1, 0.1);
}

/* Confidence intervals are right: about 95 in 100 contain the right value. */
static void confidence_intervals_contain_value_in_95_percent(void **state)
{
	const struct sample_case *c = &small[2];
	double right = all_states(&c->shape, c->node_down, c->link_down, false).cut;
	struct sample_case few = *c;
	unsigned int held = 0;

	(void)state;
	few.states = 200;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct sample_found f = drawn(&few, seed, 1);

		held += holds(&f, right, 1);
	}
	assert_in_range(held, 180, 200);
}

/* More states count as cut if relays may not be used. */
static void more_states_are_cut_without_relays(void **state)
{
	struct sample_case c = { { 2, { 6, 6, 1, 1, 1, 1 } }, 0, 0.08, true, 800 };
	double with = drawn(&c, 1, 1).cut;
	struct sample_found f;

	(void)state;
	c.relays = false;
	f = drawn(&c, 1, 1);
	assert_true(f.cut - f.error > 2 * with);
}

/* A ring of any size: the drawn and the exact value agree. */
static void drawn_rings_agree_with_exact_value(void **state)
{
	struct sample_case c = { { 1, { 64, 1, 1, 1, 1, 1 } }, 1e-6, 1e-5, true, 500 };

	(void)state;
	for (unsigned int size = 64; size <= 1024; size *= 4) {
		struct sample_found f;
		double right;

		c.shape.size[0] = (uint16_t)size;
		f = drawn(&c, size, 2);
		right = avail_cut(&c.shape, size, c.node_down, c.link_down);
		if (!holds(&f, right, 2) || f.error > right / 5)
			fail_msg("ring of %u: drawn %g +- %g, right is %g", size, f.cut, f.error, right);
	}
}

/* --- a clock ----------------------------------------------------------------- */

#define RING 4

/** struct clock - a ring of nodes and links that fail and are mended, event by event */
struct clock {
	uint64_t random;
	double mtbf_node, mtbf_link, mttr, outage_link;
	double now, recovered;		/* hours; @recovered: end of the recovery */
	double next[2 * RING];		/* change of each: nodes, then links */
	bool down[2 * RING];
	double up_without, up_with;
};

static double after(struct clock *c, double mean)
{
	double f = ((double)(random_next(&c->random) >> 11) + 1) * 0x1p-53;

	return c->now - mean * log(f);
}

static double mean_up(const struct clock *c, int i)
{
	return i < RING ? c->mtbf_node : c->mtbf_link;
}

static void step(struct clock *c)
{
	int first = 0, nodes = 0, links = 0;
	double served;

	for (int i = 0; i < 2 * RING; i++) {
		first = c->next[i] < c->next[first] ? i : first;
		*(i < RING ? &nodes : &links) += c->down[i];
	}
	served = c->next[first] - fmax(c->now, fmin(c->recovered, c->next[first]));
	c->up_without += nodes || links ? 0 : c->next[first] - c->now;
	c->up_with += nodes || links > 1 ? 0 : served;
	c->now = c->next[first];
	c->down[first] = !c->down[first];
	c->next[first] = after(c, c->down[first] ? c->mttr : mean_up(c, first));
	if (first >= RING && c->down[first])
		c->recovered = c->now + c->outage_link;
}

/* Parts fail independently in simulated time: the formula's value, to half a percent. */
static void simulated_failures_give_value_of_formula(void **state)
{
	struct torus_shape ring = { 1, { RING, 1, 1, 1, 1, 1 } };
	struct clock c = {
		.random = random_seed(1), .mtbf_node = 40, .mtbf_link = 20, .mttr = 1,
		.outage_link = 0.1,
	};
	struct avail a = {
		.nodes = RING, .links = RING, .mtbf_node = c.mtbf_node, .mtbf_link = c.mtbf_link,
		.mttr = c.mttr, .outage_link = c.outage_link,
	};
	struct avail_k k;

	(void)state;
	for (int i = 0; i < 2 * RING; i++)
		c.next[i] = after(&c, mean_up(&c, i));
	while (c.now < 400000)
		step(&c);
	a.cut_links = avail_cut(&ring, RING, 0, avail_down(a.mtbf_link, a.mttr));
	k = avail_independent(&a);
	assert_float_equal(c.up_without / c.now, k.without, 0.005);
	assert_float_equal(c.up_with / c.now, k.with, 0.005);
}

/* --- options ----------------------------------------------------------------- */

static void result_does_not_depend_on_threads(void **state)
{
	static const char args[] = "availability --monte-carlo --nodes 64,128 --dims 2 --mtbf-link 10 "
				   "--seeds 3 --states 100 --csv";
	char line[256], *first;

	(void)state;
	snprintf(line, sizeof(line), "%s --threads 1", args);
	expect(line, OK);
	first = strdup(out);
	assert_non_null(first);
	snprintf(line, sizeof(line), "%s --threads 2", args);
	expect(line, OK);
	assert_string_equal(first, out);
	snprintf(line, sizeof(line), "%s --seed 2", args);
	expect(line, OK);
	assert_string_not_equal(first, out);
	free(first);
}

static void shape_near_count_of_nodes_is_found(void **state)
{
	static const struct {
		unsigned int dims;
		double nodes, found;
	} want[] = {
		{ 1, 1000, 1000 }, { 2, 4096, 4096 }, { 3, 128, 128 }, { 3, 1000000, 1000000 },
		{ 6, 64, 64 }, { 6, 1000000, 1000000 }, { 5, 524288, 524288 }, { 3, 127, 125 },
		{ 2, 10007, 10000 }, { 3, 11, 12 },
	};
	struct torus_shape s;

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(shape_near(want[i].dims, want[i].nodes, &s), 0);
		assert_int_equal(torus_nodes(&s), want[i].found);
		for (unsigned int d = 0; d < s.ndims; d++)
			assert_true(s.size[d] >= 2);
	}
	assert_int_equal(shape_near(1, 4097, &s), -1);
	assert_int_equal(shape_near(3, 7, &s), -1);
}

static void write_file(char *name, const char *text)
{
	FILE *f;
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void recovery_times_are_read_and_interpolated(void **state)
{
	char name[] = "/tmp/availability.XXXXXX", args[128];
	struct recovery r;

	(void)state;
	write_file(name, "# measured\n10 0.1\n"
		   "{\"nodes\": 1000, \"points\": [{\"act\": \"cut 0,0:+x\", \"resumed_ms\": 200},"
		   "{\"act\": \"cut 2 links at once\", \"resumed_ms\": 300},"
		   "{\"act\": \"power on\", \"resumed_ms\": 900}]}\n");
	assert_int_equal(recovery_option("x", name, "cut", &r), OK);
	assert_float_equal(recovery_at(&r, 1), 0.1, 1e-12);
	assert_float_equal(recovery_at(&r, 100), 0.2, 1e-12);
	assert_float_equal(recovery_at(&r, 1e6), 0.3, 1e-12);
	free(r.nodes.v);
	free(r.seconds.v);
	/* no act of that kind */
	snprintf(args, sizeof(args), "availability --recovery-node %s", name);
	expect(args, CANNOT);
	has(err, ":3:");
	unlink(name);
	strcpy(name, "/tmp/availability.XXXXXX");
	write_file(name, "10 0.1\n10 0.2\n");
	snprintf(args, sizeof(args), "availability --recovery-link %s", name);
	expect(args, CANNOT);
	has(err, ":2: 10 nodes, must be more than the 10");
	unlink(name);
	/* An outage of a minute for each link's fault: 3 * 4096 / 10^5 / 60 of the time. */
	expect("availability --nodes 4096 --recovery-link 60 --recovery-node 0 --json", OK);
	has(out, "\"with\":0.99389");
}

/* The paper's figure, and that its text and its times contradict each other. */
static void figure_of_paper_contradicts_its_text(void **state)
{
	json_t *all, *points;

	(void)state;
	expect("availability --figure simonov-8 --json", OK);
	all = printed();
	points = json_object_get(all, "points");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(points, 0), "nodes")), 8);
	assert_string_equal(json_string_value(json_object_get(json_object_get(all, "figure"), "name")),
			    "simonov-8");
	assert_int_equal(json_array_size(json_object_get(json_object_get(all, "figure"), "says")), 3);
	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *at = json_array_get(points, i);

		/* The figures for 64 nodes. */
		if (json_integer_value(json_object_get(at, "nodes")) <= 64)
			assert_true(json_real_value(json_object_get(at, "without")) > 0.998);
	}
	json_decref(all);
	expect("availability --figure simonov-8", OK);
	has(out, "contradict each other");
	expect("availability --json --nodes 64", OK);
	has(out, "\"figure\":null");
}

static void wrong_availability_options_are_refused(void **state)
{
	static const struct {
		const char *args, *says;
	} bad[] = {
		{ "--dims 0", "1 to 6" }, { "--dims 7", "1 to 6" }, { "--dims 2.5", "whole" },
		{ "--nodes 1", "2 to" }, { "--nodes 1e9", "2 to" }, { "--nodes 64:32", "FROM:TO" },
		{ "--nodes 64.5", "whole" }, { "--nodes x", "range" }, { "--dims 6 --nodes 63", "64" },
		{ "--mtbf-node 0", "0.001" }, { "--mtbf-link=-1", "0.001" }, { "--mttr 0", "1e-06" },
		{ "--mttr x", "--mttr" }, { "--target 2", "0 to 1" }, { "--recovery-link=-1", "0 to" },
		{ "--recovery-node /nonexistent", "not a file" }, { "--shape 4x4 --dims 2", "--shape" },
		{ "--figure simonov-7", "simonov-8" }, { "--figure simonov-8 --nodes 9", "--nodes: --figure" },
		{ "--figure simonov-8 --mttr 100", "--mttr: --figure" },
		{ "--figure simonov-8 --target 0.5", "--target: --figure" },
		{ "--figure simonov-8 --monte-carlo", "--monte-carlo: --figure" },
		{ "--shape 1x1", "2 nodes" }, { "--shape 4y4", "16x16x16" }, { "--no-relays", "--monte" },
		{ "--monte-carlo --no-relays --nodes 8192", "4096" },
		{ "--monte-carlo --dims 1 --nodes 8192", "4096" },
		{ "--monte-carlo --nodes 4096 --mtbf-link 5", "1000" }, { "--seeds 0", "--seeds" },
		{ "--json --csv", "one of them" }, { "--svg /nonexistent/a.svg", "cannot write" },
	};
	char args[128];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(args, sizeof(args), "availability %s", bad[i].args);
		expect(args, CANNOT);
		has(err, bad[i].says);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(availability_equals_value_computed_by_hand),
		cmocka_unit_test(availability_equals_tables_of_readme),
		cmocka_unit_test(formula_is_exact_for_rings_and_one_isolated_node),
		cmocka_unit_test(drawn_states_agree_with_all_states),
		cmocka_unit_test(confidence_intervals_contain_value_in_95_percent),
		cmocka_unit_test(more_states_are_cut_without_relays),
		cmocka_unit_test(drawn_rings_agree_with_exact_value),
		cmocka_unit_test(result_does_not_depend_on_threads),
		cmocka_unit_test(shape_near_count_of_nodes_is_found),
		cmocka_unit_test(recovery_times_are_read_and_interpolated),
		cmocka_unit_test(figure_of_paper_contradicts_its_text),
		cmocka_unit_test(wrong_availability_options_are_refused),
		cmocka_unit_test(simulated_failures_give_value_of_formula),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests_name("fabricsim_availability", all, NULL, NULL);
}
