/* SPDX-License-Identifier: GPL-2.0-only */
/* A packet in a NIC, and queues of packets. */
#ifndef TN_PKT_H
#define TN_PKT_H

#include "wire.h"

/**
 * struct tn_pkt - one packet in memory
 * @next: in whatever queue holds it; a packet is in at most one
 * @child: of the same flow, while both wait for their turn (flow.c)
 * @payload: hdr.len flits, one behind the other; the core only reads them, so that they
 *	may lie in memory that others read too
 * @owner: the host's: whose memory @payload is
 * @hdr: header as numbers, the truth while the packet is in the NIC
 * @tail: tail as numbers
 * @via: relay flit as numbers, if hdr.relayed
 * @edge: header flit, tail flit and relay flit as they are sent, around @payload
 * @in_port: where it came in; TN_PORT_HOST for the host's own, TN_PORT_RELAY for one
 *	that this node relays
 * @in_vc: of a packet that came in at a port: which of its input buffers it occupies;
 *	hdr.vc may change on the way
 * @vccr_set: VCCR is chosen and must stay the same on replay
 * @unresolved: parked from a RETRY buffer; the peer may have it
 * @unsummed: its ECRC is not computed yet: TN_UNSUMMED, or TN_UNSUMMED_SENT once
 *	it was sent without; 0: it is
 * @stalled: it has waited for a credit or bubble (counted once)
 * @session: of the dead link, while unresolved
 * @parked: when it was parked last, ns
 *
 * Memory belongs to the host, which hands out packets by tn_ops.pkt_get and
 * pkt_new and takes them back by pkt_put.
 */
struct tn_pkt {
	struct tn_pkt *next;
	struct tn_pkt *child;
	u8 *payload;
	void *owner;
	struct tn_hdr hdr;
	struct tn_tail tail;
	struct tn_via via;
	u8 edge[TN_EDGE_FLITS * TN_FLIT];
	u8 in_port;
	u8 in_vc;
	u8 vccr_set;
	u8 unresolved;
	u8 stalled;
	u8 unsummed;
	u32 session;
	u64 parked;
};

#define TN_PORT_HOST	0xff
#define TN_PORT_RELAY	0xfe

#define TN_UNSUMMED	1
#define TN_UNSUMMED_SENT 2

/* Flits and bytes of the whole packet. */
static inline unsigned int tn_pkt_flits(const struct tn_pkt *p)
{
	return tn_hdr_flits(&p->hdr);
}

static inline u32 tn_pkt_bytes(const struct tn_pkt *p)
{
	return tn_payload_bytes(&p->hdr, &p->tail);
}

struct tn_queue {
	struct tn_pkt *head;
	struct tn_pkt *tail;
	u32 count;
};

static inline void tn_queue_push(struct tn_queue *q, struct tn_pkt *p)
{
	p->next = NULL;
	if (q->tail)
		q->tail->next = p;
	else
		q->head = p;
	q->tail = p;
	q->count++;
}

static inline void tn_queue_push_front(struct tn_queue *q, struct tn_pkt *p)
{
	p->next = q->head;
	q->head = p;
	if (!q->tail)
		q->tail = p;
	q->count++;
}

/* Behind @at, which is in @q. */
static inline void tn_queue_push_after(struct tn_queue *q, struct tn_pkt *at, struct tn_pkt *p)
{
	p->next = at->next;
	at->next = p;
	if (q->tail == at)
		q->tail = p;
	q->count++;
}

static inline struct tn_pkt *tn_queue_pop(struct tn_queue *q)
{
	struct tn_pkt *p = q->head;

	if (!p)
		return NULL;
	q->head = p->next;
	if (!q->head)
		q->tail = NULL;
	q->count--;
	p->next = NULL;
	return p;
}

#endif /* TN_PKT_H */
