// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes that boot long after the shape was discovered, at the root: to which shape it grows by
 * them, that it grows only while the network is empty and no host sends, and what it reports if it
 * cannot. If it grew at a wrong moment packets would be lost or delivered to wrong nodes; a wrong
 * shape could not be repaired.
 */
#include <errno.h>
#include <stdio.h>

#include "memory.h"
#include "stage.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/facts.h"

#define NODES 32

static struct stage s;
static bool there[NODES];
static struct fm_row rows[NODES];
static uint64_t waiting;	/* packets that wait for rows on hold, at node 1 */
static uint64_t parked;		/* packets that are parked at node 1 */
static uint32_t mute;		/* a node that does not report; 0: none */
static unsigned int priority;	/* priority that nodes report of themselves */

/* The row of @i, with the cables to nodes that are not there down. */
static void make_row(uint32_t i)
{
	uint32_t serial = rows[i].serial + 1;

	rows[i] = stage_row(&s, i);
	rows[i].serial = serial;
	for (unsigned int p = 0; p < rows[i].nports; p++)
		if (rows[i].port[p].state == FM_PORT_UP &&
		    !there[torus_neighbour(&s.shape, i, p)])
			rows[i].port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
}

static void report_row(uint32_t i)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { .guid = NIC + i, .epoch = 1, .row = rows[i] };
	stage_msg(&s, 100 + (int)i, &m);
}

static void joins(uint32_t i)
{
	struct fm_msg m = stage_hello(&s, i);

	m.hello.row = rows[i];
	m.hello.priority = priority;
	stage_up(&s, 100 + (int)i);
	stage_msg(&s, 100 + (int)i, &m);
}

/* Node @i boots, and its neighbours report their links to it. */
static void arrives(uint32_t i)
{
	there[i] = true;
	make_row(i);
	for (unsigned int p = 0; p < rows[i].nports; p++) {
		uint32_t o = torus_neighbour(&s.shape, i, p);

		if (!there[o] || o == i)
			continue;
		make_row(o);
		if (o)
			report_row(o);
		else
			stage_link_up(&s, torus_dir_opposite(&s.shape, p), 1);
	}
	joins(i);
}

/* A node with a place reports. */
static void reports(uint32_t i, uint32_t round)
{
	struct fm_msg m = stage_report(&s, i, fm_version(s.fm), round);

	if (fm_table_find(s.fm, NIC + i) == TORUS_NO_NODE)
		return;
	if (i == 1) {
		m.report.sums.held = waiting;
		m.report.sums.parked = parked;
	}
	stage_msg(&s, 100 + (int)i, &m);
}

/* Lets time pass; the nodes that are there report. */
static void lives(uint64_t ms)
{
	for (uint64_t until = s.now + ms * MS; s.now < until;) {
		stage_run_ns(&s, s.now + 2 * MS);
		for (uint32_t i = 1; i < torus_nodes(&s.shape); i++)
			if (there[i] && i != mute)
				stage_send(&s, 100 + (int)i, FM_MSG_PING);
		for (unsigned int k = 0; k < 3; k++)
			for (uint32_t i = 1; i < torus_nodes(&s.shape); i++)
				if (there[i] && i != mute)
					reports(i, fm_member_round(s.fm));
	}
}

/* The root of a fabric that will be @shape, when only nodes whose coordinates are in @first booted. */
static void fabric(const char *shape, const char *first)
{
	struct torus_shape part;
	struct torus_coords at;

	stage_init(&s, shape, 0);
	memset(&s.cfg.shape, 0, sizeof(s.cfg.shape));
	s.deaf = "init ping pong report lost rows release welcome close step ";
	s.cfg.flap_limit = 0;
	memset(there, 0, sizeof(there));
	memset(rows, 0, sizeof(rows));
	waiting = parked = mute = 0;
	there[0] = true;
	assert_int_equal(torus_shape_parse(first, &part), 0);
	stage_start(&s);
	for (uint32_t i = 1; i < torus_nodes(&s.shape); i++) {
		bool in = true;

		torus_node_coords(&s.shape, i, &at);
		for (unsigned int d = 0; d < part.ndims; d++)
			in &= at.c[d] < part.size[d];
		if (in)
			arrives(i);
	}
	lives(1200);
	stage_forget(&s);
}

static const char *shape(void)
{
	static char text[TORUS_TEXT_MAX];

	return torus_shape_text(fm_shape(s.fm), text);
}

