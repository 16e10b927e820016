// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remote memory between NICs of a torus, while cables have errors and are cut, packets are parked,
 * replayed and relayed, and hosts send messages. Each node has a region for each other node, and
 * for itself, in all others. So what an operation must find there follows from the order in which
 * it was issued: a shadow is changed at the issue, and each result is compared with it. The last
 * words of a region have full/empty bits; a read of one may wait until this node writes it.
 */
#include <torus/topology.h>
#include "lib/util/times.h"
#include "tests/unit/fabric.h"
#include "kernel/core/rma_nic.h"

#define NODES_MAX	9
/* bytes of a region, before the words with full/empty bits */
#define BYTES		512
#define FE_WORDS	4
#define WORDS		(BYTES / 8 + FE_WORDS)
#define WAITS		2		/* most waits of a node at another one */
#define DATA_MAX	200		/* most bytes of a PUT or GET */
#define OPS		3000
#define SLOTS		64
#define KEY		0x01abcdef

struct op {
	u64 value;
	u8 data[DATA_MAX];
	u32 bytes;
	u32 src, dst;
	u8 op;
	bool posted, ended;
	u8 status;
};

/**
 * struct host - the memory of a node, and how it should be
 * @reader: for each other node and word, the operation that waits for it; NULL: none
 * @waits: how many wait
 */
struct host {
	u32 id;
	u64 memory[NODES_MAX][WORDS], shadow[NODES_MAX][WORDS];
	u64 full[NODES_MAX][2], waiting[NODES_MAX][2];
	bool is_full[NODES_MAX][FE_WORDS];
	struct op *reader[NODES_MAX][FE_WORDS];
	u32 waits[NODES_MAX];
	struct tn_fe_bits bits[NODES_MAX];
	struct tn_rma_region region[NODES_MAX];
	struct tn_fe_pool pool;
	struct tn_fe_wait wait[NODES_MAX * WAITS];
	struct tn_fe_wait *bucket[4];
	void *rma;
	u64 piece[512];
	bool has_piece;
};

static struct fabric f;
static struct host host[NODES_MAX];
static struct op ops[OPS + NODES_MAX * NODES_MAX * FE_WORDS];	/* the rest ends waits */
static unsigned int issued, ended;
static bool faultless;			/* each operation must be done */
static u64 parked, relayed, queries, late, waited, statuses[TN_RMA_UNKNOWN + 1];

static u8 *host_mem(void *h, u32 region, u64 offset, u64 *run)
{
	*run = 64 - offset % 64;
	return (u8 *)((struct host *)h)->memory[region] + offset;
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
	struct op *op = &ops[cookie];

	expect(&f.r, cookie < issued && !op->ended && op->src == ((struct host *)h)->id,
	       "operation %u ends", (u32)cookie);
	op->ended = true;
	op->status = end->status;
	statuses[end->status]++;
	ended++;
	expect(&f.r, !faultless || end->status == TN_RMA_DONE,
	       "operation %u of %u -> %u: status %u, reason %u", (u32)cookie, op->src, op->dst,
	       end->status, end->reason);
	if (end->status != TN_RMA_DONE || op->posted)
		return;
	if (op->op == TN_RMA_AMO || op->op == TN_RMA_FE)
		expect(&f.r, end->value == op->value, "operation %u: %#jx, not %#jx", (u32)cookie,
		       (uintmax_t)end->value, (uintmax_t)op->value);
	else
		expect(&f.r, end->bytes == op->bytes && !memcmp(end->data, op->data, op->bytes),
		       "operation %u: wrong bytes", (u32)cookie);
}

/* Memory for what is known of all nodes, which are fewer than TN_RMA_PIECE. */
static void *host_memory(void *h, size_t bytes)
{
	struct host *o = h;

	expect(&f.r, bytes <= sizeof(o->piece) && !o->has_piece, "%zu bytes", bytes);
	memset(o->piece, 0, sizeof(o->piece));
	o->has_piece = true;
	return o->piece;
}

