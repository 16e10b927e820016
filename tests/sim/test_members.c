// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that are up and cannot take part: which problems are reported, and how long a recovery
 * waits for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "trial.h"

static void start_as(struct trial *s, const char *shape, uint64_t seed, unsigned int fanout,
		     bool discover)
{
	struct world_config c;

	trial_config(&c, shape, seed);
	c.fanout = fanout;
	c.discover = discover;
	trial_begin(s, &c);
	trial_power_all(s);
	trial_rest(s, 10 * SEC);
	trial_traffic(s, 300 * US);
	s->sparing = true;
	world_run(s->w, 5 * MS);
}

static void start(struct trial *s, const char *shape, uint64_t seed, unsigned int fanout)
{
	start_as(s, shape, seed, fanout, false);
}

static void end(struct trial *s, const char *what)
{
	if (trial_end(s))
		return;
	print_error("%s: %s\n", what, s->wrong);
	fail();
}

/* Cuts or mends all cables of a node. */
static void cut_node(struct world *w, uint32_t node, bool cut)
{
	const struct torus_shape *shape = &world_config(w)->shape;

	for (unsigned int d = 0; d < shape->ndims; d++) {
		world_cut(w, node * shape->ndims + d, cut);
		world_cut(w, torus_neighbour(shape, node, d + shape->ndims) * shape->ndims + d,
			  cut);
	}
}

/* --- isolated ------------------------------------------------------------------ */

static void node_without_links_is_isolated_problem(void **state)
{
	struct trial s;

	(void)state;
	start(&s, "4x4", 1, 4);
	cut_node(s.w, 5, true);
	world_run(s.w, 20 * MS);
	assert_true(world_until(s.w, world_settled, 5 * SEC));
	assert_true(trial_problem(&s, "isolated", "node 1,1 ('n5') is cut off"));
	assert_false(trial_problem(&s, "isolated", "'n6'"));
	cut_node(s.w, 5, false);
	world_run(s.w, 20 * MS);
	assert_true(world_until(s.w, world_settled, 5 * SEC));
	assert_false(trial_problem(&s, "isolated", ""));
	/* A node that the administrator has excluded is not a problem. */
	fm_exclude(world_fm(s.w, 0), 5, -1, true, world_now(s.w));
	trial_rest(&s, 5 * SEC);
	assert_false(trial_problem(&s, "isolated", ""));
	fm_exclude(world_fm(s.w, 0), 5, -1, false, world_now(s.w));
	trial_rest(&s, 5 * SEC);
	end(&s, "a node without links");
}

/* --- excluded ------------------------------------------------------------------- */

static bool is_out(struct trial *s, uint32_t by, uint32_t node, unsigned int port)
{
	const char *why = fm_excluded(world_fm(s->w, by), node, port);

	return why && !strcmp(why, "admin");
}

static void restart_root(struct trial *s, bool nic)
{
	if (nic)
		world_power(s->w, 0, false);
	else
		world_manager(s->w, 0, false);
	world_run(s->w, 50 * MS);
	if (nic)
		world_power(s->w, 0, true);
	else
		world_manager(s->w, 0, true);
	if (!nic)
		trial_rest(s, 60 * SEC);
}

/*
 * Ports that the administrator excluded stay excluded when the root restarts, also those of the
 * root and of a node that is off meanwhile. A port that was included again is not excluded by a
 * node whose manager did not learn of that.
 */
