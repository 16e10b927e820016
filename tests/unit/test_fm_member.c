// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node's part in a recovery: how it handles tables and steps, new, old and repeated ones, and
 * what it passes on to its children.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/fm/node/machine.h"
#include "stage_member.h"
#include "tests/unit/memory.h"

/* --- tables ----------------------------------------------------------------------------- */

static void table_is_passed_on_applied_and_reported(void **state)
{
	(void)state;
	joined();
	table(1);
	stage_did(&s, "52 < table 1 term 126 4x1" ALL "53 < table 1 term 126 4x1" ALL
		  "place 4x1 at 1,0\nrows 1: 4\nlost\n");
	reports(52, 2, 1, 0);
	stage_did_nothing(&s);
	reports(53, 3, 1, 0);
	stage_did(&s, "1 < report 1.0 of 3 term 126\n");
	/*
	 * The same table comes again: children that have reported are not asked again, and the sum
	 * is sent again.
	 */
	table(1);
	stage_did(&s, "1 < report 1.0 of 3 term 126\n");
	/* A later table comes. */
	table(2);
	assert_int_equal(stage_count(&s, "table 2 term 126"), 2);
	assert_int_equal(stage_count(&s, "\nrows 2: 0\n"), 1);
	stage_did_no(&s, "place 4x1 at 0,0");
	/* A table that is older, or of another root. */
	table(1);
	stage_did_nothing(&s);
	struct fm_msg m = stage_table(&s, 3, entry);

	m.table.term = TERM + 1;
	stage_msg(&s, 1, &m);
	stage_did_nothing(&s);
	assert_int_equal(fm_version(s.fm), 2);
	stage_end(&s);
}

/* Changes must fit the table that they refer to; otherwise the whole table is requested. */
static void changes_to_unknown_table_fetch_whole_table(void **state)
{
	struct fm_msg m;

	(void)state;
	joined();
	m = stage_table(&s, 2, entry);
	m.table.base = 1;
	stage_msg(&s, 1, &m);
	stage_did(&s, "1 < fetch\n");
	table(1);
	stage_forget(&s);
	m.table.version = 3;
	m.table.base = 2;
	m.table.nentries = 0;
	stage_msg(&s, 1, &m);
	stage_did(&s, "1 < fetch has 1\n");
	m.table.base = 1;
	m.table.shape.size[0] = 5;
	stage_msg(&s, 1, &m);
	stage_did(&s, "1 < fetch has 1\n");
	m.table.shape.size[0] = 4;
	entry[0] = stage_entry(&s, 3);
	entry[0].state = FM_NODE_DEAD;
	m.table.nentries = 1;
	stage_msg(&s, 1, &m);
	assert_int_equal(stage_count(&s, "table 3 after 1 term 126 4x1 [3 'n3' 103/1 dead]\n"), 2);
	assert_int_equal(fm_version(s.fm), 3);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_DEAD);
	assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_UP);
	stage_forget(&s);
	/* A dead child is not waited for. */
	reports(52, 2, 3, 0);
	stage_did(&s, "1 < report 3.0 of 2 term 126\n");
	/* A whole table needs no base. */
	table(7);
	stage_did_some(&s, "table 7 term");
	assert_int_equal(fm_version(s.fm), 7);
	stage_end(&s);
}

