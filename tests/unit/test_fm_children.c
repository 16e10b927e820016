// SPDX-License-Identifier: GPL-2.0-only
/*
 * The children of a node: which it accepts, what it passes on, what all nodes below it learn about
 * the way to the root, and how one of many connections is found.
 */
#include <errno.h>
#include <stdio.h>

#include "stage.h"

static struct stage s;

/* Node 1 of a 4x1, which has just learned of the root. */
static void begin(void)
{
	struct fm_init i;

	stage_init(&s, "4x1", 1);
	s.deaf = "init ";
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
}

/* As begin(), and the node has sent HELLO to the root, by connection 1. */
static void at_root(void)
{
	begin();
	stage_up(&s, 1);
	stage_forget(&s);
}

/* As at_root(), and the root has accepted the node, which stays there. */
static void joined(void)
{
	at_root();
	stage_welcome(&s, 1, TERM, "");
}

/* --- children --------------------------------------------------------------------------- */

static struct fm_msg child_hello(uint32_t node)
{
	struct fm_msg m = stage_hello(&s, node);

	m.hello.role = FM_ROLE_CHILD;
	m.hello.term = TERM;
	m.hello.attach = 40 + node;
	return m;
}

#define WELCOME " < welcome term 126 root 100 parent ''\n"

/* Node @node becomes a child, by connection @conn. */
static void child(int conn, uint32_t node)
{
	struct fm_msg m = child_hello(node);

	stage_up(&s, conn);
	stage_msg(&s, conn, &m);
}

static void child_is_adopted_and_its_messages_passed_on(void **state)
{
	(void)state;
	joined();
	child(50, 3);
	stage_did(&s, "50" WELCOME "1 < adopted 103/1 parent 101 attach 43\n");
	stage_send(&s, 50, FM_MSG_PING);
	stage_did(&s, "50 < pong\n");
	/* Messages of the child are passed on. */
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { .guid = NIC + 9, .epoch = 2, .row = stage_row(&s, 3) };
	stage_msg(&s, 50, &m);
	stage_did(&s, "1 < row 109/2 row 1: u100.2 d u102.0 d\n1 < ping\n");
	m = (struct fm_msg) { .type = FM_MSG_LEFT };
	m.left = (struct fm_left) { NIC + 9, NIC + 3, 17, 2 };
	stage_msg(&s, 50, &m);
	stage_did(&s, "1 < left 109/2 parent 103 attach 17\n");
	m.type = FM_MSG_ADOPTED;
	stage_msg(&s, 50, &m);
	stage_did(&s, "1 < adopted 109/2 parent 103 attach 17\n");
	/* A message that only a parent may send has no effect. */
	stage_welcome(&s, 50, TERM + 1, "30.0.0.9:1");
	stage_refuse(&s, 50, "no");
	stage_did_nothing(&s);
	stage_down(&s, 50);
	stage_did(&s, "1 < left 103/1 parent 101 attach 43\n");
	/* The child is not there any more. */
	stage_send(&s, 50, FM_MSG_PING);
	stage_down(&s, 50);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* A message of this node comes back from a child: the tree has a circle. */
static void own_message_from_child_closes_circle(void **state)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	(void)state;
	joined();
	child(50, 3);
	stage_forget(&s);
	m.row = (struct fm_row_msg) { .guid = NIC + 1, .epoch = 1, .row = stage_row(&s, 1) };
	stage_msg(&s, 50, &m);
	stage_did(&s, "close 50\n1 < left 103/1 parent 101 attach 43\n");
	for (unsigned int type = 0; type < 2; type++) {
		child(51, 3);
		stage_forget(&s);
		m = (struct fm_msg) { .type = type ? FM_MSG_LEFT : FM_MSG_ADOPTED };
		m.left = (struct fm_left) { NIC + 3, NIC + 1, 43, 1 };
		stage_msg(&s, 51, &m);
		stage_did(&s, "close 51\n1 < left 103/1 parent 101 attach 43\n");
		/* A report that we have left a parent is no circle. */
		child(51, 3);
		stage_forget(&s);
		m.left = (struct fm_left) { NIC + 1, NIC + 3, 43, 1 };
		stage_msg(&s, 51, &m);
		stage_did_no(&s, "close");
		stage_down(&s, 51);
		stage_forget(&s);
	}
	stage_end(&s);
}

