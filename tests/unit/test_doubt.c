// SPDX-License-Identifier: GPL-2.0-only
/* When a root takes a node as lost that closed no connection (daemon/fm/root/vanish.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/vanish.h"
#include "tests/unit/one_fm.h"

#define WAIT (3 * MS)		/* time to wait for a node's own report */
#define PROBE_WAIT (2 * MS)
#define MOMENT (ONE_RESEND / 4)		/* time until a lost node is dead */

static struct one_fm o;

/* Both neighbours of @node report that their links to it are lost. */
static void alone(uint32_t node)
{
	one_lose(&o, node - 1, 0, 9, 1);
	one_lose(&o, node + 1, 1, 9, 1);
}

/* Checks that no node is probed within @ns. */
static void quiet(uint64_t ns)
{
	unsigned int before = o.reaches;

	one_run(&o, ns);
	assert_int_equal(o.reaches, before);
}

/* Checks that @address is probed exactly @ns from now, and no node before. */
static void probed(uint64_t ns, const char *address)
{
	unsigned int before = o.reaches;

	quiet(ns - 1);
	one_run(&o, 1);
	assert_int_equal(o.reaches, before + 1);
	assert_string_equal(o.reach[before].address, address);
}

/* Checks that @address was probed just now, as the probe number @n, counted from 1. */
static void is_probe(unsigned int n, const char *address)
{
	assert_int_equal(o.reaches, n);
	assert_string_equal(o.reach[n - 1].address, address);
}

/* Checks that the connection of @node is closed exactly @ns from now. */
static void is_lost(uint64_t ns, uint32_t node)
{
	one_run(&o, ns - 1);
	assert_int_not_equal(o.node[node].conn, 0);
	one_run(&o, 1);
	assert_int_equal(o.node[node].conn, 0);
}

static bool dead(uint32_t node)
{
	return fm_node(o.fm, node)->state == FM_NODE_DEAD;
}

static void begin(uint32_t nodes)
{
	one_root(&o, nodes, 8);
	o.unreachable = true;
}

static void probed_node_that_sends_nothing_is_lost(void **state)
{
	(void)state;
	begin(5);
	alone(2);
	is_probe(1, "2:1");
	is_lost(WAIT, 2);
	assert_true(dead(2));
	one_run(&o, ONE_SOON);
	assert_int_equal(o.reaches, 1);
	one_end(&o);
}

/*
 * A node is probed when its last neighbour has reported a loss. The table waits for the end of the
 * probe: the first one has all losses, and the dead node. A table that is due waits for PROBE_WAIT
 * at most, even if the node may not be called dead for longer.
 */
static void table_waits_for_end_of_probe(void **state)
{
	uint64_t version;

	(void)state;
	begin(5);
	version = fm_version(o.fm);
	one_lose(&o, 1, 0, 9, 1);
	quiet(3 * MS);
	one_lose(&o, 3, 1, 9, 1);
	is_probe(1, "2:1");
	is_lost(PROBE_WAIT, 2);
	assert_int_equal(fm_version(o.fm), version + 1);
	assert_true(dead(2));
	one_end(&o);

	begin(5);
	version = fm_version(o.fm);
	alone(2);
	o.fm->doubts = o.now + 50 * MS;
	assert_int_equal(fm_exclude(o.fm, 4, -1, true, o.now), 0);
	one_run(&o, PROBE_WAIT - 1);
	assert_int_equal(fm_version(o.fm), version);
	one_run(&o, 1);
	assert_int_equal(fm_version(o.fm), version + 1);
	assert_false(dead(2));
	one_end(&o);
}

/* The table does not wait for a node that has answered. */
static void table_does_not_wait_for_node_that_answered(void **state)
{
	uint64_t version;

	(void)state;
	begin(5);
	version = fm_version(o.fm);
	alone(2);
	assert_int_equal(fm_exclude(o.fm, 4, -1, true, o.now), 0);
	one_run(&o, MS);
	assert_int_equal(fm_version(o.fm), version);
	fm_conn_up(o.fm, o.reach[0].conn, o.now);
	one_run(&o, 1);
	assert_int_equal(fm_version(o.fm), version + 1);
	one_end(&o);
}

/* A node that lives reports its links, or at least one: its row is no longer out of date. */
static void node_that_reports_its_links_is_not_lost(void **state)
{
	(void)state;
	begin(5);
	alone(2);
	one_run(&o, WAIT - 1);
	one_lose(&o, 2, 0, 9, 1);
	one_lose(&o, 2, 1, 9, 1);
	quiet(ONE_SOON);
	assert_int_not_equal(o.node[2].conn, 0);
	one_end(&o);
}

/* A slow node answers the probe, and is asked again only a keep-alive later. */
static void slow_node_that_answers_probe_is_kept(void **state)
{
	uint64_t began;

	(void)state;
	begin(5);
	o.unreachable = false;
	alone(2);
	is_probe(1, "2:1");
	began = o.now;
	one_finish(&o);
	probed(began + 10000 * MS - o.now, "2:1");
	assert_int_not_equal(o.node[2].conn, 0);
	one_end(&o);
}

