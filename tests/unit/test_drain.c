// SPDX-License-Identifier: GPL-2.0-only
/*
 * A root in a recovery, whose nodes report what the test wants: when the network counts as drained,
 * when that is proven, and how long the root waits for missing reports.
 *
 * If the recovery goes on while older packets are under way, flows lose their order: parked or held
 * packets are sent and overtake them. If their colour is used again, the next proof is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/one_fm.h"

static struct one_fm o;

/* All nodes report what they are asked for. Return: the next step. */
static unsigned int next_step(void)
{
	one_answer(&o);
	return one_asked(&o, ONE_SOON);
}

/* Checks that step @step comes after @counts more counts. */
static void comes_after(unsigned int counts, unsigned int step)
{
	while (counts--) {
		assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
		one_answer(&o);
	}
	assert_int_equal(one_asked(&o, ONE_SOON), step);
}

/* --- proof ------------------------------------------------------------------------ */

/*
 * Nodes 3 and 4 are below 1. When 3 moves below 2, both may include it in their sums, while 4 is in
 * none: the number of nodes is right, but the packets of 4 are still under way.
 */
static void each_nic_counts_once(void **state)
{
	(void)state;
	one_root(&o, 5, 2);
	for (uint32_t i = 3; i < 5; i++) {
		assert_string_equal(o.node[i].parent, "1:1");
		one_gone(&o, i);
		one_adopt(&o, i, 1);
	}
	o.node[1].below = (struct fm_report) { .count = 1, .set = one_fingerprint(&o, 3) };
	o.node[2].below = o.node[1].below;
	one_version(&o, 2);
	assert_int_equal(one_asked(&o, 5 * ONE_SOON), ONE_NOTHING);
	o.node[1].below.set = one_fingerprint(&o, 4);
	o.node[1].below.sums.flow[TORUS_FC_INJECTED][1] = 7;
	one_report(&o, 1);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
	assert_int_equal(next_step(), FM_STEP_COUNT);
	one_gets(&o, 2, 1, 7);
	assert_int_equal(next_step(), FM_STEP_RESUME);
	one_finish(&o);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/*
 * A packet is on its way. READY is followed by a count at once; the next comes after a moment, and
 * at once when each NIC was empty.
 */
static void count_follows_at_once_when_all_nodes_are_ready(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 1);
	one_version(&o, 2);
	began = o.now;
	assert_int_equal(one_asked(&o, 1), FM_STEP_COUNT);
	assert_true(o.now == began);
	one_answer(&o);
	assert_int_equal(one_asked(&o, MS / 8), ONE_NOTHING);
	assert_int_equal(one_asked(&o, MS / 2), FM_STEP_COUNT);
	one_gets(&o, 1, 1, 1);
	one_answer(&o);
	assert_int_equal(one_asked(&o, 0), FM_STEP_RESUME);
	one_end(&o);
}

/*
 * Node 3 dies between two counts. As many packets had left all NICs at the first count as had
 * entered the others at the second, and 3 packets are in the NIC of node 1. Their colour, that of
 * version 1, is the next: it must not be used until they are gone.
 */
static void counts_of_different_nics_prove_no_drain(void **state)
{
	(void)state;
	one_root(&o, 5, 8);
	one_sends(&o, 1, 1, 10);
	one_moves(&o, 1, 2, 1, 7);
	one_gets(&o, 2, 1, 7);
	one_sends(&o, 3, 1, 5);
	one_moves(&o, 3, 4, 1, 3);
	one_gets(&o, 4, 1, 3);
	for (uint64_t version = 2; version <= 4; version++)
		one_version(&o, version);
	one_lose(&o, 2, 0, 9, 1);
	one_lose(&o, 4, 1, 9, 1);
	one_gone(&o, 3);
	comes_after(2, FM_STEP_COUNT);
	assert_int_equal(fm_version(o.fm), 4);
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_UP);
	one_moves(&o, 1, 2, 1, 3);
	one_gets(&o, 2, 1, 3);
	comes_after(2, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 5);
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_DEAD);
	one_end(&o);
}

