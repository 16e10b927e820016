// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that boot long after the others: a shape that was discovered grows by them
 * (daemon/fm/root/grow.c). No node's coordinates and address ever change, and no packet is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "trial.h"
#include "tests/unit/random.h"

#define NODES_MAX 64

/**
 * struct growth - a trial whose nodes boot one after the other
 * @addr: of each node, once it has one
 */
struct growth {
	struct trial s;
	struct in_addr addr[NODES_MAX];
	bool has_addr[NODES_MAX];
};

static void begin(struct growth *g, const char *shape, uint64_t seed)
{
	struct world_config c;

	memset(g, 0, sizeof(*g));
	world_config_default(&c);
	c.adaptive = true;
	c.discover = true;
	c.seed = seed;
	assert_int_equal(torus_shape_parse(shape, &c.shape), 0);
	trial_begin(&g->s, &c);
}

static void end(struct growth *g, const char *what)
{
	if (!trial_end(&g->s))
		fail_msg("%s: %s", what, g->s.wrong);
}

/* Checks that a node that has an address keeps it. */
static void check_addresses(struct growth *g)
{
	for (uint32_t i = 0; i < world_nodes(g->s.w); i++) {
		const struct fm *fm = world_fm(g->s.w, i);
		struct in_addr now;

		if (!fm || fm_own(fm) == TORUS_NO_NODE)
			continue;
		now = torus_addr4(fm_shape(fm), fm_own(fm));
		if (g->has_addr[i] && now.s_addr != g->addr[i].s_addr)
			trial_fail(&g->s, "the address of node %u changes", i);
		g->has_addr[i] = true;
		g->addr[i] = now;
	}
}

static void runs(struct growth *g, uint64_t ns)
{
	for (uint64_t until = world_now(g->s.w) + ns; world_now(g->s.w) < until;) {
		world_run(g->s.w, 1 * MS);
		check_addresses(g);
	}
}

static const char *shape_now(const struct growth *g, char *text)
{
	struct fm_status st;

	fm_status(world_fm(g->s.w, 0), &st);
	return st.version ? torus_shape_text(&st.shape, text) : "none";
}

static void boots(struct growth *g, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++)
		world_power(g->s.w, i, true);
}

/* Nodes boot in the order of their ids, seconds apart. In the end the whole torus is there. */
static void shape_grows_with_each_booting_node(void **state)
{
	static const char *const shapes[] = { "2", "3", "5", "2x2", "3x2", "4x3", "2x2x2", "3x3x2" };

	(void)state;
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		struct growth g;
		uint32_t n;

		begin(&g, shapes[k], k);
		n = world_nodes(g.s.w);
		for (uint32_t i = 0; i < n; i++) {
			boots(&g, i, 1);
			runs(&g, 2 * SEC);
		}
		trial_rest(&g.s, 10 * SEC);
		check_addresses(&g);
		for (uint32_t i = 0; i < n; i++)
			if (!g.has_addr[i])
				trial_fail(&g.s, "node %u has no address", i);
		world_traffic(g.s.w, 200 * US);
		world_run(g.s.w, 20 * MS);
		end(&g, shapes[k]);
	}
}

/*
 * Half of the fabric boots minutes after the other half, in any dimension: whole lines that close,
 * lines that do not yet, and several dimensions at once.
 */
static void shape_grows_by_later_half(void **state)
{
	static const struct {
		const char *shape;
		unsigned int sizes[3];	/* sizes of the part that boots first */
		const char *first;
	} t[] = {
		{ "4x4", { 4, 2, 1 }, "4x2" }, { "4x4", { 2, 4, 1 }, "2x4" },
		{ "4x4", { 2, 2, 1 }, "2x2" }, { "4x4", { 3, 2, 1 }, "3x2" },
		{ "3x3x3", { 3, 3, 2 }, "3x3x2" }, { "3x3x3", { 2, 3, 3 }, "2x3x3" },
		{ "2x2x2", { 2, 2, 1 }, "2x2x1" }, { "8x2", { 5, 2, 1 }, "5x2" },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(t) / sizeof(t[0]); k += trial_every() > 1 ? 3 : 1) {
		char text[TORUS_TEXT_MAX];
		struct torus_coords at;
		struct growth g;

		begin(&g, t[k].shape, k);
		for (unsigned int late = 0; late < 2; late++) {
			for (uint32_t i = 0; i < world_nodes(g.s.w); i++) {
				bool first = true;

				torus_node_coords(&world_config(g.s.w)->shape, i, &at);
				for (unsigned int d = 0; d < 3; d++)
					first &= at.c[d] < t[k].sizes[d];
				if (first != late)
					boots(&g, i, 1);
			}
			runs(&g, 8 * SEC);
			assert_string_equal(shape_now(&g, text), late ? t[k].shape : t[k].first);
		}
		world_traffic(g.s.w, 200 * US);
		trial_rest(&g.s, 10 * SEC);
		end(&g, t[k].shape);
	}
}

