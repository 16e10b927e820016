// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up: every order of power-on of small shapes, a thousand random shapes and times, wrong
 * cabling of each kind, nodes and cables that are plugged in later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "trial.h"
#include "tests/unit/random.h"

static void end(struct trial *s, const char *what, uint64_t seed)
{
	if (!trial_end(s))
		fail_msg("%s, seed %llu: %s", what, (unsigned long long)seed, s->wrong);
}

static void shape_of(struct world_config *c, const char *text)
{
	world_config_default(c);
	c->adaptive = true;
	assert_int_equal(torus_shape_parse(text, &c->shape), 0);
}

/* --- power-on orders --------------------------------------------------------- */

/* Makes the next permutation in lexical order. */
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

static void one_order(const struct world_config *c, const uint32_t *order, uint32_t n,
		      const char *shape)
{
	struct trial s;

	trial_begin(&s, c);
	for (uint32_t i = 0; i < n; i++) {
		world_power(s.w, order[i], true);
		world_run(s.w, 3 * MS);
	}
	trial_rest(&s, 10 * SEC);
	end(&s, shape, c->seed);
}

static void fabric_comes_up_in_every_order_of_power(void **state)
{
	static const char *const shapes[] = { "2", "3", "4", "5", "2x2", "3x2", "2x1x2", "1x4" };

	(void)state;
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		uint32_t order[8], n;
		struct world_config c;

		shape_of(&c, shapes[k]);
		n = torus_nodes(&c.shape);
		for (unsigned int discover = 0; discover < 2; discover++) {
			c.discover = discover;
			for (uint32_t i = 0; i < n; i++)
				order[i] = i;
			do {
				if (c.seed++ % trial_every())
					continue;
				one_order(&c, order, n, shapes[k]);
			} while (next_order(order, n));
		}
	}
}

/* --- random ---------------------------------------------------------------------- */

static void one_seed(uint64_t seed)
{
	uint64_t random = seed;
	struct world_config c;
	struct trial s;
	char text[TORUS_TEXT_MAX];
	uint32_t n;

	world_config_default(&c);
	c.adaptive = true;
	c.seed = seed;
	trial_shape(&random, 36, &c.shape);
	c.discover = random_below(&random, 3);
	if (!random_below(&random, 4))
		c.open = (uint8_t)random_below(&random, 1u << c.shape.ndims);
	c.fanout = 1 + random_below(&random, 8);
	c.svc_jitter = 10 * US << random_below(&random, 10);
	c.svc_double = random_below(&random, 2) * 50;
	c.svc_break = random_below(&random, 2) * 500;
	trial_begin(&s, &c);
	n = world_nodes(s.w);
	for (uint32_t k = 0, i = random_below(&random, n); k < n; k++, i = (i + 1) % n) {
		world_power(s.w, i, true);
		if (random_below(&random, 2))
			world_run(s.w, 1 + random_below(&random, 10) * MS);
	}
	trial_rest(&s, 30 * SEC);
	world_disturb(s.w, 0, 0, 50 * US);
	world_traffic(s.w, 200 * US);
	world_run(s.w, 20 * MS);
	if (n > 1 && !check_flow_arrived(s.flow))
		trial_fail(&s, "no packet arrived");
	end(&s, torus_shape_text(&c.shape, text), seed);
}

static void fabric_comes_up_with_thousand_seeds(void **state)
{
	const char *one = getenv("SEED");

	(void)state;
	if (one) {
		one_seed(random_seed(0));
		return;
	}
	for (uint64_t seed = 1; seed <= 1000; seed += trial_every())
		one_seed(seed);
}

/*
 * A link comes and goes while a root waits for a NIC without a manager: the root must not wait
 * longer because of that. Once each change of the link put the root's table off, for ever.
 */
static void flapping_link_does_not_delay_root(void **state)
{
	struct world_config c;
	struct trial s;

	(void)state;
	shape_of(&c, "4x3");
	trial_begin(&s, &c);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_power(s.w, i, true);
	world_manager(s.w, 7, false);
	for (unsigned int k = 0; k < 20; k++) {
		world_cut(s.w, 10, k % 2);
		world_run(s.w, 1 * SEC);
	}
	assert_true(fm_version(world_fm(s.w, 0)) > 0);
	end(&s, "a link that comes and goes", 0);
}

