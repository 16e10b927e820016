// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remote memory of a software NIC: struct torus_rma_ops over the code that the driver shares with
 * torusemu (../req/soft_rma.h), which runs under the lock of the NIC and does not sleep. So all
 * memory is made before the lock is taken.
 *
 * The rings are worked on in the NAPI poll, like messages of the host. The doorbell schedules it,
 * and it runs at once when the lock is released.
 *
 * A context lives until its last operation has ended, which may be after its file is gone. The file
 * and the context point to each other while both exist (lock).
 */
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../req/soft_rma.h"
#include "nic.h"

/**
 * struct rma_context - a context
 * @soft: what the NIC knows of it
 * @file: its file; NULL: that is gone
 * @op: memory of its operations; NULL before OPEN
 */
struct rma_context {
	struct tn_soft_context soft;
	struct torus_rma_file *file;
	struct tn_rma_ring_op *op;
};

static struct rma_context *soft_context(struct tn_soft_context *ctx)
{
	return container_of(ctx, struct rma_context, soft);
}

/* --- callbacks of contexts (lock) -------------------------------------------------- */

static void soft_context_wake(struct tn_soft_context *ctx)
{
	if (soft_context(ctx)->file)
		torus_rma_wake(soft_context(ctx)->file);
}

static void soft_region_unmap(struct tn_soft_rma *rma, struct tn_soft_region *r)
{
	torus_rma_unpin(r->pin);
}

/* Called for nodes of which the NIC has to know something, also in the NAPI poll. */
static void *soft_memory_alloc(size_t bytes)
{
	return kzalloc(bytes, GFP_ATOMIC | __GFP_NOWARN);
}

static void soft_memory_free(void *memory)
{
	kvfree(memory);
}

/* Takes the context from its file, and ends it. */
static void detach_context(struct rma_context *ctx, u64 now)
{
	ctx->file->context = NULL;
	ctx->file = NULL;
	tn_soft_rma_end(&ctx->soft, now);
}

static void soft_context_left(struct tn_soft_context *soft)
{
	struct torus_soft *s = container_of(soft->rma->soft, struct torus_soft, soft);
	struct rma_context *ctx = soft_context(soft);

	torus_rma_hang_up(ctx->file);
	detach_context(ctx, torus_now(s));
}

static void soft_context_free(struct tn_soft_context *ctx)
{
	kvfree(soft_context(ctx)->op);
	kfree(soft_context(ctx));
}

static const struct tn_soft_rma_ops soft_calls = {
	.wake = soft_context_wake,
	.unmap = soft_region_unmap,
	.alloc = soft_memory_alloc,
	.free = soft_memory_free,
	.left = soft_context_left,
	.ended = soft_context_free,
};

/* --- contexts ---------------------------------------------------------------------- */

/* Makes the memory of the service, at the first context of the NIC. Return: 0 or -ENOMEM */
static int make_rma(struct torus_soft *s)
{
	struct tn_soft_rma *rma;

	if (s->rma)
		return 0;
	rma = kvzalloc(sizeof(*rma), GFP_KERNEL_ACCOUNT);
	if (!rma)
		return -ENOMEM;
	rma->soft = &s->soft;
	rma->ops = &soft_calls;
	rma->bytes_max = (u64)totalram_pages() * PAGE_SIZE / 2;
	torus_soft_lock(s);
	s->rma = rma;
	torus_soft_unlock_read(s);
	return 0;
}

static int soft_rma_bind(struct torus_dev *d, struct torus_rma_file *f)
{
	struct torus_soft *s = torus_soft_of(d);
	struct rma_context *ctx;
	int err;

	lockdep_assert_held(&d->ctl);
	err = make_rma(s);
	if (err)
		return err;
	ctx = kzalloc(sizeof(*ctx), GFP_KERNEL_ACCOUNT);
	if (!ctx)
		return -ENOMEM;
	ctx->file = f;
	torus_soft_lock(s);
	err = tn_soft_rma_add(s->rma, &ctx->soft, f->user);
	if (!err)
		f->context = ctx;
	torus_soft_unlock_read(s);
	if (err)
		kfree(ctx);
	return err;
}

