// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remote memory of one NIC alone: what it refuses, the memory that it takes, operations of the node
 * with itself, and when it asks a node that is silent.
 */
#include "tests/unit/one_lone.h"
#include "kernel/core/rma_nic.h"

#define SLOTS	600
#define KEY	0x01abcdef
#define TIME	(100 * MS)

static u64 memory[8];
static struct tn_rma_region region = {
	.bytes = sizeof(memory), .key = KEY, .job = 9, .access = TN_ACCESS_ALL,
};
static struct tn_fe_pool pool;
static u64 piece[2][512];
static unsigned int npieces;
static struct tn_nic_rma_config cfg;
static void *rma;
static u32 ends, cookies;		/* operations that have ended, and sum of their cookies */
static struct tn_rma_end last;
static u32 spaces, messages;
static u8 message[8], answer;

static u8 *host_mem(void *h, u32 index, u64 offset, u64 *run)
{
	(void)h;
	assert_int_equal(index, 0);
	*run = sizeof(memory) - offset;
	return (u8 *)memory + offset;
}

static const struct tn_window *host_space(void *h, u32 job)
{
	static u64 from[1];
	static struct tn_window_row rows[1];
	static struct tn_window window;
	const struct tn_window_row row = { .bytes = sizeof(memory), .access = TN_ACCESS_ALL };
	struct tn_window_why why;

	(void)h;
	assert_int_equal(job, 9);
	spaces++;
	assert_int_equal(tn_window_init(&window, TN_WINDOW_HIGH, 0, 48, 0, from, rows, 1, &why), 0);
	assert_int_equal(tn_window_put(&window, &row, &why), 0);
	return &window;
}

static u8 host_recv(void *h, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		    u64 *allowed)
{
	(void)h, (void)allowed;
	assert_true(src == 0 && ask->op == TN_RMA_SEND && bytes <= sizeof(message));
	memcpy(message, data, bytes);
	messages++;
	return answer;
}

static void host_done(void *h, u64 cookie, const struct tn_rma_end *end)
{
	(void)h;
	ends++;
	cookies += (u32)cookie;
	last = *end;
}

static void *host_memory(void *h, size_t bytes)
{
	(void)h;
	assert_true(npieces < 2 && bytes <= sizeof(piece[0]));
	return memset(piece[npieces++], 0, bytes);
}

static const struct tn_nic_rma_ops rma_ops = {
	.mem = host_mem, .space = host_space, .recv = host_recv, .done = host_done,
	.memory = host_memory,
};

static void begin(void)
{
	lone_begin(NULL);
	lone_row(&l, 2, lone_dirs(4));
	release();
	memset(memory, 0, sizeof(memory));
	ends = cookies = spaces = messages = npieces = 0;
	answer = 0;
	pool = (struct tn_fe_pool) { 0 };
	cfg = (struct tn_nic_rma_config) {
		.ops = &rma_ops, .region = &region, .regions = 1, .pool = &pool, .slots = SLOTS,
		.replies = 2, .rma_time = TIME,
	};
	rma = aligned_alloc(64, tn_nic_rma_size(&l.shape, SLOTS));
	assert_non_null(rma);
	memset(rma, 0, tn_nic_rma_size(&l.shape, SLOTS));
}

static void open_service(void)
{
	begin();
	assert_int_equal(tn_nic_rma_open(l.nic, &cfg, rma, l.now), 0);
}

static void finish(void)
{
	tn_nic_rma_close(l.nic);
	tn_nic_rma_close(l.nic);
	free(rma);
	end();
}

/* Begins an operation with @dst. */
static int begin_op(u32 dst, u8 op, u64 cookie)
{
	const struct tn_rma_ask a = {
		.op = op, .job = 9, .bytes = op == TN_RMA_GET ? 8 : 0,
		.flags = (op == TN_RMA_GET ? 0 : TN_RMA_ASK) |
			 (op == TN_RMA_SEND ? 0 : TN_RMA_KEYED),
		.key = op == TN_RMA_SEND ? 0 : KEY,
	};
	const u64 word = 0x0102030405060708 + cookie;

	return tn_nic_rma_issue(l.nic, dst, &a, (const u8 *)&word, op == TN_RMA_GET ? 0 : 8, cookie,
				l.now);
}

