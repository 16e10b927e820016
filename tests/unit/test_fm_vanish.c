// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the nodes that a root treats as lost by their neighbours' reports of links, and of those
 * that it does not; and of how long it waits for a node that hangs while others wait for its
 * report.
 */
#include "daemon/fm/node/conns.h"
#include "daemon/fm/root/facts.h"
#include "stage_root.h"
#include "tests/unit/memory.h"

/* Only the far end of the cable at @port of @node says that it is lost. */
static void far_end_lost(uint32_t node, unsigned int port, uint32_t serial)
{
	uint32_t o = torus_neighbour(&s.shape, node, port);
	struct fm_row r = stage_row(&s, o);

	r.serial = serial;
	r.port[torus_dir_opposite(&s.shape, port)].state = FM_PORT_FAULTY;
	row(o, &r);
}

/* Node 15 of a 4x4 is dead, so the root has searched once before. */
static void one_dead(void)
{
	root("4x4");
	for (uint32_t i = 1; i < 16; i++)
		join(i);
	settle(16);
	stage_run_ns(&s, s.now + 1000 * MS);
	stage_down(&s, 115);
	for (unsigned int p = 0; p < 4; p++)
		far_end_lost(15, p, 2);
	stage_run_ns(&s, s.now + 200 * MS);
	assert_int_equal(fm_node(s.fm, 15)->state, FM_NODE_DEAD);
	stage_forget(&s);
}

/*
 * All neighbours but one have lost their links. The one that is left vouches for the node, because
 * links join it to the root, however often the root checks.
 */
static void node_with_one_neighbour_left_is_not_dead(void **state)
{
	(void)state;
	one_dead();
	for (unsigned int p = 0; p < 3; p++)
		far_end_lost(5, p, 3);
	for (unsigned int k = 0; k < 20; k++) {
		for (int i = 101; i < 115; i++)
			stage_send(&s, i, FM_MSG_PING);
		settle(15);
		stage_run_ns(&s, s.now + s.cfg.keepalive);
	}
	assert_int_equal(stage_count(&s, "connect 30.0.0.5:1"), 0);
	/* The vouching link is lost, too: the node is probed, and does not answer. */
	s.refuse_connect = -1;
	far_end_lost(5, 3, 3);
	stage_run_ns(&s, s.now + 60 * MS);
	assert_true(stage_count(&s, "connect 30.0.0.5:1: fails\n") > 0);
	assert_int_equal(stage_count(&s,
				     "'n5' does not report links that its neighbours have lost"),
				     1);
	/* The node is dead, and not cut off: its manager does not answer. */
	settle(15);
	stage_run_ns(&s, s.now + 1000 * MS);
	assert_int_equal(stage_count(&s, "('n5') is dead\n"), 1);
	assert_int_equal(stage_count(&s, "is cut off"), 0);
	stage_end(&s);
}

static unsigned int connects;

/* Opens connection 0, after which there is no memory for it. */
static int connect_without_memory(void *io, const char *addr)
{
	(void)io;
	(void)addr;
	connects++;
	memory_fails_at(1);
	return 0;
}

/* Without memory for a probe its connection is closed again, even if its number is 0. */
static void probe_without_memory_is_closed(void **state)
{
	(void)state;
	one_dead();
	connects = 0;
	s.fm->ops.connect = connect_without_memory;
	for (unsigned int p = 0; p < 4; p++)
		far_end_lost(5, p, 3);
	stage_run_ns(&s, s.now + 60 * MS);
	assert_true(memory_failed());
	assert_true(connects > 0);
	assert_int_equal(stage_count(&s, "close 0\n"), connects);
	stage_end(&s);
}

/*
 * A cabinet of three, without power. The one in the middle hangs below another one in the tree: it
 * is missing as soon as that is lost, and dead with the others once it is lost itself. The root is
 * no majority without them: it waits for member_max, because its own NIC may have stood still.
 */
