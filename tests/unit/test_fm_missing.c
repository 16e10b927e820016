// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root and its nodes: which nodes are missing, and with them which others; which late messages
 * about connections are believed; and nodes that join late.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/roster.h"
#include "stage_root.h"

/* --- missing nodes ---------------------------------------------------------------------- */

static void notice(enum fm_msg_type type, uint32_t node, uint32_t parent, uint64_t attach,
		   uint32_t epoch)
{
	struct fm_msg m = { .type = (uint8_t)type };

	m.left = (struct fm_left) { NIC + node, NIC + parent, attach, epoch };
	stage_msg(&s, 101, &m);
}

static void loses_links(uint32_t node)
{
	for (unsigned int p = 0; p < 4; p += 2) {
		struct fm_row r;
		uint32_t o = torus_neighbour(&s.shape, node, p);
		unsigned int q = torus_dir_opposite(&s.shape, p);

		if (!o) {
			stage_link_lost(&s, q, 1);
			continue;
		}
		r = stage_row(&s, o);
		r.serial = 50;
		r.port[q].state = FM_PORT_FAULTY;
		row(o, &r);
	}
}

/*
 * A manager reports that its NIC is gone, in whatever version. The node is dead when its links have
 * ended, and the problem names the NIC, but not after the manager has begun anew.
 */
static void dead_node_whose_nic_is_gone_is_reported_so(void **state)
{
	(void)state;
	for (unsigned int again = 0; again < 2; again++) {
		struct fm_msg m = { .type = FM_MSG_FAILED }, h = hello(2);

		ring();
		m.failed = (struct fm_failed) { .guid = NIC + 2, .epoch = 1, .err = ENODEV };
		stage_msg(&s, 102, &m);
		assert_null(fm_problem(s.fm, 0));
		assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_UP);
		h.hello.epoch = 2;
		h.hello.attach = 9;
		if (again) {
			stage_down(&s, 102);
			joins(&h);
		}
		stage_down(&s, 102);
		loses_links(2);
		stage_run_ns(&s, s.now + 1000 * MS);
		assert_string_equal(fm_problem(s.fm, 0)->text,
				    again ? "node 2,0 ('n2') is dead" :
					    "node 2,0 ('n2') is dead: its NIC is gone; its manager "
					    "waits for it");
		stage_end(&s);
	}
}

/* A node's connection and its links are lost: it is dead, and that is reported. */
static void node_without_links_and_connection_is_dead(void **state)
{
	(void)state;
	ring();
	stage_run(&s, 100);
	stage_forget(&s);
	stage_down(&s, 102);
	stage_did(&s, "log debug node: connection to 'n2' lost\n");
	loses_links(2);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(stage_count(&s, "log error node: node 2,0 ('n2') is dead\n"), 1);
	assert_int_equal(stage_count(&s, "version 2: link"), 1);
	assert_int_equal(stage_count(&s, "[2 'n2' 102/1 dead"), 2);
	stage_forget(&s);
	/* The node comes back. */
	struct fm_msg m = hello(2);

	m.hello.attach = 2;
	m.hello.epoch = 2;
	joins(&m);
	assert_int_equal(stage_count(&s, "log info node: over: node 2,0 ('n2') is dead\n"), 1);
	stage_run_ns(&s, s.now + 500 * MS);
	stage_did_some(&s, "node 'n2' is back\n");
	stage_end(&s);
}

/*
 * All neighbours of a node report its links as lost before its connection ends. All nodes that are
 * lost at that instant are judged together, half a millisecond later, and not after.
 */
static void node_without_links_and_connection_is_dead_at_once(void **state)
{
	(void)state;
	ring();
	stage_run(&s, 100);
	loses_links(2);
	stage_down(&s, 102);
	assert_int_equal(stage_wait(&s, "log error node: node 2,0 ('n2') is dead\n"), MS / 2);
	stage_end(&s);
}