static const struct tn_nic_rma_ops rma_ops = {
	.mem = host_mem, .space = host_space, .recv = host_recv, .done = host_done,
	.memory = host_memory,
};

static void open_one(struct host *h, u32 replies)
{
	struct tn_nic_rma_config cfg = {
		.ops = &rma_ops, .host = h, .region = h->region, .regions = f.n,
		.pool = &h->pool, .slots = SLOTS, .replies = replies,
		.rma_time = 100 * MS,
	};

	h->has_piece = false;
	memset(h->rma, 0, tn_nic_rma_size(&f.shape, SLOTS));
	expect(&f.r, !tn_nic_rma_open(f.node[h->id].nic, &cfg, h->rma, f.now), "open");
}

static void open_all(u32 replies)
{
	issued = ended = 0;
	expect(&f.r, f.n <= NODES_MAX, "%u nodes", f.n);
	for (u32 i = 0; i < f.n; i++) {
		struct host *h = &host[i];

		*h = (struct host) { .id = i };
		rnd_fill(&f.r, h->memory, sizeof(h->memory));
		memcpy(h->shadow, h->memory, sizeof(h->memory));
		for (u32 k = 0; k < f.n; k++) {
			h->bits[k] = (struct tn_fe_bits) {
				.full = h->full[k], .waits = h->waiting[k], .n = WORDS,
			};
			h->region[k] = (struct tn_rma_region) {
				.bytes = sizeof(h->memory[k]), .fe = &h->bits[k], .key = KEY,
				.access = TN_ACCESS_ALL,
			};
		}
		tn_fe_pool_init(&h->pool, h->wait, ARRAY_SIZE(h->wait), h->bucket, 4, 1);
		h->rma = aligned_alloc(64, tn_nic_rma_size(&f.shape, SLOTS));
		assert_non_null(h->rma);
		open_one(h, replies);
	}
}

static void close_all(void)
{
	for (u32 i = 0; i < f.n; i++) {
		const struct tn_rma_initiator *a = tn_nic_rma_initiator(f.node[i].nic);

		expect(&f.r, !a->count.forged, "node %u: forged replies", i);
		expect(&f.r, !tn_nic_rma_counts(f.node[i].nic)->reply_drops || !faultless,
		       "node %u dropped replies", i);
		parked += f.node[i].nic->counter[TORUS_NC_PARKED];
		relayed += f.node[i].nic->counter[TORUS_NC_RELAY_FORWARDED];
		queries += a->count.queries;
		late += a->count.late;
		waited += tn_nic_rma_owner(f.node[i].nic)->count.waited;
		tn_nic_rma_close(f.node[i].nic);
		free(host[i].rma);
	}
}

/* Changes the shadow as the operation will change the memory, and notes what it will return. */
static void cast_shadow(struct op *op, const struct tn_rma_ask *a, const u8 *data)
{
	u8 *at = (u8 *)host[op->dst].shadow[op->src] + a->addr;

	if (a->op == TN_RMA_PUT)
		memcpy(at, data, op->bytes);
	if (a->op == TN_RMA_GET)
		memcpy(op->data, at, op->bytes);
	if (a->op == TN_RMA_AMO) {
		op->value = tn_get_le64(at);
		tn_put_le64(at, op->value + a->value);
	}
}

