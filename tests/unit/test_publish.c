// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a root makes a table, of which version, and its contents. A version has the colour of the
 * fourth before it: if packets of that were in the network, no sum would prove anything.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/one_fm.h"

#define SIZE 4

static struct one_fm o;

/* --- when ------------------------------------------------------------------------------ */

/*
 * The losses of both ends of a cable are in one table: it waits for the second end, and not much
 * longer.
 */
static void table_waits_for_loss_at_second_end(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, SIZE, 8);
	one_lose(&o, 1, 0, 9, 5);
	began = o.now;
	one_run(&o, 2 * MS);
	assert_int_equal(fm_version(o.fm), 1);
	one_lose(&o, 2, 1, 9, 3);
	/* Other cables may have failed at the same instant. */
	one_run(&o, MS / 5);
	assert_int_equal(fm_version(o.fm), 1);
	assert_int_equal(one_asked(&o, MS / 2), FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 2);
	assert_true(o.in_table[1] && o.in_table[2]);
	assert_false(o.in_table[0] || o.in_table[3]);
	/* The table is named after the first report. */
	one_finish(&o);
	assert_int_equal(fm_last(o.fm)->at[FM_AT_DETECTED], began);
	assert_string_equal(fm_last(o.fm)->cause, "link 1:+x down");
	assert_int_equal(fm_version(o.fm), 2);
	/* The second end may never report. */
	one_lose(&o, 3, 0, 8, 5);
	assert_int_equal(one_asked(&o, 10 * MS), FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 3);
	one_end(&o);
}

/* A version may begin before the last one has ended, unless its colour is in the network. */
static void version_waits_until_its_colour_is_drained(void **state)
{
	(void)state;
	one_root(&o, SIZE, 8);
	one_sends(&o, 1, 1, 1);
	for (uint64_t version = 2; version <= 4; version++)
		one_version(&o, version);
	assert_int_equal(fm_exclude(o.fm, 0, -1, false, o.now), 0);
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
		assert_int_equal(fm_version(o.fm), 4);
		one_answer(&o);
	}
	one_gets(&o, 1, 1, 1);
	one_until(&o, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 5);
	/* Version 5 finds all other colours drained, so three more versions may begin. */
	one_answer(&o);
	one_sends(&o, 1, 1, 1);
	for (uint64_t version = 6; version <= 8; version++)
		one_version(&o, version);
	assert_int_equal(fm_exclude(o.fm, 0, -1, false, o.now), 0);
	assert_int_equal(fm_version(o.fm), 8);
	one_end(&o);
}

/* --- after a restart ------------------------------------------------------------------- */

static uint64_t version_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t version[SIZE] = { a, b, c, d }, first;

	one_root_anew(&o, SIZE, version);
	first = fm_version(o.fm);
	one_end(&o);
	return first;
}

/* The first version is higher than that of any node, and of a colour that no node's rows have. */
static void first_version_is_above_all_and_of_unused_colour(void **state)
{
	(void)state;
	assert_int_equal(version_of(5, 5, 5, 5), 6);
	assert_int_equal(version_of(5, 6, 5, 5), 7);
	assert_int_equal(version_of(6, 5, 5, 5), 7);
	assert_int_equal(version_of(6, 3, 6, 6), 8);
	assert_int_equal(version_of(3, 6, 6, 6), 8);
	assert_int_equal(version_of(6, 3, 4, 6), 9);
	/* all colours are in use: each is as good */
	assert_int_equal(version_of(6, 3, 4, 5), 7);
	/* A node without rows stamps no packets, and may have had those of later tables. */
	assert_int_equal(version_of(7, 7, 0, 7), 8 + TORUS_COLOURS);
	assert_int_equal(version_of(5, 5, 6, 4), 7);
}