static void outlive_root(bool nic, bool discover)
{
	struct trial s;
	uint64_t now;

	start_as(&s, "4x4", 3, 4, discover);
	now = world_now(s.w);
	assert_int_equal(fm_exclude(world_fm(s.w, 0), 0, 0, true, now), 0);
	assert_int_equal(fm_exclude(world_fm(s.w, 0), 10, -1, true, now), 0);
	assert_int_equal(fm_exclude(world_fm(s.w, 0), 7, 1, true, now), 0);
	trial_rest(&s, 10 * SEC);
	world_manager(s.w, 7, false);
	world_power(s.w, 10, false);
	trial_run(&s, 5 * SEC);
	assert_int_equal(fm_exclude(world_fm(s.w, 0), 7, 1, false, world_now(s.w)), 0);
	trial_run(&s, 5 * SEC);
	restart_root(&s, nic);
	world_manager(s.w, 7, true);
	world_power(s.w, 10, true);
	trial_rest(&s, 60 * SEC);
	for (uint32_t by = 0; by < 16; by++) {
		assert_true(is_out(&s, by, 0, 0));
		assert_false(is_out(&s, by, 7, 1));
		for (unsigned int p = 0; p < 4; p++)
			assert_true(is_out(&s, by, 10, p));
	}
	assert_false(trial_problem(&s, "isolated", ""));
	for (uint32_t i = 0; i < 16; i++)
		fm_exclude(world_fm(s.w, 0), i, -1, false, world_now(s.w));
	trial_rest(&s, 10 * SEC);
	assert_false(is_out(&s, 3, 10, 0));
	end(&s, "exclusions outlive the root");
}

static void exclusions_outlive_root(void **state)
{
	(void)state;
	outlive_root(false, false);
	outlive_root(false, true);
}

static void exclusions_outlive_nic_of_root(void **state)
{
	(void)state;
	outlive_root(true, false);
	outlive_root(true, true);
}

/* A ring in two parts: all nodes of the part without the root are reported as isolated. */
static void part_of_ring_without_root_is_isolated_problem(void **state)
{
	struct trial s;

	(void)state;
	start(&s, "6", 2, 4);
	world_cut(s.w, 1, true);
	world_cut(s.w, 3, true);
	world_run(s.w, 20 * MS);
	assert_true(world_until(s.w, world_settled, 5 * SEC));
	assert_true(trial_problem(&s, "isolated", "'n2'"));
	assert_true(trial_problem(&s, "isolated", "'n3'"));
	assert_false(trial_problem(&s, "isolated", "'n1'"));
	assert_false(trial_problem(&s, "isolated", "'n4'"));
	end(&s, "a ring in two");
}

/* --- without the root ------------------------------------------------------------ */

static bool all_reach_root(struct world *w)
{
	for (uint32_t i = 1; i < world_nodes(w); i++) {
		struct fm_status st;

		fm_status(world_fm(w, i), &st);
		if (!st.root.reachable || st.root.lost)
			return false;
	}
	return true;
}

/* All nodes, also at the end of a deep tree, know that the root is away, and since when. */
static void all_nodes_report_how_long_root_is_away(void **state)
{
	struct fm_status st;
	struct trial s;
	uint64_t gone;

	(void)state;
	start(&s, "3x3", 3, 1);		/* a tree eight levels deep */
	assert_true(all_reach_root(s.w));
	gone = world_now(s.w);
	world_manager(s.w, 0, false);
	world_run(s.w, 100 * MS);
	for (uint32_t i = 1; i < 9; i++) {
		fm_status(world_fm(s.w, i), &st);
		assert_false(st.root.reachable);
		assert_in_range(st.root.lost, gone, gone + 50 * MS);
		assert_int_equal(st.state, FM_DEGRADED);
		assert_int_equal(st.nodes_up, 8);	/* all but the root, for a while */
	}
	world_manager(s.w, 0, true);
	trial_rest(&s, 10 * SEC);
	assert_true(all_reach_root(s.w));
	end(&s, "root away");
}

/* --- hung ------------------------------------------------------------------------ */

static bool recovered(struct world *w)
{
	struct fm_status st;

	fm_status(world_fm(w, 0), &st);
	return st.state != FM_RECOVERING && st.links_faulty;
}

/*
 * A cable is cut while a manager hangs. The recovery goes on without that manager when it has not
 * answered for 20 * resend and has then been missing for member_max.
 */
