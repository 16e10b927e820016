// SPDX-License-Identifier: GPL-2.0-only
/* End-to-end sequence; flow.h says why. */
#include "flow.h"

void tn_flows_init(struct tn_flows *f, struct tn_flow_tx *tx, struct tn_flow_rx *rx,
		   u32 nodes, u32 epoch)
{
	memset(tx, 0, sizeof(*tx) * TN_FLOW_VCS * nodes);
	memset(rx, 0, sizeof(*rx) * TN_FLOW_VCS * nodes);
	*f = (struct tn_flows) {
		.tx = tx,
		.rx = rx,
		.nodes = nodes,
		.epoch = (u16)epoch,
		.since = ~0ull,
	};
}

void tn_flow_stamp(struct tn_flows *f, struct tn_pkt *pkt, unsigned int vc)
{
	struct tn_flow_tx *tx;

	pkt->tail.epoch = f->epoch;
	pkt->tail.eseq = 0;
	if (vc >= TN_FLOW_VCS)
		return;
	tx = &f->tx[pkt->hdr.dst * TN_FLOW_VCS + vc];
	if (!tx->used) {
		tx->used = 1;
		tx->epoch = (u16)(tx->epoch + f->epoch);
	}
	pkt->tail.epoch = tx->epoch;
	pkt->tail.eseq = tx->next++;
}

void tn_flow_restart(struct tn_flows *f, u32 dst)
{
	unsigned int vc;

	for (vc = 0; vc < TN_FLOW_VCS; vc++) {
		struct tn_flow_tx *tx = &f->tx[dst * TN_FLOW_VCS + vc];

		if (!tx->used)
			continue;
		/* Odd steps: not the epoch of a NIC restarted in between. */
		tx->epoch = (u16)(tx->epoch + 0x4e35);
		tx->next = 0;
	}
}

static struct tn_flow_rx *rx_of(struct tn_flows *f, const struct tn_pkt *pkt)
{
	return &f->rx[pkt->hdr.src * TN_FLOW_VCS + pkt->hdr.vc];
}

/* Whether @epoch is one that the flow has left behind. */
static bool is_former(const struct tn_flow_rx *rx, u16 epoch)
{
	return (rx->flags & TN_FLOW_KNOWN) && epoch != rx->epoch &&
	       (epoch == rx->former[0] || epoch == rx->former[1]);
}

enum tn_flow_turn tn_flow_turn(struct tn_flows *f, const struct tn_pkt *pkt)
{
	struct tn_flow_rx *rx = rx_of(f, pkt);
	bool may_jump = f->licensed && rx->licence != f->licence;
	s32 ahead;

	if (is_former(rx, pkt->tail.epoch))
		return TN_FLOW_LATE;
	if (!(rx->flags & TN_FLOW_KNOWN)) {
		rx->flags |= TN_FLOW_KNOWN;
		rx->epoch = pkt->tail.epoch;
		rx->former[0] = rx->epoch;
		rx->former[1] = rx->epoch;
		rx->expected = 0;
	} else if (rx->epoch != pkt->tail.epoch) {
		rx->former[1] = rx->former[0];
		rx->former[0] = rx->epoch;
		rx->epoch = pkt->tail.epoch;
		rx->expected = 0;
	}
	ahead = (s32)(pkt->tail.eseq - rx->expected);
	if (ahead > 0 && may_jump) {
		f->lost += (u32)ahead;
		rx->expected = pkt->tail.eseq;
		ahead = 0;
	}
	rx->licence = f->licence;
	if (!ahead)
		return TN_FLOW_NOW;
	return ahead > 0 ? TN_FLOW_EARLY : TN_FLOW_BEHIND;
}

bool tn_flow_done(struct tn_flows *f, const struct tn_pkt *pkt)
{
	struct tn_flow_rx *rx = rx_of(f, pkt);

	rx->expected = pkt->tail.eseq + 1;
	return rx->flags & TN_FLOW_WAITING;
}

void tn_flow_wait(struct tn_flows *f, struct tn_pkt *pkt, u64 now)
{
	rx_of(f, pkt)->flags |= TN_FLOW_WAITING;
	if (!f->wait.head)
		f->since = now;
	f->wait_bytes += (u64)tn_pkt_flits(pkt) * TN_FLIT;
	tn_queue_push(&f->wait, pkt);
}

struct tn_pkt *tn_flow_next(struct tn_flows *f)
{
	struct tn_pkt *pkt;

	for (pkt = f->wait.head; pkt; pkt = pkt->next) {
		const struct tn_flow_rx *rx = rx_of(f, pkt);

		/* Of an older epoch, or given up past it: delivered at once. */
		if (rx->epoch != pkt->tail.epoch ||
		    (s32)(pkt->tail.eseq - rx->expected) <= 0)
			return pkt;
	}
	return NULL;
}

void tn_flow_unwait(struct tn_flows *f, struct tn_pkt *pkt)
{
	struct tn_pkt **p = &f->wait.head, *before = NULL, *q;
	struct tn_flow_rx *rx = rx_of(f, pkt);

	while (*p != pkt) {
		before = *p;
		p = &(*p)->next;
	}
	*p = pkt->next;
	if (f->wait.tail == pkt)
		f->wait.tail = before;
	f->wait.count--;
	f->wait_bytes -= (u64)tn_pkt_flits(pkt) * TN_FLIT;
	pkt->next = NULL;
	if (!f->wait.head)
		f->since = ~0ull;
	for (q = f->wait.head; q; q = q->next) {
		if (rx_of(f, q) == rx)
			return;
	}
	rx->flags &= (u8)~TN_FLOW_WAITING;
}

/* The waiting packet with the lowest number in the flow of @of. */
static struct tn_pkt *lowest(struct tn_flows *f, const struct tn_pkt *of)
{
	const struct tn_flow_rx *rx = rx_of(f, of);
	struct tn_pkt *low = NULL, *q;

	for (q = f->wait.head; q; q = q->next) {
		if (rx_of(f, q) != rx || q->tail.epoch != rx->epoch)
			continue;
		if (!low || (s32)(q->tail.eseq - low->tail.eseq) < 0)
			low = q;
	}
	return low;
}

bool tn_flow_overdue(struct tn_flows *f, const struct tn_pkt *pkt)
{
	const struct tn_flow_rx *rx = rx_of(f, pkt);

	return (rx->flags & TN_FLOW_WAITING) && rx->epoch != pkt->tail.epoch &&
	       !is_former(rx, pkt->tail.epoch);
}

void tn_flow_close_gap(struct tn_flows *f, const struct tn_pkt *of)
{
	struct tn_flow_rx *rx = rx_of(f, of);
	struct tn_pkt *low = lowest(f, of);

	if (!low || (s32)(low->tail.eseq - rx->expected) <= 0)
		return;
	f->lost += low->tail.eseq - rx->expected;
	rx->expected = low->tail.eseq;
}

void tn_flow_close_gaps(struct tn_flows *f)
{
	struct tn_pkt *q;

	for (q = f->wait.head; q; q = q->next)
		tn_flow_close_gap(f, q);
}

void tn_flow_license(struct tn_flows *f)
{
	f->licence++;
	f->licensed = true;
}
