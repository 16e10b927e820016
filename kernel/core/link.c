// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending by a link: packets that wait for it, and the frames in which they leave. link_rx.c
 * receives frames; linkstate.c has the states and timers of a link, handshake.c its INITs.
 */
#include "linkstate.h"
#include "times.h"

/*
 * if a frame is sent late by less than this, the next frames are sent earlier, so that the rate is
 * kept
 */
#define PACE_LATE	MS
#define PACE_FRAME	MS	/* the longest time that one paced frame may take on the wire */

void tn_link_account(struct tn_link *l, u64 now)
{
	static const u8 counter_of[TORUS_LINK_STATES] = {
		[TORUS_LINK_DOWN] = TORUS_PC_NS_DOWN,
		[TORUS_LINK_TRAINING] = TORUS_PC_NS_TRAINING,
		[TORUS_LINK_INIT] = TORUS_PC_NS_TRAINING,
		[TORUS_LINK_UP] = TORUS_PC_NS_UP,
		[TORUS_LINK_RETRAINING] = TORUS_PC_NS_TRAINING,
		[TORUS_LINK_FAULTY] = TORUS_PC_NS_FAULTY,
	};

	tn_assert(l->state < TORUS_LINK_STATES);
	if (now > l->since) {
		l->counter[counter_of[l->state]] += now - l->since;
		l->since = now;
	}
}

static void seg_add(struct tn_frame *f, const u8 *base, u32 len)
{
	tn_assert(f->nsegs < TN_FRAME_SEGS);
	tn_assert(len);
	f->seg[f->nsegs++] = (struct tn_seg) { .base = base, .len = len };
	f->bytes += len;
	f->small += len;
}

/* Computes the end-to-end check sum before a first transmission, unless the peer shares memory. */
static void compute_ecrc(const struct tn_link *l, struct tn_pkt *pkt)
{
	if (l->tx_memory && pkt->unsummed == TN_UNSUMMED) {
		pkt->unsummed = TN_UNSUMMED_SENT;
	} else if (pkt->unsummed) {
		pkt->tail.ecrc = tn_link_ecrc(pkt->payload, &pkt->hdr, &pkt->tail, &pkt->via);
		pkt->unsummed = 0;
	}
}

/*
 * Writes the header flit of @pkt as a copy of that of @before, the previous packet of the frame,
 * with another TSEQ. Return: false if the headers differ in more than TSEQ.
 */
static inline bool write_like(struct tn_link *l, struct tn_pkt *pkt, const struct tn_pkt *before)
{
	if (!before || !tn_hdr_like(&pkt->hdr, &before->hdr) || l->retry.ops->counts)
		return false;
	tn_put_le64(pkt->edge, (tn_get_le64(before->edge) & ~TN_SERIES_DIFFERS) |
			       (u64)pkt->hdr.tseq << TN_SERIES_TSEQ);
	tn_put_le64(pkt->edge + 8, tn_get_le64(before->edge + 8));
	return true;
}

/* Writes header, tail and relay flit as they are sent now, with the present answer to the peer. */
static void write_edge(struct tn_link *l, struct tn_pkt *pkt, const struct tn_pkt *before)
{
	struct tn_hdr h;

	if (!write_like(l, pkt, before)) {
		h = pkt->hdr;
		l->retry.ops->stamp(&l->retry, &h);
		tn_assert(!h.crp || h.crp_vc < TORUS_VCS);
		tn_hdr_put(pkt->edge, &h);
	}
	tn_tail_put(pkt->edge + TN_FLIT, &pkt->tail);
	if (pkt->hdr.relayed)
		tn_via_put(pkt->edge + 2 * TN_FLIT, &pkt->via);
	tn_lcrc_set(pkt->edge, l->seed);
}

static void write_header(struct tn_link *l, struct tn_pkt *pkt, const struct tn_pkt *before)
{
	compute_ecrc(l, pkt);
	tn_assert(pkt->hdr.vc < TORUS_VCS);
	tn_assert(pkt->hdr.len <= TN_PAYLOAD_MAX / TN_FLIT);
	tn_assert(pkt->unsummed != TN_UNSUMMED);
	if (!pkt->vccr_set) {
		pkt->hdr.crp = tn_credit_report(&l->credit, &pkt->hdr.crp_vc);
		pkt->vccr_set = 1;
	}
	write_edge(l, pkt, before);
}