/*
 * The manager of node 3 hangs, but its NIC works: no count includes that NIC. Two equal counts, or
 * counts equal to earlier ones, prove nothing. When nothing has moved for drain_max, the root
 * continues without proof.
 */
static void counts_without_silent_nic_prove_no_drain(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	one_gone(&o, 3);
	assert_int_equal(one_asked(&o, ONE_MEMBER_MAX + ONE_SOON), FM_STEP_APPLY);
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_SILENT);
	for (uint64_t version = 2; version <= 6; version++) {
		uint64_t began = o.now;

		if (version > 2)
			one_version(&o, version);
		one_until(&o, FM_STEP_RESUME);
		assert_in_range(o.now, began + ONE_DRAIN_MAX, began + ONE_DRAIN_MAX + ONE_SOON);
		one_finish(&o);
		assert_int_equal(fm_last(o.fm)->version, version);
		assert_true(fm_last(o.fm)->bounded);
	}
	one_end(&o);
}

/*
 * The manager of node 3 is back when version 2 has drained without proof. Version 3 supersedes it,
 * and is proven; but its recovery includes that of version 2.
 */
static void drain_is_bounded_if_superseded_one_had_no_proof(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	one_gone(&o, 3);
	assert_int_equal(one_asked(&o, ONE_MEMBER_MAX + ONE_SOON), FM_STEP_APPLY);
	one_until(&o, FM_STEP_RESUME);
	assert_int_equal(fm_version(o.fm), 2);
	o.node[3].table = 1;
	o.node[3].clean = 0xd;
	one_join(&o, 3);
	one_run(&o, 3 * MS);
	assert_int_equal(fm_version(o.fm), 3);
	one_finish(&o);
	assert_int_equal(fm_last(o.fm)->version, 3);
	assert_true(fm_last(o.fm)->bounded);
	one_version(&o, 4);
	one_finish(&o);
	assert_int_equal(fm_last(o.fm)->version, 4);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/*
 * Node 3 was judged dead, and is back: its NIC takes no part in this version, so two counts
 * that are equal prove nothing, although it lives.
 */
static void returned_node_is_in_no_count(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, 5, 8);
	one_sends(&o, 1, 1, 1);
	for (uint64_t version = 2; version <= 3; version++)
		one_version(&o, version);
	one_lose(&o, 2, 0, 9, 1);
	one_lose(&o, 4, 1, 9, 1);
	one_gone(&o, 3);
	while (fm_version(o.fm) < 4) {
		assert_int_not_equal(one_asked(&o, ONE_SOON), ONE_NOTHING);
		one_answer(&o);
	}
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_DEAD);
	one_join(&o, 3);
	o.node[3].mute = true;
	one_answer(&o);
	one_gets(&o, 1, 1, 1);
	began = o.now;
	one_until(&o, FM_STEP_APPLY);
	assert_in_range(o.now, began + ONE_DRAIN_MAX, began + ONE_DRAIN_MAX + ONE_SOON);
	one_end(&o);
}

/* Node 3 is judged dead in version 4, with the rows of version 3. The others go on to @version. */
static void is_away_until(uint64_t version)
{
	one_root(&o, 5, 8);
	for (uint64_t v = 2; v <= 3; v++) {
		one_version(&o, v);
		one_finish(&o);
	}
	one_lose(&o, 2, 0, 9, 1);
	one_lose(&o, 4, 1, 9, 1);
	one_gone(&o, 3);
	while (fm_version(o.fm) < 4) {
		assert_int_not_equal(one_asked(&o, ONE_SOON), ONE_NOTHING);
		one_answer(&o);
	}
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_DEAD);
	assert_int_equal(o.node[3].asked.version, 3);
	one_finish(&o);
	for (uint64_t v = 5; v <= version; v++) {
		one_version(&o, v);
		one_finish(&o);
	}
	assert_int_equal(fm_version(o.fm), version);
	o.node[3].table = 3;
	o.node[3].clean = 0x7;
}

/*
 * Node 3 lives and is back. The next version would have the colour of its rows, of which it may
 * have packets for which no drain has waited: that version is left out.
 */
