// SPDX-License-Identifier: GPL-2.0-only
/*
 * A member and its root: its report of the table that it has, when it asks whether its parent
 * lives, which connections it drops at the root's order, and since when it knows that root.
 */
#include <string.h>

#include <torus/topology.h>

#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/verdict.h"
#include "stage_member.h"

static struct fm_hello reported;	/* the last HELLO that was sent */
static unsigned int hellos;

static void sees(int conn, const struct fm_msg *msg)
{
	(void)conn;
	if (msg->type != FM_MSG_HELLO)
		return;
	reported = msg->hello;
	hellos++;
}

/* Ends the connection to the root; the next one, @conn, comes up soon. Return: the HELLO on it. */
static const struct fm_hello *hello_again(int conn)
{
	stage_down(&s, conn - 1);
	stage_run_ns(&s, s.now + 2000 * MS);
	hellos = 0;
	s.sees = sees;
	stage_up(&s, conn);
	assert_int_equal(hellos, 1);
	s.sees = NULL;
	return &reported;
}

/* --- the table that it has -------------------------------------------------------------- */

/*
 * HELLO describes the table: colours, open dimensions, voters and former tables, with which a new
 * root begins.
 */
static void hello_describes_table_of_node(void **state)
{
	const struct fm_hello *h;
	struct fm_msg m;

	(void)state;
	joined();
	m = stage_table(&s, 4, entry);
	m.table.open = 1;
	m.table.clean = 0x9;
	m.table.voters = (struct fm_voters) { .n = 1, .set = { { 3, 0xabc } } };
	m.table.line = (struct fm_line) { .n = 1, .past = { { 7, 8, 0xdef } } };
	entry[3].state = FM_NODE_DEAD;
	stage_msg(&s, 1, &m);
	h = hello_again(2);
	assert_int_equal(h->table, 4);
	assert_int_equal(h->term, TERM);
	assert_int_equal(h->table_root, NIC);
	assert_int_equal(h->ups, 3);
	assert_true(h->counted);
	assert_int_equal(h->open, 1);
	assert_int_equal(h->clean, 0x9);
	assert_int_equal(h->voters.n, 1);
	assert_int_equal(h->voters.set[0].ups, 3);
	assert_int_equal(h->voters.set[0].maker, 0xabc);
	assert_int_equal(h->line.n, 1);
	assert_int_equal(h->line.past[0].epoch, 7);
	assert_int_equal(h->line.past[0].version, 8);
	/* Colours become clean with each step. */
	stage_welcome(&s, 2, TERM, "");
	m = stage_step(4, 1, FM_STEP_COUNT);
	m.step.clean = 0xb;
	stage_msg(&s, 2, &m);
	assert_int_equal(hello_again(3)->clean, 0xb);
	stage_end(&s);
}

/* HELLO has the closed ports by the node's place; without a place there are none. */
static void hello_has_closed_ports_only_with_place(void **state)
{
	(void)state;
	for (unsigned int absent = 0; absent < 2; absent++) {
		struct fm_msg m;

		node_1();
		s.link[2].closed = true;
		joins();
		m = stage_table(&s, 1, entry);
		if (absent)
			entry[1] = (struct fm_entry) { .node = 1 };
		stage_msg(&s, 1, &m);
		assert_int_equal(hello_again(2)->sums.reopen, !absent);
		stage_end(&s);
	}
}

/* Spare ports of the NIC, which the table does not have, are not in HELLO. */
static void hello_has_no_spare_ports(void **state)
{
	(void)state;
	stage_init(&s, "4", 1);
	s.deaf = "init ping ";
	s.dev.nports = 6;
	for (unsigned int p = 0; p < 6; p++) {
		s.link[p].state = TORUS_LINK_UP;
		s.link[p].session = 1;
		s.link[p].closed = p > 0;
		s.link[p].peer_guid = NIC + (p ? 0 : 2);
		s.link[p].peer_port = !p;
	}
	stage_start(&s);
	stage_receive(&s, 1, &(struct fm_init) {
		.placed = true, .ndims = 1, .size = { 4 }, .guid = NIC, .root_guid = NIC,
		.fabric = "fab", .root_address = "30.0.0.0:1" });
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	table(1);
	assert_int_equal(hello_again(2)->sums.reopen, 1);
	stage_end(&s);
}

