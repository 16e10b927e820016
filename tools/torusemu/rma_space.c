// SPDX-License-Identifier: GPL-2.0-only
/* Addresses of regions: each job has a space of 2^48 bytes at this node. */
#include <stdlib.h>

#include "emu.h"
#include "rma.h"

#define SPACE_BITS	48
#define ALIGNMENT	8

struct rma_space *rma_space_find(const struct rma *rma, u16 job)
{
	struct rma_space *s = rma->space;

	while (s && s->job != job)
		s = s->next;
	return s;
}

static struct rma_space *make_space(struct rma *rma, u16 job)
{
	struct rma_space *s = calloc(1, sizeof(*s));
	struct tn_window_why why;

	if (!s)
		return NULL;
	if (tn_window_init(&s->window, TN_WINDOW_HIGH, 0, SPACE_BITS, 0, s->from, s->row,
			   RMA_REGIONS_MAX, &why)) {
		free(s);
		return NULL;
	}
	s->job = job;
	s->next = rma->space;
	rma->space = s;
	return s;
}

static void free_if_empty(struct rma *rma, struct rma_space *s)
{
	struct rma_space **at = &rma->space;

	if (s->regions)
		return;
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	free(s);
}

static int refuse_addr(struct torus_rma_call *call, const struct rma_space *s, int err,
		       const struct tn_window_why *why)
{
	if (err == -EEXIST)
		return rma_fail(call, err, "address 0x%llx: region %u has 0x%llx to 0x%llx",
				(unsigned long long)call->addr, s->row[why->row].target,
				(unsigned long long)why->min, (unsigned long long)why->max);
	return rma_fail(call, err, "address 0x%llx: the region must end at 0x%llx at the latest",
			(unsigned long long)call->addr, 1ull << SPACE_BITS);
}

int rma_space_put(struct rma *rma, u32 i, struct torus_rma_call *call)
{
	struct rma_region *r = &rma->owned[i];
	struct tn_window_row row = {
		.from = call->addr, .bytes = r->bytes, .target = i, .access = (u16)call->access,
	};
	struct tn_window_why why;
	struct rma_space *s;
	int err;

	if (call->addr % ALIGNMENT)
		return rma_fail(call, -EINVAL, "address 0x%llx: must be a multiple of %d",
				(unsigned long long)call->addr, ALIGNMENT);
	if (!call->access)
		return rma_fail(call, -EINVAL, "a region with an address must allow some access");
	s = rma_space_find(rma, r->ctx->job);
	if (!s)
		s = make_space(rma, r->ctx->job);
	if (!s)
		return rma_fail(call, -ENOMEM, "out of memory");
	err = tn_window_put(&s->window, &row, &why);
	if (err) {
		refuse_addr(call, s, err, &why);
		free_if_empty(rma, s);
		return err;
	}
	s->regions++;
	r->space = s;
	r->addr = call->addr;
	return 0;
}

void rma_space_drop(struct rma *rma, struct rma_region *r)
{
	if (!r->space)
		return;
	tn_window_drop(&r->space->window, r->addr);
	r->space->regions--;
	free_if_empty(rma, r->space);
	r->space = NULL;
}
