// SPDX-License-Identifier: GPL-2.0-only
/*
 * The owner of remote memory alone: what the comparison of test_rma_initiator.c does not reach.
 * Packets that no initiator sends, regions that are closed under those that wait, changes by the
 * owner's own processes, and memory for one reply at a time.
 */
#include "tests/unit/seeds.h"
#include "kernel/core/rma_owner.h"

#define WORDS	4
#define KEY	0x02345678
#define NODES	2
#define EPOCH	77
#define SENT	16

struct lone_owner {
	struct tn_rma_owner owner;
	struct tn_rma_source source[TN_RMA_PIECE], *sources[1];
	struct tn_rma_region region[2];
	struct tn_fe_pool pool;
	struct tn_fe_wait wait[4];
	struct tn_fe_wait *bucket[1];
	struct tn_fe_bits bits;
	u64 full, waits, word[WORDS];
	u8 out[64];
	struct tn_rma_reply sent[SENT];
	unsigned int n, room, asked;	/* asked: how often for room */
};

static u8 *lone_room(void *host, enum tn_rma_way way, u32 dst)
{
	struct lone_owner *o = host;

	(void)dst;
	assert_int_equal(way, TN_RMA_REPLIES);
	o->asked++;
	return o->room ? o->out : NULL;
}

static void lone_send(void *host, enum tn_rma_way way, u32 dst, u32 bytes)
{
	struct lone_owner *o = host;

	(void)way, (void)dst;
	assert_true(o->room && o->n < SENT);
	assert_true(tn_rma_reply_get(o->out, bytes, &o->sent[o->n++]));
	o->room--;
}

static u8 *lone_mem(void *host, u32 region, u64 offset, u64 *run)
{
	struct lone_owner *o = host;

	assert_true(region < 2 && offset < sizeof(o->word));
	*run = sizeof(o->word) - offset;
	return (u8 *)o->word + offset;
}

static const struct tn_window *no_space(void *host, u32 job)
{
	(void)host, (void)job;
	return NULL;
}

static u8 no_recv(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		  u64 *allowed)
{
	(void)host, (void)src, (void)ask, (void)data, (void)bytes, (void)allowed;
	return TN_RMA_RNR;
}

static const struct tn_rma_owner_ops lone_ops = {
	.net = { .room = lone_room, .send = lone_send }, .mem = lone_mem, .space = no_space,
	.recv = no_recv,
};

/* Region 0 has full/empty bits, region 1 the rights for them alone. */
static void lone_init(struct lone_owner *o, unsigned int room)
{
	memset(o, 0, sizeof(*o));
	o->room = room;
	o->bits = (struct tn_fe_bits) { .full = &o->full, .waits = &o->waits, .n = WORDS };
	tn_fe_pool_init(&o->pool, o->wait, 4, o->bucket, 1, 5);
	for (int i = 0; i < 2; i++)
		o->region[i] = (struct tn_rma_region) {
			.bytes = sizeof(o->word), .key = KEY, .access = TN_ACCESS_ALL,
			.fe = i ? NULL : &o->bits,
		};
	o->owner = (struct tn_rma_owner) {
		.ops = &lone_ops, .host = o, .piece = o->sources, .region = o->region,
		.pool = &o->pool, .nodes = NODES, .regions = 2, .epoch = EPOCH, .data_max = 32,
	};
	o->sources[0] = o->source;
	o->source[1] = (struct tn_rma_source) { .next = 10, .known = 1 };
}

/* Sends a request of node 1. Return: what tn_rma_owner_take() returns */
static int take_ask(struct lone_owner *o, struct tn_rma_ask ask, u32 data)
{
	u8 payload[TN_RMA_HEAD_MAX + 16] = { 0 };

	ask.flags |= ask.op < TN_RMA_SEND ? TN_RMA_KEYED : 0;
	ask.key = KEY;
	return tn_rma_owner_take(&o->owner, 1, payload, tn_rma_ask_put(payload, &ask) + data, 0);
}

static void expect_nak(struct lone_owner *o, u8 reason, u16 slot, u32 number)
{
	assert_int_equal(o->n, 1);
	assert_int_equal(o->sent[0].op, TN_RMA_NAK);
	assert_int_equal(o->sent[0].why, reason);
	assert_int_equal(o->sent[0].slot, slot);
	assert_int_equal(o->sent[0].number, number);
	o->n = 0;
}