static void hung(uint32_t node, unsigned int fanout)
{
	struct trial s;
	char what[40];

	snprintf(what, sizeof(what), "node %u hangs, fanout %u", node, fanout);
	start(&s, "3x3", 4, fanout);
	world_hang(s.w, node, true);
	world_cut(s.w, 2, true);
	world_run(s.w, 20 * MS);
	if (!world_until(s.w, recovered, 6 * SEC))
		trial_fail(&s, "the recovery still waits");
	if (!trial_problem(&s, "node", "is silent"))
		trial_fail(&s, "no node is reported as silent");
	world_hang(s.w, node, false);
	trial_rest(&s, 10 * SEC);
	if (trial_problem(&s, "node", ""))
		trial_fail(&s, "a node is still reported as silent");
	end(&s, what);
}

static void hung_manager_makes_node_silent(void **state)
{
	(void)state;
	hung(5, 8);
	hung(1, 2);			/* a node with nodes below it hangs */
	hung(1, 1);
}

/* --- the ends of a cable differ ---------------------------------------------------- */

/* Sends the root one false row of @node, in which @port is down. */
static void send_false_row(struct world *w, uint32_t node, unsigned int port)
{
	const struct fm *fm = world_fm(w, node);
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { fm->guid, fm->epoch, fm->row };
	m.row.row.serial++;
	m.row.row.port[port].state = FM_PORT_DOWN;
	assert_true(world_send_msg(w, 0, 0, &m));
}

/*
 * When the ends of a cable disagree, the table takes it as down, and later the root reports the
 * dispute. A cut cable is not reported, although its ends report it one after the other.
 */
static void cable_whose_ends_differ_is_down_and_reported(void **state)
{
	const uint16_t *closed;
	struct trial s;

	(void)state;
	start(&s, "3x3", 5, 8);
	world_cut(s.w, 2, true);
	for (unsigned int i = 0; i < 3000; i++) {
		world_run(s.w, 1 * MS);
		assert_false(trial_problem(&s, "dispute", ""));
	}
	world_cut(s.w, 2, false);
	trial_rest(&s, 5 * SEC);
	send_false_row(s.w, 4, 0);
	world_run(s.w, 100 * MS);
	closed = fm_exclusions(world_fm(s.w, 0));
	assert_true(closed[4] & 1 && closed[5] & 1 << 2);
	assert_false(trial_problem(&s, "dispute", ""));
	trial_run(&s, 3 * SEC);
	assert_true(trial_problem(&s, "dispute",
				  "2,1:-x ('n5') reports that its link is up, and 1,1:+x ('n4')"));
	assert_false(trial_problem(&s, "dispute", "2,1:+x"));
	world_cut(s.w, 8, true);		/* makes node 4 send its true row again */
	world_run(s.w, 100 * MS);
	world_cut(s.w, 8, false);
	trial_rest(&s, 5 * SEC);
	trial_run(&s, 3 * SEC);
	assert_false(trial_problem(&s, "dispute", ""));
	end(&s, "ends differ");
}

/*
 * A cable of a silent node is lost and comes back. The silent NIC keeps the port closed until its
 * manager replays, so no row may lead over the cable before, although the other end reports it up.
 */
static void port_of_silent_node_stays_closed(void **state)
{
	const uint16_t *closed;
	struct trial s;

	(void)state;
	start(&s, "3x3", 7, 8);
	world_hang(s.w, 4, true);
	world_cut(s.w, 2, true);
	trial_run(&s, 6 * SEC);
	assert_true(trial_problem(&s, "node", "is silent"));
	for (unsigned int i = 0; i < 6; i++) {	/* tables of which it is no voter */
		world_cut(s.w, 3, i % 2 == 0);
		trial_run(&s, 1 * SEC);
	}
	world_cut(s.w, 8, true);		/* 1,1:+x to 2,1:-x */
	trial_run(&s, 1 * SEC);
	world_cut(s.w, 8, false);
	trial_run(&s, 3 * SEC);
	closed = fm_exclusions(world_fm(s.w, 0));
	assert_true(closed[4]);
	world_hang(s.w, 4, false);
	world_cut(s.w, 2, false);
	trial_rest(&s, 5 * SEC);
	closed = fm_exclusions(world_fm(s.w, 0));
	assert_false(closed[4]);
	end(&s, "closed at a silent node");
}

