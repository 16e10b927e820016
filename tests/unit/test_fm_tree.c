// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node's way to the root and to its parent: to which nodes it connects and when, what it sends,
 * and when it treats a connection as lost.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/fm/clock.h"
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

#define HELLO(role, more) "hello " role " 'n1' 30.0.0.1:1 101/1" more
#define ROW " row 1000001: d d d d\n"

/* As begin(), and the node has sent HELLO to the root, by connection 1. */
static void at_root(void)
{
	begin();
	stage_up(&s, 1);
	stage_did(&s, "at 0 ms\nlog info bootstrap: "
		       "this node takes its position from node 'n0' at port -x\n"
		      "connect 30.0.0.0:1: 1\n"
		      "1 < " HELLO("join", " position 1,0 attach +1") ROW);
}

/* As at_root(), and the root has accepted the node, which stays there. */
static void joined(void)
{
	at_root();
	stage_welcome(&s, 1, TERM, "");
	stage_did_nothing(&s);
}

/* As at_root(), and the node has node 2 as its parent, by connection 2. */
static void with_parent(void)
{
	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_did(&s, "connect 30.0.0.2:1: 2\n");
	stage_up(&s, 2);
	stage_did(&s, "2 < " HELLO("child", " position 1,0 term 126 attach +2") ROW);
	stage_welcome(&s, 2, TERM, "");
	stage_did(&s, "close 1\n");
}

/* --- joining ---------------------------------------------------------------------------- */

/*
 * HELLO is repeated until it is answered: after 100 ms, and then each time after a little more than
 * twice as long. After another answer it is repeated as at first.
 */
static void hello_is_repeated_until_answered(void **state)
{
	(void)state;
	at_root();
	stage_run(&s, 99.999);
	stage_did_nothing(&s);
	stage_run(&s, 299.999);
	assert_int_equal(stage_count(&s, "at 100 ms\n1 < hello join"), 1);
	assert_int_equal(stage_count(&s, "\n"), 2);
	stage_run(&s, 350);
	assert_int_equal(stage_count(&s, "1 < hello join"), 2);
	stage_run(&s, 699.999);
	assert_int_equal(stage_count(&s, "1 < hello join"), 2);
	stage_run(&s, 850);
	assert_int_equal(stage_count(&s, "1 < hello join"), 3);
	stage_forget(&s);
	stage_welcome(&s, 1, 0, "");
	stage_run(&s, 949);
	assert_int_equal(stage_count(&s, "1 < hello join"), 1);
	stage_forget(&s);
	stage_welcome(&s, 1, TERM, "");
	stage_run(&s, 1848);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* A node that is welcomed by another root than its own leaves it, and tries its own root again. */
static void connection_ends_if_welcome_names_other_root(void **state)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME };

	(void)state;
	at_root();
	m.welcome.term = TERM;
	m.welcome.root_guid = NIC + 7;
	strcpy(m.welcome.parent, "30.0.0.2:1");
	stage_msg(&s, 1, &m);
	assert_int_equal(stage_count(&s, "connect 30.0.0.2:1"), 0);
	stage_did_some(&s, "close 1\n");
	stage_wait(&s, "connect 30.0.0.0:1");
	stage_end(&s);
}

/* A connection that does not come up, or gets no answer, is given up. */
static void connection_without_answer_is_given_up(void **state)
{
	(void)state;
	begin();
	stage_forget(&s);
	stage_run(&s, 3999.999);
	stage_did_nothing(&s);
	stage_run(&s, 4500);
	assert_int_equal(stage_count(&s, "at 4000 ms\nclose 1\n"), 1);
	assert_int_equal(stage_count(&s, "connect 30.0.0.0:1: 2\n"), 1);
	stage_forget(&s);
	stage_up(&s, 2);
	stage_forget(&s);
	stage_run(&s, 8499.999);
	stage_did_no(&s, "close");
	stage_run(&s, 8500);
	stage_did_some(&s, "close 2\n");
	stage_end(&s);
}