static void refuses(struct fm_msg *m, const char *why)
{
	char want[300];

	stage_up(&s, 60);
	stage_msg(&s, 60, m);
	sprintf(want, "60 < refuse %s\nclose 60\n", why);
	stage_did(&s, want);
}

static void wrong_hello_of_child_is_refused_with_reason(void **state)
{
	struct fm_msg m;

	(void)state;
	joined();
	m = child_hello(3);
	strcpy(m.hello.fabric, "fob");
	refuses(&m, "fabric 'fob' is not 'fab'");
	m = child_hello(1);
	refuses(&m, "it has connected to itself, or another NIC has its GUID");
	m = child_hello(3);
	m.hello.role = FM_ROLE_JOIN;
	refuses(&m, "this node is not the root");
	m = child_hello(3);
	m.hello.term = TERM + 1;
	refuses(&m, "this node has not joined the root of that epoch");
	/*
	 * The child's NIC obeys another root of this epoch; one of an earlier epoch would not
	 * matter.
	 */
	m = child_hello(3);
	m.hello.root_epoch = TERM;
	m.hello.root_guid = NIC + 7;
	refuses(&m, "this node has not joined the root of that epoch");
	m.hello.root_epoch = TERM - 1;
	stage_up(&s, 61);
	stage_msg(&s, 61, &m);
	stage_did(&s, "61" WELCOME "1 < adopted 103/1 parent 101 attach 43\n");
	stage_down(&s, 1);
	stage_forget(&s);
	m = child_hello(3);
	refuses(&m, "this node has not joined the root of that epoch");
	stage_end(&s);
	/* No child is accepted before the node itself has been accepted. */
	at_root();
	m = child_hello(3);
	m.hello.term = 0;
	refuses(&m, "this node has not joined the root of that epoch");
	stage_end(&s);
}

