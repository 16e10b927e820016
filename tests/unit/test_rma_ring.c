// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of remote memory. The test is the process, which submits random requests, and the network,
 * which ends parts in any order. A naive ring says what each request has to become: its bytes cut
 * anywhere, each once and in order, and one completion, with the worst of its ends. What is wrong
 * with a request, and what a process can break, stands in tables.
 */
#include "tests/unit/seeds.h"
#include "kernel/core/rma_ring.h"

#define SQ	8
#define CQ	4
#define OPS	6
#define PARTS	8
#define NODES	12
#define PEERS	3		/* nodes of random requests */
#define DATA	20		/* bytes of a part */
#define BYTES	100		/* bytes of a region */
#define MANY	128		/* entries of a large ring */
#define RUN	48		/* bytes of its memory that lie together */
#define ID	5
#define JOB	77
#define REQUESTS 400

struct part {
	u64 cookie;
	u32 request;
	u32 node;
	struct tn_rma_ask ask;
	u16 slot;
};

/**
 * struct request - as the naive ring has it
 * @sent: bytes in parts so far
 * @open: parts that are open
 * @worst: of the ends of its parts
 * @begun, @whole, @over: it was issued, as a whole, and has its completion
 */
struct request {
	struct torus_rma_ask ask;
	u32 sent, open;
	u8 worst, reason;
	u64 value;
	u8 data[BYTES];
	bool begun, whole, over;
};

struct world {
	struct rnd r;
	struct torus_rma_head head;
	struct torus_rma_ask sq[SQ];
	/* the last entry is behind the ring, and must stay 0 */
	struct torus_rma_end cq[CQ + 1];
	struct tn_rma_ring_op op[OPS];
	u8 gather[DATA + BYTES];		/* what lies behind DATA must stay 0 */
	struct tn_rma_ring ring;
	u8 memory[2][BYTES];
	struct part part[MANY];
	unsigned int nparts;
	u16 slots;				/* slots that were given to parts so far */
	struct request request[REQUESTS];
	unsigned int submitted, completed;
	bool unasked[NODES];
	bool full, cut_off;			/* ops->issue returns -EAGAIN, -EHOSTUNREACH */
	bool hold[NODES];			/* -EAGAIN for this node */
	bool steady;				/* no random -EAGAIN either */
	bool late, later;			/* submits while the NIC takes, issues a request */
	bool quick;				/* takes a completion when it is woken */
	unsigned int wakes, cancels;
	u32 rung;				/* @naps when the process last rang */
	struct tn_rma_ask last;			/* the last request that was issued or cancelled */
	u16 last_slot;
	enum tn_rma_ring_state state;
};

static struct world w;

/* --- the network ------------------------------------------------------------------ */

/* Return: the bytes of the next part of a PUT, as the process has them. */
static const u8 *source_of(const struct request *q)
{
	return (q->ask.flags & TORUS_RMA_INLINE ? (const u8 *)&q->ask.offset :
						  w.memory[q->ask.local] + q->ask.offset) + q->sent;
}

/* Return: true if all requests before @i have ended, as a FENCE wants. */
static bool all_ended(unsigned int i)
{
	while (i--) {
		if (w.request[i].open || !w.request[i].whole)
			return false;
	}
	return true;
}

static void expect_part(struct request *q, const struct tn_rma_ask *ask, const u8 *data, u32 n)
{
	bool sends = q->ask.op == TORUS_RMA_SEND;
	bool posted = sends || q->ask.op == TORUS_RMA_PUT || q->ask.flags & TORUS_RMA_POSTED;

	expect(&w.r, ask->op == q->ask.op && ask->job == JOB && ask->ep == 1, "operation");
	expect(&w.r, ask->addr == q->ask.addr + q->sent, "address of a part");
	expect(&w.r, ask->region == q->ask.region && ask->key == q->ask.key, "region");
	expect(&w.r, ask->value == q->ask.value && ask->compare == q->ask.compare, "operands");
	if (q->ask.op == TORUS_RMA_PUT || sends)
		expect(&w.r, !n || !memcmp(data, source_of(q), n), "data of a part");
	q->sent += q->ask.op == TORUS_RMA_GET ? ask->bytes : n;
	expect(&w.r, q->sent <= q->ask.bytes && n <= DATA && ask->bytes <= DATA, "length of a part");
	q->whole = q->sent == q->ask.bytes;
	expect(&w.r, !sends || q->whole, "a message in two parts");
	expect(&w.r, !(ask->flags & TN_RMA_NOTIFY) == !(q->whole && q->ask.flags & TORUS_RMA_NOTIFY),
	       "only the last part notifies");
	expect(&w.r, posted || !(ask->flags & TN_RMA_ASK), "only what is posted asks");
	expect(&w.r, ask->op != TN_RMA_AMO || (ask->slot == TN_RMA_POSTED) == posted, "posted");
	expect(&w.r, ask->op != TN_RMA_AMO ||
	       TORUS_RMA_WORD_AMO(ask->amo, ask->type) == q->ask.word, "operation of an AMO");
	for (u32 i = DATA; i < sizeof(w.gather); i++)
		expect(&w.r, !w.gather[i], "a message is written behind its memory");
	if (posted)
		w.unasked[q->ask.node] = !(ask->flags & TN_RMA_ASK);
}

/* Return: the first request to @dst that has parts which are not issued yet. */
static unsigned int find_current(u32 dst)
{
	unsigned int i = 0;

	while (i < w.submitted && (w.request[i].ask.node != dst || w.request[i].whole))
		i++;
	return i;
}

static bool submit(struct torus_rma_ask ask);

static int net_issue(void *host, u32 dst, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		     u64 cookie, u64 now)
{
	unsigned int current = find_current(dst);
	struct request *q = &w.request[current];

	(void)host, (void)now;
	w.last = *ask;
	if (w.later)
		submit((struct torus_rma_ask) { .op = TORUS_RMA_AMO });
	w.later = false;
	if (w.full || w.hold[dst] || (!w.steady && rnd_one_in(&w.r, 8)))
		return -EAGAIN;
	expect(&w.r, current < w.submitted, "a part of what was submitted");
	if (w.cut_off) {
		q->worst = TN_RMA_UNREACHABLE;
		q->whole = true;
		w.unasked[dst] = false;
		return -EHOSTUNREACH;
	}
	expect(&w.r, w.nparts < w.ring.cfg.parts_max, "too many parts are open");
	if (!q->begun && q->ask.flags & TORUS_RMA_FENCE)
		expect(&w.r, all_ended(current), "a fence was not waited for");
	q->begun = true;
	expect_part(q, ask, data, bytes);
	q->open++;
	expect(&w.r, cookie >> 48 == ID, "the context of a cookie");
	w.part[w.nparts++] = (struct part) { cookie, current, dst, *ask, w.slots };
	return w.slots++;
}

