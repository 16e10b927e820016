// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node's way to the root and to its parent, and its children: to whom it connects and
 * when, what it says, whom it takes, and when it believes that somebody is lost.
 */
#include <errno.h>
#include <stdio.h>

#include "stage.h"

static struct stage s;

/* Node 1 of a 4x1, which has just heard of the root. */
static void begin(void)
{
	struct fm_init i;

	stage_init(&s, "4x1", 1);
	s.deaf = "init ";
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_hear(&s, 2, &i);
}

#define HELLO(role, more) "hello " role " 'n1' 10.0.0.1:1 101/1" more
#define ROW " row 1000001: d d d d\n"

/* ... and has said HELLO at it, by connection 1. */
static void at_root(void)
{
	begin();
	stage_up(&s, 1);
	stage_did(&s, "at 0 ms\nlog info bootstrap: position from node 'n0' at port 2\n"
		      "connect 10.0.0.0:1: 1\n"
		      "1 < " HELLO("join", " position 1,0 attach +1") ROW);
}

/* ... and is welcome there, to stay. */
static void joined(void)
{
	at_root();
	stage_welcome(&s, 1, TERM, "");
	stage_did_nothing(&s);
}

/* ... or has node 2 as its parent, by connection 2. */
static void with_parent(void)
{
	at_root();
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_did(&s, "connect 10.0.0.2:1: 2\n");
	stage_up(&s, 2);
	stage_did(&s, "2 < " HELLO("child", " position 1,0 term 126 attach +2") ROW);
	stage_welcome(&s, 2, TERM, "");
	stage_did(&s, "close 1\n");
}

/* --- joining ------------------------------------------------------------------------------- */

/* HELLO is said again until it is answered; nothing comes of other answers. */
static void test_hello_again(void **state)
{
	(void)state;
	at_root();
	stage_run(&s, 99.999);
	stage_did_nothing(&s);
	stage_run(&s, 350);
	assert_int_equal(stage_count(&s, "at 100 ms\n1 < hello join"), 1);
	assert_int_equal(stage_count(&s, "at 200 ms\n1 < hello join"), 1);
	assert_int_equal(stage_count(&s, "at 300 ms\n1 < hello join"), 1);
	assert_int_equal(stage_count(&s, "\n"), 6);
	stage_forget(&s);
	stage_welcome(&s, 1, 0, "");
	stage_run(&s, 450);
	assert_int_equal(stage_count(&s, "1 < hello join"), 1);
	stage_forget(&s);
	stage_welcome(&s, 1, TERM, "");
	stage_run(&s, 1449);
	stage_did_nothing(&s);
	stage_end(&s);
}

static void test_not_this_root(void **state)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME };

	(void)state;
	at_root();
	m.welcome.term = TERM;
	m.welcome.root_guid = NIC + 7;
	strcpy(m.welcome.parent, "10.0.0.2:1");
	stage_msg(&s, 1, &m);
	stage_run(&s, 110);
	stage_did_some(&s, "1 < hello join");
	stage_end(&s);
}

/* A connection that does not come up, or where nobody answers, is given up. */
static void test_nobody_answers(void **state)
{
	(void)state;
	begin();
	stage_forget(&s);
	stage_run(&s, 3999.999);
	stage_did_nothing(&s);
	stage_run(&s, 4500);
	assert_int_equal(stage_count(&s, "at 4000 ms\nclose 1\n"), 1);
	assert_int_equal(stage_count(&s, "connect 10.0.0.0:1: 2\n"), 1);
	stage_forget(&s);
	stage_up(&s, 2);
	stage_forget(&s);
	stage_run(&s, 8499.999);
	stage_did_no(&s, "close");
	stage_run(&s, 8500);
	stage_did_some(&s, "close 2\n");
	stage_end(&s);
}

