// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions to a manager: its state, numbers of nodes and cables, why a cable is excluded, and
 * names; and its default times.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"

static struct stage s;
static struct fm_entry entry[16];

static void joins_root(void)
{
	struct fm_init i = stage_neighbour(&s, 0);

	stage_receive(&s, 0, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
}

/* Node 5 of a 4x4, accepted by the root. */
static void joined(void)
{
	stage_init(&s, "4x4", 5);
	s.deaf = "init ping log ";
	stage_start(&s);
	joins_root();
}

/* Gives the node table @t, and the steps that follow until it is in force. */
static void takes(const struct fm_msg *t)
{
	struct fm_msg m = stage_step(t->table.version, 1, FM_STEP_RESUME);

	stage_msg(&s, 1, t);
	stage_msg(&s, 1, &m);
}

static struct fm_status status(void)
{
	struct fm_status st;
	uint32_t up;

	memset(&st, 0xff, sizeof(st));
	fm_status(s.fm, &st);
	assert_int_equal(fm_state(s.fm), st.state);
	assert_int_equal(fm_nodes(s.fm, &up), st.nodes);
	/* Not all nodes of the table have answered lately, and without a root this one is up. */
	assert_in_range(st.nodes_up, 0, up + (st.root.lost && st.own != TORUS_NO_NODE));
	return st;
}

/* --- state ------------------------------------------------------------------------------ */

static void status_before_place_is_bootstrapping(void **state)
{
	struct fm_status st;
	struct fm_outline o;

	(void)state;
	stage_init(&s, "4x4", 5);
	stage_start(&s);
	st = status();
	assert_int_equal(st.state, FM_BOOTSTRAPPING);
	assert_false(st.is_root);
	assert_false(st.placed);
	assert_int_equal(st.own, TORUS_NO_NODE);
	assert_int_equal(st.version, 0);
	assert_int_equal(st.nodes, 0);
	assert_int_equal(st.links, 0);
	assert_int_equal(st.shape.ndims, 0);
	assert_false(st.root.known);
	assert_false(st.root.reachable);
	assert_int_equal(st.root.lost, START);
	assert_int_equal(st.root.node, TORUS_NO_NODE);
	assert_string_equal(st.root.address, "");
	assert_null(fm_last(s.fm));
	assert_int_equal(fm_version(s.fm), 0);
	assert_null(fm_node(s.fm, 0));
	assert_null(fm_exclusions(s.fm));
	assert_null(fm_excluded(s.fm, 0, 0));
	assert_int_equal(fm_node_by_name(s.fm, "n5"), TORUS_NO_NODE);
	assert_int_equal(fm_node_parent(s.fm, 0), TORUS_NO_NODE);
	assert_false(fm_in_force(s.fm, 0));
	assert_false(fm_in_force(s.fm, 1));
	fm_outline(s.fm, &o);
	assert_int_equal(o.term, 0);
	assert_int_equal(o.version, 0);
	assert_int_equal(o.own, TORUS_NO_NODE);
	assert_int_equal(o.problems, 0);
	assert_true(o.under_way);
	assert_true(o.cut_off);
	/* Only the root takes orders. */
	assert_int_equal(fm_exclude(s.fm, 0, 0, true, START), -EPERM);
	stage_end(&s);
}

static void status_follows_table_from_recovering_to_running(void **state)
{
	struct fm_outline o;
	struct fm_status st;
	struct fm_msg t;

	(void)state;
	joined();
	t = stage_table(&s, 3, entry);
	stage_msg(&s, 1, &t);
	assert_int_equal(status().state, FM_RECOVERING);
	assert_false(fm_in_force(s.fm, 3));
	fm_outline(s.fm, &o);
	assert_true(o.under_way);
	s.park.parked = 17;
	takes(&t);
	st = status();
	assert_int_equal(st.state, FM_RUNNING);
	assert_true(st.placed);
	assert_int_equal(st.own, 5);
	assert_int_equal(st.version, 3);
	assert_int_equal(st.applied, 3);
	assert_int_equal(st.nodes, 16);
	assert_int_equal(st.nodes_up, 16);
	assert_int_equal(st.links, 32);
	assert_int_equal(st.links_up, 32);
	assert_int_equal(st.links_faulty, 0);
	assert_int_equal(st.links_excluded, 0);
	assert_int_equal(st.parked, 17);
	assert_int_equal(st.relayed, 0);
	assert_int_equal(st.problems, 0);
	assert_true(st.root.known);
	assert_true(st.root.reachable);
	assert_int_equal(st.root.lost, 0);
	assert_int_equal(st.root.guid, NIC);
	assert_int_equal(st.root.node, 0);
	assert_string_equal(st.root.address, "30.0.0.0:1");
	assert_int_equal(st.last.version, 0);
	assert_int_equal(st.shape.ndims, 2);
	assert_true(fm_in_force(s.fm, 3));
	assert_false(fm_in_force(s.fm, 2));
	assert_false(fm_in_force(s.fm, 0));
	fm_outline(s.fm, &o);
	assert_int_equal(o.term, TERM);
	assert_int_equal(o.version, 3);
	assert_int_equal(o.own, 5);
	assert_int_equal(o.problems, 0);
	assert_false(o.under_way);
	assert_false(o.cut_off);
	assert_int_equal(fm_node(s.fm, 15)->guid, NIC + 15);
	assert_null(fm_node(s.fm, 16));
	assert_non_null(fm_exclusions(s.fm));
	assert_int_equal(s.fm->nrows, 16);
	for (uint32_t i = 0; i < 16; i++)
		assert_true(s.fm->rows[i] & TORUS_ROW_VALID);
	assert_int_equal(fm_node_by_name(s.fm, "n0"), 0);
	assert_int_equal(fm_node_by_name(s.fm, "n15"), 15);
	assert_int_equal(fm_node_by_name(s.fm, "n16"), TORUS_NO_NODE);
	/* Only the root knows the tree. */
	assert_int_equal(fm_node_parent(s.fm, 5), TORUS_NO_NODE);
	/* Counting starts again. */
	t = stage_step(3, 2, FM_STEP_COUNT);
	stage_msg(&s, 1, &t);
	assert_int_equal(status().state, FM_RECOVERING);
	assert_false(fm_in_force(s.fm, 3));
	stage_end(&s);
}

/*
 * The state is degraded because of a node, a cable or a problem, or because the root cannot be
 * reached.
 */
static void each_fault_makes_state_degraded(void **state)
{
	struct fm_init i;
	struct fm_msg t;
	struct fm_outline o;

	(void)state;
	joined();
	t = stage_table(&s, 3, entry);
	entry[9].state = FM_NODE_SILENT;
	takes(&t);
	assert_int_equal(status().state, FM_DEGRADED);
	assert_int_equal(status().nodes_up, 15);
	assert_int_equal(status().links_up, 32);
	stage_end(&s);
	joined();
	t = stage_table(&s, 3, entry);
	entry[9].fault = 1;
	takes(&t);
	assert_int_equal(status().state, FM_DEGRADED);
	assert_int_equal(status().nodes_up, 16);
	stage_end(&s);
	joined();
	t = stage_table(&s, 3, entry);
	takes(&t);
	assert_int_equal(status().state, FM_RUNNING);
	i = stage_neighbour(&s, 2);
	strcpy(i.fabric, "other");
	stage_receive(&s, 2, &i);
	assert_int_equal(status().state, FM_DEGRADED);
	assert_int_equal(status().problems, 1);
	fm_outline(s.fm, &o);
	assert_int_equal(o.problems, 1);
	strcpy(i.fabric, "fab");
	stage_receive(&s, 2, &i);
	assert_int_equal(status().state, FM_RUNNING);
	stage_down(&s, 1);
	assert_int_equal(status().state, FM_DEGRADED);
	assert_int_equal(status().root.lost, START);
	stage_end(&s);
}

/*
 * The state is running if an administrator excluded all that is down, and degraded if something
 * else is down, too.
 */
static void excluded_parts_do_not_degrade_state(void **state)
{
	struct fm_msg t;

	(void)state;
	for (unsigned int k = 0; k < 6; k++) {
		joined();
		t = stage_table(&s, 3, entry);
		entry[9].admin = k == 4 ? 7 : 15;
		entry[9].state = FM_NODE_DEAD;
		if (k == 1)
			entry[3].state = FM_NODE_SILENT;
		if (k == 2)
			entry[3].fault = 1;
		if (k == 3)
			entry[3].wiring = 1;
		if (k == 5)
			entry[3].held = entry[3].fault = 1;
		takes(&t);
		assert_int_equal(status().state, k ? FM_DEGRADED : FM_RUNNING);
		assert_int_equal(fm_state(s.fm), k ? FM_DEGRADED : FM_RUNNING);
		assert_int_equal(status().nodes_up, k == 1 ? 14 : 15);
		stage_end(&s);
	}
}

/*
 * Each faulty cable is listed once, by its end with a "+", with the dead node if that is the cause.
 */
static void each_faulty_cable_is_listed_once(void **state)
{
	struct fm_faulty f;
	struct fm_msg t;
	uint32_t i = 0;

	(void)state;
	joined();
	assert_false(fm_faulty(s.fm, &i, &f));
	t = stage_table(&s, 3, entry);
	entry[5].fault = 4;
	entry[9].held = entry[9].fault = 2;
	entry[15].state = FM_NODE_DEAD;
	entry[10].admin = entry[10].fault = 1;
	entry[0].wiring = 1;
	takes(&t);
	i = 0;
	for (unsigned int k = 0; k < 6; k++) {
		static const uint32_t node[] = { 4, 9, 11, 14, 15, 15 },
		peer[] = { 5, 13, 15, 15, 12, 3 };
		static const unsigned int port[] = { 0, 1, 1, 0, 0, 1 };

		assert_true(fm_faulty(s.fm, &i, &f));
		assert_int_equal(f.node, node[k]);
		assert_int_equal(f.peer, peer[k]);
		assert_int_equal(f.port, port[k]);
		assert_int_equal(f.peer_port, port[k] + 2);
		assert_int_equal(f.dead, k < 2 ? TORUS_NO_NODE : 15);
		assert_null(f.reason);		/* the root alone knows the reason */
		assert_int_equal(f.since, 0);
	}
	assert_false(fm_faulty(s.fm, &i, &f));
	stage_end(&s);
}

/* Without a root the node that is asked counts as up, also if the last table has it as silent. */
static void asked_node_counts_as_up_without_root(void **state)
{
	struct fm_msg t;

	(void)state;
	joined();
	s.deaf = "init ping log connect close hello row ";
	t = stage_table(&s, 3, entry);
	takes(&t);
	assert_int_equal(status().nodes_up, 16);
	t = stage_table(&s, 4, entry);
	entry[5].state = FM_NODE_SILENT;
	stage_msg(&s, 1, &t);		/* the node is left out, and joins anew */
	stage_run(&s, 10 * 1000);
	assert_int_equal(status().version, 4);
	assert_int_equal(status().nodes_up, 1);
	for (unsigned int p = 0; p < 3; p++)
		stage_link_up(&s, p, 1);
	assert_int_equal(status().links_up, 3);
	stage_end(&s);
}

/* A node that does not lead knows of one candidate, itself, if it is one. */
static void node_that_does_not_lead_knows_itself_alone(void **state)
{
	static const struct { unsigned int stated, is; } priority[] = {
		{ FM_PRIORITY_AUTO, FM_PRIORITY_DEFAULT }, { 255, 255 }, { 1, 1 }, { 0, 0 },
	};

	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		struct fm_candidate_status c;
		struct fm_msg t;
		uint32_t i = 0;

		stage_init(&s, "4x4", 5);
		s.deaf = "init ping log ";
		s.cfg.takeover = 200 * MS;
		s.cfg.priority = priority[k].stated;
		stage_start(&s);
		joins_root();
		t = stage_table(&s, 3, entry);
		takes(&t);
		assert_int_equal(fm_candidate(s.fm, &i, &c), priority[k].is > 0);
		assert_int_equal(c.priority, priority[k].is);
		assert_int_equal(c.node, 5);
		assert_string_equal(c.name, "n5");
		assert_true(c.answers);
		assert_false(fm_candidate(s.fm, &i, &c));
		stage_end(&s);
	}
}

