// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages from one context to another: the ring of the sender, an initiator, an owner and the ring
 * of the receiver, with a queue of packets in each direction between them. Node 0 sends, node 1
 * receives. A naive receiver, a list of the memory that is posted, says what happens to each
 * message when it arrives: it is refused, or is the next one that is received.
 */
#include "tests/unit/seeds.h"
#include "kernel/core/rma_owner.h"
#include "kernel/core/rma_ring.h"

#define SQ	16
#define CQ	32
#define OPS	16
#define DATA	24		/* most bytes of a message */
#define BYTES	4096
#define RUN	50		/* bytes of its memory that lie together */
#define JOB	7
#define NAME	0x123456780003ull
#define PACKETS	64
#define STEPS	3000

struct packet {
	u8 bytes[TN_RMA_HEAD_MAX + DATA];
	u32 len;
};

/* packets of one direction, and the one that is being written */
struct pipe {
	struct packet packet[PACKETS];
	unsigned int first, n;
};

struct posted {
	u64 cookie;
	u32 offset, bytes;
};

/* A ring, and the process that has it. */
struct process {
	struct torus_rma_head head;
	struct torus_rma_ask sq[SQ];
	struct torus_rma_end cq[CQ];
	struct tn_rma_ring_op op[OPS];
	u8 gather[DATA];
	struct tn_rma_ring ring;
	u8 memory[BYTES];
};

static struct world {
	struct rnd r;
	struct process from, to;
	struct tn_rma_initiator initiator;
	struct tn_rma_open slot[OPS];
	struct tn_rma_peer peer[TN_RMA_PIECE], *peers[1];
	struct tn_rma_owner owner;
	struct tn_rma_source source[TN_RMA_PIECE], *sources[1];
	struct tn_fe_pool pool;
	struct pipe pipe[2];
	/* the naive receiver: memory that is posted, oldest first */
	struct posted posted[OPS];
	unsigned int nposted;
	/* what it says of each message, by its cookie */
	u8 fate[STEPS], length[STEPS];
	u64 expected[STEPS], cookie[STEPS];	/* messages that are received, and their memory */
	u32 at[STEPS];
	unsigned int arrived, received, posts;
	bool full;
} w;

/* --- the network -------------------------------------------------------------------------- */

static u8 *net_room(void *host, enum tn_rma_way way, u32 dst)
{
	struct pipe *p = &w.pipe[way];

	(void)host, (void)dst;
	if (w.full || p->n == PACKETS)
		return NULL;
	return p->packet[(p->first + p->n) % PACKETS].bytes;
}

static void net_send(void *host, enum tn_rma_way way, u32 dst, u32 bytes)
{
	struct pipe *p = &w.pipe[way];

	(void)host, (void)dst;
	p->packet[(p->first + p->n++) % PACKETS].len = bytes;
}

static void net_done(void *host, u64 cookie, const struct tn_rma_end *end)
{
	(void)host;
	tn_rma_ring_done(&w.from.ring, cookie, end);
}

static bool net_holds(void *host, u32 dst)
{
	(void)host, (void)dst;
	return false;
}

/* Return: what the naive receiver says of a message, which has its number as its tag. */
static u8 judge(u64 tag, const u8 *data, u32 bytes)
{
	struct posted *first = w.posted;

	for (u32 i = 0; i < bytes; i++)
		expect(&w.r, data[i] == (u8)(tag + i), "a byte of message %llu",
		       (unsigned long long)tag);
	if (!w.nposted)
		return TN_RMA_RNR;
	if (bytes > first->bytes)
		return TN_RMA_LENGTH;
	w.cookie[w.arrived] = first->cookie;
	w.at[w.arrived] = first->offset;
	w.expected[w.arrived++] = tag;
	w.nposted--;
	memmove(w.posted, w.posted + 1, w.nposted * sizeof(w.posted[0]));
	return 0;
}

static u8 host_recv(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		    u64 *allowed)
{
	u32 room = w.nposted ? w.posted[0].bytes : 0;
	u8 reported = judge(ask->value, data, bytes), reason;

	(void)host;
	*allowed = 0;
	reason = tn_rma_ring_recv(&w.to.ring, src, ask, data, bytes, allowed);
	expect(&w.r, reason == reported, "reason %u, not %u", reason, reported);
	expect(&w.r, *allowed == (reported == TN_RMA_LENGTH ? room : 0), "what is allowed");
	w.fate[ask->value] = reported;
	return reason;
}

