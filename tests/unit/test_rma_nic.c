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
static u64 full, waiting;		/* full/empty bits */
static struct tn_fe_bits bits = { .full = &full, .waits = &waiting, .n = 8 };
static struct tn_rma_region region = {
	.bytes = sizeof(memory), .fe = &bits, .key = KEY, .access = TN_ACCESS_ALL,
};
static struct tn_fe_pool pool;
static struct tn_fe_wait waits[4];
static struct tn_fe_wait *buckets[4];
static void *rma;
static u64 piece[2][512];
static unsigned int npieces, npieces_max;
static u16 eseq[TN_FLOW_VCS];	/* ESEQ of node 2's next packet, by VC */
static u16 why_back;		/* reason in an UNREACH */
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

static const struct tn_window *host_space(void *h, u32 job)
{
	(void)h, (void)job;
	return NULL;
}

static u8 host_recv(void *h, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		    u64 *allowed)
{
	(void)h, (void)src, (void)ask, (void)data, (void)bytes, (void)allowed;
	return TN_RMA_RNR;
}

static void host_done(void *h, u64 cookie, const struct tn_rma_end *end)
{
	(void)h;
	ends++;
	last_end = *end;
	last_cookie = cookie;
}

/* Memory for what is known of nodes, if there is any. */
static void *host_memory(void *h, size_t bytes)
{
	(void)h;
	assert_true(bytes <= sizeof(piece[0]));
	return npieces < npieces_max ? memset(piece[npieces++], 0, bytes) : NULL;
}

static const struct tn_nic_rma_ops rma_ops = {
	.mem = host_mem, .space = host_space, .recv = host_recv, .done = host_done,
	.memory = host_memory,
};

static void open_service(u32 replies)
{
	const struct tn_nic_rma_config cfg = {
		.ops = &rma_ops, .region = &region, .regions = 1, .pool = &pool, .slots = SLOTS,
		.replies = replies, .rma_time = 100 * MS,
	};

	npieces = 0;
	npieces_max = 2;
	memset(rma, 0, tn_nic_rma_size(&l.shape, SLOTS));
	assert_int_equal(tn_nic_rma_open(l.nic, &cfg, rma, l.now), 0);
}

static void begin(u32 replies)
{
	lone_begin(NULL);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 2, lone_dirs(4));
	release();
	memset(memory, 0, sizeof(memory));
	memset(eseq, 0, sizeof(eseq));
	full = waiting = 0;
	ends = 0;
	memset(waits, 0, sizeof(waits));
	memset(buckets, 0, sizeof(buckets));
	tn_fe_pool_init(&pool, waits, 4, buckets, 4, 1);
	rma = aligned_alloc(64, tn_nic_rma_size(&l.shape, SLOTS));
	assert_non_null(rma);
	open_service(replies);
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
static void receive_from(unsigned int port, struct tn_hdr h, u16 number, const u8 *payload,
			 u32 bytes)
{
	static u8 flits[TN_PACKET_MAX];
	u8 padded[128] = { 0 };
	struct tn_tail t = {
		.vb = TN_SERVICE_RMA, .eseq = number,
		.flags = (u8)(TN_TAIL_FIRST | TN_TAIL_LAST | (-bytes & (TN_FLIT - 1))),
	};

	h.len = (u16)((bytes + TN_FLIT - 1) / TN_FLIT);
	h.first = h.last = TN_NO_STEP;
	assert_true(bytes <= sizeof(padded));
	memcpy(padded, payload, bytes);
	if (h.type == TN_UNREACH)
		t.epoch = why_back;
	lone_rx(&l, port, flits, lone_make(&l, port, flits, h, t, NULL, padded));
	l.peer[port].tseq = (u16)((l.peer[port].tseq + 1) & TN_SEQ_MASK);
}

/* Receives a request of node 2 as packet @ahead after the next of its flow. */
static void ask(struct tn_rma_ask a, u16 ahead)
{
	const struct tn_hdr h = { .type = TN_DATA, .src = 2, .dst = 0, .vc = TORUS_VC_D0 };
	u8 payload[TN_RMA_HEAD_MAX] = { 0 };

	a.flags |= a.op == TN_RMA_RESET ? 0 : TN_RMA_KEYED;
	a.key = a.op == TN_RMA_RESET ? 0 : KEY;
	receive_from(2, h, (u16)(eseq[TORUS_VC_D0] + ahead), payload, tn_rma_ask_put(payload, &a));
}