/* A stranger sends nothing, or anything but HELLO: its connection is closed. */
static void stranger_without_hello_is_closed(void **state)
{
	(void)state;
	joined();
	stage_up(&s, 50);
	stage_send(&s, 50, FM_MSG_PING);
	stage_send(&s, 50, FM_MSG_FETCH);
	stage_send(&s, 50, FM_MSG_ROW);
	stage_welcome(&s, 50, TERM, "30.0.0.9:1");
	stage_did_nothing(&s);
	s.deaf = "init ping ";
	stage_run(&s, 3999);
	stage_send(&s, 1, FM_MSG_PONG);
	stage_did_nothing(&s);
	stage_run(&s, 4000);
	stage_did(&s, "at 4000 ms\nclose 50\n");
	stage_up(&s, 51);
	stage_down(&s, 51);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* A child that hangs keeps its connection for four keep-alives. */
static void silent_child_is_closed_after_four_keep_alives(void **state)
{
	(void)state;
	joined();
	child(50, 3);
	stage_forget(&s);
	s.deaf = "init ping pong ";
	stage_run(&s, 1500);
	stage_send(&s, 50, FM_MSG_PING);
	stage_send(&s, 1, FM_MSG_PONG);
	stage_run(&s, 5000);
	stage_send(&s, 1, FM_MSG_PONG);
	stage_run(&s, 5499.999);
	stage_did_nothing(&s);
	stage_run(&s, 5500);
	stage_did(&s, "at 5500 ms\nclose 50\n1 < left 103/1 parent 101 attach 43\n");
	stage_end(&s);
}

/* A child comes again on another connection: the first one is closed. */
static void second_connection_of_child_closes_first(void **state)
{
	(void)state;
	joined();
	child(50, 3);
	child(51, 2);
	stage_forget(&s);
	child(52, 3);
	stage_did(&s, "52" WELCOME "close 50\n1 < adopted 103/1 parent 101 attach 43\n");
	stage_send(&s, 50, FM_MSG_PING);
	stage_did_nothing(&s);
	/* A HELLO on the same connection closes nothing. */
	child(52, 3);
	stage_did(&s, "52" WELCOME "1 < adopted 103/1 parent 101 attach 43\n");
	stage_send(&s, 51, FM_MSG_PING);
	stage_send(&s, 52, FM_MSG_PING);
	stage_did(&s, "51 < pong\n52 < pong\n");
	stage_end(&s);
}

/* A new parent learns of all children, and they learn that the way to the root is new. */
static void new_parent_learns_all_children(void **state)
{
	(void)state;
	joined();
	child(50, 3);
	child(51, 2);
	stage_welcome(&s, 1, TERM, "30.0.0.9:1");
	stage_forget(&s);
	stage_up(&s, 2);
	stage_forget(&s);
	stage_welcome(&s, 2, TERM, "");
	assert_int_equal(stage_count(&s, "\n"), 5);
	assert_int_equal(stage_count(&s, "close 1\n"), 1);
	assert_int_equal(stage_count(&s, "2 < adopted 102/1 parent 101 attach 42\n51" WELCOME), 1);
	assert_int_equal(stage_count(&s, "2 < adopted 103/1 parent 101 attach 43\n50" WELCOME), 1);
	/* The same message from above again is also passed down. */
	stage_forget(&s);
	stage_welcome(&s, 2, TERM, "");
	assert_int_equal(stage_count(&s, "adopted"), 2);
	stage_did_some(&s, "51" WELCOME);
	/* The root is back with another term: all children are sent away. */
	stage_down(&s, 2);
	s.deaf = "init pong ";
	stage_wait(&s, "connect 30.0.0.0:1: 3");
	stage_up(&s, 3);
	stage_forget(&s);
	s.stamped = s.now;
	stage_welcome(&s, 3, TERM + 1, "");
	assert_int_equal(stage_count(&s, "\n"), 2);
	assert_int_equal(stage_count(&s, "close 50\n"), 1);
	stage_did_some(&s, "close 51\n");
	stage_end(&s);
	/* With the same term they stay. */
	joined();
	child(50, 3);
	stage_down(&s, 1);
	stage_wait(&s, "connect 30.0.0.0:1: 2");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_welcome(&s, 2, TERM, "");
	stage_did(&s, "50 < pong\n2 < adopted 103/1 parent 101 attach 43\n50" WELCOME);
	/* The same message on the same connection is not news. */
	stage_welcome(&s, 2, TERM, "");
	stage_did_nothing(&s);
	stage_end(&s);
}

/* --- adrift ----------------------------------------------------------------------------- */

static void is_cut_off(bool is, double since)
{
	struct fm_status st;
	struct fm_outline o;

	fm_status(s.fm, &st);
	fm_outline(s.fm, &o);
	assert_int_equal(o.cut_off, is);
	assert_int_equal(st.root.reachable, !is);
	assert_int_equal(st.root.lost, is ? START + (uint64_t)(since * 1000) * (MS / 1000) : 0);
}

/* A node without a way to the root informs its children, also those that come later. */
static void children_learn_that_root_is_lost(void **state)
{
	struct fm_msg m = { .type = FM_MSG_PONG };

	(void)state;
	begin();
	stage_forget(&s);
	is_cut_off(true, 0);
	stage_up(&s, 1);
	stage_run(&s, 50);
	stage_welcome(&s, 1, TERM, "");
	is_cut_off(false, 0);
	child(50, 3);
	stage_forget(&s);
	m.pong.adrift = true;
	stage_run(&s, 100);
	stage_msg(&s, 1, &m);
	stage_did(&s, "at 100 ms\n50 < pong adrift\n");
	is_cut_off(true, 100);
	stage_run(&s, 150);
	stage_msg(&s, 1, &m);
	stage_did_nothing(&s);
	is_cut_off(true, 100);
	/* A child that comes is told after it is accepted. */
	child(51, 2);
	stage_did(&s, "51" WELCOME "1 < adopted 102/1 parent 101 attach 42\n"
		      "51 < pong adrift\n");
	stage_send(&s, 50, FM_MSG_PING);
	stage_did(&s, "50 < pong adrift\n");
	m.pong.adrift = false;
	stage_msg(&s, 1, &m);
	assert_int_equal(stage_count(&s, "50 < pong\n"), 1);
	assert_int_equal(stage_count(&s, "51 < pong\n"), 1);
	stage_forget(&s);
	is_cut_off(false, 0);
	/* Only a node above can say so, and only on the connection in use. */
	m.pong.adrift = true;
	stage_msg(&s, 50, &m);
	is_cut_off(false, 0);
	stage_run(&s, 200);
	stage_forget(&s);
	stage_down(&s, 1);
	assert_int_equal(stage_count(&s, "50 < pong adrift\n"), 1);
	assert_int_equal(stage_count(&s, "51 < pong adrift\n"), 1);
	is_cut_off(true, 200);
	stage_end(&s);
}

/* The loss of one of two ways to the root changes nothing. */
static void loss_of_one_of_two_ways_changes_nothing(void **state)
{
	struct fm_msg m = { .type = FM_MSG_PONG };

	(void)state;
	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	m.pong.adrift = true;
	stage_msg(&s, 2, &m);
	is_cut_off(false, 0);
	stage_down(&s, 2);
	is_cut_off(false, 0);
	stage_down(&s, 1);
	is_cut_off(true, 0);
	stage_end(&s);
	/* The parent has joined a newer root than we have: both stay, and the root may go. */
	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	stage_welcome(&s, 2, TERM + 1, "");
	stage_down(&s, 1);
	is_cut_off(false, 0);
	stage_down(&s, 2);
	is_cut_off(true, 0);
	stage_end(&s);
}

static bool adrift;	/* the last WELCOME */
static unsigned int welcomes;

static void sees(int conn, const struct fm_msg *msg)
{
	(void)conn;
	if (msg->type != FM_MSG_WELCOME)
		return;
	adrift = msg->welcome.adrift;
	welcomes++;
}

/*
 * WELCOME says if this node has a way to a root. It is sent to a new child, and to all when the way
 * is new.
 */
static void welcome_shows_whether_root_is_reachable(void **state)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME };

	(void)state;
	for (unsigned int is = 0; is < 2; is++) {
		at_root();
		m.welcome.term = TERM;
		m.welcome.root_guid = NIC;
		m.welcome.adrift = is;
		stage_msg(&s, 1, &m);
		s.sees = sees;
		welcomes = 0;
		child(50, 3);
		assert_int_equal(welcomes, 1);
		assert_int_equal(adrift, is);
		/* A parent that knows no more. */
		strcpy(m.welcome.parent, "30.0.0.2:1");
		stage_msg(&s, 1, &m);
		m.welcome.parent[0] = '\0';
		stage_up(&s, 2);
		stage_msg(&s, 2, &m);
		assert_int_equal(welcomes, 2);
		assert_int_equal(adrift, is);
		stage_end(&s);
	}
}