static int net_cancel(void *host, u16 slot, const struct tn_rma_ask *ask)
{
	(void)host;
	if (w.full)
		return -EAGAIN;
	w.cancels++;
	w.last = *ask;
	w.last_slot = slot;
	return 0;
}

static u64 ring_room(void *host, u32 id, u32 region, u64 offset)
{
	(void)host;
	assert_int_equal(id, ID);
	if (w.late)
		submit((struct torus_rma_ask) { .op = TORUS_RMA_AMO });
	w.late = false;
	return region < 2 && offset < BYTES ? BYTES - offset : 0;
}

static u8 *ring_mem(void *host, u32 region, u64 offset, u64 *run)
{
	(void)host;
	assert_true(region < 2 && offset < BYTES && !w.ring.closed);
	*run = offset < RUN ? RUN - offset : BYTES - offset;
	return w.memory[region] + offset;
}

static void ring_wake(void *host, u32 id)
{
	(void)host;
	assert_int_equal(id, ID);
	w.wakes++;
	w.head.cq_head += w.quick;
}

static const struct tn_rma_ring_ops ops = {
	.issue = net_issue, .cancel = net_cancel, .room = ring_room, .mem = ring_mem,
	.wake = ring_wake,
};

/* Ends a part; what a GET reads is its address. */
static void end_part(unsigned int i, u8 status)
{
	struct part p = w.part[i];
	struct request *q = &w.request[p.request];
	struct tn_rma_end end = { .status = status, .reason = status ? 3 : 0 };
	u8 data[DATA];

	for (u32 k = 0; k < DATA; k++)
		data[k] = (u8)(p.ask.addr + k);
	end.value = p.ask.op == TN_RMA_AMO || p.ask.op == TN_RMA_FE || status ? p.ask.addr : 0;
	if (p.ask.op == TN_RMA_GET && !status) {
		end.bytes = p.ask.bytes;
		end.data = data;
	}
	w.part[i] = w.part[--w.nparts];
	q->open--;
	if (status > q->worst || !q->worst) {
		q->worst = status;
		q->reason = end.reason;
		q->value = end.value;
	}
	if (status && !q->whole) {		/* no more parts are issued */
		q->whole = true;
		w.unasked[p.node] = false;
	}
	tn_rma_ring_done(&w.ring, p.cookie, &end);
}

/* --- the process ------------------------------------------------------------------ */

static void begin(u64 seed)
{
	w = (struct world) { .r = rnd_new(seed) };
	rnd_fill(&w.r, w.memory, sizeof(w.memory));
	tn_rma_ring_open(&w.ring, &(struct tn_rma_ring_config) {
		.ops = &ops, .head = &w.head, .sq = w.sq, .cq = w.cq, .op = w.op,
		.sq_entries = SQ, .cq_entries = CQ, .ops_max = OPS, .parts_max = PARTS,
		.nodes = NODES, .data_max = DATA, .id = ID, .job = JOB, .ep = 1,
		.gather = w.gather,
	});
	w.state = tn_rma_ring_work(&w.ring, 0);
}

static bool submit(struct torus_rma_ask ask)
{
	if (w.head.sq_tail - w.head.sq_head == SQ || w.submitted == REQUESTS)
		return false;
	ask.cookie = 1000 + w.submitted;
	w.request[w.submitted++].ask = ask;
	w.sq[w.head.sq_tail++ % SQ] = ask;
	return true;
}

static bool is_held(u32 node)
{
	for (unsigned int i = 0; i < TN_RMA_RING_HELD; i++) {
		if (w.ring.held[i].first != 0xffff && w.ring.held[i].node == node)
			return true;
	}
	return false;
}

/* The NIC is called only as it wants to be. */
static void work_if(bool wanted)
{
	if (wanted || w.state == TN_RMA_RING_MORE)
		w.state = tn_rma_ring_work(&w.ring, 0);
	for (u32 n = 0; n < NODES; n++)
		expect(&w.r, !w.unasked[n] || (w.ring.has_ahead && w.ring.ahead.node == n) ||
		       w.state == TN_RMA_RING_MORE || w.ring.now != 0xffff || is_held(n),
		       "an ACK is not asked for");
}

static struct torus_rma_ask random_ask(void)
{
	struct torus_rma_ask a = {
		.op = (u8)(TORUS_RMA_PUT + rnd_below(&w.r, 5)), .node = rnd_below(&w.r, PEERS),
		.addr = rnd_below(&w.r, 1000), .cookie = rnd64(&w.r),
	};

	if (a.op != TORUS_RMA_SEND && rnd_one_in(&w.r, 2)) {
		a.flags = TORUS_RMA_KEYED;
		a.region = rnd_below(&w.r, 9);
		a.key = 9;
	}
	if (rnd_one_in(&w.r, 6))
		a.flags |= TORUS_RMA_FENCE;
	if (a.op == TORUS_RMA_AMO || a.op == TORUS_RMA_FE) {
		a.value = rnd64(&w.r);
		a.compare = rnd64(&w.r);
		if (a.op == TORUS_RMA_AMO)
			a.word = (u16)TORUS_RMA_WORD_AMO(rnd_below(&w.r, 8), rnd_below(&w.r, 4));
		if (a.op == TORUS_RMA_AMO && rnd_one_in(&w.r, 2))
			a.flags |= TORUS_RMA_POSTED;
		return a;
	}
	a.local = rnd_below(&w.r, 2);
	a.bytes = rnd_below(&w.r, a.op == TORUS_RMA_SEND ? DATA + 1 : BYTES);
	a.value = a.op == TORUS_RMA_SEND ? rnd64(&w.r) : 0;
	a.offset = rnd_below(&w.r, BYTES - a.bytes + 1);
	if (a.op == TORUS_RMA_PUT && rnd_one_in(&w.r, 3)) {
		a.flags |= TORUS_RMA_NOTIFY;
		a.value = 1;
		a.compare = rnd_below(&w.r, 1000);
	}
	if (a.op != TORUS_RMA_GET && rnd_one_in(&w.r, 3)) {
		a.flags |= TORUS_RMA_INLINE;
		a.bytes = rnd_below(&w.r, 9);
		a.offset = rnd64(&w.r);
		a.local = 0;
	}
	return a;
}

