// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places in a fabric whose shape is known: which node replaces a dead one, which stays at its
 * place, which cabling is refused; and which changes of a held cable lead to a new table.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "stage.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/roster.h"
#include "tests/unit/memory.h"

static struct stage s;
static struct fm_row rows[16];
static struct fm_library *library;	/* library of tables; NULL: none */
static bool discovers;		/* the root is not told the shape */

static void report_row(uint32_t node)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	rows[node].serial++;
	m.row = (struct fm_row_msg) { .guid = NIC + node, .epoch = 1, .row = rows[node] };
	stage_msg(&s, 100 + (int)node, &m);
}

static void joins(uint32_t node)
{
	struct fm_msg m = stage_hello(&s, node);

	m.hello.row = rows[node];
	stage_up(&s, 100 + (int)node);
	stage_msg(&s, 100 + (int)node, &m);
}

/* Lets time pass; the nodes that are there report. */
static void lives(uint64_t ms)
{
	for (uint64_t until = s.now + ms * MS; s.now < until;) {
		stage_run_ns(&s, s.now + 5 * MS);
		for (uint32_t round = 0; round < 6; round++)
			for (uint32_t i = 1; i < 16; i++) {
				struct fm_msg m = stage_report(&s, i, fm_version(s.fm), round);

				stage_msg(&s, 100 + (int)i, &m);
			}
	}
}

/* The root of a 4x4; node @away is missing, and no other node is cabled to it. */
static void fabric(uint32_t away)
{
	stage_init(&s, "4x4", 0);
	s.deaf = "init ping pong report lost rows place release table step ";
	s.cfg.flap_limit = 2;
	s.cfg.library = library;
	if (discovers)
		s.cfg.shape.ndims = 0;
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	stage_start(&s);
	for (uint32_t i = 1; i < 16; i++) {
		rows[i] = stage_row(&s, i);
		for (unsigned int p = 0; away && p < 4; p++)
			if (rows[i].port[p].peer_guid == NIC + away)
				rows[i].port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	}
	for (uint32_t i = 1; i < 16; i++)
		if (i != away)
			joins(i);
	lives(600);
	assert_int_equal(fm_version(s.fm), 1);
	stage_forget(&s);
}

/* The cables of node @i now lead to NIC @guid, or nowhere. */
static void cables(uint32_t i, uint64_t guid)
{
	for (unsigned int p = 0; p < 4; p++) {
		uint32_t o = torus_neighbour(&s.shape, i, p);
		unsigned int q = torus_dir_opposite(&s.shape, p);

		rows[o].port[q].state = guid ? FM_PORT_UP : FM_PORT_FAULTY;
		if (guid)
			rows[o].port[q].peer_guid = guid;
		if (o)
			report_row(o);
	}
}

/*
 * A NIC joins that the wave had placed: the root places it by its cables, and logs the place by the
 * wave if that is another.
 */
static void one_by_the_wave(int x, int y, bool reported)
{
	struct fm_msg m;

	fabric(0);
	stage_down(&s, 110);
	cables(10, 0);
	lives(100);
	m = stage_hello(&s, 10);
	m.hello.guid = 0x777;
	m.hello.position[0] = x;
	m.hello.position[1] = y;
	strcpy(m.hello.name, "new");
	cables(10, 0x777);
	lives(50);
	stage_forget(&s);
	m.hello.row = rows[10];
	stage_up(&s, 130);
	stage_msg(&s, 130, &m);
	lives(300);
	assert_int_equal(fm_node(s.fm, 10)->guid, 0x777);
	assert_int_equal(stage_count(&s, "by its cables"), reported);
	if (reported)
		stage_did_some(&s, "node 'new' is at 2,2 by its cables; by the Inits of its "
				   "neighbours it was at 3,1");
	stage_end(&s);
}

static void cables_decide_and_other_place_by_wave_is_logged(void **state)
{
	(void)state;
	one_by_the_wave(3, 1, true);
	one_by_the_wave(2, 2, false);
	one_by_the_wave(-2, 6, false);	/* the wave did not know the sizes */
	one_by_the_wave(0, 0, false);	/* the wave gave it no place */
}