/* Once welcome, silence is asked about, and after four keep-alives it is the end. */
static void test_silence(void **state)
{
	(void)state;
	joined();
	stage_run(&s, 500);
	stage_say(&s, 1, FM_MSG_PONG);
	stage_run(&s, 4499);
	stage_did(&s, "at 1500 ms\n1 < ping\nat 2500 ms\n1 < ping\nat 3500 ms\n1 < ping\n");
	stage_say(&s, 1, FM_MSG_PONG);
	stage_run(&s, 8498.999);
	stage_did(&s, "at 5499 ms\n1 < ping\nat 6499 ms\n1 < ping\nat 7499 ms\n1 < ping\n");
	stage_run(&s, 8499);
	stage_did(&s, "at 8499 ms\nclose 1\n");
	stage_run(&s, 8600);
	stage_did_some(&s, "connect 10.0.0.0:1: 2\n");
	stage_end(&s);
}

/* Any word will do. */
static void test_any_word(void **state)
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

/* --- trying again ----------------------------------------------------------------------------- */

/* ns from now to the next line with @part. */
static uint64_t wait_for(const char *part)
{
	uint64_t from = s.now, until = from + 20000 * MS;

	stage_forget(&s);
	while (s.now < until && !strstr(s.text, part))
		stage_run_ns(&s, fm_expiry(s.fm) - START);
	assert_non_null(strstr(s.text, part));
	stage_forget(&s);
	return s.now - from;
}

/* Later each time, from 25 ms to 500 ms, by one half more or less. */
static void test_tries(void **state)
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
		stage_hear(&s, 2, &i);
		for (unsigned int k = 0; k < 8; k++) {
			double step = k < 5 ? 25 << k : 500;
			double is = (double)wait_for("connect 10.0.0.0:1: fails") / MS / step;

			assert_true(is >= 0.5 && is < 1.5001);
			least[k] = is < least[k] ? is : least[k];
			most[k] = is > most[k] ? is : most[k];
		}
		/* It can be reached again: and then all begins anew. */
		s.refuse_connect = 0;
		wait_for("connect 10.0.0.0:1: 1");
		stage_up(&s, 1);
		stage_welcome(&s, 1, TERM, "");
		s.refuse_connect = -ECONNREFUSED;
		stage_down(&s, 1);
		assert_true(wait_for("fails") < 38 * MS);
		stage_end(&s);
	}
	for (unsigned int k = 0; k < 8; k++)
		assert_true(least[k] < 0.6 && most[k] > 1.4);
}

/* A root that refuses is asked again after a second, more or less; it is told why. */
static void test_refused(void **state)
{
	uint64_t ns;

	(void)state;
	at_root();
	stage_refuse(&s, 1, "for a reason");
	stage_did(&s, "log error refused: the root refuses this node: for a reason\nclose 1\n");
	ns = wait_for("connect 10.0.0.0:1: 2");
	assert_in_range(ns, 500 * MS, 1500 * MS);
	stage_up(&s, 2);
	stage_refuse(&s, 2, "for a reason");
	stage_did_no(&s, "log");
	ns = wait_for("connect 10.0.0.0:1: 3");
	assert_in_range(ns, 500 * MS, 1500 * MS);
	stage_up(&s, 3);
	stage_forget(&s);
	stage_welcome(&s, 3, TERM, "");
	stage_did(&s, "log info refused: over: the root refuses this node: for a reason\n");
	stage_end(&s);
}

/* --- the parent ------------------------------------------------------------------------------ */

/* The root is left when the parent has said WELCOME, and not before. */
static void test_parent(void **state)
{
	(void)state;
	with_parent();
	stage_run(&s, 5000);
	stage_did_some(&s, "2 < ping\n");
	stage_end(&s);
	/* One that knows a newer root than we: the old one may be right still. */
	at_root();
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_welcome(&s, 2, TERM + 1, "");
	stage_did_nothing(&s);
	stage_end(&s);
}