/* If the NIC refuses the rows, the step is not done; it is tried again. */
static void table_refused_by_nic_is_not_reported(void **state)
{
	(void)state;
	joined();
	s.err.rows = -EBUSY;
	table(1);
	reports(52, 2, 1, 0);
	reports(53, 3, 1, 0);
	stage_did_no(&s, "report");
	/* The node shows that it is alive. */
	table(1);
	assert_int_equal(stage_count(&s, "rows 1: 4\n"), 1);
	stage_did_some(&s, "1 < pong waits\n");
	/* Later steps cannot be done in this state. */
	step(1, 1, FM_STEP_REPLAY);
	stage_did_no(&s, "replay 1: ");
	/* The table is not put in force in the midst of a later step. */
	s.err.rows = 0;
	step(1, 1, FM_STEP_REPLAY);
	stage_did_no(&s, "rows 1");
	stage_end(&s);
	joined();
	s.err.rows = -EBUSY;
	table(1);
	reports(52, 2, 1, 0);
	reports(53, 3, 1, 0);
	s.err.rows = 0;
	stage_forget(&s);
	step(1, 0, FM_STEP_APPLY);
	stage_did(&s, "rows 1: 4\n1 < pong waits\n"
		  "log info table: over: table 1 cannot be applied: Device or resource busy\n"
		  "lost\n1 < report 1.0 of 3 term 126\n");
	stage_end(&s);
	/* The step is not done if the NIC refused its place. */
	joined();
	s.err.place = -EBUSY;
	table(1);
	reports(52, 2, 1, 0);
	reports(53, 3, 1, 0);
	assert_int_equal(stage_count(&s, "rows"), 0);
	stage_did_no(&s, "report");
	/* When the node has reported that it cannot, the sums of its children go up without it. */
	for (unsigned int i = 0; i < 2 * s.cfg.member_max / s.cfg.keepalive; i++) {
		stage_run_ns(&s, s.now + s.cfg.keepalive);
		stage_send(&s, 1, FM_MSG_PONG);
		stage_send(&s, 52, FM_MSG_PING);
		stage_send(&s, 53, FM_MSG_PING);
	}
	stage_forget(&s);
	step(1, 0, FM_STEP_APPLY);
	assert_int_equal(stage_count(&s, "1 < failed 101/1 version 1 error 16\n"), 1);
	stage_did_some(&s, "1 < report 1.0 of 2 term 126\n");
	stage_end(&s);
}

/* A manager that starts anew writes the rows that differ, though its NIC has that table's version. */
static void restarted_manager_writes_differing_rows(void **state)
{
	(void)state;
	node_1();
	s.dev.placed = true;
	s.dev.shape = s.shape;
	s.dev.coords = (struct torus_coords) { { 1, 0 } };
	s.dev.node = 1;
	s.dev.version = 3;
	joins();
	table(3);
	stage_did_some(&s, "\nrows 3: 4\n");
	stage_end(&s);
}

/*
 * The fabric was larger, and the NIC is at a place that the table does not have any more: the node
 * takes the place that the table gives it.
 */
static void nic_beyond_new_shape_takes_place_of_table(void **state)
{
	struct fm_msg m;

	(void)state;
	memory_guard(true);
	node_1();
	assert_int_equal(torus_shape_parse("5x1", &s.dev.shape), 0);
	s.dev.placed = true;
	s.dev.node = 4;
	s.dev.coords.c[0] = 4;
	joins();
	m = stage_table(&s, 1, entry);
	entry[1].guid = 0x777;
	stage_msg(&s, 1, &m);
	stage_did_no(&s, "rows");
	table(2);
	stage_did_some(&s, "place 4x1 at 1,0\nlog warning bootstrap: this node gets other "
			   "coordinates\nrows 2: 4\n");
	stage_end(&s);
	memory_guard(false);
}

/*
 * Without memory for an index of GUIDs a node is found as well, and one that is not there is not.
 */
static void node_is_found_without_memory_for_index(void **state)
{
	struct fm_status st;
	struct fm_msg m;

	(void)state;
	memory_guard(true);
	for (unsigned int k = 0; k < 2; k++) {
		joined();
		table(1);
		m = stage_table(&s, 2, entry);
		entry[0].guid += 0x777 * k;
		stage_msg(&s, 1, &m);
		/* The table of that index comes again: it is made anew, and cannot be. */
		m.table.version = 3;
		stage_msg(&s, 1, &m);
		memory_fails_at(1);
		fm_status(s.fm, &st);
		assert_int_equal(st.root.node, k ? TORUS_NO_NODE : 0);
		assert_true(memory_failed());
		stage_end(&s);
	}
	memory_guard(false);
}