static bool is_reported(const char *part)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (!strcmp(p->kind, "place") && strstr(p->text, part))
			return true;
	return false;
}

/* Checks that each node that is there, and no other, has its place in the table. */
static void all_placed(void)
{
	for (uint32_t i = 0; i < torus_nodes(&s.shape); i++) {
		struct torus_coords at;
		const struct fm_entry *e;

		torus_node_coords(&s.shape, i, &at);
		if (!there[i])
			continue;
		e = fm_node(s.fm, torus_node_id(fm_shape(s.fm), &at));
		assert_non_null(e);
		assert_int_equal(e->guid, NIC + i);
		assert_int_equal(e->state, FM_NODE_UP);
	}
	assert_int_equal(s.fm->root->unplaced, 0);
}

/* --- how ------------------------------------------------------------------------------- */

/*
 * A table of the old shape with all rows on hold is followed at once by a whole table of the new
 * shape.
 */
static void shape_grows_by_held_table_and_then_whole_one(void **state)
{
	uint64_t version;

	(void)state;
	fabric("3x2", "2x2");
	assert_string_equal(shape(), "2x2");
	s.deaf = "init ping pong report lost rows release welcome close log ";
	arrives(2);
	arrives(5);
	lives(400);
	assert_string_equal(shape(), "2x2");
	assert_false(is_reported(""));
	assert_int_equal(s.fm->table.open, 1);
	version = fm_version(s.fm);
	stage_forget(&s);
	lives(300);
	assert_int_equal(fm_version(s.fm), version + 2);
	assert_string_equal(shape(), "3x2");
	all_placed();
	/* Both tables go to each of the five nodes, and all present nodes are in the second. */
	assert_int_equal(stage_count(&s, " pause"), 5);
	assert_int_equal(stage_count(&s, " 3x2 "), 6);
	assert_int_equal(stage_count(&s, "[5 'n5' 105/1]"), 5);
	assert_int_equal(stage_count(&s, "place 3x2 at 0,0\n"), 1);
	/* The lines along x are closed now. */
	assert_int_equal(s.fm->table.open, 0);
	/* No other table follows. */
	lives(5000);
	assert_int_equal(fm_version(s.fm), version + 2);
	stage_end(&s);
}

static void ready(uint32_t node)
{
	struct fm_msg m = { .type = FM_MSG_LEAD };

	m.lead.term = fm_epoch(s.fm);
	m.lead.guid = NIC + node;
	stage_msg(&s, 100 + (int)node, &m);
}

/*
 * The root has to hand over, and the shape grows before it does: ids change, but the named node
 * stays the same.
 */
static void order_to_move_root_survives_growth(void **state)
{
	unsigned int ordered = 0;

	(void)state;
	priority = FM_PRIORITY_AUTO;
	fabric("3x2", "2x2");
	priority = 0;
	arrives(2);
	arrives(5);
	for (unsigned int i = 0; strcmp(shape(), "3x2"); i++) {
		assert_true(i < 2000);
		/* names node n4, which is at 1,1 */
		ordered += !fm_root_move(s.fm, 3, START + s.now);
		lives(1);
	}
	s.deaf = "init ping pong report lost rows release welcome close log ";
	stage_forget(&s);
	lives(300);
	assert_true(ordered > 0);
	assert_int_equal(fm_node(s.fm, 4)->guid, NIC + 4);
	assert_true(stage_count(&s, "104 < lead\n") > 0);
	ready(3);
	assert_true(fm_is_root(s.fm));
	ready(4);
	assert_false(fm_is_root(s.fm));
	stage_end(&s);
}

/* Exclusions of the administrator stay, by coordinates and not by ids. */
static void exclusions_stay_at_coordinates_after_growth(void **state)
{
	(void)state;
	fabric("3x2", "2x2");
	assert_int_equal(fm_exclude(s.fm, 3, 1, true, START + s.now), 0);
	lives(50);
	assert_string_equal(fm_excluded(s.fm, 3, 1), "admin");
	arrives(2);
	arrives(5);
	lives(1200);
	assert_string_equal(shape(), "3x2");
	/* 1,1 has another id. */
	assert_string_equal(fm_excluded(s.fm, 4, 1), "admin");
	assert_null(fm_excluded(s.fm, 3, 1));
	stage_end(&s);
}