/*
 * Votes in HELLO are those of the entry at the node's place, if that is this NIC in its present
 * life.
 */
static void hello_has_votes_only_of_own_entry(void **state)
{
	(void)state;
	for (unsigned int other = 0; other < 3; other++) {
		const struct fm_hello *h;
		struct fm_msg m;

		joined();
		table(1);
		m = stage_table(&s, 2, entry);
		m.table.voters = (struct fm_voters) { 2, { { 3, 0xabc }, { 4, 0xdef } } };
		entry[1].differs = 2;
		if (other == 1)
			entry[1].guid = 0xbad;
		if (other == 2)
			entry[1].epoch = 2;
		stage_msg(&s, 1, &m);
		h = hello_again(2);
		assert_int_equal(h->table, 2);
		assert_int_equal(h->votes, other ? 0 : 1);
		assert_int_equal(h->counted, !other);
		stage_end(&s);
	}
}

/* HELLO has the exclusions at the far end of each cable, in three dimensions. */
static void hello_has_exclusions_of_far_ends(void **state)
{
	static struct fm_entry all[27];
	struct fm_init i;
	struct fm_msg m;

	(void)state;
	stage_init(&s, "3x3x3", 13);
	s.deaf = "init ping ";
	stage_link_up(&s, 0, 1);
	stage_start(&s);
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	m = stage_table(&s, 1, all);
	for (unsigned int p = 0; p < 6; p++)
		all[torus_neighbour(&s.shape, 13, p)].admin =
			(uint16_t)(1u << torus_dir_opposite(&s.shape, p));
	all[13].admin = 0x5;
	stage_msg(&s, 1, &m);
	hello_again(2);
	assert_int_equal(reported.across, 0x3f);
	assert_int_equal(reported.admin, 0x5);
	stage_end(&s);
}

/*
 * The NIC has not taken the place that a table of another shape gives it: the next HELLO has
 * neither table nor links.
 */
static void hello_has_no_table_of_untaken_shape(void **state)
{
	static struct fm_entry all[8];
	struct fm_msg m;

	(void)state;
	joined();
	table(1);
	assert_int_equal(hello_again(2)->table, 1);
	stage_welcome(&s, 2, TERM, "");
	s.err.place = -5;
	assert_int_equal(torus_shape_parse("8x1", &s.shape), 0);
	m = stage_table(&s, 2, all);
	stage_msg(&s, 2, &m);
	assert_int_equal(hello_again(3)->table, 0);
	assert_int_equal(reported.ups, 0);
	stage_end(&s);
}

/* A write that failed may have been done; a later one that was done leaves no doubt. */
static void hello_has_version_of_failed_write_until_one_succeeds(void **state)
{
	(void)state;
	joined();
	s.err.rows = -5;
	table(1);
	assert_int_equal(hello_again(2)->version, 1);
	stage_welcome(&s, 2, TERM, "");
	s.err.rows = 0;
	struct fm_msg m = stage_table(&s, 2, entry);

	stage_msg(&s, 2, &m);
	assert_int_equal(hello_again(3)->version, 2);
	stage_welcome(&s, 3, TERM, "");
	m = stage_table(&s, 3, entry);
	stage_msg(&s, 3, &m);
	assert_int_equal(hello_again(4)->version, 3);
	stage_end(&s);
}