/* --- many connections ------------------------------------------------------------------- */

#define MANY 200

static void many_children_come_and_go(void **state)
{
	char want[64];

	(void)state;
	joined();
	s.deaf = "init adopted welcome ";
	for (int i = 0; i < MANY; i++)
		child(1000 + 7 * i, (uint32_t)(10 + i));
	stage_did_nothing(&s);
	/* Every third child is gone. */
	for (int i = 0; i < MANY; i += 3) {
		stage_down(&s, 1000 + 7 * i);
		sprintf(want, "1 < left %llx/1 parent 101 attach %d\n", NIC + 10 + (unsigned int)i,
			50 + i);
		stage_did(&s, want);
	}
	for (int i = 0; i < MANY; i++) {
		stage_send(&s, 1000 + 7 * i, FM_MSG_PING);
		sprintf(want, "%d < pong\n", 1000 + 7 * i);
		stage_did(&s, i % 3 ? want : "");
		stage_send(&s, 1001 + 7 * i, FM_MSG_PING);
		stage_did_nothing(&s);
	}
	/* Each comes again by another connection, and its old one is closed. */
	for (int i = 0; i < MANY; i++) {
		child(5000 + i, (uint32_t)(10 + i));
		sprintf(want, "close %d\n", 1000 + 7 * i);
		stage_did(&s, i % 3 ? want : "");
	}
	stage_end(&s);
}

/* A connection turns out to lead to another node than before. */
static void connection_with_other_child_replaces_first(void **state)
{
	(void)state;
	joined();
	child(50, 3);
	child(51, 2);
	child(50, 9);
	stage_forget(&s);
	child(52, 3);
	stage_did_no(&s, "close");
	child(53, 9);
	stage_did_some(&s, "close 50\n");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(child_is_adopted_and_its_messages_passed_on),
		cmocka_unit_test(own_message_from_child_closes_circle),
		cmocka_unit_test(wrong_hello_of_child_is_refused_with_reason),
		cmocka_unit_test(stranger_without_hello_is_closed),
		cmocka_unit_test(silent_child_is_closed_after_four_keep_alives),
		cmocka_unit_test(second_connection_of_child_closes_first),
		cmocka_unit_test(new_parent_learns_all_children),
		cmocka_unit_test(children_learn_that_root_is_lost),
		cmocka_unit_test(loss_of_one_of_two_ways_changes_nothing),
		cmocka_unit_test(welcome_shows_whether_root_is_reachable),
		cmocka_unit_test(many_children_come_and_go),
		cmocka_unit_test(connection_with_other_child_replaces_first),
	};

	return cmocka_run_group_tests_name("fm_children", all, NULL, NULL);
}
