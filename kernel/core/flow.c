// SPDX-License-Identifier: GPL-2.0-only
/* End-to-end sequence; flow.h says why. */
#include "flow.h"

#define AGE_STEP	12	/* flows are looked through every 2^12 versions */
#define AGE_OLD		0x2000u	/* for epochs so far behind */
#define BEFORE		0x8000u	/* an epoch less others from here on is before them */
#define AHEAD_MAX	(1u << 26)	/* numbers that a flow can have lost at once */

void tn_flows_init(struct tn_flows *f, struct tn_flow_tx *tx, struct tn_flow_rx *rx,
		   u32 nodes)
{
	memset(tx, 0, sizeof(*tx) * TN_FLOW_VCS * nodes);
	memset(rx, 0, sizeof(*rx) * TN_FLOW_VCS * nodes);
	*f = (struct tn_flows) {
		.tx = tx,
		.rx = rx,
		.nodes = nodes,
		.since = ~0ull,
	};
}

void tn_flow_stamp(struct tn_flows *f, struct tn_pkt *pkt, unsigned int vc)
{
	struct tn_flow_tx *tx;

	pkt->tail.epoch = 0;
	pkt->tail.eseq = 0;
	if (vc >= TN_FLOW_VCS)
		return;
	tx = &f->tx[pkt->hdr.dst * TN_FLOW_VCS + vc];
	pkt->tail.epoch = tx->epoch;
	pkt->tail.eseq = tx->next++;
}

void tn_flow_begin(struct tn_flows *f, u32 dst, u64 version)
{
	unsigned int vc;

	for (vc = 0; vc < TN_FLOW_VCS; vc++) {
		struct tn_flow_tx *tx = &f->tx[dst * TN_FLOW_VCS + vc];

		if (tx->epoch == (u16)version)	/* never twice from 0 in one epoch */
			continue;
		tx->epoch = (u16)version;
		tx->next = 0;
	}
}

void tn_flows_age(struct tn_flows *f, u64 old, u64 version)
{
	u32 i;

	if (old >> AGE_STEP == version >> AGE_STEP)
		return;
	for (i = 0; i < f->nodes * TN_FLOW_VCS; i++) {
		struct tn_flow_rx *rx = &f->rx[i];
		u16 behind = (u16)((u16)version - rx->epoch);

		/* Else it is of a source that has the next table already. */
		if (behind >= AGE_OLD && behind < BEFORE)
			rx->flags |= TN_FLOW_OLD;
	}
}

static struct tn_flow_rx *rx_of(struct tn_flows *f, const struct tn_pkt *pkt)
{
	return &f->rx[pkt->hdr.src * TN_FLOW_VCS + pkt->hdr.vc];
}

/* Of a numbering that the flow has left behind. */
static bool is_late(const struct tn_flow_rx *rx, u16 epoch)
{
	return (rx->flags & (TN_FLOW_KNOWN | TN_FLOW_OLD)) == TN_FLOW_KNOWN &&
	       (u16)(epoch - rx->epoch) >= BEFORE;
}

/* Above 0: its turn is yet to come; below: it had its turn. */
static int ahead(const struct tn_flow_rx *rx, u32 eseq)
{
	u32 by = eseq - rx->expected;

	if (rx->flags & TN_FLOW_FRESH)
		return eseq != 0;
	return by > AHEAD_MAX ? -1 : by != 0;
}

/* What is missing before @eseq will not come. */
static void give_up(struct tn_flows *f, struct tn_flow_rx *rx, u32 eseq)
{
	f->lost += eseq - rx->expected;
	rx->expected = eseq;
	rx->flags &= (u8)~TN_FLOW_FRESH;
}

enum tn_flow_turn tn_flow_turn(struct tn_flows *f, const struct tn_pkt *pkt)
{
	struct tn_flow_rx *rx = rx_of(f, pkt);
	bool may_jump = f->licensed && rx->licence != f->licence;
	int turn;

	if (is_late(rx, pkt->tail.epoch))
		return TN_FLOW_LATE;
	if (!(rx->flags & TN_FLOW_KNOWN) || rx->epoch != pkt->tail.epoch) {
		rx->flags |= TN_FLOW_KNOWN | TN_FLOW_FRESH;
		rx->flags &= (u8)~TN_FLOW_OLD;
		rx->epoch = pkt->tail.epoch;
		rx->expected = 0;
	}
	turn = ahead(rx, pkt->tail.eseq);
	if (turn > 0 && may_jump) {
		give_up(f, rx, pkt->tail.eseq);
		turn = 0;
	}
	rx->licence = f->licence;
	if (!turn)
		return TN_FLOW_NOW;
	return turn > 0 ? TN_FLOW_EARLY : TN_FLOW_BEHIND;
}

bool tn_flow_done(struct tn_flows *f, const struct tn_pkt *pkt)
{
	struct tn_flow_rx *rx = rx_of(f, pkt);

	rx->expected = pkt->tail.eseq + 1;
	rx->flags &= (u8)~TN_FLOW_FRESH;
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
		if (rx->epoch != pkt->tail.epoch || ahead(rx, pkt->tail.eseq) <= 0)
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
	       !is_late(rx, pkt->tail.epoch);
}

void tn_flow_close_gap(struct tn_flows *f, const struct tn_pkt *of)
{
	struct tn_flow_rx *rx = rx_of(f, of);
	struct tn_pkt *low = lowest(f, of);

	if (low && ahead(rx, low->tail.eseq) > 0)
		give_up(f, rx, low->tail.eseq);
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
