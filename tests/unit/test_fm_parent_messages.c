// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the nodes above: CLAIM, DROP, PONG, FETCH and LEAD. Each counts on some connections
 * only, and only in the epoch of the root that leads.
 */
#include <stdio.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/node/bootstrap.h"
#include "stage_member.h"

#define OTHER (NIC + 3)

/* Node 1 has said HELLO to the root, by connection 1, and is not welcome yet. */
static void at_root(void)
{
	struct fm_init i;

	node_1();
	s.roots = true;
	s.deaf = "init ping log ";
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	i.epoch = 1;
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_did_some(&s, "1 < hello join");
}

/* Node 2 is its parent, by connection 2. */
static void with_parent(void)
{
	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	stage_welcome(&s, 2, TERM, "");
	stage_did_some(&s, "close 1\n");
}

static struct fm_init own_init(void)
{
	struct fm_init i;

	fm_bootstrap_fill(s.fm, &i);
	return i;
}

/* --- CLAIM ------------------------------------------------------------------------------ */

static void claim(int conn, uint64_t guid, uint64_t epoch)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .epoch = epoch, .guid = guid } };

	stage_msg(&s, conn, &m);
}

/* The NIC gets one order, and each claim is answered by the HELLO that promises. */
static void each_claim_is_answered_by_hello(void **state)
{
	(void)state;
	at_root();
	claim(1, NIC, TERM);
	assert_int_equal(stage_count(&s, "root 100 of 126\n1 < hello join"), 1);
	stage_did_some(&s, " obeys 100 of 126 ");
	claim(1, NIC, TERM);
	assert_int_equal(stage_count(&s, "root 100"), 0);
	stage_did_some(&s, "1 < hello join");
	/* A claim of a later epoch: the NIC gets that epoch. */
	claim(1, NIC, TERM + 1);
	stage_did_some(&s, "root 100 of 127\n1 < hello join");
	stage_end(&s);
}

/*
 * A claim is ignored if it comes from another node than the one at that address, on another
 * connection, or from a root that leads already.
 */
