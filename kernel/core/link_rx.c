// SPDX-License-Identifier: GPL-2.0-only
/* Receiving by a link: the packets of a frame, their checks, and what each one changes. */
#include "linkstate.h"
#include "pieces.h"
#include "times.h"

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
	return tn_link_ecrc(c->payload, h, t, &via) == t->ecrc;
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

	l->received_at = now;
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
	l->received_at = now;
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
	       !l->retry.ops->counts && !l->retry.rx.ignoring;
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
	if (((w ^ tn_get_le64(lead->head)) & ~TN_SERIES_DIFFERS) ||
	    (w & TN_SERIES_DIFFERS) >> TN_SERIES_TSEQ != tseq ||
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
