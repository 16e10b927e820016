// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remote memory between three NICs. A naive owner (rma_model.h) beside each one sees the same
 * requests. After each step the memories are compared byte for byte, and each end of an operation
 * with what the naive owner did. Packets are lost or come back, memory for packets is scarce, NICs
 * restart and die; what remains in the network of a NIC that has restarted still arrives.
 */
#include "tests/unit/seeds.h"
#include "tests/unit/rma_model.h"
#include "kernel/core/rma_initiator.h"

#define NODES		MODEL_NODES
#define OPS		600
#define QUEUE		64
#define SLOTS		40
#define RMA_TIME	1000
#define PAYLOAD		(TN_RMA_HEAD_MAX + MODEL_DATA_MAX)

/* An operation, from its issue to the end of the test. */
struct op {
	struct tn_rma_ask ask;
	struct model_fate fate;
	struct tn_rma_end end;
	u32 src, dst;
	int slot;
	u64 since;
	bool ended, orphan;	/* orphan: its NIC has restarted */
};

struct packet {
	u8 payload[PAYLOAD];
	u32 bytes;
	struct op *op;
};

struct channel {
	struct packet packet[QUEUE];
	unsigned int n, room;
};

struct node {
	struct world *w;
	struct tn_rma_owner owner;
	struct tn_rma_initiator initiator;
	struct tn_rma_source source[TN_RMA_PIECE], *sources[1];
	struct tn_rma_region region[MODEL_REGIONS];
	struct tn_window space;
	struct tn_window_row row[2];
	u64 from[2];
	struct tn_fe_pool pool;
	struct tn_fe_wait wait[MODEL_WAITS];
	struct tn_fe_wait *bucket[4];
	struct tn_fe_bits bits;
	struct tn_fe_quota quota;
	u64 full[1], waits[1];
	u64 memory[3][MODEL_WORDS];
	struct tn_rma_peer peer[TN_RMA_PIECE], *peers[1];
	struct tn_rma_open slot[SLOTS];
	u8 out[2][PAYLOAD];
	struct model model;
	u32 epoch;
	bool denied;	/* there was no memory for pieces */
	u64 ends[TN_RMA_UNKNOWN + 1];	/* operations that ended, by status, since it started */
};

struct world {
	struct rnd r;
	struct node node[NODES];
	struct channel channel[NODES][NODES][2];
	struct op op[OPS];
	struct op *issuing;
	unsigned int ops;
	u64 now;
	bool faults;
};

static struct world world;

static u32 id_of(const struct node *n)
{
	return (u32)(n - n->w->node);
}

static u8 *world_room(void *host, enum tn_rma_way way, u32 dst)
{
	struct node *n = host;
	unsigned int used = 0;

	/* Memory for replies is one for all nodes, and must not depend on the destination. */
	for (u32 d = 0; d < NODES; d++)
		if (way == TN_RMA_REPLIES || d == dst)
			used += n->w->channel[id_of(n)][d][way].n;
	return used < n->w->channel[id_of(n)][0][way].room ? n->out[way] : NULL;
}

static void world_send(void *host, enum tn_rma_way way, u32 dst, u32 bytes)
{
	struct node *n = host;
	struct channel *c = &n->w->channel[id_of(n)][dst][way];
	struct packet *p = &c->packet[c->n++];

	expect(&n->w->r, c->n <= QUEUE && bytes <= PAYLOAD, "%u bytes", bytes);
	memset(p, 0, sizeof(*p));
	memcpy(p->payload, n->out[way], bytes);
	p->bytes = bytes;
	if (way == TN_RMA_REQUESTS && n->out[way][0] <= TN_RMA_SEND)
		p->op = n->w->issuing;
	memset(n->out[way], 0xa5, PAYLOAD);
}

/* Makes the pieces, unless there is no memory, which in a network without faults never happens. */
static bool world_extend(void *host, u32 node)
{
	struct node *n = host;

	expect(&n->w->r, !n->peers[0] && !n->sources[0], "node %u is extended twice", node);
	n->denied = n->w->faults && !rnd_one_in(&n->w->r, 3);
	if (n->denied)
		return false;
	memset(n->source, 0, sizeof(n->source));
	n->sources[0] = n->source;
	tn_rma_initiator_extend(&n->initiator, node, n->peer);
	return true;
}

static u8 *world_mem(void *host, u32 region, u64 offset, u64 *run)
{
	struct node *n = host;

	*run = 32 - offset % 32;
	return (u8 *)n->memory[region] + offset;
}

static const struct tn_window *world_space(void *host, u32 job)
{
	return job == MODEL_JOB ? &((struct node *)host)->space : NULL;
}

static u8 world_recv(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		     u64 *allowed)
{
	(void)host, (void)src, (void)ask;
	return model_recv(data, bytes, allowed);
}