/* Once accepted, the node pings a silent peer, and gives it up after four keep-alives. */
static void silent_peer_is_pinged_and_given_up(void **state)
{
	(void)state;
	joined();
	stage_run(&s, 500);
	stage_send(&s, 1, FM_MSG_PONG);
	stage_run(&s, 4499);
	stage_did(&s, "at 1500 ms\n1 < ping\nat 2500 ms\n1 < ping\nat 3500 ms\n1 < ping\n");
	stage_send(&s, 1, FM_MSG_PONG);
	stage_run(&s, 8498.999);
	stage_did(&s, "at 5499 ms\n1 < ping\nat 6499 ms\n1 < ping\nat 7499 ms\n1 < ping\n");
	stage_run(&s, 8499);
	stage_did(&s, "at 8499 ms\nclose 1\n");
	stage_run(&s, 8600);
	stage_did_some(&s, "connect 30.0.0.0:1: 2\n");
	stage_end(&s);
}

/* Any message counts as a sign of life. */
static void any_message_is_sign_of_life(void **state)
{
	(void)state;
	joined();
	for (unsigned int i = 1; i < 20; i++) {
		stage_run(&s, i * 900.);
		stage_welcome(&s, 1, TERM, "");
	}
	stage_did_nothing(&s);
	stage_end(&s);
}

/* --- trying again ----------------------------------------------------------------------- */

/* Attempts to connect are further and further apart, from 25 ms to 500 ms, with 50 % of jitter. */
static void tries_to_connect_are_ever_further_apart(void **state)
{
	double least[8], most[8];

	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		least[k] = 10;
		most[k] = 0;
	}
	for (unsigned int seed = 1; seed < 60; seed++) {
		struct fm_init i;

		stage_init(&s, "4x1", 1);
		s.cfg.seed = seed;
		s.refuse_connect = -ECONNREFUSED;
		stage_start(&s);
		i = stage_neighbour(&s, 2);
		stage_receive(&s, 2, &i);
		for (unsigned int k = 0; k < 8; k++) {
			double step = k < 5 ? 25 << k : 500;
			double is = (double)stage_wait(&s, "connect 30.0.0.0:1: fails") / MS / step;

			assert_true(is >= 0.5 && is < 1.5001);
			least[k] = is < least[k] ? is : least[k];
			most[k] = is > most[k] ? is : most[k];
		}
		/* The root can be reached again: then the intervals begin anew. */
		s.refuse_connect = 0;
		stage_wait(&s, "connect 30.0.0.0:1: 1");
		stage_up(&s, 1);
		stage_welcome(&s, 1, TERM, "");
		s.refuse_connect = -ECONNREFUSED;
		stage_down(&s, 1);
		assert_true(stage_wait(&s, "fails") < 38 * MS);
		stage_end(&s);
	}
	for (unsigned int k = 0; k < 8; k++)
		assert_true(least[k] < 0.6 && most[k] > 1.4);
}

/* A refused node asks again after half to once and a half of ten times resend, at random. */
static void refused_node_asks_again_at_random_time(void **state)
{
	uint64_t least = ~0ULL, most = 0;

	(void)state;
	for (unsigned int seed = 0; seed < 64; seed++) {
		struct fm_init i;
		uint64_t ns;

		stage_init(&s, "4x1", 1);
		s.cfg.seed = seed;
		stage_start(&s);
		i = stage_neighbour(&s, 2);
		stage_receive(&s, 2, &i);
		stage_up(&s, 1);
		stage_refuse(&s, 1, "for a reason");
		ns = stage_wait(&s, "connect 30.0.0.0:1: 2");
		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
		stage_end(&s);
	}
	assert_in_range(least, 500 * MS, 540 * MS);
	assert_in_range(most, 1450 * MS, 1500 * MS);
}

/* Refuses the node at connection @conn. Return: ns until the next attempt. */
static uint64_t retry_after_refusal(int conn)
{
	char next[40];
	uint64_t ns;

	snprintf(next, sizeof(next), "connect 30.0.0.0:1: %d", conn + 1);
	stage_refuse(&s, conn, "for a reason");
	stage_did_no(&s, "log");
	ns = stage_wait(&s, next);
	stage_up(&s, conn + 1);
	return ns;
}

/*
 * A root that refuses is asked again after about a second, and then less and less often, until it
 * accepts the node; the reason is logged.
 */
