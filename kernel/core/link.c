// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data path of a link: how frames are received and sent. linkstate.c has the states and timers of a
 * link.
 */
#include "linkstate.h"
#include "pieces.h"
#include "times.h"

/*
 * if a frame is sent late by less than this, the next frames are sent earlier, so that the rate is
 * kept
 */
#define PACE_LATE	MS
#define SERIES_TSEQ	20	/* first bit of TSEQ in the first 8 bytes of a header flit */
#define SERIES_DIFFERS	((u64)TN_SEQ_MASK << SERIES_TSEQ)
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

/*
 * Return: the ECRC of a packet. It covers the final destination, because the destination in the
 * header of a relayed packet is that of the present leg.
 */
static u32 end_to_end(const u8 *payload, const struct tn_hdr *h, const struct tn_tail *t,
		      const struct tn_via *via)
{
	struct tn_hdr final = *h;

	if (h->relayed)
		final.dst = via->dst;
	return tn_ecrc(payload, &final, t);
}

/* --- receiving ------------------------------------------------------------- */

/*
 * Called when a packet of generation @gen was damaged or out of sequence: requests a
 * retransmission.
 */
static void rx_error(struct tn_link *l, u8 gen, u64 now)
{
	if (!tn_retry_error(&l->retry, gen))
		return;
	l->ack_now = true;
	l->eager = TN_RETRY_EAGER;
	if (l->retry.ops->remind)
		l->e_at = now + l->params->replay_timeout / 2;
	l->counter[TORUS_PC_E_SENT]++;
}

/*
 * Processes the acknowledgement in an intact header. Return: false if it was invalid and the link
 * has failed.
 */
static bool rx_ack(struct tn_link *l, const struct tn_hdr *h, u64 now)
{
	struct tn_queue done = { 0 };
	enum tn_received received = tn_retry_receive(&l->retry, h, &done, now);

	if (done.head)
		l->ops->acked(l->ctx, &done);
	if (received == TN_RECEIVED_INVALID) {
		tn_link_fail(l, TORUS_REASON_PROTOCOL, now);
		return false;
	}
	if (received == TN_RECEIVED_ASK)
		l->ack_now = true;
	if (received == TN_RECEIVED_REPLAY) {
		l->counter[TORUS_PC_E_RECEIVED]++;
		l->counter[TORUS_PC_RETRIES]++;
	}
	return true;
}

static bool is_well_formed(const struct tn_link *l, const struct tn_hdr *h)
{
	if (h->relayed && h->type != TN_DATA && h->type != TN_UNREACH)
		return false;
	switch (h->type) {
	case TN_DATA:
	case TN_UNREACH:
		if (h->nic && (h->type != TN_DATA || h->len != 1))
			return false;
		return h->vc < TORUS_VCS && h->crp_vc < TORUS_VCS &&
		       h->len <= l->params->payload_max / TN_FLIT;
	case TN_CREDIT:
	case TN_IDLE:
		return !h->len && h->crp_vc < TORUS_VCS &&
		       (!h->nic || (l->credit.policy == TN_BUBBLE_MBS && h->vc < TORUS_VC_A));
	case TN_MGMT:
		return !h->nic && h->len && h->len <= TORUS_MGMT_MAX / TN_FLIT &&
		       h->crp_vc < TORUS_VCS;
	default:
		return false;
	}
}

/**
 * struct came - where the parts of a packet lie in a received frame
 * @head: header flit
 * @payload: payload flits, as many as @head says; unused if there are none
 * @end: tail flit and, if RELAYED, relay flit
 * @owner: owner of the frame's memory
 */
struct came {
	const u8 *head;
	const u8 *payload;
	const u8 *end;
	void *owner;
};

/* Accepts the next packet in sequence, which is intact. Return: false if out of memory. */
static bool rx_accept(struct tn_link *l, const struct came *c, struct tn_hdr *h,
		      struct tn_tail *t, u64 now)
{
	bool data = h->type == TN_DATA || h->type == TN_UNREACH;
	/* the packet takes an input buffer; a false packet does so, too */
	bool takes = data || h->nic;
	struct tn_queue got = { 0 };
	struct tn_pkt *pkt = NULL;