/* A completion: the request has ended, and what the naive ring says of it. */
static void expect_end(const struct torus_rma_end *e)
{
	struct request *q = &w.request[e->cookie - 1000];
	bool done = q->worst == TORUS_RMA_DONE;

	expect(&w.r, e->cookie - 1000 < w.submitted && !q->over, "a completion once");
	expect(&w.r, q->whole && !q->open, "a completion too early");
	expect(&w.r, e->status == q->worst && e->reason == q->reason && e->value == q->value,
	       "status %u, not %u", e->status, q->worst);
	expect(&w.r, e->node == q->ask.node && e->op == q->ask.op, "node and operation");
	expect(&w.r, e->bytes == (done ? q->ask.bytes : 0), "bytes");
	expect(&w.r, !e->context, "only a RECV has a context");
	q->over = true;
	w.completed++;
}

/* Takes the next completion, if there is one. */
static bool complete(void)
{
	if (w.head.cq_head == w.head.cq_tail)
		return false;
	expect(&w.r, w.head.cq_tail - w.head.cq_head <= CQ, "the CQ overflows");
	expect_end(&w.cq[w.head.cq_head % CQ]);
	w.head.cq_head++;
	return true;
}

static void end_random(void)
{
	static const u8 ends[] = { 0, 0, 0, 0, 0, 0, TN_RMA_REFUSED, TN_RMA_LOST, TN_RMA_UNKNOWN };
	unsigned int i = rnd_below(&w.r, w.nparts);
	u8 status = ends[rnd_below(&w.r, ARRAY_SIZE(ends))];
	struct part p = w.part[i];
	const struct torus_rma_ask *a = &w.request[p.request].ask;
	u8 memory[2][BYTES];

	memcpy(memory, w.memory, sizeof(memory));
	for (u32 k = 0; p.ask.op == TN_RMA_GET && !status && k < p.ask.bytes; k++)
		memory[a->local][a->offset + (p.ask.addr - a->addr) + k] = (u8)(p.ask.addr + k);
	end_part(i, status);
	expect(&w.r, !memcmp(memory, w.memory, sizeof(memory)), "what a GET has read");
}

/* Return: true if the process rings the doorbell: once for each time that the NIC went to sleep. */
static bool must_ring(u32 reason)
{
	if (!(w.head.sleeps & reason) || w.head.naps == w.rung)
		return false;
	w.rung = w.head.naps;
	return true;
}

static void step(void)
{
	bool wanted = false;

	switch (rnd_below(&w.r, 5)) {
	case 0:
	case 1:
		wanted = submit(random_ask()) && must_ring(TORUS_RMA_ASLEEP);
		break;
	case 2:
		if (!w.nparts)
			break;
		end_random();
		wanted = true;
		break;
	case 3:
		wanted = complete() && must_ring(TORUS_RMA_CQ_FULL);
		break;
	default:
		w.full = rnd_one_in(&w.r, 4);
		w.hold[rnd_below(&w.r, PEERS)] = rnd_one_in(&w.r, 3);
		w.cut_off = rnd_one_in(&w.r, 8);
		wanted = w.state == TN_RMA_RING_BLOCKED;
	}
	work_if(wanted);
}

static void run_random(uint64_t seed)
{
	begin(seed);
	while (w.submitted < REQUESTS)
		step();
	for (unsigned int n = 0; w.completed < REQUESTS; n++) {
		expect(&w.r, n < 100000, "%u of %u requests end", w.completed, REQUESTS);
		step();
	}
	expect(&w.r, !w.ring.busy && !w.ring.open && !w.ring.parts, "nothing is open");
	expect(&w.r, !w.head.broken && !w.cq[CQ].cookie, "nothing is broken");
}

static void random_requests_end_as_in_naive_ring(void **state)
{
	(void)state;
	for_seeds(400, run_random);
}

static void issue_all(void)
{
	for (int i = 0; i < 100; i++)
		tn_rma_ring_work(&w.ring, 0);
}

/* --- requests that are wrong --------------------------------------------------------- */

static const struct torus_rma_ask put = { .op = TORUS_RMA_PUT, .bytes = BYTES };
static const struct torus_rma_ask add = { .op = TORUS_RMA_AMO };
static const struct torus_rma_ask wait_for = {
	.op = TORUS_RMA_FE, .word = TORUS_RMA_WORD_FE(TORUS_RMA_READ, TORUS_RMA_FULL, TORUS_RMA_ANY),
};

/* Submits one request, which is wrong, and expects its completion. */
static void is_invalid(struct torus_rma_ask ask, u8 reason, u64 allowed)
{
	const struct torus_rma_end *e = &w.cq[w.head.cq_tail % CQ];
	unsigned int parts = w.nparts;

	assert_true(submit(ask));
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.head.cq_tail - w.head.cq_head, 1);
	assert_int_equal(e->status, TORUS_RMA_INVALID);
	assert_int_equal(e->reason, reason);
	assert_int_equal(e->value, allowed);
	assert_int_equal(e->cookie, 1000 + w.submitted - 1);
	w.head.cq_head++;
	assert_int_equal(w.nparts, parts);
}

#define END	(1ull << 48)