/* A NIC dies and another one replaces it: that gets the place, and the old one is forgotten. */
static void replacement_gets_place_of_dead_nic(void **state)
{
	struct fm_joiner j;
	struct fm_msg m;
	char text[128];

	(void)state;
	fabric(0);
	stage_down(&s, 110);
	cables(10, 0);
	lives(100);
	assert_int_equal(fm_node(s.fm, 10)->state, FM_NODE_DEAD);
	assert_int_equal(fm_node(s.fm, 10)->guid, NIC + 10);
	m = stage_hello(&s, 10);
	m.hello.guid = 0x777;
	strcpy(m.hello.name, "new");
	cables(10, 0x777);
	/* As long as no node knows whose NIC it is no cable is wrong. */
	lives(50);
	assert_int_equal(stage_count(&s, "wiring"), 0);
	stage_up(&s, 120);
	stage_msg(&s, 120, &m);
	lives(100);
	snprintf(text, sizeof(text),
		 "node 2,2 ('new') has another NIC: GUID 0000000000000777, before "
		 "%016llx", (unsigned long long)NIC + 10);
	stage_did_some(&s, text);
	assert_int_equal(fm_node(s.fm, 10)->state, FM_NODE_UP);
	assert_int_equal(fm_node(s.fm, 10)->guid, 0x777);
	assert_string_equal(fm_node(s.fm, 10)->name, "new");
	assert_int_equal(fm_exclusions(s.fm)[10], 0);
	/* The old NIC is forgotten, and that it is dead is not a problem any more. */
	assert_false(fm_joiner(s.fm, 0, &j));
	assert_null(fm_problem(s.fm, 0));
	/* If it comes back, it is one that has no place. */
	stage_forget(&s);
	joins(10);
	lives(100);
	assert_int_equal(stage_count(&s, "110 < welcome "), 1);
	assert_true(fm_joiner(s.fm, 0, &j));
	assert_int_equal(j.guid, NIC + 10);
	assert_int_equal(fm_node(s.fm, 10)->guid, 0x777);
	stage_end(&s);
}

/* A NIC without a place joins, by a connection of its own. */
static void spare_joins(unsigned int k)
{
	struct fm_msg m = stage_hello(&s, 10);

	m.hello.guid = 0x1000 + k;
	sprintf(m.hello.name, "spare%u", k);
	sprintf(m.hello.address, "30.9.0.%u:1", k);
	stage_up(&s, 1000 + (int)k);
	stage_msg(&s, 1000 + (int)k, &m);
}

/*
 * NICs without a place come and go, each another: those that are gone are forgotten, so the root's
 * memory and its work for a table do not grow with all that ever were there.
 */
static void nics_without_place_are_forgotten(void **state)
{
	struct fm_root *r;
	struct fm_joiner j;

	(void)state;
	fabric(0);
	r = s.fm->root;
	for (unsigned int k = 0; k < 60; k++) {
		stage_forget(&s);
		spare_joins(k);
		lives(20);
		assert_int_equal(stage_count(&s, "has no place"), 1);
		/* Every third one stays while the next two come. */
		if (k % 3 == 0)
			continue;
		stage_down(&s, 1000 + (int)k);
		if (k % 3 == 2)
			stage_down(&s, 1000 + (int)k - 2);
		lives(1000);
	}
	assert_true(fm_roster_size(r) <= 16 + 3);
	assert_int_equal(r->unplaced, 0);
	assert_int_equal(fm_roster_known(r), 16);
	assert_false(fm_joiner(s.fm, 0, &j));
	assert_null(fm_problem(s.fm, 0));
	/* All of the fabric are found, by name and GUID. */
	for (uint32_t i = 1; i < 16; i++) {
		struct fm_msg m = stage_hello(&s, i);

		assert_int_equal(fm_record_no(r, i)->guid, NIC + i);
		stage_forget(&s);
		m.hello.guid = 0x999;
		stage_up(&s, 900);
		stage_msg(&s, 900, &m);
		stage_did_some(&s, "900 < refuse name 'n");
	}
	stage_end(&s);
}

