// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of nodes in jobs that grow: three nodes in a row, 0 - 1 - 2, whose packets reach each
 * other, and the messages of growths on the wire. The test is the root, and stubs stand for the
 * other functions of the manager that grower.c calls.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/memory.h"
#include "daemon/fm/grow/packet.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/grower.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/table.h"

#define NODES	3
#define PORTS	2		/* 0: to the next node, 1: to the one before */
#define GUID	100
#define RESEND	(100 * MS)
#define HOLD	(3 * SEC)
#define EARLY	(250 * MS)
#define PACKETS	64

/* struct packet - a management packet on its way */
struct packet {
	unsigned int to, port;
	uint8_t data[FM_GROWTH_BYTES];
};

static struct fm node[NODES];
static struct fm_entry entry[NODES];
static uint16_t closed[NODES];
static bool up[NODES][PORTS + 2], has_table;
static bool deaf;		/* packets to the last node are lost */
static bool usurped;		/* packets to node 0 reach somebody else */
static unsigned int used;	/* ports in use by the shape that nodes know */
static struct packet queue[PACKETS];
static unsigned int queued, sent, dropped;
static struct fm_grown_msg reported[NODES];
static unsigned int reports[NODES], orders;
static struct fm_conn child = { .role = FM_CONN_CHILD }, other = { .role = FM_CONN_PROBE };
static uint64_t now;

/* --- stubs ----------------------------------------------------------------------------- */

static unsigned int index_of(const struct fm *fm)
{
	return (unsigned int)(fm - node);
}

unsigned int fm_conns_count(const struct fm *fm)
{
	return index_of(fm) ? 0 : 2;
}

struct fm_conn *fm_conn_no(const struct fm *fm, unsigned int i)
{
	(void)fm;
	return i ? &child : &other;
}

void fm_conn_send(struct fm *fm, const struct fm_conn *c, const struct fm_msg *msg)
{
	assert_int_equal(index_of(fm), 0);
	assert_ptr_equal(c, &child);
	assert_int_equal(msg->type, FM_MSG_GROW);
	orders++;
}

unsigned int fm_ports_used(const struct fm *fm)
{
	(void)fm;
	return used;
}

bool fm_port_up(const struct fm *fm, unsigned int p)
{
	return up[index_of(fm)][p];
}

uint32_t fm_table_self(const struct fm *fm)
{
	assert_true(has_table);
	return entry[index_of(fm)].state == FM_NODE_ABSENT ? TORUS_NO_NODE : index_of(fm);
}

bool fm_is_out_of_service(const struct torus_shape *shape, uint16_t admin)
{
	assert_int_equal(shape->ndims, 1);
	return admin == 0xf;
}

uint64_t fm_mix(uint64_t x)
{
	return x;
}

static void mgmt_send(void *io, unsigned int port, const void *data, size_t len)
{
	unsigned int from = index_of(io);

	assert_int_equal(len, FM_GROWTH_BYTES);
	sent++;
	assert_true(port < PORTS);
	if (queued == PACKETS || (port ? !from : from == NODES - 1) ||
	    (deaf && !port && from + 2 == NODES) || (usurped && port && from == 1)) {
		dropped++;
		return;
	}
	queue[queued].to = port ? from - 1 : from + 1;
	queue[queued].port = !port;
	memcpy(queue[queued++].data, data, len);
}

static void up_send(struct fm *fm, const struct fm_msg *msg)
{
	unsigned int i = index_of(fm);

	assert_int_equal(msg->type, FM_MSG_GROWN);
	assert_int_equal(msg->grown.guid, GUID + i);
	reported[i] = msg->grown;
	reports[i]++;
}

static const struct fm_up to_root = { .send = up_send };

/* --- the row of nodes ------------------------------------------------------------------ */