static const struct tn_rma_owner_ops owner_ops = {
	.net = { .room = net_room, .send = net_send }, .recv = host_recv,
};
static const struct tn_rma_initiator_ops initiator_ops = {
	.net = { .room = net_room, .send = net_send }, .done = net_done, .holds = net_holds,
};

/* Delivers the first packet of a direction. */
static void deliver(enum tn_rma_way way)
{
	struct pipe *p = &w.pipe[way];
	struct packet *first = &p->packet[p->first % PACKETS];

	if (!p->n)
		return;
	if (way == TN_RMA_REPLIES)
		tn_rma_initiator_take(&w.initiator, 1, first->bytes, first->len, 1);
	else if (tn_rma_owner_take(&w.owner, 0, first->bytes, first->len, 1))
		return;
	p->first++;
	p->n--;
}

/* --- rings -------------------------------------------------------------------------------- */

static int issue(void *host, u32 dst, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		 u64 cookie, u64 now)
{
	assert_ptr_equal(host, &w.from);
	return tn_rma_issue(&w.initiator, dst, ask, data, bytes, cookie, now);
}

static int cancel(void *host, u16 slot, const struct tn_rma_ask *ask)
{
	(void)host, (void)slot, (void)ask;
	return -ENOENT;
}

static u64 room(void *host, u32 id, u32 region, u64 offset)
{
	(void)host, (void)id;
	return !region && offset < BYTES ? BYTES - offset : 0;
}

static u8 *find_mem(void *host, u32 region, u64 offset, u64 *run)
{
	assert_true(!region && offset < BYTES && !((struct process *)host)->ring.closed);
	*run = RUN - offset % RUN;
	return ((struct process *)host)->memory + offset;
}

static void wake(void *host, u32 id)
{
	(void)host, (void)id;
}

static const struct tn_rma_ring_ops ring_ops = {
	.issue = issue, .cancel = cancel, .room = room, .mem = find_mem, .wake = wake,
};

static void open_process(struct process *p, u16 ep)
{
	tn_rma_ring_open(&p->ring, &(struct tn_rma_ring_config) {
		.ops = &ring_ops, .host = p, .head = &p->head, .sq = p->sq, .cq = p->cq,
		.op = p->op, .sq_entries = SQ, .cq_entries = CQ, .ops_max = OPS, .parts_max = OPS,
		.nodes = 2, .data_max = DATA, .id = 0, .job = JOB, .ep = ep, .gather = p->gather,
		.name = NAME,
	});
}

static void begin(u64 seed)
{
	memset(&w, 0, sizeof(w));
	w.r = rnd_new(seed);
	tn_rma_initiator_init(&w.initiator, &initiator_ops, NULL, w.peers, 2, w.slot, OPS, 1 << 30,
			      seed);
	tn_rma_initiator_extend(&w.initiator, 0, w.peer);
	w.sources[0] = w.source;
	w.owner = (struct tn_rma_owner) {
		.ops = &owner_ops, .piece = w.sources, .nodes = 2, .pool = &w.pool, .epoch = 5,
		.data_max = DATA,
	};
	open_process(&w.from, 12);
	open_process(&w.to, 3);
}

static bool submit(struct process *p, struct torus_rma_ask ask)
{
	if (p->head.sq_tail - p->head.sq_head == SQ)
		return false;
	p->sq[p->head.sq_tail++ % SQ] = ask;
	return true;
}

/* Takes the next completion of a process. Return: false if there is none. */
static bool complete(struct process *p, struct torus_rma_end *end)
{
	tn_rma_ring_work(&p->ring, 1);
	if (p->head.cq_head == p->head.cq_tail)
		return false;
	*end = p->cq[p->head.cq_head++ % CQ];
	return true;
}

/* Sends message @i, of any length, from anywhere. Return: false if the ring is full. */
static bool send_message(u64 i)
{
	u32 bytes = rnd_below(&w.r, DATA + 1), offset = (u32)i * 37 % (BYTES - DATA);
	struct torus_rma_ask a = {
		.op = TORUS_RMA_SEND, .node = 1, .addr = NAME, .bytes = bytes, .offset = offset,
		.value = i, .cookie = i,
	};
	u8 *data = w.from.memory + offset;

	if (bytes <= sizeof(a.offset) && rnd_one_in(&w.r, 2)) {
		a.flags = TORUS_RMA_INLINE;
		a.offset = 0;
		data = (u8 *)&a.offset;
	}
	for (u32 k = 0; k < bytes; k++)
		data[k] = (u8)(i + k);
	w.length[i] = (u8)bytes;
	return submit(&w.from, a);
}

