// SPDX-License-Identifier: GPL-2.0-only
/*
 * D(1,m) addresses: all connected graphs of up to seven vertices, larger random ones, and the
 * examples of the paper. Matchings are compared with a search of all matchings.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/route/dm.h"
#include "random.h"

#define N_MAX	300
#define PORTS	16

/** struct web - a graph as lists of neighbours */
struct web {
	uint32_t n, to[N_MAX][PORTS];
	uint32_t weight[N_MAX][PORTS];
	unsigned int dim[N_MAX][PORTS], ports[N_MAX];
	uint32_t hops[N_MAX][N_MAX];
};

static struct web web;

static uint32_t web_next(void *arg, uint32_t v, unsigned int port)
{
	struct web *w = arg;

	return port < w->ports[v] ? w->to[v][port] : TORUS_NO_NODE;
}

static uint32_t web_weight(void *arg, uint32_t v, unsigned int port)
{
	return ((struct web *)arg)->weight[v][port];
}

static unsigned int web_dim(void *arg, uint32_t v, unsigned int port)
{
	return ((struct web *)arg)->dim[v][port];
}

static struct torus_graph graph_of(struct web *w)
{
	return (struct torus_graph){ .n = w->n, .degree = PORTS, .next = web_next,
		.weight = web_weight, .dim = web_dim, .arg = w };
}

static void clear_web(struct web *w, uint32_t n)
{
	w->n = n;
	memset(w->ports, 0, sizeof(w->ports));
}

static void tie_web(struct web *w, uint32_t a, uint32_t b, uint32_t weight, unsigned int dim)
{
	assert_true(w->ports[a] < PORTS && w->ports[b] < PORTS);
	for (int i = 0; i < 2; i++) {
		unsigned int p = w->ports[a]++;
		uint32_t other = b;

		w->to[a][p] = b;
		w->weight[a][p] = weight;
		w->dim[a][p] = dim;
		b = a;
		a = other;
	}
}

/* Sets the distances of all pairs. Return: true if the graph is connected. */
static bool measure_web(struct web *w)
{
	bool connected = true;

	for (uint32_t a = 0; a < w->n; a++) {
		uint32_t queue[N_MAX], head = 0, tail = 0;

		for (uint32_t b = 0; b < w->n; b++)
			w->hops[a][b] = UINT32_MAX;
		w->hops[a][a] = 0;
		queue[tail++] = a;
		while (head < tail) {
			uint32_t at = queue[head++];

			for (unsigned int p = 0; p < w->ports[at]; p++) {
				uint32_t to = w->to[at][p];

				if (w->hops[a][to] != UINT32_MAX)
					continue;
				w->hops[a][to] = w->hops[a][at] + 1;
				queue[tail++] = to;
			}
		}
		connected &= tail == w->n;
	}
	return connected;
}

/* --- addresses ----------------------------------------------------------------- */

/* The vertices whose addresses begin with @prefix of @len digits are connected, or there are none. */
static void check_prefix(const struct web *w, const struct torus_dm *dm, unsigned int len,
			 uint32_t prefix)
{
	unsigned int m = torus_dm_digits(dm);
	uint32_t queue[N_MAX], head = 0, tail = 0, members = 0;
	bool in[N_MAX] = { false };

	for (uint32_t v = 0; v < w->n; v++) {
		in[v] = torus_dm_address(dm, v) >> (m - len) == prefix;
		members += in[v];
		if (in[v] && !tail)
			queue[tail++] = v;
	}
	if (tail)
		in[queue[0]] = false;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (unsigned int p = 0; p < w->ports[at]; p++) {
			uint32_t to = w->to[at][p];

			if (in[to])
				queue[tail++] = to;
			in[to] = false;
		}
	}
	assert_int_equal(tail, members);
}

static void check_prefixes(const struct web *w, const struct torus_dm *dm)
{
	unsigned int m = torus_dm_digits(dm);

	for (unsigned int len = 0; len <= m; len++)
		for (uint32_t v = 0; v < w->n; v++)
			check_prefix(w, dm, len, torus_dm_address(dm, v) >> (m - len));
}