static void begin(void)
{
	static const struct torus_link none[PORTS] = { { .port = 0 }, { .port = 1 } };

	memset(node, 0, sizeof(node));
	memset(entry, 0, sizeof(entry));
	memset(closed, 0, sizeof(closed));
	memset(reported, 0, sizeof(reported));
	memset(reports, 0, sizeof(reports));
	queued = sent = dropped = orders = 0;
	now = SEC;
	used = PORTS;
	has_table = true;
	for (unsigned int i = 0; i < NODES; i++) {
		struct fm *fm = &node[i];

		fm->guid = GUID + i;
		fm->nports = PORTS;
		fm->random = i * 77;
		fm->now = now;
		fm->io = fm;
		fm->ops.mgmt_send = mgmt_send;
		fm->up = &to_root;
		fm->cfg.resend = RESEND;
		fm->table.version = 1;
		fm->table.shape = (struct torus_shape) { 1, { NODES, 1, 1, 1, 1, 1 } };
		fm->table.entry = entry;
		fm->table.closed = closed;
		entry[i].node = i;
		entry[i].state = FM_NODE_UP;
		up[i][0] = i < NODES - 1;
		up[i][1] = i > 0;
		assert_true(fm_grower_new(fm));
		fm_grower_begin(fm, none);
		assert_int_equal(fm_grower_expiry(fm), NEVER);
	}
}

static void end(void)
{
	for (unsigned int i = 0; i < NODES; i++)
		fm_grower_free(&node[i]);
	assert_int_equal(memory_blocks(), 0);
}

/* Delivers all packets, and what they cause. */
static void deliver(void)
{
	for (unsigned int n = 0; queued; n++) {
		struct packet p = queue[0];

		assert_true(n < 1000);
		memmove(queue, queue + 1, --queued * sizeof(p));
		assert_true(fm_grower_packet(&node[p.to], p.port, p.data, sizeof(p.data)));
	}
}

/* Runs until @until, each timer when it is due. */
static void run(uint64_t until)
{
	for (;;) {
		uint64_t at = NEVER;

		deliver();
		for (unsigned int i = 0; i < NODES; i++)
			at = earlier(at, fm_grower_expiry(&node[i]));
		now = later(now, earlier(at, until));
		for (unsigned int i = 0; i < NODES; i++)
			node[i].now = now;
		if (at > until)
			return;
		for (unsigned int i = 0; i < NODES; i++)
			fm_grower_due(&node[i]);
	}
}

/* The order of the root, at node @at. */
static void order_at(unsigned int at, unsigned int first, uint64_t serial, uint32_t nodes,
		     uint8_t links, uint32_t rate)
{
	const struct fm_grow_msg m = {
		.guid = GUID + first, .serial = serial, .nodes = nodes, .links = links, .rate = rate,
		.limit_ms = 1000,
	};

	fm_grower_order(&node[at], &m);
}

static void order(unsigned int i, uint64_t serial, uint32_t nodes, uint8_t links, uint32_t rate)
{
	for (unsigned int n = 0; n < NODES; n++)
		order_at(n, i, serial, nodes, links, rate);
}

/* Node 1 gets a message of somebody in the place of node 0; ACK confirms that it is a member. */
static void tell(enum fm_growth_kind kind, uint64_t serial)
{
	const struct fm_growth_msg m = {
		.kind = kind, .id = { GUID, serial }, .life = 5, .total = 2, .sent = { .asked = 1 },
		.received = { .done = kind == FM_GROWTH_ACK },
	};
	uint8_t data[FM_GROWTH_BYTES];

	fm_growth_put(data, &m);
	assert_true(fm_grower_packet(&node[1], 1, data, sizeof(data)));
}

static void forget_reports(void)
{
	memset(reported, 0, sizeof(reported));
	memset(reports, 0, sizeof(reports));
}

/* A growth over all nodes from node @at takes all of them: none is reserved. */
static void expect_all_free(unsigned int at, uint64_t serial)
{
	forget_reports();
	order(at, serial, NODES, 0, 0);
	run(now + 10 * MS);
	for (unsigned int i = 0; i < NODES; i++) {
		assert_int_equal(reports[i], 1);
		assert_false(reported[i].ended);
		assert_int_equal(reported[i].first, GUID + at);
		assert_int_equal(reported[i].serial, serial);
	}
}

/* --- tests ----------------------------------------------------------------------------- */