/* --- cables ----------------------------------------------------------------------------- */

/* The reason why a cable is excluded is the most serious one of its two ends. */
static void more_serious_reason_of_both_ends_counts(void **state)
{
	static const char *const why[] = { "fault", "held", "wiring", "admin" };
	struct fm_msg t;

	(void)state;
	for (unsigned int a = 0; a < 16; a++)
		for (unsigned int b = !a; b < 16; b++) {
			unsigned int ports[2] = { 1, 3 }, most = 0;

			joined();
			t = stage_table(&s, 3, entry);
			for (unsigned int e = 0; e < 2; e++) {
				struct fm_entry *x = &entry[e ? 10 : 6];
				unsigned int says = e ? b : a;
				uint16_t mask = (uint16_t)(1u << ports[e]);

				/* A cable that is held is excluded like a faulty one. */
				x->fault = says & 3 ? mask : 0;
				x->held = says & 2 ? mask : 0;
				x->wiring = says & 4 ? mask : 0;
				x->admin = says & 8 ? mask : 0;
			}
			takes(&t);
			while ((a | b) >> (most + 1))
				most++;
			assert_string_equal(fm_excluded(s.fm, 6, 1), why[most]);
			assert_string_equal(fm_excluded(s.fm, 10, 3), why[most]);
			assert_null(fm_excluded(s.fm, 6, 0));
			assert_null(fm_excluded(s.fm, 10, 1));
			assert_null(fm_excluded(s.fm, 6, 4));
			assert_null(fm_excluded(s.fm, 16, 1));
			assert_int_equal(status().links, 32);
			assert_int_equal(status().links_up, 31);
			assert_int_equal(status().links_faulty, most < 2);
			assert_int_equal(status().links_wrong, most == 2);
			assert_int_equal(status().links_excluded, most == 3);
			stage_end(&s);
		}
	/* Taken down for want of credits: a fault, and why. One that flaps is reported as that. */
	for (unsigned int k = 0; k < 4; k++) {
		static const char *const of[] = { "stall", "stall", "held", "admin" };

		joined();
		t = stage_table(&s, 3, entry);
		entry[6].fault = 2;
		entry[k == 1 ? 10 : 6].stalled = k == 1 ? 8 : 2;
		entry[10].held = k == 2 ? 8 : 0;
		entry[10].admin = k == 3 ? 8 : 0;
		takes(&t);
		assert_string_equal(fm_excluded(s.fm, 6, 1), of[k]);
		assert_string_equal(fm_excluded(s.fm, 10, 3), of[k]);
		assert_int_equal(status().links_faulty, k < 3);
		stage_end(&s);
	}
	/* A dead node has no working cables. */
	joined();
	t = stage_table(&s, 3, entry);
	entry[6].state = FM_NODE_DEAD;
	takes(&t);
	assert_string_equal(fm_excluded(s.fm, 6, 1), "fault");
	assert_int_equal(status().links_faulty, 4);
	stage_end(&s);
}

