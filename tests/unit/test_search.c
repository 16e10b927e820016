// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exact row, to the bit (lib/route/search.h, relay.h): of all headers that can be used the
 * shortest, and of these the one with the smallest hash, compared with trying all headers hop by
 * hop; likewise the relay. Also the path that is returned for a row. All pairs of small shapes,
 * with few and with many dead cables.
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

static const char *const shapes[] = {
	"2", "3", "5", "8", "1x4", "2x2", "3x2", "4x3", "2x5", "4x4", "2x2x2", "3x1x3", "2x3x2",
	"2x2x1x2",
};

/** struct best - the best header so far */
struct best {
	struct head head;
	uint32_t hops, rank;
	bool tie;
};

struct both {
	struct model m;
	struct torus_health *h;
	uint64_t hash;
	unsigned int ties, steps, relayed;
};

static void try_head(const struct both *b, uint32_t from, uint32_t to, const struct head *h,
		     struct best *best)
{
	uint32_t hops = travel(&b->m, from, to, h);
	uint32_t rank = lt_rank(b->hash, h->dirs, h->first, h->last);

	if (hops == NEVER || hops > best->hops)
		return;
	best->tie = hops == best->hops;
	if (hops == best->hops && rank >= best->rank)
		return;
	best->head = *h;
	best->hops = hops;
	best->rank = rank;
}

/* Tries signs for each dimension in which the ends differ between two steps. */
static void try_signs(const struct both *b, uint32_t from, uint32_t to, unsigned int first,
		      unsigned int last, struct best *best)
{
	uint32_t a = first == NO_STEP ? from : b->m.next[from][first];
	uint32_t z = last == NO_STEP ? to : b->m.next[to][back(&b->m, last)];
	unsigned int differ = 0;

	for (unsigned int d = 0; d < b->m.n; d++)
		differ |= (b->m.c[a][d] != b->m.c[z][d]) << d;
	for (unsigned int signs = 0; signs < 1u << b->m.n; signs++) {
		struct head h = { .first = first, .last = last };

		if (signs & ~differ)
			continue;
		h.dirs = (differ & ~signs) | signs << b->m.n;
		try_head(b, from, to, &h, best);
	}
}

/* Return: 0 if no header can be used. */
static uint64_t direct(struct both *b, uint32_t from, uint32_t to, bool *plain)
{
	struct best best = { .head = { plain_dirs(&b->m, from, to), NO_STEP, NO_STEP },
			     .hops = NEVER };

	b->hash = lt_pair_hash(from, to);
	*plain = travel(&b->m, from, to, &best.head) != NEVER;
	if (!*plain) {
		best.rank = NEVER;
		try_signs(b, from, to, NO_STEP, NO_STEP, &best);
		if (best.hops == NEVER) {
			for (unsigned int i = 0; i < (2 * b->m.n + 1) * (2 * b->m.n + 1); i++) {
				unsigned int f = i % (2 * b->m.n + 1), l = i / (2 * b->m.n + 1);

				try_signs(b, from, to, f < 2 * b->m.n ? f : NO_STEP,
					  l < 2 * b->m.n ? l : NO_STEP, &best);
			}
			b->steps += best.hops != NEVER;
		}
		if (best.hops == NEVER)
			return 0;
		b->ties += best.tie;
	}
	return TORUS_ROW_VALID | (uint64_t)best.head.dirs << TORUS_ROW_DIR_SHIFT |
	       (uint64_t)best.head.first << TORUS_ROW_FIRST_SHIFT |
	       (uint64_t)best.head.last << TORUS_ROW_LAST_SHIFT;
}

/*
 * Return: the relay. Of the nodes that @rows reach, it is the one nearest to @to; of several, the
 * one nearest to @from; of several, the one with the smallest hash.
 */
static uint64_t relayed(const struct both *b, uint32_t from, uint32_t to, const uint64_t *rows)
{
	uint64_t hash = lt_pair_hash(from, to);
	uint32_t away[NODES_MAX], hops[NODES_MAX], best = NEVER;

	flood(&b->m, to, away);
	if (away[from] == NEVER)
		return 0;
	for (uint32_t i = 0; i < b->m.nodes; i++) {
		struct head h = head_of(rows[i]);

		if (!rows[i] || i == from || away[i] == NEVER)
			continue;
		hops[i] = travel(&b->m, from, i, &h);
		if (best == NEVER || away[i] < away[best] ||
		    (away[i] == away[best] &&
		     (hops[i] < hops[best] || (hops[i] == hops[best] &&
					       splitmix64_mix(hash + i) < splitmix64_mix(hash + best)))))
			best = i;
	}
	assert_true(best != NEVER);
	return rows[best] | TORUS_ROW_RELAY | (uint64_t)best << TORUS_ROW_RELAY_SHIFT;
}

