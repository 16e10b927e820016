// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows compared with a simple model: it moves a packet hop by hop as the ABI describes, and tries
 * every possible header.
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
#include "random.h"

#define NODES_MAX 1024

/* --- the shadow ------------------------------------------------------------ */

/**
 * struct trip - what happened to a packet
 * @ok: it arrived, in order, over healthy links only
 */
struct trip {
	bool ok;
	bool ordered;
	bool healthy;
	unsigned int hops;
	unsigned int before;
	struct torus_coords at;
};

static void hop(const struct torus_shape *s, const uint16_t *excluded, struct trip *t,
		unsigned int dir)
{
	unsigned int d = dir % s->ndims;
	uint32_t node = torus_node_id(s, &t->at);

	if (s->size[d] < 2 || excluded[node] & 1u << dir)
		t->healthy = false;
	if (t->hops++ && dir < t->before)
		t->ordered = false;
	t->before = dir;
	if (dir < s->ndims)
		t->at.c[d] = (uint16_t)((t->at.c[d] + 1) % s->size[d]);
	else
		t->at.c[d] = (uint16_t)((t->at.c[d] + s->size[d] - 1) % s->size[d]);
}

static struct trip travel(const struct torus_shape *s, const uint16_t *excluded,
			  uint32_t from, uint32_t to, uint64_t row)
{
	struct trip t = { .ordered = true, .healthy = true };
	unsigned int first = row >> TORUS_ROW_FIRST_SHIFT & 15;
	unsigned int last = row >> TORUS_ROW_LAST_SHIFT & 15;
	struct trip back = { .hops = 0 };
	unsigned int dir;

	torus_node_coords(s, to, &back.at);
	if (last != 15)
		hop(s, excluded, &back, (last + s->ndims) % (2 * s->ndims));

	torus_node_coords(s, from, &t.at);
	if (first != 15)
		hop(s, excluded, &t, first);
	for (dir = 0; dir < 2u * s->ndims; dir++)
		while (row >> dir & 1 &&
		       t.at.c[dir % s->ndims] != back.at.c[dir % s->ndims])
			hop(s, excluded, &t, dir);
	if (last != 15)
		hop(s, excluded, &t, last);
	t.ok = t.ordered && t.healthy && torus_node_id(s, &t.at) == to;
	return t;
}

/*
 * Return: the cost of a header, which the engine minimises: class (0 no steps, 1 steps), then hops.
 */
static unsigned int cost(uint64_t row, unsigned int hops)
{
	bool steps = (row >> TORUS_ROW_FIRST_SHIFT & 15) != 15 ||
		     (row >> TORUS_ROW_LAST_SHIFT & 15) != 15;

	return steps * 100000u + hops;
}

/* Return: the lowest cost of all headers of these sets that arrive, or ~0. */
static unsigned int exhaustive(const struct torus_shape *s, const uint16_t *excluded,
			       uint32_t from, uint32_t to)
{
	unsigned int n = 2u * s->ndims, dirs, first, last, best = ~0u;

	for (dirs = 0; dirs < 1u << n; dirs++)
		for (first = 0; first <= n; first++)
			for (last = 0; last <= n; last++) {
				uint64_t row = TORUS_ROW_VALID | dirs |
					       (first < n ? first : 15) << 12 |
					       (last < n ? last : 15) << 16;
				struct trip t = travel(s, excluded, from, to, row);

				if (t.ok && cost(row, t.hops) < best)
					best = cost(row, t.hops);
			}
	return best;
}

/* --- fabrics --------------------------------------------------------------- */

static struct torus_shape shape_of(const char *text)
{
	struct torus_shape s;

	assert_int_equal(torus_shape_parse(text, &s), 0);
	return s;
}

static void cut(const struct torus_shape *s, uint16_t *excluded, uint32_t node,
		unsigned int dir)
{
	excluded[node] |= (uint16_t)(1u << dir);
	torus_exclusions_close(s, excluded);
}

/* Cuts @n different cables, none of them in a dimension of size 1. */
static void cut_random(const struct torus_shape *s, uint16_t *excluded, unsigned int n,
		       uint64_t *seed)
{
	uint32_t nodes = torus_nodes(s);

	while (n) {
		uint32_t node = random_below(seed, nodes);
		unsigned int d = random_below(seed, s->ndims);

		if (s->size[d] < 2 || excluded[node] & 1u << d)
			continue;
		cut(s, excluded, node, d);
		n--;
	}
}

static void kill_node(const struct torus_shape *s, uint16_t *excluded, uint32_t node)
{
	excluded[node] = (uint16_t)((1u << 2 * s->ndims) - 1);
	torus_exclusions_close(s, excluded);
}