/* A request waits until word 0 is full. */
static void let_one_wait(struct lone_owner *o, u32 number)
{
	struct tn_rma_ask fe = {
		.op = TN_RMA_FE, .number = number, .slot = (u16)number, .fe_op = TN_FE_READ,
		.q = TN_FE_FULL, .r = TN_FE_ANY, .type = TN_AMO_U64,
	};

	assert_int_equal(take_ask(o, fe, 0), 0);
	assert_int_equal(o->n, 0);
}

static void malformed_request_is_refused_and_uses_its_number(void **state)
{
	struct lone_owner o;
	struct tn_rma_ask get = { .op = TN_RMA_GET, .number = 10, .slot = 3, .bytes = 8 };
	u8 payload[TN_RMA_FLIT] = { 0 };

	(void)state;
	lone_init(&o, 8);
	/* Less than a flit: nothing is known of it, and the next operation is in order. */
	assert_int_equal(tn_rma_owner_take(&o.owner, 1, payload, 15, 0), 0);
	assert_int_equal(o.n, 0);
	/* A GET with data: its number is used. */
	assert_int_equal(take_ask(&o, get, 1), 0);
	expect_nak(&o, TN_RMA_BAD, 3, 10);
	/* No such operation. */
	payload[0] = 99;
	tn_put_le32(payload + 4, 11);
	assert_int_equal(tn_rma_owner_take(&o.owner, 1, payload, sizeof(payload), 0), 0);
	expect_nak(&o, TN_RMA_BAD, TN_RMA_POSTED, 11);
	assert_int_equal(o.source[1].refused, 1);
	/* A RESET with an endpoint is none, and has no number. */
	payload[0] = TN_RMA_RESET;
	payload[2] = 1;
	assert_int_equal(tn_rma_owner_take(&o.owner, 1, payload, sizeof(payload), 0), 0);
	assert_int_equal(o.n, 0);
	assert_int_equal(o.source[1].next, 12);
	assert_int_equal(o.owner.count.malformed, 4);
}

static void region_without_bits_refuses_fe(void **state)
{
	struct tn_rma_ask fe = {
		.op = TN_RMA_FE, .number = 10, .slot = 1, .region = 1, .type = TN_AMO_U64,
	};
	struct lone_owner o;

	(void)state;
	lone_init(&o, 8);
	assert_int_equal(take_ask(&o, fe, 0), 0);
	expect_nak(&o, TN_RMA_NO_FE, 1, 10);
}

/* Three wait; they are refused one by one, as there is memory for replies. */
static void closed_owner_refuses_waiting_requests(void **state)
{
	struct tn_rma_ask put = { .op = TN_RMA_PUT, .number = 13 };
	struct lone_owner o;

	(void)state;
	lone_init(&o, 1);
	for (u32 i = 0; i < 3; i++)
		let_one_wait(&o, 10 + i);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(tn_rma_owner_close(&o.owner, 0), i < 2 ? -EAGAIN : 0);
		assert_int_equal(o.n, 1);
		assert_in_range(o.sent[0].number, 10, 12);
		expect_nak(&o, TN_RMA_GONE, (u16)o.sent[0].number, o.sent[0].number);
		assert_int_equal(take_ask(&o, put, 0), -EAGAIN);
		o.room = 1;
	}
	assert_int_equal(o.pool.waiting + o.source[1].waits, 0);
	assert_int_equal(take_ask(&o, put, 0), 0);
	expect_nak(&o, TN_RMA_GONE, TN_RMA_POSTED, 13);
}

/* Without memory for a reply, only the oldest of those that wait is looked at. */
static void closed_owner_refuses_in_order_of_arrival(void **state)
{
	struct tn_rma_ask fe = {
		.op = TN_RMA_FE, .fe_op = TN_FE_READ, .q = TN_FE_FULL, .r = TN_FE_ANY,
		.type = TN_AMO_U64,
	};
	struct lone_owner o;

	(void)state;
	lone_init(&o, 1);
	for (u32 i = 0; i < 4; i++) {
		fe.number = 10 + i;
		fe.addr = 8 * (u64)(i % 3);
		assert_int_equal(take_ask(&o, fe, 0), 0);
	}
	o.room = 0;
	o.asked = 0;
	assert_int_equal(tn_rma_owner_close(&o.owner, 0), -EAGAIN);
	assert_int_equal(o.asked, 1);
	o.room = 4;
	assert_int_equal(tn_rma_owner_close(&o.owner, 0), 0);
	assert_int_equal(o.n, 4);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(o.sent[i].number, 10 + i);
	assert_int_equal(o.waits | o.pool.waiting, 0);
	assert_null(o.bits.newest);
}