/* --- what is refused ----------------------------------------------------------------- */

static void refuses_to_open(int err)
{
	assert_int_equal(tn_nic_rma_open(l.nic, &cfg, rma, l.now), err);
	assert_null(tn_nic_rma_owner(l.nic));
}

static void service_with_wrong_numbers_does_not_open(void **state)
{
	(void)state;
	begin();
	assert_int_equal(begin_op(0, TN_RMA_PUT, 1), -ENODEV);
	cfg.slots = 0;
	refuses_to_open(-EINVAL);
	cfg.slots = TN_RMA_SLOTS_MAX + 1;
	refuses_to_open(-EINVAL);
	cfg.slots = SLOTS;
	cfg.replies = 0;
	refuses_to_open(-EINVAL);
	cfg.replies = 1;
	cfg.rma_time = 0;
	refuses_to_open(-EINVAL);
	cfg.rma_time = 1;
	pool.n = TN_RMA_POSTED;
	refuses_to_open(-EINVAL);
	pool.n--;
	l.nic->placed = false;
	refuses_to_open(-ENODEV);
	l.nic->placed = true;
	free(rma);
	rma = aligned_alloc(64, tn_nic_rma_size(&l.shape, TN_RMA_SLOTS_MAX));
	memset(rma, 0, tn_nic_rma_size(&l.shape, TN_RMA_SLOTS_MAX));
	cfg.slots = TN_RMA_SLOTS_MAX;
	assert_int_equal(tn_nic_rma_open(l.nic, &cfg, rma, l.now), 0);
	assert_int_equal(tn_nic_rma_open(l.nic, &cfg, rma, l.now), -EBUSY);
	finish();
}

static void operation_with_wrong_size_is_refused(void **state)
{
	struct tn_rma_ask a = { .op = TN_RMA_PUT, .flags = TN_RMA_KEYED, .key = KEY, .job = 9 };
	static const u8 data[TN_PAYLOAD_MAX];
	u32 most;

	(void)state;
	open_service();
	most = l.params.payload_max - TN_RMA_HEAD_MAX;
	assert_int_equal(tn_nic_rma_issue(l.nic, 9, &a, data, 8, 1, l.now), -EINVAL);
	assert_int_equal(tn_nic_rma_issue(l.nic, 0, &a, data, most + 1, 1, l.now), -EINVAL);
	assert_true(tn_nic_rma_issue(l.nic, 0, &a, data, most, 1, l.now) >= 0);
	a.op = TN_RMA_GET;
	most = l.params.payload_max - TN_RMA_FLIT;
	a.bytes = most + 1;
	assert_int_equal(tn_nic_rma_issue(l.nic, 0, &a, NULL, 0, 1, l.now), -EINVAL);
	a.bytes = most;
	assert_true(tn_nic_rma_issue(l.nic, 0, &a, NULL, 0, 1, l.now) >= 0);
	assert_int_equal(tn_nic_rma_issue(l.nic, 8, &a, NULL, 0, 1, l.now), -EHOSTUNREACH);
	finish();
}

/* --- memory --------------------------------------------------------------------------- */