static const struct {
	struct torus_rma_ask ask;
	u8 reason;
	u64 allowed;
} wrong_requests[] = {
	{ { .op = TORUS_RMA_PUT, .flags = 2 },
	  TORUS_RMA_BAD_FLAGS, 29 },
	{ { .op = TORUS_RMA_PUT, .flags = TORUS_RMA_POSTED },
	  TORUS_RMA_BAD_FLAGS, 29 },
	{ { .op = TORUS_RMA_PUT, .flags = 64 },
	  TORUS_RMA_BAD_FLAGS, 29 },
	{ { .op = TORUS_RMA_AMO, .flags = TORUS_RMA_NOTIFY },
	  TORUS_RMA_BAD_FLAGS, 41 },
	{ { .op = TORUS_RMA_FE, .flags = TORUS_RMA_POSTED },
	  TORUS_RMA_BAD_FLAGS, 9 },
	{ { .op = TORUS_RMA_GET, .flags = TORUS_RMA_INLINE },
	  TORUS_RMA_BAD_FLAGS, 9 },
	{ { .op = TORUS_RMA_CANCEL, .flags = TORUS_RMA_FENCE },
	  TORUS_RMA_BAD_FLAGS, 0 },
	{ { .op = TORUS_RMA_PUT, .node = NODES },
	  TORUS_RMA_BAD_NODE, NODES - 1 },
	{ { .op = TORUS_RMA_PUT, .node = NODES, .flags = TORUS_RMA_FENCE },
	  TORUS_RMA_BAD_NODE, NODES - 1 },
	{ { .op = TORUS_RMA_PUT, .bytes = 10, .addr = END - 9 },
	  TORUS_RMA_BAD_ADDR, END },
	{ { .op = TORUS_RMA_PUT, .addr = ~0ull },
	  TORUS_RMA_BAD_ADDR, END },
	{ { .op = TORUS_RMA_AMO, .addr = END },
	  TORUS_RMA_BAD_ADDR, END },
	{ { .op = TORUS_RMA_PUT, .flags = TORUS_RMA_NOTIFY, .compare = END - 7 },
	  TORUS_RMA_BAD_ADDR, END },
	{ { .op = TORUS_RMA_PUT, .flags = TORUS_RMA_KEYED, .region = 1u << 24 },
	  TORUS_RMA_BAD_REGION, (1u << 24) - 1 },
	{ { .op = TORUS_RMA_PUT, .word = 1 },
	  TORUS_RMA_BAD_WORD, 0 },
	{ { .op = TORUS_RMA_AMO, .word = 0x8000 },
	  TORUS_RMA_BAD_WORD, 0x7c00 },
	{ { .op = TORUS_RMA_AMO, .word = 0x200 },
	  TORUS_RMA_BAD_WORD, 0x7c00 },
	{ { .op = TORUS_RMA_FE, .word = 0x8000 },
	  TORUS_RMA_BAD_WORD, 0x7fff },
	{ { .op = TORUS_RMA_PUT, .region = 1 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_PUT, .key = 1 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_PUT, .value = 1 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_PUT, .compare = 1 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_PUT, .flags = TORUS_RMA_INLINE, .local = 1 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_AMO, .bytes = 8 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_AMO, .offset = 8 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_AMO, .local = 1 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_CANCEL, .node = 1 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_CANCEL, .addr = 8 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_CANCEL, .compare = 8 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_PUT, .flags = TORUS_RMA_INLINE, .bytes = 9 },
	  TORUS_RMA_BAD_INLINE, 8 },
	{ { .op = TORUS_RMA_PUT, .bytes = 1, .local = 2 },
	  TORUS_RMA_BAD_LOCAL, 0 },
	{ { .op = TORUS_RMA_PUT, .bytes = BYTES, .offset = 1 },
	  TORUS_RMA_BAD_LOCAL, 0 },
	{ { .op = TORUS_RMA_PUT, .bytes = 1, .offset = BYTES },
	  TORUS_RMA_BAD_LOCAL, 0 },
	{ { .op = TORUS_RMA_PUT, .bytes = 1, .offset = ~0ull },
	  TORUS_RMA_BAD_LOCAL, 0 },
	{ { .op = TORUS_RMA_PUT, .bytes = ~0u },
	  TORUS_RMA_BAD_LOCAL, 0 },
	{ { .op = TORUS_RMA_GET, .bytes = BYTES + 1 },
	  TORUS_RMA_BAD_LOCAL, 0 },
	{ { .op = TORUS_RMA_SEND, .bytes = DATA + 1 },
	  TORUS_RMA_BAD_LENGTH, DATA },
	{ { .op = TORUS_RMA_SEND, .flags = TORUS_RMA_KEYED },
	  TORUS_RMA_BAD_FLAGS, 24 },
	{ { .op = TORUS_RMA_SEND, .addr = END },
	  TORUS_RMA_BAD_ADDR, END },
	{ { .op = TORUS_RMA_RECV, .flags = TORUS_RMA_FENCE },
	  TORUS_RMA_BAD_FLAGS, 0 },
	{ { .op = TORUS_RMA_RECV, .value = 1 },
	  TORUS_RMA_BAD_REST, 0 },
	{ { .op = TORUS_RMA_RECV, .bytes = BYTES, .offset = 1 },
	  TORUS_RMA_BAD_LOCAL, 0 },
	{ { .op = TORUS_RMA_CANCEL, .value = 8 },
	  TORUS_RMA_BAD_COOKIE, 0 },
};

static void wrong_request_is_invalid_and_names_allowed_value(void **state)
{
	(void)state;
	begin(1);
	assert_true(submit(wait_for));		/* stays open: a wrong request waits for no fence */
	issue_all();
	for (u32 op = 0; op < 256; op++) {
		if ((op < TORUS_RMA_PUT || op > TORUS_RMA_SEND) && op != TORUS_RMA_CANCEL &&
		    op != TORUS_RMA_RECV)
			is_invalid((struct torus_rma_ask) { .op = (u8)op }, TORUS_RMA_BAD_OP, 0);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong_requests); i++)
		is_invalid(wrong_requests[i].ask, wrong_requests[i].reason,
			   wrong_requests[i].allowed);
	assert_int_equal(w.head.broken, 0);
}

/* A request of which the last byte is the last one that is allowed. */
static void request_up_to_last_address_is_allowed(void **state)
{
	struct torus_rma_ask a = put;

	(void)state;
	begin(1);
	w.full = true;
	a.addr = (1ull << 48) - BYTES;
	a.node = NODES - 1;
	assert_true(submit(a));
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	assert_int_equal(w.last.addr, a.addr);
}

/* --- a process that breaks its rings ---------------------------------------------------- */

/* Requests that were taken before end; no more are taken, though the tail is right again. */
static void wrong_sq_tail_breaks_ring_but_open_operations_end(void **state)
{
	static const u32 wrong[] = { SQ + 2, 0, 0x80000000, ~0u };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		begin(1);
		assert_true(submit(wait_for));
		while (!w.nparts)
			tn_rma_ring_work(&w.ring, 0);
		w.head.sq_tail = wrong[i];
		assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
		assert_int_equal(w.head.broken, TORUS_RMA_SQ_TAIL);
		w.head.sq_tail = 2;
		assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
		assert_int_equal(w.head.sq_head, 1);
		end_part(0, TN_RMA_DONE);
		w.head.cq_head = 1;	/* wrong, too, but the process is told the first reason */
		tn_rma_ring_work(&w.ring, 0);
		assert_int_equal(w.head.broken, TORUS_RMA_SQ_TAIL);
		w.head.cq_head = 0;
		tn_rma_ring_work(&w.ring, 0);
		assert_true(complete());
	}
}