/* The other nodes of a ring of six go on for 100 ms. */
static void others_go_on(uint32_t dead, uint32_t dead_too)
{
	for (unsigned int n = 0; n < 10; n++) {
		stage_run_ns(&s, s.now + 10 * MS);
		for (uint32_t round = 0; round < 6; round++)
			for (uint32_t i = 1; i < 6; i++)
				if (i != dead && i != dead_too)
					reports(i, round);
	}
}

/*
 * A node of a ring dies together with its links, as another one did before: the table that says so cuts
 * off the node between them, whose manager answers.
 */
static void second_death_in_ring_cuts_off_node_between(void **state)
{
	struct fm_row r;

	(void)state;
	root("6x1");
	for (uint32_t i = 1; i < 6; i++)
		join(i);
	settle(6);
	loses_links(2);
	stage_down(&s, 102);
	others_go_on(2, 0);
	assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_DEAD);
	assert_int_equal(stage_count(&s, "is cut off"), 0);
	r = stage_row(&s, 3);
	r.serial = 60;
	r.port[0].state = r.port[2].state = FM_PORT_FAULTY;
	row(3, &r);
	r = stage_row(&s, 5);
	r.serial = 60;
	r.port[2].state = FM_PORT_FAULTY;
	row(5, &r);
	stage_down(&s, 104);
	others_go_on(2, 4);
	assert_int_equal(fm_node(s.fm, 4)->state, FM_NODE_DEAD);
	assert_int_equal(stage_count(&s, "error isolated: node 3,0 ('n3') is cut off"), 1);
	stage_end(&s);
}

/*
 * A cable from one port of a node to another is reported, whatever tables are made for. When the
 * node is lost, that cable does not vouch for it.
 */
static void cable_from_node_to_itself_is_reported(void **state)
{
	static const char text[] = "2,0:+y ('n2') is cabled to 2,0:-y ('n2'): a cable from a node "
				   "to itself";
	struct fm_row r;

	(void)state;
	ring();
	r = stage_row(&s, 2);
	r.serial = 2;
	r.port[1] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 2,
					   .peer_port = 3 };
	r.port[3] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 2,
					   .peer_port = 1 };
	row(2, &r);
	settle(4);
	assert_string_equal(fm_problem(s.fm, 0)->text, text);
	assert_int_equal(fm_exclude(s.fm, 3, 0, true, START + s.now), 0);
	settle(4);
	assert_string_equal(fm_problem(s.fm, 0)->text, text);
	stage_run_ns(&s, s.now + 100 * MS);
	loses_links(2);
	stage_down(&s, 102);
	assert_int_equal(stage_wait(&s, "log error node: node 2,0 ('n2') is dead\n"), MS / 2);
	stage_end(&s);
}

/*
 * Entries of a row after its last port mean nothing: a neighbour that has lost its link does not
 * vouch by them, neither one that is there nor one that is missing itself.
 */
static void entries_after_last_port_vouch_for_no_node(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct fm_row dead, beside;

		ring();
		dead = stage_row(&s, 3);
		dead.serial = 2;
		dead.nports = 5;
		dead.port[4] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_port = 4,
						      .peer_guid = NIC + 2 };
		row(3, &dead);
		settle(4);
		stage_run_ns(&s, s.now + 100 * MS);
		loses_links(3);
		beside = stage_row(&s, 2);
		beside.serial = 51;
		beside.port[0].state = FM_PORT_FAULTY;
		beside.port[0].session = 7;
		beside.port[4] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_port = 4,
							.peer_guid = NIC + 3 };
		row(2, &beside);
		stage_down(&s, 103);
		if (k)
			stage_down(&s, 102);
		stage_run_ns(&s, s.now + 100 * MS);
		assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_DEAD);
		assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_UP);
		stage_end(&s);
	}
}

/*
 * Node 4 reports that its cable leads to another port of 3 than 3 reports. A link about which its
 * ends do not agree does not vouch for a node, not even if 3 has just come back, beside a silent
 * node.
 */