/* Numbers are 0 to n - 1, each once, and only addresses of n or more are renumbered, in order. */
static void check_numbers(const struct web *w, const struct torus_dm *dm)
{
	const uint32_t *missing, *standing;
	uint32_t holes = torus_dm_holes(dm, &missing, &standing), found = 0;
	bool has[N_MAX] = { false };

	for (uint32_t v = 0; v < w->n; v++) {
		uint32_t number = torus_dm_number(dm, v), address = torus_dm_address(dm, v);

		assert_true(number < w->n && !has[number]);
		has[number] = true;
		assert_int_equal(torus_dm_number_vertex(dm, number), v);
		assert_int_equal(torus_dm_translate(dm, number), address);
		assert_int_equal(torus_dm_vertex(dm, address), v);
		assert_true(address < 1u << torus_dm_digits(dm));
		assert_true(number == address || address >= w->n);
	}
	for (uint32_t address = 0; address < 1u << torus_dm_digits(dm) && address < 4096; address++)
		found += torus_dm_vertex(dm, address) != TORUS_NO_NODE;
	assert_true(found == w->n || torus_dm_digits(dm) > 12);
	for (uint32_t i = 0; i < holes; i++) {
		assert_int_equal(torus_dm_vertex(dm, missing[i]), TORUS_NO_NODE);
		assert_true(missing[i] < w->n && standing[i] >= w->n);
		assert_true(!i || (missing[i] > missing[i - 1] && standing[i] > standing[i - 1]));
	}
}

/* The first digit in which two addresses differ, found without a clever instruction. */
static unsigned int differing_digit(unsigned int m, uint32_t a, uint32_t b)
{
	unsigned int i = 0;

	while (a >> (m - 1 - i) == b >> (m - 1 - i))
		i++;
	return i;
}

static void check_tables(const struct web *w, const struct torus_dm *dm, uint32_t v,
			 uint32_t gateway[TORUS_DM_DIGITS_MAX])
{
	unsigned int m = torus_dm_digits(dm);
	uint16_t hops[TORUS_DM_DIGITS_MAX * PORTS];
	uint8_t port[TORUS_DM_DIGITS_MAX];
	uint32_t own = torus_dm_address(dm, v);

	assert_int_equal(torus_dm_tables(dm, v, port, gateway, hops), 0);
	for (unsigned int i = 0; i < m; i++) {
		uint32_t least = UINT32_MAX, by = TORUS_DM_NO_PORT, near = TORUS_NO_NODE;

		for (unsigned int p = 0; p < PORTS; p++) {
			uint32_t h = TORUS_DM_NO_WAY;

			for (uint32_t d = 0; p < w->ports[v] && d < w->n; d++) {
				uint32_t address = torus_dm_address(dm, d), way = w->hops[w->to[v][p]][d] + 1;

				if (d != v && differing_digit(m, own, address) == i && way < h)
					h = way;
			}
			assert_int_equal(hops[i * PORTS + p], h);
			if (h < TORUS_DM_NO_WAY && h < least) {
				least = h;
				by = p;
			}
		}
		for (uint32_t d = 0; d < w->n; d++)
			if (d != v && differing_digit(m, own, torus_dm_address(dm, d)) == i &&
			    w->hops[v][d] == least && (near == TORUS_NO_NODE ||
			    torus_dm_address(dm, d) < torus_dm_address(dm, near)))
				near = d;
		assert_int_equal(port[i], by);
		assert_int_equal(gateway[i], near);
	}
}

/* Every pair is served by legs from gateway to gateway, at most m of them. */
static void check_legs(const struct web *w, const struct torus_dm *dm)
{
	static uint32_t gateway[N_MAX][TORUS_DM_DIGITS_MAX];
	unsigned int m = torus_dm_digits(dm);

	for (uint32_t v = 0; v < w->n; v++)
		check_tables(w, dm, v, gateway[v]);
	for (uint32_t a = 0; a < w->n; a++) {
		for (uint32_t b = 0; b < w->n; b++) {
			unsigned int legs = 0;

			for (uint32_t at = a; at != b; legs++) {
				at = gateway[at][torus_dm_digit(m, torus_dm_address(dm, at),
								torus_dm_address(dm, b))];
				assert_true(at < w->n && legs < m);
			}
		}
	}
}