/* The root starts anew with another number of dimensions: its table counts, not its Init. */
static void table_counts_for_dimensions_and_init_does_not(void **state)
{
	struct fm_msg m;

	(void)state;
	joined();
	assert_int_equal(torus_shape_parse("4", &s.shape), 0);
	m = stage_table(&s, 1, entry);
	s.deaf = "ping log table ";
	stage_msg(&s, 1, &m);
	stage_run(&s, 2);
	stage_did(&s, "place 4 at 1\nrows 1: 4\nlost\n"
		      "init 0: settled 1/4 root 100 30.0.0.0:1\n");
	stage_end(&s);
}

/* A node that is not in the table takes no part, and passes on the reports of others. */
static void node_outside_table_passes_on_reports(void **state)
{
	struct fm_msg m;

	(void)state;
	joined();
	m = stage_table(&s, 1, entry);
	entry[1] = entry[2];
	entry[2] = entry[3];
	m.table.nentries = 3;
	stage_msg(&s, 1, &m);
	reports(52, 2, 1, 0);
	assert_int_equal(stage_count(&s, "place"), 0);
	assert_int_equal(stage_count(&s, "report"), 0);
	reports(53, 3, 1, 0);
	stage_did_some(&s, "1 < report 1.0 of 2 term 126\n");
	assert_int_equal(fm_version(s.fm), 1);
	stage_end(&s);
	/* Without children there is nothing to report. */
	joined();
	stage_down(&s, 52);
	stage_down(&s, 53);
	stage_forget(&s);
	stage_msg(&s, 1, &m);
	stage_did_nothing(&s);
	stage_end(&s);
}

/*
 * The table has another NIC at the place of this node, or another life of its NIC: the node joins
 * anew.
 */
static void node_whose_place_has_another_nic_joins_anew(void **state)
{
	struct fm_msg m;

	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		in_force();
		m = stage_table(&s, 2, entry);
		if (k == 0)
			entry[1].epoch = 2;
		else if (k == 1)
			entry[1].guid = 0x777;
		else if (k == 2)
			entry[1].state = FM_NODE_DEAD;
		else
			entry[1].state = FM_NODE_SILENT;
		stage_msg(&s, 1, &m);
		assert_int_equal(stage_count(&s, "rows"), 0);
		assert_int_equal(stage_count(&s, "lost"), 0);
		/* A live node that the root takes for dead joins anew. */
		assert_int_equal(stage_count(&s, "close 1\n"), k >= 2);
		stage_forget(&s);
		stage_run(&s, 100);
		assert_int_equal(stage_count(&s, "connect 30.0.0.0:1: 2\n"), k >= 2);
		stage_end(&s);
	}
}

/* The table has the node at another place than before: the NIC moves there. */
static void nic_moves_to_place_in_table(void **state)
{
	struct fm_msg m;

	(void)state;
	in_force();
	m = stage_table(&s, 2, entry);
	entry[1].guid = NIC + 3;
	entry[3].guid = NIC + 1;
	stage_msg(&s, 1, &m);
	stage_did_some(&s, "place 4x1 at 3,0\n");
	s.deaf = "";
	stage_link_up(&s, 0, 2);
	stage_run(&s, 10);
	stage_did_some(&s, "init 0: settled 3/4 0/1 ");
	stage_end(&s);
}