/* Completions are not written where the process may read others. */
static void wrong_cq_head_breaks_ring_before_completion_is_written(void **state)
{
	static const u32 wrong[] = { 1, 0x80000000, (u32)-CQ - 1 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		begin(1);
		w.head.cq_head = wrong[i];
		tn_rma_ring_work(&w.ring, 0);		/* without a completion it is not read */
		assert_int_equal(w.head.broken, 0);
		assert_true(submit((struct torus_rma_ask) { .op = 99 }));
		assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
		assert_int_equal(w.head.broken, TORUS_RMA_CQ_HEAD);
		assert_int_equal(w.head.cq_tail, 0);
		assert_int_equal(w.cq[0].cookie, 0);
	}
}

/* Positions wrap, and the process writes the NIC's own members. */
static void nic_does_not_trust_its_own_members_of_shared_memory(void **state)
{
	(void)state;
	begin(1);
	w.ring.sq_head = w.ring.sq_tail = w.head.sq_head = w.head.sq_tail = (u32)-3;
	w.ring.cq_tail = w.head.cq_tail = w.head.cq_head = (u32)-2;
	for (int i = 0; i < 20; i++) {
		w.head.sq_head = w.head.cq_tail = 7;
		w.sq[w.head.sq_tail++ % SQ] = (struct torus_rma_ask) { .op = 99, .cookie = (u64)i };
		tn_rma_ring_work(&w.ring, 0);
		assert_int_equal(w.head.sq_head, w.head.sq_tail);
		assert_int_equal(w.head.cq_tail, w.head.cq_head + 1);
		assert_int_equal(w.cq[w.head.cq_head++ % CQ].cookie, i);
	}
	assert_int_equal(w.head.broken, 0);
}

/* --- waiting, cancelling, closing --------------------------------------------------------- */

/* A process is woken only if it says that it sleeps. */
static void only_process_marked_as_sleeping_is_woken(void **state)
{
	(void)state;
	begin(1);
	for (u32 wants = 0; wants < 2; wants++) {
		w.head.wants = wants;
		assert_true(submit((struct torus_rma_ask) { .op = 99 }));
		tn_rma_ring_work(&w.ring, 0);
		assert_int_equal(w.wakes, wants);
	}
	assert_int_equal(w.head.sleeps, TORUS_RMA_ASLEEP);
}

/* Completions that wait for room in the CQ do not wake the process again and again. */
static void full_cq_wakes_process_once(void **state)
{
	(void)state;
	begin(1);
	w.head.wants = 1;
	for (int i = 0; i <= CQ; i++)
		assert_true(submit((struct torus_rma_ask) { .op = 99 }));
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_int_equal(w.head.sleeps, TORUS_RMA_ASLEEP | TORUS_RMA_CQ_FULL);
	assert_int_equal(w.head.cq_tail, CQ);
	assert_int_equal(w.wakes, 1);
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.wakes, 1);
	w.head.cq_head++;
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.head.cq_tail, CQ + 1);
	assert_int_equal(w.wakes, 2);
}

/* A process that takes a completion before it can see that the NIC sleeps does not ring. */
static void room_in_cq_while_nic_goes_to_sleep_is_seen(void **state)
{
	(void)state;
	begin(1);
	w.head.wants = w.quick = true;
	for (int i = 0; i <= CQ; i++)
		assert_true(submit((struct torus_rma_ask) { .op = 99 }));
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_MORE);
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_int_equal(w.head.cq_tail, CQ + 1);
}

/* All that ends between two calls has one wake-up, and no store for each of them. */
static void operations_that_end_between_two_calls_cause_one_wake_up(void **state)
{
	(void)state;
	begin(1);
	w.steady = true;
	for (int i = 0; i < 3; i++)
		assert_true(submit(add));
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.nparts, 3);
	w.head.wants = 1;
	while (w.nparts)
		end_part(0, TN_RMA_DONE);
	assert_int_equal(w.head.cq_tail, 0);
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.head.cq_tail, 3);
	assert_int_equal(w.wakes, 1);
}

/* A process that has rung for one nap rings again for the next one. */
static void each_sleep_of_nic_has_its_own_number(void **state)
{
	u32 naps;

	(void)state;
	begin(1);
	w.steady = true;
	for (int i = 0; i < 3; i++) {
		naps = w.head.naps;
		assert_int_equal(w.head.sleeps, TORUS_RMA_ASLEEP);
		assert_true(submit(add));
		tn_rma_ring_work(&w.ring, 0);
		assert_int_equal(w.head.naps, naps + 1);
	}
}

/*
 * Posted requests that follow one another do not ask to be acknowledged while there is room for
 * twice as many; the last one does. Places that RECV take are no room.
 */
static void posted_requests_ask_when_half_of_room_is_taken(void **state)
{
	static const unsigned int limits[] = { PARTS, 5, 3 };
	struct torus_rma_ask posted = add;

	(void)state;
	posted.flags |= TORUS_RMA_POSTED;
	for (unsigned int i = 0; i < 3 * 3 * OPS; i++) {
		const unsigned int parts = limits[i % 3], recvs = i / 3 % 3, n = i / 9 + 1;

		if (n > OPS - recvs || n > parts)
			continue;
		begin(1);
		w.steady = true;
		w.ring.cfg.parts_max = parts;
		for (unsigned int k = 0; k < recvs; k++)
			assert_true(submit((struct torus_rma_ask) { .op = TORUS_RMA_RECV }));
		for (unsigned int k = 0; k < recvs; k++)
			w.request[k].whole = true;
		for (unsigned int k = 0; k < n; k++)
			assert_true(submit(posted));
		tn_rma_ring_work(&w.ring, 0);
		assert_int_equal(w.nparts, n);
		for (unsigned int k = 0; k < n; k++)
			assert_int_equal(!!(w.part[k].ask.flags & TN_RMA_ASK),
					 k + 1 == n || k + 1 >= (OPS - recvs) / 2 || k >= parts / 2);
	}
}

/*
 * A posted request asks for its acknowledgement unless the next one to its node will: one that is
 * wrong is not issued, and one with a fence waits for the end of the first.
 */
static void posted_request_asks_unless_next_one_does(void **state)
{
	static const struct torus_rma_ask posted = { .op = TORUS_RMA_AMO, .flags = TORUS_RMA_POSTED };
	struct torus_rma_ask next[] = { posted, { .op = TORUS_RMA_PUT }, posted, posted, posted, add };

	(void)state;
	next[2].word = 0x8000;
	next[3].flags |= TORUS_RMA_FENCE;
	next[4].node = 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(next); i++) {
		begin(1);
		w.steady = true;
		assert_true(submit(posted));
		assert_true(submit(next[i]));
		tn_rma_ring_work(&w.ring, 0);
		assert_true(w.nparts);
		assert_int_equal(!!(w.part[0].ask.flags & TN_RMA_ASK), i >= 2);
	}
}