static void check_rule(struct web *w, const struct torus_dm_rule *rule)
{
	const struct torus_graph g = graph_of(w);
	struct torus_dm *dm;

	assert_int_equal(torus_dm_new(&g, rule, &dm), 0);
	assert_true(w->n <= 1u << torus_dm_digits(dm));
	assert_true(w->n < 40 || w->n > 1u << torus_dm_digits(dm) >> 3);
	check_prefixes(w, dm);
	check_numbers(w, dm);
	check_legs(w, dm);
	torus_dm_free(dm);
}

/* --- matchings ----------------------------------------------------------------- */

/** struct worth - what a matching is compared by: pairs, sum of keys, sum of differences */
struct worth {
	int64_t pairs, keys, apart;
};

static bool is_better(const struct worth *a, const struct worth *b)
{
	if (a->pairs != b->pairs)
		return a->pairs > b->pairs;
	return a->keys != b->keys ? a->keys > b->keys : a->apart < b->apart;
}

static bool is_heavier(const struct worth *a, const struct worth *b)
{
	return a->keys > b->keys;
}

/* Finds the best matching of the vertices from @v on that are not in @used. */
static struct worth best_matching(const struct lt_level *l, uint32_t v, uint32_t used,
				  bool (*better)(const struct worth *, const struct worth *))
{
	const struct lt_edge *edges;
	struct lt_edge copy[PORTS];
	struct worth best;
	uint32_t n;

	while (v < l->n && used >> v & 1)
		v++;
	if (v >= l->n)
		return (struct worth){ 0, 0, 0 };
	best = best_matching(l, v + 1, used, better);
	n = lt_dm_edges(l, v, &edges);
	memcpy(copy, edges, n * sizeof(*edges));
	for (uint32_t i = 0; i < n; i++) {
		struct worth with;

		if (copy[i].to < v || used >> copy[i].to & 1)
			continue;
		with = best_matching(l, v + 1, used | 1u << copy[i].to, better);
		with.pairs++;
		with.keys += copy[i].key;
		with.apart += copy[i].to - v;
		if (better(&with, &best))
			best = with;
	}
	return best;
}

/* Adds up a matching, whose pairs must be edges. */
static struct worth worth_of(const struct lt_level *l, const uint32_t *mate)
{
	struct worth sum = { 0, 0, 0 };
	const struct lt_edge *e;

	for (uint32_t v = 0; v < l->n; v++) {
		uint32_t n = lt_dm_edges(l, v, &e), i = 0;

		if (mate[v] == TORUS_NO_NODE)
			continue;
		assert_int_equal(mate[mate[v]], v);
		while (i < n && e[i].to != mate[v])
			i++;
		assert_true(i < n);
		if (v > mate[v])
			continue;
		sum.pairs++;
		sum.keys += e[i].key;
		sum.apart += mate[v] - v;
	}
	return sum;
}

static void check_matchings(struct web *w, enum torus_dm_prefer prefer)
{
	struct lt_edge room[PORTS + 1];
	const struct torus_graph g = graph_of(w);
	struct lt_level l = { .n = w->n, .graph = &g, .prefer = prefer, .room = room };
	uint32_t mate[N_MAX];
	struct worth got, best;

	best = best_matching(&l, 0, 0, is_better);
	assert_int_equal(lt_match_exact(&l, mate), 0);
	got = worth_of(&l, mate);
	assert_int_equal(got.pairs, best.pairs);
	assert_int_equal(got.keys, best.keys);
	assert_int_equal(got.apart, best.apart);
	best = best_matching(&l, 0, 0, is_heavier);
	assert_int_equal(lt_match_dominant(&l, mate), 0);
	got = worth_of(&l, mate);
	assert_true(2 * got.keys >= best.keys);
}

static void check_graph(struct web *w)
{
	static const enum torus_dm_match methods[] = { TORUS_DM_EXACT, TORUS_DM_DOMINANT };

	for (int i = 0; i < 2; i++)
		for (int prefer = 0; prefer < 3; prefer++) {
			const struct torus_dm_rule rule = { .match = methods[i],
				.prefer = (enum torus_dm_prefer)prefer };

			check_rule(w, &rule);
		}
}

/* --- tests --------------------------------------------------------------------- */