	tn_assert(l->state == TORUS_LINK_UP);
	tn_assert(h->tseq == l->retry.rx.expected);
	/* The peer must not use a buffer whose credit it cannot have received yet. */
	if (takes && l->credit.used[h->vc] + l->credit.owed[h->vc] >= l->params->slots) {
		tn_link_fail(l, TORUS_REASON_PROTOCOL, now);
		return false;
	}
	if (data && t->vb != TN_VB_BAD) {
		pkt = l->host_ops->pkt_get(l->host, c->owner, c->payload);
		if (!pkt) {		/* out of memory: treat the packet as lost on the link */
			rx_error(l, h->gen, now);
			return false;
		}
	}
	if (h->crp && !tn_credit_returned(&l->credit, h->crp_vc, h->crp)) {
		if (pkt)
			l->host_ops->pkt_put(l->host, pkt);
		tn_link_fail(l, TORUS_REASON_PROTOCOL, now);
		return false;
	}
	tn_retry_accept(&l->retry, h);
	l->unacked++;
	if (l->eager)
		l->eager--;
	l->counter[TORUS_PC_RX_PACKETS]++;
	l->counter[TORUS_PC_RX_FLITS] += tn_hdr_flits(h);
	l->counter[TORUS_PC_RX_BYTES] += tn_payload_bytes(h, t);
	if (pkt) {
		l->credit.used[h->vc]++;
		tn_assert(l->credit.used[h->vc] <= l->params->slots);
		pkt->payload = (u8 *)c->payload;
		pkt->hdr = *h;
		pkt->tail = *t;
		if (h->relayed)
			tn_via_get(c->end + TN_FLIT, &pkt->via);
		pkt->in_port = l->port;
		pkt->in_vc = h->vc;
		pkt->unresolved = 0;
		pkt->unsummed = l->rx_memory ? TN_UNSUMMED : 0;
		tn_queue_push(&got, pkt);
		l->ops->accept(l->ctx, l, &got);
	} else if (data) {		/* VB: the copy is bad; the peer sends a good one later */
		l->counter[TORUS_PC_VB_DROPS]++;
		l->credit.used[h->vc]++;
		tn_link_freed(l, h->vc, false, now);
	} else if (takes) {
		l->credit.used[h->vc]++;
		l->ops->false_came(l->ctx, l, h->vc, h->dst, now);
	} else if (h->type == TN_MGMT) {
		l->counter[TORUS_PC_MGMT_RX]++;
		if (!l->host_ops->mgmt(l->host, l->port, c->payload, tn_payload_bytes(h, t)))
			l->counter[TORUS_PC_MGMT_DROPS]++;
	}
	return true;
}

static bool has_ecrc(const struct tn_hdr *h)
{
	return h->type != TN_CREDIT && h->type != TN_IDLE;
}

static bool ecrc_ok(const struct came *c, const struct tn_hdr *h, const struct tn_tail *t)
{
	struct tn_via via;

	if (h->relayed)
		tn_via_get(c->end + TN_FLIT, &via);
	return end_to_end(c->payload, h, t, &via) == t->ecrc;
}

/* Return: true if a packet of this kind may have a service byte other than 0, in version 6. */
static bool has_service(const struct tn_hdr *h, const struct tn_tail *t)
{
	return (h->type == TN_DATA || h->type == TN_UNREACH) && !h->nic && h->vc < TORUS_VC_A &&
	       !(t->flags & TN_TAIL_ADAPTIVE) && t->vb == TN_SERVICE_RMA;
}

/*
 * Checks the bytes that are reserved in wire versions 5 and 6. In version 4 they may have any
 * value; but the service byte is cleared there, because the ECRC does not cover it, and it must not
 * be forwarded.
 * Return: false if a reserved byte has a value that is not allowed.
 */
static bool rx_reserved(const struct tn_link *l, const struct came *c, const struct tn_hdr *h,
			struct tn_tail *t)
{
	bool service = t->vb && t->vb != TN_VB_BAD;

	if (l->wire < 5) {
		if (service)
			t->vb = 0;
		return true;
	}
	if (service && !(l->wire >= TN_WIRE_SERVICES && has_service(h, t)))
		return false;
	return !(h->relayed && tn_get_le16(c->end + 2 * TN_FLIT - 2));
}

/*
 * Counts a damaged packet, and the seconds with such packets. A second begins with a packet, not
 * with the clock, so a disturbance shorter than a second counts once.
 */
static void count_damaged(struct tn_link *l, enum torus_port_counter what, u64 now)
{
	l->counter[what]++;
	if (l->counter[TORUS_PC_ERROR_SECONDS] && now - l->damaged_at < SEC)
		return;
	l->damaged_at = now;
	l->counter[TORUS_PC_ERROR_SECONDS]++;
}

/*
 * Processes a packet with an intact header on an up link.
 * Return: false if the rest of the frame is to be dropped.
 */