/* A dimension of size 1 has no cables; a mesh has none at its ends, unless one was seen. */
static void places_without_cable_are_not_counted(void **state)
{
	struct fm_msg t;

	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		joined();
		t = stage_table(&s, 3, entry);
		t.table.open = k == 1 ? 2 : 1;
		entry[7].fault = k == 2 ? 0 : 1;
		entry[4].fault = k == 3 ? 0 : 4;
		if (k == 4)
			entry[7].ended = 1;
		if (k == 5)
			entry[4].ended = 4;
		if (k == 6)
			entry[7].state = FM_NODE_SILENT;
		if (k == 7)
			entry[4].state = FM_NODE_SILENT;
		takes(&t);
		assert_int_equal(status().links, k ? 32 : 31);
		assert_int_equal(status().links_up, 31);
		assert_int_equal(status().links_faulty, k != 0);
		stage_end(&s);
	}
	for (unsigned int k = 0; k < 3; k++) {	/* the same in the other dimension */
		joined();
		t = stage_table(&s, 3, entry);
		t.table.open = 2;
		entry[13].fault = 2;
		entry[1].fault = 8;
		entry[13].ended = k == 1 ? 2 : 0;
		entry[1].ended = k == 2 ? 8 : 0;
		takes(&t);
		assert_int_equal(status().links, k ? 32 : 31);
		assert_int_equal(status().links_faulty, k != 0);
		stage_end(&s);
	}
	stage_init(&s, "5x1x2", 1);
	s.deaf = "init log ";
	stage_start(&s);
	struct fm_init i = stage_neighbour(&s, 0);

	stage_receive(&s, 0, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	t = stage_table(&s, 3, entry);
	entry[7].admin = 1 << 5;
	takes(&t);
	/* A ring of five, twice, and two cables between each two. */
	assert_int_equal(status().links, 10 + 10);
	assert_int_equal(status().links_up, 19);
	assert_string_equal(fm_excluded(s.fm, 7, 5), "admin");
	stage_end(&s);
}