/* Receives bytes as a reply of node 2. */
static void reply_bytes(const u8 *payload, u32 bytes)
{
	const struct tn_hdr h = { .type = TN_DATA, .src = 2, .dst = 0, .vc = TORUS_VC_D1 };

	receive_from(2, h, eseq[TORUS_VC_D1]++, payload, bytes);
	work();
}

static void reply(struct tn_rma_reply r)
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
static void replies_to_early_requests_follow_as_room_allows(void **state)
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
static void reply_does_not_wait_for_all_held_messages(void **state)
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

/* --- replies that are not right ------------------------------------------------------- */

/* Issues an operation of this node at node 2. Return: its request, or its RESET if @first. */
static struct tn_rma_ask issue(u8 op, u64 cookie, bool first)
{
	const struct tn_rma_ask a = {
		.op = op, .flags = TN_RMA_KEYED, .key = KEY, .bytes = op == TN_RMA_GET ? 8 : 0,
	};
	u64 word = 5;
	struct tn_rma_ask sent;

	assert_true(tn_nic_rma_issue(l.nic, 2, &a, (const u8 *)&word, op == TN_RMA_PUT ? 8 : 0,
				     cookie, l.now) >= 0);
	work();
	assert_int_equal(lone_drain(&l, 2), first ? 2 : 1);
	assert_true(l.sent[0].hdr.vc == TORUS_VC_D0 && l.sent[0].tail.vb == TN_SERVICE_RMA);
	assert_true(tn_rma_ask_get(l.sent[0].payload, l.sent[0].hdr.len * TN_FLIT -
				   (l.sent[0].tail.flags & TN_TAIL_PAD), &sent));
	assert_int_equal(sent.op, op);
	return sent;
}

/* Node 2 confirms the RESET before operation @number. */
static void confirm(u32 number, u32 epoch)
{
	reply((struct tn_rma_reply) {
		.op = TN_RMA_STATUS, .why = TN_RMA_RESET, .number = number,
		.value = number | (u64)epoch << 32,
	});
}

/* The reply to @a, with the data of @word. */
static void give_word(const struct tn_rma_ask *a, u64 word)
{
	struct tn_rma_reply r = { .op = TN_RMA_DATA, .number = a->number, .slot = a->slot };
	u8 payload[TN_FLIT + 8];

	tn_rma_reply_put(payload, &r);
	tn_put_le64(payload + TN_FLIT, word);
	reply_bytes(payload, sizeof(payload));
}

static const struct tn_rma_initiator_counts *counts(void)
{
	return &tn_nic_rma_initiator(l.nic)->count;
}

/* Only the right reply ends a GET. */
static void only_right_reply_ends_get(void **state)
{
	const struct tn_hdr other = { .type = TN_DATA, .src = 1, .dst = 0, .vc = TORUS_VC_D1 };
	struct tn_rma_ask a, wrong;
	struct tn_rma_reply r = { .op = TN_RMA_DATA };
	u8 payload[64] = { 0 };

	(void)state;
	begin(8);
	a = issue(TN_RMA_GET, 77, true);
	confirm(a.number, 1);
	wrong = a;
	wrong.number++;
	give_word(&wrong, 1);
	wrong = a;
	wrong.slot = SLOTS + 1;
	give_word(&wrong, 1);
	wrong.slot = a.slot ^ 1;
	give_word(&wrong, 1);
	assert_int_equal(counts()->late, 3);
	/* An answer of another node, with everything else right. */
	r.number = a.number;
	r.slot = a.slot;
	tn_rma_reply_put(payload, &r);
	receive_from(2, other, 0, payload, TN_FLIT + 8);
	work();
	assert_int_equal(counts()->late, 4);
	assert_int_equal(counts()->forged, 0);
	/* Answers of node 2, with too many bytes, with too few, and of another kind. */
	reply_bytes(payload, TN_FLIT + 9);
	reply_bytes(payload, TN_FLIT);
	reply((struct tn_rma_reply) { .op = TN_RMA_OLD, .number = a.number, .slot = a.slot });
	assert_int_equal(counts()->forged, 3);
	/* Replies that are too short, are no replies, or have no reason. */
	reply_bytes(payload, 0);
	reply_bytes(payload, 15);
	payload[0] = TN_RMA_GET;
	reply_bytes(payload, 32);
	payload[0] = TN_RMA_NAK;
	payload[1] = TN_RMA_REASONS;
	reply_bytes(payload, TN_FLIT);
	assert_int_equal(counts()->forged, 7);
	assert_int_equal(ends, 0);
	give_word(&a, 0x123456789);
	assert_int_equal(ends, 1);
	assert_true(last_end.status == TN_RMA_DONE && last_cookie == 77);
	give_word(&a, 1);
	assert_int_equal(ends, 1);
	assert_int_equal(counts()->late, 5);
	finish();
}

