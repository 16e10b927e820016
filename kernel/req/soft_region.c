// SPDX-License-Identifier: GPL-2.0-only
/* Regions of remote memory: limits, keys, and how they end; see soft_rma.h. */
#include "soft_rma.h"

#define ACCESS_ALL	(TORUS_RMA_ACCESS_READ | TORUS_RMA_ACCESS_WRITE | \
			 TORUS_RMA_ACCESS_AMO | TORUS_RMA_ACCESS_FE)
#define FLAGS_FE	(TORUS_RMA_HAS_FE | TORUS_RMA_STARTS_EMPTY)
#define FLAGS_ALL	(FLAGS_FE | TORUS_RMA_AT)
#define TOO_MANY_BYTES \
	"a region of %llu bytes: user %u has %llu, all users %llu; the limits are %llu and %llu"
#define NOT_FULL_EMPTY \
	"full/empty bits: the region must be made with them, and have whole words of 8 bytes"
#define GENERATION	24		/* position of the generation in a key, bits */

_Static_assert((int)ACCESS_ALL == (int)TN_ACCESS_ALL &&
	       (int)TORUS_RMA_ACCESS_AMO == (int)TN_ACCESS_AMO, "access");

/** struct share_sum - number and bytes of the regions that some users have at a NIC */
struct share_sum {
	u64 bytes;
	u32 regions;
};

/* Sums up the regions of user @job, or of all users but root if that is 0. */
static struct share_sum sum_shares(const struct tn_soft_rma *rma, u32 job)
{
	struct share_sum sum = { 0 };

	for (int i = 0; i < TN_SOFT_REGIONS_MAX; i++) {
		const struct tn_soft_region *r = &rma->owned[i];

		if (!r->ctx || !r->ctx->job || (job && r->ctx->job != job))
			continue;
		sum.bytes += r->bytes;
		sum.regions++;
	}
	return sum;
}

/*
 * One user may have a quarter of the regions and half of the bytes; all leave some to root. The
 * bytes are at most those that the NIC has left, so their sums do not overflow.
 */
static int check_user(const struct tn_soft_context *ctx, struct torus_rma_call *call)
{
	const struct tn_soft_rma *rma = ctx->rma;
	struct share_sum own = sum_shares(rma, ctx->job), all = sum_shares(rma, 0);
	u64 max = rma->bytes_max;

	if (!ctx->job)
		return 0;
	if (own.regions >= TN_SOFT_USER_REGIONS)
		return tn_soft_rma_fail(call, -ENOSPC, "user %u has %u regions, the limit is %u",
					ctx->job, own.regions, TN_SOFT_USER_REGIONS);
	if (all.regions >= TN_SOFT_REGIONS_MAX - TN_SOFT_ROOT_REGIONS)
		return tn_soft_rma_fail(call, -ENOSPC, "all users have %u regions, the limit is %u",
					all.regions, TN_SOFT_REGIONS_MAX - TN_SOFT_ROOT_REGIONS);
	if (own.bytes + call->bytes > max / 2 ||
	    all.bytes + call->bytes > max - max / 8)
		return tn_soft_rma_fail(call, -ENOMEM, TOO_MANY_BYTES,
					(unsigned long long)call->bytes, ctx->job,
					(unsigned long long)own.bytes,
					(unsigned long long)all.bytes,
					(unsigned long long)(max / 2),
					(unsigned long long)(max - max / 8));
	return 0;
}

/* Return: a free index; TN_SOFT_REGIONS_MAX: there is none. */
static u32 find_index(const struct tn_soft_rma *rma)
{
	u32 i = 0;

	while (i < TN_SOFT_REGIONS_MAX && rma->owned[i].ctx)
		i++;
	return i;
}

static int check_share(const struct tn_soft_context *ctx, struct torus_rma_call *call)
{
	u64 left = ctx->rma->bytes_max - ctx->rma->shared;

	if (!ctx->open)
		return tn_soft_rma_fail(call, -EINVAL, "the context is not open");
	if (!call->bytes)
		return tn_soft_rma_fail(call, -EINVAL, "a region of 0 bytes: must be 1 or more");
	if (call->access & ~(u32)ACCESS_ALL)
		return tn_soft_rma_fail(call, -EINVAL, "access 0x%x: must be within the mask 0x%x",
					call->access, ACCESS_ALL);
	if (call->flags & ~(u32)FLAGS_ALL)
		return tn_soft_rma_fail(call, -EINVAL, "flags 0x%x: must be within the mask 0x%x",
					call->flags, FLAGS_ALL);
	if (call->flags & TORUS_RMA_HAS_FE ? call->bytes % sizeof(u64) != 0 :
	    (call->access & TORUS_RMA_ACCESS_FE || call->flags & FLAGS_FE))
		return tn_soft_rma_fail(call, -EINVAL, NOT_FULL_EMPTY);
	if (ctx->regions >= TN_SOFT_CONTEXT_REGIONS)
		return tn_soft_rma_fail(call, -ENOSPC,
					"the context has %u regions, the limit is %u",
					ctx->regions, TN_SOFT_CONTEXT_REGIONS);
	if (call->bytes > left)
		return tn_soft_rma_fail(call, -ENOMEM,
					"a region of %llu bytes: this NIC may have %llu more",
					(unsigned long long)call->bytes, (unsigned long long)left);
	if (find_index(ctx->rma) == TN_SOFT_REGIONS_MAX)
		return tn_soft_rma_fail(call, -ENOSPC,
					"the NIC has %d regions, and may not have more",
					TN_SOFT_REGIONS_MAX);
	return check_user(ctx, call);
}

