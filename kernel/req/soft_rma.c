// SPDX-License-Identifier: GPL-2.0-only
/* Contexts of remote memory, their rings, and the callbacks of the core; see soft_rma.h. */
#include "soft_rma.h"

#define RMA_TIME	2000000000ull	/* silence after which a node gets a QUERY, ns */
#define AGAIN_TIME	1000000000ull
/* most replies that wait for a port; if there are more, requests wait */
#define REPLIES		64
#define STEPS		256		/* steps of rings after which others get a turn */

int tn_soft_rma_fail(struct torus_rma_call *call, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(call->why, sizeof(call->why), fmt, ap);
	va_end(ap);
	return err;
}

/* --- callbacks of the core ------------------------------------------------------- */

static u8 *find_memory(void *host, u32 region, u64 offset, u64 *run)
{
	const struct tn_soft_region *r = &((struct tn_soft_rma *)host)->owned[region];

	*run = r->bytes - offset;
	return r->mem + offset;
}

static const struct tn_window *find_space(void *host, u32 job)
{
	const struct tn_soft_space *s = tn_soft_space_find(host, job);

	return s ? &s->window : NULL;
}

/* The low 16 bits of the name of a context are its number. */
static u8 receive_send(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		       u64 *allowed)
{
	u16 id = (u16)ask->addr;
	struct tn_soft_context *ctx;

	ctx = id < TN_SOFT_CONTEXTS_MAX ? ((struct tn_soft_rma *)host)->context[id] : NULL;
	if (!ctx || !ctx->open)
		return TN_RMA_REGION;
	ctx->ready = true;
	return tn_rma_ring_recv(&ctx->ring, src, ask, data, bytes, allowed);
}

static void end_operation(void *host, u64 cookie, const struct tn_rma_end *end)
{
	struct tn_soft_context *ctx = ((struct tn_soft_rma *)host)->context[cookie >> 48];

	tn_rma_ring_done(&ctx->ring, cookie, end);
	ctx->ready = true;
}

/* Makes memory that exists until tn_soft_rma_leave(). */
static void *make_rma_memory(void *host, size_t bytes)
{
	struct tn_soft_rma *rma = host;
	struct tn_soft_block *block = rma->ops->alloc(sizeof(*block) + bytes);

	if (!block)
		return NULL;
	block->next = rma->memory->next;
	rma->memory->next = block;
	return block + 1;
}

static const struct tn_nic_rma_ops nic_calls = {
	.mem = find_memory, .space = find_space, .recv = receive_send, .done = end_operation,
	.memory = make_rma_memory,
};

/* --- callbacks of rings ------------------------------------------------------------ */

static struct tn_nic *nic_of(const struct tn_soft_rma *rma)
{
	return rma->soft->nic;
}

static int issue_request(void *host, u32 dst, const struct tn_rma_ask *ask, const u8 *data,
			 u32 bytes, u64 cookie, u64 now)
{
	return tn_nic_rma_issue(nic_of(host), dst, ask, data, bytes, cookie, now);
}

static int cancel_request(void *host, u16 slot, const struct tn_rma_ask *ask)
{
	return tn_rma_cancel(tn_nic_rma_initiator(nic_of(host)), slot, ask);
}

static u64 find_room(void *host, u32 id, u32 region, u64 offset)
{
	const struct tn_soft_rma *rma = host;
	const struct tn_soft_region *r;

	if (region >= TN_SOFT_REGIONS_MAX)
		return 0;
	r = &rma->owned[region];
	if (!r->mem || r->ctx->id != id || r->ends)
		return 0;
	return offset < r->bytes ? r->bytes - offset : 0;
}

static void wake_context(void *host, u32 id)
{
	struct tn_soft_rma *rma = host;

	rma->ops->wake(rma->context[id]);
}

static const struct tn_rma_ring_ops ring_calls = {
	.issue = issue_request, .cancel = cancel_request, .room = find_room, .mem = find_memory,
	.wake = wake_context,
};

/* --- the service ------------------------------------------------------------------- */

#define SLOTS	(TN_SOFT_CONTEXTS_MAX * TN_SOFT_ENTRIES_MAX)

/* Behind its head, to which a line is added for the alignment, is the memory of the core. */
struct rma_memory {
	struct tn_soft_block head;
	struct tn_fe_wait wait[TN_SOFT_WAITS];
	struct tn_fe_wait *bucket[TN_SOFT_WAITS];
};

size_t tn_soft_rma_size(const struct tn_soft_rma *rma)
{
	return sizeof(struct rma_memory) + 64 + tn_nic_rma_size(&rma->soft->shape, SLOTS);
}

