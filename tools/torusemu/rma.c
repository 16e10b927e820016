// SPDX-License-Identifier: GPL-2.0-only
/* The rings of contexts, and the callbacks of the core; see rma.h. */
#include "rma.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "emu.h"
#include "lib/util/times.h"
#include "log.h"

#define RMA_TIME	(2 * SEC)		/* silence after which a node gets a QUERY */
#define AGAIN_TIME	SEC

/* --- callbacks of the core ------------------------------------------------------- */

static u8 *find_memory(void *host, u32 region, u64 offset, u64 *run)
{
	const struct rma_region *r = &((struct emu *)host)->rma->owned[region];

	*run = r->bytes - offset;
	return r->mem + offset;
}

static const struct tn_window *find_space(void *host, u16 job)
{
	const struct rma_space *s = rma_space_find(((struct emu *)host)->rma, job);

	return s ? &s->window : NULL;
}

/* The low 16 bits of the name of a context are its number. */
static u8 receive_send(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		       u64 *allowed)
{
	u16 id = (u16)ask->addr;
	struct rma_context *ctx;

	ctx = id < RMA_CONTEXTS_MAX ? ((struct emu *)host)->rma->context[id] : NULL;
	if (!ctx || !ctx->open)
		return TN_RMA_REGION;
	ctx->ready = true;
	return tn_rma_ring_recv(&ctx->ring, src, ask, data, bytes, allowed);
}

static void end_operation(void *host, u64 cookie, const struct tn_rma_end *end)
{
	struct rma_context *ctx = ((struct emu *)host)->rma->context[cookie >> 48];

	tn_rma_ring_done(&ctx->ring, cookie, end);
	ctx->ready = true;
}

static const struct tn_nic_rma_ops nic_calls = {
	.mem = find_memory, .space = find_space, .recv = receive_send, .done = end_operation,
};

/* --- callbacks of rings ------------------------------------------------------------ */

static int issue_request(void *host, u32 dst, const struct tn_rma_ask *ask, const u8 *data,
			 u32 bytes, u64 cookie, u64 now)
{
	return tn_nic_rma_issue(((struct emu *)host)->soft.nic, dst, ask, data, bytes, cookie, now);
}

static int cancel_request(void *host, u16 slot, const struct tn_rma_ask *ask)
{
	return tn_rma_cancel(tn_nic_rma_initiator(((struct emu *)host)->soft.nic), slot, ask);
}

static u64 find_room(void *host, u32 id, u32 region, u64 offset)
{
	const struct rma *rma = ((struct emu *)host)->rma;
	const struct rma_region *r;

	if (region >= RMA_REGIONS_MAX)
		return 0;
	r = &rma->owned[region];
	if (!r->ctx || r->ctx->id != id || r->ends)
		return 0;
	return offset < r->bytes ? r->bytes - offset : 0;
}

/* If the pipe is full, the process will be woken by what is in it. */
static void wake_process(void *host, u32 id)
{
	ssize_t n = write(((struct emu *)host)->rma->context[id]->wake, "", 1);

	(void)n;
}

static const struct tn_rma_ring_ops ring_calls = {
	.issue = issue_request, .cancel = cancel_request, .room = find_room, .mem = find_memory,
	.wake = wake_process,
};

/* --- the service ------------------------------------------------------------------- */

int rma_begin(struct emu *e, const char **why)
{
	struct rma *rma = e->rma;
	struct tn_nic_rma_config cfg = {
		.ops = &nic_calls, .host = e, .region = rma->region, .regions = RMA_REGIONS_MAX,
		.pool = &rma->pool, .slots = RMA_CONTEXTS_MAX * RMA_ENTRIES_MAX,
		.replies = RMA_REPLIES, .waits = RMA_NODE_WAITS, .rma_time = RMA_TIME,
	};
	u64 seed;
	int err;

	if (rma->memory)
		return 0;
	if (!e->soft.hw.placed) {
		*why = "the NIC has no place in a torus yet";
		return -EAGAIN;
	}
	if (getrandom(&seed, sizeof(seed), 0) < 0)
		return -errno;
	rma->memory = aligned_alloc(64, tn_nic_rma_size(&e->soft.shape, cfg.slots));
	if (!rma->memory)
		return -ENOMEM;
	tn_fe_pool_init(&rma->pool, rma->wait, RMA_WAITS, rma->bucket, RMA_WAITS, seed);
	err = tn_nic_rma_open(e->soft.nic, &cfg, rma->memory, loop_now());
	if (err) {
		free(rma->memory);
		rma->memory = NULL;
	}
	return err;
}

/* --- rings ------------------------------------------------------------------------- */

/* Return: descriptor of @bytes of memory that keep their size; or a negative errno. */
static int make_shared(size_t bytes)
{
	int fd = memfd_create("torus-rma", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)bytes) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* @key: random key, by which a message for an earlier context of this number is known */
static void fill_head(struct rma_context *ctx, u32 entries, u32 key)
{
	struct torus_rma_head *head = ctx->shared;
	struct emu *e = ctx->emu;

	*head = (struct torus_rma_head) {
		.magic = TORUS_RMA_MAGIC, .version = TORUS_RMA_VERSION,
		.sq_offset = sizeof(*head),
		.cq_offset = (u32)(sizeof(*head) + entries * sizeof(struct torus_rma_ask)),
		.sq_entries = entries, .cq_entries = 2 * entries,
		.node = e->soft.hw.node, .nodes = tn_shape_nodes(&e->soft.shape),
		.job = ctx->job, .name = (u64)key << 16 | ctx->id,
		.message_max = e->soft.params.payload_max - TN_RMA_HEAD_MAX,
	};
}

