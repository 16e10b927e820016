// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Memory that a context has posted for messages; rma_ring.h describes the order in which messages
 * take it.
 */
#include "rma_ring.h"

void tn_rma_ring_post(struct tn_rma_ring *r, u16 at)
{
	tn_assert(r->recvs < tn_rma_ring_recvs_max(r));
	r->cfg.op[at].next = TN_RMA_NO_OP;
	r->cfg.op[at].before = r->recv_last;
	if (r->recv == TN_RMA_NO_OP)
		r->recv = at;
	else
		r->cfg.op[r->recv_last].next = at;
	r->recv_last = at;
	r->recvs++;
}

/* Takes a RECV out of the list. */
static void take_posted(struct tn_rma_ring *r, u16 at)
{
	const struct tn_rma_ring_op *op = &r->cfg.op[at];

	if (op->before == TN_RMA_NO_OP)
		r->recv = op->next;
	else
		r->cfg.op[op->before].next = op->next;
	if (op->next == TN_RMA_NO_OP)
		r->recv_last = op->before;
	else
		r->cfg.op[op->next].before = op->before;
	r->recvs--;
}

void tn_rma_ring_unpost(struct tn_rma_ring *r, u16 at)
{
	take_posted(r, at);
	r->cfg.op[at].status = TN_RMA_REFUSED;
	r->cfg.op[at].reason = TN_RMA_CANCELLED;
	tn_rma_ring_end(r, at);
}

void tn_rma_ring_unpost_all(struct tn_rma_ring *r)
{
	while (r->recvs)
		tn_rma_ring_unpost(r, r->recv);
}

u8 tn_rma_ring_recv(struct tn_rma_ring *r, u32 src, const struct tn_rma_ask *ask, const u8 *data,
		    u32 bytes, u64 *allowed)
{
	struct tn_rma_ring_op *op;
	u16 at = r->recv;

	if (r->closed)
		return TN_RMA_GONE;
	if (ask->job != r->cfg.job)
		return TN_RMA_JOB;
	if (ask->addr != r->cfg.name)
		return TN_RMA_KEY;
	if (!r->recvs || r->broken)
		return TN_RMA_RNR;
	op = &r->cfg.op[at];
	if (bytes > op->from.bytes) {
		*allowed = op->from.bytes;
		return TN_RMA_LENGTH;
	}
	tn_rma_ring_land(r, op, 0, data, bytes);
	op->from.bytes = bytes;
	op->from.node = src;
	op->slot = ask->ep;
	op->value = ask->value;
	take_posted(r, at);
	tn_rma_ring_end(r, at);
	return 0;
}