/* Checks that an operation ends with a status that agrees with what the naive owner did. */
static void world_done(void *host, u64 cookie, const struct tn_rma_end *end)
{
	struct node *n = host;
	struct op *op = &n->w->op[cookie];
	const struct model_fate *f = &op->fate;
	struct rnd *r = &n->w->r;

	expect(r, !op->ended && !op->orphan && op->src == id_of(n), "operation %d",
	       (int)cookie);
	op->ended = true;
	op->end = *end;
	n->ends[end->status]++;
	switch (end->status) {
	case TN_RMA_DONE:
		expect(r, f->executed, "operation %d", (int)cookie);
		if (op->ask.op != TN_RMA_GET)
			expect(r, op->ask.op == TN_RMA_PUT || op->ask.op == TN_RMA_SEND ||
			       op->ask.slot == TN_RMA_POSTED || end->value == f->value,
			       "operation %d: %#jx", (int)cookie, (uintmax_t)end->value);
		else
			expect(r, end->bytes == f->bytes && !memcmp(end->data, f->data, f->bytes),
			       "operation %d", (int)cookie);
		break;
	case TN_RMA_REFUSED:
		expect(r, f->refused && f->reason == end->reason && f->value == end->value,
		       "operation %d: %u, %#jx, not %u", (int)cookie, end->reason,
		       (uintmax_t)end->value, f->reason);
		break;
	default:
		expect(r, n->w->faults, "operation %d: %u", (int)cookie, end->status);
	}
}

/* A network without faults may be slow. */
static bool world_holds(void *host, u32 dst)
{
	struct node *n = host;
	u32 src = id_of(n);

	return !n->w->faults && (n->w->channel[src][dst][TN_RMA_REQUESTS].n ||
				 n->w->channel[dst][src][TN_RMA_REPLIES].n);
}

static const struct tn_rma_owner_ops owner_ops = {
	.net = { world_room, world_send, world_extend }, .mem = world_mem, .space = world_space,
	.recv = world_recv,
};

static const struct tn_rma_initiator_ops initiator_ops = {
	.net = { world_room, world_send, world_extend }, .done = world_done, .holds = world_holds,
};

static void start_node(struct node *n)
{
	struct world *w = n->w;

	n->epoch = (u32)rnd64(&w->r) | 1;
	memset(n->ends, 0, sizeof(n->ends));
	n->sources[0] = NULL;
	n->peers[0] = NULL;
	memset(n->slot, 0, sizeof(n->slot));
	memset(n->wait, 0, sizeof(n->wait));
	memset(n->bucket, 0, sizeof(n->bucket));
	memset(n->full, 0xff, sizeof(n->full));
	memset(n->waits, 0, sizeof(n->waits));
	n->bits = (struct tn_fe_bits) { .full = n->full, .waits = n->waits, .n = MODEL_WORDS };
	n->quota = (struct tn_fe_quota) { .max = MODEL_QUOTA };
	n->model.has_quota = rnd_one_in(&w->r, 2);
	if (n->model.has_quota)
		n->bits.quota = &n->quota;
	tn_fe_pool_init(&n->pool, n->wait, MODEL_WAITS, n->bucket, ARRAY_SIZE(n->bucket),
			rnd64(&w->r));
	n->owner = (struct tn_rma_owner) {
		.ops = &owner_ops, .host = n, .piece = n->sources, .region = n->region,
		.pool = &n->pool, .nodes = NODES, .regions = MODEL_REGIONS, .epoch = n->epoch,
		.data_max = MODEL_DATA_MAX,
	};
	tn_rma_initiator_init(&n->initiator, &initiator_ops, n, n->peers, NODES, n->slot, SLOTS,
			      RMA_TIME, rnd64(&w->r));
	model_restart(&n->model);
}

static void make_node(struct world *w, struct node *n)
{
	struct tn_window_why why;

	n->w = w;
	rnd_fill(&w->r, n->memory, sizeof(n->memory));
	memcpy(n->model.memory, n->memory, sizeof(n->memory));
	for (u32 i = 0; i < MODEL_REGIONS; i++)
		n->region[i] = (struct tn_rma_region) {
			.bytes = i == 3 ? 0 : MODEL_BYTES, .key = MODEL_KEY,
			.job = i == 2 ? MODEL_JOB + 1 : MODEL_JOB, .fe = i ? NULL : &n->bits,
			.access = i ? TN_ACCESS_READ | TN_ACCESS_WRITE : TN_ACCESS_ALL,
		};
	assert_int_equal(tn_window_init(&n->space, TN_WINDOW_HIGH, 0, 48, 0, n->from, n->row, 2,
					&why), 0);
	for (u32 i = 0; i < 2; i++) {
		struct tn_window_row row = {
			.from = MODEL_BASE + i * MODEL_BYTES, .bytes = MODEL_BYTES, .target = i,
			.access = n->region[i].access,
		};

		assert_int_equal(tn_window_put(&n->space, &row, &why), 0);
	}
	start_node(n);
}