/* Appends @pkt, whose header is written, to the frame. */
static void add_packet(struct tn_frame *f, const struct tn_pkt *pkt)
{
	u32 payload = pkt->hdr.len * TN_FLIT, around = (2u + pkt->hdr.relayed) * TN_FLIT;
	struct tn_seg *s = &f->seg[f->nsegs];

	tn_assert(f->nsegs + 3 <= TN_FRAME_SEGS);
	*s++ = (struct tn_seg) { .base = pkt->edge, .len = TN_FLIT };
	if (payload)
		*s++ = (struct tn_seg) { .base = pkt->payload, .len = payload };
	*s++ = (struct tn_seg) { .base = pkt->edge + TN_FLIT, .len = around - TN_FLIT };
	f->nsegs = (u32)(s - f->seg);
	f->bytes += around + payload;
	f->small += around;
	if (payload >= TN_FRAME_LARGE)
		f->large++;
	else
		f->small += payload;
}

static void count_sent(struct tn_link *l, const struct tn_pkt *pkt, bool replay)
{
	if (replay) {
		l->counter[TORUS_PC_REPLAYED_PACKETS]++;
		return;
	}
	if (pkt->hdr.type == TN_DATA || pkt->hdr.type == TN_UNREACH)
		l->counter[TORUS_PC_TX_VCD0 + pkt->hdr.vc]++;
	l->counter[TORUS_PC_TX_PACKETS]++;
	l->counter[TORUS_PC_TX_FLITS] += tn_pkt_flits(pkt);
	l->counter[TORUS_PC_TX_BYTES] += tn_pkt_bytes(pkt);
}

static bool is_large(const struct tn_pkt *pkt)
{
	return pkt->hdr.len >= TN_FRAME_LARGE / TN_FLIT;
}

/* Return: the time that @bytes take on a paced wire, ns; 0 if the link is not paced. */
static u64 wire_time(const struct tn_link *l, u32 bytes)
{
	u32 mbps = l->peer_mbps;

	return mbps && l->params->pace ? (u64)bytes * 8000 * l->params->pace / mbps : 0;
}

/* Accounts the time that a sent frame of @bytes takes on the wire. */
static void charge_wire_time(struct tn_link *l, u32 bytes, u64 now)
{
	u64 time = wire_time(l, bytes);

	if (!time)
		return;
	if (l->free_at + PACE_LATE < now)
		l->free_at = now;
	l->free_at += time;
	l->paced = l->free_at > now;
}

/* Return: true if @pkt still fits into the frame @f, which may have @max bytes. */
static bool fits_frame(const struct tn_link *l, const struct tn_frame *f, const struct tn_pkt *pkt,
		       u32 max)
{
	u32 bytes = tn_pkt_flits(pkt) * TN_FLIT;

	if (f->bytes + bytes > max || f->nsegs + 3 > TN_FRAME_SEGS)
		return false;
	/*
	 * A frame of a paced link has one packet, or takes at most PACE_FRAME on the wire, so that
	 * acknowledgements do not wait long behind it.
	 */
	if (f->bytes > TN_ACKNAK_BYTES && wire_time(l, f->bytes + bytes) > PACE_FRAME)
		return false;
	if (is_large(pkt)) {
		bytes -= pkt->hdr.len * TN_FLIT;
		if (l->large_max && f->large == l->large_max)
			return false;
	}
	return !l->small_max || f->small + bytes <= l->small_max;
}

/* Fills the frame with packets of the RETRY buffer. */
static void fill_frame(struct tn_link *l, struct tn_frame *f, u64 now)
{
	const struct tn_pkt *before = NULL;
	u32 max = l->params->frame_max;

	if (l->frame_max && l->frame_max < max)
		max = l->frame_max;
	while (tn_retry_ready(&l->retry)) {
		struct tn_pkt *pkt = l->retry.tx.next;

		if (!fits_frame(l, f, pkt, max))
			return;
		write_header(l, pkt, before);
		add_packet(f, pkt);
		before = pkt;
		tn_assert(f->bytes <= max);
		tn_assert(f->small <= f->bytes);
		tn_assert(!l->large_max || f->large <= l->large_max);
		count_sent(l, pkt, tn_retry_sending(&l->retry, now));
	}
}

/* Queues CREDIT packets for freed buffers that no data packet has reported to the peer. */
static void push_credits(struct tn_link *l, u64 now)
{
	while (tn_credit_owed(&l->credit)) {	/* one packet for each VC */
		struct tn_pkt *pkt;

		if (l->retry.tx.sent.count >= l->retry_packets + TN_LINK_CTL_SLACK)
			return;
		pkt = l->host_ops->pkt_new(l->host, 0);
		if (!pkt)
			return;
		pkt->hdr = (struct tn_hdr) { .type = TN_CREDIT };
		pkt->tail = (struct tn_tail) { 0 };
		pkt->unsummed = 0;
		tn_retry_push(&l->retry, pkt, now);
		pkt->hdr.crp = tn_credit_report(&l->credit, &pkt->hdr.crp_vc);
		pkt->vccr_set = 1;
	}
}