/*
 * A node without coordinates once stayed dead if its parent's ADOPTED message came after the root
 * had judged it dead. Here a manager above it hangs, so the message is late. The recovery waits for
 * that manager, and a cable that comes and goes uses up the colours, so that there is no new table
 * that would give the node coordinates.
 */
static void node_adopted_late_gets_its_place(void **state)
{
	struct world_config c;
	struct fm_status st;
	struct trial s;

	(void)state;
	shape_of(&c, "6");
	c.discover = false;
	c.fanout = 1;
	trial_begin(&s, &c);
	for (uint32_t i = 0; i < 5; i++) {
		world_power(s.w, i, true);
		world_run(s.w, 100 * MS);
	}
	trial_rest(&s, 10 * SEC);
	world_hang(s.w, 2, true);
	for (unsigned int i = 0; i < 6; i++) {
		world_cut(s.w, 0, !(i & 1));
		world_run(s.w, 50 * MS);
	}
	world_power(s.w, 5, true);
	world_run(s.w, 20 * MS);
	world_cut(s.w, 4, true);		/* no neighbour vouches for node 5 */
	world_cut(s.w, 5, true);
	world_run(s.w, 100 * MS);
	if (!trial_problem(&s, "node", "('n5') is dead"))
		trial_fail(&s, "node 5 is not judged dead");
	fm_status(world_fm(s.w, 5), &st);
	if (st.placed)
		trial_fail(&s, "node 5 has coordinates");
	world_hang(s.w, 2, false);
	world_run(s.w, 1 * SEC);
	if (trial_problem(&s, "node", ""))
		trial_fail(&s, "node 5 stays dead");
	world_cut(s.w, 4, false);
	world_cut(s.w, 5, false);
	trial_rest(&s, 10 * SEC);
	end(&s, "adopted late", 0);
}

/* --- wiring ------------------------------------------------------------------------ */

/*
 * Checks that all nodes have their coordinates, and that the wrong cables are excluded and
 * reported.
 */
static void wrong_cables(struct trial *s, unsigned int healthy, const char *a, const char *b)
{
	struct fm_status st;

	world_run(s->w, 2 * SEC);
	assert_true(world_fm(s->w, 0));
	fm_status(world_fm(s->w, 0), &st);
	if (memcmp(&st.shape, &world_config(s->w)->shape, sizeof(st.shape)))
		trial_fail(s, "the root found another shape");
	for (uint32_t i = 0; i < world_nodes(s->w); i++) {
		fm_status(world_fm(s->w, i), &st);
		if (!st.placed || st.own != i)
			trial_fail(s, "node %u thinks it is %u", i, st.own);
	}
	fm_status(world_fm(s->w, 0), &st);
	if (st.links_up != healthy)
		trial_fail(s, "%u links up, expected %u", st.links_up, healthy);
	if (!trial_problem(s, "wiring", a))
		trial_fail(s, "no wiring problem has '%s' in its text", a);
	if (!trial_problem(s, "wiring", b))
		trial_fail(s, "no wiring problem has '%s' in its text", b);
	if (s->wrong[0])
		fail_msg("%s", s->wrong);
	world_traffic(s->w, 100 * US);
	world_run(s->w, 50 * MS);
	world_traffic(s->w, 0);
	world_run(s->w, 50 * MS);
	if (!check_flow_arrived(s->flow) || check_flow_alive(s->flow))
		trial_fail(s, "traffic: %llu arrived, %llu missing",
			   (unsigned long long)check_flow_arrived(s->flow),
			   (unsigned long long)check_flow_alive(s->flow));
	if (s->wrong[0])
		fail_msg("%s", s->wrong);
	check_flow_free(s->flow);
	world_free(s->w);
}

