// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses by the wave alone: in a world whose service network carries nothing, each node knows
 * its coordinates and its neighbours; wrong cables are found by the nodes at their ends; when the
 * service network comes, the root confirms all places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/square.h"
#include "daemon/fm/wire/init.h"
#include "trial.h"
#include "tests/unit/random.h"
#include "tools/fabricsim/world_impl.h"

static void isolate(struct world *w)
{
	for (uint32_t a = 0; a < world_nodes(w); a++)
		for (uint32_t b = 0; b < world_nodes(w); b++)
			if (a != b)
				world_one_way(w, a, b, true);
}

/* Return: true if that position, modulo the true sizes, is the place of @node. */
static bool is_at(const struct world *w, const int32_t *position, uint32_t node)
{
	const struct torus_shape *shape = &world_config(w)->shape;
	struct torus_coords at;

	torus_node_coords(shape, node, &at);
	for (unsigned int d = 0; d < shape->ndims; d++)
		if ((position[d] - at.c[d]) % shape->size[d])
			return false;
	return true;
}

static bool has_link(const struct world *w, uint32_t node, unsigned int p)
{
	const struct torus_shape *shape = &world_config(w)->shape;
	unsigned int d = p % shape->ndims;
	uint32_t from = p < shape->ndims ? node : torus_neighbour(shape, node, p);

	return shape->size[d] > 1 && world_cable_whole(w, from * shape->ndims + d);
}

static void check_neighbour(struct trial *s, uint32_t i, unsigned int p)
{
	const struct torus_shape *shape = &world_config(s->w)->shape;
	bool there = has_link(s->w, i, p);
	struct fm_neighbour n;

	if (fm_neighbour(world_fm(s->w, i), p, &n) != there) {
		trial_fail(s, "node %u, port %u: a neighbour is%s known", i, p, there ? " not" :
			   "");
		return;
	}
	if (!there)
		return;
	if (n.port != torus_dir_opposite(shape, p) ||
	    !is_at(s->w, n.position, torus_neighbour(shape, i, p)))
		trial_fail(s, "node %u, port %u: the neighbour is elsewhere", i, p);
	if (!n.agrees)
		trial_fail(s, "node %u, port %u: the neighbour does not agree", i, p);
}

/*
 * Checks that each node knows its coordinates and its neighbours; all but the root know them by
 * the wave alone.
 */
static void check_places(struct trial *s, bool confirmed)
{
	struct fm_status st;
	struct fm_place at;

	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		if (!fm_place(world_fm(s->w, i), &at)) {
			trial_fail(s, "node %u does not know its place", i);
			continue;
		}
		if (!is_at(s->w, at.position, i))
			trial_fail(s, "node %u thinks that it is at %d,%d", i, at.position[0],
				   at.position[1]);
		fm_status(world_fm(s->w, i), &st);
		if (at.confirmed != st.placed || (i && at.confirmed != confirmed))
			trial_fail(s, "the place of node %u is%s confirmed", i,
				   at.confirmed ? "" : " not");
		if (i && !confirmed && (st.version || st.applied))
			trial_fail(s, "node %u has a table", i);
		for (unsigned int p = 0; p < 2u * world_config(s->w)->shape.ndims; p++)
			check_neighbour(s, i, p);
	}
	if (trial_problem(s, "wave", ""))
		trial_fail(s, "a contradiction in a fabric that is cabled right");
}

static void end(struct trial *s, const char *what, uint64_t seed)
{
	if (!trial_end(s))
		fail_msg("%s, seed %llu: %s", what, (unsigned long long)seed, s->wrong);
}

/* --- power-on --------------------------------------------------------------------- */

static bool next_order(uint32_t *o, uint32_t n)
{
	uint32_t i = n - 1, j = n - 1, t;

	while (i && o[i - 1] >= o[i])
		i--;
	if (!i)
		return false;
	while (o[j] <= o[i - 1])
		j--;
	t = o[i - 1], o[i - 1] = o[j], o[j] = t;
	for (j = n - 1; i < j; i++, j--)
		t = o[i], o[i] = o[j], o[j] = t;
	return true;
}