static bool rx_packet(struct tn_link *l, const struct came *c, struct tn_hdr *h, u64 now)
{
	struct tn_tail t;
	bool checked;

	l->heard_at = now;
	l->peer_up = true;
	if (!is_well_formed(l, h)) {
		l->counter[TORUS_PC_MALFORMED]++;
		tn_link_fail(l, TORUS_REASON_PROTOCOL, now);
		return false;
	}
	if (!rx_ack(l, h, now))
		return false;
	if (h->type == TN_IDLE) {
		if (h->nic)
			l->ops->asked(l->ctx, l, h->vc, now);
		return true;
	}
	switch (tn_retry_check(&l->retry, h)) {
	case TN_RX_BEHIND:
		l->counter[TORUS_PC_DUPLICATES]++;
		if (tn_retry_behind(&l->retry, h))
			l->ack_now = true;
		return true;
	case TN_RX_AHEAD:
		if (!l->retry.rx.ignoring)
			l->counter[TORUS_PC_SEQ_ERRORS]++;
		rx_error(l, h->gen, now);
		return true;
	case TN_RX_ACCEPT:
		break;
	}
	tn_tail_get(c->end, &t);
	/* tn_pieces_sound() does not know that the ECRC of version 4 has no service byte */
	checked = l->rx_memory || (l->rx_checked && (l->wire > 4 || !t.vb));
	if (!rx_reserved(l, c, h, &t)) {
		l->counter[TORUS_PC_MALFORMED]++;
		tn_link_fail(l, TORUS_REASON_PROTOCOL, now);
		return false;
	}
	if (h->type == TN_MGMT)
		/*
		 * a management packet goes one hop only, so no cut-through NIC can have marked it
		 */
		t.vb = 0;
	if (!checked && t.vb != TN_VB_BAD && has_ecrc(h) && !ecrc_ok(c, h, &t)) {
		count_damaged(l, TORUS_PC_CRC_ERRORS, now);
		rx_error(l, h->gen, now);
		return false;
	}
	return rx_accept(l, c, h, &t, now);
}

/* Processes an ACK or NAK packet. Return: false if the rest of the frame is to be dropped. */
static bool rx_acknak(struct tn_link *l, const u8 *bytes, u64 now)
{
	struct tn_hdr h;

	if (l->state != TORUS_LINK_UP)
		return false;
	if (!tn_acknak_get(bytes, &h, l->seed)) {
		/* the peer's next ACK or NAK repeats what this one said */
		count_damaged(l, TORUS_PC_CRC_ERRORS, now);
		return true;
	}
	l->heard_at = now;
	l->peer_up = true;
	if (!l->retry.ops->alone) {
		l->counter[TORUS_PC_MALFORMED]++;
		tn_link_fail(l, TORUS_REASON_PROTOCOL, now);
		return false;
	}
	l->counter[h.e ? TORUS_PC_NAKS_RECEIVED : TORUS_PC_ACKS_RECEIVED]++;
	return rx_ack(l, &h, now);
}

static bool init_ok(const struct came *c, const struct tn_hdr *h)
{
	struct tn_tail t;

	if (h->len != TN_INIT_FLITS || !tn_lcrc_ok(c->head, c->end, ~0u))
		return false;
	tn_tail_get(c->end, &t);
	return tn_ecrc(c->payload, h, &t) == t.ecrc;
}

enum next { NEXT_PACKET, NEXT_NONE, NEXT_BROKEN };

/* Finds the next packet of a frame. */
static inline enum next rx_next(struct tn_pieces *in, struct came *c)
{
	unsigned int len;

	c->head = tn_pieces_take(in, TN_FLIT);
	/* end of the frame, or a packet that is split between two pieces */
	if (!c->head)
		return in->n ? NEXT_BROKEN : NEXT_NONE;
	if (tn_type_of(c->head) == TN_PAD)
		return NEXT_NONE;
	len = tn_len_of(c->head);
	c->payload = len ? tn_pieces_take(in, len * TN_FLIT) : c->head;
	c->end = c->payload ? tn_pieces_take(in, (1u + tn_relayed_of(c->head)) * TN_FLIT) : NULL;
	return c->end ? NEXT_PACKET : NEXT_BROKEN;
}