static void crossed_cables_are_reported_at_both_ends(void **state)
{
	(void)state;
	for (unsigned int discover = 0; discover < 2; discover++) {
		for (uint32_t a = 0; a < 8; a++) {
			struct world_config c;
			struct trial s;

			shape_of(&c, "4x4");
			c.discover = discover;
			c.seed = a + 1;
			trial_begin(&s, &c);
			world_cross(s.w, 2 * a, 2 * ((a + 5) % 16));
			trial_power_all(&s);
			wrong_cables(&s, 30, "expected", "leads to the wrong node");
		}
	}
}

static void cable_from_node_to_itself_is_reported(void **state)
{
	struct world_config c;
	struct trial s;

	(void)state;
	shape_of(&c, "4x4");
	trial_begin(&s, &c);
	world_plug(s.w, 2 * 5, 5, 0, 5, 2);
	trial_power_all(&s);
	wrong_cables(&s, 30, "1,1:+x", "from a node to itself");
}

static void cable_in_wrong_port_is_reported(void **state)
{
	struct world_config c;
	struct trial s;

	(void)state;
	shape_of(&c, "4x4");
	trial_begin(&s, &c);
	/* +x of node 5 goes to -y of node 6; the cables that were there are unplugged */
	world_plug(s.w, 2 * 5, 5, 0, 6, 3);
	trial_power_all(&s);
	wrong_cables(&s, 30, "1,1:+x", "not opposite");
}

static void node_of_other_fabric_stays_out(void **state)
{
	struct world_config c;
	struct fm_status st;
	struct trial s;

	(void)state;
	shape_of(&c, "4x2");
	c.discover = false;
	trial_begin(&s, &c);
	world_fabric(s.w, 3, "other");
	trial_power_all(&s);
	world_run(s.w, 5 * SEC);
	fm_status(world_fm(s.w, 0), &st);
	if (!trial_problem(&s, "fabric", "'other'"))
		trial_fail(&s, "the other fabric is not reported");
	if (st.nodes_up != 7)
		trial_fail(&s, "%u nodes up", st.nodes_up);
	fm_status(world_fm(s.w, 3), &st);
	if (st.placed)
		trial_fail(&s, "a stranger was placed");
	if (s.wrong[0])
		fail_msg("%s", s.wrong);
	check_flow_free(s.flow);
	world_free(s.w);
}

/*
 * Two nodes have the bootstrap flag. The first one starts together with node @second, or some time
 * before it: in the end one of them leads all nodes.
 */
static void two_marked(uint32_t second, uint64_t lead)
{
	struct world_config c;
	struct trial s;
	struct fm_status st;
	unsigned int roots = 0;

	shape_of(&c, "4x4");
	c.discover = lead & 1;
	c.seed = second + lead;
	trial_begin(&s, &c);
	world_bootstrap(s.w, second, true);
	for (uint32_t i = 0; i < 16; i++)
		if (i != second)
			world_power(s.w, i, true);
	world_run(s.w, lead * MS);
	world_power(s.w, second, true);
	world_run(s.w, 10 * SEC);
	for (uint32_t i = 0; i < 16; i++)
		roots += fm_is_root(world_fm(s.w, i));
	fm_status(world_fm(s.w, world_root(s.w)), &st);
	if (roots != 1 || st.nodes_up != 16)
		trial_fail(&s, "%u roots, %u nodes up", roots, st.nodes_up);
	if (!trial_problem(&s, "bootstrap", "two NICs have the bootstrap flag"))
		trial_fail(&s, "it is not told that two have the flag");
	if (trial_problem(&s, "root", "two roots"))
		trial_fail(&s, "two roots remain");
	if (s.wrong[0])
		fail_msg("second %u, %llu ms later: %s", second, (unsigned long long)lead, s.wrong);
	check_flow_free(s.flow);
	world_free(s.w);
}