static void node_with_disputed_link_stays_dead(void **state)
{
	struct fm_row r;
	struct fm_msg m;

	(void)state;
	root("8x1");
	for (uint32_t i = 1; i < 8; i++)
		join(i);
	settle(8);
	r = stage_row(&s, 4);
	r.serial = 2;
	r.port[2].peer_port = 1;
	row(4, &r);
	r = stage_row(&s, 5);
	r.serial = 2;
	r.port[2].state = FM_PORT_FAULTY;
	row(5, &r);
	settle(8);
	stage_run_ns(&s, s.now + 100 * MS);
	for (int conn = 102; conn < 105; conn++)
		stage_down(&s, conn);
	m = hello(3);
	m.hello.attach = 2;
	joins(&m);
	stage_run_ns(&s, s.now + 100 * MS);
	assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_UP);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	assert_int_equal(fm_node(s.fm, 4)->state, FM_NODE_DEAD);
	stage_end(&s);
}

/* The links of a node are up, but its manager is away: the node is silent after member_max. */
static void node_with_links_but_no_manager_is_silent(void **state)
{
	(void)state;
	ring();
	stage_down(&s, 102);
	stage_forget(&s);
	stage_run_ns(&s, s.now + 3000 * MS - 1);
	s.now++;
	assert_null(fm_problem(s.fm, 0));
	stage_run_ns(&s, s.now + 1);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "node");
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "node 2,0 ('n2') is silent: its NIC works on, but packets that it "
			    "parks wait there, uncounted, until its manager answers");
	assert_int_equal(stage_count(&s, "version 2: node 'n2' is silent\n"), 1);
	stage_end(&s);
}

/*
 * A notice of a connection is ignored if it is older than what the root knows, or from another life
 * of the manager.
 */
static void outdated_notices_are_ignored(void **state)
{
	(void)state;
	ring();
	/* The node is below node 1 now, which reports it late. */
	notice(FM_MSG_ADOPTED, 2, 1, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	notice(FM_MSG_ADOPTED, 2, 3, 4, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	notice(FM_MSG_ADOPTED, 2, 3, 6, 2);
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	notice(FM_MSG_ADOPTED, 9, 3, 6, 1);
	stage_down(&s, 102);		/* node 2 is lost, which has number 1 */
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	notice(FM_MSG_LEFT, 2, 1, 4, 1);
	notice(FM_MSG_LEFT, 2, 1, 5, 2);
	notice(FM_MSG_LEFT, 9, 1, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	stage_did_no(&s, "lost");
	notice(FM_MSG_LEFT, 2, 1, 5, 1);
	stage_did_some(&s, "log debug node: connection to 'n2' lost\n");
	assert_int_equal(fm_node_parent(s.fm, 2), TORUS_NO_NODE);
	/* An ADOPTED of that connection is older than the LEFT. */
	notice(FM_MSG_ADOPTED, 2, 1, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), TORUS_NO_NODE);
	notice(FM_MSG_ADOPTED, 2, 3, 6, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 3);
	notice(FM_MSG_ADOPTED, 2, 3, 6, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 3);
	stage_end(&s);
}

/* A notice that comes late does not revive a dead node that has a place: that joins again. */
static void late_notice_revives_no_node_with_place(void **state)
{
	(void)state;
	ring();
	stage_run(&s, 100);
	stage_down(&s, 102);
	loses_links(2);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_DEAD);
	stage_forget(&s);
	notice(FM_MSG_ADOPTED, 2, 1, 9, 1);
	stage_run_ns(&s, s.now + 10 * MS);
	stage_did_no(&s, "is back");
	assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_DEAD);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "node");
	stage_end(&s);
}

/* A manager that was restarted numbers its connections from 1 on again. */
static void restarted_manager_counts_anew(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	notice(FM_MSG_ADOPTED, 2, 1, 5, 1);
	stage_down(&s, 102);
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	m = hello(2);
	m.hello.epoch = 2;
	m.hello.attach = 1;
	joins(&m);
	assert_int_equal(fm_node_parent(s.fm, 2), 0);
	notice(FM_MSG_ADOPTED, 2, 3, 2, 2);
	assert_int_equal(fm_node_parent(s.fm, 2), 3);
	notice(FM_MSG_ADOPTED, 2, 1, 1, 2);
	assert_int_equal(fm_node_parent(s.fm, 2), 3);
	stage_end(&s);
}

