// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a peer on the service network may be silent: one manager; the test plays its neighbour,
 * its root and its child, and lets time pass from one time at which the manager wants to be called
 * to the next.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/fm.h"
#include "daemon/fm/wire/init.h"
#include "lib/util/times.h"
#include "tests/unit/idle_ops.h"
#include "daemon/fm/status.h"

#define KEEPALIVE	SEC
#define ROOT		0xabcdull	/* GUID of the root */
#define TERM		7
#define UP		1		/* the connection that the manager opens */
#define DOWN		100		/* a connection to the manager */

static struct fm *fm;
static uint64_t takeover;	/* 0: no node replaces the root */
static uint64_t now;

/* The actions that the manager has done. */
static struct {
	unsigned int connects, pings, pongs, welcomes, closes;
	int closed;			/* the connection that was closed last */
	uint64_t closed_at;
} did;

static int on_connect(void *io, const char *addr)
{
	(void)io;
	(void)addr;
	return UP + (int)did.connects++;
}

static void on_send(void *io, int conn, const struct fm_msg *msg)
{
	(void)io;
	(void)conn;
	did.pings += msg->type == FM_MSG_PING;
	did.pongs += msg->type == FM_MSG_PONG;
	did.welcomes += msg->type == FM_MSG_WELCOME;
}

static void on_close(void *io, int conn)
{
	(void)io;
	did.closes++;
	did.closed = conn;
	did.closed_at = now;
}

/*
 * Operations of a manager whose NIC never reports its counts, so there is no HELLO; a keep-alive
 * does not need one.
 */
static struct fm_ops my_ops(void)
{
	struct fm_ops ops = idle_ops();

	ops.connect = on_connect;
	ops.send = on_send;
	ops.close = on_close;
	return ops;
}

/* Lets time pass until @at. */
static void pass(uint64_t at)
{
	while (fm_expiry(fm) <= at) {
		now = fm_expiry(fm) > now ? fm_expiry(fm) : now + 1;
		fm_timer(fm, now);
	}
	now = at;
}

/* A manager that knows where the root is, and connects to it. */
static void begin(void)
{
	struct torus_link links[4] = { { .state = TORUS_LINK_UP, .session = 1 } };
	struct torus_device dev = { .guid = 1, .epoch = 1, .nports = 4 };
	struct fm_init init = { .placed = true, .port = 2, .ndims = 2, .guid = ROOT,
				.root_guid = ROOT, .fabric = "green", .name = "root",
				.root_address = "30.0.0.1:1" };
	const struct fm_ops ops = my_ops();
	struct fm_config c;
	uint8_t buf[TORUS_MGMT_MAX];

	fm_config_default(&c);
	strcpy(c.fabric, "green");
	strcpy(c.name, "n1");
	strcpy(c.address, "30.0.0.2:1");
	c.keepalive = KEEPALIVE;
	c.takeover = takeover;
	for (uint8_t p = 0; p < 4; p++)
		links[p].port = p;
	memset(&did, 0, sizeof(did));
	now = 100 * SEC;
	fm = fm_new(&c, &ops, NULL, &dev, links, NULL, NULL, now);
	assert_non_null(fm);
	fm_mgmt(fm, 0, buf, fm_init_put(buf, &init), now);
	assert_int_equal(did.connects, 1);
}

/* The root accepts it. */
static void join(void)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME,
			    .welcome = { .term = TERM, .root_guid = ROOT } };

	begin();
	fm_conn_up(fm, UP, now);
	fm_msg(fm, UP, &m, now);
}

static void root_sends_pong(void)
{
	struct fm_msg m = { .type = FM_MSG_PONG };

	fm_msg(fm, UP, &m, now);
}

/* Checks that @conn is closed four keep-alives after @since, and not before. */
static void closes_in_four(int conn, uint64_t since)
{
	unsigned int closes = did.closes;

	pass(since + 4 * KEEPALIVE - 1);
	assert_int_equal(did.closes, closes);
	pass(since + 4 * KEEPALIVE);
	assert_int_equal(did.closes, closes + 1);
	assert_int_equal(did.closed, conn);
	assert_true(did.closed_at == since + 4 * KEEPALIVE);
}

/* A connection that does not come up ends like a silent one. */
static void connection_that_never_comes_up_is_closed(void **state)
{
	(void)state;
	begin();
	closes_in_four(UP, now);
	fm_free(fm);
}

/* The manager pings the root every keep-alive; any message counts as an answer. */
static void silent_root_is_pinged_and_closed(void **state)
{
	struct fm_status s;
	uint64_t received;

	(void)state;
	join();
	for (unsigned int i = 0; i < 3; i++) {
		received = now;
		did.pings = 0;
		pass(received + KEEPALIVE - 1);
		assert_int_equal(did.pings, 0);
		pass(received + KEEPALIVE);
		assert_int_equal(did.pings, 1);
		pass(received + 4 * KEEPALIVE - 1);
		assert_int_equal(did.pings, 3);
		root_sends_pong();
	}
	assert_int_equal(did.closes, 0);
	fm_status(fm, &s);
	assert_true(s.root.reachable);
	received = now;
	did.connects = 1;
	closes_in_four(UP, received);
	fm_status(fm, &s);
	assert_false(s.root.reachable);
	assert_true(s.root.lost == now);
	/* The manager soon tries again. */
	pass(now + KEEPALIVE);
	assert_int_equal(did.connects, 2);
	fm_free(fm);
}