static void open_ring(struct rma_context *ctx)
{
	/* of what was just written, which the process has not seen yet */
	struct torus_rma_head *head = ctx->shared;
	struct emu *e = ctx->emu;

	tn_rma_ring_open(&ctx->ring, &(struct tn_rma_ring_config) {
		.ops = &ring_calls, .host = e, .head = head,
		.sq = (void *)((u8 *)ctx->shared + head->sq_offset),
		.cq = (void *)((u8 *)ctx->shared + head->cq_offset),
		.op = ctx->op, .sq_entries = head->sq_entries, .cq_entries = head->cq_entries,
		.ops_max = 2 * head->sq_entries, .parts_max = RMA_ENTRIES_MAX,
		.nodes = head->nodes, .data_max = head->message_max, .name = head->name,
		.id = ctx->id, .job = ctx->job, .ep = ctx->id,
	});
}

int rma_ring_new(struct rma_context *ctx, u32 entries, int *fd)
{
	size_t bytes = sizeof(struct torus_rma_head) +
		       entries * (sizeof(struct torus_rma_ask) + 2 * sizeof(struct torus_rma_end));
	void *shared;
	u32 key;

	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	*fd = make_shared(bytes);
	if (*fd < 0)
		return *fd;
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	ctx->op = calloc(2 * entries, sizeof(*ctx->op));
	if (shared == MAP_FAILED || !ctx->op) {
		if (shared != MAP_FAILED)
			munmap(shared, bytes);
		free(ctx->op);
		ctx->op = NULL;
		close(*fd);
		return -ENOMEM;
	}
	ctx->shared = shared;
	ctx->bytes = bytes;
	fill_head(ctx, entries, key);
	open_ring(ctx);
	ctx->open = true;
	ctx->ready = true;
	return 0;
}

static void free_context(struct rma_context *ctx)
{
	struct rma *rma = ctx->emu->rma;

	rma->context[ctx->id] = NULL;
	rma->contexts--;
	free(ctx->op);
	free(ctx);
}

/* Frees a context whose process is gone, when all its operations and regions have ended. */
static void try_free(struct rma_context *ctx)
{
	bool none_left = rma_unshare_all(ctx);

	if (none_left && (!ctx->open || tn_rma_ring_gone(&ctx->ring)))
		free_context(ctx);
}

void rma_end(struct rma_context *ctx)
{
	loop_del(ctx->emu->loop, &ctx->watch);
	if (ctx->bell.fd >= 0)
		loop_del(ctx->emu->loop, &ctx->bell);
	if (ctx->wake >= 0)
		close(ctx->wake);
	ctx->dead = true;
	if (ctx->open) {
		tn_rma_ring_close(&ctx->ring);
		munmap(ctx->shared, ctx->bytes);
		ctx->ready = true;
		ctx->again_at = loop_now() + AGAIN_TIME;
		chassis_wake(ctx->emu->chassis, ctx->emu);
	}
	try_free(ctx);
}

/* Runs the ring of one context for a batch. */
static void step_context(struct rma_context *ctx, u64 now)
{
	enum tn_rma_ring_state state;

	if (ctx->dead && now >= ctx->again_at) {
		tn_rma_ring_close(&ctx->ring);
		ctx->ready = true;
		ctx->again_at = now + AGAIN_TIME;
	}
	if (ctx->ready || ctx->blocked) {
		state = tn_rma_ring_work(&ctx->ring, now);
		ctx->ready = state == TN_RMA_RING_MORE;
		ctx->blocked = state == TN_RMA_RING_BLOCKED;
	}
	if (ctx->dead)
		try_free(ctx);
}

bool rma_step(struct emu *e, u64 now)
{
	struct rma *rma = e->rma;
	bool worked = false;
	u64 issued;

	if (!rma || !rma->memory || !rma->contexts)
		return false;
	issued = tn_nic_rma_initiator(e->soft.nic)->count.issued;
	rma_settle_regions(e);
	for (unsigned int i = 0; i < RMA_CONTEXTS_MAX; i++) {
		struct rma_context *ctx = rma->context[i];

		if (!ctx || !ctx->open)
			continue;
		worked |= ctx->ready;
		step_context(ctx, now);
	}
	return worked || tn_nic_rma_initiator(e->soft.nic)->count.issued != issued;
}

u64 rma_expiry(const struct emu *e)
{
	const struct rma *rma = e->rma;
	u64 at = ~0ull;

	if (!rma || !rma->contexts)
		return at;
	for (unsigned int i = 0; i < RMA_CONTEXTS_MAX; i++) {
		const struct rma_context *ctx = rma->context[i];

		if (!ctx || !ctx->open)
			continue;
		if (ctx->ready)
			return 0;
		if (ctx->dead && ctx->again_at < at)
			at = ctx->again_at;
	}
	return at;
}

void rma_leave(struct emu *e)
{
	struct rma *rma = e->rma;

	if (!rma)
		return;
	for (unsigned int i = 0; i < RMA_CONTEXTS_MAX; i++) {
		if (rma->context[i] && !rma->context[i]->dead)
			rma_end(rma->context[i]);
	}
	if (!rma->memory)
		return;
	tn_nic_rma_close(e->soft.nic);
	for (unsigned int i = 0; i < RMA_CONTEXTS_MAX; i++) {
		if (rma->context[i])
			try_free(rma->context[i]);
	}
	tn_assert(!rma->contexts);
	memset(rma->region, 0, sizeof(rma->region));
	free(rma->memory);
	rma->memory = NULL;
}