static void claim_of_wrong_node_or_connection_is_ignored(void **state)
{
	(void)state;
	at_root();
	claim(1, OTHER, TERM);
	stage_did(&s, "close 1\n");
	stage_end(&s);
	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	stage_forget(&s);
	claim(2, NIC, TERM + 1);
	stage_did_nothing(&s);
	claim(1, NIC, TERM + 1);
	stage_did_nothing(&s);
	stage_end(&s);
	joined();
	claim(1, NIC, TERM + 1);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* The NIC obeys a root of a later epoch: a claim of an earlier one is a problem, and no order. */
static void claim_of_earlier_epoch_is_problem_and_no_order(void **state)
{
	struct fm_init i;

	(void)state;
	node_1();
	s.roots = true;
	s.deaf = "init ping ";
	s.dev.root_epoch = 500;
	s.dev.root_guid = OTHER;
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_forget(&s);
	claim(1, NIC, 400);
	assert_int_equal(stage_count(&s, "root 100 of"), 0);
	assert_int_equal(stage_count(&s, "hello"), 0);
	stage_did_some(&s, "log error root: root");
	claim(1, NIC, 501);
	stage_did_some(&s, "root 100 of 501\n");
	stage_end(&s);
}

/*
 * The node does not know that the followed root only asks: a claim without an epoch shows it, and
 * the node's Inits say so from then on. A claim with an epoch does, if it was known to ask.
 */
static void claim_without_epoch_shows_that_root_asks(void **state)
{
	struct fm_init i;

	(void)state;
	at_root();
	assert_false(own_init().asks);
	claim(1, NIC, TERM);
	assert_false(own_init().asks);
	claim(1, NIC, 0);
	assert_true(own_init().asks);
	stage_end(&s);
	in_force();
	stage_down(&s, 1);
	i = stage_neighbour(&s, 2);
	i.asks = true;
	i.root_guid = OTHER;
	i.epoch = TERM + 1;
	stage_receive(&s, 2, &i);
	stage_up(&s, 2);
	assert_true(own_init().asks && own_init().lost);
	claim(2, OTHER, TERM + 1);
	assert_true(own_init().asks && !own_init().lost);
	stage_end(&s);
}

/* --- DROP ------------------------------------------------------------------------------- */

static struct fm_msg drop_of(uint32_t node)
{
	struct fm_msg m = { .type = FM_MSG_DROP };

	m.drop.term = TERM;
	m.drop.guid = NIC + node;
	snprintf(m.drop.address, sizeof(m.drop.address), "30.0.0.%u:1", node);
	return m;
}

/*
 * The root opens a connection to report that the parent has no power: the node goes back to the
 * root at once.
 */
static void node_with_dead_parent_returns_to_root(void **state)
{
	struct fm_msg m = drop_of(3);

	(void)state;
	with_parent();
	stage_up(&s, 70);
	stage_msg(&s, 70, &m);
	stage_did(&s, "close 70\n");
	stage_up(&s, 71);
	m = drop_of(2);
	stage_msg(&s, 71, &m);
	assert_int_equal(stage_count(&s, "close 71\n"), 1);
	stage_did_some(&s, "close 2\n");
	stage_run_ns(&s, s.now);
	stage_did(&s, "connect 30.0.0.0:1: 3\n");
	stage_end(&s);
}

/* A child cannot order to drop a node, and its table is not taken. */
static void drop_and_table_of_child_are_ignored(void **state)
{
	struct fm_msg m = drop_of(3);

	(void)state;
	joined();
	stage_msg(&s, 52, &m);
	m = stage_table(&s, 1, entry);
	stage_msg(&s, 52, &m);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* --- PONG ------------------------------------------------------------------------------- */

static void pong(int conn, bool adrift)
{
	struct fm_msg m = { .type = FM_MSG_PONG, .pong = { .adrift = adrift } };

	stage_msg(&s, conn, &m);
}

/* A root that has no way to a root asks; a parent without one does not. */
static void root_without_way_asks_and_parent_does_not(void **state)
{
	(void)state;
	joined();
	pong(1, true);
	assert_true(own_init().lost && !own_init().asks);
	pong(1, true);
	assert_true(!own_init().lost && own_init().asks);
	pong(1, false);
	assert_true(!own_init().lost && !own_init().asks);
	stage_end(&s);
	with_parent();
	pong(2, true);
	pong(2, true);
	assert_true(own_init().lost && !own_init().asks);
	stage_end(&s);
}

/* A root that asked for promises reports by PONG that it leads: the node knows since when. */
static void pong_shows_since_when_root_leads(void **state)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME };
	struct fm_status st;

	(void)state;
	at_root();
	m.welcome.term = TERM;
	m.welcome.root_guid = NIC;
	m.welcome.adrift = true;
	stage_msg(&s, 1, &m);
	fm_status(s.fm, &st);
	assert_int_equal(st.root.since, 0);
	assert_true(own_init().asks);
	stage_run(&s, 50);
	pong(1, false);
	fm_status(s.fm, &st);
	assert_int_equal(st.root.since, START + 50 * MS);
	assert_false(own_init().asks);
	assert_int_equal(own_init().epoch, TERM);
	stage_end(&s);
}