/* @parent reports that node 15 is now below it. */
static void adopted(uint64_t parent, uint64_t attach)
{
	struct fm_msg m = { .type = FM_MSG_ADOPTED };

	m.left = (struct fm_left) { .guid = NIC + 15, .epoch = 1, .parent = parent,
				    .attach = attach };
	stage_msg(&s, 101, &m);
}

/* A dead spare node is not forgotten as long as another node is reported as its child. */
static void dead_spare_node_with_child_is_not_forgotten(void **state)
{
	struct fm_joiner j;

	(void)state;
	fabric(0);
	spare_joins(1);
	lives(20);
	stage_down(&s, 1001);
	adopted(0x1001, 2);
	lives(1000);
	assert_true(fm_joiner(s.fm, 0, &j));
	assert_int_equal(j.guid, 0x1001);
	adopted(NIC + 1, 3);
	cables(10, 0);
	lives(20);
	assert_false(fm_joiner(s.fm, 0, &j));
	assert_int_equal(fm_node(s.fm, 15)->state, FM_NODE_UP);
	stage_end(&s);
}

/*
 * A spare node whose parent is lost is judged dead, but it has found another parent, which says so late:
 * it is back, and is not a problem any more.
 */
static void late_notice_revives_spare_node(void **state)
{
	struct fm_msg m = { .type = FM_MSG_ADOPTED };
	struct fm_joiner j;

	(void)state;
	fabric(0);
	spare_joins(1);
	lives(20);
	stage_down(&s, 1001);
	adopted(0x1001, 2);	/* keeps it listed */
	lives(5000);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "node");
	stage_forget(&s);
	m.left = (struct fm_left) { .guid = 0x1001, .epoch = 1, .parent = NIC + 1, .attach = 9 };
	stage_msg(&s, 101, &m);
	lives(20);
	assert_int_equal(stage_count(&s, "is back"), 1);
	assert_true(fm_joiner(s.fm, 0, &j));
	assert_int_equal(j.guid, 0x1001);
	for (uint32_t i = 0; fm_problem(s.fm, i); i++)
		assert_string_not_equal(fm_problem(s.fm, i)->kind, "node");
	stage_end(&s);
}

/*
 * As many nodes have no place as there are places: the next one is refused, with the reason. It is
 * accepted when another one has gone.
 */
static void node_beyond_room_is_refused_until_there_is_room(void **state)
{
	(void)state;
	fabric(0);
	for (unsigned int k = 0; k < 16; k++)
		spare_joins(k);
	lives(100);
	stage_forget(&s);
	spare_joins(16);
	assert_int_equal(stage_count(&s, "1016 < refuse too many nodes: 'spare16' is refused, for "
					 "16 nodes have a place and as many others wait for one\n"),
			 1);
	/* A node that is known is not refused. */
	stage_down(&s, 110);
	joins(10);
	assert_int_equal(stage_count(&s, "110 < welcome"), 1);
	stage_down(&s, 1003);
	lives(1000);
	stage_forget(&s);
	spare_joins(16);
	assert_int_equal(stage_count(&s, "1016 < welcome"), 1);
	stage_end(&s);
}

/* While the NIC at a place lives, no other one gets that place. */
static void place_of_living_nic_is_not_given_away(void **state)
{
	struct fm_msg m;

	(void)state;
	fabric(0);
	m = stage_hello(&s, 10);
	m.hello.guid = 0x777;
	strcpy(m.hello.name, "new");
	cables(10, 0x777);
	stage_up(&s, 120);
	stage_msg(&s, 120, &m);
	lives(50);
	assert_int_equal(fm_node(s.fm, 10)->guid, NIC + 10);
	assert_int_equal(stage_count(&s, "log error place: node 'new' (30.0.0.10:1) has no place: "
		"no "
				     "free coordinates fit its cables\n"), 1);
	assert_int_equal(stage_count(&s, "leads to the wrong node"), 4);
	assert_int_equal(stage_count(&s, "log error wiring: 2,1:+y ('n6') is cabled to 'new':-y, "
				     "expected 2,2:-y: leads to the wrong node\n"), 1);
	/* The other NIC leaves: it is not a problem any more. */
	stage_down(&s, 120);
	lives(3100);
	assert_int_equal(stage_count(&s, "log info place: over: "), 1);
	stage_end(&s);
}