static void refusal_is_logged_once_and_asked_again(void **state)
{
	uint64_t ns, about = 1000 * MS;
	char text[40];
	int conn = 2;

	(void)state;
	at_root();
	stage_refuse(&s, 1, "for a reason");
	stage_did(&s, "log error refused: the root refuses this node: for a reason\nclose 1\n");
	ns = stage_wait(&s, "connect 30.0.0.0:1: 2");
	assert_in_range(ns, about / 2, 3 * about / 2);
	stage_up(&s, 2);
	for (; conn < 9; conn++) {
		about = earlier(2 * about, 16000 * MS);
		assert_in_range(retry_after_refusal(conn), about / 2, 3 * about / 2);
	}
	stage_forget(&s);
	stage_welcome(&s, conn, TERM, "");
	stage_did(&s, "log info refused: over: the root refuses this node: for a reason\n");
	/* After that the first refusal counts as the first. */
	stage_refuse(&s, conn, "for a reason");
	snprintf(text, sizeof(text), "connect 30.0.0.0:1: %d", conn + 1);
	assert_in_range(stage_wait(&s, text), 500 * MS, 1500 * MS);
	stage_end(&s);
}

/* --- the parent ------------------------------------------------------------------------- */

/* The root is left when the parent has sent WELCOME, and not before. */
static void root_is_left_after_welcome_of_parent(void **state)
{
	(void)state;
	with_parent();
	stage_run(&s, 5000);
	stage_did_some(&s, "2 < ping\n");
	stage_end(&s);
	/*
	 * The parent knows a newer root than the node; the node's own root may nevertheless be the
	 * right one.
	 */
	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_welcome(&s, 2, TERM + 1, "");
	stage_did_nothing(&s);
	stage_end(&s);
}

/* The same parent again changes nothing; another one does. */
static void only_another_parent_changes_connection(void **state)
{
	(void)state;
	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_forget(&s);
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_did_nothing(&s);
	stage_welcome(&s, 1, TERM, "30.0.0.3:1");
	stage_did(&s, "close 2\nconnect 30.0.0.3:1: 3\n");
	stage_end(&s);
}

#define STRAY "1 < " HELLO("join", " stray position 1,0 attach +1") ROW

/* A parent that cannot be reached, or refuses the node, is reported to the root. */
static void unusable_parent_is_reported_to_root(void **state)
{
	(void)state;
	at_root();
	s.refuse_connect = -ENETUNREACH;
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_did(&s, "connect 30.0.0.2:1: fails\n" STRAY);
	stage_end(&s);

	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_forget(&s);
	stage_down(&s, 2);
	stage_did(&s, STRAY);
	/* The node stays at the root, and does not report the parent any more. */
	stage_welcome(&s, 1, TERM, "");
	stage_did_nothing(&s);
	stage_run(&s, 1000);
	stage_did(&s, "at 1000 ms\n1 < ping\n");
	/* If the root later names the same parent, it is tried again. */
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_did(&s, "connect 30.0.0.2:1: 3\n");
	stage_end(&s);

	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_refuse(&s, 2, "no");
	stage_did(&s, "close 2\n" STRAY);
	/* A parent that then accepts us and is lost is another matter. */
	stage_welcome(&s, 1, TERM, "30.0.0.3:1");
	stage_up(&s, 3);
	stage_welcome(&s, 3, TERM, "");
	stage_down(&s, 3);
	stage_wait(&s, "connect 30.0.0.0:1: 4");
	stage_up(&s, 4);
	stage_did_some(&s, "4 < " HELLO("join", " position 1,0"));
	stage_end(&s);
	/* The root is gone by then as well. */
	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_down(&s, 1);
	stage_forget(&s);
	stage_run(&s, 1000);
	stage_did_nothing(&s);
	stage_down(&s, 2);
	stage_did_nothing(&s);
	assert_in_range(stage_wait(&s, "connect 30.0.0.0:1: 3"), 12 * MS, 38 * MS);
	stage_up(&s, 3);
	stage_did_some(&s, "3 < " HELLO("join", " stray position 1,0"));
	stage_end(&s);
}

/* The parent follows another root of the same epoch by now: this node leaves it. */
static void parent_of_another_root_is_left(void **state)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME };

	(void)state;
	m.welcome.term = TERM;
	m.welcome.root_guid = NIC + 7;
	at_root();
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_msg(&s, 2, &m);
	stage_did(&s, "close 2\n" STRAY);
	stage_welcome(&s, 1, TERM, "");
	stage_did_nothing(&s);
	stage_end(&s);
	/* The sender has been this node's parent, and informs its children of its new root. */
	with_parent();
	stage_msg(&s, 2, &m);
	stage_did_some(&s, "close 2\nlog warning tree: this node has lost its parent\n");
	stage_wait(&s, "connect 30.0.0.0:1: 3");
	stage_end(&s);
}