static void make_world(uint64_t seed, bool faults)
{
	struct world *w = &world;

	memset(w, 0, sizeof(*w));
	w->r = rnd_new(seed);
	w->faults = faults;
	for (u32 i = 0; i < NODES; i++) {
		make_node(w, &w->node[i]);
		w->channel[i][0][TN_RMA_REQUESTS].room = 1 + rnd_below(&w->r, 12);
		w->channel[i][0][TN_RMA_REPLIES].room = 1 + rnd_below(&w->r, 4);
	}
}

/* Return: a request, mostly one that is allowed. */
static struct tn_rma_ask random_request(struct rnd *r)
{
	static const u8 compares[] = { TN_FE_EQ, TN_FE_NE, TN_FE_LT, TN_FE_GE };
	bool odd = rnd_one_in(r, 12);
	struct tn_rma_ask a = {
		.op = (u8)(TN_RMA_PUT + rnd_below(r, 5)), .ep = (u16)rnd64(r),
		.job = odd && rnd_one_in(r, 4) ? MODEL_JOB + 1 : MODEL_JOB,
		.addr = 8 * rnd_below(r, 6) + (odd ? rnd_below(r, 300) : 0),
		.value = rnd_below(r, 3), .compare = rnd_below(r, 3),
		.amo = (u8)rnd_below(r, 8), .type = (u8)rnd_below(r, 4),
	};

	if (a.op != TN_RMA_SEND && rnd_one_in(r, 2)) {
		a.flags = TN_RMA_KEYED;
		a.region = odd ? rnd_below(r, 6) : 0;
		a.key = odd && rnd_one_in(r, 3) ? MODEL_KEY ^ 1u << rnd_below(r, 32) : MODEL_KEY;
	} else if (a.op != TN_RMA_SEND) {
		a.addr += odd && rnd_one_in(r, 8) ? 0 : MODEL_BASE;
	}
	if (rnd_one_in(r, 3) && (a.op == TN_RMA_PUT || a.op == TN_RMA_AMO || a.op == TN_RMA_SEND))
		a.flags |= TN_RMA_ASK;
	if (a.op == TN_RMA_PUT && rnd_one_in(r, 3)) {
		a.flags |= TN_RMA_NOTIFY;
		a.compare = a.addr - a.addr % 8 + 8 * rnd_below(r, 3) + (odd && rnd_one_in(r, 3));
	}
	if (a.op == TN_RMA_GET)
		a.bytes = rnd_below(r, MODEL_DATA_MAX + odd * 9);
	if (a.op == TN_RMA_AMO)
		a.slot = rnd_one_in(r, 2) ? TN_RMA_POSTED : 0;
	if (a.op == TN_RMA_FE) {
		a.fe_op = (u8)rnd_below(r, odd ? 8 : TN_FE_OPS);
		a.type = odd ? a.type : TN_AMO_U64;
		a.q = (u8)rnd_below(r, odd ? 4 : 3);
		a.r = (u8)rnd_below(r, odd ? 4 : 3);
		a.cmp = compares[rnd_below(r, 4)];
		if (!odd && a.fe_op >= TN_FE_WAIT)
			a.q = TN_FE_ANY;
		if (!odd && a.fe_op >= TN_FE_PURGE)
			a.r = TN_FE_ANY;
	}
	return a;
}

static void issue_one(struct world *w)
{
	struct op *op = &w->op[w->ops];
	u8 data[MODEL_DATA_MAX];
	u32 bytes = 0;

	if (w->ops == OPS)
		return;
	*op = (struct op) { .ask = random_request(&w->r), .src = rnd_below(&w->r, NODES) };
	op->dst = (op->src + 1 + rnd_below(&w->r, NODES - 1)) % NODES;
	op->since = w->now;
	rnd_fill(&w->r, data, sizeof(data));
	if (op->ask.op == TN_RMA_PUT || op->ask.op == TN_RMA_SEND)
		bytes = rnd_one_in(&w->r, 3) ? rnd_below(&w->r, sizeof(data) + 1) : 8;
	w->issuing = op;
	op->slot = tn_rma_issue(&w->node[op->src].initiator, op->dst, &op->ask, data, bytes,
				w->ops, w->now);
	expect(&w->r, op->slot >= 0 || op->slot == -EAGAIN, "%d", op->slot);
	if (op->slot >= 0)
		w->ops++;
}

static struct packet pop(struct channel *c)
{
	struct packet p = c->packet[0];

	c->n--;
	memmove(c->packet, c->packet + 1, sizeof(p) * c->n);
	return p;
}

/* The product's memory and bits are those of the naive owner, if all words are served. */
static void compare_node(struct world *w, struct node *n)
{
	if (!tn_rma_owner_poll(&n->owner))
		return;
	expect(&w->r, !memcmp(n->memory, n->model.memory, sizeof(n->memory)), "node %u",
	       id_of(n));
	for (u64 i = 0; i < MODEL_WORDS; i++)
		expect(&w->r, tn_fe_is_full(&n->bits, i) == n->model.full[i], "word %u", (u32)i);
	expect(&w->r, n->pool.waiting == n->model.waits, "%u wait", n->pool.waiting);
	expect(&w->r, n->bits.waiting == n->model.waits, "%u wait here", n->bits.waiting);
	expect(&w->r, !n->bits.quota || n->quota.waiting == n->model.waits, "the quota");
}