/*
 * @gap: between two nodes. Then the service network is there, and all is confirmed; after that
 * nodes are where they were.
 */
static void one_order(const struct world_config *c, const uint32_t *order, uint64_t gap,
		      uint64_t wait, bool comes)
{
	char shape[TORUS_TEXT_MAX];
	struct trial s;

	trial_begin(&s, c);
	isolate(s.w);
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		world_power(s.w, order[i], true);
		world_run(s.w, gap);
	}
	world_run(s.w, wait);
	check_places(&s, false);
	world_partition(s.w, 0);
	if (comes) {
		trial_rest(&s, 60 * SEC);
		check_places(&s, true);
	}
	end(&s, torus_shape_text(&c->shape, shape), c->seed);
}

static void wave_places_nodes_in_every_order(void **state)
{
	static const char *const shapes[] = { "1", "2", "3", "4", "5", "2x2", "3x2", "2x1x2" };

	(void)state;
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		uint32_t order[8], n;
		struct world_config c;

		trial_config(&c, shapes[k], 0);
		n = torus_nodes(&c.shape);
		for (unsigned int discover = 0; discover < 2; discover++) {
			c.discover = discover;
			for (uint32_t i = 0; i < n; i++)
				order[i] = i;
			do {
				if (!(c.seed++ % trial_every()))
					one_order(&c, order, 3 * MS, 1 * SEC, !(c.seed % 8));
			} while (next_order(order, n));
		}
	}
}

static void shuffle(uint64_t *random, uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = random_below(random, i), t = order[k];

		order[k] = order[i - 1];
		order[i - 1] = t;
	}
}

/*
 * Starts a torus of one to six dimensions, sizes 1 and 2 among them, with its nodes in any order
 * and at any time.
 */
static void one_seed(uint64_t seed)
{
	uint64_t random = seed;
	struct world_config c;
	uint32_t order[64], n;

	world_config_default(&c);
	c.adaptive = true;
	c.seed = seed;
	trial_shape(&random, 60, &c.shape);
	c.discover = random_below(&random, 2);
	if (!random_below(&random, 4))
		c.open = (uint8_t)random_below(&random, 1u << c.shape.ndims);
	n = torus_nodes(&c.shape);
	shuffle(&random, order, n);
	one_order(&c, order, random_below(&random, 3) * random_below(&random, 10 * MS) + 1,
		  random_below(&random, 4) ? 1 * SEC : 200 * SEC, !random_below(&random, 4));
}

static void wave_places_nodes_in_random_orders(void **state)
{
	(void)state;
	if (getenv("SEED")) {
		one_seed(random_seed(0));
		return;
	}
	for (uint64_t seed = 1; seed <= 300; seed += trial_every())
		one_seed(seed);
}

/* --- wrong cables ----------------------------------------------------------------------- */

/* A world's account of the wave: places that are wrong, and contradictions. */
struct sum {
	unsigned int wrong, named;
};

static struct sum sum_of(struct world *w)
{
	struct sum n = { 0 };

	for (uint32_t i = 0; i < world_nodes(w); i++) {
		const struct fm *fm = world_fm(w, i);
		struct fm_place at;

		n.wrong += !fm_place(fm, &at) || !is_at(w, at.position, i);
		for (unsigned int k = 0; fm_problem(fm, k); k++)
			n.named += !strcmp(fm_problem(fm, k)->kind, "wave");
	}
	return n;
}

static bool disagrees(struct world *w, uint32_t node, unsigned int port)
{
	struct fm_neighbour n;

	return fm_neighbour(world_fm(w, node), port, &n) && !n.agrees;
}