/* Return: a key of the next generation, never 0, with low bits of the random number @key. */
static u32 make_key(u32 old, u32 key)
{
	key &= (1u << GENERATION) - 1;
	return (key ? key : 1) | ((old >> GENERATION) + 1) << GENERATION;
}

static void forget_region(struct tn_soft_rma *rma, struct tn_soft_region *r)
{
	rma->shared -= r->bytes;
	r->ctx->regions--;
	*r = (struct tn_soft_region) { 0 };
}

/*
 * Words of the full/empty bits of a region: memory that is 0 and not touched before it is used,
 * because to fill the bits of a large region would keep the NIC waiting.
 */
static size_t count_words(u64 bytes)
{
	return (size_t)((bytes / sizeof(u64) + 63) / 64);
}

size_t tn_soft_rma_bits(u64 bytes)
{
	return 2 * count_words(bytes) * sizeof(u64);
}

static void fill_region(struct tn_soft_context *ctx, struct tn_soft_region *r,
			const struct tn_soft_share *share, const struct torus_rma_call *call)
{
	r->mem = share->mem;
	r->pin = share->pin;
	r->bits = share->bits;
	if (r->bits)
		r->fe = (struct tn_fe_bits) {
			.full = r->bits, .waits = r->bits + count_words(r->bytes),
			.n = r->bytes / sizeof(u64),
			.quota = ctx->job ? &ctx->user->waits : NULL,
			.inverted = !(call->flags & TORUS_RMA_STARTS_EMPTY),
		};
}

/* Return: true if the context has reserved region @i, and not made it. */
static bool is_reserved(const struct tn_soft_context *ctx, u32 i)
{
	const struct tn_soft_region *owned = ctx->rma->owned;

	return i < TN_SOFT_REGIONS_MAX && owned[i].ctx == ctx && !owned[i].mem;
}

int tn_soft_rma_reserve(struct tn_soft_context *ctx, struct torus_rma_call *call)
{
	int err = check_share(ctx, call);

	if (err)
		return err;
	call->region = find_index(ctx->rma);
	ctx->rma->owned[call->region] = (struct tn_soft_region) {
		.ctx = ctx, .bytes = call->bytes,
	};
	ctx->rma->shared += call->bytes;
	ctx->regions++;
	return 0;
}

void tn_soft_rma_unreserve(struct tn_soft_context *ctx, u32 i)
{
	if (is_reserved(ctx, i))
		forget_region(ctx->rma, &ctx->rma->owned[i]);
}

int tn_soft_rma_share(struct tn_soft_context *ctx, struct tn_soft_share *share,
		      struct torus_rma_call *call)
{
	struct tn_soft_rma *rma = ctx->rma;
	u32 i = call->region, key;
	struct tn_soft_region *r;
	int err;

	if (!is_reserved(ctx, i))
		return tn_soft_rma_fail(call, -ENOENT, "region %u is not reserved", i);
	r = &rma->owned[i];
	if (call->flags & TORUS_RMA_AT) {
		err = tn_soft_space_put(rma, i, &share->space, call);
		if (err)
			return err;
	}
	key = make_key(rma->region[i].key, share->key);
	fill_region(ctx, r, share, call);
	rma->region[i] = (struct tn_rma_region) {
		.bytes = call->bytes, .key = key, .job = ctx->job, .access = (u16)call->access,
		.fe = r->bits ? &r->fe : NULL,
	};
	call->key = key;
	return 0;
}

/* Continues to close a region. Return: true if it is closed. */
static bool close_region(struct tn_soft_rma *rma, u32 i)
{
	struct tn_soft_region *r = &rma->owned[i];
	struct tn_rma_owner *owner = tn_nic_rma_owner(rma->soft->nic);

	if (!r->mem) {		/* only reserved: no request has reached it */
		forget_region(rma, r);
		return true;
	}
	tn_soft_space_drop(rma, r);
	rma->ending += !r->ends;
	r->ends = true;
	if (owner && tn_rma_owner_close(owner, i) == -EAGAIN)
		return false;
	rma->ending--;
	rma->region[i].bytes = 0;
	rma->region[i].fe = NULL;
	rma->ops->unmap(rma, r);
	forget_region(rma, r);
	return true;
}

int tn_soft_rma_unshare(struct tn_soft_context *ctx, struct torus_rma_call *call)
{
	struct tn_soft_rma *rma = ctx->rma;
	u32 i = call->region;

	if (!ctx->open)
		return tn_soft_rma_fail(call, -EINVAL, "the context is not open");
	if (i >= TN_SOFT_REGIONS_MAX || rma->owned[i].ctx != ctx ||
	    !rma->owned[i].mem || rma->owned[i].ends)
		return tn_soft_rma_fail(call, -ENOENT, "this context has no region %u", i);
	if (tn_rma_ring_uses(&ctx->ring, i))
		return tn_soft_rma_fail(call, -EBUSY,
					"open requests of this context use region %u", i);
	close_region(rma, i);
	return 0;
}

bool tn_soft_rma_unshare_all(struct tn_soft_context *ctx)
{
	struct tn_soft_rma *rma = ctx->rma;

	for (u32 i = 0; ctx->regions && i < TN_SOFT_REGIONS_MAX; i++)
		if (rma->owned[i].ctx == ctx)
			close_region(rma, i);
	return !ctx->regions;
}

void tn_soft_rma_settle(struct tn_soft_rma *rma)
{
	/*
	 * All regions share the memory for replies: if there is none for one region, the others
	 * have to wait, too.
	 */
	for (u32 i = 0; rma->ending && i < TN_SOFT_REGIONS_MAX; i++)
		if (rma->owned[i].ends && !close_region(rma, i))
			return;
}