/* The parent is lost: the node returns to the root soon. */
static void node_that_lost_its_parent_returns_to_root(void **state)
{
	(void)state;
	with_parent();
	stage_run(&s, 900);
	stage_down(&s, 2);
	stage_did(&s, "at 900 ms\nlog warning tree: this node has lost its parent\n");
	assert_in_range(stage_wait(&s, "connect 30.0.0.0:1: 3"), 12 * MS, 38 * MS);
	stage_up(&s, 3);
	stage_did_some(&s, "3 < " HELLO("join", " position 1,0"));
	stage_end(&s);
	/* The node also goes back to the root when the parent falls silent. */
	with_parent();
	stage_run(&s, 4000);
	assert_int_equal(stage_count(&s, "2 < ping\n"), 3);
	stage_did_some(&s, "close 2\nlog warning tree: this node has lost its parent\n");
	stage_end(&s);
}

/* Numbers of connections begin at the clock after a restart; two at once differ by one. */
static void numbers_of_connections_rise(void **state)
{
	(void)state;
	begin();
	stage_run(&s, 10);
	stage_forget(&s);
	stage_up(&s, 1);
	stage_did_some(&s, "attach +1 ");
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	stage_did_some(&s, "attach +2 ");
	stage_end(&s);
}

/* --- what the HELLO says ---------------------------------------------------------------- */

static void hello_has_state_of_node(void **state)
{
	const struct torus_coords at = { { 2, 0 } };
	struct fm_init i;

	(void)state;
	stage_init(&s, "4x1", 2);
	s.deaf = "init log connect ";
	s.dev.placed = true;
	s.dev.shape = s.shape;
	s.dev.coords = at;
	s.dev.node = 2;
	s.dev.version = 9;
	s.dev.epoch = 77;
	s.dev.relay_packets = 5;
	s.park.parked = 3;
	s.park.unresolved = 4;
	s.park.held = 6;
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			s.park.flow.counter[f][c] = f == 2 && c == 1 ? 8 : 0;
	s.park.flow.counter[0][0] = 1;
	s.park.flow.counter[TORUS_FC_COUNT - 1][TORUS_COLOURS - 1] = 2;
	stage_start(&s);
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	stage_up(&s, 1);
	stage_did(&s, "at 0 ms\n1 < hello join 'n2' 30.0.0.2:1 102/77 4x1 at 2,0 position 2,0 "
		      "version 9 attach +1 relay 5 row 1000001: d d d d flow0.0 1 flow2.1 8 "
		      "flow8.3 2 parked 3 unresolved 4 held 6\n");
	/* If the NIC cannot be asked for its counters, no HELLO is said until it can. */
	s.err.count = -EIO;
	stage_run(&s, 100);
	stage_did_nothing(&s);
	s.err.count = 0;
	stage_run(&s, 350);
	stage_did_some(&s, "held 6\n");
	stage_end(&s);
}

/* --- rows ------------------------------------------------------------------------------- */