static bool is_cabled_right(struct world *w, uint32_t node, unsigned int port)
{
	const struct torus_shape *shape = &world_config(w)->shape;
	struct fm_neighbour n;

	return fm_neighbour(world_fm(w, node), port, &n) &&
	       n.guid == world_fm(w, torus_neighbour(shape, node, port))->guid &&
	       n.port == torus_dir_opposite(shape, port);
}

/*
 * Restores the service network: the root names the wrong cables, and confirms the places. Nodes
 * join the root one after the other then, in any order, and it places each of them by the cables
 * that are reported by then. Return: how many nodes have no place, or a wrong one.
 */
static unsigned int confirmed(struct trial *s, const char *what)
{
	const struct torus_shape *shape = &world_config(s->w)->shape;
	unsigned int wrong = 0;

	world_partition(s->w, 0);
	world_run(s->w, 60 * SEC);
	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		struct fm_place at;

		wrong += !fm_place(world_fm(s->w, i), &at) || !at.confirmed ||
			 !is_at(s->w, at.position, i);
	}
	for (uint32_t i = 0; !wrong && i < world_nodes(s->w); i++)
		for (unsigned int p = 0; p < 2u * shape->ndims; p++)
			if (disagrees(s->w, i, p) && is_cabled_right(s->w, i, p))
				trial_fail(s, "%s: a contradiction by the wave stays", what);
	if (!trial_problem(s, "wiring", what))
		trial_fail(s, "the root does not say: %s", what);
	return wrong;
}

static void drop(struct trial *s)
{
	if (s->wrong[0])
		fail_msg("%s", s->wrong);
	check_flow_free(s->flow);
	world_free(s->w);
}

/*
 * The far ends of two cables of one dimension are swapped. Return: nodes that the wave misplaced:
 * those that only the wrong cables have reached at first, and those that are as many as the others.
 */
static unsigned int one_cross(const char *shape, uint32_t a, uint32_t b, uint64_t seed, bool late,
			      unsigned int *by_root)
{
	struct world_config c;
	struct trial s;
	struct sum sum;
	uint64_t r = seed;
	unsigned int d;

	trial_config(&c, shape, seed);
	c.discover = false;
	trial_begin(&s, &c);
	isolate(s.w);
	d = a % c.shape.ndims;
	world_cross(s.w, a, b);
	for (uint32_t i = 0; i < world_nodes(s.w); i++) {
		world_power(s.w, i, true);
		if (seed & 1)
			world_run(s.w, random_below(&r, 5 * MS));
	}
	world_run(s.w, 2 * SEC);
	sum = sum_of(s.w);
	if (!sum.named)
		trial_fail(&s, "%s, seed %llu: nothing is named", shape, (unsigned long long)seed);
	/* Where all know their place, exactly the four ends have a contradiction. */
	if (!sum.wrong) {
		uint32_t from[2] = { a / c.shape.ndims, b / c.shape.ndims };

		for (unsigned int k = 0; k < 2; k++)
			if (!disagrees(s.w, from[k], d) ||
			    !disagrees(s.w, torus_neighbour(&c.shape, from[k], d),
				       torus_dir_opposite(&c.shape, d)))
				trial_fail(&s, "%s, seed %llu: an end is not named", shape,
					   (unsigned long long)seed);
		if (sum.named != 4 || !trial_problem(&s, "wave", "leads to the wrong node"))
			trial_fail(&s, "%s, seed %llu: %u ends are named", shape,
				   (unsigned long long)seed, sum.named);
	}
	if (late)
		*by_root += confirmed(&s, "leads to the wrong node") > 0;
	drop(&s);
	return sum.wrong;
}

/*
 * Two cables are swapped, and all come up one after the other in any order: so any way may be the
 * first by which the wave reaches a node. The last one is up before a root that discovers the shape
 * stops waiting. Each node ends at its place, and the ends of the wrong cables are named, and no
 * others. As long as no size is known, not each wrong cable contradicts.
 */
