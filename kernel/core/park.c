// SPDX-License-Identifier: GPL-2.0-only
/* The parking segment; see park.h. */
#include "park.h"
#include "retry.h"

static void account_packet(struct tn_park *p, struct tn_pkt *pkt, u64 now)
{
	pkt->parked = now;
	p->bytes += tn_park_cost(pkt);
	p->unresolved += pkt->unresolved;
	p->relayed += pkt->in_port == TN_PORT_RELAY;
}

/* Asserts the invariants of the segment, which hold between any two calls. */
static void check_segment(const struct tn_park *p)
{
	tn_assert(!p->q.head == !p->q.count);
	tn_assert(p->q.count || !p->bytes);
	tn_assert(p->later <= p->q.count);
	tn_assert(p->later || !p->last);
	tn_assert(p->relayed <= p->q.count);
}

void tn_park_push(struct tn_park *p, struct tn_pkt *pkt, u64 now)
{
	account_packet(p, pkt, now);
	if (!p->later)
		tn_queue_push(&p->q, pkt);
	else if (p->last)
		tn_queue_push_after(&p->q, p->last, pkt);
	else
		tn_queue_push_front(&p->q, pkt);
	if (p->later)
		p->last = pkt;
	if (p->through)
		p->replaying = p->q.count - p->later;
	check_segment(p);
}

void tn_park_push_later(struct tn_park *p, struct tn_pkt *pkt, u64 now)
{
	account_packet(p, pkt, now);
	if (!p->later++)
		p->last = p->q.tail;
	tn_queue_push(&p->q, pkt);
	check_segment(p);
}

void tn_park_replay(struct tn_park *p)
{
	p->later = 0;
	p->last = NULL;
	p->replaying = p->q.count;
	p->through = true;
	check_segment(p);
}

struct tn_pkt *tn_park_pop(struct tn_park *p)
{
	struct tn_pkt *pkt = tn_queue_pop(&p->q);

	if (!pkt)
		return NULL;
	tn_assert(p->bytes >= tn_park_cost(pkt));
	p->bytes -= tn_park_cost(pkt);
	p->relayed -= pkt->in_port == TN_PORT_RELAY;
	pkt->in_port = TN_PORT_HOST;
	if (pkt == p->last)
		p->last = NULL;
	if (p->later > p->q.count)
		p->later = p->q.count;
	if (p->replaying)
		p->replaying--;
	if (!p->q.head)
		p->full = false;
	check_segment(p);
	return pkt;
}

void tn_park_resolve(struct tn_park *p, u32 session, u16 seq, bool dead,
		     struct tn_queue *gone, bool (*stays)(void *ctx, struct tn_pkt *pkt),
		     void *ctx)
{
	struct tn_queue all = p->q;
	struct tn_pkt *pkt;
	u64 cost;

	if (!p->unresolved)
		return;
	p->q = (struct tn_queue) { 0 };
	p->last = NULL;
	while ((pkt = tn_queue_pop(&all))) {
		if (p->later && all.count + 1 == p->later)
			p->last = p->q.tail;
		if (!pkt->unresolved || pkt->session != session) {
			tn_queue_push(&p->q, pkt);
			continue;
		}
		tn_assert(p->unresolved);
		/* a packet of a RETRY buffer has left its input buffer */
		tn_assert(pkt->in_port == TN_PORT_HOST);
		pkt->unresolved = 0;
		p->unresolved--;
		if (!dead && tn_seq_before(pkt->hdr.tseq, seq)) {
			p->bytes -= tn_park_cost(pkt);
			tn_queue_push(gone, pkt);
			continue;
		}
		cost = tn_park_cost(pkt);
		if (stays(ctx, pkt))
			tn_queue_push(&p->q, pkt);
		else
			p->bytes -= cost;
	}
	if (!p->q.head)
		p->full = false;
}

/* Return: the final destination, also of a packet on its way to a relay. */
static u32 dst_of(const struct tn_pkt *pkt)
{
	return pkt->hdr.relayed ? pkt->via.dst : pkt->hdr.dst;
}

static bool is_of(const struct tn_park_flow *f, const struct tn_pkt *pkt)
{
	return f->src == pkt->hdr.src && f->dst == dst_of(pkt) && f->vc == pkt->hdr.vc;
}

u32 tn_park_flows(const struct tn_park *p, struct tn_park_flow *out, u32 max, u64 *more)
{
	const struct tn_pkt *pkt = p->q.head;
	u32 n = 0, last = 0;

	tn_assert(max || !out);
	*more = p->q.count;
	for (u32 look = 0; pkt && look < TN_PARK_LOOK; look++, pkt = pkt->next) {
		u32 i = n && is_of(&out[last], pkt) ? last : 0;

		while (i < n && !is_of(&out[i], pkt))
			i++;
		if (i == n && n == max)
			continue;
		if (i == n)
			out[n++] = (struct tn_park_flow) {
				.src = pkt->hdr.src, .dst = dst_of(pkt), .vc = pkt->hdr.vc,
				.since = pkt->parked,
			};
		if (pkt->parked < out[i].since)
			out[i].since = pkt->parked;
		out[i].packets++;
		out[i].bytes += tn_park_cost(pkt);
		last = i;
		--*more;
	}
	return n;
}