/* An acknowledgement of what was never issued: nothing that this owner says is believed. */
static void ack_of_operation_never_issued_ends_all_as_unknown(void **state)
{
	struct tn_rma_ask a;

	(void)state;
	begin(8);
	a = issue(TN_RMA_PUT, 1, true);
	confirm(a.number, 1);
	issue(TN_RMA_PUT, 2, false);
	reply((struct tn_rma_reply) { .op = TN_RMA_ACK, .slot = TN_RMA_POSTED,
				      .number = a.number + 1 });
	assert_true(ends == 1 && last_end.status == TN_RMA_DONE && last_cookie == 1);
	reply((struct tn_rma_reply) { .op = TN_RMA_ACK, .slot = TN_RMA_POSTED,
				      .number = a.number + 3 });
	assert_true(ends == 2 && last_end.status == TN_RMA_UNKNOWN && last_cookie == 2);
	assert_int_equal(counts()->forged, 1);
	issue(TN_RMA_PUT, 3, true);
	finish();
}

/* Messages of any bytes, as often as there are credits for the replies. */
static void receive_anything(struct rnd *r)
{
	u8 payload[128];

	for (u32 i = 0; i < 200; i++) {
		u8 vc = (u8)rnd_below(r, 2), type = rnd_one_in(r, 8) ? TN_UNREACH : TN_DATA;
		struct tn_hdr h = {
			.type = type, .src = type == TN_DATA ? 2 : rnd_below(r, 10), .vc = vc,
		};

		rnd_fill(r, payload, sizeof(payload));
		payload[0] = (u8)(rnd_below(r, 9) + (vc ? 16 : 0));
		if (rnd_one_in(r, 2))
			memset(payload + 1, 0, 3);
		receive_from(2, h, type == TN_DATA ? eseq[vc]++ : 0, payload,
			     rnd_below(r, sizeof(payload) + 1));
		work();
		for (unsigned int p = 0; p < 4; p++)
			lone_drain(&l, p);
		lone_ack(&l, 2);
	}
}

static void random_messages_change_no_memory_and_no_link(void **state)
{
	struct rnd r = { .seed = 1, .state = 1 };
	u64 forged = 0, gaps = 0, no_node = 0;

	(void)state;
	for (u32 round = 0; round < 100; round++) {
		begin(4);
		receive_anything(&r);
		forged += counts()->forged;
		gaps += tn_nic_rma_owner(l.nic)->count.gaps;
		no_node += tn_nic_rma_counts(l.nic)->forged;
		for (u32 i = 0; i < ARRAY_SIZE(memory); i++)
			assert_int_equal(memory[i], 0);
		finish();
	}
	assert_true(forged > 5000 && gaps > 1000 && no_node > 50);
}