static void issue_one(u32 src)
{
	static const u8 kinds[] = { TN_RMA_PUT, TN_RMA_PUT, TN_RMA_GET, TN_RMA_AMO, TN_RMA_AMO };
	struct tn_rma_ask a = {
		.op = kinds[rnd_below(&f.r, ARRAY_SIZE(kinds))], .flags = TN_RMA_KEYED, .region = src,
		.key = KEY, .amo = TN_AMO_ADD, .type = TN_AMO_U64, .value = rnd64(&f.r),
	};
	struct op *op = &ops[issued];
	u8 data[DATA_MAX];
	int slot;

	if (issued >= OPS)
		return;
	rnd_fill(&f.r, data, sizeof(data));
	*op = (struct op) { .src = src, .dst = rnd_below(&f.r, f.n), .op = a.op };
	if (a.op == TN_RMA_AMO) {
		a.addr = 8 * rnd_below(&f.r, BYTES / 8);
		a.slot = rnd_one_in(&f.r, 2) ? TN_RMA_POSTED : 0;
	} else {
		op->bytes = rnd_below(&f.r, DATA_MAX + 1);
		a.addr = rnd_below(&f.r, BYTES - op->bytes + 1);
		a.bytes = a.op == TN_RMA_GET ? op->bytes : 0;
	}
	op->posted = a.op == TN_RMA_PUT || (a.op == TN_RMA_AMO && a.slot == TN_RMA_POSTED);
	slot = tn_nic_rma_issue(f.node[src].nic, op->dst, &a, data,
				a.op == TN_RMA_PUT ? op->bytes : 0, issued, f.now);
	expect(&f.r, slot >= 0 || slot == -EAGAIN || (!faultless && slot == -EHOSTUNREACH),
	       "issue: %d", slot);
	if (slot < 0)
		return;
	cast_shadow(op, &a, data);
	issued++;
}

/*
 * Writes a word that is empty, or reads one; a read of an empty word waits. @write: only a write
 * that ends a wait. Return: false if it could not be issued.
 */
static bool issue_fe(u32 src, u32 dst, u32 word, bool write)
{
	struct host *o = &host[dst];
	u64 *shadow = &o->shadow[src][BYTES / 8 + word];
	struct op *reader = o->reader[src][word], *op = &ops[issued];
	bool is_full = o->is_full[src][word];
	bool reads = is_full || (!reader && o->waits[src] < WAITS && !write && rnd_one_in(&f.r, 2));
	const struct tn_rma_ask a = {
		.op = TN_RMA_FE, .flags = TN_RMA_KEYED, .region = src, .key = KEY,
		.addr = BYTES + 8 * word, .fe_op = reads ? TN_FE_READ : TN_FE_WRITE,
		.q = reads ? TN_FE_FULL : TN_FE_EMPTY, .r = reads ? TN_FE_EMPTY : TN_FE_FULL,
		.value = reads ? 0 : rnd64(&f.r),
	};

	if (issued >= OPS && !write)
		return false;
	*op = (struct op) { .src = src, .dst = dst, .op = TN_RMA_FE, .value = *shadow };
	if (tn_nic_rma_issue(f.node[src].nic, dst, &a, NULL, 0, issued, f.now) < 0)
		return false;
	issued++;
	o->is_full[src][word] = !reads && !reader;
	if (reads && !is_full) {
		o->reader[src][word] = op;
		o->waits[src]++;
	}
	if (reads)
		return true;
	*shadow = a.value;
	if (reader) {
		reader->value = a.value;
		o->reader[src][word] = NULL;
		o->waits[src]--;
	}
	return true;
}

/* Writes all words for which a read waits. */
static void end_waits(void)
{
	for (u32 src = 0; src < f.n; src++)
		for (u32 dst = 0; dst < f.n; dst++)
			for (u32 word = 0; word < FE_WORDS; word++)
				while (host[dst].reader[src][word] && !issue_fe(src, dst, word, true))
					fabric_step(&f);
}

static void run_ops(unsigned int steps)
{
	while (steps--) {
		for (u32 i = 0; i < f.n; i++)
			for (u32 k = rnd_below(&f.r, 3); k--;)
				if (rnd_one_in(&f.r, 5))
					issue_fe(i, rnd_below(&f.r, f.n),
						 rnd_below(&f.r, FE_WORDS), false);
				else
					issue_one(i);
		fabric_step(&f);
	}
}

/* All that is open ends, at the latest when the owners were asked for it. */
static void end_ops(void)
{
	u64 until = f.now + 2000 * MS;

	while (ended < issued) {
		fabric_step(&f);
		expect(&f.r, f.now < until, "%u of %u operations do not end", issued - ended, issued);
	}
}

