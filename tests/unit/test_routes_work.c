// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much work an update does (lib/route/routes.c, detour.c): when a cable breaks, only paths that
 * crossed it are searched again; when one is repaired, only those that could cross it. Neighbouring
 * destinations are searched together, and singly only if no header without steps can be used.
 * Searches are counted (-Wl,--wrap), and the necessary ones are found from the rows and the
 * positions of source, destination and cable.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "lib/route/search.h"
#include "naive.h"
#include "random.h"

uint64_t __real_lt_pair_row(struct torus_health *h, const struct lt_pair *pair, bool *plain);
uint64_t __wrap_lt_pair_row(struct torus_health *h, const struct lt_pair *pair, bool *plain);

uint64_t __real_lt_direct_row(struct torus_health *h, uint32_t from, uint32_t to);
uint64_t __wrap_lt_direct_row(struct torus_health *h, uint32_t from, uint32_t to);

/**
 * struct work - the rows of one source
 * @searched: how often each destination was searched in this update
 * @alone: the same, for destinations whose neighbours were searched, too
 */
static struct work {
	struct model m;
	struct torus_health *h;
	struct torus_routes *r;
	uint32_t from;
	unsigned int searched[NODES_MAX], alone[NODES_MAX];
	unsigned long went, came, spared;
} w;

uint64_t __wrap_lt_pair_row(struct torus_health *h, const struct lt_pair *pair, bool *plain)
{
	w.searched[pair->to_id]++;
	return __real_lt_pair_row(h, pair, plain);
}

uint64_t __wrap_lt_direct_row(struct torus_health *h, uint32_t from, uint32_t to)
{
	w.alone[to]++;
	return __real_lt_direct_row(h, from, to);
}

static bool crosses(uint32_t to, uint64_t row, uint32_t node, unsigned int dim)
{
	struct visit hop[NODES_MAX];
	struct head head = head_of(row);
	uint32_t n = 0;

	memset(hop, 0xff, sizeof(hop));
	travel_by(&w.m, w.from, to, &head, hop);
	for (; hop[n].node != NEVER; n++)
		if ((hop[n].node == node && hop[n].port == dim) ||
		    (hop[n].node == w.m.next[node][dim] && hop[n].port == dim + w.m.n))
			return true;
	return false;
}

/* Return: hops between two coordinates of a ring. */
static unsigned int apart(unsigned int d, unsigned int a, unsigned int b)
{
	unsigned int size = w.m.shape.size[d], up = (b + size - a) % size;

	return up < size - up ? up : size - up;
}

/*
 * Return: true if the path could cross the cable. In each dimension it stays where it was, or goes
 * to the destination; steps are one hop to the side. In the cable's dimension it may be anywhere.
 */
static bool could_cross(uint32_t to, uint32_t node, unsigned int dim, unsigned int aside)
{
	for (unsigned int d = 0; d < w.m.n; d++)
		if (d != dim && apart(d, w.m.c[node][d], w.m.c[w.from][d]) > aside &&
		    apart(d, w.m.c[node][d], w.m.c[to][d]) > aside)
			return false;
	return true;
}

static bool is_plain(uint32_t to, uint64_t row)
{
	struct head h = head_of(row), plain = { plain_dirs(&w.m, w.from, to), NO_STEP, NO_STEP };

	return row && !memcmp(&h, &plain, sizeof(h));
}

/* Return: true if the row to @to must be computed anew; @rows: from before the change of @c. */
static bool has_to(uint32_t to, const uint64_t *rows, const struct torus_cable *c, bool goes)
{
	uint64_t row = rows[to];
	bool steps = head_of(row).first != NO_STEP || head_of(row).last != NO_STEP;

	if (is_plain(to, row))
		return false;
	if (goes)
		return row && crosses(to, row, c->node, c->dim);
	return could_cross(to, c->node, c->dim, !row || steps);
}

static bool isolated(uint32_t node)
{
	for (unsigned int p = 0; p < 2 * w.m.n; p++)
		if (!dead(&w.m, node, p))
			return false;
	return true;
}

static void update(void)
{
	struct torus_cable changed[TORUS_MAX_PORTS];
	uint64_t rows[NODES_MAX];
	uint32_t node = random_below(&w.m.seed, w.m.nodes);
	uint16_t bit = (uint16_t)(1u << random_below(&w.m.seed, 2 * w.m.n));
	unsigned int odd = 0, looked = 0;
	int n;

	memcpy(rows, torus_routes_rows(w.r), w.m.nodes * sizeof(*rows));
	memset(w.searched, 0, sizeof(w.searched));
	w.m.reported[node] ^= bit;
	n = torus_health_set(w.h, node, w.m.reported[node], changed);
	assert_true(n >= 0);
	assert_int_equal(torus_routes_update(w.r, changed, (uint32_t)n, NULL, NULL), 0);
	if (n != 1 || isolated(w.from))		/* all rows are computed anew */
		return;
	for (uint32_t to = 0; to < w.m.nodes; to++) {
		bool goes = w.m.reported[node] & bit;
		bool want = has_to(to, rows, changed, goes);

		if (w.searched[to] != want)
			fail_msg("%u nodes, %u to %u, cable %u:%u %s: %u searches",
				 w.m.nodes, w.from, to, changed[0].node, changed[0].dim,
				 goes ? "goes" : "comes", w.searched[to]);
		odd += !is_plain(to, rows[to]);
		looked += want;
		*(goes ? &w.went : &w.came) += want;
	}
	w.spared += odd - looked;
}

