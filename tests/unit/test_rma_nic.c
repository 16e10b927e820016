// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remote memory of one NIC alone. The test plays node 2, at port 2, both as an initiator and as an
 * owner, message by message; also one that breaks the rules.
 */
#include "tests/unit/one_lone.h"
#include "kernel/core/rma_nic.h"

#define SLOTS	8
#define KEY	0x01abcdef
#define FIRST	1000		/* number of node 2's first operation */

static u64 memory[8];
static struct tn_rma_region region = { .bytes = sizeof(memory), .key = KEY, .access = TN_ACCESS_ALL };
static struct tn_fe_pool pool;
static struct tn_fe_wait waits[4];
static struct tn_fe_wait *buckets[4];
static void *rma;
static u16 eseq[TN_FLOW_VCS];	/* of node 2's next packet */
static u32 ends;
static struct tn_rma_end last_end;
static u64 last_cookie;

static u8 *host_mem(void *h, u32 index, u64 offset, u64 *run)
{
	(void)h;
	assert_int_equal(index, 0);
	*run = sizeof(memory) - offset;
	return (u8 *)memory + offset;
}

static const struct tn_window *host_space(void *h, u16 job)
{
	(void)h, (void)job;
	return NULL;
}

static int host_recv(void *h, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes)
{
	(void)h, (void)src, (void)ask, (void)data, (void)bytes;
	return -ENOBUFS;
}

static void host_done(void *h, u64 cookie, const struct tn_rma_end *end)
{
	(void)h;
	ends++;
	last_end = *end;
	last_cookie = cookie;
}

static const struct tn_nic_rma_ops rma_ops = {
	.mem = host_mem, .space = host_space, .recv = host_recv, .done = host_done,
};

static void begin(u32 replies)
{
	const struct tn_nic_rma_config cfg = {
		.ops = &rma_ops, .region = &region, .regions = 1, .pool = &pool, .slots = SLOTS,
		.replies = replies, .waits = 2, .rma_time = 100 * MS,
	};

	lone_begin(NULL);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 2, lone_dirs(4));
	release();
	memset(memory, 0, sizeof(memory));
	memset(eseq, 0, sizeof(eseq));
	ends = 0;
	tn_fe_pool_init(&pool, waits, 4, buckets, 4, 1);
	rma = aligned_alloc(64, tn_nic_rma_size(&l.shape, SLOTS));
	assert_non_null(rma);
	assert_int_equal(tn_nic_rma_open(l.nic, &cfg, rma, l.now), 0);
}

static void finish(void)
{
	for (unsigned int p = 0; p < 4; p++)
		assert_int_equal(lone_link(&l, p)->state, TORUS_LINK_UP);
	tn_nic_rma_close(l.nic);
	free(rma);
	end();
}

/* Receives a packet of service 1 from the neighbour at @port, with @bytes of payload. */
static void say_from(unsigned int port, struct tn_hdr h, u16 number, const u8 *payload, u32 bytes)
{
	static u8 flits[TN_PACKET_MAX];
	struct tn_tail t = {
		.vb = TN_SERVICE_RMA, .eseq = number,
		.flags = (u8)(TN_TAIL_FIRST | TN_TAIL_LAST | (-bytes & (TN_FLIT - 1))),
	};

	h.len = (u16)((bytes + TN_FLIT - 1) / TN_FLIT);
	h.first = h.last = TN_NO_STEP;
	lone_rx(&l, port, flits, lone_make(&l, port, flits, h, t, NULL, payload));
	l.peer[port].tseq = (u16)((l.peer[port].tseq + 1) & TN_SEQ_MASK);
}

/* Receives a request of node 2 as packet @ahead after the next of its flow. */
static void ask(struct tn_rma_ask a, u16 ahead)
{
	const struct tn_hdr h = { .type = TN_DATA, .src = 2, .dst = 0, .vc = TORUS_VC_D0 };
	u8 payload[TN_RMA_HEAD_MAX] = { 0 };

	a.flags |= a.op == TN_RMA_RESET ? 0 : TN_RMA_KEYED;
	a.key = a.op == TN_RMA_RESET ? 0 : KEY;
	say_from(2, h, (u16)(eseq[TORUS_VC_D0] + ahead), payload, tn_rma_ask_put(payload, &a));
}

/* Receives bytes as a reply of node 2. */
static void reply_bytes(const u8 *payload, u32 bytes)
{
	const struct tn_hdr h = { .type = TN_DATA, .src = 2, .dst = 0, .vc = TORUS_VC_D1 };

	say_from(2, h, eseq[TORUS_VC_D1]++, payload, bytes);
	work();
}

static __attribute__((unused)) void reply(struct tn_rma_reply r)
{
	u8 payload[48] = { 0 };

	reply_bytes(payload, tn_rma_reply_put(payload, &r));
}

/* The message in the last packet that left by port 2. */
static struct tn_rma_reply sent_reply(unsigned int i)
{
	struct tn_rma_reply r = { 0 };

	assert_true(l.sent[i].hdr.vc == TORUS_VC_D1 && l.sent[i].tail.vb == TN_SERVICE_RMA);
	assert_true(tn_rma_reply_get(l.sent[i].payload, l.sent[i].hdr.len * TN_FLIT, &r));
	return r;
}

static const struct tn_rma_ask reset = { .op = TN_RMA_RESET, .number = FIRST };

static struct tn_rma_ask get_word(u32 number)
{
	return (struct tn_rma_ask) { .op = TN_RMA_GET, .number = number, .bytes = 8 };
}

/* --- replies ------------------------------------------------------------------------- */

/*
 * Requests that arrived before an earlier one are executed behind it, at the end of the work. With
 * room for one reply that of the RESET leaves first, then that of one request in the same call.
 */
static void test_replies_of_waiting(void **state)
{
	(void)state;
	begin(1);
	ask(get_word(FIRST), 1);
	ask(get_word(FIRST + 1), 2);
	work();
	assert_int_equal(lone_drain(&l, 2), 0);
	ask(reset, 0);
	work();
	assert_int_equal(lone_drain(&l, 2), 2);
	assert_int_equal(sent_reply(0).number, FIRST);
	assert_int_equal(sent_reply(0).op, TN_RMA_DATA);
	work();
	assert_int_equal(lone_drain(&l, 2), 1);
	assert_int_equal(sent_reply(0).number, FIRST + 1);
	finish();
}

/* After a hold, a reply does not wait behind the host's messages, of which 16 go at a time. */
static void test_reply_after_hold(void **state)
{
	static const u32 node = 2;
	u32 n, at = 0;

	(void)state;
	begin(8);
	assert_int_equal(tn_nic_hold(l.nic, &node, 1), 0);
	for (n = 0; n < 40; n++)
		assert_int_equal(lone_send(&l, 2, TORUS_VC_D1, 1), 0);
	ask(reset, 0);
	work();
	assert_int_equal(lone_drain(&l, 2), 0);
	assert_int_equal(tn_nic_counters(l.nic)[TORUS_NC_HELD], 41);
	release();
	work();
	for (n = 0; lone_tx(&l, 2);)
		for (u32 i = 0; i < l.nsent; i++) {
			if (l.sent[i].hdr.type != TN_DATA)
				continue;
			n++;
			if (l.sent[i].tail.vb == TN_SERVICE_RMA)
				at = n;
		}
	assert_int_equal(n, 41);
	assert_in_range(at, 1, 17);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replies_of_waiting),
		cmocka_unit_test(test_reply_after_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