/* Nodes are known in pieces, by two pointers each; each part begins a line of 64 bytes. */
static void size_of_memory_follows_nodes_and_slots(void **state)
{
	const struct torus_shape one = { .ndims = 1, .size = { 8, 1, 1, 1, 1, 1 } };
	size_t least = tn_nic_rma_size(&one, 64);

	(void)state;
	assert_int_equal(least % 64, 0);
	assert_int_equal(tn_nic_rma_size(&one, 128) - least, 64 * sizeof(struct tn_rma_open));
	assert_true(least > 3 * 64 + 64 * sizeof(struct tn_rma_open));
	assert_true(least < 4096 + 64 * sizeof(struct tn_rma_open));
	for (u16 x = 1; x <= 4096; x = (u16)(x * 2)) {
		const struct torus_shape s = { .ndims = 2, .size = { x, 64, 1, 1, 1, 1 } };
		const struct torus_shape more = { .ndims = 2, .size = { x, 65, 1, 1, 1, 1 } };
		size_t lines = (x * sizeof(void *) + 63) / 64;
		size_t lines_more = ((x * 65 + 63) / 64 * sizeof(void *) + 63) / 64;

		assert_int_equal(tn_nic_rma_size(&s, 64) - least, 2 * (lines - 1) * 64);
		assert_int_equal(tn_nic_rma_size(&more, 64) - least, 2 * (lines_more - 1) * 64);
	}
}

/* An epoch is never 0, and differs after each start. */
static void epoch_is_random_and_not_0(void **state)
{
	(void)state;
	begin();
	l.random = 0x4000;
	assert_int_equal(tn_nic_rma_open(l.nic, &cfg, rma, l.now), 0);
	assert_int_equal(tn_nic_rma_owner(l.nic)->epoch, 0x4003);
	assert_int_equal(tn_nic_rma_owner(l.nic)->data_max, l.params.payload_max - TN_RMA_FLIT);
	finish();
}

/* --- a node with itself --------------------------------------------------------------- */

static void node_uses_its_own_memory(void **state)
{
	struct tn_rma_ask a = { .op = TN_RMA_GET, .job = 9, .bytes = 8 };
	u64 counters[TORUS_NC_COUNT];

	(void)state;
	open_service();
	assert_true(begin_op(0, TN_RMA_PUT, 1) >= 0);
	assert_int_equal(ends, 0);
	work();
	tn_nic_counters_read(l.nic, counters);
	assert_int_equal(counters[TORUS_NC_RMA_EXECUTED], 1);
	assert_true(ends == 1 && last.status == TN_RMA_DONE);
	assert_int_equal(memory[0], 0x0102030405060709);
	assert_true(tn_nic_rma_issue(l.nic, 0, &a, NULL, 0, 2, l.now) >= 0);
	work();
	assert_true(ends == 2 && last.status == TN_RMA_DONE);
	assert_int_equal(spaces, 1);
	assert_true(begin_op(0, TN_RMA_SEND, 3) >= 0);
	work();
	assert_true(ends == 3 && last.status == TN_RMA_DONE && messages == 1);
	assert_int_equal(message[0], 0x0b);
	answer = TN_RMA_RNR;
	assert_true(begin_op(0, TN_RMA_SEND, 4) >= 0);
	work();
	assert_true(ends == 4 && last.status == TN_RMA_REFUSED && last.reason == TN_RMA_RNR);
	assert_int_equal(nc(TORUS_NC_RMA_ISSUED), 4);
	assert_int_equal(nc(TORUS_NC_RMA_NAKS), 1);
	for (unsigned int p = 0; p < 4; p++)
		assert_int_equal(lone_drain(&l, p), 0);
	finish();
}

/* A RESET comes first. With room for two replies, each call of the NIC answers some more. */
static void requests_to_itself_are_limited_and_all_answered(void **state)
{
	u32 n = 0, calls = 0;

	(void)state;
	open_service();
	while (begin_op(0, TN_RMA_GET, n + 1) >= 0)
		n++;
	assert_int_equal(n, TN_INJECT_MAX - 1);
	assert_int_equal(begin_op(0, TN_RMA_GET, 1), -EAGAIN);
	while (ends < n && calls++ < n) {
		u32 before = ends;

		work();
		assert_true(ends > before && ends - before <= 4);
	}
	assert_int_equal(ends, n);
	assert_int_equal(cookies, n * (n + 1) / 2);
	assert_true(begin_op(0, TN_RMA_GET, 1) >= 0);
	finish();
	assert_int_equal(ends, n + 1);
}