static void deliver(struct world *w, u32 src, u32 dst, enum tn_rma_way way)
{
	struct channel *c = &w->channel[src][dst][way];
	struct node *n = &w->node[dst];
	struct model_fate none = { 0 };
	struct tn_rma_ask ask;
	struct packet p;
	int result;
	u32 head;

	if (!c->n)
		return;
	if (way == TN_RMA_REPLIES) {
		p = pop(c);
		tn_rma_initiator_take(&n->initiator, src, p.payload, p.bytes, w->now);
		return;
	}
	p = c->packet[0];
	n->denied = false;
	result = tn_rma_owner_take(&n->owner, src, p.payload, p.bytes, w->now);
	if (result == -EAGAIN)
		return;
	expect(&w->r, !result, "%d", result);
	pop(c);
	if (n->denied)		/* a RESET, which is ignored */
		return;
	head = tn_rma_ask_get(p.payload, p.bytes, &ask);
	expect(&w->r, head, "op %u", p.payload[0]);
	model_take(&n->model, src, &ask, p.payload + head, p.bytes - head,
		   p.op ? &p.op->fate : &none);
	compare_node(w, n);
}

static bool is_restarted(void *ctx, u32 node)
{
	return node == *(u32 *)ctx;
}

static void restart(struct world *w, u32 id, bool reported)
{
	/* The naive owner has no waiters that are still to be served. */
	for (u32 d = 0; d < NODES; d++)
		if (!tn_rma_owner_poll(&w->node[d].owner))
			return;
	for (unsigned int i = 0; i < w->ops; i++)
		w->op[i].orphan |= w->op[i].src == id && !w->op[i].ended;
	for (u32 d = 0; d < NODES && reported; d++) {
		tn_rma_peers_died(&w->node[d].initiator, is_restarted, &id);
		if (d != id)	/* the naive owner ends what waits, too */
			tn_rma_owner_forget(&w->node[d].owner, id);
		for (unsigned int i = w->node[d].model.waits; d != id && i-- > 0;) {
			struct model *m = &w->node[d].model;

			if (m->wait[i].src != id)
				continue;
			m->waits--;
			memmove(m->wait + i, m->wait + i + 1, sizeof(m->wait[0]) * (m->waits - i));
		}
	}
	start_node(&w->node[id]);
}

static void fail_something(struct world *w)
{
	u32 src = rnd_below(&w->r, NODES), dst = rnd_below(&w->r, NODES);
	enum tn_rma_way way = rnd_below(&w->r, 2);
	struct channel *c = &w->channel[src][dst][way];
	struct packet p;

	if (rnd_one_in(&w->r, 8)) {
		restart(w, src, rnd_one_in(&w->r, 2));
		return;
	}
	if (!c->n)
		return;
	p = pop(c);
	if (way == TN_RMA_REQUESTS && rnd_one_in(&w->r, 2))
		tn_rma_returned(&w->node[src].initiator, dst, p.payload, p.bytes, 0, w->now);
}

static void poll_all(struct world *w)
{
	for (u32 i = 0; i < NODES; i++) {
		tn_rma_initiator_poll(&w->node[i].initiator, w->now);
		tn_rma_owner_poll(&w->node[i].owner);
	}
}

static void cancel_one(struct world *w)
{
	struct op *op = &w->op[rnd_below(&w->r, w->ops ? w->ops : 1)];

	if (w->ops && !op->ended && !op->orphan && op->ask.op == TN_RMA_FE)
		tn_rma_cancel(&w->node[op->src].initiator, (u16)op->slot, &op->ask);
}

static void step(struct world *w)
{
	unsigned int what = rnd_below(&w->r, 100);

	if (what < 30)
		issue_one(w);
	else if (what < 94)
		deliver(w, rnd_below(&w->r, NODES), rnd_below(&w->r, NODES), rnd_below(&w->r, 2));
	else if (what < 96)
		cancel_one(w);
	else if (what < 99 || !w->faults)
		w->now += rnd_below(&w->r, RMA_TIME / 4);
	else
		fail_something(w);
	poll_all(w);
}

/* Without further faults, all that is open ends, whatever waits being cancelled. */
/* The counters say how the operations ended. */
static void compare_counts(struct world *w, const struct node *n)
{
	const struct tn_rma_initiator_counts *c = &n->initiator.count;
	const u64 counted[] = { c->done, c->refused, c->unreachable, c->lost, c->unknown };

	for (unsigned int status = 0; status < ARRAY_SIZE(counted); status++)
		expect(&w->r, counted[status] == n->ends[status], "status %u: %ju, not %ju", status,
		       (uintmax_t)counted[status], (uintmax_t)n->ends[status]);
}