/* Requests that have waited for their node are acknowledged together, too. */
static void posted_requests_to_node_on_hold_ask_once(void **state)
{
	struct torus_rma_ask posted = add;

	(void)state;
	posted.flags |= TORUS_RMA_POSTED;
	begin(1);
	w.steady = w.hold[0] = true;
	assert_true(submit(posted));
	assert_true(submit(posted));
	tn_rma_ring_work(&w.ring, 0);
	w.hold[0] = false;
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.nparts, 2);
	assert_false(w.part[0].ask.flags & TN_RMA_ASK);
	assert_true(w.part[1].ask.flags & TN_RMA_ASK);
}

/* Requests to a node on hold wait, in order, and those to others go on. */
static void request_to_node_on_hold_stops_no_other_node(void **state)
{
	struct torus_rma_ask to[2] = { add, add };

	(void)state;
	begin(1);
	w.steady = w.hold[1] = true;
	to[1].node = 1;
	for (int i = 0; i < 6; i++) {
		to[i % 2].addr = (u64)i;
		assert_true(submit(to[i % 2]));
	}
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	assert_int_equal(w.nparts, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(w.part[i].node, 0);
		assert_int_equal(w.part[i].ask.addr, 2 * i);
	}
	w.hold[1] = false;
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_int_equal(w.nparts, 6);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(w.part[3 + i].ask.addr, 2 * i + 1);
}

/* One node more than there are lists stops the rest, until another one goes on. */
static void too_many_nodes_on_hold_stop_the_rest(void **state)
{
	struct tn_rma_ring_op op[16];
	struct torus_rma_ask sq[16], ask = add;
	struct tn_rma_ring_config cfg;

	(void)state;
	begin(1);
	w.steady = true;
	cfg = w.ring.cfg;
	cfg.sq = sq;
	cfg.op = op;
	cfg.sq_entries = cfg.ops_max = 16;
	tn_rma_ring_open(&w.ring, &cfg);
	for (u32 i = 0; i <= TN_RMA_RING_HELD + 1; i++) {
		ask.node = i;
		w.hold[i] = i <= TN_RMA_RING_HELD;
		w.request[w.submitted++].ask = sq[w.head.sq_tail++] = ask;
	}
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	assert_int_equal(w.nparts, 0);
	w.hold[3] = false;
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	assert_int_equal(w.nparts, 2);
	assert_int_equal(w.part[0].node, 3);
	assert_int_equal(w.part[1].node, TN_RMA_RING_HELD + 1);
}

/*
 * If an FE operation is cancelled before it was issued, the cancellation waits until it is issued.
 */
static void cancel_waits_for_fe_to_node_on_hold(void **state)
{
	struct torus_rma_ask cancel = { .op = TORUS_RMA_CANCEL, .value = 1000 };

	(void)state;
	begin(1);
	w.steady = w.hold[0] = true;
	assert_true(submit(wait_for));
	assert_true(submit(cancel));
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	assert_int_equal(w.head.cq_tail, 0);
	w.hold[0] = false;
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.nparts, 1);
	assert_int_equal(w.cancels, 1);
	assert_int_equal(w.cq[0].cookie, 1001);
	assert_int_equal(w.cq[0].status, TORUS_RMA_DONE);
}

static void closed_ring_ends_operations_for_node_on_hold(void **state)
{
	(void)state;
	begin(1);
	w.steady = w.hold[0] = w.hold[1] = true;
	assert_true(submit(put));
	assert_true(submit(add));
	assert_true(submit((struct torus_rma_ask) { .op = TORUS_RMA_AMO, .node = 1 }));
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	tn_rma_ring_close(&w.ring);
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_true(tn_rma_ring_gone(&w.ring));
	assert_int_equal(w.ring.busy, 0);
	assert_int_equal(w.nparts, 0);
}

static void only_open_fe_can_be_cancelled(void **state)
{
	struct torus_rma_ask cancel = { .op = TORUS_RMA_CANCEL, .value = 1001 };
	struct torus_rma_ask key = wait_for;

	(void)state;
	begin(1);
	assert_true(submit(add));
	key.flags = TORUS_RMA_KEYED;
	key.region = 4;
	key.key = 5;
	key.addr = 16;
	assert_true(submit(key));
	issue_all();
	assert_int_equal(w.nparts, 2);
	w.full = true;
	assert_true(submit(cancel));
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	w.full = false;
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.cancels, 1);
	assert_int_equal(w.last_slot, w.part[1].slot);
	assert_int_equal(w.last.region, 4);
	assert_int_equal(w.last.key, 5);
	assert_int_equal(w.last.addr, 16);
	assert_int_equal(w.cq[0].cookie, 1002);
	assert_int_equal(w.cq[0].status, TORUS_RMA_DONE);
	w.head.cq_head++;
	end_part(1, TN_RMA_REFUSED);
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.cq[1].cookie, 1001);
	w.head.cq_head++;
	is_invalid(cancel, TORUS_RMA_BAD_COOKIE, 0);	/* that operation has ended */
	cancel.value = 1000;
	is_invalid(cancel, TORUS_RMA_BAD_COOKIE, 0);	/* that operation is no FE */
}

/* Cancels request @i. Return: why the CANCEL is invalid, or 0. */
static u8 cancel(u32 i)
{
	struct torus_rma_ask ask = { .op = TORUS_RMA_CANCEL, .value = 1000 + i };
	const struct torus_rma_end *e = &w.cq[w.head.cq_tail % CQ];

	assert_true(submit(ask));
	w.request[w.submitted - 1].whole = true;
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(e->cookie, 1000 + w.submitted - 1);
	w.head.cq_head = w.head.cq_tail;
	return e->reason;
}

/*
 * FE operations of which many have the same hash begin and end in any order, beside others that
 * cannot be cancelled, or are wrong.
 */
static void cancel_finds_each_open_fe_and_no_other(void **state)
{
	const struct torus_rma_ask wrong = { .op = TORUS_RMA_FE, .word = 0x8000 };

	(void)state;
	for (u64 seed = 1; seed <= 20; seed++) {
		begin(seed);
		w.steady = true;
		for (u32 n = 0; n < 30; n++) {
			if (w.nparts < OPS - 1 && (!w.nparts || rnd_one_in(&w.r, 2)))
				assert_true(submit(wait_for));
			else
				end_part(rnd_below(&w.r, w.nparts), TN_RMA_DONE);
			tn_rma_ring_work(&w.ring, 0);
			w.head.cq_head = w.head.cq_tail;
			is_invalid(wrong, TORUS_RMA_BAD_WORD, 0x7fff);
			w.request[w.submitted - 1].whole = true;
			for (u32 i = 0; i < w.nparts; i++) {
				u32 cancels = w.cancels;

				assert_int_equal(cancel(w.part[i].request), 0);
				assert_int_equal(w.cancels, cancels + 1);
				assert_int_equal(w.last_slot, w.part[i].slot);
			}
			assert_int_equal(cancel(w.submitted - 1), TORUS_RMA_BAD_COOKIE);
		}
	}
}