static void compare_all(void)
{
	for (u32 i = 0; i < f.n; i++)
		expect(&f.r, !memcmp(host[i].memory, host[i].shadow, sizeof(host[i].memory)),
		       "memory of node %u", i);
}

static void damage_cables(unsigned int one_in)
{
	for (u32 i = 0; i < f.n; i++)
		for (unsigned int p = 0; p < f.nports; p++)
			f.node[i].out[p].damage = f.node[i].out[p].lose = one_in;
}

/* A cable is cut and comes back, with a recovery each time. */
static void cut_one(void)
{
	u32 node = rnd_below(&f.r, f.n);
	unsigned int p = rnd_below(&f.r, f.nports);

	fabric_carrier(&f, node, p, false);
	run_ops(rnd_below(&f.r, 40));
	fabric_recover(&f, 3000 * MS);
	run_ops(rnd_below(&f.r, 100));
	fabric_carrier(&f, node, p, true);
	run_ops(rnd_below(&f.r, 300));
	fabric_recover(&f, 3000 * MS);
}

/* Leads to each node that is not a neighbour by way of a neighbour that is nearer to it. */
static void relay_rows(struct fabric *t, u32 node, uint64_t *rows)
{
	for (u32 i = 0; i < t->n; i++) {
		u32 dist = torus_distance(&t->shape, node, i), via = node;

		for (unsigned int p = 0; p < t->nports && dist > 1; p++) {
			u32 next = torus_neighbour(&t->shape, node, p);

			if (torus_distance(&t->shape, next, i) < dist && (via == node || rnd64(&t->r) % 2))
				via = next;
		}
		if (via != node)
			rows[i] = (rows[via] & ~(TORUS_ROW_ADAPTIVE | TORUS_ROW_RELAY |
						 TORUS_ROW_NODE_MASK << TORUS_ROW_RELAY_SHIFT)) |
				  TORUS_ROW_RELAY | (u64)via << TORUS_ROW_RELAY_SHIFT;
	}
}

static void tune_relays(struct fabric *t)
{
	t->relays = true;
	t->reroute = relay_rows;
	t->params.relay_packets = 16;
}

static void whole_one(uint64_t seed)
{
	static const char *const shapes[] = { "2", "3", "2x2", "3x2", "3x3" };

	faultless = true;
	fabric_start_tuned(&f, seed, shapes[seed % ARRAY_SIZE(shapes)], seed % 2 ? tune_relays : NULL);
	f.load = seed % 3 ? 0 : 4;
	f.busy_host = 3;
	open_all(seed % 4 ? 64 : 1);
	damage_cables(seed % 7 ? 40 : 0);
	run_ops(100);
	for (int i = 0; i < 3; i++)
		cut_one();
	run_ops(100);
	end_waits();
	end_ops();
	damage_cables(0);
	fabric_settle(&f, 3000 * MS);
	compare_all();
	expect(&f.r, issued > 200, "%u operations", issued);
	close_all();
	fabric_end(&f);
}

/* All memory is as the shadow says, although cables were cut and damaged meanwhile. */
static void remote_memory_equals_shadow_after_cuts_and_errors(void **state)
{
	(void)state;
	for_seeds(40, whole_one);
	print_message("# %ju done, %ju packets parked, %ju relayed, %ju queries, %ju waited\n",
		      (uintmax_t)statuses[TN_RMA_DONE], (uintmax_t)parked, (uintmax_t)relayed,
		      (uintmax_t)queries, (uintmax_t)waited);
	if (!getenv("SEED") && !getenv("EVERY"))
		assert_true(parked > 500 && relayed > 100 && queries > 10 && waited > 1000);
}

/* --- saturation ------------------------------------------------------------------------------ */

/* The smallest number of buffers. */
static void tune_tight(struct fabric *t)
{
	t->params.slots = 4;
	t->params.retry_packets = 1 + rnd_below(&t->r, 16);
	t->max_flits = 4;
}

/*
 * All nodes ask for more than the torus can carry, and hosts send on all VCs; an owner has room for
 * one reply. Requests wait for replies, and replies must never wait for requests.
 */
