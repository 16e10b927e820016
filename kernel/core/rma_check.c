// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Checks of a request of a process; see rma_ring.h and include/uapi/torus_rma.h. */
#include "rma_ring.h"

#define INLINE_MAX	8
#define KIND_AMO	0x7c00	/* bits of torus_rma_ask.word that belong to an AMO */
#define KIND_FE		0x7fff

static u8 flags_of_ring_op(u8 op)
{
	switch (op) {
	case TORUS_RMA_PUT:
		return TORUS_RMA_KEYED | TORUS_RMA_NOTIFY | TORUS_RMA_FENCE | TORUS_RMA_INLINE;
	case TORUS_RMA_AMO:
		return TORUS_RMA_KEYED | TORUS_RMA_FENCE | TORUS_RMA_POSTED;
	case TORUS_RMA_SEND:
		return TORUS_RMA_FENCE | TORUS_RMA_INLINE;
	case TORUS_RMA_GET:
	case TORUS_RMA_FE:
		return TORUS_RMA_KEYED | TORUS_RMA_FENCE;
	default:
		return 0;
	}
}

static u16 word_of_ring_op(u8 op)
{
	return op == TORUS_RMA_AMO ? KIND_AMO : op == TORUS_RMA_FE ? KIND_FE : 0;
}

/* Return: true if all members that this operation does not use are 0. */
static bool is_rest_zero(const struct torus_rma_ask *a)
{
	bool local = a->op == TORUS_RMA_CANCEL || a->op == TORUS_RMA_RECV;
	bool valued = a->op == TORUS_RMA_CANCEL || a->op == TORUS_RMA_SEND;
	bool operands = a->op == TORUS_RMA_AMO || a->op == TORUS_RMA_FE ||
			a->flags & TORUS_RMA_NOTIFY;

	if (!(a->flags & TORUS_RMA_KEYED) && (a->region || a->key))
		return false;
	if (!tn_rma_ring_has_data(a) && (a->bytes || a->offset))
		return false;
	if ((!tn_rma_ring_has_data(a) || a->flags & TORUS_RMA_INLINE) && a->local)
		return false;
	if (local && (a->node || a->addr))
		return false;
	return operands || ((valued || !a->value) && !a->compare);
}

/* Return: true if @bytes from @addr on are within the address space. */
static bool is_addr_right(u64 addr, u64 bytes)
{
	return addr <= TN_RMA_ADDR_MAX && bytes <= TN_RMA_ADDR_MAX + 1 - addr;
}

static bool is_op_known(u8 op)
{
	return (op >= TORUS_RMA_PUT && op <= TORUS_RMA_SEND) || op == TORUS_RMA_CANCEL ||
	       op == TORUS_RMA_RECV;
}

/* Checks the memory of the process. Return: as tn_rma_ring_check() */
static u8 check_data(const struct tn_rma_ring *r, const struct torus_rma_ask *a, u64 *allowed)
{
	*allowed = r->cfg.data_max;
	if (a->op == TORUS_RMA_SEND && a->bytes > r->cfg.data_max)
		return TORUS_RMA_BAD_LENGTH;
	*allowed = INLINE_MAX;
	if (a->flags & TORUS_RMA_INLINE)
		return a->bytes > INLINE_MAX ? TORUS_RMA_BAD_INLINE : 0;
	*allowed = 0;
	if (a->bytes && r->cfg.ops->room(r->cfg.host, r->cfg.id, a->local, a->offset) < a->bytes)
		return TORUS_RMA_BAD_LOCAL;
	*allowed = tn_rma_ring_recvs_max(r);
	return a->op == TORUS_RMA_RECV && r->recvs >= *allowed ? TORUS_RMA_BAD_COUNT : 0;
}

u8 tn_rma_ring_check(const struct tn_rma_ring *r, const struct torus_rma_ask *a, u64 *allowed)
{
	*allowed = 0;
	if (!is_op_known(a->op))
		return TORUS_RMA_BAD_OP;
	*allowed = flags_of_ring_op(a->op);
	if (a->flags & ~*allowed)
		return TORUS_RMA_BAD_FLAGS;
	*allowed = r->cfg.nodes - 1;
	if (a->node >= r->cfg.nodes)
		return TORUS_RMA_BAD_NODE;
	*allowed = TN_RMA_ADDR_MAX + 1;
	if (!is_addr_right(a->addr, a->op == TORUS_RMA_SEND ? 0 : a->bytes) ||
	    (a->flags & TORUS_RMA_NOTIFY && !is_addr_right(a->compare, sizeof(u64))))
		return TORUS_RMA_BAD_ADDR;
	*allowed = TN_RMA_REGION_MAX;
	if (a->region > TN_RMA_REGION_MAX)
		return TORUS_RMA_BAD_REGION;
	*allowed = word_of_ring_op(a->op);
	if (a->word & ~*allowed)
		return TORUS_RMA_BAD_WORD;
	*allowed = 0;
	if (!is_rest_zero(a))
		return TORUS_RMA_BAD_REST;
	return check_data(r, a, allowed);
}