/* Joins as node 2 after a restart. Return: true if the root takes its NIC for one without rows. */
static bool is_bare(const struct fm_msg *hello, uint32_t epoch)
{
	struct fm_msg m = *hello;

	stage_down(&s, 102);
	m.hello.epoch = epoch;
	m.hello.attach = 1;
	joins(&m);
	return fm_record(s.fm->root, NIC + 2)->bare;
}

/* The NIC of a node has its place if it has rows, and the shape and coordinates of that place. */
static void nic_has_its_place_only_with_rows_of_it(void **state)
{
	struct fm_msg right, m;

	(void)state;
	ring();
	right = hello(2);
	right.hello.placed = true;
	right.hello.version = fm_version(s.fm);
	assert_int_equal(torus_shape_parse("4x1", &right.hello.shape), 0);
	right.hello.coords.c[0] = 2;
	assert_false(is_bare(&right, 2));
	m = right;
	m.hello.placed = false;
	assert_true(is_bare(&m, 3));
	m = right;
	m.hello.version = 0;
	assert_true(is_bare(&m, 4));
	m = right;
	assert_int_equal(torus_shape_parse("5x1", &m.hello.shape), 0);
	assert_true(is_bare(&m, 5));	/* node 2 of that shape, too */
	m = right;
	m.hello.coords.c[0] = 1;
	assert_true(is_bare(&m, 6));
	assert_false(is_bare(&right, 7));
	stage_end(&s);
}

/*
 * No node becomes its own parent, and none the parent of the root, whatever a peer reports:
 * otherwise the search for all nodes below it would not end.
 */
static void notices_make_no_circle_of_parents(void **state)
{
	(void)state;
	ring();
	notice(FM_MSG_ADOPTED, 3, 2, 50, 1);
	assert_int_equal(fm_node_parent(s.fm, 3), 2);
	notice(FM_MSG_ADOPTED, 2, 2, 50, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 0);
	notice(FM_MSG_ADOPTED, 0, 2, 50, 1);
	notice(FM_MSG_LEFT, 0, 2, 50, 1);
	assert_int_equal(fm_node_parent(s.fm, 3), 2);
	notice(FM_MSG_LEFT, 2, 1, 50, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), TORUS_NO_NODE);
	assert_int_equal(fm_node_parent(s.fm, 3), TORUS_NO_NODE);
	stage_end(&s);
}

/* Nodes below a lost one are missing too, until they are reported again. */
static void nodes_below_lost_one_are_missing(void **state)
{
	(void)state;
	root("8x1");
	for (uint32_t i = 1; i < 8; i++)
		join(i);
	settle(8);
	/* 2 below 1, 3 and 4 below 2, 5 below 4; 6 below 3, 7 remains. */
	notice(FM_MSG_ADOPTED, 2, 1, 5, 1);
	notice(FM_MSG_ADOPTED, 3, 2, 5, 1);
	notice(FM_MSG_ADOPTED, 4, 2, 5, 1);
	notice(FM_MSG_ADOPTED, 5, 4, 5, 1);
	notice(FM_MSG_ADOPTED, 6, 3, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 5), 4);
	/* Node 4, below the lost one, moves first. */
	notice(FM_MSG_ADOPTED, 4, 7, 6, 1);
	stage_forget(&s);
	notice(FM_MSG_LEFT, 2, 1, 5, 1);
	for (uint32_t i = 1; i < 8; i++) {
		static const uint32_t above[] = { 0, 0, TORUS_NO_NODE, TORUS_NO_NODE, 7, 4,
						  TORUS_NO_NODE, 0 };

		assert_int_equal(fm_node_parent(s.fm, i), above[i]);
	}
	/* 2 is found again, and all nodes below it with it. */
	notice(FM_MSG_ADOPTED, 2, 7, 6, 1);
	notice(FM_MSG_ADOPTED, 6, 3, 6, 1);
	notice(FM_MSG_ADOPTED, 3, 2, 6, 1);
	assert_int_equal(fm_node_parent(s.fm, 6), 3);
	/* All nodes are missing again then. */
	notice(FM_MSG_LEFT, 7, 0, 5, 1);
	for (uint32_t i = 2; i < 8; i++)
		assert_int_equal(fm_node_parent(s.fm, i), TORUS_NO_NODE);
	assert_int_equal(fm_node_parent(s.fm, 1), 0);
	assert_int_equal(fm_node_parent(s.fm, 0), TORUS_NO_NODE);
	assert_int_equal(fm_node_parent(s.fm, TORUS_NO_NODE), TORUS_NO_NODE);
	/* No connection reports them, but nodes with links to them vouch for them: two of eight may not go on. */
	stage_run_ns(&s, s.now + 4000 * MS);
	assert_int_equal(stage_count(&s, "log error node: "), 0);
	assert_int_equal(stage_count(&s, "log error quorum: "), 1);
	/* Half of them may, with the root. */
	notice(FM_MSG_ADOPTED, 2, 1, 7, 1);
	notice(FM_MSG_ADOPTED, 3, 1, 7, 1);
	stage_run_ns(&s, s.now + 200 * MS);
	assert_int_equal(stage_count(&s, "log error node: "), 4);
	assert_int_equal(stage_count(&s, "is silent: its NIC works on"), 4);
	assert_int_equal(stage_count(&s, "log info quorum: over: "), 1);
	stage_end(&s);
}