static void vanished_cabinet_is_dead_together(void **state)
{
	struct fm_msg m = { .type = FM_MSG_ADOPTED };

	(void)state;
	ring();
	m.left = (struct fm_left) { .guid = NIC + 2, .parent = NIC + 1, .attach = 5, .epoch = 1 };
	stage_msg(&s, 101, &m);
	stage_down(&s, 102);
	stage_run_ns(&s, s.now + 1000 * MS);
	stage_forget(&s);
	s.refuse_connect = -1;
	stage_link_lost(&s, 0, 1);
	stage_link_lost(&s, 2, 1);
	stage_run_ns(&s, s.now + s.cfg.member_max - 100 * MS);
	stage_did_no(&s, "is dead");
	stage_run_ns(&s, s.now + 160 * MS);
	for (uint32_t i = 1; i < 4; i++) {
		char text[80];

		snprintf(text, sizeof(text), "log error node: node %u,0 ('n%u') is dead\n", i, i);
		assert_int_equal(stage_count(&s, text), 1);
	}
	stage_end(&s);
}

/*
 * All nodes but @mute send PING for @ms. Return: the ms until the connection of @mute is closed; 0:
 * it is not.
 */
static uint64_t live(uint64_t ms, uint32_t mute)
{
	for (uint64_t k = 100; k <= ms; k += 100) {
		for (uint32_t i = 1; i < 4; i++)
			if (i != mute)
				stage_send(&s, 100 + (int)i, FM_MSG_PING);
		stage_run_ns(&s, s.now + 100 * MS);
		if (mute && stage_count(&s, "close 103"))
			return k;
	}
	return 0;
}

/*
 * A cable is lost, and the root waits for the report of node 3, which hangs: its connection ends
 * after twenty times resend, whenever it begins to hang.
 */
static void node_that_hangs_in_step_is_lost_after_20_resends(void **state)
{
	(void)state;
	for (uint64_t k = 0; k < 8; k++) {
		ring();
		live(500 * k, 0);
		for (uint32_t i = 1; i < 3; i++) {
			struct fm_row r = stage_row(&s, i);

			r.serial = 2;
			r.port[i == 1 ? 0 : 2].state = FM_PORT_FAULTY;
			row(i, &r);
		}
		stage_run_ns(&s, s.now + MS);
		assert_int_equal(fm_version(s.fm), 2);
		stage_forget(&s);
		for (uint32_t i = 1; i < 3; i++)
			reports(i, 0);
		assert_in_range(live(6000, 3), 1800, 2200);
		stage_end(&s);
	}
}

/*
 * All 15 other nodes are missing, and their last rows join them: each time the root judges them
 * together, and searches through their links once, not once for each of them.
 */
static void missing_set_of_nodes_is_judged_together(void **state)
{
	uint32_t before;

	(void)state;
	root("4x4");
	for (uint32_t i = 1; i < 16; i++)
		join(i);
	settle(16);
	stage_run_ns(&s, s.now + 1000 * MS);
	for (int i = 1; i < 16; i++)
		stage_down(&s, 100 + i);
	for (unsigned int p = 0; p < 4; p++)
		stage_link_lost(&s, p, 1);
	before = s.fm->root->search;
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(s.fm->root->search, before + 1);
	assert_int_equal(fm_node(s.fm, 5)->state, FM_NODE_UP);
	stage_run_ns(&s, s.now + s.cfg.member_max + 500 * MS);
	assert_in_range(s.fm->root->search, before + 2, before + 8);
	for (uint32_t i = 1; i < 16; i++)
		assert_int_equal(fm_node(s.fm, i)->state, FM_NODE_DEAD);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(node_with_one_neighbour_left_is_not_dead),
		cmocka_unit_test(probe_without_memory_is_closed),
		cmocka_unit_test(vanished_cabinet_is_dead_together),
		cmocka_unit_test(node_that_hangs_in_step_is_lost_after_20_resends),
		cmocka_unit_test(missing_set_of_nodes_is_judged_together),
	};

	return cmocka_run_group_tests_name("fm_vanish", all, NULL, NULL);
}
