// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/fake_service.h"

struct fake_service f;

u8 fake_memory[FAKE_BYTES_MAX] __attribute__((aligned(8)));

static int nic;		/* its address stands for the core */

#define NIC ((struct tn_nic *)&nic)

/* --- the core -------------------------------------------------------------------- */

size_t tn_nic_rma_size(const struct torus_shape *shape, u32 slots)
{
	return tn_shape_nodes(shape) + (size_t)slots * FAKE_SLOT;
}

int tn_nic_rma_open(struct tn_nic *n, const struct tn_nic_rma_config *cfg, void *mem, u64 now)
{
	assert_ptr_equal(n, NIC);
	assert_false(f.is_open);
	if (f.error)
		return f.error;
	f.cfg = *cfg;
	f.memory = mem;
	f.opened = now;
	f.is_open = true;
	return 0;
}

/* All open operations end, as the core promises. */
void tn_nic_rma_close(struct tn_nic *n)
{
	assert_ptr_equal(n, NIC);
	assert_true(f.is_open);
	for (unsigned int i = 0; i < TN_SOFT_CONTEXTS_MAX; i++)
		if (f.rma.context[i]) {
			assert_true(!f.rma.context[i]->open || f.rma.context[i]->ring.closed);
			f.rma.context[i]->ring.open = 0;
		}
	f.is_open = false;
}

int tn_nic_rma_issue(struct tn_nic *n, u32 dst, const struct tn_rma_ask *ask, const u8 *data,
		     u32 bytes, u64 cookie, u64 now)
{
	assert_ptr_equal(n, NIC);
	f.issue = (struct fake_issue) {
		.dst = dst, .bytes = bytes, .ask = ask, .data = data, .cookie = cookie, .now = now,
	};
	return f.answer;
}

int tn_rma_cancel(struct tn_rma_initiator *i, u16 slot, const struct tn_rma_ask *ask)
{
	assert_ptr_equal(i, &f.initiator);
	f.issue = (struct fake_issue) { .ask = ask, .slot = slot };
	return f.answer;
}

struct tn_rma_owner *tn_nic_rma_owner(struct tn_nic *n)
{
	assert_ptr_equal(n, NIC);
	return f.is_open ? &f.owner : NULL;
}

struct tn_rma_initiator *tn_nic_rma_initiator(struct tn_nic *n)
{
	assert_ptr_equal(n, NIC);
	return f.is_open ? &f.initiator : NULL;
}

int tn_rma_owner_close(struct tn_rma_owner *o, u32 region)
{
	assert_ptr_equal(o, &f.owner);
	assert_true(f.rma.owned[region].ends);
	f.closings++;
	if (!f.replies)
		return -EAGAIN;
	f.replies--;
	return 0;
}

/* --- rings ----------------------------------------------------------------------- */

static struct fake_ring *ring_of(const struct tn_rma_ring *r)
{
	const struct tn_soft_context *ctx = (const void *)((const u8 *)r -
							   offsetof(struct tn_soft_context, ring));

	assert_ptr_equal(f.rma.context[ctx->id], ctx);
	return &f.ring[ctx->id];
}

void tn_rma_ring_open(struct tn_rma_ring *r, const struct tn_rma_ring_config *cfg)
{
	*r = (struct tn_rma_ring) { .cfg = *cfg };
	*ring_of(r) = (struct fake_ring) { .used = ~0u };
}

enum tn_rma_ring_state tn_rma_ring_work(struct tn_rma_ring *r, u64 now)
{
	struct fake_ring *g = ring_of(r);

	g->works++;
	g->worked = now;
	r->steps = g->steps;
	f.initiator.count.issued += g->issues;
	return g->state;
}

void tn_rma_ring_done(struct tn_rma_ring *r, u64 cookie, const struct tn_rma_end *end)
{
	assert_null(end);
	ring_of(r)->cookie = cookie;
}

bool tn_rma_ring_uses(const struct tn_rma_ring *r, u32 region)
{
	return ring_of(r)->used == region;
}

void tn_rma_ring_close(struct tn_rma_ring *r)
{
	r->closed = true;
	ring_of(r)->closes++;
}

u8 tn_rma_ring_recv(struct tn_rma_ring *r, u32 src, const struct tn_rma_ask *ask, const u8 *data,
		    u32 bytes, u64 *allowed)
{
	f.issue = (struct fake_issue) { .ask = ask, .data = data, .bytes = bytes };
	ring_of(r)->src = src;
	*allowed = 1;
	return (u8)f.answer;
}