/* --- when ------------------------------------------------------------------------------ */

/*
 * The shape is not changed while packets wait or are parked: the attempt is given up, holds are
 * released, and it is tried again later.
 */
static void shape_does_not_grow_while_packets_wait(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		fabric("4x1", "2x1");
		s.deaf = "init ping pong report lost rows welcome close log ";
		waiting = !k;
		parked = k;
		arrives(2);
		stage_forget(&s);
		lives(700);
		/* Parked packets keep recoveries busy: there is not even an attempt. */
		assert_int_equal(stage_count(&s, " pause"), k ? 0 : 2);
		assert_true(k || stage_count(&s, "release") == 2);
		assert_false(is_reported("stop the traffic"));
		lives(10000);
		assert_string_equal(shape(), "2x1");
		assert_true(is_reported("the shape can grow by it, but not while packets are sent "
					"or parked"));
		stage_forget(&s);
		waiting = parked = 0;
		lives(31000);
		assert_int_equal(stage_count(&s, " pause"), 2);
		assert_string_equal(shape(), "3x1");
		assert_false(is_reported(""));
		all_placed();
		stage_end(&s);
	}
}

/* Another change comes in the pause: it goes first, and then the growth is tried again. */
static void other_change_goes_before_growth(void **state)
{
	(void)state;
	fabric("4x1", "2x1");
	arrives(2);
	lives(400);
	s.deaf = "init ping pong report lost rows release welcome close log ";
	stage_forget(&s);
	mute = 1;
	lives(150);
	assert_int_equal(stage_count(&s, " pause"), 2);
	arrives(3);
	mute = 0;
	lives(100);
	assert_string_equal(shape(), "2x1");
	lives(700);
	assert_string_equal(shape(), "4x1");
	/* The first of the next tables also went to the node that joined then. */
	assert_int_equal(stage_count(&s, " pause"), 2 + 1 + 3);
	all_placed();
	stage_end(&s);
}

/* A silent node's NIC cannot be given another shape. */
static void silent_node_prevents_growth(void **state)
{
	(void)state;
	fabric("3x2", "2x2");
	stage_down(&s, 101);
	lives(4000);
	assert_int_equal(fm_node(s.fm, 1)->state, FM_NODE_SILENT);
	arrives(2);
	arrives(5);
	lives(3000);
	assert_string_equal(shape(), "2x2");
	assert_true(is_reported("or a node is silent"));
	joins(1);
	lives(1500);
	assert_string_equal(shape(), "3x2");
	all_placed();
	stage_end(&s);
}

/*
 * A manager is lost when the new shape is sent: its NIC has the former shape, so nothing may be
 * sent through it until it is back.
 */
static void nic_left_with_old_shape_is_excluded(void **state)
{
	struct fm_msg m;

	(void)state;
	fabric("3x2", "2x2");
	arrives(2);
	arrives(5);
	for (unsigned int k = 0; strcmp(shape(), "3x2") && k < 3000; k++) {
		stage_run_ns(&s, s.now + MS);
		for (uint32_t i = 1; i < 6 && strcmp(shape(), "3x2"); i++)
			reports(i, fm_member_round(s.fm));
	}
	/* The table is out; node 1 has not reported it. */
	assert_string_equal(shape(), "3x2");
	mute = 1;
	stage_down(&s, 101);
	s.deaf = "init ping pong report lost rows welcome close log table ";
	stage_forget(&s);
	lives(2000);
	assert_int_equal(stage_count(&s, "release"), 0);
	lives(2000);
	assert_int_equal(fm_node(s.fm, 1)->state, FM_NODE_SILENT);
	assert_int_equal(fm_exclusions(s.fm)[1], 15);
	assert_true(stage_count(&s, "release") > 0);
	/* The node is back, and has not taken the new shape yet: that is for the next table. */
	m = stage_hello(&s, 1);
	m.hello.row = rows[1];
	m.hello.row.serial++;
	m.hello.placed = true;
	assert_int_equal(torus_shape_parse("2x2", &m.hello.shape), 0);
	m.hello.coords.c[0] = 1;
	mute = 0;
	stage_up(&s, 101);
	stage_msg(&s, 101, &m);
	lives(100);
	assert_int_equal(fm_exclusions(s.fm)[1], 0);
	all_placed();
	stage_end(&s);
}