static void one_way_round(const char *shape, uint32_t a, uint32_t b, uint64_t seed)
{
	uint32_t order[256], n;
	struct world_config c;
	struct trial s;
	uint64_t r = seed;
	struct sum sum;

	trial_config(&c, shape, seed);
	c.discover = seed % 4 == 3;
	trial_begin(&s, &c);
	isolate(s.w);
	world_cross(s.w, a, b);
	n = world_cables(s.w);
	shuffle(&r, order, n);
	for (uint32_t k = 0; k < n; k++)
		world_cut(s.w, k, true);
	trial_power_all(&s);
	for (uint32_t k = 0; k < n; k++) {
		world_cut(s.w, order[k], false);
		world_run(s.w, random_below(&r, 2) * random_below(&r, 800 * MS / n));
	}
	world_run(s.w, 2 * SEC);
	sum = sum_of(s.w);
	if (sum.wrong)
		trial_fail(&s, "%s, cables %u and %u, seed %llu: %u nodes are misplaced", shape,
			   a, b, (unsigned long long)seed, sum.wrong);
	for (uint32_t i = 0; !c.discover && i < world_nodes(s.w); i++)
		for (unsigned int p = 0; p < 2u * c.shape.ndims; p++)
			if (disagrees(s.w, i, p) == is_cabled_right(s.w, i, p))
				trial_fail(&s,
					   "%s, cables %u and %u, seed %llu: node %u, port %u is%s "
					   "named", shape, a, b, (unsigned long long)seed, i, p,
					   disagrees(s.w, i, p) ? "" : " not");
	drop(&s);
}

/*
 * Each pair of cables of 3x3 is swapped in turn, in some orders each, and some pairs of larger
 * fabrics.
 */
static void wave_places_nodes_whichever_cables_are_swapped(void **state)
{
	static const char *const shapes[] = { "4x3", "4x4", "5x3", "5x5", "3x3x3", "4x3x3", "5x4x3",
					      "4x2x3" };
	struct torus_shape shape;
	uint64_t seed = 1, r = 1;

	(void)state;
	for (uint32_t a = 0; a < 18; a++)
		for (uint32_t b = a + 2; b < 18; b += 2)
			for (unsigned int k = 0; k < 12; k++)
				if (!(seed++ % trial_every()))
					one_way_round("3x3", a, b, seed);
	for (unsigned int k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		assert_int_equal(torus_shape_parse(shapes[k], &shape), 0);
		for (unsigned int n = 0; n < 200; n++) {
			uint32_t d = random_below(&r, shape.ndims), nodes = torus_nodes(&shape);
			uint32_t a = random_below(&r, nodes), b = random_below(&r, nodes - 1);

			b += b >= a;
			if (!(seed++ % trial_every()))
				one_way_round(shapes[k], a * shape.ndims + d, b * shape.ndims + d,
					      seed);
		}
	}
}

/* Draws two cables of one dimension of size 3 or more. */
static void draw_two(const char *text, uint64_t *r, uint32_t *a, uint32_t *b)
{
	struct torus_shape shape;
	uint32_t d, nodes;

	assert_int_equal(torus_shape_parse(text, &shape), 0);
	nodes = torus_nodes(&shape);
	do {
		d = random_below(r, shape.ndims);
		*a = random_below(r, nodes);
		*b = random_below(r, nodes - 1);
		*b += *b >= *a;
	} while (shape.size[d] < 3);
	*a = *a * shape.ndims + d;
	*b = *b * shape.ndims + d;
}

/*
 * Two cables are swapped in a fabric of which at least two dimensions have a size of 3 or more:
 * otherwise no squares tell which cable is right.
 */