/* --- the shell ------------------------------------------------------------------- */

static void on_wake(struct tn_soft_context *ctx)
{
	f.wakes++;
	f.woken = ctx;
}

static void on_unmap(struct tn_soft_rma *rma, struct tn_soft_region *r)
{
	u32 i = (u32)(r - rma->owned);

	assert_ptr_equal(rma, &f.rma);
	assert_int_equal(rma->region[i].bytes, 0);
	assert_null(rma->region[i].fe);
	assert_null(r->space);
	f.unmaps++;
	f.unmapped = *r;
	free(r->bits);
}

static void *on_alloc(size_t bytes)
{
	return f.is_out ? NULL : calloc(1, bytes);
}

static void on_free(void *memory)
{
	f.frees++;
	free(memory);
}

static void on_left(struct tn_soft_context *ctx)
{
	f.lefts++;
	tn_soft_rma_end(ctx, 5);
}

static void on_ended(struct tn_soft_context *ctx)
{
	assert_null(f.rma.context[ctx->id]);
	assert_int_equal(ctx->regions, 0);
	f.ends++;
	f.ended = ctx;
	*ctx = (struct tn_soft_context) { 0 };
}

static const struct tn_soft_rma_ops shell = {
	.wake = on_wake, .unmap = on_unmap, .alloc = on_alloc, .free = on_free,
	 .left = on_left,
	.ended = on_ended,
};

unsigned int fake_free(struct tn_soft_block *memory)
{
	struct tn_soft_block *next;
	unsigned int n = 0;

	for (; memory; memory = next, n++) {
		next = memory->next;
		free(memory);
	}
	return n;
}

void fake_begin(void)
{
	struct torus_rma_call call = { 0 };
	void *left;

	fake_free(f.rma.memory);
	memset(&f, 0, sizeof(f));
	f.soft.nic = NIC;
	f.soft.shape = (struct torus_shape) { .ndims = 2, .size = { 4, 3, 1, 1, 1, 1 } };
	f.soft.hw.node = 7;
	f.soft.hw.placed = true;
	f.soft.params.payload_max = 1024;
	f.rma.soft = &f.soft;
	f.rma.ops = &shell;
	f.rma.bytes_max = FAKE_BYTES_MAX;
	f.replies = ~0u;
	f.initiator.count.issued = 1;
	left = calloc(1, tn_soft_rma_size(&f.rma));
	assert_int_equal(tn_soft_rma_begin(&f.rma, &left, 1, 0, &call), 0);
}

struct tn_soft_context *fake_context(u32 user)
{
	static struct torus_rma_head rings;
	struct tn_soft_context *ctx = f.ctx;

	while (ctx->rma)
		ctx++;
	assert_int_equal(tn_soft_rma_add(&f.rma, ctx, user), 0);
	tn_soft_rma_open(ctx, &rings, NULL, 1, 0);
	return ctx;
}

void fake_refused(int returned, int err, const struct torus_rma_call *call, const char *why)
{
	assert_int_equal(returned, err);
	assert_string_equal(call->why, why);
}

struct tn_soft_space *fake_space(void)
{
	struct tn_soft_space *s = malloc(sizeof(*s));

	assert_non_null(s);
	return memset(s, 0xff, sizeof(*s));
}

int fake_reserve_and_share(struct tn_soft_context *ctx, struct tn_soft_share *share,
			   struct torus_rma_call *c)
{
	int err = tn_soft_rma_reserve(ctx, c);

	if (err)
		return err;
	err = tn_soft_rma_share(ctx, share, c);
	if (err)
		tn_soft_rma_unreserve(ctx, c->region);
	return err;
}

void fake_share(struct tn_soft_context *ctx, struct torus_rma_call c, int err, const char *why)
{
	struct tn_soft_share share = { .mem = fake_memory };

	if (c.flags & TORUS_RMA_AT)
		share.space = fake_space();
	if (c.flags & TORUS_RMA_HAS_FE)
		share.bits = calloc(1, tn_soft_rma_bits(c.bytes));
	if (why) {
		fake_refused(fake_reserve_and_share(ctx, &share, &c), err, &c, why);
		free(share.bits);
	} else {
		assert_int_equal(fake_reserve_and_share(ctx, &share, &c), 0);
	}
	free(share.space);
}