static void end_all(struct world *w)
{
	u64 end = w->now + (TN_RMA_QUERIES + 4) * RMA_TIME;

	for (; w->now < end; w->now += RMA_TIME / 50) {
		for (u32 i = 0; i < 4 * NODES * NODES * 2; i++)
			deliver(w, i / 2 % NODES, i / 2 / NODES % NODES, i % 2);
		for (unsigned int i = 0; i < w->ops; i++)
			if (!w->op[i].ended && !w->op[i].orphan && w->op[i].ask.op == TN_RMA_FE &&
			    rnd_one_in(&w->r, 8))
				tn_rma_cancel(&w->node[w->op[i].src].initiator,
					      (u16)w->op[i].slot, &w->op[i].ask);
		poll_all(w);
	}
	for (unsigned int i = 0; i < w->ops; i++) {
		const struct op *op = &w->op[i];

		expect(&w->r, op->ended || op->orphan, "operation %u, op %u", i, op->ask.op);
		if (op->ended && (op->end.status == TN_RMA_LOST ||
				  op->end.status == TN_RMA_UNREACHABLE))
			expect(&w->r, !op->fate.executed, "operation %u, op %u", i, op->ask.op);
	}
	for (u32 i = 0; i < NODES; i++) {
		expect(&w->r, !w->node[i].initiator.count.forged, "node %u", i);
		compare_node(w, &w->node[i]);
		compare_counts(w, &w->node[i]);
	}
}

static void run_seed(uint64_t seed, bool faults)
{
	make_world(seed, faults);
	for (unsigned int i = 0; i < 4000; i++)
		step(&world);
	end_all(&world);
}

static void whole_seed(uint64_t seed)
{
	run_seed(seed, false);
}

static void faulty_seed(uint64_t seed)
{
	run_seed(seed, true);
}

static void whole_runs_complete_each_operation_once(void **state)
{
	(void)state;
	for_seeds(100, whole_seed);
}

static void faulty_runs_complete_each_operation_at_most_once(void **state)
{
	(void)state;
	for_seeds(400, faulty_seed);
}

/* Issues a PUT of 8 bytes from node 0 to node 1 that does not ask for its acknowledgement. */
static void put_unasked(struct world *w, u32 key)
{
	struct op *op = &w->op[w->ops];
	u8 data[8] = { 0 };

	*op = (struct op) {
		.ask = { .op = TN_RMA_PUT, .flags = TN_RMA_KEYED, .job = MODEL_JOB, .key = key },
		.dst = 1,
	};
	w->issuing = op;
	op->slot = tn_rma_issue(&w->node[0].initiator, 1, &op->ask, data, sizeof(data), w->ops++,
				w->now);
	assert_true(op->slot >= 0);
}

/*
 * Nothing else would ask for the acknowledgement of those around it, as when the rest of a long PUT
 * is not issued any more.
 */
static void puts_around_refused_one_end_without_waiting(void **state)
{
	static const u32 keys[] = { MODEL_KEY, MODEL_KEY ^ 1, MODEL_KEY, MODEL_KEY ^ 1, MODEL_KEY };
	struct world *w = &world;

	(void)state;
	make_world(1, false);
	w->channel[0][0][TN_RMA_REQUESTS].room = w->channel[1][0][TN_RMA_REPLIES].room = 8;
	for (int round = 1; round <= 2; round++) {
		w->ops = 0;
		for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++)
			put_unasked(w, keys[i]);
		for (int i = 0; i < 20; i++) {
			deliver(w, 0, 1, TN_RMA_REQUESTS);
			deliver(w, 1, 0, TN_RMA_REPLIES);
		}
		for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
			assert_true(w->op[i].ended);
			assert_int_equal(w->op[i].end.status, keys[i] == MODEL_KEY ?
					 TN_RMA_DONE : TN_RMA_REFUSED);
		}
		assert_int_equal(w->node[0].initiator.count.queries, round);
	}
}

static u8 alien_out[PAYLOAD];
static bool alien_full;

static u8 *alien_room(void *host, enum tn_rma_way way, u32 dst)
{
	(void)host, (void)way, (void)dst;
	return alien_full ? NULL : alien_out;
}

static void alien_send(void *host, enum tn_rma_way way, u32 dst, u32 bytes)
{
	(void)host, (void)way, (void)dst, (void)bytes;
}