static void wave_places_nodes_despite_swapped_cables(void **state)
{
	static const char *const shapes[] = { "4x4", "5x4", "3x3x3", "4x3x2", "3x1x4", "3x4x2x1",
					      "3x1x1x2x3", "3x2x1x1x3x2" };
	unsigned int misplaced, by_root;
	uint64_t seed = 1, r = 1;

	(void)state;
	for (unsigned int k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		misplaced = by_root = 0;
		for (unsigned int n = 0; n < 60; n++) {
			uint32_t a, b;

			draw_two(shapes[k], &r, &a, &b);
			if (!(seed++ % trial_every()))
				misplaced += one_cross(shapes[k], a, b, seed, n % 3 == 0,
						       &by_root) > 0;
		}
		if (misplaced || by_root)
			fail_msg("%s: the wave went wrong in %u of 60 fabrics, the root in %u of 20",
				 shapes[k], misplaced, by_root);
	}
}

/* Each pair of cables of 3x3 is swapped in turn, and the nodes join one after the other. */
static void wave_places_late_nodes(void **state)
{
	unsigned int misplaced = 0, by_root = 0;
	uint64_t seed = 1;

	(void)state;
	for (uint32_t a = 0; a < 18; a++)
		for (uint32_t b = a + 2; b < 18; b += 2)
			if (!(seed++ % trial_every()))
				misplaced += one_cross("3x3", a, b, seed, true, &by_root) > 0;
	if (misplaced || by_root)
		fail_msg("the wave went wrong in %u of 72 fabrics, the root in %u", misplaced,
			 by_root);
}

static void one_plug(uint32_t node, unsigned int port, uint32_t node2, unsigned int port2,
		     const char *text, const char *what)
{
	struct world_config c;
	struct trial s;

	trial_config(&c, "4x4", 1);
	c.discover = false;
	trial_begin(&s, &c);
	isolate(s.w);
	world_plug(s.w, 2 * node + port, node, port, node2, port2);
	trial_power_all(&s);
	world_run(s.w, 2 * SEC);
	if (sum_of(s.w).wrong)
		trial_fail(&s, "a node is misplaced");
	if (!trial_problem(&s, "wave", text))
		trial_fail(&s, "no problem of the wave: %s", text);
	if (confirmed(&s, what))
		trial_fail(&s, "the root has misplaced a node");
	drop(&s);
}

/*
 * A cable leads back to the node itself, and another one to a port that is not opposite: both are
 * named.
 */
static void wave_reports_wrong_ports(void **state)
{
	(void)state;
	one_plug(5, 0, 6, 3, "1,1:+x ('n5') is cabled to 2,1:-y ('n6'), expected 2,1:-x, by the "
		 "Inits of neighbours: joins ports that are not opposite", "not opposite");
	one_plug(5, 0, 6, 3, "2,1:-y ('n6') is cabled to 1,1:+x ('n5'), expected 2,0:+y",
		 "not opposite");
	one_plug(5, 0, 5, 2, "a cable from a node to itself", "from a node to itself");
}

/* --- two roots ---------------------------------------------------------------------------- */

/* Two nodes ask to be root, and no promise comes to either: each is where its root's wave says. */
static void node_takes_place_from_wave_of_root_that_it_follows(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct world_config c;
		struct torus_coords at;
		struct trial s;
		uint64_t r = seed;
		uint32_t other;

		trial_config(&c, seed & 1 ? "4x4" : "3x3x2", seed);
		c.discover = seed & 2;
		trial_begin(&s, &c);
		isolate(s.w);
		other = 1 + random_below(&r, world_nodes(s.w) - 1);
		torus_node_coords(&c.shape, other, &at);
		world_bootstrap(s.w, other, true);
		for (uint32_t i = 0; i < world_nodes(s.w); i++) {
			world_power(s.w, i, true);
			world_run(s.w, random_below(&r, 3 * MS));
		}
		world_run(s.w, 2 * SEC);
		for (uint32_t i = 0; i < world_nodes(s.w); i++) {
			struct fm_root_status root;
			struct fm_place is;

			fm_root_status(world_fm(s.w, i), &root);
			if (!fm_place(world_fm(s.w, i), &is)) {
				trial_fail(&s, "node %u does not know its place", i);
				continue;
			}
			if (fm_is_root(world_fm(s.w, i)))
				trial_fail(&s, "seed %llu: node %u leads without a promise",
					   (unsigned long long)seed, i);
			if (root.guid == world_fm(s.w, other)->guid)
				for (unsigned int d = 0; d < c.shape.ndims; d++)
					is.position[d] += at.c[d];
			if (!is_at(s.w, is.position, i))
				trial_fail(&s, "seed %llu: node %u is elsewhere",
					   (unsigned long long)seed, i);
		}
		if (trial_problem(&s, "wave", ""))
			trial_fail(&s, "seed %llu: places of two roots are compared",
				   (unsigned long long)seed);
		/* The service network comes, and one of them leads all. */
		world_partition(s.w, 0);
		trial_rest(&s, 30 * SEC);
		drop(&s);
	}
}