/* --- packets to others ---------------------------------------------------------------- */

/* The node's last packet has no byte of an earlier one behind its message. */
static void packet_is_filled_up_with_0(void **state)
{
	const struct tn_rma_ask a = { .op = TN_RMA_SEND, .job = 9 };
	u8 data[40];
	const struct sent *s = &l.sent[0];
	u32 bytes, pad;

	(void)state;
	open_service();
	memset(data, 0xff, sizeof(data));
	for (u32 n = 1; n <= sizeof(data); n++) {
		assert_true(tn_nic_rma_issue(l.nic, 2, &a, data, n, n, l.now) >= 0);
		work();
		assert_int_equal(lone_drain(&l, 2), n == 1 ? 2 : 1);
		lone_ack(&l, 2);
		bytes = s->hdr.len * TN_FLIT;
		pad = s->tail.flags & TN_TAIL_PAD;
		assert_int_equal(s->tail.flags & ~TN_TAIL_PAD, TN_TAIL_FIRST | TN_TAIL_LAST);
		assert_int_equal((bytes - pad - n) % TN_FLIT, 0);
		assert_int_equal(s->payload[bytes - pad - 1], 0xff);
		for (u32 i = bytes - pad; i < bytes; i++)
			assert_int_equal(s->payload[i], 0);
	}
	finish();
}

/* Without memory for a small packet the spare one is sent, once. */
static void spare_packet_is_sent_without_memory(void **state)
{
	(void)state;
	open_service();
	assert_true(begin_op(2, TN_RMA_PUT, 1) >= 0);
	work();
	assert_int_equal(lone_drain(&l, 2), 2);
	lone_ack(&l, 2);
	l.no_memory = true;
	assert_true(begin_op(2, TN_RMA_PUT, 2) >= 0);
	assert_int_equal(begin_op(2, TN_RMA_PUT, 3), -EAGAIN);
	work();
	assert_int_equal(lone_drain(&l, 2), 1);
	lone_ack(&l, 2);
	assert_int_equal(begin_op(2, TN_RMA_PUT, 3), -EAGAIN);
	l.no_memory = false;
	assert_true(begin_op(2, TN_RMA_PUT, 3) >= 0);
	finish();
}

/* A node on hold is not out of reach, even without a row; a full queue refuses for now. */
static void operation_waits_for_hold_and_room(void **state)
{
	const u32 held = 8;
	u32 n = 0;

	(void)state;
	open_service();
	assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
	assert_int_equal(begin_op(8, TN_RMA_PUT, 1), -EAGAIN);
	while (begin_op(2, TN_RMA_PUT, n + 1) >= 0 && n < SLOTS)
		n++;
	assert_in_range(n, 2, SLOTS - 1);
	work();
	assert_in_range(lone_drain(&l, 2), 2, n + 1);
	assert_true(begin_op(2, TN_RMA_PUT, 1) >= 0);
	finish();
}

/* --- requests of others --------------------------------------------------------------- */

/* Gives the service a request of node @src. Return: whether it took the request. */
static bool deliver(u32 src, const struct tn_rma_ask *a, u32 bytes)
{
	struct tn_pkt *pkt = l.nic->ops->pkt_new(l.nic->host, 3);
	u8 flits[TN_RMA_HEAD_MAX] = { 0 };
	u32 n = a ? tn_rma_ask_put(flits, a) : bytes;

	assert_non_null(pkt);
	pkt->hdr = (struct tn_hdr) { .src = src, .vc = TORUS_VC_D0, .len = (u16)((n + 15) / 16) };
	pkt->tail = (struct tn_tail) { .flags = (u8)(TN_TAIL_FIRST | TN_TAIL_LAST | (-n & 15)) };
	memcpy(pkt->payload, flits, sizeof(flits));
	if (tn_rma_deliver(l.nic, pkt))
		return true;
	l.nic->ops->pkt_put(l.nic->host, pkt);
	return false;
}