/* A row is repeated at growing intervals until a table has it. */
static void row_is_repeated_until_table_has_it(void **state)
{
	static const double at[] = { 100, 300, 700, 1500, 3100, 4700, 6300 };
	struct fm_entry entry[4];
	struct fm_msg t;
	char want[64];

	(void)state;
	joined();
	s.deaf = "init ping pong place rows lost report log ";
	stage_run(&s, 1000);
	stage_link_up(&s, 2, 1);
	stage_did(&s, "at 1000 ms\n1 < row 101/1 row 1001000: d d u100.0 d\n");
	for (unsigned int k = 0; k < 7; k++) {
		stage_run(&s, 1000 + at[k]);
		stage_send(&s, 1, FM_MSG_PONG);
		sprintf(want, "at %g ms\n1 < row 101/1 row 1001000: d d u100.0 d\n", 1000 + at[k]);
		stage_did(&s, want);
		stage_run(&s, 1000 + at[k] + 80);
		stage_send(&s, 1, FM_MSG_PONG);
	}
	/* A change begins with the first interval again. */
	stage_link_lost(&s, 2, 1);
	stage_forget(&s);
	stage_run(&s, s.now / 1e6 + 100);
	assert_int_equal(stage_count(&s, "1 < row"), 1);
	stage_forget(&s);
	/* A table with an older row is not enough; one with this row is. */
	t = stage_table(&s, 1, entry);
	entry[1].serial = 1001000;
	stage_msg(&s, 1, &t);
	stage_run(&s, s.now / 1e6 + 200);
	stage_did_some(&s, "1 < row");
	t = stage_table(&s, 2, entry);
	entry[1].serial = (uint32_t)(1000000 + 1000 + 6380);
	stage_msg(&s, 1, &t);
	stage_forget(&s);
	stage_run(&s, s.now / 1e6 + 900);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* Without a way to the root the row is not sent; afterwards at once. */
static void row_without_way_is_sent_later(void **state)
{
	(void)state;
	joined();
	stage_down(&s, 1);
	stage_link_up(&s, 2, 1);
	stage_did_nothing(&s);
	stage_wait(&s, "connect 30.0.0.0:1: 2");
	stage_up(&s, 2);
	/* The HELLO has the row: that is enough. */
	stage_did_some(&s, "d d u100.0 d\n");
	stage_welcome(&s, 2, TERM, "30.0.0.2:1");
	stage_did_no(&s, "row");
	/* Changes before the parent answers are reported to the parent. */
	stage_run(&s, s.now / 1e6 + 10);
	stage_link_lost(&s, 2, 5);
	stage_did_some(&s, "2 < row 101/1");
	stage_up(&s, 3);
	stage_forget(&s);
	stage_welcome(&s, 3, TERM, "");
	stage_run(&s, s.now / 1e6 + 10);
	stage_did_some(&s, "3 < row 101/1");
	stage_end(&s);
}

/*
 * The row of a later HELLO is sent again to the parent: the WELCOME that names the parent may answer
 * the first one, and a HELLO that is under way when the connection to the root ends is lost.
 */
static void row_of_unanswered_hello_is_sent_to_parent(void **state)
{
	(void)state;
	at_root();
	stage_run(&s, 50);
	stage_link_up(&s, 2, 1);
	stage_run(&s, 150);
	assert_true(stage_count(&s, "1 < hello") > 0);
	stage_welcome(&s, 1, TERM, "30.0.0.2:1");
	stage_up(&s, 2);
	stage_welcome(&s, 2, TERM, "");
	stage_forget(&s);
	stage_run(&s, 300);
	stage_did_some(&s, "2 < row 101/1");
	stage_end(&s);
}

/* A node without a root logs it after thirty seconds, and its end. */
static void node_without_root_logs_after_30_s(void **state)
{
	static const char text[] = "no Init has named a root for 30 s: does a NIC have the "
				   "bootstrap flag, and do links that are up join it to this "
				   "node (fabricctl device list --ports)?";
	struct fm_init i;
	char want[400];

	(void)state;
	stage_init(&s, "4x4", 1);
	stage_start(&s);
	stage_run_ns(&s, 30000 * MS - 1);
	assert_null(fm_problem(s.fm, 0));
	stage_did_nothing(&s);
	stage_run(&s, 30000);
	snprintf(want, sizeof(want), "at 30000 ms\nlog error root: %s\n", text);
	stage_did(&s, want);
	assert_int_equal(fm_expiry(s.fm), ~0ULL);
	stage_run(&s, 90000);
	stage_did_nothing(&s);
	s.deaf = "hello connect init ";
	stage_link_up(&s, 1, 1);
	i = stage_neighbour(&s, 1);
	stage_receive(&s, 1, &i);
	stage_run(&s, 90001);
	assert_non_null(strstr(s.text, "log info root: over: no Init has named a root for 30 s"));
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* The table has this node as dead: it joins anew on every kind of connection upward. */
static void node_called_dead_joins_again(void **state)
{
	struct fm_entry entry[4];
	struct fm_status st;
	struct fm_msg t, m = stage_hello(&s, 3);

	(void)state;
	with_parent();
	s.deaf = "init ping log place rows lost report row ";
	t = stage_table(&s, 1, entry);
	stage_msg(&s, 2, &t);
	stage_up(&s, 50);
	m.hello.role = FM_ROLE_CHILD;
	m.hello.term = TERM;
	m.hello.version = 1;
	stage_msg(&s, 50, &m);
	stage_forget(&s);
	t = stage_table(&s, 2, entry);
	entry[1].state = FM_NODE_DEAD;
	stage_msg(&s, 2, &t);
	assert_int_equal(stage_count(&s, "close 2\n"), 1);
	assert_int_equal(stage_count(&s, "close 50"), 0);
	assert_int_equal(stage_count(&s, "50 < pong adrift\n"), 1);
	fm_status(s.fm, &st);
	assert_false(st.root.reachable);
	assert_in_range(stage_wait(&s, "connect 30.0.0.0:1: 3"), 12 * MS, 38 * MS);
	stage_up(&s, 3);
	stage_welcome(&s, 3, TERM, "30.0.0.2:1");
	/* The same parent as before gets a new connection. */
	stage_did_some(&s, "connect 30.0.0.2:1: 4\n");
	/* With both connections, to root and parent, both are closed. */
	entry[1].state = FM_NODE_SILENT;
	t.table.version = 3;
	stage_msg(&s, 3, &t);
	assert_int_equal(stage_count(&s, "close 3\n"), 1);
	assert_int_equal(stage_count(&s, "close 4\n"), 1);
	stage_end(&s);
}

/* Another address of the root becomes known while the connection to the former comes up. */
static void new_address_of_root_replaces_connection(void **state)
{
	struct fm_init i;

	(void)state;
	begin();
	stage_forget(&s);
	i = stage_neighbour(&s, 2);
	strcpy(i.root_address, "30.9.9.9:9");
	stage_receive(&s, 2, &i);
	stage_did(&s, "close 1\nconnect 30.9.9.9:9: 2\n");
	stage_up(&s, 1);
	stage_up(&s, 2);
	stage_did_some(&s, "2 < hello join");
	stage_end(&s);
	/* The loss of a connection that was never accepted does not set the node adrift again. */
	at_root();
	stage_run(&s, 50);
	stage_down(&s, 1);
	{
		struct fm_status st;

		fm_status(s.fm, &st);
		assert_int_equal(st.root.lost, START);
	}
	stage_end(&s);
}

/* Many peers that fall silent one by one are handled together, within a quarter of resend. */
static void silent_peers_are_closed_together(void **state)
{
	(void)state;
	joined();
	s.deaf = "init ping pong log ";
	for (int k = 0; k < 20; k++) {
		stage_run(&s, 10 + k);
		stage_up(&s, 50 + k);
	}
	stage_forget(&s);
	stage_run(&s, 2000);
	stage_send(&s, 1, FM_MSG_PONG);
	stage_run(&s, 4009.999);
	assert_int_equal(stage_count(&s, "close"), 0);
	stage_run(&s, 4054);
	assert_int_equal(stage_count(&s, "close"), 20);
	assert_true(stage_count(&s, "at 40") <= 2);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(hello_is_repeated_until_answered),
		cmocka_unit_test(connection_ends_if_welcome_names_other_root),
		cmocka_unit_test(connection_without_answer_is_given_up),
		cmocka_unit_test(silent_peer_is_pinged_and_given_up),
		cmocka_unit_test(any_message_is_sign_of_life),
		cmocka_unit_test(tries_to_connect_are_ever_further_apart),
		cmocka_unit_test(refused_node_asks_again_at_random_time),
		cmocka_unit_test(refusal_is_logged_once_and_asked_again),
		cmocka_unit_test(root_is_left_after_welcome_of_parent),
		cmocka_unit_test(only_another_parent_changes_connection),
		cmocka_unit_test(unusable_parent_is_reported_to_root),
		cmocka_unit_test(parent_of_another_root_is_left),
		cmocka_unit_test(node_that_lost_its_parent_returns_to_root),
		cmocka_unit_test(numbers_of_connections_rise),
		cmocka_unit_test(hello_has_state_of_node),
		cmocka_unit_test(row_is_repeated_until_table_has_it),
		cmocka_unit_test(row_without_way_is_sent_later),
		cmocka_unit_test(row_of_unanswered_hello_is_sent_to_parent),
		cmocka_unit_test(node_without_root_logs_after_30_s),
		cmocka_unit_test(node_called_dead_joins_again),
		cmocka_unit_test(new_address_of_root_replaces_connection),
		cmocka_unit_test(silent_peers_are_closed_together),
	};

	return cmocka_run_group_tests_name("fm_tree", all, NULL, NULL);
}