/*
 * Where others can take over, the root's children ping it four times in a keep-alive, and count it
 * as lost after one and a half.
 */
static void replaceable_root_is_pinged_more_often(void **state)
{
	uint64_t received;

	(void)state;
	takeover = KEEPALIVE / 5;
	join();
	received = now;
	did.pings = 0;
	for (unsigned int i = 1; i <= 5; i++) {
		pass(received + i * KEEPALIVE / 4 - 1);
		assert_int_equal(did.pings, i - 1);
		pass(received + i * KEEPALIVE / 4);
		assert_int_equal(did.pings, i);
	}
	pass(received + 6 * KEEPALIVE / 4 - 1);
	assert_int_equal(did.closes, 0);
	pass(received + 6 * KEEPALIVE / 4);
	assert_int_equal(did.closes, 1);
	assert_int_equal(did.closed, UP);
	fm_free(fm);
	takeover = 0;
}

/* A parent that is not the root is pinged after three quarters of a keep-alive. */
static void silent_parent_is_pinged_and_closed(void **state)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME,
			    .welcome = { .term = TERM, .root_guid = ROOT } };
	uint64_t received;

	(void)state;
	takeover = KEEPALIVE / 5;
	join();
	strcpy(m.welcome.parent, "30.0.0.3:1");
	fm_msg(fm, UP, &m, now);
	assert_int_equal(did.connects, 2);
	fm_conn_up(fm, UP + 1, now);
	m.welcome.parent[0] = '\0';
	fm_msg(fm, UP + 1, &m, now);
	assert_int_equal(did.closed, UP);
	received = now;
	did.pings = did.closes = 0;
	pass(received + 3 * KEEPALIVE / 4 - 1);
	assert_int_equal(did.pings, 0);
	pass(received + 3 * KEEPALIVE / 4);
	assert_int_equal(did.pings, 1);
	pass(received + 3 * KEEPALIVE / 2 - 1);
	assert_int_equal(did.closes, 0);
	pass(received + 3 * KEEPALIVE / 2);
	assert_int_equal(did.closes, 1);
	assert_int_equal(did.closed, UP + 1);
	fm_free(fm);
	takeover = 0;
}

/*
 * A node that lost a cable may have lost its parent with it: the parent is pinged at once, and must
 * answer within twice resend. One such ping at a time is enough.
 */
static void lost_cable_makes_node_ping_parent(void **state)
{
	struct torus_link link = { .port = 1, .state = TORUS_LINK_FAULTY, .session = 1 };
	const uint64_t patience = 200000000;	/* limit for the answer, ns */

	(void)state;
	join();
	root_sends_pong();
	for (unsigned int answers = 1; answers <= 2; answers++) {
		link.session++;
		did.pings = 0;
		fm_link(fm, &link, now);
		assert_int_equal(did.pings, 1);
		link.session++;
		fm_link(fm, &link, now);
		assert_int_equal(did.pings, 1);
		pass(now + patience - 1);
		assert_int_equal(did.closes, 0);
		if (answers == 1)
			root_sends_pong();
		pass(now + 1);
		assert_int_equal(did.closes, answers - 1);
	}
	assert_int_equal(did.closed, UP);
	fm_free(fm);
}

/* A peer that connects and does not send HELLO is disconnected. */
static void silent_stranger_is_closed(void **state)
{
	struct fm_msg ping = { .type = FM_MSG_PING };

	(void)state;
	join();
	fm_conn_up(fm, DOWN, now);
	pass(now + KEEPALIVE / 2);
	root_sends_pong();
	closes_in_four(DOWN, now - KEEPALIVE / 2);
	assert_int_equal(did.pongs, 0);
	/* A peer that asks without having said so is not answered either. */
	root_sends_pong();
	fm_conn_up(fm, DOWN + 1, now);
	fm_msg(fm, DOWN + 1, &ping, now);
	assert_int_equal(did.pongs, 0);
	fm_free(fm);
}

/* A child pings regularly; one that stops has hung. */
static void silent_child_is_closed(void **state)
{
	struct fm_msg hello = { .type = FM_MSG_HELLO }, ping = { .type = FM_MSG_PING };
	uint64_t received;

	(void)state;
	join();
	hello.hello.role = FM_ROLE_CHILD;
	strcpy(hello.hello.fabric, "green");
	strcpy(hello.hello.name, "n2");
	strcpy(hello.hello.address, "30.0.0.3:1");
	hello.hello.guid = 2;
	hello.hello.epoch = 1;
	hello.hello.term = TERM;
	fm_conn_up(fm, DOWN, now);
	fm_msg(fm, DOWN, &hello, now);
	assert_int_equal(did.welcomes, 1);
	for (unsigned int i = 1; i <= 3; i++) {
		pass(now + 4 * KEEPALIVE - 1);
		root_sends_pong();
		fm_msg(fm, DOWN, &ping, now);
		assert_int_equal(did.pongs, i);
	}
	assert_int_equal(did.closes, 0);
	received = now;
	pass(received + KEEPALIVE);
	root_sends_pong();
	closes_in_four(DOWN, received);
	fm_free(fm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connection_that_never_comes_up_is_closed),
		cmocka_unit_test(silent_root_is_pinged_and_closed),
		cmocka_unit_test(replaceable_root_is_pinged_more_often),
		cmocka_unit_test(silent_parent_is_pinged_and_closed),
		cmocka_unit_test(lost_cable_makes_node_ping_parent),
		cmocka_unit_test(silent_stranger_is_closed),
		cmocka_unit_test(silent_child_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