static void members_report_their_numbers_until_they_are_in_a_job(void **state)
{
	bool numbers[NODES] = { false };

	(void)state;
	begin();
	order(1, 7, NODES, 0, 0);
	assert_int_equal(orders, 1);
	run(now + 10 * MS);
	for (unsigned int i = 0; i < NODES; i++) {
		assert_int_equal(reports[i], 1);
		assert_false(reported[i].ended);
		assert_int_equal(reported[i].first, GUID + 1);
		assert_int_equal(reported[i].serial, 7);
		assert_true(reported[i].number < NODES && !numbers[reported[i].number]);
		numbers[reported[i].number] = true;
	}
	assert_int_equal(reported[1].number, 0);
	run(now + 3 * RESEND);
	for (unsigned int i = 0; i < NODES; i++) {
		assert_int_equal(reports[i], 4);
		entry[i].job = 3;
	}
	run(now + RESEND);
	sent = 0;
	run(now + 2 * HOLD);
	for (unsigned int i = 0; i < NODES; i++)
		assert_int_equal(reports[i], 4);
	assert_int_equal(sent, 0);
	for (unsigned int i = 0; i < NODES; i++)
		entry[i].job = 0;
	expect_all_free(0, 8);
	end();
}

static void order_is_obeyed_once_and_by_the_named_node(void **state)
{
	(void)state;
	begin();
	order(0, 7, 1, 0, 0);
	run(now + MS);
	assert_int_equal(reports[0], 1);
	assert_int_equal(reports[1] + reports[2], 0);
	order(0, 7, 2, 0, 0);
	run(now + MS);
	assert_int_equal(reports[0], 1);
	assert_int_equal(orders, 2);
	order(0, 8, 2, 0, 0);
	run(now + MS);
	assert_true(reported[0].ended);
	assert_int_equal(reported[0].serial, 8);
	assert_int_equal(reported[0].err, EBUSY);
	end();
}

static void members_leave_when_the_root_gives_up(void **state)
{
	(void)state;
	begin();
	order(0, 7, NODES, 0, 0);
	run(now + 10 * MS);
	order(0, 6, 0, 0, 0);
	order(1, 7, 0, 0, 0);
	run(now + 2 * RESEND);
	assert_int_equal(reports[2], 3);
	order(0, 7, 0, 0, 0);
	forget_reports();
	run(now + 2 * HOLD);
	assert_int_equal(reports[0] + reports[1] + reports[2], 0);
	expect_all_free(2, 8);
	end();
}

/* Also the first member, of which alone the root has an order. */
static void members_leave_by_themselves_without_a_root(void **state)
{
	(void)state;
	begin();
	order(1, 7, NODES, 0, 0);
	run(now + HOLD - SEC);
	order(0, 8, 2, 0, 0);
	run(now + MS);
	assert_int_equal(reported[0].err, EBUSY);
	assert_int_equal(reported[2].err, 0);
	order(0, 8, 0, 0, 0);
	run(now + 2 * SEC);
	forget_reports();
	run(now + 2 * HOLD);
	assert_int_equal(reports[0] + reports[1] + reports[2], 0);
	expect_all_free(0, 9);
	end();
}

static void members_leave_when_they_join_another_root(void **state)
{
	(void)state;
	begin();
	order(1, 7, NODES, 0, 0);
	run(now + 10 * MS);
	forget_reports();
	for (unsigned int i = 0; i < NODES; i++)
		node[i].term++;
	run(now + 10 * MS);
	assert_int_equal(reports[0] + reports[1] + reports[2], 0);
	expect_all_free(0, 8);
	end();
}

/*
 * A neighbour that invites node 1 again and again gets it only for growths that the root has ordered,
 * and only until it would have given them up.
 */