/* The same parent once more changes nothing; another is another. */
static void test_other_parent(void **state)
{
	(void)state;
	at_root();
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_forget(&s);
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_did_nothing(&s);
	stage_welcome(&s, 1, TERM, "10.0.0.3:1");
	stage_did(&s, "close 2\nconnect 10.0.0.3:1: 3\n");
	stage_end(&s);
}

#define STRAY "1 < " HELLO("join", " stray position 1,0 term 126 attach +1") ROW

/* A parent that cannot be reached, or does not take us, is told of to the root. */
static void test_stray(void **state)
{
	(void)state;
	at_root();
	s.refuse_connect = -ENETUNREACH;
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_did(&s, "connect 10.0.0.2:1: fails\n" STRAY);
	stage_end(&s);

	at_root();
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_forget(&s);
	stage_down(&s, 2);
	stage_did(&s, STRAY);
	/* It stays there now, and is no stray any more. */
	stage_welcome(&s, 1, TERM, "");
	stage_did_nothing(&s);
	stage_run(&s, 1000);
	stage_did(&s, "at 1000 ms\n1 < ping\n");
	/* Moved to the same parent later, that is tried again. */
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_did(&s, "connect 10.0.0.2:1: 3\n");
	stage_end(&s);

	at_root();
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_refuse(&s, 2, "no");
	stage_did(&s, "close 2\n" STRAY);
	stage_end(&s);
	/* The root is gone by then as well. */
	at_root();
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_down(&s, 1);
	stage_forget(&s);
	stage_run(&s, 1000);
	stage_did_nothing(&s);
	stage_down(&s, 2);
	stage_did_nothing(&s);
	assert_in_range(wait_for("connect 10.0.0.0:1: 3"), 12 * MS, 38 * MS);
	stage_up(&s, 3);
	stage_did_some(&s, "3 < " HELLO("join", " stray position 1,0 term 126"));
	stage_end(&s);
}

/* A parent that was there and is lost: back to the root, soon. */
static void test_parent_lost(void **state)
{
	(void)state;
	with_parent();
	stage_run(&s, 900);
	stage_down(&s, 2);
	stage_did(&s, "at 900 ms\nlog warning tree: parent lost; back to the root\n");
	assert_in_range(wait_for("connect 10.0.0.0:1: 3"), 12 * MS, 38 * MS);
	stage_up(&s, 3);
	stage_did_some(&s, "3 < " HELLO("join", " position 1,0 term 126"));
	stage_end(&s);
	/* So it is with one that falls silent. */
	with_parent();
	stage_run(&s, 4000);
	assert_int_equal(stage_count(&s, "2 < ping\n"), 3);
	stage_did_some(&s, "close 2\nlog warning tree: parent lost; back to the root\n");
	stage_end(&s);
}

/* A restarted manager's connections count from the clock on; two at once by one more each. */
static void test_attach(void **state)
{
	(void)state;
	begin();
	stage_run(&s, 10);
	stage_forget(&s);
	stage_up(&s, 1);
	stage_did_some(&s, "attach +1 ");
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_up(&s, 2);
	stage_did_some(&s, "attach +2 ");
	stage_end(&s);
}

/* --- what the HELLO says ---------------------------------------------------------------------- */

static void test_hello(void **state)
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
	stage_hear(&s, 0, &i);
	stage_up(&s, 1);
	stage_did(&s, "at 0 ms\n1 < hello join 'n2' 10.0.0.2:1 102/77 4x1 at 2,0 position 2,0 "
		      "version 9 attach +1 relay 5 row 1000001: d d d d flow0.0 1 flow2.1 8 "
		      "flow8.3 2 parked 3 unresolved 4 held 6\n");
	/* A NIC that does not say how it counts says nothing. */
	s.err.flow = -EIO;
	stage_run(&s, 100);
	stage_did_no(&s, "parked");
	stage_end(&s);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* A row is said again, ever more seldom, until a table has it. */