/* A reply that names a slot which the initiator does not have is late, and no such slot is read. */
static void reply_to_unknown_slot_is_late(void **state)
{
	static const struct tn_rma_initiator_ops ops = { .net = { .room = alien_room, .send = alien_send } };
	/* allocated by itself, so that AddressSanitizer finds reads behind it */
	struct tn_rma_open *slot = malloc(sizeof(*slot));
	struct tn_rma_open more[2] = { [1] = { .op = TN_RMA_GET, .peer = 1 } };
	struct tn_rma_reply reply = { .op = TN_RMA_OLD };
	struct tn_rma_initiator i;
	struct tn_rma_peer peer[TN_RMA_PIECE], *piece[1] = { peer };
	u8 flits[2 * TN_RMA_FLIT];
	u32 n;

	(void)state;
	assert_non_null(slot);
	memset(slot, 0, sizeof(*slot));
	tn_rma_initiator_init(&i, &ops, NULL, piece, 2, slot, 1, RMA_TIME, 1);
	tn_rma_initiator_extend(&i, 1, peer);
	for (n = 0; n < 3; n++) {
		reply.slot = (u16)n;
		tn_rma_initiator_take(&i, 1, flits, tn_rma_reply_put(flits, &reply), 0);
	}
	assert_int_equal(i.count.late, 3);
	assert_int_equal(i.count.forged, 0);
	free(slot);
	/* Also if what lies after the last slot looks like an open operation. */
	tn_rma_initiator_init(&i, &ops, NULL, piece, 2, more, 1, RMA_TIME, 1);
	reply.slot = 1;
	tn_rma_initiator_take(&i, 1, flits, tn_rma_reply_put(flits, &reply), 0);
	assert_int_equal(i.count.late, 1);
}

static u8 alien_end;

static void alien_done(void *host, u64 cookie, const struct tn_rma_end *end)
{
	(void)host, (void)cookie;
	alien_end = end->status;
}

/* Takes a STATUS that says so, without waiters, of the epoch 5. */
static void take_alien_status(struct tn_rma_initiator *i, u8 why, u32 number, u32 next)
{
	struct tn_rma_reply reply = {
		.op = TN_RMA_STATUS, .why = why, .number = number, .value = next | 5ull << 32,
	};
	u8 flits[2 * TN_RMA_FLIT];

	tn_rma_initiator_take(i, 1, flits, tn_rma_reply_put(flits, &reply), 0);
}

/* An owner that claims to have executed more than was sent to it is believed nothing. */
static void status_beyond_last_operation_is_forged(void **state)
{
	static const struct tn_rma_initiator_ops ops = {
		.net = { .room = alien_room, .send = alien_send }, .done = alien_done,
	};
	const struct tn_rma_ask put = { .op = TN_RMA_PUT, .flags = TN_RMA_KEYED };
	struct tn_rma_initiator i;
	struct tn_rma_peer peer[TN_RMA_PIECE], *piece[1];

	(void)state;
	for (u32 beyond = 0; beyond < 3; beyond++) {
		struct tn_rma_open slot[2] = { 0 };

		tn_rma_initiator_init(&i, &ops, NULL, piece, 2, slot, 2, RMA_TIME, 1);
		tn_rma_initiator_extend(&i, 1, peer);
		assert_true(tn_rma_issue(&i, 1, &put, (const u8 *)"x", 1, 1, 0) >= 0);
		take_alien_status(&i, TN_RMA_RESET, peer[1].base, peer[1].base);
		assert_int_equal(peer[1].state, TN_RMA_PEER_KNOWN);
		alien_end = 0xff;
		take_alien_status(&i, TN_RMA_QUERY, peer[1].next, peer[1].next + beyond);
		assert_int_equal(alien_end, beyond ? TN_RMA_UNKNOWN : TN_RMA_DONE);
		assert_int_equal(i.count.forged, beyond > 0);
		assert_int_equal(peer[1].state, beyond ? TN_RMA_PEER_UNKNOWN : TN_RMA_PEER_KNOWN);
	}
}

static bool alien_holds(void *host, u32 dst)
{
	(void)host, (void)dst;
	return false;
}

/*
 * After a gap no operation can be issued until the open ones before it have ended, so the owner is
 * asked for these at once, and not after the time for which it may be silent.
 */
static void owner_is_asked_at_once_for_operations_before_gap(void **state)
{
	static const struct tn_rma_initiator_ops ops = {
		.net = { .room = alien_room, .send = alien_send }, .done = alien_done,
		.holds = alien_holds,
	};
	const struct tn_rma_ask get = { .op = TN_RMA_GET, .flags = TN_RMA_KEYED, .bytes = 8 };
	const struct tn_rma_ask put = { .op = TN_RMA_PUT, .flags = TN_RMA_KEYED };
	struct tn_rma_reply gap = {
		.op = TN_RMA_NAK, .why = TN_RMA_GAP, .slot = TN_RMA_POSTED,
	};
	struct tn_rma_initiator i;
	struct tn_rma_peer peer[TN_RMA_PIECE], *piece[1];
	struct tn_rma_open slot[2] = { 0 };
	u8 flits[2 * TN_RMA_FLIT];

	(void)state;
	tn_rma_initiator_init(&i, &ops, NULL, piece, 2, slot, 2, RMA_TIME, 1);
	tn_rma_initiator_extend(&i, 1, peer);
	assert_true(tn_rma_issue(&i, 1, &get, NULL, 0, 1, 0) >= 0);
	assert_true(tn_rma_issue(&i, 1, &put, (const u8 *)"x", 1, 2, 0) >= 0);
	take_alien_status(&i, TN_RMA_RESET, peer[1].base, peer[1].base);
	assert_int_equal(tn_rma_initiator_poll(&i, 9), RMA_TIME);
	assert_int_equal(i.count.queries, 0);
	gap.number = peer[1].next - 1;
	gap.value = gap.number | 5ull << 32;
	tn_rma_initiator_take(&i, 1, flits, tn_rma_reply_put(flits, &gap), 10);
	assert_int_equal(alien_end, TN_RMA_LOST);
	assert_int_equal(peer[1].open, 1);
	assert_int_equal(tn_rma_issue(&i, 1, &put, (const u8 *)"x", 1, 3, 10), -EAGAIN);
	assert_int_equal(tn_rma_initiator_poll(&i, 10), 10 + RMA_TIME);
	assert_int_equal(i.count.queries, 1);
}