/* Checks all rows of a fabric: each valid row must be right. Return: how many are not valid. */
static unsigned int check_fabric(const struct torus_shape *s, const uint16_t *excluded)
{
	uint32_t nodes = torus_nodes(s), from, to, n;
	static uint64_t rows[NODES_MAX];
	unsigned int invalid = 0;
	int ret;

	for (from = 0; from < nodes; from++) {
		unsigned int mine = 0;

		ret = torus_route_rows(s, excluded, from, rows);
		assert_true(ret >= 0);
		for (to = 0; to < nodes; to++) {
			if (!(rows[to] & TORUS_ROW_VALID)) {
				assert_true(rows[to] == 0);
				assert_int_equal(torus_walk(s, excluded, from, to, rows[to],
							    NULL, 0, &n),
						 TORUS_WALK_NO_ROW);
				mine++;
				continue;
			}
			struct trip t = travel(s, excluded, from, to, rows[to]);

			assert_true(t.ok);
			assert_int_equal(torus_walk(s, excluded, from, to, rows[to], NULL,
						    0, &n), TORUS_WALK_ARRIVED);
			assert_int_equal(n, t.hops);
		}
		assert_int_equal(ret, mine);
		assert_true(rows[from] & TORUS_ROW_VALID);
		invalid += mine;
	}
	return invalid;
}

/* --- tests ----------------------------------------------------------------- */

static const char *const small[] = { "3x3", "4x4", "2x4", "2x2x3", "5", "3x1x4", "2", "1",
				     "1x1", "2x2" };

static void paths_of_healthy_torus_are_shortest(void **state)
{
	static const char *const shapes[] = { "4x4x4", "8x4x2", "5x5x5", "2x2x2x2x2x2",
					      "16x16", "1x7x1", "2x3x4x3x2", "64" };
	static uint16_t excluded[NODES_MAX];
	static uint64_t rows[NODES_MAX];
	unsigned int i;
	uint32_t from, to;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct torus_shape s = shape_of(shapes[i]);

		assert_int_equal(check_fabric(&s, excluded), 0);
		for (from = 0; from < torus_nodes(&s); from++) {
			assert_int_equal(torus_route_rows(&s, excluded, from, rows), 0);
			for (to = 0; to < torus_nodes(&s); to++)
				assert_int_equal(travel(&s, excluded, from, to, rows[to]).hops,
						 torus_distance(&s, from, to));
		}
	}
}

/* Equal paths are spread: no cable of a healthy fabric carries much more than another. */
static void equal_paths_are_spread_over_cables(void **state)
{
	static const char *const shapes[] = { "4x4x4", "8x8", "4", "8x4x4", "2x2x2", "2x4x6",
					      "2x2x2x2x2x2", "6x3x2" };
	static uint16_t excluded[NODES_MAX];
	static uint64_t rows[NODES_MAX];
	static unsigned int load[NODES_MAX][TORUS_MAX_PORTS];
	struct torus_hop hops[64];
	uint32_t from, to, n, h;
	unsigned int i, dir;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct torus_shape s = shape_of(shapes[i]);
		uint32_t nodes = torus_nodes(&s);
		bool multiple_of_4 = i < 4;

		memset(load, 0, sizeof(load));
		for (from = 0; from < nodes; from++) {
			torus_route_rows(&s, excluded, from, rows);
			for (to = 0; to < nodes; to++) {
				torus_walk(&s, NULL, from, to, rows[to], hops, 64, &n);
				assert_true(n <= 64);
				for (h = 0; h < n; h++)
					load[hops[h].node][hops[h].port]++;
			}
		}
		for (dir = 0; dir < 2u * s.ndims; dir++) {
			unsigned int sum = 0, most = 0;

			for (from = 0; from < nodes; from++) {
				sum += load[from][dir];
				if (load[from][dir] > most)
					most = load[from][dir];
			}
			if (multiple_of_4)
				assert_int_equal(most * nodes, sum);
			else
				assert_true(most * nodes <= sum * 2);
		}
	}
}