static void two_marked_roots_become_one(void **state)
{
	static const uint64_t leads[] = { 0, 1, 3, 10, 30, 101, 300, 1001, 3000 };

	(void)state;
	for (uint32_t second = 1; second < 16; second += 1)
		for (unsigned int i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
			two_marked(second, leads[i]);
}

/*
 * Checks that each half is led by a node of its own, and has all its nodes up. @first: first node
 * of each half
 */
static void halves_led(struct trial *s, uint32_t first, uint32_t second)
{
	struct fm_status st;

	for (uint32_t i = 0; i < 8; i++) {
		uint32_t root = i < 4 ? first : second;

		fm_status(world_fm(s->w, i), &st);
		if (fm_is_root(world_fm(s->w, i)) != (i == root) || st.nodes != 4)
			trial_fail(s, "node %u: root %d, %u nodes", i, st.is_root, st.nodes);
	}
}

/*
 * Two fabrics of one name and key, each of four nodes, that a cable joins: both go on as they were,
 * also when one of the roots is lost. The cable is not used, and its ends report it until it is
 * pulled.
 */
static void two_fabrics_of_one_name_go_on(void **state)
{
	static const char *const at[] = { "two roots: node 'n4' at port +x", "two roots: node 'n3' at port -x" };
	struct world_config c;
	struct trial s;

	(void)state;
	shape_of(&c, "8");
	trial_begin(&s, &c);
	world_bootstrap(s.w, 4, true);
	world_cut(s.w, 3, true);
	world_cut(s.w, 7, true);
	trial_power_all(&s);
	world_run(s.w, 2 * SEC);
	halves_led(&s, 0, 4);
	for (unsigned int k = 0; k < 2; k++) {
		world_cut(s.w, 3, false);
		world_run(s.w, 2 * SEC);
		halves_led(&s, 0, k ? 5 : 4);
		for (unsigned int end = 0; end < 2; end++)
			if (!trial_problem(&s, "root", at[end]))
				trial_fail(&s, "it is not told that %s", at[end]);
		if (!trial_problem(&s, "wiring", "leads to nodes that obey another root"))
			trial_fail(&s, "the roots do not tell of the cable");
		world_cut(s.w, 3, true);
		world_run(s.w, 2 * SEC);
		if (trial_problem(&s, "root", "two roots") || trial_problem(&s, "wiring", ""))
			trial_fail(&s, "it is told of a cable that was pulled");
		world_manager(s.w, 4, false);
		world_run(s.w, 4 * SEC);
		world_manager(s.w, 4, true);
		world_run(s.w, 2 * SEC);
	}
	if (s.wrong[0])
		fail_msg("%s", s.wrong);
	check_flow_free(s.flow);
	world_free(s.w);
}

/* Ends the manager of a node and starts it again, so that its epoch rises. */
static void lead_again(struct trial *s, uint32_t node)
{
	for (unsigned int k = 0; k < 3; k++) {
		world_manager(s->w, node, false);
		world_run(s->w, 10 * MS);
		world_manager(s->w, node, true);
		world_run(s->w, 5 * SEC);
	}
}

/*
 * Checks that each node of the fabric of seven has its place, and that one root leads all of them.
 */
static void places_stay(struct trial *s)
{
	uint64_t epoch = fm_epoch(world_fm(s->w, 1));

	for (uint32_t i = 1; i < 8; i++) {
		struct fm_status st;

		fm_status(world_fm(s->w, i), &st);
		assert_int_equal(st.nodes, 7);
		assert_int_equal(fm_own(world_fm(s->w, i)), (i + 3) % 7);
		assert_int_equal(fm_epoch(world_fm(s->w, i)), epoch);
	}
}

/*
 * A root that leads no other node is cabled to another fabric of the same name and key, which has
 * just lost its root. If its epoch is later, the others have a root of their own then. If it is
 * earlier, it leads them, by their table, and has no place in it, until it hands over.
 */
static void fabric_beside_lone_root_keeps_its_places(void **state)
{
	struct world_config c;
	struct trial s;

	(void)state;
	for (unsigned int earlier = 0; earlier < 2; earlier++) {
		shape_of(&c, "8");
		trial_begin(&s, &c);
		world_bootstrap(s.w, 4, true);
		world_cut(s.w, 0, true);
		world_cut(s.w, 7, true);
		trial_power_all(&s);
		world_run(s.w, 2 * SEC);
		lead_again(&s, earlier ? 4 : 0);
		assert_true(fm_is_root(world_fm(s.w, 0)));
		world_manager(s.w, 4, false);
		world_cut(s.w, 0, false);
		world_run(s.w, 10 * SEC);
		world_manager(s.w, 4, true);
		world_run(s.w, 10 * SEC);
		places_stay(&s);
		if (earlier) {
			assert_true(trial_problem(&s, "candidate", "leads, and has no place"));
			assert_int_equal(world_move(s.w, 0, 5), 0);
			world_run(s.w, 5 * SEC);
			assert_true(fm_is_root(world_fm(s.w, 2)));	/* it is at place 5 */
			places_stay(&s);
		} else {
			assert_true(trial_problem(&s, "root", "two roots"));
		}
		check_flow_free(s.flow);
		world_free(s.w);
	}
}

static void fabric_without_root_reports_it(void **state)
{
	struct world_config c;
	struct trial s;

	(void)state;
	shape_of(&c, "3");
	trial_begin(&s, &c);
	world_bootstrap(s.w, 0, false);
	trial_power_all(&s);
	world_run(s.w, 31 * SEC);
	assert_true(trial_problem(&s, "root", "no Init has named a root"));
	check_flow_free(s.flow);
	world_free(s.w);
}

static void nodes_of_same_name_or_guid_are_refused(void **state)
{
	struct world_config c;
	struct fm_status st;
	struct trial s;

	(void)state;
	for (unsigned int guid = 0; guid < 2; guid++) {
		shape_of(&c, "4x2");
		c.discover = false;
		trial_begin(&s, &c);
		if (guid) {
			world_guid(s.w, 3, 0x77);
			world_guid(s.w, 6, 0x77);
		} else {
			world_name(s.w, 6, "n3");
		}
		trial_power_all(&s);
		world_run(s.w, 5 * SEC);
		fm_status(world_fm(s.w, 0), &st);
		if (!trial_problem(&s, "refused", "in use by"))
			trial_fail(&s, "no node is reported as refused");
		if (st.nodes_up != 7)
			trial_fail(&s, "%u nodes up", st.nodes_up);
		if (s.wrong[0])
			fail_msg("%s: %s", guid ? "guid" : "name", s.wrong);
		check_flow_free(s.flow);
		world_free(s.w);
	}
}

/* --- later ---------------------------------------------------------------------------- */

/* A node and a cable are added under traffic, when the rest has long settled. */
static void node_and_cable_plugged_in_later_join(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed += trial_every()) {
		struct world_config c;
		struct trial s;

		shape_of(&c, "4x3");
		c.discover = seed & 1;
		c.seed = seed;
		trial_begin(&s, &c);
		for (uint32_t i = 0; i < 12; i++)
			if (i != 7)
				world_power(s.w, i, true);
		world_cut(s.w, 3, true);
		world_run(s.w, 1 * SEC);
		trial_rest(&s, 10 * SEC);
		world_traffic(s.w, 50 * US);
		world_run(s.w, 50 * MS);
		world_power(s.w, 7, true);
		trial_rest(&s, 10 * SEC);
		world_cut(s.w, 3, false);
		trial_rest(&s, 10 * SEC);
		end(&s, "4x3", seed);
	}
}

/* An argument names the one test to run. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fabric_comes_up_in_every_order_of_power),
		cmocka_unit_test(fabric_comes_up_with_thousand_seeds),
		cmocka_unit_test(flapping_link_does_not_delay_root),
		cmocka_unit_test(node_adopted_late_gets_its_place),
		cmocka_unit_test(crossed_cables_are_reported_at_both_ends),
		cmocka_unit_test(cable_from_node_to_itself_is_reported),
		cmocka_unit_test(cable_in_wrong_port_is_reported),
		cmocka_unit_test(node_of_other_fabric_stays_out),
		cmocka_unit_test(two_marked_roots_become_one),
		cmocka_unit_test(two_fabrics_of_one_name_go_on),
		cmocka_unit_test(fabric_without_root_reports_it),
		cmocka_unit_test(fabric_beside_lone_root_keeps_its_places),
		cmocka_unit_test(nodes_of_same_name_or_guid_are_refused),
		cmocka_unit_test(node_and_cable_plugged_in_later_join),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