bool tn_pieces_fit(const struct tn_seg *seg, unsigned int n)
{
	struct tn_pieces in = { .seg = seg, .n = n };
	enum next next = NEXT_PACKET;
	struct came c;
	const u8 *p;

	while (next == NEXT_PACKET && (p = tn_pieces_look(&in, TN_ACKNAK_BYTES))) {
		if (tn_type_of(p) == TN_ACKNAK)
			tn_pieces_take(&in, TN_ACKNAK_BYTES);
		else
			next = rx_next(&in, &c);
	}
	return next == NEXT_NONE || (next == NEXT_PACKET && tn_pieces_done(&in));
}

/* A management packet is never a marked copy (see rx_packet()). */
bool tn_pieces_sound(const struct tn_seg *seg, unsigned int n)
{
	struct tn_pieces in = { .seg = seg, .n = n };
	enum next next = NEXT_PACKET;
	struct came c;
	const u8 *p;

	while ((p = tn_pieces_look(&in, TN_ACKNAK_BYTES))) {
		struct tn_hdr h;
		struct tn_tail t;

		if (tn_type_of(p) == TN_ACKNAK) {
			tn_pieces_take(&in, TN_ACKNAK_BYTES);
			continue;
		}
		next = rx_next(&in, &c);
		if (next != NEXT_PACKET)
			break;
		tn_hdr_get(c.head, &h);
		tn_tail_get(c.end, &t);
		if (t.vb == TN_VB_BAD) {
			if (h.type != TN_MGMT)
				continue;
			t.vb = 0;
		}
		if (has_ecrc(&h) && !ecrc_ok(&c, &h, &t))
			return false;
	}
	return next == NEXT_NONE || (next == NEXT_PACKET && tn_pieces_done(&in));
}

/* Return: true if packets after one with the header @h, which was accepted, may be its series. */
static bool leads_series(const struct tn_link *l, const struct tn_hdr *h)
{
	return h->type == TN_DATA && !h->nic && !h->relayed && !h->e && !h->crp &&
	       !l->retry.ops->counts && !l->retry.rx.ignoring && l->state == TORUS_LINK_UP;
}

/*
 * Takes the next packet of a frame if it continues the series of @lead, has the number @tseq and is
 * intact. Return: the packet. NULL if it is not such a packet or there is no memory: then nothing
 * has been consumed, and the caller processes the packet with rx_one().
 */
static inline struct tn_pkt *take_like(struct tn_link *l, struct tn_pieces *in,
				       const struct came *lead, const struct tn_hdr *h, u16 tseq)
{
	struct came c = { .owner = lead->owner };
	struct tn_pieces rest = *in;
	struct tn_pkt *pkt;
	struct tn_tail t;
	u64 w;

	c.head = tn_pieces_take(&rest, TN_FLIT);
	if (!c.head)
		return NULL;
	w = tn_get_le64(c.head);
	if (((w ^ tn_get_le64(lead->head)) & ~SERIES_DIFFERS) ||
	    (w & SERIES_DIFFERS) >> SERIES_TSEQ != tseq ||
	    tn_get_le64(c.head + 8) != tn_get_le64(lead->head + 8))
		return NULL;
	c.payload = h->len ? tn_pieces_take(&rest, h->len * TN_FLIT) : c.head;
	c.end = c.payload ? tn_pieces_take(&rest, TN_FLIT) : NULL;
	if (!c.end || !tn_lcrc_ok(c.head, c.end, l->seed))
		return NULL;
	tn_tail_get(c.end, &t);
	if (t.vb || (!l->rx_memory && !l->rx_checked && !ecrc_ok(&c, h, &t)))
		return NULL;
	pkt = l->host_ops->pkt_get(l->host, c.owner, c.payload);
	if (!pkt)
		return NULL;
	*in = rest;
	pkt->payload = (u8 *)c.payload;
	pkt->hdr = *h;
	pkt->hdr.tseq = tseq;
	pkt->tail = t;
	return pkt;
}