/* Starts the service of the NIC, if that has not been done. Return: 0 or -errno */
static int start_service(struct torus_soft *s, struct torus_rma_call *call)
{
	void *memory = NULL;
	int err;

	if (!s->rma->memory && s->soft.hw.placed)
		memory = kvzalloc(tn_soft_rma_size(s->rma), TORUS_GFP_LARGE);
	torus_soft_lock(s);
	err = tn_soft_rma_begin(s->rma, &memory, get_random_u64(), torus_now(s), call);
	torus_soft_unlock_read(s);
	kvfree(memory);
	return err;
}

/* Gives the rings, and memory for operations, to the context. Return: 0 or -errno */
static int start_rings(struct torus_soft *s, struct torus_rma_file *f, void *rings,
		       struct tn_rma_ring_op *op, struct torus_rma_call *call)
{
	struct rma_context *ctx;
	int err = -ENODEV;

	torus_soft_lock(s);
	ctx = f->context;
	if (ctx)
		err = tn_soft_rma_check(&ctx->soft, call);
	if (!err) {
		tn_soft_rma_open(&ctx->soft, rings, op, call->entries, get_random_u32());
		ctx->op = op;
	}
	torus_soft_unlock(s);
	return err;
}

/*
 * Makes memory that can be mapped by remap_vmalloc_range(), and is freed by vfree(). As it may
 * outlive the NIC, the process is charged for it; vmalloc_user() would charge nobody. Return: it,
 * all 0, or NULL.
 */
static void *make_rings(size_t bytes)
{
	unsigned int n = DIV_ROUND_UP(bytes, PAGE_SIZE), i = 0;
	struct page **pages = kvcalloc(n, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	void *rings;

	for (; pages && i < n; i++) {
		pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!pages[i])
			break;
	}
	rings = pages && i == n ? vmap(pages, n, VM_MAP | VM_USERMAP | VM_MAP_PUT_PAGES,
				       PAGE_KERNEL) : NULL;
	if (rings)
		return rings;
	while (i)
		__free_page(pages[--i]);
	kvfree(pages);
	return NULL;
}

static int soft_rma_open(struct torus_dev *d, struct torus_rma_file *f,
			 struct torus_rma_call *call)
{
	struct torus_soft *s = torus_soft_of(d);
	struct tn_rma_ring_op *op;
	struct rma_context *ctx;
	int err = -ENODEV;
	void *rings;

	lockdep_assert_held(&d->ctl);		/* so the NIC keeps its place meanwhile */
	torus_soft_lock(s);
	ctx = f->context;
	if (ctx)
		err = tn_soft_rma_check(&ctx->soft, call);
	torus_soft_unlock_read(s);
	if (!err)
		err = start_service(s, call);
	if (err)
		return err;
	rings = make_rings(tn_soft_rma_ring_size(call->entries));
	op = kvzalloc(tn_soft_rma_ops_size(call->entries), GFP_KERNEL_ACCOUNT);
	err = rings && op ? start_rings(s, f, rings, op, call) : -ENOMEM;
	if (err) {
		vfree(rings);
		kvfree(op);
		return err;
	}
	f->rings = rings;
	f->bytes = tn_soft_rma_ring_size(call->entries);
	return 0;
}

static void soft_rma_unbind(struct torus_dev *d, struct torus_rma_file *f)
{
	struct torus_soft *s = torus_soft_of(d);

	torus_soft_lock(s);
	if (f->context)
		detach_context(f->context, torus_now(s));
	torus_soft_unlock(s);
}

static void soft_rma_ring(struct torus_dev *d, struct torus_rma_file *f)
{
	struct torus_soft *s = torus_soft_of(d);
	struct rma_context *ctx;

	torus_soft_lock(s);
	ctx = f->context;
	if (ctx && ctx->soft.open)
		ctx->soft.ready = true;
	torus_soft_unlock(s);
}

/* --- regions ----------------------------------------------------------------------- */

static int soft_rma_reserve(struct torus_dev *d, struct torus_rma_file *f,
			    struct torus_rma_call *call)
{
	struct torus_soft *s = torus_soft_of(d);
	struct rma_context *ctx;
	int err;

	torus_soft_lock(s);
	ctx = f->context;
	err = ctx ? tn_soft_rma_reserve(&ctx->soft, call) : -ENODEV;
	torus_soft_unlock_read(s);
	return err;
}

static int soft_rma_unreserve(struct torus_dev *d, struct torus_rma_file *f,
			      struct torus_rma_call *call)
{
	struct torus_soft *s = torus_soft_of(d);
	struct rma_context *ctx;