static void check_from(struct both *b, uint32_t from)
{
	uint64_t want[NODES_MAX], rows[2][NODES_MAX];
	unsigned int invalid[2] = { 0 };
	bool plain, is;

	for (unsigned int i = 0; i < 2; i++)
		invalid[i] = (unsigned int)torus_health_rows(b->h, from, i ? TORUS_ROUTES_RELAY : 0,
							     rows[i]);
	for (uint32_t to = 0; to < b->m.nodes; to++) {
		struct lt_pair pair = { .from_id = from, .to_id = to };

		want[to] = direct(b, from, to, &is);
		torus_node_coords(&b->m.shape, from, &pair.from);
		torus_node_coords(&b->m.shape, to, &pair.to);
		assert_int_equal(lt_pair_row(b->h, &pair, &plain), want[to]);
		assert_int_equal(plain, is);
		assert_int_equal(lt_direct_row(b->h, from, to), want[to]);
		assert_int_equal(rows[0][to] & ~ROW_FLAGS, want[to]);
		invalid[0] -= !want[to];
	}
	for (uint32_t to = 0; to < b->m.nodes; to++) {
		uint64_t row = want[to] ? want[to] : relayed(b, from, to, want);

		assert_int_equal(rows[1][to] & ~ROW_FLAGS, row);
		b->relayed += !want[to] && row;
		invalid[1] -= !row;
	}
	assert_int_equal(invalid[0], 0);
	assert_int_equal(invalid[1], 0);
}

static void searched_rows_equal_model(void **state)
{
	static struct both b;
	uint64_t seed = random_seed(1);

	(void)state;
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned int round = 0; round < 10; round++) {
			model_make(&b.m, shapes[i]);
			assert_int_equal(torus_health_new(&b.m.shape, NULL, &b.h), 0);
			for (unsigned int n = b.m.nodes * b.m.n * round / 12; n--; ) {
				uint32_t node = random_below(&seed, b.m.nodes);

				b.m.reported[node] |= (uint16_t)(1u << random_below(&seed, 2 * b.m.n));
				assert_true(torus_health_set(b.h, node, b.m.reported[node], NULL) >= 0);
			}
			for (uint32_t from = 0; from < b.m.nodes; from++)
				check_from(&b, from);
			torus_health_free(b.h);
		}
	assert_true(b.ties > 100 && b.steps > 100 && b.relayed > 100);
}

/* Checks the path of a row: its length, and the cables that it crosses. */
static void check_path(const struct both *b, uint32_t from, uint32_t to, const struct head *h)
{
	struct torus_coords a, z;
	struct visit hop[NODES_MAX];
	uint32_t n = travel_by(&b->m, from, to, h, hop);
	bool crossed[NODES_MAX][DIMS] = { { false } };
	uint64_t row = TORUS_ROW_VALID | (uint64_t)h->dirs << TORUS_ROW_DIR_SHIFT |
		       (uint64_t)h->first << TORUS_ROW_FIRST_SHIFT |
		       (uint64_t)h->last << TORUS_ROW_LAST_SHIFT;

	if (n == NEVER)
		return;
	torus_node_coords(&b->m.shape, from, &a);
	torus_node_coords(&b->m.shape, to, &z);
	assert_int_equal(lt_row_hops(b->h, &a, &z, row), n);
	while (n--)
		crossed[hop[n].port < b->m.n ? hop[n].node : b->m.next[hop[n].node][hop[n].port]]
		       [hop[n].port % b->m.n] = true;
	for (uint32_t node = 0; node < b->m.nodes; node++)
		for (unsigned int d = 0; d < b->m.n; d++) {
			struct torus_cable c = { .node = node, .dim = (uint8_t)d };

			assert_int_equal(lt_row_crosses(b->h, &a, &z, row, &c), crossed[node][d]);
		}
}

static void searched_paths_equal_model(void **state)
{
	static const char *const few[] = { "2", "3", "5", "8", "4x3", "2x5", "1x4", "2x3x2",
					   "4x4x3", "2x2x1x3" };
	static struct both b;
	uint64_t seed = random_seed(2);

	(void)state;
	for (unsigned int i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
		model_make(&b.m, few[i]);
		assert_int_equal(torus_health_new(&b.m.shape, NULL, &b.h), 0);
		for (unsigned int round = 0; round < 800; round++) {
			unsigned int signs = random_below(&seed, 1u << b.m.n);
			struct head h = { .first = random_below(&seed, 2 * b.m.n),
					  .last = random_below(&seed, 2 * b.m.n) };

			h.first = random_below(&seed, 3) ? NO_STEP : h.first;
			h.last = random_below(&seed, 3) ? NO_STEP : h.last;
			h.dirs = (~signs & ((1u << b.m.n) - 1)) | signs << b.m.n;
			check_path(&b, random_below(&seed, b.m.nodes),
				   random_below(&seed, b.m.nodes), &h);
		}
		torus_health_free(b.h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(searched_rows_equal_model),
		cmocka_unit_test(searched_paths_equal_model),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