/* Children of a parent that is not known yet still count as connected to it. */
static void child_of_unknown_parent_counts_as_connected(void **state)
{
	(void)state;
	ring();
	notice(FM_MSG_ADOPTED, 2, 9, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), TORUS_NO_NODE);
	stage_run_ns(&s, s.now + 4000 * MS);
	/* Node 2 has a parent: it is not silent. */
	assert_null(strstr(s.text, "'n2' is silent"));
	notice(FM_MSG_ADOPTED, 9, 1, 1, 1);
	notice(FM_MSG_LEFT, 9, 1, 1, 1);
	stage_end(&s);
}

/* Once the unknown parent joins, it announces its children anew: until then they are missing. */
static void child_of_joining_parent_is_dead_if_links_are_lost(void **state)
{
	(void)state;
	ring();
	notice(FM_MSG_ADOPTED, 2, 9, 5, 1);
	join(9);
	loses_links(2);
	stage_run_ns(&s, s.now + 60 * MS);
	assert_int_equal(stage_count(&s, "node 2,0 ('n2') is dead"), 1);
	stage_end(&s);
}

/* --- nodes that join late --------------------------------------------------------------- */

/* The first table of a ring of four, in which node 3 is absent, is in force. */
static void three_of_four(void)
{
	root("4x1");
	for (uint32_t i = 1; i < 3; i++)
		join(i);
	stage_run(&s, 3500);
	settle(3);
}

/* A node that joins after the table was made gets a place in the next. */
static void late_node_gets_place_in_next_table(void **state)
{
	struct fm_joiner j;

	(void)state;
	three_of_four();
	assert_int_equal(fm_version(s.fm), 1);
	stage_forget(&s);
	join(3);
	assert_true(fm_joiner(s.fm, 0, &j));
	assert_string_equal(j.name, "n3");
	assert_string_equal(j.address, "30.0.0.3:1");
	assert_int_equal(j.guid, NIC + 3);
	assert_false(fm_joiner(s.fm, 1, &j));
	stage_run_ns(&s, s.now + 10 * MS);
	assert_false(fm_joiner(s.fm, 0, &j));
	assert_int_equal(stage_count(&s, "version 2: node 'n3' joins\n"), 1);
	stage_did_some(&s, "101 < table 2 after 1 own term 4x1 [3 'n3' 103/1 fault 10]\n");
	stage_end(&s);
}

/* A node for which there is no place is reported until there is one. */
static void node_without_place_is_reported(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	m = hello(9);
	joins(&m);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "place");
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "node 'n9' (30.0.0.9:1) has no place: no free coordinates fit its "
				"cables");
	/* Whose child the node becomes changes nothing: no table is made for that. */
	assert_int_equal(fm_version(s.fm), 2);
	notice(FM_MSG_ADOPTED, 9, 1, 5, 1);
	stage_run_ns(&s, s.now + 50 * MS);
	assert_int_equal(fm_version(s.fm), 2);
	stage_end(&s);
}