/* HELLO has the priority of the node, its bootstrap flag, and the epoch of its rows. */
static void hello_has_priority_bootstrap_flag_and_epoch_of_rows(void **state)
{
	struct fm_msg m;

	(void)state;
	for (unsigned int candidate = 0; candidate < 2; candidate++) {
		node_1();
		s.cfg.takeover = candidate ? 200 * MS : 0;
		s.cfg.priority = 77;
		s.dev.placed = true;
		s.dev.shape = s.shape;
		s.dev.coords.c[0] = 1;
		s.dev.node = 1;
		s.dev.version = 4;
		s.dev.rows_epoch = s.dev.root_epoch = 99;
		s.dev.root_guid = NIC;
		s.sees = sees;
		joins();
		assert_int_equal(reported.priority, candidate ? 77 : 0);
		assert_false(reported.marked);
		assert_int_equal(reported.rows_term, 99);
		assert_int_equal(reported.version, 4);
		if (!candidate) {
			m = stage_table(&s, 5, entry);
			stage_msg(&s, 1, &m);
			assert_int_equal(hello_again(2)->rows_term, 0);
		}
		stage_end(&s);
	}
}

/* HELLO to a parent names the table of the present root that the node has. */
static void hello_to_parent_names_table_of_present_root(void **state)
{
	(void)state;
	joined();
	table(7);
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	s.sees = sees;
	stage_up(&s, 2);
	assert_int_equal(reported.role, FM_ROLE_CHILD);
	assert_int_equal(reported.version, 7);
	stage_down(&s, 2);
	stage_welcome(&s, 1, TERM + 1, "30.0.0.2:1");
	stage_up(&s, 3);
	assert_int_equal(reported.role, FM_ROLE_CHILD);
	assert_int_equal(reported.term, TERM + 1);
	assert_int_equal(reported.version, 0);
	stage_end(&s);
}

/* --- its parent ------------------------------------------------------------------------- */

/*
 * A neighbour that is in the table has lost the root: this node pings its parent, which may have
 * vanished with the root.
 */
static void lost_root_of_neighbour_makes_node_ping_parent(void **state)
{
	struct fm_init i;

	(void)state;
	for (unsigned int kin = 0; kin < 2; kin++) {
		in_force();
		s.deaf = "init log ";
		i = stage_neighbour(&s, 0);
		i.lost = true;
		if (!kin)
			i.guid = 0xdead;
		stage_receive(&s, 0, &i);
		assert_int_equal(stage_count(&s, "1 < ping\n"), kin);
		stage_end(&s);
	}
}

/*
 * The arbiter has refused this node an epoch. That the node is cut off from its root does not let it ask
 * again sooner; that the root is back does.
 */
static void only_return_of_root_ends_wait_for_arbiter(void **state)
{
	(void)state;
	in_force();
	fm_verdict_put_off(s.fm);
	assert_int_not_equal(fm_verdict_again(s.fm), 0);
	fm_uplink_adrift(s.fm, true);
	assert_int_not_equal(fm_verdict_again(s.fm), 0);
	fm_uplink_adrift(s.fm, false);
	assert_int_equal(fm_verdict_again(s.fm), 0);
	stage_end(&s);
}

/* --- at the root's word ----------------------------------------------------------------- */

/* DROP of a former root is ignored. */
static void drop_of_former_root_is_ignored(void **state)
{
	struct fm_msg m = { .type = FM_MSG_DROP };

	(void)state;
	in_force();
	m.drop.guid = NIC + 2;
	strcpy(m.drop.address, "30.0.0.2:1");
	m.drop.term = TERM - 1;
	stage_msg(&s, 1, &m);
	stage_did_nothing(&s);
	m.drop.term = TERM;
	stage_msg(&s, 1, &m);
	stage_did_some(&s, "close 52\n");
	stage_end(&s);
}

/* --- the time at which the root began to lead ------------------------------------------- */

static uint64_t since(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	return st.root.since - START;
}

/*
 * The time at which the root began to lead stays the same when a connection breaks, and changes
 * with another epoch or another root.
 */