/* Sets a graph of @n vertices from the bits of @edges. Return: true if degrees never rise. */
static bool set_edges(struct web *w, uint32_t n, uint32_t edges)
{
	unsigned int bit = 0;

	clear_web(w, n);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++, bit++)
			if (edges >> bit & 1)
				tie_web(w, a, b, 1 + bit * 7 % 5, bit % 3);
	for (uint32_t a = 1; a < n; a++)
		if (w->ports[a] > w->ports[a - 1])
			return false;
	return true;
}

/* Each graph of up to five vertices with all numberings; of six and seven at least one numbering. */
static void all_small_graphs_get_right_addresses(void **state)
{
	static const uint32_t connected[] = { 0, 1, 1, 4, 38, 728 };

	(void)state;
	for (uint32_t n = 1; n <= 7; n++) {
		uint32_t found = 0;

		for (uint32_t edges = 0; edges < 1u << n * (n - 1) / 2; edges++) {
			if (!set_edges(&web, n, edges) && n > 5)
				continue;
			if (!measure_web(&web))
				continue;
			found++;
			check_graph(&web);
			check_matchings(&web, TORUS_DM_BANDWIDTH);
		}
		if (n <= 5)
			assert_int_equal(found, connected[n]);
		else
			assert_true(found >= (n == 6 ? 112 : 853));
	}
}

static void random_web(struct web *w, uint32_t n, uint32_t more, uint64_t *seed)
{
	clear_web(w, n);
	for (uint32_t v = 1; v < n; v++) {
		uint32_t to;

		do
			to = random_below(seed, v);
		while (w->ports[to] > PORTS - 3);
		tie_web(w, v, to, 1 + random_below(seed, 100), random_below(seed, 3));
	}
	while (more--) {
		uint32_t a = random_below(seed, n), b = random_below(seed, n);

		if (a != b && w->ports[a] < PORTS - 2 && w->ports[b] < PORTS - 2)
			tie_web(w, a, b, 1 + random_below(seed, 100), random_below(seed, 3));
	}
	assert_true(measure_web(w));
}

static void random_matchings_equal_exhaustive_search(void **state)
{
	uint64_t seed = random_seed(20);

	(void)state;
	for (int i = 0; i < 600; i++) {
		uint32_t n = 8 + random_below(&seed, 7);

		random_web(&web, n, random_below(&seed, n + 1), &seed);
		check_matchings(&web, (enum torus_dm_prefer)(i % 3));
	}
}

/*
 * Parallel edges are among them. Few digits are left over; without the order of lt_match_dominant()
 * by neighbours these graphs need 9 to 25.
 */
static void random_graphs_get_right_addresses_by_all_rules(void **state)
{
	uint64_t seed = random_seed(21);

	(void)state;
	for (int i = 0; i < 12; i++) {
		uint32_t n = 40 + random_below(&seed, 80);

		random_web(&web, n, n + random_below(&seed, n), &seed);
		check_graph(&web);
	}
}

/* The result does not depend on the order of ports: all nodes compute the same. */
static void result_does_not_depend_on_order_of_ports(void **state)
{
	uint64_t seed = random_seed(22);
	uint32_t address[N_MAX];

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct torus_dm_rule rule = { .match = i & 1 ? TORUS_DM_EXACT : TORUS_DM_DOMINANT };
		struct torus_graph g;
		struct torus_dm *dm;

		random_web(&web, 60, random_below(&seed, 100), &seed);
		g = graph_of(&web);
		for (int turn = 0; turn < 2; turn++) {
			assert_int_equal(torus_dm_new(&g, &rule, &dm), 0);
			for (uint32_t v = 0; v < web.n; v++) {
				assert_true(!turn || address[v] == torus_dm_address(dm, v));
				address[v] = torus_dm_address(dm, v);
			}
			torus_dm_free(dm);
			for (uint32_t v = 0; v < web.n; v++) {
				for (unsigned int p = 0; p < web.ports[v] / 2; p++) {
					unsigned int q = web.ports[v] - 1 - p;
					uint32_t to = web.to[v][p], weight = web.weight[v][p];
					unsigned int dim = web.dim[v][p];

					web.to[v][p] = web.to[v][q];
					web.weight[v][p] = web.weight[v][q];
					web.dim[v][p] = web.dim[v][q];
					web.to[v][q] = to;
					web.weight[v][q] = weight;
					web.dim[v][q] = dim;
				}
			}
		}
	}
}