static void update_searches_only_affected_rows(void **state)
{
	static const char *const shapes[] = { "9", "7x6", "12x3", "3x12", "5x5x5", "4x8x4",
					      "16x2x4", "2x2x16", "3x3x4x4", "1x9x5" };
	uint64_t seed = random_seed(1);

	(void)state;
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned int round = 0; round < 3; round++) {
			model_make(&w.m, shapes[i]);
			w.m.seed = random_next(&seed);
			w.from = random_below(&seed, w.m.nodes);
			assert_int_equal(torus_health_new(&w.m.shape, NULL, &w.h), 0);
			assert_int_equal(torus_routes_new(w.h, w.from, 0, &w.r), 0);
			for (unsigned int step = 0; step < 120 && !isolated(w.from); step++)
				update();
			torus_routes_free(w.r);
			torus_health_free(w.h);
		}
	assert_true(w.went > 300 && w.came > 300 && w.spared > 3000);
}

/* Return: true if any choice of signs can be used. */
static bool signs_fit(uint32_t to)
{
	for (unsigned int signs = 0; signs < 1u << w.m.n; signs++) {
		struct head h = { .first = NO_STEP, .last = NO_STEP };

		h.dirs = (~signs & ((1u << w.m.n) - 1)) | signs << w.m.n;
		if (travel(&w.m, w.from, to, &h) != NEVER)
			return true;
	}
	return false;
}

static void making_rows_searches_no_more_than_needed(void **state)
{
	static const char *const shapes[] = { "9", "64", "130", "200", "7x6", "128x2", "100x2",
					      "3x70", "5x5x5", "4x8x4", "16x2x4", "66x1x3",
					      "3x3x4x4" };
	uint64_t seed = random_seed(2), rows[NODES_MAX];
	unsigned int alone = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned int round = 0; round < 16; round++) {
			model_make(&w.m, shapes[i]);
			w.from = random_below(&seed, w.m.nodes);
			for (unsigned int n = 1 + round + round * round * w.m.nodes / 600; n--; ) {
				uint32_t node = n ? random_below(&seed, w.m.nodes) : w.from;

				w.m.reported[node] |= (uint16_t)(1u << random_below(&seed, 2 * w.m.n));
			}
			assert_int_equal(torus_health_new(&w.m.shape, w.m.reported, &w.h), 0);
			memset(w.alone, 0, sizeof(w.alone));
			assert_true(torus_health_rows(w.h, w.from, 0, rows) >= 0);
			for (uint32_t to = 0; to < w.m.nodes && !isolated(w.from); to++) {
				assert_int_equal(w.alone[to], !signs_fit(to));
				alone += w.alone[to];
			}
			torus_health_free(w.h);
		}
	assert_true(alone > 1000);
}

#define SIDE 48

/*
 * The proof looks once at each node that an adaptive packet may come to. Paths that lead there
 * are more by far: C(48, 24) here, of which none would come to an end.
 */
static void verification_looks_at_each_node_once(void **state)
{
	static uint64_t none[SIDE * SIDE], rows[SIDE * SIDE];
	static const uint64_t *list[SIDE * SIDE];
	static uint16_t excluded[SIDE * SIDE];
	static bool up[SIDE * SIDE];
	const struct torus_shape shape = { .ndims = 2, .size = { SIDE, SIDE, 1, 1, 1, 1 } };
	const struct torus_tables tables = { .rows = list };
	const struct torus_verify v = { .shape = &shape, .excluded = excluded, .tables = &tables,
					.n = 1, .up = up };
	const uint32_t to = SIDE / 2 * SIDE + SIDE / 2;
	struct torus_verified found;

	(void)state;
	for (unsigned int i = 0; i < SIDE * SIDE; i++)
		list[i] = i ? none : rows;
	rows[to] = TORUS_ROW_VALID | 15ull << TORUS_ROW_FIRST_SHIFT | 15ull << TORUS_ROW_LAST_SHIFT |
		   3 | TORUS_ROW_ADAPTIVE | 3ull << TORUS_ROW_ADAPT_SHIFT;
	up[0] = up[to] = true;
	assert_int_equal(torus_verify(&v, &found), 0);
	assert_true(found.pairs == 2 && found.adaptive == 1);
	assert_true(found.wrong == 1 && found.unroutable == 1);	/* the way back */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(making_rows_searches_no_more_than_needed),
		cmocka_unit_test(update_searches_only_affected_rows),
		cmocka_unit_test(verification_looks_at_each_node_once),
	};

	return cmocka_run_group_tests_name("routes_work", tests, NULL, NULL);
}
