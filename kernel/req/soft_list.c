// SPDX-License-Identifier: GPL-2.0-only
/* Calls that describe regions and the requests that wait for their words. */
#include "soft_rma.h"

/* Return: true if the caller is allowed to see this region. */
static bool is_region_listed(const struct tn_soft_context *ctx, const struct tn_soft_region *r)
{
	return r->ctx && !r->ends && (!ctx->job || r->ctx->job == ctx->job);
}

static const struct tn_soft_region *region_of_wait(const struct tn_fe_wait *w)
{
	return (const void *)((const u8 *)w->bits - offsetof(struct tn_soft_region, fe));
}

struct wait_count {
	const struct tn_soft_region *r;
	u32 n;
};

static bool count_wait(void *ctx, const struct tn_fe_wait *w)
{
	struct wait_count *c = ctx;

	c->n += region_of_wait(w) == c->r;
	return false;
}

int tn_soft_region_get(struct tn_soft_context *ctx, struct torus_rma_call *call)
{
	struct tn_soft_rma *rma = ctx->rma;
	struct wait_count count = { 0 };
	u32 i = call->region;

	while (i < TN_SOFT_REGIONS_MAX && !is_region_listed(ctx, &rma->owned[i]))
		i++;
	if (i >= TN_SOFT_REGIONS_MAX)
		return tn_soft_rma_fail(call, -ENOENT, "there is no region from number %u on",
					call->region);
	count.r = &rma->owned[i];
	if (rma->pool.waiting)
		tn_fe_end(&rma->pool, count_wait, &count);
	call->region_info = (struct torus_rma_region_info) {
		.bytes = count.r->bytes, .region = i, .context = count.r->ctx->id,
		.job = count.r->ctx->job, .access = rma->region[i].access,
		.flags = (count.r->bits ? TORUS_RMA_HAS_FE : 0) |
			 (count.r->space ? TORUS_RMA_AT : 0),
		.waits = count.n, .addr = count.r->space ? count.r->addr : 0,
	};
	return 0;
}

struct wait_search {
	const struct tn_soft_context *ctx;
	u64 from;
	const struct tn_fe_wait *found;
};

/* Called for each waiter: keeps the one with the lowest number from @from on. */
static bool keep_earlier(void *ctx, const struct tn_fe_wait *w)
{
	struct wait_search *s = ctx;

	if (w->order >= s->from && (!s->found || w->order < s->found->order) &&
	    is_region_listed(s->ctx, region_of_wait(w)))
		s->found = w;
	return false;
}

int tn_soft_wait_get(struct tn_soft_context *ctx, struct torus_rma_call *call, u64 now)
{
	struct tn_soft_rma *rma = ctx->rma;
	struct wait_search search = { .ctx = ctx, .from = call->bytes };
	const struct tn_soft_region *r;
	const struct tn_fe_ask *ask;

	if (rma->pool.waiting)
		tn_fe_end(&rma->pool, keep_earlier, &search);
	if (!search.found)
		return tn_soft_rma_fail(call, -ENOENT, "no request waits");
	r = region_of_wait(search.found);
	ask = &search.found->ask;
	call->wait_info = (struct torus_rma_wait_info) {
		.number = search.found->order, .offset = search.found->word * sizeof(u64),
		.age_ns = now - search.found->since,
		.value = tn_load64((const u64 *)(r->mem + search.found->word * sizeof(u64))),
		.operand = ask->value, .region = (u32)(r - rma->owned), .node = ask->from,
		.word = (u16)(TORUS_RMA_WORD_FE(ask->op, ask->q, ask->r) |
			      TORUS_RMA_WORD_CMP(ask->cmp) |
			      TORUS_RMA_WORD_AMO(ask->amo, ask->type)),
		.full = tn_fe_is_full(search.found->bits, search.found->word),
		.job = r->ctx->job,
	};
	return 0;
}