/* A grid of rings with sizes that are powers of two: digits of a dimension are together. */
static void torus_gets_digits_grouped_by_dimension(void **state)
{
	static const enum torus_dm_match methods[] = { TORUS_DM_EXACT, TORUS_DM_DOMINANT };

	(void)state;
	clear_web(&web, 256);
	for (uint32_t v = 0; v < 256; v++) {
		uint32_t x = v >> 5, y = v >> 2 & 7, z = v & 3;

		tie_web(&web, v, (x + 1) % 8 << 5 | y << 2 | z, 1, 0);
		tie_web(&web, v, x << 5 | (y + 1) % 8 << 2 | z, 1, 1);
		tie_web(&web, v, x << 5 | y << 2 | (z + 1) % 4, 1, 2);
	}
	for (int i = 0; i < 2; i++) {
		const struct torus_dm_rule rule = { .match = methods[i] };
		const struct torus_graph g = graph_of(&web);
		struct torus_dm *dm;

		assert_int_equal(torus_dm_new(&g, &rule, &dm), 0);
		assert_int_equal(torus_dm_digits(dm), 8);
		assert_int_equal(torus_dm_holes(dm, NULL, NULL), 0);
		for (uint32_t v = 0; v < 256; v++)
			assert_int_equal(torus_dm_address(dm, v), v);
		torus_dm_free(dm);
	}
}

/* --- the paper's examples ------------------------------------------------------ */

static void set_figure_1(struct web *w)
{
	static const uint8_t edges[][2] = { { 0, 1 }, { 3, 4 }, { 5, 6 }, { 7, 8 }, { 2, 3 },
		{ 1, 5 }, { 8, 9 }, { 4, 5 }, { 6, 7 } };

	clear_web(w, 10);
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		tie_web(w, edges[i][0], edges[i][1], 1, 0);
	assert_true(measure_web(w));
}