static void new_connection_does_not_change_since_when_root_leads(void **state)
{
	struct fm_init i;

	(void)state;
	in_force();
	assert_int_equal(since(), 0);
	hello_again(2);
	stage_welcome(&s, 2, TERM, "");
	assert_int_equal(since(), 0);
	hello_again(3);
	stage_welcome(&s, 3, TERM + 1, "");
	assert_int_equal(since(), s.now);
	stage_run_ns(&s, s.now + 50 * MS);
	i = stage_neighbour(&s, 0);
	i.epoch = TERM + 2;
	i.root_guid = 0xabc;
	strcpy(i.root_address, "30.0.0.9:1");
	stage_receive(&s, 0, &i);
	stage_up(&s, 4);
	struct fm_msg m = { .type = FM_MSG_WELCOME };

	m.welcome.term = TERM + 2;
	m.welcome.root_guid = 0xabc;
	stage_msg(&s, 4, &m);
	assert_int_equal(since(), s.now);
	stage_end(&s);
}

/* --- connections ------------------------------------------------------------------------ */

/* The host may give a connection any number from 0 on. */
static void connection_may_have_number_0(void **state)
{
	struct fm_init i;

	(void)state;
	node_1();
	s.next_conn = 0;
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
	stage_up(&s, 0);
	stage_did_some(&s, "0 < hello join");
	stage_end(&s);
	joined();
	s.next_conn = 0;
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 0);
	stage_did_some(&s, "0 < hello child");
	stage_end(&s);
}

static uint64_t hello_at[8];

static void notes_hello(int conn, const struct fm_msg *msg)
{
	(void)conn;
	if (msg->type == FM_MSG_HELLO && hellos < 8)
		hello_at[hellos++] = s.now;
}

/*
 * HELLOs that the root does not answer follow each other after 1, 2, 4 and 8 times resend, and up
 * to a quarter more, by a share that differs from node to node: they do not come all at once.
 */
static void unanswered_hellos_spread_at_random(void **state)
{
	uint64_t gap[2][3];

	(void)state;
	for (unsigned int nic = 0; nic < 2; nic++) {
		struct fm_init i;

		node_1();
		s.dev.guid += nic << 20;
		stage_start(&s);
		i = stage_neighbour(&s, 2);
		stage_receive(&s, 2, &i);
		hellos = 0;
		s.sees = notes_hello;
		stage_up(&s, 1);
		stage_run_ns(&s, s.now + 10 * s.cfg.resend);
		assert_true(hellos >= 4);
		for (unsigned int n = 0; n < 3; n++)
			gap[nic][n] = hello_at[n + 1] - hello_at[n];
		assert_int_equal(gap[nic][0], s.cfg.resend);
		assert_in_range(gap[nic][1], 2 * s.cfg.resend, 5 * s.cfg.resend / 2 - 1);
		assert_in_range(gap[nic][2], 4 * s.cfg.resend, 5 * s.cfg.resend - 1);
		stage_end(&s);
	}
	assert_int_not_equal(gap[0][1], gap[1][1]);
	assert_int_not_equal(gap[0][2], gap[1][2]);
}

/* The root refuses the node while it still tries its parent, which then cannot be reached. */
static void refused_node_sends_hello_only_on_new_connection(void **state)
{
	(void)state;
	node_1();
	joins();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_refuse(&s, 1, "no");
	stage_wait(&s, "connect 30.0.0.0:1: 3");
	stage_down(&s, 2);
	stage_did_no(&s, "3 <");
	stage_up(&s, 3);
	stage_did_some(&s, "3 < hello join");
	stage_end(&s);
}

/* The root refuses the node for @wait_ms. */
static void refuse(int conn, uint32_t wait_ms)
{
	struct fm_msg m = { .type = FM_MSG_REFUSE, .refuse = { .wait_ms = wait_ms, .text = "no" } };

	stage_msg(&s, conn, &m);
}

/* Return: the time until the node connects again after the root has refused it for @wait_ms. */
static uint64_t time_until_next_attempt(int conn, uint32_t wait_ms)
{
	refuse(conn, wait_ms);
	return stage_wait(&s, "connect 30.0.0.0:1");
}