/* After a restart nothing is known of the other colours until the network has drained. */
static void colours_are_unknown_until_drained_after_restart(void **state)
{
	(void)state;
	for (uint64_t v = 5; v < 9; v++) {
		const uint64_t version[SIZE] = { v, v, v, v };

		one_root_anew(&o, SIZE, version);
		one_sends(&o, 1, v % TORUS_COLOURS, 1);
		one_answer(&o);
		assert_int_equal(fm_exclude(o.fm, 0, -1, false, o.now), 0);
		assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
		assert_int_equal(fm_version(o.fm), v + 1);
		one_gets(&o, 1, v % TORUS_COLOURS, 1);
		one_until(&o, FM_STEP_APPLY);
		assert_int_equal(fm_version(o.fm), v + 2);
		one_end(&o);
	}
}

/* In a new fabric no colour was ever used. */
static void new_fabric_has_all_colours_clean(void **state)
{
	static const uint64_t none[SIZE] = { 0, 0, 0, 0 };

	(void)state;
	one_root_anew(&o, SIZE, none);
	assert_int_equal(fm_version(o.fm), 1);
	for (uint64_t version = 2; version <= 4; version++)
		one_version(&o, version);
	one_end(&o);
}

/* Return: the version in force after a node has joined with @rows of a root no other node knows. */
static uint64_t version_beside(uint64_t rows)
{
	uint64_t version;

	one_root(&o, SIZE, 8);
	one_gone(&o, 3);
	o.node[3].asked = (struct fm_step) { .version = 0 };
	o.node[3].rows = rows;
	one_join(&o, 3);
	one_finish(&o);
	version = fm_version(o.fm);
	one_version(&o, version + 1);
	one_end(&o);
	return version;
}

/*
 * Rows of another root must not be newer than the table. The number after theirs is left out if it
 * has the colour of the table in force, which is version 1: that colour is not clean, and would not
 * become so.
 */
static void version_is_above_rows_of_another_root(void **state)
{
	(void)state;
	assert_int_equal(version_beside(9), 10);
	assert_int_equal(version_beside(10), 11);
	assert_int_equal(version_beside(11), 12);
	assert_int_equal(version_beside(12), 14);
	assert_int_equal(version_beside(13), 14);
}

/* --- what is in it ---------------------------------------------------------------------- */

static void entry_has_state_faults_and_ends_of_node(void **state)
{
	const struct fm_entry *e = &o.entry[2];

	(void)state;
	one_root(&o, SIZE, 8);
	for (uint32_t i = 0; i < SIZE; i++) {
		assert_true(o.in_table[i]);
		assert_int_equal(o.entry[i].state, FM_NODE_UP);
		assert_int_equal(o.entry[i].guid, o.node[i].guid);
		assert_int_equal(o.entry[i].epoch, o.node[i].epoch);
		assert_int_equal(o.entry[i].fault, 0);
		assert_int_equal(o.entry[i].ended, 0);
	}
	assert_string_equal(e->name, "n2");
	assert_string_equal(e->address, "2:1");
	/* A port that was never up has no session to report. */
	o.node[2].row.port[0] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	one_lose(&o, 2, 1, 9, 3);
	one_finish(&o);
	assert_int_equal(e->fault, 3);
	assert_int_equal(e->ended, 2);
	assert_int_equal(e->session[1], 9);
	assert_int_equal(e->seq[1], 3);
	assert_int_equal(e->serial, o.node[2].row.serial);
	/* A port that is up again is in the table until it is opened. */
	one_mend(&o, 2, 1, 10);
	one_finish(&o);
	assert_int_equal(e->fault, 1);
	assert_int_equal(e->ended, 2);
	one_end(&o);
}

/*
 * A table has only entries that differ from the present one, by node id, whichever node reported
 * first.
 */
static void table_has_only_changed_entries_by_node_id(void **state)
{
	(void)state;
	one_root(&o, 6, 8);
	for (uint32_t i = 5; i > 1; i--)
		one_lose(&o, i, 0, 9, 5);
	assert_int_equal(one_asked(&o, 10 * MS), FM_STEP_APPLY);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(o.in_table[i], i > 1);
	one_finish(&o);
	for (unsigned int again = 0; again < 2; again++) {
		assert_int_equal(fm_exclude(o.fm, 2, 1, true, o.now), 0);
		for (uint32_t i = 0; i < 6; i++)
			assert_int_equal(o.in_table[i], i == 2 && !again);
		one_finish(&o);
	}
	one_end(&o);
}