/* PONG of a root of the first epoch, before the node has a table. */
static void pong_before_first_table_changes_nothing(void **state)
{
	(void)state;
	at_root();
	stage_welcome(&s, 1, 1, "");
	stage_forget(&s);
	pong(1, true);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* --- FETCH ------------------------------------------------------------------------------ */

static void fetch(int conn, bool former, uint64_t version)
{
	struct fm_msg m = { .type = FM_MSG_FETCH };

	m.fetch.former = former;
	m.fetch.version = version;
	stage_msg(&s, conn, &m);
}

/* Only the root gets the table of a node; a node that has none sends none. */
static void only_root_gets_table_of_node(void **state)
{
	struct fm_msg m;

	(void)state;
	with_parent();
	m = stage_table(&s, 1, entry);
	stage_msg(&s, 2, &m);
	assert_int_equal(fm_version(s.fm), 1);
	stage_forget(&s);
	fetch(2, true, 0);
	stage_did_nothing(&s);
	stage_end(&s);
	joined();
	fetch(1, true, 0);
	fetch(1, false, 0);
	stage_did_nothing(&s);
	table(1);
	stage_forget(&s);
	fetch(1, true, 0);
	stage_did(&s, "1 < table 1 term 126 4x1 former" ALL);
	/* The number of a former table is no order to anyone. */
	fetch(1, false, TERM);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* A node that has kept a table sends it only as the answer to FETCH. */
static void kept_table_is_sent_only_as_answer_to_fetch(void **state)
{
	struct fm_entry kept_entry[4];
	struct fm_msg kept, m;

	(void)state;
	node_1();
	kept = stage_table(&s, 5, kept_entry);
	s.cfg.kept = &kept.table;
	joins();
	m = drop_of(3);
	stage_msg(&s, 1, &m);
	stage_did(&s, "close 53\n1 < left 103/1 parent 101 attach 1\n");
	fetch(1, false, 0);
	stage_did(&s, "1 < table 5 term 126 4x1" ALL);
	stage_end(&s);
}

/* --- LEAD ------------------------------------------------------------------------------- */

static unsigned int leads[STAGE_JOINERS];	/* number of LEADs by connection */

static void sees(int conn, const struct fm_msg *msg)
{
	if (msg->type == FM_MSG_LEAD)
		leads[conn]++;
}

static struct fm_msg lead(uint64_t guid, bool now)
{
	struct fm_msg m = { .type = FM_MSG_LEAD };

	m.lead.term = TERM;
	m.lead.guid = guid;
	m.lead.now = now;
	strcpy(m.lead.address, "30.0.0.3:1");
	memset(leads, 0, sizeof(leads));
	s.sees = sees;
	return m;
}

/* LEAD goes to all children; the named node answers that it is ready, others do nothing. */
static void node_named_in_lead_answers_that_it_is_ready(void **state)
{
	(void)state;
	for (unsigned int own = 0; own < 2; own++) {
		struct fm_msg m;

		joined();
		m = lead(NIC + (own ? 1 : 3), false);
		stage_msg(&s, 1, &m);
		assert_int_equal(leads[52] + leads[53], 2);
		assert_int_equal(leads[1], own);
		stage_did_no(&s, "close");
		assert_int_equal(own_init().root_guid, NIC);
		stage_end(&s);
	}
}

/* A LEAD of another epoch, or on a connection that is not confirmed, is no order. */
static void lead_of_other_epoch_or_connection_is_ignored(void **state)
{
	struct fm_msg m;

	(void)state;
	joined();
	m = lead(OTHER, true);
	m.lead.term = TERM + 1;
	stage_msg(&s, 1, &m);
	m.lead.term = TERM;
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_msg(&s, 2, &m);
	assert_int_equal(leads[52] + leads[53], 0);
	stage_did_nothing(&s);
	stage_end(&s);
}

/*
 * All nodes leave the root; a node that is not named connects to the named one, after that has got
 * LEAD, too.
 */
static void other_nodes_connect_to_new_root_after_it_got_lead(void **state)
{
	uint64_t least = NEVER, most = 0;

	(void)state;
	for (unsigned int seed = 0; seed < 30; seed++) {
		struct fm_msg m;
		uint64_t ns;

		node_1();
		s.cfg.seed = seed;
		s.cfg.takeover = 200 * MS;
		joins();
		m = lead(OTHER, true);
		stage_msg(&s, 1, &m);
		assert_int_equal(leads[52] + leads[53], 2);
		assert_int_equal(leads[1], 0);
		stage_did_some(&s, "close 1\n");
		assert_int_equal(own_init().root_guid, OTHER);
		assert_true(own_init().asks);
		ns = stage_wait(&s, "connect 30.0.0.3:1: 2");
		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
		stage_end(&s);
	}
	assert_in_range(least, s.cfg.resend / 4, s.cfg.resend * 9 / 32);
	assert_in_range(most, s.cfg.resend * 11 / 32, s.cfg.resend * 3 / 8);
}

/* The named node leaves the root, and asks to be root at once. */
static void named_node_leaves_root_and_asks(void **state)
{
	struct fm_msg m;

	(void)state;
	node_1();
	s.cfg.takeover = 200 * MS;
	joins();
	table(1);
	stage_forget(&s);
	m = lead(NIC + 1, true);
	stage_msg(&s, 1, &m);
	stage_did_some(&s, "close 1\n");
	stage_run_ns(&s, s.now);
	assert_int_equal(own_init().root_guid, NIC + 1);
	assert_true(own_init().asks);
	stage_end(&s);
}

/*
 * The answer of the named node comes from a child, and is passed on; an answer of this node itself
 * never comes from there.
 */
static void lead_from_child_is_passed_on_unless_it_names_this_node(void **state)
{
	struct fm_msg m;

	(void)state;
	joined();
	m = lead(NIC + 2, false);
	stage_msg(&s, 52, &m);
	assert_int_equal(leads[1], 1);
	stage_did_no(&s, "close");
	m = lead(NIC + 1, false);
	stage_msg(&s, 52, &m);
	assert_int_equal(leads[1], 0);
	stage_did_some(&s, "close 52\n");
	stage_end(&s);
}

/* The version in a step may be any number, also one that is the GUID of a node. */
static void version_equal_to_guid_closes_no_connection(void **state)
{
	(void)state;
	joined();
	table(NIC + 2);
	step(NIC + 2, 1, FM_STEP_COUNT);
	stage_did_no(&s, "close");
	stage_end(&s);
}

/* --- a new root ------------------------------------------------------------------------- */

/* Actions at the NIC that the former root had ordered are not continued. */
static void actions_of_former_root_are_not_continued(void **state)
{
	(void)state;
	joined();
	s.roots = true;
	s.slow = true;
	table(1);
	stage_end_of(&s);	/* the NIC obeys the new root */
	stage_did_some(&s, "place ");
	stage_welcome(&s, 1, TERM + 1, "");
	stage_end_of(&s);
	stage_end_of(&s);
	stage_did_no(&s, "rows");
	stage_end(&s);
}

/*
 * The WELCOME of the root names a parent, by an address of any length, or none: a complaint about a
 * former parent ends.
 */
static void node_connects_to_parent_named_in_welcome(void **state)
{
	(void)state;
	at_root();
	stage_welcome(&s, 1, TERM, "p");
	stage_did(&s, "connect p: 2\n");
	stage_down(&s, 2);
	stage_did_some(&s, " stray ");
	stage_welcome(&s, 1, TERM, "");
	stage_down(&s, 1);
	stage_wait(&s, "connect 30.0.0.0:1: 3");
	stage_up(&s, 3);
	assert_int_equal(stage_count(&s, "3 < hello join"), 1);
	stage_did_no(&s, "stray");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_claim_is_answered_by_hello),
		cmocka_unit_test(claim_of_wrong_node_or_connection_is_ignored),
		cmocka_unit_test(claim_of_earlier_epoch_is_problem_and_no_order),
		cmocka_unit_test(claim_without_epoch_shows_that_root_asks),
		cmocka_unit_test(node_with_dead_parent_returns_to_root),
		cmocka_unit_test(drop_and_table_of_child_are_ignored),
		cmocka_unit_test(root_without_way_asks_and_parent_does_not),
		cmocka_unit_test(pong_shows_since_when_root_leads),
		cmocka_unit_test(pong_before_first_table_changes_nothing),
		cmocka_unit_test(only_root_gets_table_of_node),
		cmocka_unit_test(kept_table_is_sent_only_as_answer_to_fetch),
		cmocka_unit_test(node_named_in_lead_answers_that_it_is_ready),
		cmocka_unit_test(lead_of_other_epoch_or_connection_is_ignored),
		cmocka_unit_test(other_nodes_connect_to_new_root_after_it_got_lead),
		cmocka_unit_test(named_node_leaves_root_and_asks),
		cmocka_unit_test(lead_from_child_is_passed_on_unless_it_names_this_node),
		cmocka_unit_test(version_equal_to_guid_closes_no_connection),
		cmocka_unit_test(actions_of_former_root_are_not_continued),
		cmocka_unit_test(node_connects_to_parent_named_in_welcome),
	};

	return cmocka_run_group_tests_name("fm_parent_messages", all, NULL, NULL);
}