/* Counts are cached between questions, and follow changes of the table. */
static void cached_counts_follow_table(void **state)
{
	struct fm_msg t, end = stage_step(7, 2, FM_STEP_COUNT);

	(void)state;
	joined();
	t = stage_table(&s, 3, entry);
	takes(&t);
	assert_int_equal(status().links_up, 32);
	t = stage_table(&s, 4, entry);
	t.table.base = 3;
	t.table.nentries = 1;
	entry[0].admin = 1;
	takes(&t);
	assert_int_equal(status().links_excluded, 1);
	assert_int_equal(status().state, FM_RUNNING);
	/* The table has the same cables, but one of them never existed. */
	t = stage_table(&s, 5, entry);
	t.table.base = 4;
	t.table.nentries = 2;
	t.table.open = 1;
	entry[0].fault = 4;
	entry[1] = entry[3];
	entry[1].fault = 1;
	takes(&t);
	assert_int_equal(status().links, 31);
	t = stage_table(&s, 6, entry);
	t.table.base = 5;
	t.table.nentries = 0;
	takes(&t);
	assert_int_equal(status().links, 32);
	t.table.base = 6;
	t.table.version = 7;
	t.table.open = 1;
	takes(&t);
	assert_int_equal(status().links, 31);
	/* The port was there after all: this is reported with a step. */
	end.step.nended = 1;
	end.step.ended[0] = (struct fm_ended) { .node = 3, .port = 0, .session = 9 };
	stage_msg(&s, 1, &end);
	assert_int_equal(status().links, 32);
	stage_end(&s);
}