/* A node keeps its place in the table, even if a newcomer would fit there better. */
static void node_keeps_its_place_in_table(void **state)
{
	(void)state;
	fabric(5);
	/* 5 joins with the cables of 10, which has lost all but one. */
	for (unsigned int p = 0; p < 4; p++) {
		uint32_t o = torus_neighbour(&s.shape, 10, p);
		unsigned int q = torus_dir_opposite(&s.shape, p);

		rows[5].port[p] = rows[10].port[p];
		if (!p) {
			rows[5].port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
			continue;
		}
		rows[10].port[p].state = FM_PORT_DOWN;
		rows[o].port[q].peer_guid = NIC + 5;
		report_row(o);
	}
	report_row(10);
	joins(5);
	lives(50);
	assert_int_equal(fm_node(s.fm, 10)->guid, NIC + 10);
	assert_int_equal(fm_node(s.fm, 5)->state, FM_NODE_ABSENT);
	stage_end(&s);
}

/* All cables of node 10 are plugged in where those of 5 belong: its coordinates stay. */
static void node_with_moved_cables_keeps_coordinates(void **state)
{
	(void)state;
	fabric(5);
	cables(10, 0);
	for (unsigned int p = 0; p < 4; p++) {
		uint32_t o = torus_neighbour(&s.shape, 5, p), q = torus_dir_opposite(&s.shape, p);

		rows[10].port[p] = stage_row(&s, 5).port[p];
		rows[o].port[q] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 10,
							 .peer_port = (uint8_t)p };
		report_row(o);
	}
	report_row(10);
	spare_joins(0);
	lives(50);
	assert_int_equal(fm_node(s.fm, 10)->guid, NIC + 10);
	stage_end(&s);
}

/* --- nodes that wait for their neighbours ------------------------------------------------ */

/* Leaves only one cable of node 5 known, and another one that leads to a new NIC. */
static void waits(void)
{
	memset(rows[5].port, 0, sizeof(rows[5].port));
	rows[5].port[0] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = 0x777,
						 .peer_port = 2 };
	rows[5].port[2] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 4,
						 .peer_port = 0 };
	stage_forget(&s);
	joins(5);
}

/* A node that only waits is no fault, and the shape need not grow by it. */
static void waiting_node_is_no_fault_and_no_growth(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		discovers = k;
		fabric(5);
		waits();
		lives(450);
		assert_int_equal(fm_node(s.fm, 5)->guid, 0);
		assert_int_equal(s.fm->root->early, 1);
		assert_int_equal(stage_count(&s, "has no place"), 0);
		assert_true(fm_grow_expiry(s.fm) == NEVER);
		/* A further node for which there is none is reported nevertheless. */
		spare_joins(1);
		lives(20);
		assert_int_equal(stage_count(&s, "'spare1' (30.9.0.1:1) has no place"), 1);
		assert_int_equal(stage_count(&s, "has no place"), 1);
		assert_true((fm_grow_expiry(s.fm) != NEVER) == discovers);
		lives(100);
		assert_int_equal(fm_node(s.fm, 5)->guid, NIC + 5);
		assert_int_equal(s.fm->root->early, 0);
		stage_end(&s);
	}
	discovers = false;
}

/* The wait ends in time, though the node makes its connection anew all the while. */
static void restless_waiting_node_gets_its_place_in_time(void **state)
{
	(void)state;
	fabric(5);
	waits();
	for (unsigned int k = 0; k < 6; k++) {
		struct fm_msg m = stage_hello(&s, 5);

		lives(90);
		if (k == 4)
			assert_int_equal(fm_node(s.fm, 5)->guid, 0);
		m.hello.row = rows[5];
		m.hello.attach = 10 + k;
		stage_up(&s, 300 + (int)k);
		stage_msg(&s, 300 + (int)k, &m);
	}
	lives(30);
	assert_int_equal(fm_node(s.fm, 5)->guid, NIC + 5);
	stage_end(&s);
}