/* Adds an IDLE packet with the header @h to the frame; @at: memory for it in l->ctl */
static void add_idle(struct tn_link *l, struct tn_frame *f, struct tn_hdr h, u8 *at)
{
	h.type = TN_IDLE;
	l->retry.ops->stamp(&l->retry, &h);
	memset(at, 0, 2 * TN_FLIT);
	tn_hdr_put(at, &h);
	tn_lcrc_set(at, l->seed);
	seg_add(f, at, 2 * TN_FLIT);
}

static void idle_frame(struct tn_link *l, struct tn_frame *f)
{
	add_idle(l, f, (struct tn_hdr) { 0 }, l->ctl);
}

/*
 * Adds requests for false packets (MBS). They use the flits of l->ctl after those of an ACKNAK or
 * IDLE of the same frame.
 */
static void add_requests(struct tn_link *l, struct tn_frame *f)
{
	u8 *at = l->ctl + 2 * TN_FLIT;
	unsigned int vc;

	for (vc = 0; vc < TORUS_VC_A; vc++) {
		if (!(l->asks >> vc & 1))
			continue;
		add_idle(l, f, (struct tn_hdr) { .nic = 1, .vc = (u8)vc }, at);
		at += 2 * TN_FLIT;
	}
	l->asks = 0;
}

/*
 * Writes an ACK or NAK at the start of the frame, so that the peer reads it even if a later packet
 * of the frame is damaged.
 */
static void add_acknak(struct tn_link *l, struct tn_frame *f)
{
	struct tn_hdr h = { .type = TN_ACKNAK };

	l->retry.ops->stamp(&l->retry, &h);
	tn_assert(!f->nsegs);
	l->counter[h.e ? TORUS_PC_NAKS_SENT : TORUS_PC_ACKS_SENT]++;
	tn_acknak_put(l->ctl, &h, l->seed);
	seg_add(f, l->ctl, TN_ACKNAK_BYTES);
}

u32 tn_link_tx(struct tn_link *l, struct tn_frame *f, u64 now)
{
	bool alone = l->retry.ops->alone;

	f->nsegs = 0;
	f->bytes = 0;
	f->large = 0;
	f->small = 0;
	if (l->init_now) {
		l->init_now = false;
		tn_link_build_init(l, now);
		seg_add(f, l->ctl, TN_FLIT);
		seg_add(f, l->ctl + 2 * TN_FLIT, TN_INIT_FLITS * TN_FLIT);
		seg_add(f, l->ctl + TN_FLIT, TN_FLIT);
		l->counter[TORUS_PC_TX_FRAMES]++;
		return f->bytes;
	}
	if (!tn_link_wants(l))
		return 0;
	if (alone && l->ack_now)
		add_acknak(l, f);
	if (l->asks)
		add_requests(l, f);
	fill_frame(l, f, now);
	if (l->credit_now || l->ack_now) {
		push_credits(l, now);
		fill_frame(l, f, now);
		if (!tn_credit_owed(&l->credit))
			l->credit_now = false;
	}
	if (!f->bytes) {
		/*
		 * only credits are to be reported, and there was no memory for the CREDIT packet:
		 * retry later
		 */
		if (!l->ack_now) {
			l->credit_now = false;
			l->credit_at = now + l->params->ack_delay;
			return 0;
		}
		idle_frame(l, f);
	}
	if (l->ack_now || !alone) {
		l->unacked = 0;
		l->ack_at = ~0ull;
	}
	tn_assert(f->bytes && f->nsegs);
	l->ack_now = tn_retry_urgent(&l->retry);
	if (!tn_credit_owed(&l->credit))
		l->credit_at = ~0ull;
	tn_link_note_sent(l, now);
	charge_wire_time(l, f->bytes, now);
	l->counter[TORUS_PC_TX_FRAMES]++;
	return f->bytes;
}

/* Return: true if a marked copy can be sent before @pkt without making @pkt wait for a buffer. */
static bool room_before(const struct tn_link *l, const struct tn_pkt *pkt)
{
	return l->retry.tx.sent.count + 2 <= l->retry_packets &&
	       /* one buffer for @pkt, and one that must remain free (bubble) */
	       tn_credit_may(&l->credit, pkt->hdr.vc, 2);
}

/*
 * For tests: queues the copy, marked as bad, that a cut-through NIC would send before @good if it
 * had found the packet damaged after it had begun to forward it.
 */