/* A NIC that has taken the new shape forwards by it, also if its manager hangs later. */
static void node_silent_after_growth_is_not_excluded(void **state)
{
	(void)state;
	fabric("3x2", "2x2");
	arrives(2);
	arrives(5);
	lives(3000);
	assert_string_equal(shape(), "3x2");
	stage_down(&s, 101);
	mute = 1;
	lives(4000);
	assert_int_equal(fm_node(s.fm, 1)->state, FM_NODE_SILENT);
	assert_int_equal(fm_exclusions(s.fm)[1], 0);
	stage_end(&s);
}

/*
 * A NIC fails between the proof that the network is empty and the table: the shape stays. It grows
 * only after another pause, because packets are sent meanwhile.
 */
static void nic_failing_before_table_keeps_old_shape(void **state)
{
	struct fm_msg m = { .type = FM_MSG_FAILED };

	(void)state;
	fabric("3x2", "2x2");
	arrives(2);
	arrives(5);
	s.deaf = "init ping pong report lost rows welcome close log release ";
	for (unsigned int k = 0; fm_grow_step(s.fm->root) != FM_GROW_GO; k++) {
		assert_true(k < 3000);
		stage_run_ns(&s, s.now + MS);
		for (uint32_t i = 1; i < 6 && fm_grow_step(s.fm->root) != FM_GROW_GO; i++)
			reports(i, fm_member_round(s.fm));
	}
	assert_string_equal(shape(), "2x2");
	m.failed.guid = NIC + 1;
	m.failed.epoch = 1;
	m.failed.version = fm_version(s.fm);
	m.failed.err = EIO;
	stage_msg(&s, 101, &m);
	lives(100);
	assert_string_equal(shape(), "2x2");
	stage_down(&s, 101);
	joins(1);
	lives(100);
	assert_int_equal(fm_node(s.fm, 1)->state, FM_NODE_UP);
	assert_string_equal(shape(), "2x2");
	stage_forget(&s);
	lives(3000);
	assert_true(stage_count(&s, " pause") > 0);
	assert_string_equal(shape(), "3x2");
	stage_end(&s);
}

/* Exclusions of all nodes are taken over, and nothing after the last is read. */
static void exclusions_of_all_nodes_survive_growth(void **state)
{
	(void)state;
	memory_guard(true);
	fabric("3x4", "2x4");
	assert_int_equal(fm_exclude(s.fm, 7, 1, true, START + s.now), 0);
	for (uint32_t i = 2; i < 12; i += 3)
		arrives(i);
	lives(1500);
	assert_string_equal(shape(), "3x4");
	assert_string_equal(fm_excluded(s.fm, 10, 1), "admin");
	stage_end(&s);
	memory_guard(false);
}

/* --- to which shape ------------------------------------------------------------------------ */

/*
 * Nodes join after a part of the fabric has settled. A table of which nodes come, and of the shape
 * that the fabric has then.
 */
static void joining_nodes_give_expected_shape(void **state)
{
	static const struct {
		const char *whole, *first;
		uint32_t come[9];	/* ids of the nodes that come; 0 ends the list */
		const char *is;
	} t[] = {
		{ "4x1", "2x1", { 2 }, "3x1" },
		{ "4x1", "2x1", { 2, 3 }, "4x1" },
		/* Before 0: it could be at the end of any size. */
		{ "4x1", "2x1", { 3 }, "2x1" },
		{ "5x1", "2x1", { 4, 2 }, "3x1" },
		/* The shape grows by another dimension. */
		{ "3x3", "3x1", { 3 }, "3x2" },
		{ "3x3", "3x1", { 6 }, "3x1" },
		{ "3x2", "3x1", { 3 }, "3x2" },
		{ "3x3", "3x1", { 3, 4, 5, 6, 7, 8 }, "3x3" },
		/*
		 * The shape grows by both dimensions, and by a node to which only the corner node
		 * leads.
		 */
		{ "4x4", "2x2", { 2, 6, 8, 9, 10 }, "3x3" },
		{ "4x3x2", "2x2x1", { 2, 6, 8, 12 }, "3x3x2" },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		fabric(t[k].whole, t[k].first);
		assert_string_equal(shape(), t[k].first);
		for (unsigned int i = 0; t[k].come[i]; i++)
			arrives(t[k].come[i]);
		lives(4000);
		if (strcmp(shape(), t[k].is))
			fail_msg("%u: %s", k, shape());
		if (strcmp(t[k].first, t[k].is) && k != 3)
			all_placed();
		else
			assert_true(is_reported("cannot grow by it: set the whole shape"));
		stage_end(&s);
	}
}