/*
 * The root looks at a node before the neighbour that implies its place, and places it after that in
 * the same run: it waits no more, and no further table is made for it.
 */
static void node_placed_in_same_run_demands_no_more_tables(void **state)
{
	struct fm_msg m;
	uint64_t version;

	(void)state;
	fabric(5);
	stage_down(&s, 106);
	cables(6, 0);
	lives(100);
	version = fm_version(s.fm);
	m = stage_hello(&s, 6);
	m.hello.guid = 0x777;
	strcpy(m.hello.name, "new");
	m.hello.row.port[0].state = FM_PORT_DOWN;
	waits();
	stage_up(&s, 130);
	stage_msg(&s, 130, &m);
	lives(20);
	assert_int_equal(fm_version(s.fm), version + 1);
	assert_int_equal(fm_node(s.fm, 5)->guid, NIC + 5);
	assert_int_equal(fm_node(s.fm, 6)->guid, 0x777);
	assert_int_equal(s.fm->root->early, 0);
	assert_false(fm_demand_is(s.fm->root));
	stage_end(&s);
}

/* If all nodes have places, a table needs no memory to find any, and no lack is reported. */
static void table_of_placed_nodes_needs_no_memory_for_places(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned int n = 1; failed; n++) {
		fabric(0);
		rows[9].port[0].state = FM_PORT_FAULTY;
		memory_fails_at(n);
		report_row(9);
		stage_run_ns(&s, s.now + 20 * MS);
		failed = memory_failed();
		assert_int_equal(stage_count(&s, "no memory to place"), 0);
		stage_end(&s);
	}
}

/* Rows that a table lacks for want of memory are in the next one, for all nodes. */
static void rows_missing_for_want_of_memory_are_in_next_table(void **state)
{
	bool failed = true;

	(void)state;
	library = fm_library_new();
	for (unsigned int n = 1; failed; n++) {
		fabric(0);
		rows[3].port[1].state = rows[9].port[0].state = FM_PORT_FAULTY;
		memory_fails_at(n);
		report_row(3);
		report_row(9);
		stage_run_ns(&s, s.now + 20 * MS);
		failed = memory_failed();
		assert_int_equal(fm_exclude(s.fm, 12, 0, true, START + s.now), 0);
		lives(300);
		assert_string_equal(fm_excluded(s.fm, 12, 0), "admin");
		assert_string_equal(fm_excluded(s.fm, 3, 1), "fault");
		assert_string_equal(fm_excluded(s.fm, 9, 0), "fault");
		stage_end(&s);
	}
	fm_library_free(library);
	library = NULL;
}

/* --- wrong cables ----------------------------------------------------------------------- */

/*
 * A wrong cable is reported as long as it is wrong, whatever other tables are made for. Only nodes
 * that have one are checked for each table; otherwise cut cables would take the longer the more
 * nodes there are.
 */
static void wrong_cable_is_reported_while_it_is_wrong(void **state)
{
	static const char text[] = "1,1:+x ('n5') is cabled to 2,1:+y ('n6'), expected 2,1:-x: "
				   "joins ports that are not opposite";

	(void)state;
	fabric(0);
	assert_int_equal(s.fm->root->changes.odd.n, 0);
	rows[5].port[0].peer_port = 1;
	rows[6].port[2].state = FM_PORT_DOWN;
	report_row(6);
	report_row(5);
	lives(50);
	assert_string_equal(fm_problem(s.fm, 0)->text, text);
	assert_int_equal(s.fm->root->changes.odd.n, 1);
	assert_int_equal(fm_exclude(s.fm, 10, 0, true, START + s.now), 0);
	lives(50);
	assert_string_equal(fm_excluded(s.fm, 10, 0), "admin");
	assert_string_equal(fm_excluded(s.fm, 5, 0), "wiring");
	assert_string_equal(fm_problem(s.fm, 0)->text, text);
	stage_end(&s);
}