static void table_does_not_get_colour_of_returned_node(void **state)
{
	(void)state;
	is_away_until(6);
	one_join(&o, 3);
	one_until(&o, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 8);
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_UP);
	one_until(&o, FM_STEP_RESUME);
	assert_int_equal(fm_version(o.fm), 8);
	one_finish(&o);
	assert_false(fm_last(o.fm)->bounded);
	/* Now it has drained with the others: its colour is clean. */
	for (uint64_t v = 9; v <= 11; v++) {
		one_version(&o, v);
		one_finish(&o);
	}
	one_end(&o);
}

/*
 * Node 3 is back while no other colour is clean: version 11 gets the colour of its packets. The
 * next version follows when all others have drained, before a packet is replayed or a hold is
 * released.
 */
static void table_gets_colour_of_returned_node_if_no_other_is_clean(void **state)
{
	(void)state;
	is_away_until(8);
	one_sends(&o, 1, 0, 1);
	one_version(&o, 9);
	one_version(&o, 10);
	one_join(&o, 3);
	one_run(&o, 3 * MS);
	assert_int_equal(fm_version(o.fm), 11);
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_UP);
	one_answer(&o);
	comes_after(2, FM_STEP_COUNT);
	one_gets(&o, 1, 0, 1);
	comes_after(1, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 12);
	one_until(&o, FM_STEP_RESUME);
	assert_int_equal(fm_version(o.fm), 12);
	one_finish(&o);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/*
 * Another table is due before the recovery in which node 3 is back has drained. It would have the
 * colour of that node's packets, for which no drain has waited yet, so it waits for this drain.
 */