static void saturate_one(uint64_t seed)
{
	static const char *const shapes[] = { "3", "4", "2x2", "3x3" };

	faultless = true;
	fabric_start_tuned(&f, seed, shapes[seed % ARRAY_SIZE(shapes)], tune_tight);
	f.load = 2;
	open_all(1);
	for (int i = 0; i < 300; i++) {
		for (u32 k = 0; k < 40 * f.n; k++)
			issue_one(k % f.n);
		fabric_step(&f);
	}
	end_ops();
	fabric_settle(&f, 20000 * MS);
	compare_all();
	expect(&f.r, issued > 500, "%u operations", issued);
	close_all();
	fabric_end(&f);
}

static void replies_pass_in_saturated_torus(void **state)
{
	(void)state;
	memset(statuses, 0, sizeof(statuses));
	queries = 0;
	for_seeds(8, saturate_one);
	print_message("# %ju done, %ju queries\n", (uintmax_t)statuses[TN_RMA_DONE],
		      (uintmax_t)queries);
}

/* --- an owner that is cut off ------------------------------------------------------------ */

#define PUTS	24

static u64 frames_left;

/* Lets this many frames of the initiator pass; then its cables are dead. */
static bool pass_some(void *arg, u64 number, const struct frame *frame)
{
	(void)arg, (void)number, (void)frame;
	if (!frames_left)
		return false;
	frames_left--;
	return true;
}

/* Puts i + 1 into word i. */
static bool put_word(u32 i)
{
	const struct tn_rma_ask a = {
		.op = i % 3 ? TN_RMA_PUT : TN_RMA_AMO, .flags = TN_RMA_KEYED, .key = KEY, .addr = 8 * i,
		.amo = TN_AMO_SWAP, .type = TN_AMO_U64, .value = i + 1,
		.slot = i % 2 ? TN_RMA_POSTED : 0,
	};
	u64 word = i + 1;

	ops[i] = (struct op) { .src = 0, .dst = 1, .op = a.op, .posted = true };
	if (tn_nic_rma_issue(f.node[0].nic, 1, &a, (const u8 *)&word, i % 3 ? 8 : 0, i, f.now) < 0)
		return false;
	issued++;
	return true;
}

/* The results agree with the memory of the owner, which executed a prefix. */
static void compare_prefix(void)
{
	bool over = false;

	for (u32 i = 0; i < issued; i++) {
		bool executed = host[1].memory[0][i] == i + 1;

		expect(&f.r, !executed || !over, "word %u is written, one before it is not", i);
		over |= !executed;
		expect(&f.r, ops[i].ended, "operation %u has not ended", i);
		expect(&f.r, ops[i].status != TN_RMA_DONE || executed, "word %u is not written", i);
		expect(&f.r, executed ? ops[i].status == TN_RMA_DONE || ops[i].status == TN_RMA_UNKNOWN :
		       ops[i].status != TN_RMA_DONE, "word %u: status %u", i, ops[i].status);
	}
}

/* All cables of the owner are cut after some frames. */
static void cut_off_one(uint64_t seed)
{
	faultless = false;
	fabric_start(&f, seed, "2");
	open_all(4);
	memset(host[1].memory, 0xff, sizeof(host[1].memory));
	frames_left = seed / 2 % 60;
	for (unsigned int p = 0; p < 2; p++)
		f.node[0].out[p].filter = pass_some;
	for (u32 i = 0; i < PUTS && put_word(i); i++)
		if (rnd_one_in(&f.r, 2))
			fabric_step(&f);
	for (int i = 0; i < 400 && frames_left; i++)
		fabric_step(&f);
	for (unsigned int p = 0; p < 2; p++)
		fabric_carrier(&f, 0, p, false);
	fabric_recover(&f, 3000 * MS);
	expect(&f.r, ended == issued, "%u of %u operations outlast the recovery", issued - ended,
	       issued);
	compare_prefix();
	/* It comes back; operations go on behind a RESET. */
	for (unsigned int p = 0; p < 2; p++) {
		f.node[0].out[p].filter = NULL;
		fabric_carrier(&f, 0, p, true);
	}
	fabric_run(&f, 50 * MS);
	fabric_recover(&f, 3000 * MS);
	issued = ended = 0;
	memset(host[1].memory, 0xff, sizeof(host[1].memory));
	for (u32 i = 0; i < PUTS; i++)
		while (!put_word(i)) {
			fabric_step(&f);
			expect(&f.r, f.now < 60000 * MS, "no more operations");
		}
	end_ops();
	for (u32 i = 0; i < PUTS; i++)
		expect(&f.r, ops[i].status == TN_RMA_DONE && host[1].memory[0][i] == i + 1,
		       "operation %u after the return: %u", i, ops[i].status);
	close_all();
	fabric_end(&f);
}