/* The same for a cable to the right port of a node that has joined another fabric. */
static void cable_to_other_fabric_stays_excluded(void **state)
{
	(void)state;
	fabric(0);
	rows[5].port[0].problem = FM_PROBLEM_FABRIC;
	report_row(5);
	lives(50);
	assert_int_equal(s.fm->root->changes.odd.n, 1);
	assert_string_equal(fm_excluded(s.fm, 5, 0), "wiring");
	assert_int_equal(fm_exclude(s.fm, 10, 0, true, START + s.now), 0);
	lives(50);
	assert_string_equal(fm_excluded(s.fm, 10, 0), "admin");
	assert_string_equal(fm_excluded(s.fm, 5, 0), "wiring");
	assert_int_equal(s.fm->root->changes.odd.n, 1);
	stage_end(&s);
}

/* A cable to a port that the fabric does not use is reported by the end that it does use. */
static void cable_to_spare_port_is_reported_by_used_end(void **state)
{
	(void)state;
	fabric(0);
	rows[1].nports = 6;
	rows[1].port[4] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 10,
						 .peer_port = 0 };
	rows[10].port[0].peer_guid = NIC + 1;
	rows[10].port[0].peer_port = 4;
	report_row(1);
	report_row(10);
	lives(50);
	assert_string_equal(fm_problem(s.fm, 0)->text, "2,2:+x ('n10') is cabled to 1,0:port 4 "
			    "('n1'), expected 3,2:-x: joins ports that are not opposite");
	stage_end(&s);
}

/* --- what cannot be a fabric ------------------------------------------------------------ */

/* Three lines of 300 nodes that meet in the root: a shape of 27 million nodes, mostly missing. */
static void too_large_shape_is_reported(void **state)
{
	const struct fm_problem *p;

	(void)state;
	stage_init(&s, "1x1x1", 0);
	s.cfg.shape.ndims = 0;
	s.deaf = "init welcome adopted log table step close ";
	for (unsigned int d = 0; d < 3; d++)
		for (unsigned int back = 0; back < 2; back++) {
			struct torus_link *l = &s.link[d + 3 * back];

			l->state = TORUS_LINK_UP;
			l->session = 1;
			l->peer_guid = NIC + 1 + 299 * d + (back ? 298 : 0);
			l->peer_port = (uint8_t)(d + 3 * !back);
			strcpy(l->lower, "eth");
		}
	stage_start(&s);
	for (unsigned int d = 0; d < 3; d++)
		for (uint32_t i = 0; i < 299; i++) {
			struct fm_msg m = stage_hello(&s, 1 + 299 * d + i);
			struct fm_row *r = &m.hello.row;

			memset(r->port, 0, sizeof(r->port));
			r->port[d] = (struct fm_port_row) {
				.state = FM_PORT_UP, .peer_port = (uint8_t)(d + 3),
				.peer_guid = i == 298 ? NIC : m.hello.guid + 1,
			};
			r->port[d + 3] = (struct fm_port_row) {
				.state = FM_PORT_UP, .peer_port = (uint8_t)d,
				.peer_guid = i ? m.hello.guid - 1 : NIC,
			};
			stage_up(&s, (int)(m.hello.guid - NIC));
			stage_msg(&s, (int)(m.hello.guid - NIC), &m);
		}
	stage_run(&s, 2000);
	assert_int_equal(fm_version(s.fm), 0);
	p = fm_problem(s.fm, 0);
	assert_non_null(p);
	assert_string_equal(p->kind, "bootstrap");
	assert_string_equal(p->text, "no shape of at most 16777216 nodes fits the cables");
	/* Two of them are cut off at the root: that is one line, and no problem any more. */
	for (unsigned int port = 1; port < 6; port++)
		if (port != 3)
			stage_link_lost(&s, port, 0);
	stage_run(&s, 4000);
	assert_int_equal(fm_version(s.fm), 1);
	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		assert_string_not_equal(p->kind, "bootstrap");
	stage_end(&s);
}

/* --- news of cables that are held ------------------------------------------------------- */