static void rows_equal_exhaustive_search(void **state)
{
	uint64_t seed = random_seed(1), was;
	unsigned int i, round;

	(void)state;
	for (i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		struct torus_shape s = shape_of(small[i]);
		uint32_t nodes = torus_nodes(&s), from, to;

		for (round = 0; round < 12; round++) {
			uint16_t excluded[16] = { 0 };
			uint64_t rows[16];
			unsigned int cables = 0, d;

			for (d = 0; d < s.ndims; d++)
				cables += s.size[d] > 1 ? nodes : 0;
			was = seed;
			cut_random(&s, excluded, round < cables ? round : cables, &seed);
			for (from = 0; from < nodes; from++) {
				torus_route_rows(&s, excluded, from, rows);
				for (to = 0; to < nodes; to++) {
					unsigned int best = exhaustive(&s, excluded, from, to);
					unsigned int got = ~0u;

					if (rows[to] & TORUS_ROW_VALID)
						got = cost(rows[to], travel(&s, excluded, from,
									    to, rows[to]).hops);
					if (got != best)
						fail_msg("SEED=%llu %s, %u cut, %u to %u: cost "
							 "%u, best is %u",
							 (unsigned long long)was, small[i],
							 round, from, to, got, best);
				}
			}
		}
	}
}

/* With one or two faults in 4x4x4 no node is cut off. */
static void no_node_is_cut_off_by_two_faults(void **state)
{
	struct torus_shape s = shape_of("4x4x4");
	uint32_t a, b, d, e;

	(void)state;
	for (a = 0; a < 64; a++)
		for (d = 0; d < 3; d++) {
			uint16_t excluded[64] = { 0 };

			cut(&s, excluded, a, d);
			assert_int_equal(check_fabric(&s, excluded), 0);
		}
	/* A torus looks the same from every node, so one of the two faults is at node 0. */
	for (d = 0; d < 3; d++)
		for (b = 0; b < 64; b++)
			for (e = 0; e < 3; e++) {
				uint16_t excluded[64] = { 0 };

				cut(&s, excluded, 0, d);
				cut(&s, excluded, b, e);
				assert_int_equal(check_fabric(&s, excluded), 0);
			}
}

/* The coverage after random faults: printed, and compared with known figures of the engine. */
static void coverage_after_faults_equals_known_figures(void **state)
{
	static const struct {
		unsigned int links, nodes;
		double least;
	} grade[] = {
		{ 1, 0, 1 }, { 2, 0, 1 }, { 3, 0, 1 }, { 4, 0, 0.9999 }, { 0, 1, 1 },
		{ 0, 2, 1 }, { 1, 1, 1 }, { 8, 0, 0.99 }, { 16, 0, 0.9 },
	};
	struct torus_shape s = shape_of("4x4x4");
	unsigned int i, round, rounds = 40;

	(void)state;
	for (i = 0; i < sizeof(grade) / sizeof(grade[0]); i++) {
		uint64_t seed = random_seed(7) + i;
		unsigned long pairs = 0, lost = 0, whole = 0;

		for (round = 0; round < rounds; round++) {
			uint16_t excluded[64] = { 0 };
			unsigned long dead = 0, missing;
			unsigned int n;

			for (n = 0; n < grade[i].nodes; ) {
				uint32_t node = random_below(&seed, 64);

				if (excluded[node] == 0x3f)
					continue;
				kill_node(&s, excluded, node);
				n++;
			}
			cut_random(&s, excluded, grade[i].links, &seed);
			for (n = 0; n < 64; n++)
				dead += excluded[n] == 0x3f;
			missing = check_fabric(&s, excluded);
			/* There can be no rows from or to dead nodes. */
			missing -= 2 * dead * (64 - dead) + dead * (dead - 1);
			pairs += (64 - dead) * (63 - dead);
			lost += missing;
			whole += !missing;
		}
		printf("4x4x4, %2u links and %u nodes dead: %8.4f %% of pairs, %u of %u fabrics "
		       "whole\n", grade[i].links, grade[i].nodes,
		       100.0 * (double)(pairs - lost) / (double)pairs, (unsigned int)whole, rounds);
		assert_true((double)(pairs - lost) >= grade[i].least * (double)pairs);
	}
}

/* A new fault only changes rows whose path it cuts. */
static void new_fault_changes_only_rows_that_it_cuts(void **state)
{
	static const char *const shapes[] = { "4x4x4", "4x4", "2x2x3", "8x2x4" };
	uint64_t keep = ~(TORUS_ROW_ADAPTIVE | 0xfffull << TORUS_ROW_ADAPT_SHIFT);
	static uint64_t was[NODES_MAX], is[NODES_MAX];
	uint64_t seed = random_seed(3);
	unsigned int i, round;
	uint32_t to;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct torus_shape s = shape_of(shapes[i]);

		for (round = 0; round < 200; round++) {
			uint16_t excluded[64] = { 0 };
			uint32_t from = random_below(&seed, torus_nodes(&s));

			cut_random(&s, excluded, round % 8, &seed);
			torus_route_rows(&s, excluded, from, was);
			cut_random(&s, excluded, 1, &seed);
			torus_route_rows(&s, excluded, from, is);
			for (to = 0; to < torus_nodes(&s); to++)
				if (was[to] && travel(&s, excluded, from, to, was[to]).ok)
					assert_true((was[to] & keep) == (is[to] & keep));
		}
	}
}