/* A request that comes back ends its operation and the later ones, with the reason it has. */
static void returned_request_ends_operations_with_its_reason(void **state)
{
	static const struct { u16 why; u8 reason; } cases[] = {
		{ TN_WHY_PATH, TN_WHY_PATH }, { TN_WHY_VERSION, TN_WHY_VERSION },
		{ TN_WHY_SERVICE, TN_WHY_SERVICE }, { TN_WHY_SERVICE + 1, TN_WHY_PATH },
		{ 0x100 + TN_WHY_VERSION, TN_WHY_PATH },
	};
	u8 payload[TN_RMA_HEAD_MAX] = { 0 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tn_rma_ask a;
		u32 bytes;

		begin(4);
		a = issue(TN_RMA_GET, 1, true);
		confirm(a.number, 1);
		issue(TN_RMA_PUT, 2, false);
		bytes = tn_rma_ask_put(payload, &a);
		why_back = cases[i].why;
		receive_from(2, (struct tn_hdr) { .type = TN_UNREACH, .src = 2, .vc = TORUS_VC_D1 },
			     0,
			     payload, bytes);
		work();
		assert_int_equal(ends, 2);
		assert_int_equal(last_end.status, TN_RMA_UNREACHABLE);
		assert_int_equal(last_end.reason, cases[i].reason);
		finish();
	}
	why_back = 0;
}

/* --- an owner or initiator that goes away ---------------------------------------------- */

/* The owner has restarted: whether it executed the operation is unknown. Then all begins again. */
static void operation_at_restarted_owner_is_unknown(void **state)
{
	struct tn_rma_ask a;

	(void)state;
	begin(8);
	a = issue(TN_RMA_GET, 1, true);
	confirm(a.number, 1);
	give_word(&a, 5);
	assert_true(ends == 1 && last_end.status == TN_RMA_DONE);
	a = issue(TN_RMA_GET, 2, false);
	reply((struct tn_rma_reply) {
		.op = TN_RMA_NAK, .why = TN_RMA_GAP, .number = a.number, .slot = a.slot,
		.value = 2ull << 32,
	});
	assert_true(ends == 2 && last_end.status == TN_RMA_UNKNOWN && last_cookie == 2);
	a = issue(TN_RMA_GET, 3, true);
	confirm(a.number, 2);
	give_word(&a, 6);
	assert_true(ends == 3 && last_end.status == TN_RMA_DONE && last_cookie == 3);
	finish();
}

/*
 * A recovery ends without a row to node 2: what is open there ends, and what waits of it here is
 * forgotten; node 1 keeps both. Before the end of the recovery nothing of it happens.
 */
static void recovery_without_row_ends_operations_of_that_node(void **state)
{
	const struct tn_rma_ask get = {
		.op = TN_RMA_GET, .flags = TN_RMA_KEYED, .key = KEY, .bytes = 8,
	};
	struct tn_rma_ask wait = { .op = TN_RMA_FE, .fe_op = TN_FE_READ, .q = TN_FE_FULL };
	struct tn_hdr h = { .type = TN_DATA, .src = 1, .dst = 0, .vc = TORUS_VC_D0 };
	u8 payload[TN_RMA_HEAD_MAX] = { 0 };

	(void)state;
	begin(8);
	issue(TN_RMA_GET, 2, true);
	assert_true(tn_nic_rma_issue(l.nic, 1, &get, NULL, 0, 1, l.now) >= 0);
	ask(reset, 0);
	wait.number = FIRST;
	ask(wait, 1);
	receive_from(0, h, 0, payload, tn_rma_ask_put(payload, &reset));
	wait.flags = TN_RMA_KEYED;
	wait.key = KEY;
	memset(payload, 0, sizeof(payload));
	receive_from(0, h, 1, payload, tn_rma_ask_put(payload, &wait));
	work();
	assert_int_equal(pool.waiting, 2);
	lone_row(&l, 2, 0);
	assert_int_equal(ends, 0);
	assert_int_equal(pool.waiting, 2);
	release();
	assert_true(ends == 1 && last_end.status == TN_RMA_UNKNOWN && last_cookie == 2);
	assert_int_equal(pool.waiting, 1);
	assert_int_equal(tn_rma_owner_source(tn_nic_rma_owner(l.nic), 1)->waits, 1);
	assert_int_equal(tn_rma_owner_source(tn_nic_rma_owner(l.nic), 2)->waits, 0);
	assert_int_equal(tn_nic_rma_issue(l.nic, 2, &get, NULL, 0, 3, l.now), -EHOSTUNREACH);
	finish();
	assert_true(ends == 2 && last_end.status == TN_RMA_UNKNOWN && last_cookie == 1);
	assert_int_equal(pool.waiting, 0);
}

