// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a member says to its root of the table that it has, when it asks whether its parent lives,
 * whom it drops at the root's word, and since when it knows that root.
 */
#include <string.h>

#include "stage_member.h"

static struct fm_hello said;	/* the last HELLO */
static unsigned int hellos;

static void sees(int conn, const struct fm_msg *msg)
{
	(void)conn;
	if (msg->type != FM_MSG_HELLO)
		return;
	said = msg->hello;
	hellos++;
}

/* The connection to the root ends; the next one, @conn, stands soon. Return: the HELLO on it. */
static const struct fm_hello *hello_again(int conn)
{
	stage_down(&s, conn - 1);
	stage_run_ns(&s, s.now + 2000 * MS);
	hellos = 0;
	s.sees = sees;
	stage_up(&s, conn);
	assert_int_equal(hellos, 1);
	s.sees = NULL;
	return &said;
}

/* --- the table that it has -------------------------------------------------------------- */

/* A new root begins with what this says of colours, open dimensions, voters and former tables. */
static void tells_of_its_table(void **state)
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

/*
 * Ports that wait to be opened again are counted at the node's place; without one there are none.
 */
static void ports_to_open(void **state)
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

/* --- its parent ------------------------------------------------------------------------- */

/* A neighbour that is in the table has lost the root: the parent may have vanished with it. */
static void a_neighbour_lost_the_root(void **state)
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
		stage_hear(&s, 0, &i);
		assert_int_equal(stage_count(&s, "1 < ping\n"), kin);
		stage_end(&s);
	}
}

/* --- at the root's word ----------------------------------------------------------------- */

/* A former root's word that a node has no power is not followed. */
static void drops_for_its_root_only(void **state)
{
	struct fm_msg m = { .type = FM_MSG_DROP };

	(void)state;
	in_force();
	m.drop.guid = NIC + 2;
	strcpy(m.drop.address, "10.0.0.2:1");
	m.drop.term = TERM - 1;
	stage_msg(&s, 1, &m);
	stage_did_nothing(&s);
	m.drop.term = TERM;
	stage_msg(&s, 1, &m);
	stage_did_some(&s, "close 52\n");
	stage_end(&s);
}

/* --- since when ------------------------------------------------------------------------- */

static uint64_t since(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	return st.root.since - START;
}

/* A connection that breaks does not change it; another epoch of the root, or another root, does. */
static void since_when_it_leads(void **state)
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
	strcpy(i.root_address, "10.0.0.9:1");
	stage_hear(&s, 0, &i);
	stage_up(&s, 4);
	struct fm_msg m = { .type = FM_MSG_WELCOME };

	m.welcome.term = TERM + 2;
	m.welcome.root_guid = 0xabc;
	stage_msg(&s, 4, &m);
	assert_int_equal(since(), s.now);
	stage_end(&s);
}

/* --- a root that cannot be reached ------------------------------------------------------ */

/*
 * Another root leads, and the first try to connect fails: it is tried again, not the one that was
 * lost.
 */
static void tries_it_again(void **state)
{
	struct fm_init i;

	(void)state;
	in_force();
	stage_down(&s, 1);
	i = stage_neighbour(&s, 0);
	i.epoch = TERM + 1;
	i.root_guid = 0xabc;
	strcpy(i.root_address, "10.0.0.9:1");
	stage_hear(&s, 0, &i);
	stage_did_some(&s, "connect 10.0.0.9:1: 2\n");
	stage_down(&s, 2);
	stage_run_ns(&s, s.now + 1000 * MS);
	assert_int_equal(stage_count(&s, "connect 10.0.0.0:1"), 0);
	assert_true(stage_count(&s, "connect 10.0.0.9:1") > 0);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(tells_of_its_table),
		cmocka_unit_test(ports_to_open),
		cmocka_unit_test(a_neighbour_lost_the_root),
		cmocka_unit_test(drops_for_its_root_only),
		cmocka_unit_test(since_when_it_leads),
		cmocka_unit_test(tries_it_again),
	};

	return cmocka_run_group_tests_name("fm_uplink", all, NULL, NULL);
}