/* Nodes in the table have names, except absent ones. */
static void nodes_of_table_are_found_by_name(void **state)
{
	struct fm_msg t;

	(void)state;
	joined();
	t = stage_table(&s, 3, entry);
	t.table.nentries = 10;
	strcpy(entry[3].name, "");
	takes(&t);
	assert_int_equal(fm_node_by_name(s.fm, "n9"), 9);
	assert_int_equal(fm_node_by_name(s.fm, "n10"), TORUS_NO_NODE);
	assert_int_equal(fm_node_by_name(s.fm, ""), 3);
	t = stage_table(&s, 4, entry);
	t.table.nentries = 10;
	takes(&t);
	assert_int_equal(fm_node_by_name(s.fm, ""), TORUS_NO_NODE);
	for (unsigned int i = 0; i < FM_ROOT_STATES; i++)
		assert_string_equal(fm_root_state_name(i),
				    ((const char *[]) { "unknown", "leads", "lost", "asks",
							"claims" })[i]);
	assert_null(fm_root_state_name(FM_ROOT_STATES));
	for (unsigned int i = 0; i < FM_STATES; i++)
		assert_non_null(fm_state_name(i));
	assert_null(fm_state_name(FM_STATES));
	assert_null(fm_node_state_name(FM_NODE_STATES));
	assert_string_equal(fm_state_name(FM_BOOTSTRAPPING), "bootstrapping");
	assert_string_equal(fm_state_name(FM_RUNNING), "running");
	assert_string_equal(fm_state_name(FM_RECOVERING), "recovering");
	assert_string_equal(fm_state_name(FM_DEGRADED), "degraded");
	assert_string_equal(fm_node_state_name(FM_NODE_ABSENT), "absent");
	assert_string_equal(fm_node_state_name(FM_NODE_JOINING), "joining");
	assert_string_equal(fm_node_state_name(FM_NODE_UP), "up");
	assert_string_equal(fm_node_state_name(FM_NODE_SILENT), "silent");
	assert_string_equal(fm_node_state_name(FM_NODE_DEAD), "dead");
	stage_end(&s);
}