/* Nothing of a closed ring is taken or written; what is open ends. */
static void closed_ring_takes_no_request_and_ends_open_ones(void **state)
{
	struct torus_rma_ask get = { .op = TORUS_RMA_GET, .bytes = BYTES };

	(void)state;
	begin(1);
	w.steady = true;
	assert_true(submit(wait_for));
	assert_true(submit(get));
	assert_true(submit(put));
	issue_all();
	assert_int_equal(w.nparts, PARTS);
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_true(submit(add));
	tn_rma_ring_close(&w.ring);
	w.full = true;
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	w.full = false;
	w.head.cq_head = 77;			/* wrong, but the memory is not used any more */
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.cancels, 1);
	tn_rma_ring_close(&w.ring);
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.cancels, 2);
	while (w.nparts) {
		assert_false(tn_rma_ring_gone(&w.ring));
		end_part(w.nparts - 1, TN_RMA_DONE);
		tn_rma_ring_work(&w.ring, 0);
	}
	assert_true(tn_rma_ring_gone(&w.ring));
	assert_int_equal(w.ring.busy, 0);
	assert_int_equal(w.head.cq_tail, 0);
	assert_int_equal(w.cq[0].op, 0);
	assert_int_equal(w.head.sq_head, 3);
	assert_int_equal(w.head.broken, 0);
}

static void ring_uses_region_of_open_get(void **state)
{
	struct torus_rma_ask get = { .op = TORUS_RMA_GET, .bytes = 4, .local = 1 };

	(void)state;
	begin(1);
	assert_false(tn_rma_ring_uses(&w.ring, 1));
	w.full = true;
	assert_true(submit(add));
	assert_true(submit(get));
	issue_all();
	assert_true(tn_rma_ring_uses(&w.ring, 1));	/* the request waits for its node */
	w.full = false;
	issue_all();
	assert_int_equal(w.nparts, 2);
	assert_true(tn_rma_ring_uses(&w.ring, 1));
	assert_false(tn_rma_ring_uses(&w.ring, 0));
	end_part(1, TN_RMA_DONE);
	assert_false(tn_rma_ring_uses(&w.ring, 1));
}

/* A request that was copied, and waits for a fence, counts as one that uses its region. */
static void ring_uses_region_of_request_that_waits_for_fence(void **state)
{
	struct torus_rma_ask get = {
		.op = TORUS_RMA_GET, .bytes = 4, .local = 1, .flags = TORUS_RMA_FENCE,
	};

	(void)state;
	begin(1);
	assert_true(submit(add));
	assert_true(submit(get));
	issue_all();
	assert_int_equal(w.nparts, 1);
	assert_true(tn_rma_ring_uses(&w.ring, 1));
	assert_false(tn_rma_ring_uses(&w.ring, 0));
	end_part(0, TN_RMA_DONE);
	issue_all();
	assert_int_equal(w.nparts, 1);
}

/* A request without data uses no region. Once the ring is closed, nor does one not yet begun. */
static void ring_does_not_use_region_for_request_without_data(void **state)
{
	struct torus_rma_ask ask = { .op = TORUS_RMA_AMO, .flags = TORUS_RMA_FENCE };

	(void)state;
	for (int data = 0; data < 2; data++) {
		begin(1);
		w.steady = true;
		assert_true(submit(add));
		ask.op = data ? TORUS_RMA_GET : TORUS_RMA_AMO;
		ask.bytes = data ? 4 : 0;
		assert_true(submit(ask));
		issue_all();
		assert_int_equal(w.nparts, 1);
		assert_int_equal(tn_rma_ring_uses(&w.ring, 0), data);
		tn_rma_ring_close(&w.ring);
		assert_false(tn_rma_ring_uses(&w.ring, 0));
	}
	begin(1);
	w.steady = true;
	assert_true(submit(put));
	issue_all();
	assert_true(tn_rma_ring_uses(&w.ring, 0));
}

/* A request that comes while the NIC goes to sleep is seen. */
static void request_while_nic_goes_to_sleep_is_seen(void **state)
{
	(void)state;
	begin(1);
	assert_true(submit(put));
	w.late = w.steady = true;
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_MORE);
	issue_all();
	assert_int_equal(w.nparts, 7);		/* the PUT is cut where its memory is */
}

/*
 * A request that comes while another one waits for its fence cannot be taken yet, so the NIC sleeps
 * until an operation ends.
 */
static void nic_sleeps_while_next_request_waits_for_fence(void **state)
{
	struct torus_rma_ask get = { .op = TORUS_RMA_GET, .bytes = 4, .flags = TORUS_RMA_FENCE };

	(void)state;
	begin(1);
	w.steady = true;
	assert_true(submit(add));
	assert_true(submit(get));
	w.late = true;
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_false(w.late);
	assert_int_equal(w.head.sleeps, TORUS_RMA_ASLEEP);
	end_part(0, TN_RMA_DONE);
	issue_all();
	assert_int_equal(w.nparts, 2);
	assert_int_equal(w.part[0].ask.op, TN_RMA_GET);
}

static struct torus_rma_ask large_sq[MANY];

/* As begin(), with room for 128 requests. */
static void begin_large(void)
{
	static struct torus_rma_end cq[MANY];
	static struct tn_rma_ring_op op[MANY];
	struct tn_rma_ring_config cfg;

	begin(1);
	w.steady = true;
	memset(large_sq, 0, sizeof(large_sq));
	cfg = w.ring.cfg;
	cfg.sq = large_sq;
	cfg.cq = cq;
	cfg.op = op;
	cfg.sq_entries = cfg.cq_entries = cfg.ops_max = MANY;
	tn_rma_ring_open(&w.ring, &cfg);
}

/* Nothing can be taken while a request waits for the end of other parts. */
static void nic_sleeps_while_all_parts_are_open(void **state)
{
	(void)state;
	begin(1);
	w.steady = w.later = true;
	assert_true(submit(put));
	assert_true(submit(put));
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_int_equal(w.nparts, PARTS);
	assert_int_equal(w.submitted, 3);
}

