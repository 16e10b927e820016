// SPDX-License-Identifier: GPL-2.0-only
/* When a node that has lost its root asks to be root itself. */
#include "stage_member.h"

#define TAKEOVER 300	/* fm_config.takeover of these tests, ms */

static bool asks(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	return st.root.state == FM_ROOT_ASKS && st.root.own;
}

/* Begins with a candidate with a place, which has just lost its root. */
static void lost(unsigned int priority)
{
	node_1();
	s.cfg.takeover = TAKEOVER * MS;
	s.cfg.priority = priority;
	joins();
	table(1);
	stage_run(&s, 20);
	stage_down(&s, 1);
	assert_false(asks());
}

/* A candidate that is alone asks to be root after the time in which the root may come back. */
static void lone_candidate_asks_after_takeover_time(void **state)
{
	(void)state;
	lost(FM_PRIORITY_AUTO);
	stage_run_ns(&s, s.now + TAKEOVER * MS);
	assert_false(asks());
	stage_run_ns(&s, s.now + TAKEOVER * MS);
	assert_true(asks());
	stage_end(&s);
}

/* Candidates ask in the order of their priorities, with time between them. */
static void candidates_ask_in_order_of_priority(void **state)
{
	static const unsigned int priority[] = { 255, 200, 101, 100, 99, 50, 1 };
	uint64_t last = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(priority) / sizeof(priority[0]); i++) {
		uint64_t since, took;

		lost(priority[i]);
		since = s.now;
		while (!asks() && s.now < since + 5 * TAKEOVER * MS)
			stage_run_ns(&s, s.now + MS / 10);
		took = s.now - since;
		assert_true(took >= TAKEOVER * MS && took < 4 * TAKEOVER * MS);
		assert_true(took > last + MS / 5);
		/* Nodes 0 to 7 with the default ask from 77.5 ms on, 75 ms apart. */
		assert_int_equal(took < (TAKEOVER + 78) * MS, priority[i] > 100);
		assert_int_equal(took > (TAKEOVER + 77 + 8 * 75) * MS, priority[i] < 100);
		last = took;
		stage_end(&s);
	}
}

/*
 * The root is there again, and the NIC is slow, so HELLO has not been sent yet: the candidate waits
 * for the root.
 */
static void candidate_does_not_ask_while_it_joins(void **state)
{
	(void)state;
	lost(FM_PRIORITY_AUTO);
	stage_run_ns(&s, s.now + 100 * MS);
	s.slow = true;
	stage_up(&s, 2);
	stage_run_ns(&s, s.now + 4 * TAKEOVER * MS);
	assert_false(asks());
	/* The connection that followed breaks, too, and no other one comes. */
	s.refuse_connect = -1;
	stage_down(&s, 2);
	stage_run_ns(&s, s.now + 2 * TAKEOVER * MS);
	assert_true(asks());
	stage_end(&s);
}

/*
 * A candidate that asks without success, again and again, doubles the time until it asks once more,
 * five times.
 */
static void unsuccessful_candidate_doubles_its_wait(void **state)
{
	(void)state;
	lost(FM_PRIORITY_AUTO);
	s.refuse_connect = -1;
	for (unsigned int k = 0; k < 8; k++) {
		uint64_t since = s.now, least = (uint64_t)TAKEOVER * MS << (k < 5 ? k : 5);

		while (!asks() && s.now < since + 60 * SEC)
			stage_run_ns(&s, s.now + 10 * MS);
		assert_true(s.now >= since + least - 10 * MS);
		assert_true(s.now < since + least + TAKEOVER * MS);
		while (asks() && s.now < since + 60 * SEC)
			stage_run_ns(&s, s.now + 10 * MS);
		assert_false(asks());
	}
	stage_end(&s);
}

/*
 * A NIC with the bootstrap flag knows of no root, so it leads at once. It learns of a later root,
 * which it does not reach. It asks when its turn comes, and does not lead as the first root again.
 */
static void root_that_cannot_reach_later_root_asks(void **state)
{
	struct fm_init i;

	(void)state;
	stage_init(&s, "4x1", 0);
	s.cfg.takeover = TAKEOVER * MS;
	s.cfg.priority = FM_PRIORITY_AUTO;
	s.deaf = "init ping ";
	stage_link_up(&s, 0, 1);
	stage_start(&s);
	assert_true(fm_is_root(s.fm));
	i = stage_neighbour(&s, 0);
	i.root_guid = i.guid;
	i.epoch = fm_epoch(s.fm) + 1;
	s.refuse_connect = -1;
	stage_receive(&s, 0, &i);
	assert_false(fm_is_root(s.fm));
	for (uint64_t end = s.now + 3 * TAKEOVER * MS; s.now < end && !asks();)
		stage_run_ns(&s, s.now + MS);
	assert_true(asks());
	assert_false(fm_is_root(s.fm));
	stage_end(&s);
}

/* --- once it leads --------------------------------------------------------------------- */

/* Sends the HELLO of a node that has table 1, in which all are up. */
static void sends_hello(uint32_t node)
{
	struct fm_msg m = stage_hello(&s, node);

	m.hello.placed = true;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = (int16_t)node;
	m.hello.version = m.hello.table = 1;
	m.hello.term = m.hello.root_epoch = TERM;
	m.hello.table_root = m.hello.root_guid = NIC;
	m.hello.ups = 4;
	m.hello.counted = true;
	stage_up(&s, 100 + (int)node);
	stage_msg(&s, 100 + (int)node, &m);
}

/*
 * A root that asks all anew, and gets no answer, goes on asking, for no other node has led since.
 */
static void root_that_learns_of_later_epoch_asks_again(void **state)
{
	struct fm_status st;
	struct fm_init i;

	(void)state;
	lost(FM_PRIORITY_AUTO);
	stage_run_ns(&s, s.now + 2 * TAKEOVER * MS);
	assert_true(asks());
	sends_hello(2);
	sends_hello(3);
	stage_run_ns(&s, s.now + 2 * MS);
	fm_status(s.fm, &st);
	assert_int_equal(st.root.state, FM_ROOT_LEADS);
	assert_true(st.root.own);
	/* A neighbour that has lost its root knows of a later epoch. */
	i = stage_neighbour(&s, 0);
	i.guid = 0xdead;
	i.root_guid = 0xabc;
	i.epoch = st.root.epoch + 1;
	i.lost = true;
	stage_receive(&s, 0, &i);
	stage_run_ns(&s, s.now + MS);
	assert_true(asks());
	stage_run_ns(&s, s.now + 5000 * MS);
	assert_true(asks());
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(lone_candidate_asks_after_takeover_time),
		cmocka_unit_test(candidates_ask_in_order_of_priority),
		cmocka_unit_test(candidate_does_not_ask_while_it_joins),
		cmocka_unit_test(unsuccessful_candidate_doubles_its_wait),
		cmocka_unit_test(root_that_cannot_reach_later_root_asks),
		cmocka_unit_test(root_that_learns_of_later_epoch_asks_again),
	};

	return cmocka_run_group_tests_name("fm_candidate", all, NULL, NULL);
}