static const struct tn_rma_initiator_ops alien_ops = {
	.net = { .room = alien_room, .send = alien_send }, .done = alien_done,
	.holds = alien_holds,
};
static const struct tn_rma_ask alien_put = { .op = TN_RMA_PUT, .flags = TN_RMA_KEYED };
static const struct tn_rma_ask alien_fe = { .op = TN_RMA_FE, .flags = TN_RMA_KEYED };

/* Makes an initiator with an open PUT, whose RESET the owner at node 1 has confirmed. */
static void begin_alien(struct tn_rma_initiator *i, struct tn_rma_peer *peer,
			struct tn_rma_peer **piece, struct tn_rma_open *slot, u32 slots)
{
	memset(slot, 0, sizeof(*slot) * slots);
	tn_rma_initiator_init(i, &alien_ops, NULL, piece, 2, slot, slots, RMA_TIME, 1);
	tn_rma_initiator_extend(i, 1, peer);
	assert_int_equal(tn_rma_issue(i, 1, &alien_put, (const u8 *)"x", 1, 1, 0), 0);
	take_alien_status(i, TN_RMA_RESET, peer[1].base, peer[1].base);
	assert_int_equal(i->count.resets, 1);
	alien_end = 0xff;
}

static void operation_needs_free_slot(void **state)
{
	struct tn_rma_initiator i;
	struct tn_rma_peer peer[TN_RMA_PIECE], *piece[1];
	struct tn_rma_open slot[2];

	(void)state;
	for (u32 slots = 1; slots <= 2; slots++) {
		begin_alien(&i, peer, piece, slot, slots);
		assert_int_equal(tn_rma_issue(&i, 1, &alien_fe, NULL, 0, 2, 0),
				 slots == 1 ? -EAGAIN : 1);
		assert_int_equal(i.count.issued, slots);
	}
}

/* Return: what the reply to a numbered operation ended, or 0xff; it is late if it ended nothing. */
static u8 answer(struct tn_rma_initiator *i, u32 src, u16 slot, u32 number)
{
	const struct tn_rma_reply reply = { .op = TN_RMA_OLD, .slot = slot, .number = number };
	const u64 late = i->count.late;
	u8 flits[2 * TN_RMA_FLIT];

	alien_end = 0xff;
	tn_rma_initiator_take(i, src, flits, tn_rma_reply_put(flits, &reply), 0);
	assert_int_equal(i->count.late, late + (alien_end == 0xff));
	return alien_end;
}

/* A posted operation has no reply of its own, and a free slot has no operation. */
static void reply_ends_only_operation_that_has_one(void **state)
{
	struct tn_rma_initiator i;
	struct tn_rma_peer peer[TN_RMA_PIECE], *piece[1];
	struct tn_rma_open slot[3];
	u32 number;

	(void)state;
	begin_alien(&i, peer, piece, slot, 3);
	assert_int_equal(tn_rma_issue(&i, 1, &alien_fe, NULL, 0, 2, 0), 1);
	number = slot[1].number;
	assert_int_equal(answer(&i, 1, 0, slot[0].number), 0xff);
	assert_int_equal(answer(&i, 0, 2, 0), 0xff);
	assert_int_equal(answer(&i, 0, 1, number), 0xff);
	assert_int_equal(answer(&i, 1, 1, number + 1), 0xff);
	assert_int_equal(answer(&i, 1, 1, number), TN_RMA_DONE);
	assert_int_equal(answer(&i, 1, 1, number), 0xff);
	assert_int_equal(peer[1].open, 1);
	assert_int_equal(i.count.forged, 0);
}