static void growth_that_no_root_has_ordered_gets_no_node(void **state)
{
	uint64_t free_at = 0, until;

	(void)state;
	begin();
	for (unsigned int i = 0; i < 200; i++) {
		tell(FM_GROWTH_PROPAGATE, 1000 + i / 8);
		run(now + 50 * MS);
		order(1, 7 + i, 1, 0, 0);
		run(now);
		assert_int_equal(reported[1].serial, 7 + i);
		assert_int_equal(reported[1].err, 0);
		order(1, 7 + i, 0, 0, 0);
		run(now + MS);
	}
	end();
	begin();
	usurped = true;
	order_at(1, 0, 7, 2, 0, 0);
	for (until = now + 2 * HOLD; now < until; run(now + 20 * MS)) {
		tell(FM_GROWTH_PROPAGATE, 7);
		tell(FM_GROWTH_ACK, 7);
		order_at(1, 1, 8 + now, 1, 0, 0);
		run(now);
		if (!reported[1].err && reported[1].serial == 8 + now && !free_at)
			free_at = now;
	}
	assert_in_range(free_at, SEC + HOLD, SEC + HOLD + 1200 * MS);
	usurped = false;
	end();
}

/* Node 1 gets the order after the invitation: it joins at once then, unless it was invited long ago. */
static void invitation_waits_for_the_order(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		begin();
		order_at(0, 0, 7, 2, 0, 0);
		run(now + 40 * MS + (k == 1 ? EARLY : 0));
		assert_int_equal(reports[0], k == 1);
		if (k == 2)		/* the invitation was withdrawn */
			tell(FM_GROWTH_RELEASE, 7);
		if (k == 3) {		/* the cable was lost meanwhile */
			up[1][1] = false;
			fm_grower_link(&node[1], &(struct torus_link) { .port = 1 });
			up[1][1] = true;
		}
		order_at(1, 0, 7, 2, 0, 0);
		run(now + MS);
		assert_int_equal(reports[1], k == 0);
		assert_true(!reports[1] || reported[1].serial == 7);
		if (k == 1) {
			assert_int_equal(reported[0].why, FM_GROWTH_TOO_FEW);
			assert_int_equal(reported[0].met, FM_GROWTH_MET_BUSY);
		}
		order(0, 7, 0, 0, 0);
		run(now + 10 * MS);
		expect_all_free(2, 8);
		end();
	}
}

static void first_member_reports_why_a_growth_ended(void **state)
{
	(void)state;
	begin();
	entry[2].job = 9;
	order(0, 7, NODES, 0, 0);
	run(now + 10 * MS);
	assert_true(reported[0].ended);
	assert_int_equal(reported[0].err, 0);
	assert_int_equal(reported[0].why, FM_GROWTH_TOO_FEW);
	assert_int_equal(reported[0].found, 2);
	assert_int_equal(reported[0].met, FM_GROWTH_MET_BUSY);
	assert_int_equal(reported[0].at, GUID);
	assert_int_equal(reported[0].port, FM_GROWTH_NO_PORT);
	assert_int_equal(reports[1] + reports[2], 0);
	run(now + HOLD);
	assert_true(reports[0] > 20 && reports[0] < 32);
	forget_reports();
	run(now + HOLD);
	assert_int_equal(reports[0], 0);
	entry[2].job = 0;
	expect_all_free(0, 8);
	end();
}

static void member_that_has_reported_reports_the_end(void **state)
{
	const struct torus_link lost = { .port = 0 };
	struct fm_growth_msg m;
	uint8_t release[FM_GROWTH_BYTES];

	(void)state;
	begin();
	order(0, 7, 2, 0, 0);
	run(now + 10 * MS);
	assert_int_equal(reports[1], 1);
	up[0][0] = up[1][1] = false;	/* a loss ends nothing any more */
	fm_grower_link(&node[0], &lost);
	run(now + 10 * MS);
	assert_false(reported[0].ended || reported[1].ended);
	up[0][0] = up[1][1] = true;
	m = (struct fm_growth_msg) {
		.kind = FM_GROWTH_RELEASE, .id = { GUID, 7 }, .life = 1,
		.end = { GUID + 5, FM_GROWTH_FORGOTTEN, 1 },
	};
	fm_growth_put(release, &m);
	assert_true(fm_grower_packet(&node[1], 1, release, sizeof(release)));
	run(now + 10 * MS);
	assert_true(reported[1].ended);
	assert_int_equal(reported[1].why, FM_GROWTH_FORGOTTEN);
	assert_int_equal(reported[1].at, GUID + 5);
	assert_int_equal(reported[1].port, 1);
	end();
}