/* A node without a place gets one as soon as it reports its cables. */
static void node_gets_place_when_it_reports_cables(void **state)
{
	struct fm_msg m;

	(void)state;
	three_of_four();
	m = hello(3);
	for (unsigned int p = 0; p < m.hello.row.nports; p++)
		m.hello.row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	joins(&m);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "place");
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_ABSENT);
	m.hello.row = stage_row(&s, 3);
	m.hello.row.serial++;
	row(3, &m.hello.row);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(fm_node(s.fm, 3)->guid, NIC + 3);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/*
 * No cable implies the place of a node: it keeps the one at which its NIC works, if that is of this
 * shape. The same number in another shape means another place.
 */
static void node_without_cables_keeps_place_of_its_nic(void **state)
{
	(void)state;
	for (unsigned int other = 0; other < 2; other++) {
		struct fm_msg m;

		three_of_four();
		m = hello(3);
		for (unsigned int p = 0; p < m.hello.row.nports; p++)
			m.hello.row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
		m.hello.placed = true;
		m.hello.version = 1;
		m.hello.shape = s.shape;
		m.hello.shape.size[0] = other ? 8 : 4;
		m.hello.coords.c[0] = 3;
		joins(&m);
		stage_run_ns(&s, s.now + 10 * MS);
		assert_int_equal(fm_node(s.fm, 3)->state, other ? FM_NODE_ABSENT : FM_NODE_UP);
		assert_int_equal(stage_count(&s, "node 'n3' (30.0.0.3:1) has no place"), other);
		stage_end(&s);
	}
}

/* A place at which there has never been a node can be excluded, for a node that will come. */
static void absent_place_can_be_excluded(void **state)
{
	(void)state;
	three_of_four();
	assert_int_equal(fm_exclude(s.fm, 3, -1, true, START + s.now), 0);
	settle(3);
	join(3);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(fm_node(s.fm, 3)->guid, NIC + 3);
	assert_string_equal(fm_excluded(s.fm, 3, 0), "admin");
	stage_end(&s);
}

/*
 * No place follows from a cable in a dimension of one node, which leads nowhere: not even the free
 * one of a dead node that it once was plugged into.
 */
static void cable_in_dimension_of_one_node_gives_no_place(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	stage_run(&s, 100);
	loses_links(2);
	stage_down(&s, 102);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_DEAD);
	m = hello(9);
	for (unsigned int p = 0; p < m.hello.row.nports; p++)
		m.hello.row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	m.hello.row.port[1] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 2,
						     .peer_port = 3 };
	joins(&m);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(stage_count(&s, "node 'n9' (30.0.0.9:1) has no place"), 1);
	assert_int_equal(fm_node(s.fm, 2)->guid, NIC + 2);
	stage_end(&s);
}

/* All nodes are there and nothing happens: no table is made, and nothing is logged. */
static void fabric_at_rest_makes_no_table(void **state)
{
	(void)state;
	ring();
	for (unsigned int k = 0; k < 20; k++) {
		stage_run_ns(&s, s.now + 1000 * MS);
		for (int i = 1; i < 4; i++)
			stage_send(&s, 100 + i, FM_MSG_PING);
	}
	stage_did_nothing(&s);
	assert_int_equal(fm_version(s.fm), 1);
	stage_end(&s);
}

/* --- nodes that do not report -------------------------------------------------------------- */

static void lacks(uint32_t node, uint32_t parent, uint32_t round)
{
	struct fm_msg m = { .type = FM_MSG_FAILED };

	m.failed = (struct fm_failed) { .guid = NIC + node, .epoch = 1, .round = round,
					.version = fm_version(s.fm), .by = NIC + parent };
	stage_msg(&s, 100 + (int)parent, &m);
}