/* An FE operation that has ended is not cancelled when the ring is closed. */
static void closed_ring_cancels_open_fe_only(void **state)
{
	(void)state;
	begin(1);
	w.steady = true;
	assert_true(submit(wait_for));
	assert_true(submit(wait_for));
	issue_all();
	end_part(1, TN_RMA_DONE);
	issue_all();
	tn_rma_ring_close(&w.ring);
	issue_all();
	assert_int_equal(w.cancels, 1);
	assert_int_equal(w.last_slot, w.part[0].slot);
}

/* A closed ring cancels a batch at most in one call. */
static void closed_ring_cancels_in_batches(void **state)
{
	(void)state;
	begin_large();
	w.ring.cfg.parts_max = MANY;
	while (w.submitted < 100)
		w.request[w.submitted++].ask = large_sq[w.head.sq_tail++] = wait_for;
	issue_all();
	assert_int_equal(w.nparts, 100);
	tn_rma_ring_close(&w.ring);
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_MORE);
	assert_int_equal(w.cancels, TN_RMA_RING_BATCH);
	assert_int_equal(w.ring.steps, TN_RMA_RING_BATCH);
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_int_equal(w.cancels, 100);
	assert_int_equal(w.ring.steps, 100 - TN_RMA_RING_BATCH);
	tn_rma_ring_close(&w.ring);
	issue_all();
	assert_int_equal(w.cancels, 200);
}

/* A request of which some parts are issued ends with these, also if the ring is closed twice. */
static void closed_ring_ends_request_with_its_open_parts(void **state)
{
	(void)state;
	begin(1);
	w.steady = true;
	assert_true(submit(put));
	assert_true(submit(put));
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.nparts, PARTS);
	tn_rma_ring_close(&w.ring);
	tn_rma_ring_close(&w.ring);
	while (w.nparts) {
		assert_false(tn_rma_ring_gone(&w.ring));
		end_part(w.nparts - 1, TN_RMA_DONE);
	}
	assert_true(tn_rma_ring_gone(&w.ring));
	tn_rma_ring_work(&w.ring, 0);
	assert_int_equal(w.ring.busy, 0);
}

/* Requests that waited for a node go on in batches, too. */
static void requests_that_waited_for_node_go_on_in_batches(void **state)
{
	(void)state;
	begin_large();
	w.hold[0] = true;
	while (w.submitted < 100)
		w.request[w.submitted++].ask = large_sq[w.head.sq_tail++] = add;
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_MORE);
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	w.hold[0] = false;
	w.cut_off = true;		/* so that they end without parts */
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_MORE);
	assert_int_equal(w.head.cq_tail, TN_RMA_RING_BATCH);
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_int_equal(w.head.cq_tail, 100);
}

/* All parts of a request that waited are issued in one call. */
static void request_that_waited_for_node_is_issued_as_a_whole(void **state)
{
	(void)state;
	begin(1);
	w.steady = w.hold[0] = true;
	assert_true(submit(put));
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_BLOCKED);
	w.hold[0] = false;
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_true(w.request[0].whole);
}

/* A call takes a batch at most; while more is to be done, the process need not ring. */
static void one_call_takes_one_batch_at_most(void **state)
{
	(void)state;
	begin_large();
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_int_equal(w.head.sleeps, TORUS_RMA_ASLEEP);
	w.head.sq_tail = 100;
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_MORE);
	assert_int_equal(w.head.cq_tail, TN_RMA_RING_BATCH);
	assert_int_equal(w.ring.steps, TN_RMA_RING_BATCH);
	assert_int_equal(w.head.sleeps, 0);
	assert_int_equal(tn_rma_ring_work(&w.ring, 0), TN_RMA_RING_IDLE);
	assert_int_equal(w.head.cq_tail, 100);
	assert_int_equal(w.ring.steps, 100 - TN_RMA_RING_BATCH);
	assert_int_equal(w.head.sleeps, TORUS_RMA_ASLEEP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_requests_end_as_in_naive_ring),
		cmocka_unit_test(wrong_request_is_invalid_and_names_allowed_value),
		cmocka_unit_test(request_up_to_last_address_is_allowed),
		cmocka_unit_test(wrong_sq_tail_breaks_ring_but_open_operations_end),
		cmocka_unit_test(wrong_cq_head_breaks_ring_before_completion_is_written),
		cmocka_unit_test(nic_does_not_trust_its_own_members_of_shared_memory),
		cmocka_unit_test(only_process_marked_as_sleeping_is_woken),
		cmocka_unit_test(full_cq_wakes_process_once),
		cmocka_unit_test(room_in_cq_while_nic_goes_to_sleep_is_seen),
		cmocka_unit_test(operations_that_end_between_two_calls_cause_one_wake_up),
		cmocka_unit_test(each_sleep_of_nic_has_its_own_number),
		cmocka_unit_test(posted_requests_ask_when_half_of_room_is_taken),
		cmocka_unit_test(posted_request_asks_unless_next_one_does),
		cmocka_unit_test(posted_requests_to_node_on_hold_ask_once),
		cmocka_unit_test(request_to_node_on_hold_stops_no_other_node),
		cmocka_unit_test(too_many_nodes_on_hold_stop_the_rest),
		cmocka_unit_test(cancel_waits_for_fe_to_node_on_hold),
		cmocka_unit_test(closed_ring_ends_operations_for_node_on_hold),
		cmocka_unit_test(only_open_fe_can_be_cancelled),
		cmocka_unit_test(cancel_finds_each_open_fe_and_no_other),
		cmocka_unit_test(closed_ring_takes_no_request_and_ends_open_ones),
		cmocka_unit_test(ring_uses_region_of_open_get),
		cmocka_unit_test(ring_uses_region_of_request_that_waits_for_fence),
		cmocka_unit_test(ring_does_not_use_region_for_request_without_data),
		cmocka_unit_test(request_while_nic_goes_to_sleep_is_seen),
		cmocka_unit_test(nic_sleeps_while_next_request_waits_for_fence),
		cmocka_unit_test(nic_sleeps_while_all_parts_are_open),
		cmocka_unit_test(closed_ring_cancels_open_fe_only),
		cmocka_unit_test(closed_ring_cancels_in_batches),
		cmocka_unit_test(closed_ring_ends_request_with_its_open_parts),
		cmocka_unit_test(requests_that_waited_for_node_go_on_in_batches),
		cmocka_unit_test(request_that_waited_for_node_is_issued_as_a_whole),
		cmocka_unit_test(one_call_takes_one_batch_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