/* Accepts the packets of a frame that continue the series of @lead, which has the header @h. */
static void rx_series(struct tn_link *l, struct tn_pieces *in, const struct came *lead,
		      const struct tn_hdr *h)
{
	unsigned int vc = h->vc;
	u32 room = l->params->slots - l->credit.used[vc] - l->credit.owed[vc], bytes = 0;
	u16 tseq = l->retry.rx.expected;
	struct tn_queue got = { 0 };
	struct tn_pkt *pkt;

	while (got.count < room && (pkt = take_like(l, in, lead, h, tseq))) {
		tseq = (u16)((tseq + 1) & TN_SEQ_MASK);
		bytes += tn_pkt_bytes(pkt);
		pkt->in_port = l->port;
		pkt->in_vc = (u8)vc;
		pkt->unresolved = 0;
		pkt->unsummed = l->rx_memory ? TN_UNSUMMED : 0;
		tn_queue_push(&got, pkt);
	}
	if (!got.count)
		return;
	l->retry.rx.expected = tseq;
	l->retry.ops->accepted(&l->retry, &got.tail->hdr);
	l->unacked += got.count;
	l->eager -= l->eager < got.count ? l->eager : got.count;
	l->counter[TORUS_PC_RX_PACKETS] += got.count;
	l->counter[TORUS_PC_RX_FLITS] += (u64)got.count * tn_hdr_flits(h);
	l->counter[TORUS_PC_RX_BYTES] += bytes;
	l->credit.used[vc] = (u16)(l->credit.used[vc] + got.count);
	tn_assert(l->credit.used[vc] + l->credit.owed[vc] <= l->params->slots);
	l->ops->accept(l->ctx, l, &got);
}

/*
 * Processes one packet, or ACK/NAK, of a frame. After a damaged packet the rest of the frame is
 * dropped: it cannot be in sequence, and the length in the damaged header may be wrong.
 * Return: true if the frame may have more packets.
 */
static bool rx_one(struct tn_link *l, struct tn_pieces *in, void *owner, u64 now)
{
	const u8 *p = tn_pieces_look(in, TN_ACKNAK_BYTES);
	struct came c = { .owner = owner };
	struct tn_hdr h = { 0 };
	enum next next;

	if (!p)
		return false;
	if (tn_type_of(p) == TN_ACKNAK)
		return rx_acknak(l, tn_pieces_take(in, TN_ACKNAK_BYTES), now);
	next = rx_next(in, &c);
	if (next == NEXT_NONE)
		return false;
	tn_assert(next == NEXT_BROKEN || (c.head && c.payload && c.end));
	if (c.head)
		tn_hdr_get(c.head, &h);
	if (next == NEXT_BROKEN) {
		count_damaged(l, TORUS_PC_MALFORMED, now);
		if (l->state == TORUS_LINK_UP)
			rx_error(l, h.gen, now);
		return false;
	}
	if (h.type == TN_INIT) {
		if (init_ok(&c, &h))
			tn_link_receive_init(l, c.payload, now);
		else
			count_damaged(l, TORUS_PC_CRC_ERRORS, now);
		return true;
	}
	if (l->state != TORUS_LINK_UP)
		return false;
	if (!tn_lcrc_ok(c.head, c.end, l->seed)) {
		count_damaged(l, TORUS_PC_CRC_ERRORS, now);
		rx_error(l, h.gen, now);
		return false;
	}
	if (!rx_packet(l, &c, &h, now))
		return false;
	if (leads_series(l, &h))
		rx_series(l, in, &c, &h);
	return true;
}

void tn_link_rx(struct tn_link *l, const struct tn_seg *seg, unsigned int n, void *owner,
		u64 now)
{
	struct tn_pieces in = { .seg = seg, .n = n };

	l->counter[TORUS_PC_RX_FRAMES]++;
	if (l->train.state != TN_TRAIN_DONE)
		return;		/* until the receiver is trained, no received bit is valid */
	while (rx_one(l, &in, owner, now))
		;
	if (l->state != TORUS_LINK_UP)
		return;
	tn_assert(l->eager <= TN_RETRY_EAGER);
	if (l->unacked && l->ack_at == ~0ull)
		l->ack_at = now + l->params->ack_delay;
	if (l->unacked && (l->eager || l->unacked >= l->retry_packets / 4 + 1))
		l->ack_now = true;
}

/* --- sending --------------------------------------------------------------- */

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
		pkt->tail.ecrc = end_to_end(pkt->payload, &pkt->hdr, &pkt->tail, &pkt->via);
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
	tn_put_le64(pkt->edge, (tn_get_le64(before->edge) & ~SERIES_DIFFERS) |
			       (u64)pkt->hdr.tseq << SERIES_TSEQ);
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

bool tn_link_wants(const struct tn_link *l)
{
	if (l->init_now)
		return true;
	return l->state == TORUS_LINK_UP && !l->paced &&
	       (tn_retry_ready(&l->retry) || l->ack_now || l->asks ||
		(l->credit_now && tn_credit_owed(&l->credit)));
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
	pkt->tail.ecrc = tn_ecrc(pkt->payload, &pkt->hdr, &pkt->tail);
	tn_retry_push(&l->retry, pkt, now);
	l->counter[TORUS_PC_MGMT_TX]++;
	return 0;
}