static void test_row_again(void **state)
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
		stage_say(&s, 1, FM_MSG_PONG);
		sprintf(want, "at %g ms\n1 < row 101/1 row 1001000: d d u100.0 d\n", 1000 + at[k]);
		stage_did(&s, want);
		stage_run(&s, 1000 + at[k] + 80);
		stage_say(&s, 1, FM_MSG_PONG);
	}
	/* A change begins anew. */
	stage_link_lost(&s, 2, 1);
	stage_forget(&s);
	stage_run(&s, s.now / 1e6 + 100);
	assert_int_equal(stage_count(&s, "1 < row"), 1);
	stage_forget(&s);
	/* A table with an older row is not enough, one with this one is. */
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

/* While there is no way up it is not said; then at once. */
static void test_row_later(void **state)
{
	(void)state;
	joined();
	stage_down(&s, 1);
	stage_link_up(&s, 2, 1);
	stage_did_nothing(&s);
	wait_for("connect 10.0.0.0:1: 2");
	stage_up(&s, 2);
	/* The HELLO has it: that is enough. */
	stage_did_some(&s, "d d u100.0 d\n");
	stage_welcome(&s, 2, TERM, "10.0.0.2:1");
	stage_did_no(&s, "row");
	/* What changes before the parent answers is said to the parent. */
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

/* --- children -------------------------------------------------------------------------------- */

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

static void test_child(void **state)
{
	(void)state;
	joined();
	child(50, 3);
	stage_did(&s, "50" WELCOME "1 < adopted 103/1 parent 101 attach 43\n");
	stage_say(&s, 50, FM_MSG_PING);
	stage_did(&s, "50 < pong\n");
	/* What it says is passed on. */
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { .guid = NIC + 9, .epoch = 2, .row = stage_row(&s, 3) };
	stage_msg(&s, 50, &m);
	stage_did(&s, "1 < row 109/2 row 1: u100.2 d u102.0 d\n");
	m = (struct fm_msg) { .type = FM_MSG_LEFT };
	m.left = (struct fm_left) { NIC + 9, NIC + 3, 17, 2 };
	stage_msg(&s, 50, &m);
	stage_did(&s, "1 < left 109/2 parent 103 attach 17\n");
	m.type = FM_MSG_ADOPTED;
	stage_msg(&s, 50, &m);
	stage_did(&s, "1 < adopted 109/2 parent 103 attach 17\n");
	/* Of what only a parent says nothing comes. */
	stage_welcome(&s, 50, TERM + 1, "10.0.0.9:1");
	stage_refuse(&s, 50, "no");
	stage_did_nothing(&s);
	stage_down(&s, 50);
	stage_did(&s, "1 < left 103/1 parent 101 attach 43\n");
	/* Nobody is there any more. */
	stage_say(&s, 50, FM_MSG_PING);
	stage_down(&s, 50);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* What we said of ourselves comes back from a child: a circle. */
static void test_circle(void **state)
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
		/* That we have left somebody is no circle. */
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

static void test_refuses(void **state)
{
	struct fm_msg m;

	(void)state;
	joined();
	m = child_hello(3);
	strcpy(m.hello.fabric, "fob");
	refuses(&m, "fabric 'fob' is not 'fab'");
	m = child_hello(1);
	refuses(&m, "its GUID is that of this node");
	m = child_hello(3);
	m.hello.role = FM_ROLE_JOIN;
	refuses(&m, "this node is not the root");
	m = child_hello(3);
	m.hello.term = TERM + 1;
	refuses(&m, "this node has not joined the root of that term");
	stage_down(&s, 1);
	stage_forget(&s);
	m = child_hello(3);
	refuses(&m, "this node has not joined the root of that term");
	stage_end(&s);
	/* Nor is anybody taken before it has been welcomed itself. */
	at_root();
	m = child_hello(3);
	m.hello.term = 0;
	refuses(&m, "this node has not joined the root of that term");
	stage_end(&s);
}

/* A stranger that says nothing, or all but HELLO. */
static void test_stranger(void **state)
{
	(void)state;
	joined();
	stage_up(&s, 50);
	stage_say(&s, 50, FM_MSG_PING);
	stage_say(&s, 50, FM_MSG_FETCH);
	stage_say(&s, 50, FM_MSG_ROW);
	stage_welcome(&s, 50, TERM, "10.0.0.9:1");
	stage_did_nothing(&s);
	s.deaf = "init ping ";
	stage_run(&s, 3999);
	stage_say(&s, 1, FM_MSG_PONG);
	stage_did_nothing(&s);
	stage_run(&s, 4000);
	stage_did(&s, "at 4000 ms\nclose 50\n");
	stage_up(&s, 51);
	stage_down(&s, 51);
	stage_did_nothing(&s);
	stage_end(&s);
}

/* A child that hangs keeps its connection for four keep-alives. */
static void test_child_silent(void **state)
{
	(void)state;
	joined();
	child(50, 3);
	stage_forget(&s);
	s.deaf = "init ping pong ";
	stage_run(&s, 1500);
	stage_say(&s, 50, FM_MSG_PING);
	stage_say(&s, 1, FM_MSG_PONG);
	stage_run(&s, 5000);
	stage_say(&s, 1, FM_MSG_PONG);
	stage_run(&s, 5499.999);
	stage_did_nothing(&s);
	stage_run(&s, 5500);
	stage_did(&s, "at 5500 ms\nclose 50\n1 < left 103/1 parent 101 attach 43\n");
	stage_end(&s);
}

/* The same child by another connection has lost the first. */
static void test_child_again(void **state)
{
	(void)state;
	joined();
	child(50, 3);
	child(51, 2);
	stage_forget(&s);
	child(52, 3);
	stage_did(&s, "52" WELCOME "close 50\n1 < adopted 103/1 parent 101 attach 43\n");
	stage_say(&s, 50, FM_MSG_PING);
	stage_did_nothing(&s);
	/* By the same connection nothing is lost. */
	child(52, 3);
	stage_did(&s, "52" WELCOME "1 < adopted 103/1 parent 101 attach 43\n");
	stage_say(&s, 51, FM_MSG_PING);
	stage_say(&s, 52, FM_MSG_PING);
	stage_did(&s, "51 < pong\n52 < pong\n");
	stage_end(&s);
}

/* A new upstream hears of all children, and they that the way up is new. */
static void test_new_upstream(void **state)
{
	(void)state;
	joined();
	child(50, 3);
	child(51, 2);
	stage_welcome(&s, 1, TERM, "10.0.0.9:1");
	stage_forget(&s);
	stage_up(&s, 2);
	stage_forget(&s);
	stage_welcome(&s, 2, TERM, "");
	assert_int_equal(stage_count(&s, "\n"), 5);
	assert_int_equal(stage_count(&s, "close 1\n"), 1);
	assert_int_equal(stage_count(&s, "2 < adopted 102/1 parent 101 attach 42\n51" WELCOME), 1);
	assert_int_equal(stage_count(&s, "2 < adopted 103/1 parent 101 attach 43\n50" WELCOME), 1);
	/* The same word from above once more is passed down as well. */
	stage_forget(&s);
	stage_welcome(&s, 2, TERM, "");
	assert_int_equal(stage_count(&s, "adopted"), 2);
	stage_did_some(&s, "51" WELCOME);
	/* The root is back with another term: all are sent away. */
	stage_down(&s, 2);
	s.deaf = "init pong ";
	wait_for("connect 10.0.0.0:1: 3");
	stage_up(&s, 3);
	stage_forget(&s);
	s.stamped = s.now;
	stage_welcome(&s, 3, TERM + 1, "");
	assert_int_equal(stage_count(&s, "\n"), 2);
	assert_int_equal(stage_count(&s, "close 50\n"), 1);
	stage_did_some(&s, "close 51\n");
	stage_end(&s);
	/* With the same one they stay. */
	joined();
	child(50, 3);
	stage_down(&s, 1);
	wait_for("connect 10.0.0.0:1: 2");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_welcome(&s, 2, TERM, "");
	stage_did(&s, "50 < pong\n2 < adopted 103/1 parent 101 attach 43\n50" WELCOME);
	/* Said again on the same connection it is no news. */
	stage_welcome(&s, 2, TERM, "");
	stage_did_nothing(&s);
	stage_end(&s);
}

/* --- adrift ------------------------------------------------------------------------------------- */

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

/* A node without a way to the root says so to those below, and those that come. */
static void test_adrift(void **state)
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
	/* One that comes is told after it is taken. */
	child(51, 2);
	stage_did(&s, "51" WELCOME "1 < adopted 102/1 parent 101 attach 42\n"
		      "51 < pong adrift\n");
	stage_say(&s, 50, FM_MSG_PING);
	stage_did(&s, "50 < pong adrift\n");
	m.pong.adrift = false;
	stage_msg(&s, 1, &m);
	assert_int_equal(stage_count(&s, "50 < pong\n"), 1);
	assert_int_equal(stage_count(&s, "51 < pong\n"), 1);
	stage_forget(&s);
	is_cut_off(false, 0);
	/* Only those above can say so, and only by the way that is used. */
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

/* The loss of one way of two is none. */
static void test_two_ways(void **state)
{
	struct fm_msg m = { .type = FM_MSG_PONG };

	(void)state;
	at_root();
	stage_welcome(&s, 1, TERM, "10.0.0.2:1");
	stage_up(&s, 2);
	m.pong.adrift = true;
	stage_msg(&s, 2, &m);
	is_cut_off(false, 0);
	stage_down(&s, 2);
	is_cut_off(false, 0);
	stage_down(&s, 1);
	is_cut_off(true, 0);
	stage_end(&s);
}

/* --- many connections ------------------------------------------------------------------------------ */

#define MANY 200

static void test_many(void **state)
{
	char want[64];

	(void)state;
	joined();
	s.deaf = "init adopted welcome ";
	for (int i = 0; i < MANY; i++)
		child(1000 + 7 * i, (uint32_t)(10 + i));
	stage_did_nothing(&s);
	/* Every third is gone. */
	for (int i = 0; i < MANY; i += 3) {
		stage_down(&s, 1000 + 7 * i);
		sprintf(want, "1 < left %llx/1 parent 101 attach %d\n", NIC + 10 + (unsigned int)i,
			50 + i);
		stage_did(&s, want);
	}
	for (int i = 0; i < MANY; i++) {
		stage_say(&s, 1000 + 7 * i, FM_MSG_PING);
		sprintf(want, "%d < pong\n", 1000 + 7 * i);
		stage_did(&s, i % 3 ? want : "");
		stage_say(&s, 1001 + 7 * i, FM_MSG_PING);
		stage_did_nothing(&s);
	}
	/* Each comes again by another connection, and its own is closed. */
	for (int i = 0; i < MANY; i++) {
		child(5000 + i, (uint32_t)(10 + i));
		sprintf(want, "close %d\n", 1000 + 7 * i);
		stage_did(&s, i % 3 ? want : "");
	}
	stage_end(&s);
}

/* One connection that turns out to be of another node than before. */
static void test_other_child(void **state)
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
		cmocka_unit_test(test_hello_again),
		cmocka_unit_test(test_not_this_root),
		cmocka_unit_test(test_nobody_answers),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_any_word),
		cmocka_unit_test(test_tries),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_parent),
		cmocka_unit_test(test_other_parent),
		cmocka_unit_test(test_stray),
		cmocka_unit_test(test_parent_lost),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_hello),
		cmocka_unit_test(test_row_again),
		cmocka_unit_test(test_row_later),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_circle),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_child_silent),
		cmocka_unit_test(test_child_again),
		cmocka_unit_test(test_new_upstream),
		cmocka_unit_test(test_adrift),
		cmocka_unit_test(test_two_ways),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_other_child),
	};

	return cmocka_run_group_tests_name("fm_tree", all, NULL, NULL);
}