/* A slow node that has another link is not probed. */
static void node_with_another_link_is_not_probed(void **state)
{
	(void)state;
	begin(5);
	one_lose(&o, 1, 0, 9, 1);
	one_finish(&o);
	quiet(1000 * MS);
	/* When the last link is lost, too, all this does not help the node any longer. */
	one_lose(&o, 3, 1, 9, 1);
	is_probe(1, "2:1");
	one_end(&o);
}

/*
 * A dead neighbour may come back with the row that it had, so that no row ends the doubt. As long
 * as a node is in doubt, no problem of isolated nodes begins or ends.
 */
static void doubt_ends_although_no_row_comes(void **state)
{
	const struct fm_root *r;

	(void)state;
	begin(5);
	r = o.fm->root;
	one_lose(&o, 1, 0, 9, 1);
	one_finish(&o);
	one_run(&o, 100 * MS);
	assert_int_equal(fm_vanish_doubts(r), 1);
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		if (fm_record_no(r, i)->node == 2)
			fm_record_no(r, i)->row.port[1].state = FM_PORT_FAULTY;
	one_run(&o, 10000 * MS);
	assert_int_equal(fm_vanish_doubts(r), 0);
	one_end(&o);
}

/* A node that has just joined is not doubted, because it has sent its row. */
static void node_that_has_just_joined_is_not_doubted(void **state)
{
	(void)state;
	begin(5);
	alone(2);
	one_run(&o, 1 * MS);
	one_gone(&o, 2);
	one_join(&o, 2);
	probed(WAIT, "2:1");
	is_lost(PROBE_WAIT, 2);
	one_end(&o);
}

static void moves(uint32_t node, uint32_t parent)
{
	one_gone(&o, node);
	one_adopt(&o, node, parent);
}

/*
 * A node below a late node in the tree cannot vouch for it, because its report of a lost link does
 * not reach the root.
 */
static void node_below_late_one_does_not_vouch_for_it(void **state)
{
	(void)state;
	begin(5);
	moves(3, 2);
	one_lose(&o, 1, 0, 9, 1);
	is_probe(1, "2:1");
	is_lost(WAIT, 2);
	/* The child is informed that its parent is lost. */
	assert_int_equal(o.reaches, 2);
	assert_string_equal(o.reach[1].address, "3:1");
	fm_conn_up(o.fm, o.reach[1].conn, o.now);
	assert_int_equal(o.reach[1].drop, o.node[2].guid);
	assert_false(dead(2));
	/* The child joins again, without that link: now its former parent is dead. */
	o.node[3].row.port[1].state = FM_PORT_FAULTY;
	one_join(&o, 3);
	one_run(&o, ONE_SOON);
	assert_true(dead(2));
	assert_false(dead(3));
	one_end(&o);
}

static void parent_is_ordered_to_drop_lost_node(void **state)
{
	(void)state;
	begin(6);
	moves(2, 4);
	alone(2);
	is_probe(1, "2:1");
	one_run(&o, WAIT);
	assert_int_equal(o.node[4].drop, o.node[2].guid);
	one_run(&o, ONE_SOON);
	assert_true(dead(2));
	/* A late report that the connection was there changes nothing. */
	o.node[2].attach--;
	one_adopt(&o, 2, 4);
	one_run(&o, ONE_SOON);
	assert_true(dead(2));
	one_end(&o);
}

/*
 * Three nodes vanish together. The one in the middle has no neighbour that can report a lost link
 * to it.
 */
static void node_between_lost_ones_is_lost_too(void **state)
{
	(void)state;
	begin(7);
	one_lose(&o, 0, 0, 9, 1);
	one_lose(&o, 4, 1, 9, 1);
	one_run(&o, WAIT);
	assert_int_equal(o.reaches, 2);
	quiet(PROBE_WAIT - 1);
	one_run(&o, 1);
	assert_int_equal(o.node[1].conn, 0);
	assert_int_equal(o.node[3].conn, 0);
	is_probe(3, "2:1");
	is_lost(WAIT, 2);
	/* The three nodes are judged together. */
	assert_false(dead(1) || dead(2) || dead(3));
	one_run(&o, MOMENT + MS);
	assert_true(dead(1) && dead(2) && dead(3));
	one_end(&o);
}

/* Before the first table no node is doubted, because nodes still come, and their links come up. */
static void no_node_is_doubted_before_first_table(void **state)
{
	(void)state;
	one_root_without(&o, 5, 2);
	o.unreachable = true;
	quiet(100 * MS);
	one_end(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(probed_node_that_sends_nothing_is_lost),
		cmocka_unit_test(table_waits_for_end_of_probe),
		cmocka_unit_test(table_does_not_wait_for_node_that_answered),
		cmocka_unit_test(node_that_reports_its_links_is_not_lost),
		cmocka_unit_test(slow_node_that_answers_probe_is_kept),
		cmocka_unit_test(node_with_another_link_is_not_probed),
		cmocka_unit_test(doubt_ends_although_no_row_comes),
		cmocka_unit_test(node_that_has_just_joined_is_not_doubted),
		cmocka_unit_test(node_below_late_one_does_not_vouch_for_it),
		cmocka_unit_test(parent_is_ordered_to_drop_lost_node),
		cmocka_unit_test(node_between_lost_ones_is_lost_too),
		cmocka_unit_test(no_node_is_doubted_before_first_table),
	};

	return cmocka_run_group_tests_name("doubt", tests, NULL, NULL);
}
