// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes on their way from the root to their parents, and NICs with more ports than the fabric has
 * directions: the messages of a root to them, and how it treats them.
 */
#include <errno.h>
#include <stdio.h>

#include "stage.h"

static struct stage s;

static void root(const char *shape, unsigned int fanout)
{
	stage_init(&s, shape, 0);
	s.cfg.fanout = fanout;
	s.deaf = "init ping pong report lost rows place release log adopted ";
	for (unsigned int p = 0; p < 2u * s.shape.ndims; p++)
		if (s.shape.size[p % s.shape.ndims] > 1)
			stage_link_up(&s, p, 1);
	stage_start(&s);
}

static void joins(uint32_t node, int conn, uint64_t attach)
{
	struct fm_msg m = stage_hello(&s, node);

	m.hello.attach = attach;
	stage_up(&s, conn);
	stage_msg(&s, conn, &m);
}

/* Checks the parent that the root gives node @node, which joins by @conn. */
static void given(uint32_t node, int conn, uint64_t attach, const char *parent)
{
	char want[100];

	stage_forget(&s);
	joins(node, conn, attach);
	sprintf(want, "%d < welcome own term root 100 parent '%s'\n", conn, parent);
	if (!stage_count(&s, want))
		fprintf(stderr, "%s not: %s", s.text, want);
	assert_int_equal(stage_count(&s, want), 1);
}

/* Guests get tables and steps only if they are still there when these are repeated. */
static void guests_get_only_repeated_steps(void **state)
{
	(void)state;
	root("4", 1);
	given(1, 101, 1, "");
	given(2, 102, 1, "30.0.0.1:1");
	given(3, 103, 1, "30.0.0.2:1");
	stage_forget(&s);
	stage_run(&s, 99.999);
	assert_int_equal(stage_count(&s, " < table 1"), 1);
	stage_did_some(&s, "101 < table 1 own term 4 ");
	stage_run(&s, 100);
	assert_int_equal(stage_count(&s, "101 < step 1.0 apply own term\n"), 1);
	assert_int_equal(stage_count(&s, "102 < step 1.0 apply own term\n"), 1);
	assert_int_equal(stage_count(&s, "103 < step 1.0 apply own term\n"), 1);
	stage_forget(&s);
	/* A guest that asks gets the table. */
	stage_send(&s, 103, FM_MSG_FETCH);
	assert_int_equal(stage_count(&s, "103 < table 1 own term 4 "), 1);
	stage_end(&s);
}

static void notice(enum fm_msg_type type, uint32_t node, uint32_t parent, uint64_t attach)
{
	struct fm_msg m = { .type = (uint8_t)type };

	m.left = (struct fm_left) { NIC + node, NIC + parent, attach, 1 };
	stage_msg(&s, 101, &m);
}

/* A node on its way to its parent may be a parent; one that is lost or dead may not. */
static void node_on_its_way_may_be_parent(void **state)
{
	(void)state;
	root("8", 1);
	given(1, 101, 1, "");
	given(2, 102, 1, "30.0.0.1:1");
	stage_down(&s, 102);
	given(3, 103, 1, "30.0.0.2:1");
	notice(FM_MSG_ADOPTED, 2, 1, 5);
	given(4, 104, 1, "30.0.0.3:1");
	stage_down(&s, 104);
	notice(FM_MSG_LEFT, 2, 1, 5);
	stage_down(&s, 103);
	notice(FM_MSG_ADOPTED, 3, 2, 5);
	notice(FM_MSG_LEFT, 3, 2, 5);
	/* 4 moves; 3 and 2 are lost. */
	given(5, 105, 1, "30.0.0.4:1");
	notice(FM_MSG_ADOPTED, 4, 3, 5);
	notice(FM_MSG_LEFT, 4, 3, 5);
	given(6, 106, 1, "30.0.0.5:1");
	stage_end(&s);
	root("8", 1);
	given(1, 101, 1, "");
	given(2, 102, 1, "30.0.0.1:1");
	stage_down(&s, 102);
	notice(FM_MSG_ADOPTED, 2, 1, 5);
	notice(FM_MSG_LEFT, 2, 1, 5);
	given(3, 103, 1, "30.0.0.1:1");
	stage_down(&s, 101);
	given(4, 104, 1, "30.0.0.3:1");
	stage_end(&s);
	/* A child that is lost is not on its way. */
	root("8", 1);
	given(1, 101, 1, "");
	stage_down(&s, 101);
	given(2, 102, 1, "");
	stage_end(&s);
}

/* A node that returns within ten keep-alives is given the next node above as parent. */
static void restless_node_gets_next_node_above_as_parent(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		root("20", 2);
		stage_end(&s);
		/* The table may wait. */
		s.cfg.member_max = 100000 * MS;
		stage_start(&s);
		for (uint32_t i = 1; i < 9; i++)
			joins(i, 100 + (int)i, 1);
		for (unsigned int t = 1; t < 11; t++) {
			stage_run_ns(&s, t * 1000 * MS - 1 + (t == 10 ? k : 0));
			for (uint32_t i = 1; i < 9; i++)
				stage_send(&s, 100 + (int)i, FM_MSG_PING);
		}
		given(8, 208, 2, k ? "30.0.0.3:1" : "30.0.0.1:1");
		/* After that the next node above is given. */
		stage_run_ns(&s, s.now + MS);
		given(8, 308, 3, k ? "30.0.0.1:1" : "");
		stage_end(&s);
	}
}

/* --- ports that the fabric does not use ------------------------------------------------- */

#define SPARE 4		/* spare ports of 8, with two dimensions */