/* Return: mask of the nodes of a random connected part with @other, beside one with node 0. */
static uint64_t draw_part(const struct torus_shape *shape, uint64_t *r, uint32_t other)
{
	uint32_t nodes = torus_nodes(shape), n = 2;
	uint64_t part[2] = { 1, 1ull << other };

	while (n < nodes) {
		uint32_t from = random_below(r, nodes);
		uint32_t to = torus_neighbour(shape, from, random_below(r, 2 * shape->ndims));

		for (unsigned int k = 0; k < 2; k++) {
			if (!(part[k] >> from & 1) || (part[0] | part[1]) >> to & 1)
				continue;
			part[k] |= 1ull << to;
			n++;
		}
	}
	return part[1];
}

/* Cuts, or mends, all cables between the part and the others. */
static void cut_off(struct world *w, uint64_t part, bool cut)
{
	const struct torus_shape *shape = &world_config(w)->shape;

	for (uint32_t k = 0; k < world_cables(w); k++) {
		uint32_t a = k / shape->ndims, b = torus_neighbour(shape, a, k % shape->ndims);

		if ((part >> a ^ part >> b) & 1)
			world_cut(w, k, cut);
	}
}

/*
 * Checks that each node of the part is where @other's wave says, and each node beside the part
 * where the wave of node 0 says.
 */
static void check_apart(struct trial *s, uint64_t part, uint32_t other)
{
	const struct torus_shape *shape = &world_config(s->w)->shape;
	struct torus_coords at;

	torus_node_coords(shape, other, &at);
	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		bool of_part = part >> i & 1;
		struct fm_root_status root;
		struct fm_place is;

		fm_root_status(world_fm(s->w, i), &root);
		if (root.guid != world_fm(s->w, of_part ? other : 0)->guid)
			trial_fail(s, "node %u follows the root of the other part", i);
		if (fm_is_root(world_fm(s->w, i)) != (i == (of_part ? other : 0)))
			trial_fail(s, "node %u leads%s", i, i && i != other ? "" : " no more");
		if (!fm_place(world_fm(s->w, i), &is)) {
			trial_fail(s, "node %u does not know its place", i);
			continue;
		}
		for (unsigned int d = 0; of_part && d < shape->ndims; d++)
			is.position[d] += at.c[d];
		if (!is_at(s->w, is.position, i))
			trial_fail(s, "node %u is elsewhere", i);
	}
	if (trial_problem(s, "wave", ""))
		trial_fail(s, "places of two roots are compared");
}

/* Return: true if both nodes at each cable between the parts name two roots, or none does, as @named. */
static bool two_are_named(struct world *w, uint64_t part, bool named)
{
	const struct torus_shape *shape = &world_config(w)->shape;

	for (uint32_t i = 0; i < world_nodes(w); i++) {
		const struct fm_problem *p;
		unsigned int n = 0, due = 0;

		for (unsigned int k = 0; (p = fm_problem(world_fm(w, i), k)); k++)
			n += !strcmp(p->kind, "root") && !strncmp(p->text, "two roots: ", 11);
		for (unsigned int k = 0; named && k < 2u * shape->ndims; k++)
			due += has_link(w, i, k) &&
			       (part >> i ^ part >> torus_neighbour(shape, i, k)) & 1;
		if (n != due)
			return false;
	}
	return true;
}