/* --- the root --------------------------------------------------------------------------- */

static void join(uint32_t node)
{
	struct fm_msg m = stage_hello(&s, node);

	stage_up(&s, 100 + (int)node);
	stage_msg(&s, 100 + (int)node, &m);
}

/* Nodes 1 to 3 of a ring report round @round of the present version with these sums. */
static void report(uint32_t node, uint32_t round, uint64_t parked, uint64_t relayed)
{
	struct fm_msg m = stage_report(&s, node, fm_version(s.fm), round);

	m.report.sums.parked = parked;
	m.report.sums.relayed = relayed;
	stage_msg(&s, 100 + (int)node, &m);
}

static void status_of_root_counts_nodes_links_and_joiners(void **state)
{
	struct fm_joiner j;
	struct fm_outline o;
	struct fm_status st;

	(void)state;
	stage_init(&s, "4", 0);
	s.deaf = "init log ";
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 1, 1);
	stage_start(&s);
	assert_int_equal(fm_exclude(s.fm, 0, 0, true, START), -EAGAIN);
	for (uint32_t i = 1; i < 4; i++)
		join(i);
	/* All nodes are joining. */
	assert_true(fm_joiner(s.fm, 0, &j));
	assert_string_equal(j.name, "n0");
	assert_true(fm_joiner(s.fm, 3, &j));
	assert_string_equal(j.address, "30.0.0.3:1");
	assert_false(fm_joiner(s.fm, 4, &j));
	assert_int_equal(fm_node_parent(s.fm, 1), TORUS_NO_NODE);
	st = status();
	assert_true(st.is_root);
	assert_int_equal(st.state, FM_BOOTSTRAPPING);
	assert_true(st.root.reachable);
	assert_int_equal(st.root.lost, 0);
	stage_run(&s, 1);
	assert_false(fm_joiner(s.fm, 0, &j));
	assert_int_equal(status().state, FM_RECOVERING);
	fm_outline(s.fm, &o);
	assert_true(o.under_way);
	assert_false(o.cut_off);
	for (uint32_t i = 1; i < 4; i++)
		report(i, 0, 0, 0);
	for (uint32_t round = 1; round < 3; round++)
		for (uint32_t i = 1; i < 4; i++)
			report(i, round, 0, 5 * i);
	st = status();
	assert_int_equal(st.state, FM_RUNNING);
	assert_int_equal(st.relayed, 30);
	assert_int_equal(st.last.version, 1);
	assert_int_equal(fm_last(s.fm)->version, 1);
	assert_string_equal(st.last.cause, "bootstrap");
	assert_false(st.last.bounded);
	assert_true(fm_in_force(s.fm, 1));
	fm_outline(s.fm, &o);
	assert_false(o.under_way);
	assert_int_equal(fm_node_parent(s.fm, 0), TORUS_NO_NODE);
	assert_int_equal(fm_node_parent(s.fm, 3), 0);
	assert_int_equal(fm_node_parent(s.fm, 4), TORUS_NO_NODE);
	/* Parked packets of the fabric: those of the last count, not of the root's NIC. */
	{
		struct torus_park park = { .parked = 99 };

		fm_park(s.fm, &park, START + s.now);
		assert_int_equal(status().parked, 0);
	}
	/* A node whose parent is gone has no parent. */
	stage_down(&s, 102);
	assert_int_equal(fm_node_parent(s.fm, 2), TORUS_NO_NODE);
	assert_int_equal(fm_exclude(s.fm, 4, 0, true, START + s.now), -EINVAL);
	assert_int_equal(fm_exclude(s.fm, 3, 2, true, START + s.now), -EINVAL);
	assert_int_equal(fm_exclude(s.fm, 3, -2, true, START + s.now), -EINVAL);
	stage_end(&s);
}