int tn_soft_rma_begin(struct tn_soft_rma *rma, void **memory, u64 seed, u64 now,
		      struct torus_rma_call *call)
{
	struct tn_nic_rma_config cfg = {
		.ops = &nic_calls, .host = rma, .region = rma->region,
		.regions = TN_SOFT_REGIONS_MAX, .pool = &rma->pool, .slots = SLOTS,
		.replies = REPLIES, .rma_time = RMA_TIME,
	};
	struct rma_memory *m = *memory;
	int err;

	if (rma->memory)
		return 0;
	if (!rma->soft->hw.placed)
		return tn_soft_rma_fail(call, -EAGAIN, "the NIC has no place in a torus yet");
	if (!m)
		return tn_soft_rma_fail(call, -ENOMEM, "out of memory");
	rma->others.max = TN_SOFT_WAITS - TN_SOFT_ROOT_WAITS;
	tn_fe_pool_init(&rma->pool, m->wait, TN_SOFT_WAITS, m->bucket, TN_SOFT_WAITS, seed);
	err = tn_nic_rma_open(nic_of(rma), &cfg, (void *)(((unsigned long)(m + 1) + 63) & ~63ul),
			      now);
	if (err)
		return tn_soft_rma_fail(call, err, "the service of the NIC does not start");
	rma->memory = &m->head;
	*memory = NULL;
	return 0;
}

/* --- contexts ---------------------------------------------------------------------- */

/* Return: number of contexts of all users but root. */
static u32 count_contexts(const struct tn_soft_rma *rma)
{
	u32 n = 0;

	for (unsigned int i = 0; i < TN_SOFT_CONTEXTS_MAX; i++)
		n += rma->user[i].job ? rma->user[i].contexts : 0;
	return n;
}

/* Return: the entry of a user, or a free one. As each user has a context, there is one. */
static struct tn_soft_user *find_rma_user(struct tn_soft_rma *rma, u32 job)
{
	struct tn_soft_user *free = NULL;

	for (unsigned int i = 0; i < TN_SOFT_CONTEXTS_MAX; i++) {
		struct tn_soft_user *u = &rma->user[i];

		if (u->contexts && u->job == job)
			return u;
		if (!u->contexts && !free)
			free = u;
	}
	return free;
}

int tn_soft_rma_add(struct tn_soft_rma *rma, struct tn_soft_context *ctx, u32 user)
{
	struct tn_soft_user *u;
	u16 id = 0;

	u = find_rma_user(rma, user);
	if (user && u && u->contexts >= TN_SOFT_USER_CONTEXTS)
		return -EUSERS;
	if (user && count_contexts(rma) >= TN_SOFT_CONTEXTS_MAX - TN_SOFT_ROOT_CONTEXTS)
		return -ENOSPC;
	while (id < TN_SOFT_CONTEXTS_MAX && rma->context[id])
		id++;
	if (id == TN_SOFT_CONTEXTS_MAX)
		return -ENOSPC;
	ctx->rma = rma;
	ctx->id = id;
	ctx->job = user;
	ctx->user = u;
	if (!u->contexts++)
		*u = (struct tn_soft_user) {
			.job = user, .contexts = 1,
			.waits = { .all = &rma->others, .max = TN_SOFT_USER_WAITS },
		};
	rma->context[id] = ctx;
	rma->contexts++;
	return 0;
}

int tn_soft_rma_check(const struct tn_soft_context *ctx, struct torus_rma_call *call)
{
	if (ctx->open)
		return tn_soft_rma_fail(call, -EBUSY, "the context is open");
	if (call->version != TORUS_RMA_VERSION)
		return tn_soft_rma_fail(call, -EPROTO, "version %u of the rings: must be %u",
					call->version, TORUS_RMA_VERSION);
	if (!call->entries || call->entries > TN_SOFT_ENTRIES_MAX ||
	    call->entries & (call->entries - 1))
		return tn_soft_rma_fail(call, -EINVAL,
					"%u requests in the ring: must be a power of two up to %u",
					call->entries, TN_SOFT_ENTRIES_MAX);
	return 0;
}

size_t tn_soft_rma_ring_size(u32 entries)
{
	return sizeof(struct torus_rma_head) +
	       entries * (sizeof(struct torus_rma_ask) + 2 * sizeof(struct torus_rma_end));
}

size_t tn_soft_rma_ops_size(u32 entries)
{
	return 2 * (size_t)entries * sizeof(struct tn_rma_ring_op);
}