/* Return: the directions that a torus without faults uses, with ties as documented. */
static unsigned int plain_dirs(const struct torus_shape *s, uint32_t from, uint32_t to)
{
	unsigned int dirs = 0, d, j;
	struct torus_coords a, b;

	torus_node_coords(s, from, &a);
	torus_node_coords(s, to, &b);
	for (d = 0; d < s->ndims; d++) {
		unsigned int plus = (b.c[d] + s->size[d] - a.c[d]) % s->size[d], corner = 0;

		for (j = 0; j < s->ndims; j++)
			corner += j <= d ? a.c[j] : b.c[j];
		if (plus && (2 * plus < s->size[d] || (2 * plus == s->size[d] && !(corner & 1))))
			dirs |= 1u << d;
		else if (plus)
			dirs |= 1u << (s->ndims + d);
	}
	return dirs;
}

/*
 * Return: true if, at each node to which hops of @dirs can take a packet that does not go back, the
 * first remaining direction is healthy, and so is the whole deterministic path from there.
 */
static bool escape_ok(const struct torus_shape *s, const uint16_t *excluded, uint32_t at,
		      uint32_t to, unsigned int dirs)
{
	struct torus_coords a, b;
	unsigned int dir;
	bool first = true;

	torus_node_coords(s, at, &a);
	torus_node_coords(s, to, &b);
	for (dir = 0; dir < 2u * s->ndims; dir++) {
		if (!(dirs & 1u << dir) || a.c[dir % s->ndims] == b.c[dir % s->ndims])
			continue;
		if (first && excluded[at] & 1u << dir)
			return false;
		first = false;
		if (!escape_ok(s, excluded, torus_neighbour(s, at, dir), to,
			       dirs & ~(1u << torus_dir_opposite(s, dir))))
			return false;
	}
	return true;
}

/* Return: the length of the longest path by @dirs. */
static unsigned int longest(const struct torus_shape *s, uint32_t at, uint32_t to,
			    unsigned int dirs)
{
	unsigned int most = 0, dir;
	struct torus_coords a, b;

	torus_node_coords(s, at, &a);
	torus_node_coords(s, to, &b);
	for (dir = 0; dir < 2u * s->ndims; dir++) {
		unsigned int n;

		if (!(dirs & 1u << dir) || a.c[dir % s->ndims] == b.c[dir % s->ndims])
			continue;
		n = 1 + longest(s, torus_neighbour(s, at, dir), to,
				dirs & ~(1u << torus_dir_opposite(s, dir)));
		most = n > most ? n : most;
	}
	return most;
}

/*
 * Packets in adaptive directions can escape from everywhere, by paths no longer than the row's own.
 */
static void adaptive_packet_can_escape_everywhere(void **state)
{
	static const char *const shapes[] = { "4x4", "2x4", "5x3x2", "4x4x4", "7" };
	unsigned int i, round, allowed = 0, refused = 0, both = 0;
	static uint64_t rows[NODES_MAX];
	uint64_t seed = random_seed(4);
	uint32_t from, to;

	(void)state;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct torus_shape s = shape_of(shapes[i]);

		for (round = 0; round < 20; round++) {
			uint16_t excluded[64] = { 0 };

			cut_random(&s, excluded, round % 6, &seed);
			from = random_below(&seed, torus_nodes(&s));
			torus_route_rows(&s, excluded, from, rows);
			for (to = 0; to < torus_nodes(&s); to++) {
				unsigned int dirs = rows[to] >> TORUS_ROW_ADAPT_SHIFT & 0xfff;
				unsigned int own = rows[to] & TORUS_ROW_DIR_MASK;
				unsigned int plain = plain_dirs(&s, from, to);
				bool is = rows[to] & TORUS_ROW_ADAPTIVE;
				bool may = from != to &&
					   escape_ok(&s, excluded, from, to, plain);

				if (may)
					assert_int_equal(own, plain);
				assert_true(is == may && is == !!dirs);
				refused += !is;
				if (!is)
					continue;
				assert_int_equal(dirs & own, own);
				assert_true(escape_ok(&s, excluded, from, to, dirs));
				assert_int_equal(longest(&s, from, to, dirs),
						 travel(&s, excluded, from, to, rows[to]).hops);
				allowed++;
				both += !!(dirs & dirs >> s.ndims);
			}
		}
	}
	assert_true(allowed > 1000 && refused > 100 && both > 500);
}