/* Holds the port 9:+x down, in the table, too. */
static void held(void)
{
	fabric(0);
	for (unsigned int k = 0; k < 3; k++) {
		rows[9].port[0].state = FM_PORT_FAULTY;
		report_row(9);
		rows[9].port[0].state = FM_PORT_UP;
		report_row(9);
	}
	lives(50);
	assert_string_equal(fm_excluded(s.fm, 9, 0), "held");
	stage_forget(&s);
}

static void change(struct fm_port_row *x, unsigned int what)
{
	switch (what) {
	case 0:
		x->state = FM_PORT_DOWN;
		break;
	case 1:
		x->problem = FM_PROBLEM_ROOT;
		break;
	case 2:
		x->closed = true;
		break;
	case 3:
		x->session = 7;
		break;
	case 4:
		x->seq = 7;
		break;
	case 5:
		x->peer_guid = 0x888;
		break;
	case 6:
		x->peer_port = 9;
		break;
	}
}

/* Changes of a port that is held lead to no table; those of other ports do. */
static void change_of_held_port_makes_no_table(void **state)
{
	(void)state;
	for (unsigned int what = 0; what < 7; what++)
		for (unsigned int p = 0; p < 4; p++) {
			uint64_t version;

			held();
			version = fm_version(s.fm);
			change(&rows[9].port[p], what);
			report_row(9);
			stage_run_ns(&s, s.now + 20 * MS);
			assert_int_equal(fm_version(s.fm), version + (p != 0));
			stage_end(&s);
		}
}

/* A port that is held, but not in the present table, leads to a new one. */
static void newly_held_port_makes_a_table(void **state)
{
	(void)state;
	fabric(0);
	for (unsigned int k = 0; k < 2; k++) {
		rows[9].port[0].state = FM_PORT_FAULTY;
		report_row(9);
		rows[9].port[0].state = FM_PORT_UP;
		report_row(9);
	}
	stage_run_ns(&s, s.now + 20 * MS);
	assert_int_equal(fm_version(s.fm), 2);
	assert_string_equal(fm_excluded(s.fm, 9, 0), "held");
	/* A new life of the NIC is different: the table is of the former life. */
	struct fm_msg m = stage_hello(&s, 9);

	lives(20);
	m.hello.epoch = 2;
	m.hello.attach = 9;
	m.hello.row = rows[9];
	m.hello.row.serial++;
	m.hello.row.port[0].closed = true;
	stage_up(&s, 209);
	stage_msg(&s, 209, &m);
	stage_run_ns(&s, s.now + 20 * MS);
	assert_int_equal(fm_version(s.fm), 3);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(cables_decide_and_other_place_by_wave_is_logged),
		cmocka_unit_test(replacement_gets_place_of_dead_nic),
		cmocka_unit_test(nics_without_place_are_forgotten),
		cmocka_unit_test(dead_spare_node_with_child_is_not_forgotten),
		cmocka_unit_test(late_notice_revives_spare_node),
		cmocka_unit_test(node_beyond_room_is_refused_until_there_is_room),
		cmocka_unit_test(place_of_living_nic_is_not_given_away),
		cmocka_unit_test(node_keeps_its_place_in_table),
		cmocka_unit_test(node_with_moved_cables_keeps_coordinates),
		cmocka_unit_test(waiting_node_is_no_fault_and_no_growth),
		cmocka_unit_test(restless_waiting_node_gets_its_place_in_time),
		cmocka_unit_test(node_placed_in_same_run_demands_no_more_tables),
		cmocka_unit_test(table_of_placed_nodes_needs_no_memory_for_places),
		cmocka_unit_test(rows_missing_for_want_of_memory_are_in_next_table),
		cmocka_unit_test(wrong_cable_is_reported_while_it_is_wrong),
		cmocka_unit_test(cable_to_other_fabric_stays_excluded),
		cmocka_unit_test(cable_to_spare_port_is_reported_by_used_end),
		cmocka_unit_test(too_large_shape_is_reported),
		cmocka_unit_test(change_of_held_port_makes_no_table),
		cmocka_unit_test(newly_held_port_makes_a_table),
	};

	return cmocka_run_group_tests_name("fm_places", all, NULL, NULL);
}