static bool waits(struct growth *g)
{
	return trial_problem(&g->s, "place", "not while packets are sent");
}

/* While packets are sent the shape stays, and who looks is told why; afterwards it grows. */
static void shape_does_not_grow_under_traffic(void **state)
{
	char text[TORUS_TEXT_MAX];
	struct growth g;

	(void)state;
	begin(&g, "4x4", 1);
	boots(&g, 0, 8);
	runs(&g, 3 * SEC);
	world_traffic(g.s.w, 2 * MS);
	runs(&g, 20 * MS);
	boots(&g, 8, 8);
	runs(&g, 10 * SEC);
	assert_string_equal(shape_now(&g, text), "4x2");
	assert_true(waits(&g));
	assert_true(check_flow_arrived(g.s.flow));
	/* The root tries ever more seldom. */
	world_counts(g.s.w);
	runs(&g, 20 * SEC);
	assert_in_range(world_counts(g.s.w).versions, 1, 3);
	world_traffic(g.s.w, 0);
	runs(&g, 31 * SEC);
	assert_string_equal(shape_now(&g, text), "4x4");
	assert_false(waits(&g));
	world_traffic(g.s.w, 200 * US);
	end(&g, "not under traffic");
}

enum hit { HANGS, ENDS, LOSES_POWER, CUT, HITS };

static void hit(struct growth *g, enum hit what, uint32_t node, uint32_t cable, bool is)
{
	switch (what) {
	case HANGS:
		world_hang(g->s.w, node, is);
		break;
	case ENDS:
		world_manager(g->s.w, node, !is);
		break;
	case LOSES_POWER:
		world_power(g->s.w, node, !is);
		break;
	default:
		world_cut(g->s.w, cable, is);
	}
}

static void half_of_4x2(struct growth *g, uint32_t first)
{
	boots(g, first, 2);
	boots(g, first + 4, 2);
}

static void one_seed(uint64_t seed)
{
	uint64_t random = seed;
	enum hit what = (enum hit)(seed % HITS);
	uint32_t node = 1 + random_below(&random, 3), cable = 2 * random_below(&random, 4);
	struct growth g;

	node = node % 2 + 4 * (node / 2);
	begin(&g, "4x2", seed);
	half_of_4x2(&g, 0);
	runs(&g, 3 * SEC);
	half_of_4x2(&g, 2);
	/* Growth begins half a second after the nodes came, and takes some milliseconds. */
	runs(&g, 500 * MS + random_below(&random, 40) * 250 * US);
	hit(&g, what, node, cable, true);
	runs(&g, 100 * MS + random_below(&random, 6) * SEC);
	world_traffic(g.s.w, 500 * US);
	runs(&g, 20 * MS);
	world_traffic(g.s.w, 0);
	hit(&g, what, node, cable, false);
	world_run(g.s.w, 12 * SEC);
	check_addresses(&g);
	world_traffic(g.s.w, 200 * US);
	if (!trial_end(&g.s))
		fail_msg("seed %llu: %s", (unsigned long long)seed, g.s.wrong);
}

/*
 * At any moment of a growth a manager hangs or ends, a cable is cut, or a node loses its power. In
 * the end the whole torus is there, and the traffic that begins then meets no NIC of the old shape.
 */
static void disturbed_growth_ends_in_whole_torus(void **state)
{
	(void)state;
	if (getenv("SEED")) {
		one_seed(random_seed(0));
		return;
	}
	for (uint64_t seed = 0; seed < 160; seed += trial_every())
		one_seed(seed);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shape_grows_with_each_booting_node),
		cmocka_unit_test(shape_grows_by_later_half),
		cmocka_unit_test(shape_does_not_grow_under_traffic),
		cmocka_unit_test(disturbed_growth_ends_in_whole_torus),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