/* Posts memory, which the naive receiver has at the same time. */
static void post_memory(void)
{
	u64 cookie = w.posts;
	u32 bytes = rnd_below(&w.r, DATA + 1), offset = (u32)cookie % (4 * OPS) * DATA;
	struct torus_rma_ask a = {
		.op = TORUS_RMA_RECV, .bytes = bytes, .offset = offset, .cookie = cookie,
	};

	if (w.to.ring.busy > OPS / 2 || w.nposted == OPS / 2)
		return;
	expect(&w.r, submit(&w.to, a), "the receiver's ring is full");
	tn_rma_ring_work(&w.to.ring, 1);
	w.posts++;
	w.posted[w.nposted++] = (struct posted) { cookie, offset, bytes };
}

/* Takes completions of both; those of the receiver are in the order of the naive one. */
static void take_ends(unsigned int *ended)
{
	struct torus_rma_end e;
	unsigned int n;
	u64 tag;

	while (complete(&w.from, &e)) {
		expect(&w.r, e.cookie < STEPS && e.op == TORUS_RMA_SEND, "a completion");
		expect(&w.r, e.status == (w.fate[e.cookie] ? TN_RMA_REFUSED : TN_RMA_DONE) &&
		       e.reason == w.fate[e.cookie], "how message %llu ended",
		       (unsigned long long)e.cookie);
		++*ended;
	}
	while (complete(&w.to, &e)) {
		n = w.received++;
		expect(&w.r, n < w.arrived, "a message that has not arrived");
		tag = w.expected[n];
		expect(&w.r, e.status == TN_RMA_DONE && e.value == tag && e.cookie == w.cookie[n],
		       "message %llu, not %llu", (unsigned long long)e.value,
		       (unsigned long long)tag);
		expect(&w.r, e.node == 0 && e.context == 12 && e.bytes == w.length[tag],
		       "sender and length");
		for (u32 i = 0; i < e.bytes; i++)
			expect(&w.r, w.to.memory[w.at[n] + i] == (u8)(tag + i), "what is received");
	}
}

static void run_history(uint64_t seed)
{
	unsigned int ended = 0, sent = 0;

	begin(seed);
	for (u64 i = 0; i < STEPS || ended < sent; i++) {
		w.full = rnd_one_in(&w.r, 10);
		switch (rnd_below(&w.r, 5)) {
		case 0:
			if (i < STEPS && send_message(sent))
				sent++;
			tn_rma_ring_work(&w.from.ring, 1);
			break;
		case 1:
			post_memory();
			break;
		case 2:
		case 3:
			deliver(rnd_one_in(&w.r, 2) ? TN_RMA_REQUESTS : TN_RMA_REPLIES);
			break;
		default:
			take_ends(&ended);
		}
		expect(&w.r, i < 100 * STEPS, "a message that does not end");
		expect(&w.r, w.to.ring.recvs == w.nposted, "memory that is posted");
	}
	take_ends(&ended);
	expect(&w.r, w.received == w.arrived && w.arrived > 20 && sent > w.arrived,
	       "messages that are received");
}

static void messages_are_received_once_in_order_or_refused(void **state)
{
	(void)state;
	for_seeds(40, run_history);
}

/* --- single cases -------------------------------------------------------------------------- */

static const struct torus_rma_ask recv_ask = {
	.op = TORUS_RMA_RECV, .bytes = DATA, .offset = 100, .cookie = 77,
};

static u8 receive(u32 job, u64 name, u32 bytes, u64 *allowed)
{
	const struct tn_rma_ask ask = { .op = TN_RMA_SEND, .job = job, .addr = name, .value = 5 };
	static const u8 data[2 * DATA] = { 1, 2, 3 };

	*allowed = 0;
	return tn_rma_ring_recv(&w.to.ring, 0, &ask, data, bytes, allowed);
}

