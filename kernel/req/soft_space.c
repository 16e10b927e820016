// SPDX-License-Identifier: GPL-2.0-only
/* Addresses of regions: each job has a space of 2^48 bytes at this node. */
#include "soft_rma.h"

#define SPACE_BITS	48
#define ALIGNMENT	8

struct tn_soft_space *tn_soft_space_find(const struct tn_soft_rma *rma, u32 job)
{
	struct tn_soft_space *s = rma->space;

	while (s && s->job != job)
		s = s->next;
	return s;
}

/* Makes a space in the memory *@spare. Return: NULL if there is none */
static struct tn_soft_space *make_space(struct tn_soft_rma *rma, struct tn_soft_space **spare,
					u32 job)
{
	struct tn_soft_space *s = *spare;
	struct tn_window_why why;

	if (!s || tn_window_init(&s->window, TN_WINDOW_HIGH, 0, SPACE_BITS, 0, s->from, s->row,
				 TN_SOFT_REGIONS_MAX, &why))
		return NULL;
	*spare = NULL;
	s->job = job;
	s->regions = 0;
	s->next = rma->space;
	rma->space = s;
	return s;
}

static void free_if_empty(struct tn_soft_rma *rma, struct tn_soft_space *s)
{
	struct tn_soft_space **at = &rma->space;

	if (s->regions)
		return;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	rma->ops->free(s);
}

/* Writes why tn_window_put() refused an address. */
static void explain_refusal(struct torus_rma_call *call, const struct tn_soft_space *s, int err,
			    const struct tn_window_why *why)
{
	if (err == -EEXIST)
		tn_soft_rma_fail(call, err, "address 0x%llx: region %u has 0x%llx to 0x%llx",
				 (unsigned long long)call->addr, s->row[why->row].target,
				 (unsigned long long)why->min, (unsigned long long)why->max);
	else
		tn_soft_rma_fail(call, err,
				 "address 0x%llx: the region must end at 0x%llx at the latest",
				 (unsigned long long)call->addr, 1ull << SPACE_BITS);
}

int tn_soft_space_put(struct tn_soft_rma *rma, u32 i, struct tn_soft_space **spare,
		      struct torus_rma_call *call)
{
	struct tn_soft_region *r = &rma->owned[i];
	struct tn_window_row row = {
		.from = call->addr, .bytes = r->bytes, .target = i, .access = (u16)call->access,
	};
	struct tn_window_why why;
	struct tn_soft_space *s;
	int err;

	if (call->addr % ALIGNMENT)
		return tn_soft_rma_fail(call, -EINVAL, "address 0x%llx: must be a multiple of %d",
					(unsigned long long)call->addr, ALIGNMENT);
	if (!call->access)
		return tn_soft_rma_fail(call, -EINVAL,
					"a region with an address must allow some access");
	s = tn_soft_space_find(rma, r->ctx->job);
	if (!s)
		s = make_space(rma, spare, r->ctx->job);
	if (!s)
		return tn_soft_rma_fail(call, -ENOMEM, "out of memory");
	err = tn_window_put(&s->window, &row, &why);
	if (err) {
		explain_refusal(call, s, err, &why);
		free_if_empty(rma, s);
		return err;
	}
	s->regions++;
	r->space = s;
	r->addr = call->addr;
	return 0;
}

void tn_soft_space_drop(struct tn_soft_rma *rma, struct tn_soft_region *r)
{
	if (!r->space)
		return;
	tn_window_drop(&r->space->window, r->addr);
	r->space->regions--;
	free_if_empty(rma, r->space);
	r->space = NULL;
}