	torus_soft_lock(s);
	ctx = f->context;
	if (ctx)
		tn_soft_rma_unreserve(&ctx->soft, call->region);
	torus_soft_unlock_read(s);
	return 0;
}

static int soft_rma_prepare(struct torus_rma_pin *pin, const struct torus_rma_call *call)
{
	bool bits = call->flags & TORUS_RMA_HAS_FE, space = call->flags & TORUS_RMA_AT;
	const size_t space_size = sizeof(struct tn_soft_space);

	if (bits)
		pin->bits = kvzalloc(tn_soft_rma_bits(call->bytes), TORUS_GFP_LARGE);
	if (space)
		pin->space = kvzalloc(space_size, GFP_KERNEL_ACCOUNT);
	return (bits && !pin->bits) || (space && !pin->space) ? -ENOMEM : 0;
}

static int soft_rma_share(struct torus_dev *d, struct torus_rma_file *f,
			  struct torus_rma_pin *pin, struct torus_rma_call *call)
{
	struct tn_soft_share share = {
		.mem = pin->at, .bits = pin->bits, .pin = pin, .space = pin->space,
		.key = get_random_u32(),
	};
	struct torus_soft *s = torus_soft_of(d);
	struct rma_context *ctx;
	int err;

	torus_soft_lock(s);
	ctx = f->context;
	err = ctx ? tn_soft_rma_share(&ctx->soft, &share, call) : -ENODEV;
	pin->space = share.space;	/* NULL if it is used */
	torus_soft_unlock_read(s);
	return err;
}

/* Searches in pieces, between which the NIC works. */
static int find_wait(struct torus_soft *s, struct torus_rma_file *f, struct torus_rma_call *call)
{
	struct tn_soft_search search = { 0 };
	struct rma_context *ctx;
	int err;

	do {
		torus_soft_lock(s);
		ctx = f->context;
		err = ctx ? tn_soft_wait_get(&ctx->soft, call, &search, torus_now(s)) : -ENODEV;
		torus_soft_unlock_read(s);
		cond_resched();
	} while (err == -EAGAIN && !fatal_signal_pending(current));
	return err;
}

static int soft_rma_call(struct torus_dev *d, struct torus_rma_file *f,
			 struct torus_rma_call *call)
{
	struct torus_soft *s = torus_soft_of(d);
	struct rma_context *ctx;
	int err = -ENODEV;

	if (call->call == TORUS_RMA_WAIT_GET)
		return find_wait(s, f, call);
	torus_soft_lock(s);
	ctx = f->context;
	if (ctx && call->call == TORUS_RMA_UNSHARE) {
		err = tn_soft_rma_unshare(&ctx->soft, call);
		torus_soft_unlock(s);	/* requests that wait in the region are refused */
		return err;
	}
	if (ctx)
		err = tn_soft_region_get(&ctx->soft, call);
	torus_soft_unlock_read(s);
	return err;
}

const struct torus_rma_ops torus_soft_rma_ops = {
	.bind = soft_rma_bind,
	.open = soft_rma_open,
	.reserve = soft_rma_reserve,
	.unreserve = soft_rma_unreserve,
	.prepare = soft_rma_prepare,
	.share = soft_rma_share,
	.call = soft_rma_call,
	.ring = soft_rma_ring,
	.unbind = soft_rma_unbind,
};

/* --- the NIC ----------------------------------------------------------------------- */

bool torus_rma_step(struct torus_soft *s, u64 now)
{
	lockdep_assert_held(&s->lock);
	return s->rma && tn_soft_rma_step(s->rma, now);
}

u64 torus_rma_expiry(const struct torus_soft *s)
{
	lockdep_assert_held(&s->lock);
	return s->rma ? tn_soft_rma_expiry(s->rma) : ~0ull;
}

void torus_rma_leave(struct torus_soft *s)
{
	lockdep_assert_held(&s->lock);
	tn_assert(!s->rma_left);	/* whoever releases the lock takes it */
	if (s->rma)
		s->rma_left = tn_soft_rma_leave(s->rma);
}

void torus_rma_free_left(struct tn_soft_block *left)
{
	struct tn_soft_block *next;

	for (; left; left = next) {
		next = left->next;
		kvfree(left);
		cond_resched();
	}
}