static void operations_with_cut_off_owner_end_with_recovery(void **state)
{
	(void)state;
	memset(statuses, 0, sizeof(statuses));
	for_seeds(240, cut_off_one);
	print_message("# %ju done, %ju unreachable, %ju lost, %ju unknown\n",
		      (uintmax_t)statuses[TN_RMA_DONE], (uintmax_t)statuses[TN_RMA_UNREACHABLE],
		      (uintmax_t)statuses[TN_RMA_LOST], (uintmax_t)statuses[TN_RMA_UNKNOWN]);
	if (!getenv("SEED") && !getenv("EVERY"))
		assert_true(statuses[TN_RMA_UNREACHABLE] > 50 && statuses[TN_RMA_UNKNOWN] > 50);
}

/* --- an owner that restarts --------------------------------------------------------------- */

/* The owner ends remote memory while operations are on their way; then it begins anew. */
static void restart_one(uint64_t seed)
{
	u32 at = seed % PUTS;

	faultless = false;
	fabric_start(&f, seed, "2");
	open_all(4);
	memset(host[1].memory, 0xff, sizeof(host[1].memory));
	for (u32 i = 0; i < PUTS; i++) {
		if (i == at) {
			tn_nic_rma_close(f.node[1].nic);
			for (u32 k = rnd_below(&f.r, 4); k--;)
				fabric_step(&f);
			open_one(&host[1], 4);
		}
		while (!put_word(i))
			fabric_step(&f);
		if (rnd_one_in(&f.r, 2))
			fabric_step(&f);
	}
	end_ops();
	for (u32 i = 0; i < PUTS; i++) {
		bool executed = host[1].memory[0][i] == i + 1;

		expect(&f.r, executed ? ops[i].status == TN_RMA_DONE || ops[i].status == TN_RMA_UNKNOWN :
		       ops[i].status != TN_RMA_DONE, "word %u: status %u", i, ops[i].status);
	}
	issued = ended = 0;
	for (u32 i = 0; i < PUTS; i++)
		while (!put_word(i))
			fabric_step(&f);
	end_ops();
	for (u32 i = 0; i < PUTS; i++)
		expect(&f.r, ops[i].status == TN_RMA_DONE, "operation %u after the restart: %u", i,
		       ops[i].status);
	close_all();
	fabric_end(&f);
}

static void status_is_right_or_unknown_when_owner_restarts(void **state)
{
	(void)state;
	memset(statuses, 0, sizeof(statuses));
	for_seeds(240, restart_one);
	print_message("# %ju done, %ju unreachable, %ju lost, %ju unknown\n",
		      (uintmax_t)statuses[TN_RMA_DONE], (uintmax_t)statuses[TN_RMA_UNREACHABLE],
		      (uintmax_t)statuses[TN_RMA_LOST], (uintmax_t)statuses[TN_RMA_UNKNOWN]);
	if (!getenv("SEED") && !getenv("EVERY"))
		assert_true(statuses[TN_RMA_UNKNOWN] > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remote_memory_equals_shadow_after_cuts_and_errors),
		cmocka_unit_test(replies_pass_in_saturated_torus),
		cmocka_unit_test(operations_with_cut_off_owner_end_with_recovery),
		cmocka_unit_test(status_is_right_or_unknown_when_owner_restarts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