/* Makes another table, which node 3 does not report. Return: its version. */
static uint64_t next_table(void)
{
	struct fm_row r = stage_row(&s, 1);

	r.serial = (uint32_t)fm_version(s.fm) + 50;
	r.port[4].state = FM_PORT_FAULTY - FM_PORT_FAULTY * (r.serial % 2);
	r.port[0].closed = r.serial % 2;
	row(1, &r);
	stage_run_ns(&s, s.now + 10 * MS);
	reports(1, 0);
	reports(2, 0);
	return fm_version(s.fm);
}

/* Lets time pass, in which nodes 1 and 2 report what they are asked. */
static void live(uint64_t ns)
{
	for (uint64_t end = s.now + ns; s.now < end;) {
		stage_run_ns(&s, s.now + 10 * MS);
		for (uint32_t round = 0; round < 40; round++) {
			reports(1, round);
			reports(2, round);
		}
	}
}

/*
 * The parent of node 3 reports that it does not follow: the root does without node 3, and refuses
 * it for @ms.
 */
static void refused_for(uint64_t ms)
{
	struct fm_msg m = hello(3);
	uint64_t version = next_table();

	m.hello.attach = version;
	lacks(3, 2, 0);
	assert_int_equal(stage_count(&s, "('n3') is silent: it cannot follow version"), 1);
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(fm_version(s.fm), version + 1);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_SILENT);
	stage_forget(&s);
	live((ms - 20) * MS);
	joins(&m);
	assert_int_equal(stage_count(&s, "103 < refuse it has not reported"), 1);
	stage_did_some(&s, "close 103\n");
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_SILENT);
	live(30 * MS);
	m.hello.attach = version + 1;
	joins(&m);
	stage_did_some(&s, "log info node: over: node 3,0 ('n3') is silent");
	settle(4);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
}

static void late_report_of_missing_node_changes_nothing(void **state)
{
	(void)state;
	ring();
	/* A report of another round, or one that comes when all have reported, is late. */
	lacks(3, 2, 0);
	next_table();
	lacks(3, 2, 1);
	lacks(0, 2, 0);
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	stage_end(&s);
}

static void node_without_report_is_refused_for_doubling_time(void **state)
{
	(void)state;
	ring();
	refused_for(3000);
	refused_for(6000);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(node_without_links_and_connection_is_dead),
		cmocka_unit_test(dead_node_whose_nic_is_gone_is_reported_so),
		cmocka_unit_test(node_without_links_and_connection_is_dead_at_once),
		cmocka_unit_test(second_death_in_ring_cuts_off_node_between),
		cmocka_unit_test(cable_from_node_to_itself_is_reported),
		cmocka_unit_test(entries_after_last_port_vouch_for_no_node),
		cmocka_unit_test(node_with_disputed_link_stays_dead),
		cmocka_unit_test(node_with_links_but_no_manager_is_silent),
		cmocka_unit_test(outdated_notices_are_ignored),
		cmocka_unit_test(late_notice_revives_no_node_with_place),
		cmocka_unit_test(restarted_manager_counts_anew),
		cmocka_unit_test(nic_has_its_place_only_with_rows_of_it),
		cmocka_unit_test(notices_make_no_circle_of_parents),
		cmocka_unit_test(nodes_below_lost_one_are_missing),
		cmocka_unit_test(child_of_unknown_parent_counts_as_connected),
		cmocka_unit_test(child_of_joining_parent_is_dead_if_links_are_lost),
		cmocka_unit_test(late_node_gets_place_in_next_table),
		cmocka_unit_test(fabric_at_rest_makes_no_table),
		cmocka_unit_test(late_report_of_missing_node_changes_nothing),
		cmocka_unit_test(node_without_report_is_refused_for_doubling_time),
		cmocka_unit_test(node_without_place_is_reported),
		cmocka_unit_test(node_gets_place_when_it_reports_cables),
		cmocka_unit_test(cable_in_dimension_of_one_node_gives_no_place),
		cmocka_unit_test(node_without_cables_keeps_place_of_its_nic),
		cmocka_unit_test(absent_place_can_be_excluded),
	};

	return cmocka_run_group_tests_name("fm_missing", all, NULL, NULL);
}
