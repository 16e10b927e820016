// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels that can wait for each other in a circle (lib/route/deps.h), compared with a brute-force
 * search, for random dependences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "lib/route/deps.h"
#include "naive.h"
#include "random.h"

#define CHANNELS_MAX 64

/** struct graph - @leads: where each channel leads, one bit for each channel */
struct graph {
	struct model m;
	struct deps deps;
	unsigned int channels;
	uint64_t leads[CHANNELS_MAX];
};

static void begin(struct graph *g, const char *shape)
{
	model_make(&g->m, shape);
	g->channels = g->m.nodes * 2 * g->m.n;
	assert_true(g->channels <= CHANNELS_MAX);
	memset(g->leads, 0, sizeof(g->leads));
	assert_int_equal(lt_deps_init(&g->deps, &g->m.shape), 0);
	assert_int_equal(g->deps.channels, g->channels);
}

/* Adds to the graph that a packet that leaves @node by @port may leave the next node by @then. */
static void add(struct graph *g, uint32_t node, unsigned int port, unsigned int then)
{
	unsigned int ports = 2 * g->m.n;

	lt_deps_add(&g->deps, node, port, then);
	g->leads[node * ports + port] |= 1ull << (g->m.next[node][port] * ports + then);
}

/* Adds all channels that are reached through others. */
static void close_all(struct graph *g)
{
	for (unsigned int by = 0; by < g->channels; by++)
		for (unsigned int a = 0; a < g->channels; a++)
			if (g->leads[a] >> by & 1)
				g->leads[a] |= g->leads[by];
}

static bool circle(const struct graph *g, unsigned int a, unsigned int b)
{
	return a == b || (g->leads[a] >> b & 1 && g->leads[b] >> a & 1);
}

static bool same_ring(const struct graph *g, unsigned int a, unsigned int b)
{
	unsigned int ports = 2 * g->m.n;

	for (unsigned int d = 0; d < g->m.n; d++)
		if (d != a % ports % g->m.n && g->m.c[a / ports][d] != g->m.c[b / ports][d])
			return false;
	return a % ports == b % ports;
}

/* Return: true if a channel in a circle with @a is of another ring or direction. */
static bool is_bad(const struct graph *g, unsigned int a)
{
	for (unsigned int b = 0; b < g->channels; b++)
		if (circle(g, a, b) && !same_ring(g, a, b))
			return true;
	return false;
}

static int check(struct graph *g)
{
	int bad = 0;

	close_all(g);
	for (unsigned int a = 0; a < g->channels; a++) {
		bool first = true;	/* first of the channels in a circle with it */

		for (unsigned int b = 0; b < a; b++)
			first = first && !circle(g, a, b);
		bad += first && is_bad(g, a);
	}
	assert_int_equal(lt_deps_solve(&g->deps), bad);
	for (unsigned int a = 0; a < g->channels; a++)
		for (unsigned int b = 0; b < g->channels; b++)
			assert_int_equal(lt_deps_bad(&g->deps, a, b),
					 circle(g, a, b) && is_bad(g, a));
	lt_deps_free(&g->deps);
	return bad;
}

static void circle_is_found_exactly_if_model_has_one(void **state)
{
	static const char *const shapes[] = { "1", "2", "3", "7", "2x2", "1x4", "3x3", "4x4", "5x3",
					      "2x2x2", "2x1x4", "2x2x1x2" };
	uint64_t seed = random_seed(1);
	unsigned int counts[3] = { 0 };
	struct graph g;

	(void)state;
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned int round = 0; round < 24; round++) {
			int bad;

			begin(&g, shapes[i]);
			for (unsigned int n = g.channels * (round % 12) / 6; n--; ) {
				uint32_t node = random_below(&seed, g.m.nodes);
				unsigned int port = random_below(&seed, 2 * g.m.n);

				/* Mostly straight on, which makes circles round a ring. */
				add(&g, node, port, random_below(&seed, 3) ?
				    random_below(&seed, 2 * g.m.n) : port);
			}
			bad = check(&g);
			counts[bad > 2 ? 2 : bad]++;
		}
	assert_true(counts[0] > 20 && counts[1] > 20 && counts[2] > 20);
}

/*
 * With dependencies round each ring, both ways, and with turns to later directions, only rings are
 * circles.
 */
static void only_rings_make_circles_of_ordered_turns(void **state)
{
	static const char *const shapes[] = { "5", "4x4", "2x5", "2x2x2" };
	struct graph g;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		begin(&g, shapes[i]);
		for (uint32_t node = 0; node < g.m.nodes; node++)
			for (unsigned int port = 0; port < 2 * g.m.n; port++)
				for (unsigned int then = port; then < 2 * g.m.n; then++)
					add(&g, node, port, then);
		assert_int_equal(check(&g), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(circle_is_found_exactly_if_model_has_one),
		cmocka_unit_test(only_rings_make_circles_of_ordered_turns),
	};

	return cmocka_run_group_tests_name("deps", tests, NULL, NULL);
}