/* A process of the owner changes a word; two wait, and there is memory for one reply. */
static void changed_word_answers_waiting_requests(void **state)
{
	struct tn_rma_ask fe = {
		.op = TN_RMA_FE, .slot = 1, .fe_op = TN_FE_WAIT, .q = TN_FE_ANY, .r = TN_FE_ANY,
		.cmp = TN_FE_EQ, .value = 5, .type = TN_AMO_U64, .addr = 8,
	};
	struct lone_owner o;

	(void)state;
	lone_init(&o, 1);
	for (u32 i = 0; i < 2; i++) {
		fe.number = 10 + i;
		assert_int_equal(take_ask(&o, fe, 0), 0);
	}
	assert_int_equal(tn_rma_owner_changed(&o.owner, 0, 8, 8), 0);
	assert_int_equal(o.n, 0);
	o.word[1] = 5;
	assert_int_equal(tn_rma_owner_changed(&o.owner, 0, 0, sizeof(o.word)), 0);
	assert_int_equal(o.n, 1);
	fe.number = 12;
	assert_int_equal(take_ask(&o, fe, 0), -EAGAIN);
	assert_int_equal(tn_rma_owner_changed(&o.owner, 0, 0, 8), -EAGAIN);
	o.room = 1;
	assert_true(tn_rma_owner_poll(&o.owner));
	assert_int_equal(o.n, 2);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(o.sent[i].op, TN_RMA_OLD);
		assert_int_equal(o.sent[i].number, 10 + i);
		assert_int_equal(o.sent[i].value, 5);
	}
	assert_int_equal(o.source[1].waits, 0);
}

/* A put with a notification answers a request that waits for the word that it adds to. */
static void notification_answers_waiting_request(void **state)
{
	const struct tn_rma_ask fe = {
		.op = TN_RMA_FE, .slot = 1, .number = 10, .fe_op = TN_FE_WAIT, .q = TN_FE_ANY,
		.r = TN_FE_ANY, .cmp = TN_FE_EQ, .value = 5, .type = TN_AMO_U64, .addr = 16,
	};
	struct tn_rma_ask put = {
		.op = TN_RMA_PUT, .flags = TN_RMA_NOTIFY, .addr = 8, .compare = 16,
	};
	struct lone_owner o;

	(void)state;
	lone_init(&o, 2);
	o.word[1] = 7;
	assert_int_equal(take_ask(&o, fe, 0), 0);
	put.number = 11;
	put.value = 2;
	assert_int_equal(take_ask(&o, put, 8), 0);
	assert_int_equal(o.word[1], 0);
	assert_int_equal(o.word[2], 2);
	assert_int_equal(o.n, 0);
	put.number = 12;
	put.value = 3;
	assert_int_equal(take_ask(&o, put, 8), 0);
	assert_int_equal(o.n, 1);
	assert_int_equal(o.sent[0].op, TN_RMA_OLD);
	assert_int_equal(o.sent[0].number, 10);
	assert_int_equal(o.sent[0].value, 5);
}

/* Posted operations are acknowledged every TN_RMA_ACK_EVERY, or when it is asked for. */
static void posted_operations_are_acknowledged_in_groups(void **state)
{
	struct tn_rma_ask put = { .op = TN_RMA_PUT };
	struct lone_owner o;

	(void)state;
	lone_init(&o, 8);
	for (u32 i = 0; i < TN_RMA_ACK_EVERY + 3; i++) {
		put.number = 10 + i;
		/* the address is after the end of the region */
		put.addr = i == 2 ? 33 : 0;
		put.flags = i == TN_RMA_ACK_EVERY + 2 ? TN_RMA_ASK : 0;
		assert_int_equal(take_ask(&o, put, 0), 0);
	}
	assert_int_equal(o.n, 3);
	assert_int_equal(o.sent[0].why, TN_RMA_BOUNDS);
	for (unsigned int i = 1; i < 3; i++) {
		assert_int_equal(o.sent[i].op, TN_RMA_ACK);
		assert_int_equal(o.sent[i].refused, 1);
		assert_int_equal(o.sent[i].number, 10 + TN_RMA_ACK_EVERY + (i == 1 ? 1 : 3));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_request_is_refused_and_uses_its_number),
		cmocka_unit_test(region_without_bits_refuses_fe),
		cmocka_unit_test(closed_owner_refuses_waiting_requests),
		cmocka_unit_test(closed_owner_refuses_in_order_of_arrival),
		cmocka_unit_test(changed_word_answers_waiting_requests),
		cmocka_unit_test(notification_answers_waiting_request),
		cmocka_unit_test(posted_operations_are_acknowledged_in_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