/* A cable of the tree is lost before the growth is complete. */
static void loss_of_a_cable_ends_a_growth(void **state)
{
	const struct torus_link lost = { .port = 0 };

	(void)state;
	begin();
	order(0, 7, NODES, 0, 0);
	up[0][0] = false;
	fm_grower_link(&node[0], &lost);
	run(now + 10 * MS);
	assert_true(reported[0].ended);
	assert_int_equal(reported[0].why, FM_GROWTH_LOST);
	assert_int_equal(reported[0].port, 0);
	end();
}

/* A table of fewer dimensions than the shape that a node knows has no neighbours at other ports. */
static void ports_beyond_the_table_are_not_used(void **state)
{
	(void)state;
	begin();
	used = PORTS + 2;
	for (unsigned int i = 0; i < NODES; i++) {
		node[i].nports = PORTS + 2;
		up[i][PORTS] = up[i][PORTS + 1] = true;
	}
	order(1, 7, NODES + 1, 0, 0);
	run(now + 10 * MS);
	assert_true(reported[1].ended);
	assert_int_equal(reported[1].why, FM_GROWTH_TOO_FEW);
	assert_int_equal(reported[1].found, NODES);
	end();
	memset(up, 0, sizeof(up));
}

/* Each reason why a node is not free keeps it out of growths, and out of beginning one. */
static void only_free_nodes_take_part(void **state)
{
	(void)state;
	for (unsigned int reason = 0; reason < 6; reason++) {
		begin();
		if (reason == 0)
			entry[1].job = 1;
		else if (reason == 1)
			entry[1].state = FM_NODE_SILENT;
		else if (reason == 2)
			entry[1].state = FM_NODE_ABSENT;
		else if (reason == 3)
			entry[1].admin = 0xf;
		else if (reason == 4)
			node[1].table.version = 0;
		else
			closed[0] = 1;
		order(0, 7, 2, 0, 0);
		run(now + 10 * MS);
		assert_true(reported[0].ended);
		assert_int_equal(reported[0].why, FM_GROWTH_TOO_FEW);
		assert_int_equal(reported[0].found, 1);
		order(1, 8, 1, 0, 0);
		run(now + 10 * MS);
		assert_int_equal(reports[1] > 0, reason != 2 || reported[1].err);
		assert_int_equal(reported[1].err, reason < 5 ? EBUSY : 0);
		end();
	}
}

/* A member that cannot obey another order still leaves by itself. */
static void refused_order_leaves_the_report_of_a_member(void **state)
{
	(void)state;
	begin();
	order(0, 7, 1, 0, 0);
	run(now + MS);
	assert_int_equal(reports[0], 1);
	order(0, 8, 2, 0, 0);
	run(now + MS);
	assert_int_equal(reported[0].err, EBUSY);
	assert_int_equal(reports[0], 2);
	order(0, 8, 2, 0, 0);		/* the root has not got the answer */
	run(now + MS);
	assert_int_equal(reports[0], 3);
	order(0, 8, 0, 0, 0);
	run(now + RESEND);
	assert_int_equal(reported[0].serial, 7);
	assert_false(reported[0].ended);
	run(now + HOLD);
	expect_all_free(0, 9);
	end();
}

/* A report of an end that no root takes does not end the next growth. */
static void old_report_does_not_end_the_next_growth(void **state)
{
	(void)state;
	begin();
	order(1, 7, NODES + 1, 0, 0);
	run(now + HOLD - 10 * MS);
	assert_true(reported[1].ended);
	deaf = true;
	order(0, 8, NODES, 0, 0);
	run(now + 20 * MS);
	deaf = false;
	run(now + SEC);
	for (unsigned int i = 0; i < NODES; i++) {
		assert_int_equal(reported[i].serial, 8);
		assert_false(reported[i].ended);
	}
	end();
}