/* A node that gets a position, or another number of dimensions, sends new Inits. */
static void new_position_is_sent_by_inits(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	i = stage_neighbour(&s, 2);
	i.received = true;
	for (unsigned int p = 0; p < 3; p += 2)
		stage_receive(&s, p, &i);
	stage_run(&s, 100);
	s.deaf = "";
	stage_forget(&s);
	table(1);
	stage_run(&s, 200);
	stage_did_no(&s, "init");
	stage_end(&s);
	/* Through a wrong cable the node only knew the root. */
	stage_init(&s, "4x1", 1);
	stage_link_up(&s, 0, 1);
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	i.received = true;
	stage_receive(&s, 0, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	stage_run(&s, 100);
	stage_forget(&s);
	table(1);
	stage_run(&s, 200);
	stage_did_some(&s, "init 0: settled 1/4 0/1 root 100 30.0.0.0:1\n");
	stage_end(&s);
}

/* --- steps ------------------------------------------------------------------------------ */

static void steps_are_passed_on_done_and_reported(void **state)
{
	(void)state;
	in_force();
	step(1, 1, FM_STEP_COUNT);
	stage_did(&s, "52 < step 1.1 count term 126\n53 < step 1.1 count term 126\n");
	reports(52, 2, 1, 1);
	reports(53, 3, 1, 1);
	stage_did(&s, "1 < report 1.1 of 3 term 126\n");
	step(1, 2, FM_STEP_REPLAY);
	stage_did(&s, "52 < step 1.2 replay term 126\n53 < step 1.2 replay term 126\n"
		      "replay 1: 0\n");
	/* The step is sent again to children that have not done it. */
	reports(53, 3, 1, 2);
	step(1, 2, FM_STEP_REPLAY);
	stage_did(&s, "52 < step 1.2 replay term 126\n1 < pong waits\n");
	reports(52, 2, 1, 2);
	stage_did(&s, "1 < report 1.2 of 3 term 126\n");
	step(1, 2, FM_STEP_REPLAY);
	stage_did(&s, "1 < report 1.2 of 3 term 126\n");
	/* Older steps are not answered. */
	step(1, 1, FM_STEP_COUNT);
	stage_did_nothing(&s);
	step(1, 5, FM_STEP_RESUME);
	stage_did(&s, "52 < step 1.5 resume term 126\n53 < step 1.5 resume term 126\n"
		      "release 1\nlost\n");
	/* Reports of another step, version or root do not count. */
	reports(52, 2, 1, 4);
	reports(52, 2, 1, 6);
	reports(52, 2, 2, 5);
	reports(52, 2, 0, 5);
	struct fm_msg m = stage_report(&s, 2, 1, 5);

	m.report.term = TERM + 1;
	stage_msg(&s, 52, &m);
	reports(53, 3, 1, 5);
	stage_did_nothing(&s);
	reports(52, 2, 1, 5);
	stage_did(&s, "1 < report 1.5 of 3 term 126\n");
	stage_end(&s);
}

/* A node knows that its table has come into force when a step comes that follows that of the table. */
static void step_reports_that_table_is_in_force(void **state)
{
	(void)state;
	in_force();
	assert_false(s.fm->table.in_force);
	step(1, 0, FM_STEP_APPLY);
	assert_false(s.fm->table.in_force);
	step(2, 1, FM_STEP_COUNT);
	assert_false(s.fm->table.in_force);
	step(1, 2, FM_STEP_COUNT);
	assert_true(s.fm->table.in_force);
	table(2);
	assert_int_equal(s.fm->table.version, 2);
	assert_false(s.fm->table.in_force);
	stage_end(&s);
}

/* Steps of versions that the node does not have, or has no longer, are ignored. */
static void steps_of_other_versions_are_ignored(void **state)
{
	struct fm_msg m = stage_step(1, 3, FM_STEP_COUNT);

	(void)state;
	in_force();
	m.step.term = TERM + 1;
	stage_msg(&s, 1, &m);
	stage_did_nothing(&s);
	step(2, 1, FM_STEP_COUNT);
	stage_did(&s, "1 < fetch has 1\n");
	table(2);
	stage_forget(&s);
	step(1, 9, FM_STEP_COUNT);
	stage_did_nothing(&s);
	/* Before it is accepted, nothing from above is believed. */
	stage_down(&s, 1);
	stage_run(&s, 100);
	stage_up(&s, 2);
	stage_forget(&s);
	m = stage_step(2, 9, FM_STEP_COUNT);
	stage_msg(&s, 2, &m);
	m = stage_table(&s, 5, entry);
	stage_msg(&s, 2, &m);
	stage_did_nothing(&s);
	/* The same numbers under another root are another table. */
	stage_welcome(&s, 2, TERM + 1, "");
	stage_forget(&s);
	m = stage_step(2, 9, FM_STEP_COUNT);
	m.step.term = TERM + 1;
	stage_msg(&s, 2, &m);
	stage_did(&s, "2 < fetch has 2\n");
	m = stage_table(&s, 1, entry);
	m.table.term = TERM + 1;
	stage_msg(&s, 2, &m);
	assert_int_equal(fm_version(s.fm), 1);
	stage_end(&s);
}

/* The NIC refuses an action: that is logged, or the action is tried again. */
static void refused_replay_is_logged_and_release_is_tried(void **state)
{
	(void)state;
	in_force();
	s.err.replay = -EBUSY;
	step(1, 1, FM_STEP_REPLAY);
	stage_did_some(&s,
		       "log error nic: the NIC refuses to replay its parked packets: Device or "
		       "resource busy\n");
	s.err.release = -EBUSY;
	step(1, 2, FM_STEP_RESUME);
	assert_int_equal(stage_count(&s, "release 1\n"), 1);
	stage_end(&s);
}

/* The base, which the root wants all nodes to remember, is in the next HELLO. */
static void base_is_repeated_in_hello(void **state)
{
	struct fm_msg m = stage_step(1, 1, FM_STEP_COUNT);

	(void)state;
	in_force();
	m.step.base = (struct fm_base) { .version = 1, .known = 31, .missing = { 4, 5, 6, 7 },
					 .replay_missing = 8 };
	stage_msg(&s, 1, &m);
	m.step.round = 2;
	m.step.step = FM_STEP_REPLAY;
	stage_msg(&s, 1, &m);
	stage_down(&s, 1);
	stage_run(&s, 100);
	stage_forget(&s);
	stage_up(&s, 2);
	stage_did_no(&s, "base");
	stage_welcome(&s, 2, TERM, "");
	m.step.round = 3;
	m.step.step = FM_STEP_RESUME;
	stage_msg(&s, 2, &m);
	stage_down(&s, 2);
	stage_run(&s, 200);
	stage_forget(&s);
	stage_up(&s, 3);
	stage_did_some(&s, "base 1 known 31 missing 4 missing 5 missing 6 missing 7 "
		"replay_missing 8\n");
	stage_end(&s);
}

/* REPLAY opens the ports that are healthy by the table, and the row shows them as open. */
static void replay_opens_healthy_ports(void **state)
{
	(void)state;
	in_force();
	stage_link_lost(&s, 0, 9);
	stage_link_up(&s, 0, 2);
	stage_did_some(&s, "row 1000005: u102.2,s1/9,closed d u100.0 d\n");
	table(2);
	reports(52, 2, 2, 0);
	reports(53, 3, 2, 0);
	stage_did_some(&s, "report 2.0 of 3 term 126 reopen 1\n");
	s.err.replay = -EBUSY;
	step(2, 1, FM_STEP_REPLAY);
	stage_forget(&s);
	s.link[2].peer_port = 1;
	stage_report_link(&s, 2);
	stage_did_some(&s, ": u102.2,s1/9,closed d u100.1 d\n");
	s.err.replay = 0;
	step(2, 2, FM_STEP_REPLAY);
	stage_did_some(&s, "replay 2: 1\n");
	stage_link_up(&s, 2, 1);
	stage_did_some(&s, ": u102.2 d u100.0 d\n");
	stage_end(&s);
}

/*
 * A step has the ends of sessions that came too late for the table, and those that no node will
 * report.
 */
static void step_brings_ends_that_came_too_late(void **state)
{
	struct fm_msg m = stage_step(2, 1, FM_STEP_COUNT);

	(void)state;
	in_force();
	stage_link_lost(&s, 0, 9);
	table(2);
	stage_forget(&s);
	m.step.nended = 2;
	m.step.ended[0] = (struct fm_ended) { .node = 2, .session = 1, .seq = 44, .port = 2 };
	m.step.ended[1] = (struct fm_ended) { .node = 3, .session = 8, .seq = 45, .port = 11 };
	stage_msg(&s, 1, &m);
	stage_did_some(&s, "52 < step 2.1 count term 126 ended 2.2 s1/44 ended 3.11 s8/45\n");
	assert_int_equal(fm_node(s.fm, 2)->ended, 4);
	assert_int_equal(fm_node(s.fm, 2)->session[2], 1);
	assert_int_equal(fm_node(s.fm, 2)->seq[2], 44);
	assert_int_equal(fm_node(s.fm, 3)->ended, 1 << 11);
	/* Ends at nodes and ports that do not exist are ignored, if they could be sent at all. */
	s.in_one = true;
	m.step.round = 2;
	m.step.ended[0].node = 4;
	m.step.ended[1].port = TORUS_MAX_PORTS;
	stage_msg(&s, 1, &m);
	assert_int_equal(fm_node(s.fm, 3)->ended, 1 << 11);
	stage_end(&s);
}

/* A node that the table does not have waits for nothing; one whose NIC failed at the table does. */
static void only_node_with_failed_nic_waits_for_table(void **state)
{
	struct fm_msg m;

	(void)state;
	joined();
	stage_down(&s, 52);
	stage_down(&s, 53);
	s.slow = true;
	m = stage_table(&s, 1, entry);
	entry[1] = (struct fm_entry) { .node = 1 };
	stage_msg(&s, 1, &m);
	stage_forget(&s);
	stage_msg(&s, 1, &m);
	assert_int_equal(stage_count(&s, "waits"), 0);
	stage_did_some(&s, "1 < pong\n");
	stage_end(&s);
	joined();
	stage_down(&s, 52);
	stage_down(&s, 53);
	s.err.rows = -5;
	table(1);
	step(1, 1, FM_STEP_COUNT);
	stage_forget(&s);
	step(1, 1, FM_STEP_COUNT);
	stage_did(&s, "1 < pong waits\n");
	/* The parent has no way to the root for a moment. */
	stage_msg(&s, 1, &(struct fm_msg) { .type = FM_MSG_PONG, .pong = { .adrift = true } });
	step(1, 1, FM_STEP_COUNT);
	stage_did_some(&s, "1 < pong adrift waits\n");
	stage_end(&s);
}

/* A table that asks for a pause holds all rows, and is passed on as it is. */
static void pause_holds_all_rows_and_is_passed_on(void **state)
{
	struct fm_msg m;

	(void)state;
	in_force();
	step(1, 1, FM_STEP_RESUME);
	reports(52, 2, 1, 1);
	reports(53, 3, 1, 1);
	stage_forget(&s);
	m = stage_table(&s, 2, entry);
	m.table.pause = true;
	stage_msg(&s, 1, &m);
	assert_int_equal(stage_count(&s, "rows 2: 3\n"), 1);
	assert_int_equal(stage_count(&s, " pause"), 2);
	stage_forget(&s);
	/* A child that comes later gets it whole. */
	child(52, 2, 0);
	stage_did_some(&s, "52 < table 2 term 126 4x1 pause" ALL);
	m = stage_table(&s, 3, entry);
	stage_msg(&s, 1, &m);
	stage_did_no(&s, "pause");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(table_is_passed_on_applied_and_reported),
		cmocka_unit_test(changes_to_unknown_table_fetch_whole_table),
		cmocka_unit_test(table_refused_by_nic_is_not_reported),
		cmocka_unit_test(restarted_manager_writes_differing_rows),
		cmocka_unit_test(nic_beyond_new_shape_takes_place_of_table),
		cmocka_unit_test(node_is_found_without_memory_for_index),
		cmocka_unit_test(table_counts_for_dimensions_and_init_does_not),
		cmocka_unit_test(node_outside_table_passes_on_reports),
		cmocka_unit_test(node_whose_place_has_another_nic_joins_anew),
		cmocka_unit_test(nic_moves_to_place_in_table),
		cmocka_unit_test(new_position_is_sent_by_inits),
		cmocka_unit_test(steps_are_passed_on_done_and_reported),
		cmocka_unit_test(step_reports_that_table_is_in_force),
		cmocka_unit_test(steps_of_other_versions_are_ignored),
		cmocka_unit_test(refused_replay_is_logged_and_release_is_tried),
		cmocka_unit_test(base_is_repeated_in_hello),
		cmocka_unit_test(replay_opens_healthy_ports),
		cmocka_unit_test(step_brings_ends_that_came_too_late),
		cmocka_unit_test(only_node_with_failed_nic_waits_for_table),
		cmocka_unit_test(pause_holds_all_rows_and_is_passed_on),
	};

	return cmocka_run_group_tests_name("fm_member", all, NULL, NULL);
}