/* A refusal that says when the node may join is no reason to wait for longer than that. */
static void refused_node_asks_again_when_root_accepts_it(void **state)
{
	(void)state;
	node_1();
	joins();
	for (int conn = 1; conn < 8; conn++) {
		assert_in_range(time_until_next_attempt(conn, 300), 300 * MS,
				300 * MS + s.cfg.resend);
		stage_up(&s, conn + 1);
	}
	/* Else it asks less and less often. */
	assert_true(time_until_next_attempt(8, 0) >= 5 * s.cfg.resend);
	stage_up(&s, 9);
	/* A time beyond the longest ban is not believed. */
	refuse(9, UINT32_MAX);
	stage_run_ns(&s, s.now + 20 * s.cfg.member_max - 1);
	stage_did_no(&s, "connect 30.0.0.0:1");
	assert_in_range(stage_wait(&s, "connect 30.0.0.0:1"), 1, s.cfg.resend);
	stage_end(&s);
}

/*
 * A node has waited longer and longer between its connections to a lost root; another root is tried
 * after a short time.
 */
static void another_root_is_tried_soon_despite_long_waits_for_last(void **state)
{
	struct fm_init i;

	(void)state;
	in_force();
	s.refuse_connect = -1;
	stage_down(&s, 1);
	stage_run_ns(&s, s.now + 3000 * MS);
	i = stage_neighbour(&s, 2);
	i.epoch = TERM + 1;
	i.root_guid = 0xabc;
	strcpy(i.root_address, "30.0.0.9:1");
	stage_receive(&s, 2, &i);
	assert_in_range(stage_wait(&s, "connect 30.0.0.9:1: fails"), 12 * MS, 38 * MS);
	stage_end(&s);
}

/* --- a root that cannot be reached ------------------------------------------------------ */

/*
 * Another root leads, and the first try to connect fails: it is tried again, not the one that was
 * lost.
 */
static void failed_connection_to_new_root_is_tried_again(void **state)
{
	struct fm_init i;

	(void)state;
	in_force();
	stage_down(&s, 1);
	i = stage_neighbour(&s, 0);
	i.epoch = TERM + 1;
	i.root_guid = 0xabc;
	strcpy(i.root_address, "30.0.0.9:1");
	stage_receive(&s, 0, &i);
	stage_did_some(&s, "connect 30.0.0.9:1: 2\n");
	stage_down(&s, 2);
	stage_run_ns(&s, s.now + 1000 * MS);
	assert_int_equal(stage_count(&s, "connect 30.0.0.0:1"), 0);
	assert_true(stage_count(&s, "connect 30.0.0.9:1") > 0);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(hello_describes_table_of_node),
		cmocka_unit_test(hello_has_closed_ports_only_with_place),
		cmocka_unit_test(hello_has_no_spare_ports),
		cmocka_unit_test(hello_has_votes_only_of_own_entry),
		cmocka_unit_test(hello_has_exclusions_of_far_ends),
		cmocka_unit_test(hello_has_no_table_of_untaken_shape),
		cmocka_unit_test(hello_has_version_of_failed_write_until_one_succeeds),
		cmocka_unit_test(hello_has_priority_bootstrap_flag_and_epoch_of_rows),
		cmocka_unit_test(hello_to_parent_names_table_of_present_root),
		cmocka_unit_test(unanswered_hellos_spread_at_random),
		cmocka_unit_test(lost_root_of_neighbour_makes_node_ping_parent),
		cmocka_unit_test(only_return_of_root_ends_wait_for_arbiter),
		cmocka_unit_test(drop_of_former_root_is_ignored),
		cmocka_unit_test(new_connection_does_not_change_since_when_root_leads),
		cmocka_unit_test(connection_may_have_number_0),
		cmocka_unit_test(refused_node_sends_hello_only_on_new_connection),
		cmocka_unit_test(refused_node_asks_again_when_root_accepts_it),
		cmocka_unit_test(another_root_is_tried_soon_despite_long_waits_for_last),
		cmocka_unit_test(failed_connection_to_new_root_is_tried_again),
	};

	return cmocka_run_group_tests_name("fm_uplink", all, NULL, NULL);
}