/* Node 5, to which there is no row, gets no reply; node 1 gets two before one has left. */
static void replies_need_row_and_room(void **state)
{
	struct tn_rma_ask a = { .op = TN_RMA_RESET, .number = 1 };

	(void)state;
	open_service();
	lone_row(&l, 1, lone_dirs(1));
	release();
	assert_true(deliver(5, &a, 0));
	work();
	assert_int_equal(nc(TORUS_NC_RMA_REPLY_DROPS), 1);
	assert_true(deliver(1, &a, 0));
	a = (struct tn_rma_ask) {
		.op = TN_RMA_GET, .flags = TN_RMA_KEYED, .key = KEY, .job = 9, .bytes = 8,
		.number = 1,
	};
	assert_true(deliver(1, &a, 0));
	a.number = 2;
	assert_false(deliver(1, &a, 0));
	work();
	assert_int_equal(lone_drain(&l, 0), 2);
	assert_true(deliver(1, &a, 0));
	work();
	assert_int_equal(nc(TORUS_NC_RMA_EXECUTED), 2);
	assert_int_equal(nc(TORUS_NC_RMA_REPLY_DROPS), 1);
	finish();
}

/* A gap, a malformed request and a refused one. */
static void all_refusals_are_counted(void **state)
{
	struct tn_rma_ask a = { .op = TN_RMA_GET, .flags = TN_RMA_KEYED, .job = 9, .bytes = 8 };
	const struct tn_rma_ask reset = { .op = TN_RMA_RESET, .number = 1 };

	(void)state;
	open_service();
	a.number = 1;
	assert_true(deliver(2, &a, 0));
	work();
	assert_int_equal(nc(TORUS_NC_RMA_NAKS), 1);
	assert_true(deliver(2, NULL, 5));
	work();
	assert_int_equal(nc(TORUS_NC_RMA_NAKS), 2);
	assert_true(deliver(2, &reset, 0));
	assert_true(deliver(2, &a, 0));
	work();
	assert_int_equal(nc(TORUS_NC_RMA_NAKS), 3);
	assert_int_equal(nc(TORUS_NC_RMA_EXECUTED), 0);
	finish();
}

/* A node that is silent is asked once in each time, not before. */
static void silent_node_is_asked_in_time(void **state)
{
	const struct tn_rma_initiator *i;
	u64 at;

	(void)state;
	open_service();
	i = tn_nic_rma_initiator(l.nic);
	l.now += 5;
	at = l.now + TIME;
	assert_int_equal(tn_rma_expiry(l.nic), ~0ull);
	assert_true(begin_op(2, TN_RMA_PUT, 1) >= 0);
	l.now += 7;
	assert_true(begin_op(2, TN_RMA_PUT, 2) >= 0);
	assert_int_equal(tn_rma_expiry(l.nic), at);
	tn_rma_poll(l.nic, at - 1);
	assert_int_equal(i->count.queries, 0);
	assert_int_equal(tn_rma_expiry(l.nic), at);
	tn_rma_poll(l.nic, at);
	assert_int_equal(i->count.queries, 1);
	assert_int_equal(tn_rma_expiry(l.nic), at + TIME);
	finish();
	assert_int_equal(ends, 2);
	assert_int_equal(last.status, TN_RMA_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(service_with_wrong_numbers_does_not_open),
		cmocka_unit_test(operation_with_wrong_size_is_refused),
		cmocka_unit_test(size_of_memory_follows_nodes_and_slots),
		cmocka_unit_test(epoch_is_random_and_not_0),
		cmocka_unit_test(node_uses_its_own_memory),
		cmocka_unit_test(requests_to_itself_are_limited_and_all_answered),
		cmocka_unit_test(packet_is_filled_up_with_0),
		cmocka_unit_test(spare_packet_is_sent_without_memory),
		cmocka_unit_test(operation_waits_for_hold_and_room),
		cmocka_unit_test(replies_need_row_and_room),
		cmocka_unit_test(all_refusals_are_counted),
		cmocka_unit_test(silent_node_is_asked_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