/* A node reports the packets parked in its own NIC, and a shape as soon as it knows one. */
static void node_reports_own_parked_packets(void **state)
{
	struct torus_park park = { .parked = 99 };
	struct fm_msg t;

	(void)state;
	joined();
	assert_int_equal(status().shape.ndims, 0);
	t = stage_table(&s, 3, entry);
	entry[5].guid = 0x777;
	stage_msg(&s, 1, &t);
	assert_false(status().placed);
	assert_int_equal(status().own, TORUS_NO_NODE);
	assert_int_equal(status().shape.ndims, 2);
	assert_int_equal(status().shape.size[1], 4);
	fm_park(s.fm, &park, START);
	assert_int_equal(status().parked, 99);
	/* Outside of the table there is no node, whatever the port. */
	for (uint32_t node = 14; node < 20; node++)
		for (unsigned int p = 0; p < 14; p++)
			assert_null(fm_excluded(s.fm, node, p));
	stage_end(&s);
}

/* --- times ------------------------------------------------------------------------------ */

/* The defaults are those of fabricd.conf(5). */
static void defaults_are_those_of_manual(void **state)
{
	struct fm_config c;

	(void)state;
	memset(&c, 0xff, sizeof(c));
	fm_config_default(&c);
	assert_int_equal(c.fanout, 8);
	assert_int_equal(c.init_interval, 50 * MS);
	assert_int_equal(c.quiet, 500 * MS);
	assert_int_equal(c.resend, 100 * MS);
	assert_int_equal(c.drain_max, 100 * MS);
	assert_int_equal(c.resolve_max, 300 * MS);
	assert_int_equal(c.member_max, 3000 * MS);
	assert_int_equal(c.keepalive, 1000 * MS);
	assert_int_equal(c.flap_limit, 5);
	assert_int_equal(c.flap_half_life, 15000 * MS);
	assert_int_equal(c.hold_max, 60000 * MS);
	assert_int_equal(c.shape.ndims, 0);
	assert_int_equal(c.seed, 1);
	assert_string_equal(c.name, "");
	assert_string_equal(c.fabric, "");
	assert_string_equal(c.address, "");
	assert_null(c.library);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(status_before_place_is_bootstrapping),
		cmocka_unit_test(status_follows_table_from_recovering_to_running),
		cmocka_unit_test(each_fault_makes_state_degraded),
		cmocka_unit_test(excluded_parts_do_not_degrade_state),
		cmocka_unit_test(each_faulty_cable_is_listed_once),
		cmocka_unit_test(asked_node_counts_as_up_without_root),
		cmocka_unit_test(node_that_does_not_lead_knows_itself_alone),
		cmocka_unit_test(more_serious_reason_of_both_ends_counts),
		cmocka_unit_test(places_without_cable_are_not_counted),
		cmocka_unit_test(cached_counts_follow_table),
		cmocka_unit_test(nodes_of_table_are_found_by_name),
		cmocka_unit_test(status_of_root_counts_nodes_links_and_joiners),
		cmocka_unit_test(node_reports_own_parked_packets),
		cmocka_unit_test(defaults_are_those_of_manual),
	};

	return cmocka_run_group_tests_name("fm_status", all, NULL, NULL);
}
