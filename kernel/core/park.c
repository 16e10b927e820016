// SPDX-License-Identifier: GPL-2.0-only
/* The parking segment; park.h says what for. */
#include "park.h"
#include "retry.h"

void tn_park_push(struct tn_park *p, struct tn_pkt *pkt)
{
	p->bytes += tn_park_cost(pkt);
	if (pkt->unresolved)
		p->unresolved++;
	tn_queue_push(&p->q, pkt);
}

struct tn_pkt *tn_park_pop(struct tn_park *p)
{
	struct tn_pkt *pkt = tn_queue_pop(&p->q);

	if (!pkt)
		return NULL;
	p->bytes -= tn_park_cost(pkt);
	if (p->replaying)
		p->replaying--;
	if (!p->q.head)
		p->full = false;
	return pkt;
}

void tn_park_resolve(struct tn_park *p, u32 session, u16 seq, bool dead,
		     struct tn_queue *gone, void (*kept)(void *ctx, struct tn_pkt *pkt),
		     void *ctx)
{
	struct tn_queue all = p->q;
	struct tn_pkt *pkt;

	if (!p->unresolved)
		return;
	p->q = (struct tn_queue) { 0 };
	while ((pkt = tn_queue_pop(&all))) {
		if (!pkt->unresolved || pkt->session != session) {
			tn_queue_push(&p->q, pkt);
			continue;
		}
		pkt->unresolved = 0;
		p->unresolved--;
		if (!dead && tn_seq_before(pkt->hdr.tseq, seq)) {
			p->bytes -= tn_park_cost(pkt);
			tn_queue_push(gone, pkt);
		} else {
			kept(ctx, pkt);
			tn_queue_push(&p->q, pkt);
		}
	}
}
