// SPDX-License-Identifier: GPL-2.0-only
/* Calls that describe regions and the requests that wait for their words. */
#include "soft_rma.h"

/* Return: true if the caller is allowed to see this region. */
static bool is_region_listed(const struct tn_soft_context *ctx, const struct tn_soft_region *r)
{
	return r->mem && !r->ends && (!ctx->job || r->ctx->job == ctx->job);
}

static const struct tn_soft_region *region_of_wait(const struct tn_fe_wait *w)
{
	return (const void *)((const u8 *)w->bits - offsetof(struct tn_soft_region, fe));
}

int tn_soft_region_get(struct tn_soft_context *ctx, struct torus_rma_call *call)
{
	struct tn_soft_rma *rma = ctx->rma;
	const struct tn_soft_region *r;
	u32 i = call->region;

	while (i < TN_SOFT_REGIONS_MAX && !is_region_listed(ctx, &rma->owned[i]))
		i++;
	if (i >= TN_SOFT_REGIONS_MAX)
		return tn_soft_rma_fail(call, -ENOENT, "there is no region from number %u on",
					call->region);
	r = &rma->owned[i];
	call->region_info = (struct torus_rma_region_info) {
		.bytes = r->bytes, .region = i, .context = r->ctx->id,
		.job = r->ctx->job, .access = rma->region[i].access,
		.flags = (r->bits ? TORUS_RMA_HAS_FE : 0) |
			 (r->space ? TORUS_RMA_AT : 0),
		.waits = r->fe.waiting, .addr = r->space ? r->addr : 0,
	};
	return 0;
}

/* Examines some more of the pool's entries. Return: true if there is none left */
static bool search_waits(const struct tn_soft_context *ctx, u64 from, struct tn_soft_search *search)
{
	const struct tn_fe_pool *pool = &ctx->rma->pool;
	u32 end = search->at + TN_SOFT_SEARCH;

	for (; search->at < pool->unused && search->at < end; search->at++) {
		const struct tn_fe_wait *w = &pool->wait[search->at];

		if (!w->bits || w->order < from || (search->found && w->order > search->order) ||
		    !is_region_listed(ctx, region_of_wait(w)))
			continue;
		search->found = true;
		search->order = w->order;
		search->best = search->at;
	}
	return search->at >= pool->unused;
}

int tn_soft_wait_get(struct tn_soft_context *ctx, struct torus_rma_call *call,
		     struct tn_soft_search *search, u64 now)
{
	const struct tn_soft_rma *rma = ctx->rma;
	const struct tn_soft_region *r;
	const struct tn_fe_ask *ask;
	const struct tn_fe_wait *w;

	if (rma->memory && !search_waits(ctx, call->bytes, search))
		return -EAGAIN;
	if (!rma->memory || !search->found)
		return tn_soft_rma_fail(call, -ENOENT, "no request waits");
	w = &rma->pool.wait[search->best];
	if (!w->bits || w->order != search->order) {	/* it has ended since it was found */
		*search = (struct tn_soft_search) { 0 };
		return -EAGAIN;
	}
	r = region_of_wait(w);
	ask = &w->ask;
	call->wait_info = (struct torus_rma_wait_info) {
		.number = w->order, .offset = w->word * sizeof(u64),
		.age_ns = now - w->since,
		.value = tn_load64((const u64 *)(r->mem + w->word * sizeof(u64))),
		.operand = ask->value, .region = (u32)(r - rma->owned), .node = ask->from,
		.word = (u16)(TORUS_RMA_WORD_FE(ask->op, ask->q, ask->r) |
			      TORUS_RMA_WORD_CMP(ask->cmp) |
			      TORUS_RMA_WORD_AMO(ask->amo, ask->type)),
		.full = tn_fe_is_full(w->bits, w->word),
		.job = r->ctx->job,
	};
	return 0;
}