/* All spare ports of @node are cabled to the same ports of the next node. */
static void spare(struct fm_row *r, uint32_t node, uint8_t problem)
{
	r->nports = 8;
	for (unsigned int p = SPARE; p < 8; p++)
		r->port[p] = (struct fm_port_row) {
			.state = FM_PORT_UP, .peer_guid = NIC + (node ^ 1), .peer_port = (uint8_t)p,
			.problem = problem,
		};
}

static void with_spare(unsigned int strangers)
{
	stage_init(&s, "4x4", 0);
	s.deaf = "init ping pong report lost rows place release ";
	s.dev.nports = 8;
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	for (unsigned int p = SPARE; p < 8; p++) {
		s.link[p].state = TORUS_LINK_UP;
		s.link[p].session = 1;
		s.link[p].peer_guid = strangers ? 0xabc : NIC + 1;
		s.link[p].peer_port = (uint8_t)p;
	}
	stage_start(&s);
	for (uint32_t i = 1; i < 16; i++) {
		struct fm_msg m = stage_hello(&s, i);

		spare(&m.hello.row, i, 0);
		for (unsigned int p = SPARE; strangers && p < 8; p++)
			m.hello.row.port[p].peer_guid = 0xabc;
		stage_up(&s, 100 + (int)i);
		stage_msg(&s, 100 + (int)i, &m);
	}
}

static void row(uint32_t node, uint32_t serial, unsigned int port, enum fm_port_state is)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { .guid = NIC + node, .epoch = 1, .row = stage_row(&s, node) };
	spare(&m.row.row, node, 0);
	m.row.row.serial = serial;
	m.row.row.port[port].state = (uint8_t)is;
	stage_msg(&s, 100 + (int)node, &m);
}

/*
 * Cables at spare ports do not change the table, and the root does not wait for the nodes behind
 * them.
 */
static void cables_at_spare_ports_are_ignored(void **state)
{
	(void)state;
	for (unsigned int strangers = 0; strangers < 2; strangers++) {
		with_spare(strangers);
		stage_run(&s, 1);
		assert_int_equal(fm_version(s.fm), 1);
		assert_int_equal(stage_count(&s, "wiring"), 0);
		assert_int_equal(stage_count(&s, "log error"), 0);
		for (uint32_t i = 0; i < 16; i++) {
			const struct fm_entry *e = fm_node(s.fm, i);

			assert_int_equal(e->guid, NIC + i);
			assert_int_equal(e->fault | e->wiring | e->admin | e->held, 0);
			assert_int_equal(fm_exclusions(s.fm)[i], 0);
		}
		stage_end(&s);
	}
	/* A spare port that is down is no gap either. */
	with_spare(0);
	row(3, 2, 6, FM_PORT_DOWN);
	stage_run(&s, 10);
	assert_int_equal(fm_version(s.fm), 1);
	/* A spare port is named by its number. */
	stage_forget(&s);
	row(5, 2, 5, FM_PORT_FAULTY);
	stage_run(&s, 30);
	stage_did_some(&s, "log info table: version 2: links of 'n5'\n");
	assert_int_equal(fm_node(s.fm, 5)->fault, 0);
	stage_end(&s);
}

/* A spare port that flaps is reported, but no cable of the fabric is held for it. */
static void flapping_spare_port_is_reported_and_not_held(void **state)
{
	struct fm_hold h;

	(void)state;
	with_spare(0);
	stage_run(&s, 10);
	stage_forget(&s);
	for (uint32_t i = 2; i < 14; i += 2) {
		row(4, i, 5, FM_PORT_FAULTY);
		row(4, i + 1, 5, FM_PORT_UP);
	}
	assert_int_equal(stage_count(&s, "log error flap: the link from port 5 of 'n4' to port 5 "
		"of "
				     "'n5' fails again and again: it is held down until it has "
				     "been quiet for a while\n"), 1);
	assert_false(fm_held(s.fm, 0, START + s.now, &h));
	row(4, 20, 0, FM_PORT_UP);
	row(6, 20, 0, FM_PORT_FAULTY);
	stage_run(&s, 30);
	assert_int_equal(fm_node(s.fm, 4)->held, 0);
	assert_int_equal(fm_node(s.fm, 4)->fault, 0);
	assert_int_equal(fm_node(s.fm, 6)->fault, 1);
	stage_end(&s);
}

/* Spare ports whose ends differ are reported as well. */
static void disputed_spare_port_is_reported(void **state)
{
	(void)state;
	with_spare(0);
	stage_run(&s, 10);
	row(4, 2, 5, FM_PORT_FAULTY);
	stage_forget(&s);
	for (unsigned int t = 0; t < 5; t++) {
		stage_run(&s, 500. * (t + 1));
		for (uint32_t i = 1; i < 16; i++)
			stage_send(&s, 100 + (int)i, FM_MSG_PING);
	}
	assert_int_equal(stage_count(&s,
				     "log error dispute: port 5 of 'n5' reports that its link is "
				     "up, and port 5 of 'n4' that it is down: nothing is sent over "
				     "it\n"), 1);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(guests_get_only_repeated_steps),
		cmocka_unit_test(node_on_its_way_may_be_parent),
		cmocka_unit_test(restless_node_gets_next_node_above_as_parent),
		cmocka_unit_test(cables_at_spare_ports_are_ignored),
		cmocka_unit_test(flapping_spare_port_is_reported_and_not_held),
		cmocka_unit_test(disputed_spare_port_is_reported),
	};

	return cmocka_run_group_tests_name("fm_guests", all, NULL, NULL);
}