/* Node 2 reads a word; its packets are the next two of their flow. */
static void read_one(void)
{
	ask(reset, 0);
	ask(get_word(FIRST), 1);
	eseq[TORUS_VC_D0] += 2;
	work();
}

/* The counters of the NIC follow those of owner and initiator, also past the end of the service. */
static void counters_follow_service_past_its_end(void **state)
{
	struct tn_rma_reply forged = { .op = TN_RMA_OLD };
	struct tn_rma_ask sent;

	(void)state;
	begin(8);
	read_one();
	assert_int_equal(nc(TORUS_NC_RMA_EXECUTED), tn_nic_rma_owner(l.nic)->count.executed);
	assert_int_equal(nc(TORUS_NC_RMA_BYTES_TX), 8);
	assert_int_equal(nc(TORUS_NC_RMA_NAKS), 0);
	lone_drain(&l, 2);
	sent = issue(TN_RMA_GET, 1, true);
	forged.number = sent.number;
	forged.slot = sent.slot;
	reply(forged);
	assert_int_equal(nc(TORUS_NC_RMA_ISSUED), 1);
	assert_int_equal(nc(TORUS_NC_RMA_FORGED), 1);
	assert_int_equal(nc(TORUS_NC_RMA_UNKNOWN), 0);
	tn_nic_rma_close(l.nic);
	assert_int_equal(nc(TORUS_NC_RMA_UNKNOWN), 1);
	open_service(8);
	read_one();
	assert_int_equal(nc(TORUS_NC_RMA_BYTES_TX), 16);
	assert_int_equal(nc(TORUS_NC_RMA_ISSUED), 1);
	assert_int_equal(nc(TORUS_NC_RMA_FORGED), 1);
	finish();
}

/* A large torus costs little before there is something to know of its nodes. */
static void service_takes_memory_only_for_nodes_with_which_it_deals(void **state)
{
	const struct torus_shape large = { .ndims = 3, .size = { 256, 256, 256 } };

	(void)state;
	assert_true(tn_nic_rma_size(&large, SLOTS) < 5 << 20);
	begin(8);
	ask(get_word(FIRST), 0);
	eseq[TORUS_VC_D0]++;
	work();
	lone_drain(&l, 2);
	assert_int_equal(sent_reply(0).why, TN_RMA_GAP);
	reply((struct tn_rma_reply) { .op = TN_RMA_ACK, .slot = TN_RMA_POSTED, .number = 7 });
	assert_int_equal(nc(TORUS_NC_RMA_LATE), 1);
	assert_int_equal(npieces, 0);
	issue(TN_RMA_GET, 1, true);
	read_one();
	assert_int_equal(npieces, 1);
	finish();
}

/* Without memory no operation begins, and a node that sends a RESET stays unknown. */
static void node_for_which_there_is_no_memory_stays_unknown(void **state)
{
	const struct tn_rma_ask get = { .op = TN_RMA_GET, .flags = TN_RMA_KEYED, .bytes = 8 };

	(void)state;
	begin(8);
	npieces_max = 0;
	assert_int_equal(tn_nic_rma_issue(l.nic, 2, &get, NULL, 0, 3, l.now), -EAGAIN);
	read_one();
	lone_drain(&l, 2);
	assert_int_equal(sent_reply(0).why, TN_RMA_GAP);
	npieces_max = 1;
	read_one();
	lone_drain(&l, 2);
	assert_int_equal(nc(TORUS_NC_RMA_EXECUTED), 1);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_to_early_requests_follow_as_room_allows),
		cmocka_unit_test(reply_does_not_wait_for_all_held_messages),
		cmocka_unit_test(only_right_reply_ends_get),
		cmocka_unit_test(ack_of_operation_never_issued_ends_all_as_unknown),
		cmocka_unit_test(random_messages_change_no_memory_and_no_link),
		cmocka_unit_test(returned_request_ends_operations_with_its_reason),
		cmocka_unit_test(operation_at_restarted_owner_is_unknown),
		cmocka_unit_test(recovery_without_row_ends_operations_of_that_node),
		cmocka_unit_test(counters_follow_service_past_its_end),
		cmocka_unit_test(service_takes_memory_only_for_nodes_with_which_it_deals),
		cmocka_unit_test(node_for_which_there_is_no_memory_stays_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