/* A cable of a new node contradicts the others: nothing grows, and that is reported. */
static void contradicting_cable_prevents_growth_and_is_reported(void **state)
{
	(void)state;
	fabric("4x2", "2x2");
	arrives(2);
	there[6] = true;
	make_row(6);
	rows[6].port[1] = rows[6].port[3] = (struct fm_port_row) {
		.state = FM_PORT_UP, .peer_guid = NIC, .peer_port = 3,
	};
	rows[6].port[3].peer_port = 1;
	make_row(5);
	report_row(5);
	joins(6);
	lives(3000);
	assert_string_equal(shape(), "2x2");
	assert_true(is_reported("cannot grow by it"));
	/* The cable is put right. */
	make_row(6);
	report_row(6);
	make_row(2);
	report_row(2);
	lives(3000);
	assert_string_equal(shape(), "3x2");
	all_placed();
	stage_end(&s);
}

/* A dimension whose ends are joined does not grow. */
static void closed_dimension_does_not_grow(void **state)
{
	struct fm_msg m;

	(void)state;
	fabric("3x3", "3x3");
	assert_string_equal(shape(), "3x3");
	m = stage_hello(&s, 8);
	m.hello.guid = 0x999;
	strcpy(m.hello.name, "late");
	stage_up(&s, 300);
	stage_msg(&s, 300, &m);
	rows[5].port[0].peer_guid = 0x999;
	rows[5].serial++;
	report_row(5);
	lives(3000);
	assert_string_equal(shape(), "3x3");
	assert_true(is_reported("cannot grow by it"));
	stage_end(&s);
}

/* IPv4 addresses are coordinates of three dimensions, or node ids: these must not change. */
static void growth_that_changes_addresses_is_refused(void **state)
{
	(void)state;
	fabric("3x2x1x2", "2x2x1x2");
	arrives(2);
	arrives(5);
	arrives(8);
	arrives(11);
	lives(3000);
	assert_string_equal(shape(), "2x2x1x2");
	assert_true(is_reported("cannot grow by it"));
	stage_end(&s);
	/* Ids stay if the shape grows in its last dimension. */
	fabric("2x2x1x3", "2x2x1x2");
	for (uint32_t i = 8; i < 12; i++)
		arrives(i);
	lives(3000);
	assert_string_equal(shape(), "2x2x1x3");
	all_placed();
	stage_end(&s);
}

/* A shape that was configured stays. */
static void configured_shape_does_not_grow(void **state)
{
	struct torus_shape two;

	(void)state;
	fabric("3x2", "2x2");
	stage_end(&s);
	assert_int_equal(torus_shape_parse("2x2", &two), 0);
	s.cfg.shape = two;
	stage_start(&s);
	for (uint32_t i = 1; i < 6; i++) {
		there[i] = true;
		make_row(i);
		joins(i);
	}
	lives(3000);
	assert_string_equal(shape(), "2x2");
	assert_true(is_reported("no free coordinates fit its cables"));
	assert_false(is_reported("grow"));
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(shape_grows_by_held_table_and_then_whole_one),
		cmocka_unit_test(order_to_move_root_survives_growth),
		cmocka_unit_test(exclusions_stay_at_coordinates_after_growth),
		cmocka_unit_test(shape_does_not_grow_while_packets_wait),
		cmocka_unit_test(other_change_goes_before_growth),
		cmocka_unit_test(silent_node_prevents_growth),
		cmocka_unit_test(nic_left_with_old_shape_is_excluded),
		cmocka_unit_test(joining_nodes_give_expected_shape),
		cmocka_unit_test(contradicting_cable_prevents_growth_and_is_reported),
		cmocka_unit_test(closed_dimension_does_not_grow),
		cmocka_unit_test(growth_that_changes_addresses_is_refused),
		cmocka_unit_test(configured_shape_does_not_grow),
		cmocka_unit_test(node_silent_after_growth_is_not_excluded),
		cmocka_unit_test(nic_failing_before_table_keeps_old_shape),
		cmocka_unit_test(exclusions_of_all_nodes_survive_growth),
	};

	return cmocka_run_group_tests_name("fm_grow", all, NULL, NULL);
}