static void table_waits_until_colour_of_returned_node_is_drained(void **state)
{
	(void)state;
	is_away_until(5);
	one_sends(&o, 1, 1, 1);
	one_join(&o, 3);
	one_until(&o, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 6);
	one_answer(&o);
	assert_int_equal(fm_exclude(o.fm, 0, -1, false, o.now), 0);
	one_run(&o, 3 * MS);
	assert_int_equal(fm_version(o.fm), 6);
	one_gets(&o, 1, 1, 1);
	one_finish(&o);
	assert_int_equal(fm_version(o.fm), 7);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/*
 * Node 3 is back while version 5 is in force, with a packet of colour 2 in its NIC. The drain finds
 * the packet before anything is replayed or released, although that is the colour of the next
 * version.
 */
static void drains_what_came_back(void)
{
	one_sends(&o, 3, 2, 1);
	one_join(&o, 3);
	one_until(&o, FM_STEP_APPLY);
	one_answer(&o);
	while (one_asked(&o, ONE_SOON) == FM_STEP_COUNT)
		one_answer(&o);
	comes_after(0, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 7);
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_UP);
	one_answer(&o);
	comes_after(2, FM_STEP_COUNT);
	one_gets(&o, 1, 2, 1);
	one_until(&o, FM_STEP_RESUME);
	assert_int_equal(fm_version(o.fm), 7);
	one_finish(&o);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/*
 * The manager of a node that comes back has started anew, and does not know which colours were
 * clean before.
 */
static void colours_of_returned_node_with_new_manager_are_drained(void **state)
{
	(void)state;
	is_away_until(5);
	o.node[3].epoch++;
	o.node[3].table = 0;
	o.node[3].clean = 0;
	drains_what_came_back();
}

/*
 * The NIC of a node that comes back had failed: its manager got the tables, but took part in no
 * drain of them.
 */
static void colours_of_returned_node_with_failed_nic_are_drained(void **state)
{
	(void)state;
	is_away_until(5);
	o.node[3].table = 5;
	o.node[3].clean = 0xd;
	drains_what_came_back();
}

/*
 * Node 3 is back, with a packet of colour 3, while another node has its place: no table has it
 * until that node is dead. Version 11 gives it its place, and has that colour. So another table
 * follows, whose drain waits for the packet, before anything is replayed or released.
 */
static void colour_of_returned_node_is_drained_when_it_gets_place(void **state)
{
	uint32_t other;

	(void)state;
	is_away_until(5);
	other = one_replace(&o, 3);
	one_finish(&o);
	assert_int_equal(fm_node(o.fm, 3)->guid, o.node[other].guid);
	one_sends(&o, 3, 3, 1);
	memset(o.node[3].row.port, 0, ONE_PORTS * sizeof(*o.node[3].row.port));
	o.node[3].mute = true;		/* it takes part in no table without it */
	one_join(&o, 3);
	one_finish(&o);
	assert_int_equal(fm_last(o.fm)->version, 8);
	one_lose(&o, 2, 0, 11, 1);
	one_lose(&o, 4, 1, 11, 1);
	one_gone(&o, other);
	one_finish(&o);
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_DEAD);
	while (fm_version(o.fm) < 10) {
		one_version(&o, fm_version(o.fm) + 1);
		one_finish(&o);
	}
	o.node[3].mute = false;
	one_cable(&o, 3, 3);
	one_row(&o, 3);
	one_until(&o, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 11);
	assert_int_equal(fm_node(o.fm, 3)->guid, o.node[3].guid);
	one_answer(&o);
	while (one_asked(&o, ONE_SOON) == FM_STEP_COUNT)
		one_answer(&o);
	comes_after(0, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 12);
	one_answer(&o);
	comes_after(2, FM_STEP_COUNT);
	one_gets(&o, 3, 3, 1);
	one_until(&o, FM_STEP_RESUME);
	assert_int_equal(fm_version(o.fm), 12);
	one_finish(&o);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/*
 * The same if the root starts again before the place is free: the node without a place joins before
 * the first table, and version 15 has the colour of its packet.
 */
static void colour_is_drained_if_place_comes_after_restart_of_root(void **state)
{
	uint32_t node;

	(void)state;
	node = one_root_beside(&o, 5, 8, 3, 3);
	one_sends(&o, node, 3, 1);
	one_finish(&o);
	one_lose(&o, 2, 0, 11, 1);
	one_lose(&o, 4, 1, 11, 1);
	one_gone(&o, 3);
	one_finish(&o);
	assert_int_equal(fm_node(o.fm, 3)->state, FM_NODE_DEAD);
	while (fm_version(o.fm) < 14) {
		one_version(&o, fm_version(o.fm) + 1);
		one_finish(&o);
	}
	o.node[node].mute = false;
	one_cable(&o, 3, node);
	one_row(&o, node);
	one_until(&o, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 15);
	assert_int_equal(fm_node(o.fm, 3)->guid, o.node[node].guid);
	while (fm_version(o.fm) < 16) {
		one_answer(&o);
		assert_int_not_equal(one_asked(&o, ONE_SOON), FM_STEP_RESUME);
	}
	one_answer(&o);
	comes_after(2, FM_STEP_COUNT);
	one_gets(&o, node, 3, 1);
	one_until(&o, FM_STEP_RESUME);
	assert_int_equal(fm_version(o.fm), 16);
	one_finish(&o);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/*
 * While the manager of node 3 hangs, the root goes on without proof, and a packet of colour 3 is
 * behind a link that takes none for some time. Later that packet arrives, and another one is on
 * its way when the next version of that colour ends: as many are missing as before.
 */
static void late_packets_are_not_lost(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	for (uint64_t version = 2; version <= 3; version++) {
		one_version(&o, version);
		one_finish(&o);
	}
	one_sends(&o, 1, 3, 1);
	one_version(&o, 4);
	one_gone(&o, 3);
	while (fm_version(o.fm) < 5) {
		one_asked(&o, ONE_SOON);
		one_answer(&o);
	}
	for (uint64_t version = 5; version <= 6; version++) {
		if (version > 5)
			one_version(&o, version);
		one_finish(&o);
		assert_int_equal(fm_last(o.fm)->version, version);
		assert_true(fm_last(o.fm)->bounded);
	}
	o.node[3].table = 4;
	o.node[3].clean = 0xe;
	one_join(&o, 3);
	one_until(&o, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 7);
	one_moves(&o, 1, 2, 3, 1);
	one_gets(&o, 2, 3, 1);
	one_finish(&o);
	assert_false(fm_last(o.fm)->bounded);
	one_sends(&o, 1, 3, 1);
	one_version(&o, 8);
	comes_after(3, FM_STEP_COUNT);
	one_moves(&o, 1, 2, 3, 1);
	one_gets(&o, 2, 3, 1);
	comes_after(2, FM_STEP_RESUME);
	one_finish(&o);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/* --- packets that only the other end of a dead link knows --------------------------- */

/* Lets all nodes report, until the root stops waiting. Return: the ns that it took. */
static uint64_t until_given_up(void)
{
	uint64_t began = o.now;

	do {
		one_answer(&o);
		assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
	} while (!o.node[1].asked.orphans);
	return o.now - began;
}

/*
 * The cable of nodes 1 and 2 is cut, and node 2 does not report how far it received. The packet
 * that node 1 sent last waits for that, for resolve_max, and is then kept. It may be a duplicate,
 * so the number of earlier losses is not known any more.
 */
static void silent_end_of_lost_link_is_waited_for_and_given_up(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 1);
	o.node[1].sums.unresolved = 1;
	one_lose(&o, 1, 0, 9, 1);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_APPLY);
	assert_in_range(until_given_up(), ONE_RESOLVE_MAX, ONE_RESOLVE_MAX + ONE_SOON);
	/* The packet came to the other end and is there: as many went in as came out. */
	o.node[1].sums.unresolved = 0;
	one_parks(&o, 1, 1, 1);
	o.node[2].sums.flow[TORUS_FC_LINK_RX][1] = 1;
	comes_after(3, FM_STEP_COUNT);
	one_gets(&o, 2, 1, 1);
	comes_after(2, FM_STEP_REPLAY);
	o.node[1].sums.parked = 0;
	one_finish(&o);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/*
 * Several links end one after another in one recovery, because no other version may begin yet. The
 * time that one end took does not shorten that of the next.
 */
static void each_lost_link_is_waited_for_in_full(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 1);
	for (uint64_t version = 2; version <= 4; version++)
		one_version(&o, version);
	for (unsigned int i = 0; i < 3; i++) {
		o.node[1].sums.unresolved = 1;
		for (uint64_t end = o.now + ONE_RESOLVE_MAX / 2; o.now < end;) {
			assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
			assert_false(o.node[1].asked.orphans);
			one_answer(&o);
		}
		o.node[1].sums.unresolved = 0;
		comes_after(2, FM_STEP_COUNT);
	}
	for (unsigned int i = 0; i < 2; i++) {
		o.node[1].sums.unresolved = 1;
		assert_in_range(until_given_up(), ONE_RESOLVE_MAX, ONE_RESOLVE_MAX + ONE_SOON);
		o.node[1].sums.unresolved = 0;
		comes_after(1, FM_STEP_COUNT);
		assert_false(o.node[1].asked.orphans);
	}
	one_end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_nic_counts_once),
		cmocka_unit_test(count_follows_at_once_when_all_nodes_are_ready),
		cmocka_unit_test(counts_of_different_nics_prove_no_drain),
		cmocka_unit_test(counts_without_silent_nic_prove_no_drain),
		cmocka_unit_test(drain_is_bounded_if_superseded_one_had_no_proof),
		cmocka_unit_test(returned_node_is_in_no_count),
		cmocka_unit_test(table_does_not_get_colour_of_returned_node),
		cmocka_unit_test(table_gets_colour_of_returned_node_if_no_other_is_clean),
		cmocka_unit_test(table_waits_until_colour_of_returned_node_is_drained),
		cmocka_unit_test(colours_of_returned_node_with_new_manager_are_drained),
		cmocka_unit_test(colours_of_returned_node_with_failed_nic_are_drained),
		cmocka_unit_test(colour_of_returned_node_is_drained_when_it_gets_place),
		cmocka_unit_test(colour_is_drained_if_place_comes_after_restart_of_root),
		cmocka_unit_test(late_packets_are_not_lost),
		cmocka_unit_test(silent_end_of_lost_link_is_waited_for_and_given_up),
		cmocka_unit_test(each_lost_link_is_waited_for_in_full),
	};

	return cmocka_run_group_tests_name("drain", tests, NULL, NULL);
}