static void figure_7_of_paper_is_reproduced(void **state)
{
	static const struct torus_dm_pair pairs[] = { { 0, 0, 1 }, { 0, 2, 3 }, { 0, 4, 5 }, { 0, 7, 8 },
		{ 1, 2, 4 }, { 1, 7, 9 }, { 2, 6, 2 }, { 3, 6, 0 }, { 4, 6, 7 } };
	const struct torus_dm_rule rule = { .pair = pairs, .n_pairs = 9 };
	const uint32_t *missing, *standing;
	uint8_t port[TORUS_DM_DIGITS_MAX];
	struct torus_graph g;
	struct torus_dm *dm;

	(void)state;
	set_figure_1(&web);
	g = graph_of(&web);
	assert_int_equal(torus_dm_new(&g, &rule, &dm), 0);
	assert_int_equal(torus_dm_digits(dm), 5);
	assert_int_equal(torus_dm_holes(dm, &missing, &standing), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(missing[i], i + 1);
		assert_int_equal(standing[i], i + 16);
	}
	assert_int_equal(torus_dm_vertex(dm, 0), 6);
	assert_int_equal(torus_dm_tables(dm, 6, port, NULL, NULL), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(port[i] == TORUS_DM_NO_PORT, i >= 3);
	check_prefixes(&web, dm);
	check_numbers(&web, dm);
	check_legs(&web, dm);
	torus_dm_free(dm);
}

static void figure_8_of_paper_is_reproduced(void **state)
{
	static const struct torus_dm_pair pairs[] = { { 0, 0, 1 }, { 0, 3, 4 }, { 0, 5, 6 }, { 0, 7, 8 },
		{ 1, 0, 5 }, { 1, 2, 3 }, { 1, 7, 9 }, { 2, 0, 2 }, { 3, 0, 7 } };
	const struct torus_dm_rule rule = { .pair = pairs, .n_pairs = 9 };
	const uint32_t *missing, *standing;
	struct torus_graph g;
	struct torus_dm *dm;

	(void)state;
	set_figure_1(&web);
	g = graph_of(&web);
	assert_int_equal(torus_dm_new(&g, &rule, &dm), 0);
	assert_int_equal(torus_dm_digits(dm), 4);
	assert_int_equal(torus_dm_holes(dm, &missing, &standing), 1);
	assert_int_equal(missing[0], 5);
	assert_int_equal(standing[0], 10);
	check_prefixes(&web, dm);
	torus_dm_free(dm);
	/* The usual rule needs no more digits. */
	assert_int_equal(torus_dm_new(&g, NULL, &dm), 0);
	assert_int_equal(torus_dm_digits(dm), 4);
	torus_dm_free(dm);
}

/* --- refused input ------------------------------------------------------------- */

static void refused(const struct torus_dm_rule *rule, int err)
{
	const struct torus_graph g = graph_of(&web);
	struct torus_dm *dm = NULL;

	assert_int_equal(torus_dm_new(&g, rule, &dm), err);
	assert_null(dm);
}

static void impossible_pairs_are_refused(void **state)
{
	static const struct torus_dm_pair twice[] = { { 0, 0, 1 }, { 0, 1, 5 } },
		apart[] = { { 0, 0, 2 } }, same[] = { { 0, 3, 3 } }, few[] = { { 0, 0, 1 } },
		beyond[] = { { 0, 0, 10 } };
	struct torus_dm_rule rule = { .pair = twice, .n_pairs = 2 };
	struct torus_graph g;
	struct torus_dm *dm;
	uint8_t port[TORUS_DM_DIGITS_MAX];

	(void)state;
	set_figure_1(&web);
	refused(&rule, -EINVAL);
	rule = (struct torus_dm_rule){ .pair = apart, .n_pairs = 1 };
	refused(&rule, -EINVAL);
	rule.pair = same;
	refused(&rule, -EINVAL);
	rule.pair = beyond;
	refused(&rule, -EINVAL);
	rule.pair = few;
	refused(&rule, -ENOTCONN);
	web.n = 0;
	refused(NULL, -EINVAL);
	clear_web(&web, 3);
	tie_web(&web, 0, 1, 1, 0);
	refused(NULL, -ENOTCONN);
	web.to[0][0] = 3;
	refused(NULL, -EINVAL);
	clear_web(&web, 1);
	g = graph_of(&web);
	assert_int_equal(torus_dm_new(&g, NULL, &dm), 0);
	assert_int_equal(torus_dm_digits(dm), 0);
	assert_int_equal(torus_dm_tables(dm, 1, port, NULL, NULL), -EINVAL);
	assert_int_equal(torus_dm_tables(dm, 0, port, NULL, NULL), 0);
	torus_dm_free(dm);
	torus_dm_free(NULL);
}

static uint32_t star_next(void *arg, uint32_t v, unsigned int port)
{
	uint32_t n = *(uint32_t *)arg;

	return v ? (port ? TORUS_NO_NODE : 0) : port + 1 < n ? port + 1 : TORUS_NO_NODE;
}

/* A star with k leaves needs k digits. */
static void star_needs_one_digit_per_leaf(void **state)
{
	uint32_t n = 25;
	struct torus_graph g = { .n = n, .degree = 64, .next = star_next, .arg = &n };
	struct torus_dm_rule rule = { .match = TORUS_DM_EXACT };
	struct torus_dm *dm;

	(void)state;
	assert_int_equal(torus_dm_new(&g, NULL, &dm), 0);
	assert_int_equal(torus_dm_digits(dm), 24);
	torus_dm_free(dm);
	g.n = n = 26;
	assert_int_equal(torus_dm_new(&g, NULL, &dm), -EOVERFLOW);
	g.degree = TORUS_DM_DEGREE_MAX + 1;
	assert_int_equal(torus_dm_new(&g, NULL, &dm), -EINVAL);
	g.degree = 1;
	g.n = n = TORUS_DM_EXACT_MAX + 1;
	assert_int_equal(torus_dm_new(&g, &rule, &dm), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_small_graphs_get_right_addresses),
		cmocka_unit_test(random_matchings_equal_exhaustive_search),
		cmocka_unit_test(random_graphs_get_right_addresses_by_all_rules),
		cmocka_unit_test(result_does_not_depend_on_order_of_ports),
		cmocka_unit_test(torus_gets_digits_grouped_by_dimension),
		cmocka_unit_test(figure_7_of_paper_is_reproduced),
		cmocka_unit_test(figure_8_of_paper_is_reproduced),
		cmocka_unit_test(impossible_pairs_are_refused),
		cmocka_unit_test(star_needs_one_digit_per_leaf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