static void links_below_the_terms_are_not_used(void **state)
{
	struct torus_link l = { .port = 0 };

	(void)state;
	for (unsigned int rate = 999; rate <= 1000; rate++) {
		begin();
		l.gauge[TORUS_PG_RATE] = rate / 3 + (rate == 1000);
		l.gauge[TORUS_PG_WIDTH] = 3;
		for (unsigned int i = 0; i < NODES; i++)
			for (l.port = 0; l.port < PORTS; l.port++)
				fm_grower_link(&node[i], &l);
		order(1, 7, 3, 1, 1000);
		run(now + 10 * MS);
		assert_int_equal(reported[1].ended, rate < 1000);
		assert_int_equal(reported[1].err, rate < 1000 ? ENOLINK : 0);
		assert_int_equal(reports[0], rate == 1000);
		order(1, 7, 0, 0, 0);
		run(now + 10 * MS);
		order(0, 8, 1, 2, 1);
		run(now + 10 * MS);
		assert_int_equal(reported[0].err, ENOLINK);
		end();
	}
	begin();
	l.gauge[TORUS_PG_RATE] = UINT64_MAX / 4;
	l.gauge[TORUS_PG_MARGIN] = 1u << 20;
	l.port = PORTS;
	fm_grower_link(&node[0], &l);	/* a port that the NIC does not have */
	l.port = 0;
	fm_grower_link(&node[0], &l);
	order(0, 9, 1, 1, UINT32_MAX);
	run(now + 10 * MS);
	assert_int_equal(reported[0].err, 0);
	end();
}

static void other_packets_are_left_to_others(void **state)
{
	uint8_t data[FM_GROWTH_BYTES + 1] = "tINI";

	(void)state;
	begin();
	assert_false(fm_grower_packet(&node[0], 0, data, sizeof(data)));
	memcpy(data, "tGRO", 4);
	assert_false(fm_grower_packet(&node[0], 0, data, 3));
	for (size_t len = 4; len <= sizeof(data); len++)
		assert_true(fm_grower_packet(&node[0], 0, data, len));
	data[4] = FM_GROWTH_VERSION;
	assert_true(fm_grower_packet(&node[0], PORTS, data, FM_GROWTH_BYTES));
	assert_int_equal(sent, 0);
	end();
}

static struct fm_growth_msg some_message(uint64_t *r)
{
#define SOME(limit) ((uint32_t)((*r = *r * 6364136223846793005u + 1442695040888963407u) >> 33) % (limit))
	return (struct fm_growth_msg) {
		.kind = (enum fm_growth_kind)SOME(FM_GROWTH_KINDS), .met = (uint8_t)SOME(4),
		.id = { (uint64_t)SOME(1u << 31) << 33, (uint64_t)SOME(1u << 31) << 30 },
		.terms = { (uint8_t)SOME(13), SOME(1u << 31), (uint16_t)SOME(1u << 16) },
		.sent = { SOME(99999), SOME(99999), SOME(99999), (uint8_t)SOME(3) },
		.received = { SOME(99999), SOME(99999), TORUS_MAX_NODES, (uint8_t)SOME(3) },
		.life = SOME(1u << 31), .to = SOME(1u << 31), .first = TORUS_MAX_NODES - 1,
		.total = TORUS_MAX_NODES,
		.end = { (uint64_t)SOME(1u << 31) << 32, (uint8_t)SOME(FM_GROWTH_WHYS),
			 SOME(2) ? 0xff : (uint8_t)SOME(TORUS_MAX_PORTS) },
	};
}

static void message_survives_the_wire(void **state)
{
	uint8_t buf[FM_GROWTH_BYTES + 1], again[FM_GROWTH_BYTES];
	struct fm_growth_msg m, out;
	uint64_t r = 5;

	(void)state;
	for (unsigned int i = 0; i < 500; i++) {
		m = some_message(&r);
		fm_growth_put(buf, &m);
		assert_true(fm_growth_is_packet(buf, sizeof(again)));
		assert_int_equal(fm_growth_get(buf, sizeof(again), &out), 0);
		fm_growth_put(again, &out);
		assert_memory_equal(again, buf, sizeof(again));
		assert_int_equal(out.end.port, m.end.port);
		assert_int_equal(out.received.back, m.received.back);
		assert_int_equal(out.terms.margin, m.terms.margin);
		assert_int_equal(fm_growth_get(buf, sizeof(again) - 1, &out), -EBADMSG);
		assert_int_equal(fm_growth_get(buf, sizeof(buf), &out), -EBADMSG);
	}
}