/* Memory that is refused a message stays posted. */
static void message_that_is_refused_leaves_memory_posted(void **state)
{
	struct torus_rma_end e;
	u64 allowed;

	(void)state;
	begin(1);
	assert_int_equal(receive(JOB, NAME, 1, &allowed), TN_RMA_RNR);
	submit(&w.to, recv_ask);
	tn_rma_ring_work(&w.to.ring, 1);
	assert_int_equal(receive(JOB + 1, NAME, 1, &allowed), TN_RMA_JOB);
	assert_int_equal(receive(JOB, NAME + 0x10000, 1, &allowed), TN_RMA_KEY);
	assert_int_equal(receive(JOB, NAME, DATA + 1, &allowed), TN_RMA_LENGTH);
	assert_int_equal(allowed, DATA);
	assert_false(complete(&w.to, &e));
	assert_int_equal(receive(JOB, NAME, 3, &allowed), 0);
	assert_true(complete(&w.to, &e));
	assert_int_equal(e.bytes, 3);
	assert_int_equal(e.value, 5);
	assert_int_equal(w.to.memory[102], 3);
	assert_int_equal(w.to.memory[103], 0);
	assert_int_equal(receive(JOB, NAME, 1, &allowed), TN_RMA_RNR);
}

/* Each of three is cancelled: the first, the last, the one between; the others stay in order. */
static void cancelled_memory_takes_no_message(void **state)
{
	struct torus_rma_end e;
	u64 allowed;

	(void)state;
	for (u64 which = 0; which < 3; which++) {
		struct torus_rma_ask ask = recv_ask;

		begin(1);
		for (ask.cookie = 0; ask.cookie < 3; ask.cookie++)
			submit(&w.to, ask);
		submit(&w.to, (struct torus_rma_ask) {
			.op = TORUS_RMA_CANCEL, .value = which, .cookie = 9,
		});
		assert_true(complete(&w.to, &e));
		assert_int_equal(e.cookie, which);
		assert_int_equal(e.status, TORUS_RMA_REFUSED);
		assert_int_equal(e.reason, TORUS_RMA_CANCELLED);
		assert_int_equal(e.bytes, 0);
		assert_true(complete(&w.to, &e));
		assert_int_equal(e.cookie, 9);
		assert_int_equal(e.status, TORUS_RMA_DONE);
		ask.cookie = 3;
		submit(&w.to, ask);
		tn_rma_ring_work(&w.to.ring, 1);
		for (u64 i = 0; i < 4; i++) {
			if (i == which)
				continue;
			assert_int_equal(receive(JOB, NAME, 1, &allowed), 0);
			assert_true(complete(&w.to, &e));
			assert_int_equal(e.cookie, i);
		}
		assert_int_equal(w.to.ring.busy, 0);
	}
}

/* Requests go on while as much memory is posted as may be, and no more can be posted. */
static void posted_memory_stops_no_request(void **state)
{
	struct torus_rma_ask ask = recv_ask, get = {
		.op = TORUS_RMA_SEND, .flags = TORUS_RMA_FENCE, .node = 1, .addr = NAME,
	};
	struct torus_rma_end e;

	(void)state;
	begin(1);
	for (unsigned int i = 0; i <= OPS / 2; i++)
		submit(&w.from, ask);
	assert_true(complete(&w.from, &e));
	assert_int_equal(e.status, TORUS_RMA_INVALID);
	assert_int_equal(e.reason, TORUS_RMA_BAD_COUNT);
	assert_int_equal(e.value, OPS / 2);
	for (unsigned int i = 0; i < 3 * OPS; i++) {
		assert_true(submit(&w.from, get));
		tn_rma_ring_work(&w.from.ring, 1);
		while (w.pipe[TN_RMA_REQUESTS].n)
			deliver(TN_RMA_REQUESTS);
		while (w.pipe[TN_RMA_REPLIES].n)
			deliver(TN_RMA_REPLIES);
		assert_true(complete(&w.from, &e));
		assert_int_equal(e.op, TORUS_RMA_SEND);
	}
}

static void closed_ring_refuses_messages_and_ends(void **state)
{
	u64 allowed;

	(void)state;
	begin(1);
	submit(&w.to, recv_ask);
	submit(&w.to, recv_ask);
	tn_rma_ring_work(&w.to.ring, 1);
	assert_true(tn_rma_ring_uses(&w.to.ring, 0));
	tn_rma_ring_close(&w.to.ring);
	assert_int_equal(receive(JOB, NAME, 1, &allowed), TN_RMA_GONE);
	assert_true(tn_rma_ring_gone(&w.to.ring));
	assert_int_equal(w.to.ring.busy, 0);
	assert_int_equal(w.to.head.cq_tail, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_received_once_in_order_or_refused),
		cmocka_unit_test(message_that_is_refused_leaves_memory_posted),
		cmocka_unit_test(cancelled_memory_takes_no_message),
		cmocka_unit_test(posted_memory_stops_no_request),
		cmocka_unit_test(closed_ring_refuses_messages_and_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