void tn_soft_rma_open(struct tn_soft_context *ctx, void *shared, struct tn_rma_ring_op *op,
		      u32 entries, u32 key)
{
	const struct tn_soft *s = ctx->rma->soft;
	struct torus_rma_head head = {
		.magic = TORUS_RMA_MAGIC, .version = TORUS_RMA_VERSION,
		.sq_offset = sizeof(head),
		.cq_offset = (u32)(sizeof(head) + entries * sizeof(struct torus_rma_ask)),
		.sq_entries = entries, .cq_entries = 2 * entries,
		.node = s->hw.node, .nodes = tn_shape_nodes(&s->shape),
		.job = ctx->job, .name = (u64)key << 16 | ctx->id,
		.message_max = s->params.payload_max - TN_RMA_HEAD_MAX,
	};

	*(struct torus_rma_head *)shared = head;
	tn_rma_ring_open(&ctx->ring, &(struct tn_rma_ring_config) {
		.ops = &ring_calls, .host = ctx->rma, .head = shared,
		.sq = (void *)((u8 *)shared + head.sq_offset),
		.cq = (void *)((u8 *)shared + head.cq_offset),
		.op = op, .sq_entries = head.sq_entries, .cq_entries = head.cq_entries,
		.ops_max = 2 * entries, .parts_max = TN_SOFT_ENTRIES_MAX,
		.nodes = head.nodes, .data_max = head.message_max, .name = head.name,
		.seed = ctx->rma->pool.seed,
		.id = ctx->id, .job = ctx->job, .ep = ctx->id,
	});
	ctx->open = true;
	ctx->ready = true;
	ctx->rma->opened |= 1ull << ctx->id;
}

/* Ends a context whose process is gone, when all its operations and regions have ended. */
static void try_end(struct tn_soft_context *ctx)
{
	struct tn_soft_rma *rma = ctx->rma;
	bool none_left = tn_soft_rma_unshare_all(ctx);

	if (!none_left || (ctx->open && !tn_rma_ring_gone(&ctx->ring)))
		return;
	rma->context[ctx->id] = NULL;
	rma->opened &= ~(1ull << ctx->id);
	rma->contexts--;
	ctx->user->contexts--;
	rma->ops->ended(ctx);
}

void tn_soft_rma_end(struct tn_soft_context *ctx, u64 now)
{
	ctx->dead = true;
	if (ctx->open) {
		tn_rma_ring_close(&ctx->ring);
		ctx->ready = true;
		ctx->again_at = now + AGAIN_TIME;
	}
	try_end(ctx);
}

/* Runs the ring of one context for a batch. Return: number of steps */
static u32 step_context(struct tn_soft_context *ctx, u64 now)
{
	enum tn_rma_ring_state state;
	u32 n = 0;

	if (ctx->dead && now >= ctx->again_at) {
		tn_rma_ring_close(&ctx->ring);
		ctx->ready = true;
		ctx->again_at = now + AGAIN_TIME;
	}
	if (ctx->ready || ctx->blocked) {
		state = tn_rma_ring_work(&ctx->ring, now);
		n = ctx->ring.steps;
		ctx->ready = state == TN_RMA_RING_MORE;
		ctx->blocked = state == TN_RMA_RING_BLOCKED;
	}
	if (ctx->dead)
		try_end(ctx);
	return n;
}

/*
 * Each context gets a turn, from @turn on. After STEPS of all, the others get theirs in the next
 * call, so that packets do not wait for all contexts.
 */
bool tn_soft_rma_step(struct tn_soft_rma *rma, u64 now)
{
	u64 issued, left;
	bool worked = false;
	u32 steps = 0;

	if (!rma->memory || !rma->contexts)
		return false;
	issued = tn_nic_rma_initiator(nic_of(rma))->count.issued;
	tn_soft_rma_settle(rma);
	left = rma->opened;
	while (left && steps < STEPS) {
		u64 after = left >> rma->turn << rma->turn;
		unsigned int id = tn_lowest(after ? after : left);
		struct tn_soft_context *ctx = rma->context[id];

		left &= ~(1ull << id);
		rma->turn = (id + 1) % TN_SOFT_CONTEXTS_MAX;
		worked |= ctx->ready;
		steps += step_context(ctx, now);
	}
	return worked || tn_nic_rma_initiator(nic_of(rma))->count.issued != issued;
}

u64 tn_soft_rma_expiry(const struct tn_soft_rma *rma)
{
	u64 at = ~0ull;

	for (u64 left = rma->opened; left; left &= left - 1) {
		const struct tn_soft_context *ctx = rma->context[tn_lowest(left)];

		if (ctx->ready)
			return 0;
		if (ctx->dead && ctx->again_at < at)
			at = ctx->again_at;
	}
	return at;
}

struct tn_soft_block *tn_soft_rma_leave(struct tn_soft_rma *rma)
{
	struct tn_soft_block *memory = rma->memory;

	for (unsigned int i = 0; i < TN_SOFT_CONTEXTS_MAX; i++) {
		if (rma->context[i] && !rma->context[i]->dead)
			rma->ops->left(rma->context[i]);
	}
	if (!memory)
		return NULL;
	tn_nic_rma_close(nic_of(rma));
	for (unsigned int i = 0; i < TN_SOFT_CONTEXTS_MAX; i++) {
		if (rma->context[i])
			try_end(rma->context[i]);
	}
	tn_assert(!rma->contexts);
	memset(rma->region, 0, sizeof(rma->region));
	rma->memory = NULL;
	return memory;
}