/* Bytes of which one value too large is refused: the offset, the value, and the result. */
static void values_out_of_range_are_refused(void **state)
{
	static const struct { uint8_t at, value; int err; } bad[] = {
		{ 0, 'x', -EBADMSG }, { 4, 0, -EPROTONOSUPPORT }, { 4, 2, -EPROTONOSUPPORT },
		{ 5, FM_GROWTH_KINDS, -EBADMSG }, { 6, 4, -EBADMSG }, { 6, 3, 0 },
		{ 7, TORUS_MAX_PORTS + 1, -EBADMSG }, { 7, TORUS_MAX_PORTS, 0 }, { 30, 3, -EBADMSG },
		{ 31, 3, -EBADMSG }, { 35, 2, -EBADMSG }, { 39, 2, -EBADMSG }, { 43, 2, -EBADMSG },
		{ 47, 2, -EBADMSG }, { 51, 2, -EBADMSG }, { 55, 2, -EBADMSG }, { 35, 1, 0 },
		{ 67, 1, -EBADMSG }, { 66, 0xff, 0 }, { 71, 1, 0 }, { 71, 2, -EBADMSG },
		{ 80, FM_GROWTH_WHYS, -EBADMSG }, { 81, TORUS_MAX_PORTS, -EBADMSG },
		{ 81, TORUS_MAX_PORTS - 1, 0 }, { 81, 0xff, 0 },
	};
	const struct fm_growth_msg m = { .kind = FM_GROWTH_ACK };
	struct fm_growth_msg out;
	uint8_t buf[FM_GROWTH_BYTES];

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fm_growth_put(buf, &m);
		buf[bad[i].at] = bad[i].value;
		if (fm_growth_get(buf, sizeof(buf), &out) != bad[i].err)
			fail_msg("byte %u = %u", bad[i].at, bad[i].value);
	}
}

static void lack_of_memory_is_reported(void **state)
{
	struct fm fm = { .guid = 1 };

	(void)state;
	begin();
	memory_fails_at(1);
	order(0, 7, 1, 0, 0);
	run(now + MS);
	assert_true(memory_failed());
	assert_int_equal(reported[0].err, ENOMEM);
	end();
	begin();
	memory_fails_at(1);		/* a node that gets an invitation seems to have lost it */
	tell(FM_GROWTH_PROPAGATE, 7);
	assert_true(memory_failed());
	order(0, 7, 2, 0, 0);
	run(now + 10 * MS);
	assert_false(reported[1].ended);
	assert_int_equal(reported[1].serial, 7);
	end();
	memory_fails_at(1);
	assert_false(fm_grower_new(&fm));
	assert_true(memory_failed());
	fm_grower_free(&fm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_report_their_numbers_until_they_are_in_a_job),
		cmocka_unit_test(order_is_obeyed_once_and_by_the_named_node),
		cmocka_unit_test(members_leave_when_the_root_gives_up),
		cmocka_unit_test(members_leave_by_themselves_without_a_root),
		cmocka_unit_test(members_leave_when_they_join_another_root),
		cmocka_unit_test(growth_that_no_root_has_ordered_gets_no_node),
		cmocka_unit_test(invitation_waits_for_the_order),
		cmocka_unit_test(first_member_reports_why_a_growth_ended),
		cmocka_unit_test(member_that_has_reported_reports_the_end),
		cmocka_unit_test(loss_of_a_cable_ends_a_growth),
		cmocka_unit_test(ports_beyond_the_table_are_not_used),
		cmocka_unit_test(only_free_nodes_take_part),
		cmocka_unit_test(refused_order_leaves_the_report_of_a_member),
		cmocka_unit_test(old_report_does_not_end_the_next_growth),
		cmocka_unit_test(links_below_the_terms_are_not_used),
		cmocka_unit_test(other_packets_are_left_to_others),
		cmocka_unit_test(message_survives_the_wire),
		cmocka_unit_test(values_out_of_range_are_refused),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