/*
 * Two fabrics of one name, with roots 0 and @other, are cabled together. Both roots lead on, also when
 * the service network joins them; all nodes stay where they were; each node at a cable between the two
 * names both roots; and the packets of a flow beside the part arrive as before. Then the administrator
 * takes the second root's bootstrap flag away, and starts the nodes of its part anew without what they
 * knew: the first root leads all.
 */
static void one_meeting(struct trial *s, uint64_t part, uint32_t other, uint32_t to)
{
	world_bootstrap(s->w, other, true);
	world_partition(s->w, part);
	cut_off(s->w, part, true);
	trial_power_all(s);
	world_run(s->w, 2 * SEC);
	check_apart(s, part, other);
	world_flow(s->w, 0, to);
	trial_traffic(s, 100 * US);
	for (unsigned int joined = 0; joined < 2; joined++) {
		uint64_t before = check_flow_arrived(s->flow);

		if (joined)
			world_partition(s->w, 0);
		else
			cut_off(s->w, part, false);
		world_run(s->w, 2 * SEC);
		check_apart(s, part, other);
		if (!two_are_named(s->w, part, true))
			trial_fail(s, "two roots are not named at each cable between them");
		if (check_flow_arrived(s->flow) < before + 1000)
			trial_fail(s, "the traffic of the first fabric stands still");
	}
	world_bootstrap(s->w, other, false);
	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		if (!(part >> i & 1))
			continue;
		world_power(s->w, i, false);
		world_wipe(s->w, i);
	}
	trial_power_all(s);
	trial_rest(s, 60 * SEC);
	if (!two_are_named(s->w, part, false))
		trial_fail(s, "two roots are named although one leads all");
	check_places(s, true);
}

/* Both roots lead other nodes: one that leads none asks its new neighbours first. */
static void two_fabrics_lead_on_when_cabled_together(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed += trial_every()) {
		uint64_t r = seed, part;
		struct world_config c;
		uint32_t other, to;
		struct trial s;

		trial_config(&c, "3x3x2", seed);
		c.discover = false;
		trial_begin(&s, &c);
		do {
			other = 1 + random_below(&r, world_nodes(s.w) - 1);
			part = draw_part(&c.shape, &r, other);
			to = random_below(&r, world_nodes(s.w));
		} while (!to || part >> to & 1 || part == 1ull << other);
		one_meeting(&s, part, other, to);
		if (s.wrong[0])	/* else packets to nodes elsewhere could end the program */
			fail_msg("two roots, seed %llu: %s", (unsigned long long)seed, s.wrong);
		s.w->flow = false;
		end(&s, "two roots", seed);
	}
}

/* --- lies ------------------------------------------------------------------------------------- */

/*
 * Makes an Init as @liar could send it by @port: of the right root and with another place than its
 * own; or one that it has sent by another port; or one of another node.
 */
static size_t forge_init(struct world *w, uint64_t *r, uint32_t liar, unsigned int port,
			 uint8_t *buf)
{
	const struct torus_shape *shape = &world_config(w)->shape;
	uint32_t as = random_below(r, 3) ? liar : random_below(r, world_nodes(w));
	struct torus_coords at;
	struct fm_init init = {
		.placed = true, .settled = random_below(r, 2), .received = random_below(r, 2),
		.port = (uint8_t)(random_below(r, 4) ? port : random_below(r, 2 * shape->ndims)),
		.ndims = shape->ndims, .guid = world_fm(w, as)->guid,
		.root_guid = world_fm(w, 0)->guid, .epoch = 1,
	};

	torus_node_coords(shape, as, &at);
	if (random_below(r, 4))		/* true cables, so that a forged Init can close a square */
		fm_squares_fill(world_fm(w, as), &init);
	init.doubt = (uint8_t)random_below(r, 2);
	memcpy(init.size, shape->size, sizeof(init.size));
	for (unsigned int d = 0; d < shape->ndims; d++)
		init.position[d] = (int32_t)(random_below(r, 2) ? at.c[d] :
					     random_below(r, shape->size[d]));
	strcpy(init.fabric, "sim");
	snprintf(init.name, sizeof(init.name), "n%u", as);
	strcpy(init.root_address, "sim:0");
	return fm_init_put(buf, &init);
}