static void exclusions_close_both_ends_of_cables(void **state)
{
	struct torus_shape s = shape_of("2x3");
	uint16_t once[6] = { 0 }, again[6];
	uint32_t from;
	uint64_t a[6], b[6];

	(void)state;
	once[0] = 1 << 0;	/* 0,0:+x, which is 1,0:-x, but not 1,0:+x */
	once[2] = 1 << 3;	/* 0,1:-y, which is 0,0:+y */
	memcpy(again, once, sizeof(once));
	torus_exclusions_close(&s, again);
	assert_int_equal(again[0], 1 << 0 | 1 << 1);
	assert_int_equal(again[1], 1 << 2);
	assert_int_equal(again[2], 1 << 3);
	/* Closing twice gives the same as closing once, and rows do not depend on it. */
	for (from = 0; from < 6; from++) {
		assert_int_equal(torus_route_rows(&s, once, from, a),
				 torus_route_rows(&s, again, from, b));
		assert_memory_equal(a, b, sizeof(a));
	}
	memcpy(once, again, sizeof(once));
	torus_exclusions_close(&s, again);
	assert_memory_equal(once, again, sizeof(once));
}

static void walk_ends_with_its_reason(void **state)
{
	struct torus_shape s = shape_of("4x4");
	uint64_t none = TORUS_ROW_VALID | 15 << 12 | 15 << 16;
	uint16_t excluded[16] = { 0 };
	struct torus_hop hops[8];
	uint32_t n;

	(void)state;
	cut(&s, excluded, 1, 0);
	assert_int_equal(torus_walk(&s, excluded, 0, 2, none | 1, hops, 8, &n),
			 TORUS_WALK_DEAD_LINK);
	assert_int_equal(n, 2);
	assert_int_equal(hops[1].node, 1);
	assert_int_equal(hops[1].port, 0);
	assert_int_equal(torus_walk(&s, NULL, 0, 2, none | 1, hops, 1, &n),
			 TORUS_WALK_ARRIVED);
	assert_int_equal(n, 2);
	assert_int_equal(torus_walk(&s, excluded, 0, 5, none | 1, hops, 8, &n),
			 TORUS_WALK_LOST);
	assert_int_equal(torus_walk(&s, excluded, 0, 5, 0, hops, 8, &n), TORUS_WALK_NO_ROW);
	assert_int_equal(torus_walk(&s, excluded, 0, 16, none, hops, 8, &n),
			 TORUS_WALK_NO_ROW);
	/* First -x, then +x: the order decreases. */
	assert_int_equal(torus_walk(&s, NULL, 0, 5, TORUS_ROW_VALID | 3 | 2 << 12 | 15 << 16,
				    hops, 8, &n), TORUS_WALK_ORDER);
	assert_int_equal(n, 2);
	/* A step that this shape does not have. */
	assert_int_equal(torus_walk(&s, NULL, 0, 5, TORUS_ROW_VALID | 3 | 9 << 12 | 15 << 16,
				    hops, 8, &n), TORUS_WALK_LOST);
	s = shape_of("1x4");
	assert_int_equal(torus_walk(&s, NULL, 0, 1, TORUS_ROW_VALID | 2 | 0 << 12 | 15 << 16,
				    hops, 8, &n), TORUS_WALK_DEAD_LINK);
	for (n = TORUS_WALK_ARRIVED; n <= TORUS_WALK_LOOP; n++)
		assert_string_not_equal(torus_walk_end_text(n), "unknown");
	assert_string_equal(torus_walk_end_text(n), "unknown");
}

static void impossible_arguments_are_refused(void **state)
{
	struct torus_shape s = shape_of("4x4");
	uint16_t excluded[16] = { 0 };
	uint64_t rows[16];

	(void)state;
	assert_int_equal(torus_route_rows(&s, excluded, 16, rows), -EINVAL);
	s.size[1] = 0;
	assert_int_equal(torus_route_rows(&s, excluded, 0, rows), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_of_healthy_torus_are_shortest),
		cmocka_unit_test(equal_paths_are_spread_over_cables),
		cmocka_unit_test(rows_equal_exhaustive_search),
		cmocka_unit_test(no_node_is_cut_off_by_two_faults),
		cmocka_unit_test(coverage_after_faults_equals_known_figures),
		cmocka_unit_test(new_fault_changes_only_rows_that_it_cuts),
		cmocka_unit_test(adaptive_packet_can_escape_everywhere),
		cmocka_unit_test(exclusions_close_both_ends_of_cables),
		cmocka_unit_test(walk_ends_with_its_reason),
		cmocka_unit_test(impossible_arguments_are_refused),
	};

	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