/* A node whose cables fit no place is reported as long as it is there. */
static void node_without_place_is_reported_while_there(void **state)
{
	struct one_node *n = &o.node[SIZE];
	uint64_t version;

	(void)state;
	one_root(&o, SIZE, 8);
	o.nodes = SIZE + 1;
	n->guid = 200;
	n->epoch = 7;
	n->row.nports = ONE_PORTS;
	n->mute = true;
	one_join(&o, SIZE);
	one_finish(&o);
	assert_true(one_problem(&o, "place", "'n4'"));
	for (uint32_t i = 0; i < SIZE; i++)
		assert_false(one_problem(&o, "place", o.entry[i].name));
	/* No version is published because of it: none would place it. */
	version = fm_version(o.fm);
	assert_int_equal(one_asked(&o, 10 * ONE_MEMBER_MAX), ONE_NOTHING);
	assert_int_equal(fm_version(o.fm), version);
	one_gone(&o, SIZE);
	one_finish(&o);
	assert_false(one_problem(&o, "place", ""));
	o.nodes = SIZE;
	one_end(&o);
}

static void excluded_ports_are_in_table_and_wrong_ones_refused(void **state)
{
	(void)state;
	one_root(&o, SIZE, 8);
	assert_int_equal(fm_exclude(o.fm, SIZE, 0, true, o.now), -EINVAL);
	assert_int_equal(fm_exclude(o.fm, 1, ONE_PORTS, true, o.now), -EINVAL);
	assert_int_equal(fm_exclude(o.fm, 1, -2, true, o.now), -EINVAL);
	assert_int_equal(fm_version(o.fm), 1);
	assert_int_equal(fm_exclude(o.fm, 1, ONE_PORTS - 1, true, o.now), 0);
	one_finish(&o);
	assert_int_equal(o.entry[1].admin, 2);
	assert_int_equal(fm_exclusions(o.fm)[1], 2);
	assert_int_equal(fm_exclusions(o.fm)[0], 1);	/* the other end of the cable */
	assert_string_equal(fm_last(o.fm)->cause, "excluded 0:+x");
	assert_int_equal(fm_exclude(o.fm, SIZE - 1, -1, true, o.now), 0);
	one_finish(&o);
	assert_int_equal(o.entry[SIZE - 1].admin, 3);
	assert_string_equal(fm_last(o.fm)->cause, "excluded node 3");
	assert_int_equal(fm_exclude(o.fm, SIZE - 1, 0, false, o.now), 0);
	one_finish(&o);
	assert_int_equal(o.entry[SIZE - 1].admin, 2);
	assert_string_equal(fm_last(o.fm)->cause, "included 3:+x");
	assert_int_equal(fm_version(o.fm), 4);
	one_end(&o);
	/* Only the root may exclude, and only if there is a table. */
	one_member(&o, SIZE, 1);
	assert_int_equal(fm_exclude(o.fm, 1, 0, true, o.now), -EPERM);
	one_end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_waits_for_loss_at_second_end),
		cmocka_unit_test(version_waits_until_its_colour_is_drained),
		cmocka_unit_test(first_version_is_above_all_and_of_unused_colour),
		cmocka_unit_test(colours_are_unknown_until_drained_after_restart),
		cmocka_unit_test(new_fabric_has_all_colours_clean),
		cmocka_unit_test(version_is_above_rows_of_another_root),
		cmocka_unit_test(entry_has_state_faults_and_ends_of_node),
		cmocka_unit_test(table_has_only_changed_entries_by_node_id),
		cmocka_unit_test(node_without_place_is_reported_while_there),
		cmocka_unit_test(excluded_ports_are_in_table_and_wrong_ones_refused),
	};

	return cmocka_run_group_tests_name("publish", tests, NULL, NULL);
}