static void push_marked(struct tn_link *l, const struct tn_pkt *good, u64 now)
{
	struct tn_pkt *pkt = l->host_ops->pkt_new(l->host, good->hdr.len);

	if (!pkt)
		return;
	tn_assert(good->hdr.type == TN_DATA || good->hdr.type == TN_UNREACH);
	pkt->hdr = good->hdr;
	pkt->tail = good->tail;
	pkt->tail.vb = TN_VB_BAD;
	pkt->via = good->via;
	pkt->in_port = TN_PORT_HOST;
	pkt->unresolved = 0;
	pkt->stalled = 0;
	pkt->unsummed = 0;
	if (good->hdr.len) {
		memcpy(pkt->payload, good->payload, (size_t)good->hdr.len * TN_FLIT);
		pkt->payload[0] ^= 1;
	}
	tn_credit_take(&l->credit, pkt->hdr.vc, 1);
	tn_retry_push(&l->retry, pkt, now);
}

void tn_link_push(struct tn_link *l, struct tn_pkt *pkt, u64 now)
{
	if (unlikely(l->marks.ber) && tn_fault_next(&l->marks) && room_before(l, pkt))
		push_marked(l, pkt, now);
	tn_assert(tn_link_may(l, pkt->hdr.vc, 0));
	tn_assert(pkt->hdr.type == TN_DATA || pkt->hdr.type == TN_UNREACH);
	tn_assert(pkt->in_port == TN_PORT_HOST);
	tn_credit_take(&l->credit, pkt->hdr.vc, 1);
	tn_retry_push(&l->retry, pkt, now);
}

void tn_link_push_series(struct tn_link *l, struct tn_queue *some, unsigned int vc, u64 now)
{
	tn_assert(!l->marks.ber);
	tn_assert(l->state == TORUS_LINK_UP);
	tn_assert(l->retry.tx.sent.count + some->count <= l->retry_packets);
	tn_credit_take(&l->credit, vc, some->count);
	tn_retry_push_series(&l->retry, some, now);
}

bool tn_link_false(struct tn_link *l, unsigned int vc, bool handed, u64 now)
{
	struct tn_pkt *pkt;

	if (!tn_link_may(l, vc, 0))
		return false;
	pkt = l->host_ops->pkt_new(l->host, 0);
	if (!pkt)
		return false;
	pkt->hdr = (struct tn_hdr) { .type = TN_CREDIT, .vc = (u8)vc, .nic = 1, .dst = handed };
	pkt->tail = (struct tn_tail) { 0 };
	pkt->unsummed = 0;
	tn_credit_take(&l->credit, vc, 1);
	tn_retry_push(&l->retry, pkt, now);
	return true;
}

void tn_link_ack(struct tn_link *l)
{
	if (l->state == TORUS_LINK_UP && l->unacked)
		l->ack_now = true;
}

/* Decides when to report the freed buffers of @vc. */
static inline void note_freed(struct tn_link *l, unsigned int vc, u64 now)
{
	tn_assert(l->credit.used[vc] + l->credit.owed[vc] <= l->params->slots);
	if (l->credit.owed[vc] >= l->params->slots / 4)
		l->credit_now = true;
	else if (l->credit_at == ~0ull)
		l->credit_at = now + l->params->ack_delay;
}

void tn_link_freed(struct tn_link *l, unsigned int vc, bool critical, u64 now)
{
	tn_assert(vc < TORUS_VCS);
	tn_assert(l->credit.used[vc]);
	tn_credit_freed(&l->credit, vc, 1, critical);
	note_freed(l, vc, now);
}

void tn_link_freed_some(struct tn_link *l, unsigned int vc, unsigned int n, u64 now)
{
	tn_assert(vc < TORUS_VCS);
	tn_assert(l->credit.used[vc] >= n);
	tn_credit_freed(&l->credit, vc, n, false);
	note_freed(l, vc, now);
}

int tn_link_mgmt(struct tn_link *l, const u8 *data, unsigned int len, u64 now)
{
	unsigned int flits = (len + TN_FLIT - 1) / TN_FLIT;
	struct tn_pkt *pkt;

	if (!len || len > TORUS_MGMT_MAX)
		return -EINVAL;
	if (l->state != TORUS_LINK_UP)
		return -ENETDOWN;
	if (l->retry.tx.sent.count >= l->retry_packets + TN_LINK_CTL_SLACK) {
		l->counter[TORUS_PC_MGMT_DROPS]++;
		return -EAGAIN;
	}
	pkt = l->host_ops->pkt_new(l->host, flits);
	if (!pkt)
		return -EAGAIN;
	pkt->hdr = (struct tn_hdr) { .type = TN_MGMT, .len = (u16)flits };
	pkt->tail = (struct tn_tail) { .flags = (u8)(flits * TN_FLIT - len) };
	memset(pkt->payload, 0, (size_t)flits * TN_FLIT);
	memcpy(pkt->payload, data, len);
	pkt->unsummed = 0;
	pkt->tail.ecrc = tn_ecrc(pkt->payload, &pkt->hdr, &pkt->tail);
	tn_retry_push(&l->retry, pkt, now);
	l->counter[TORUS_PC_MGMT_TX]++;
	return 0;
}