static void only_fe_of_known_slot_can_be_cancelled(void **state)
{
	struct tn_rma_initiator i;
	struct tn_rma_peer peer[TN_RMA_PIECE], *piece[1];
	struct tn_rma_open slot[3] = { [2] = { .op = TN_RMA_FE, .peer = 1 } };

	(void)state;
	begin_alien(&i, peer, piece, slot, 2);
	assert_int_equal(tn_rma_issue(&i, 1, &alien_fe, NULL, 0, 2, 0), 1);
	assert_int_equal(tn_rma_cancel(&i, 0, &alien_put), -ENOENT);
	assert_int_equal(tn_rma_cancel(&i, 2, &alien_fe), -ENOENT);
	alien_full = true;
	assert_int_equal(tn_rma_cancel(&i, 1, &alien_fe), -EAGAIN);
	alien_full = false;
	assert_int_equal(tn_rma_cancel(&i, 1, &alien_fe), 0);
}

static void take_reply(struct tn_rma_initiator *i, const struct tn_rma_reply *reply)
{
	u8 flits[2 * TN_RMA_FLIT];

	tn_rma_initiator_take(i, 1, flits, tn_rma_reply_put(flits, reply), 0);
}

/* An acknowledgement that ends no operation is late, and does not change what was refused. */
static void acknowledgement_of_no_open_operation_is_late(void **state)
{
	struct tn_rma_reply ack = { .op = TN_RMA_ACK, .slot = TN_RMA_POSTED, .refused = 1 };
	struct tn_rma_initiator i;
	struct tn_rma_peer peer[TN_RMA_PIECE], *piece[1];
	struct tn_rma_open slot[2];

	(void)state;
	begin_alien(&i, peer, piece, slot, 2);
	ack.number = slot[0].number;
	take_reply(&i, &ack);
	assert_int_equal(i.count.late, 1);
	ack.number++;
	ack.refused = 0;
	take_reply(&i, &ack);
	assert_int_equal(i.count.late, 1);
	assert_int_equal(alien_end, TN_RMA_DONE);
}

/* A RESET that comes back after it was confirmed has no effect. */
static void confirmed_reset_cannot_come_back(void **state)
{
	struct tn_rma_ask reset = { .op = TN_RMA_RESET };
	struct tn_rma_initiator i;
	struct tn_rma_peer peer[TN_RMA_PIECE], *piece[1];
	struct tn_rma_open slot[2];
	u8 flits[TN_RMA_HEAD_MAX];

	(void)state;
	begin_alien(&i, peer, piece, slot, 2);
	reset.number = peer[1].base;
	tn_rma_returned(&i, 1, flits, tn_rma_ask_put(flits, &reset), 0, 0);
	assert_int_equal(alien_end, 0xff);
	assert_int_equal(peer[1].state, TN_RMA_PEER_KNOWN);
}

/* After the STATUS the next refused operation has a query of its own, although an FE is open. */
static void each_refusal_after_status_has_a_query(void **state)
{
	struct tn_rma_initiator i;
	struct tn_rma_peer peer[TN_RMA_PIECE], *piece[1];
	struct tn_rma_open slot[4];

	(void)state;
	begin_alien(&i, peer, piece, slot, 4);
	assert_int_equal(tn_rma_issue(&i, 1, &alien_fe, NULL, 0, 2, 0), 1);
	for (u32 round = 1; round <= 2; round++) {
		struct tn_rma_reply nak = {
			.op = TN_RMA_NAK, .why = TN_RMA_BOUNDS, .slot = TN_RMA_POSTED,
		};
		struct tn_rma_reply status = {
			.op = TN_RMA_STATUS, .why = TN_RMA_QUERY, .slot = 1, .refused = round,
		};

		assert_true(tn_rma_issue(&i, 1, &alien_put, (const u8 *)"x", 1, 3, 0) >= 0);
		if (round == 2)
			assert_true(tn_rma_issue(&i, 1, &alien_put, (const u8 *)"x", 1, 4, 0) >= 0);
		nak.number = slot[peer[1].posted.first].number;
		take_reply(&i, &nak);
		assert_int_equal(i.count.queries, round);
		status.number = peer[1].next;
		status.value = peer[1].next | 5ull << 32;
		take_reply(&i, &status);
		assert_int_equal(peer[1].open, 1);
	}
	assert_int_equal(i.count.late, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_beyond_last_operation_is_forged),
		cmocka_unit_test(owner_is_asked_at_once_for_operations_before_gap),
		cmocka_unit_test(acknowledgement_of_no_open_operation_is_late),
		cmocka_unit_test(confirmed_reset_cannot_come_back),
		cmocka_unit_test(each_refusal_after_status_has_a_query),
		cmocka_unit_test(operation_needs_free_slot),
		cmocka_unit_test(reply_ends_only_operation_that_has_one),
		cmocka_unit_test(only_fe_of_known_slot_can_be_cancelled),
		cmocka_unit_test(reply_to_unknown_slot_is_late),
		cmocka_unit_test(puts_around_refused_one_end_without_waiting),
		cmocka_unit_test(whole_runs_complete_each_operation_once),
		cmocka_unit_test(faulty_runs_complete_each_operation_at_most_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