/*
 * One node sends false Inits: all cables but its own are judged as they were, and all nodes are
 * where they were.
 */
static void lying_node_misplaces_no_other_node(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed += trial_every()) {
		struct world_config c;
		struct trial s;
		uint64_t r = seed;
		unsigned int lines = 0;
		uint32_t who;

		trial_config(&c, seed & 1 ? "4x4" : "3x3x3", seed);
		c.discover = false;
		trial_begin(&s, &c);
		isolate(s.w);
		trial_power_all(&s);
		world_run(s.w, 1 * SEC);
		who = random_below(&r, world_nodes(s.w));
		for (unsigned int k = 0; k < 100; k++) {
			unsigned int p = random_below(&r, 2 * c.shape.ndims);
			uint32_t to = torus_neighbour(&c.shape, who, p);
			uint8_t buf[TORUS_MGMT_MAX];
			size_t len = forge_init(s.w, &r, who, p, buf);

			world_receive(s.w, to, torus_dir_opposite(&c.shape, p), buf, len);
			world_run(s.w, random_below(&r, 50 * MS));
			lines += disagrees(s.w, to, torus_dir_opposite(&c.shape, p));
			if (sum_of(s.w).wrong)
				trial_fail(&s, "seed %llu, lie %u: a node has moved",
					   (unsigned long long)seed, k);
		}
		if (!lines)
			trial_fail(&s, "seed %llu: no lie is found", (unsigned long long)seed);
		for (uint32_t i = 0; i < world_nodes(s.w); i++)
			for (unsigned int p = 0; p < 2u * c.shape.ndims; p++)
				if (disagrees(s.w, i, p) && i != who &&
				    torus_neighbour(&c.shape, i, p) != who)
					trial_fail(&s, "seed %llu: a cable of others is named",
						   (unsigned long long)seed);
		/*
		 * Some cable has turned more than once: only a new session of the link ends that.
		 */
		for (unsigned int p = 0; p < 2u * c.shape.ndims; p++) {
			uint32_t from = p < c.shape.ndims ? who : torus_neighbour(&c.shape, who, p);

			world_cut(s.w, from * c.shape.ndims + p % c.shape.ndims, true);
		}
		world_run(s.w, 1 * SEC);
		if (trial_problem(&s, "wave", ""))
			trial_fail(&s, "a contradiction outlives its link");
		for (unsigned int p = 0; p < 2u * c.shape.ndims; p++) {
			uint32_t from = p < c.shape.ndims ? who : torus_neighbour(&c.shape, who, p);

			world_cut(s.w, from * c.shape.ndims + p % c.shape.ndims, false);
		}
		world_run(s.w, 1 * SEC);
		check_places(&s, false);
		world_partition(s.w, 0);
		end(&s, "a liar", seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wave_places_nodes_in_every_order),
		cmocka_unit_test(wave_places_nodes_in_random_orders),
		cmocka_unit_test(wave_places_nodes_despite_swapped_cables),
		cmocka_unit_test(wave_places_late_nodes),
		cmocka_unit_test(wave_places_nodes_whichever_cables_are_swapped),
		cmocka_unit_test(wave_reports_wrong_ports),
		cmocka_unit_test(node_takes_place_from_wave_of_root_that_it_follows),
		cmocka_unit_test(two_fabrics_lead_on_when_cabled_together),
		cmocka_unit_test(lying_node_misplaces_no_other_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