/* A node whose relay_packets differs from the root's is reported as long as it is up. */
static void node_with_other_relay_memory_is_reported(void **state)
{
	struct trial s;

	(void)state;
	start(&s, "3x3", 6, 8);
	assert_false(trial_problem(&s, "relay", ""));
	world_power(s.w, 4, false);
	trial_run(&s, 1 * SEC);
	trial_rest(&s, 5 * SEC);
	world_relay_packets(s.w, 4, 100);
	world_power(s.w, 4, true);
	trial_rest(&s, 5 * SEC);
	assert_true(trial_problem(&s, "relay",
				  "'n4' keeps 100 packets as a relay, the root 'n0' 4096"));
	world_power(s.w, 4, false);
	trial_run(&s, 1 * SEC);
	trial_rest(&s, 5 * SEC);
	assert_false(trial_problem(&s, "relay", ""));
	world_relay_packets(s.w, 4, 4096);
	world_power(s.w, 4, true);
	trial_rest(&s, 5 * SEC);
	assert_false(trial_problem(&s, "relay", ""));
	end(&s, "memory for relays");
}

/*
 * Rows of nodes lose their power that are below each other in the tree, three levels deep and
 * more. Once, a node below a missing node was taken to be present: it then vouched for all of
 * them, and the recovery waited for them.
 */
static void dark_branch_of_tree_is_judged_in_time(void **state)
{
	(void)state;
	for (unsigned int fanout = 1; fanout <= 2; fanout++) {
		struct trial s;

		start(&s, "3x8", 1, fanout);
		for (uint32_t node = 9; node < 18; node++)
			world_power(s.w, node, false);
		trial_run(&s, 1 * SEC);
		assert_true(world_until(s.w, world_settled, 500 * MS));
		for (uint32_t node = 9; node < 18; node++)
			assert_int_equal(fm_node(world_fm(s.w, 0), node)->state, FM_NODE_DEAD);
		end(&s, "a dark branch of the tree");
	}
}

/* --- epochs ------------------------------------------------------------------------ */

/*
 * Node 2 parks packets of the flow from 1 to 3. Its manager replays them only when node 1 has
 * restarted and begun a new numbering of that flow. They are too late: they must not arrive, and
 * the new numbering must go on.
 */
static void late_replay_of_former_numbering_is_dropped(void **state)
{
	uint64_t between;
	struct trial s;

	(void)state;
	start(&s, "6", 7, 8);
	world_traffic(s.w, 20 * US);
	world_run(s.w, 2 * MS);
	world_manager(s.w, 2, false);
	world_cut(s.w, 2, true);
	world_run(s.w, 1 * MS);
	world_traffic(s.w, 0);
	trial_run(&s, 4 * SEC);		/* the others recover without node 2 */
	world_power(s.w, 1, false);
	world_run(s.w, 100 * MS);
	world_power(s.w, 1, true);
	trial_run(&s, 2 * SEC);
	world_traffic(s.w, 100 * US);
	world_run(s.w, 20 * MS);
	between = check_flow_between(s.flow, 1, 3);
	assert_true(between > 0);
	world_manager(s.w, 2, true);
	world_run(s.w, 500 * MS);
	assert_true(check_flow_between(s.flow, 1, 3) > between);
	end(&s, "late replay");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_without_links_is_isolated_problem),
		cmocka_unit_test(exclusions_outlive_root),
		cmocka_unit_test(exclusions_outlive_nic_of_root),
		cmocka_unit_test(part_of_ring_without_root_is_isolated_problem),
		cmocka_unit_test(all_nodes_report_how_long_root_is_away),
		cmocka_unit_test(hung_manager_makes_node_silent),
		cmocka_unit_test(cable_whose_ends_differ_is_down_and_reported),
		cmocka_unit_test(port_of_silent_node_stays_closed),
		cmocka_unit_test(node_with_other_relay_memory_is_reported),
		cmocka_unit_test(dark_branch_of_tree_is_judged_in_time),
		cmocka_unit_test(late_replay_of_former_numbering_is_dropped),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
