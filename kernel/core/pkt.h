/* SPDX-License-Identifier: GPL-2.0-only */
/* A packet in a NIC, and queues of packets. */
#ifndef TN_PKT_H
#define TN_PKT_H

#include "wire.h"

/**
 * struct tn_pkt - one packet in memory
 * @next: the next packet of the same queue; a packet is in at most one queue
 * @child: a packet of the same flow in the heap of waiting packets (flow.c)
 * @payload: hdr.len consecutive flits; the core only reads them, so their memory may be shared
 * @owner: used by the host: the owner of the memory at @payload
 * @hdr: decoded header; valid while the packet is in the NIC, when @edge may be outdated
 * @tail: decoded tail
 * @via: decoded relay flit, if hdr.relayed
 * @edge: header flit, tail flit and relay flit in the wire format
 * @in_port: the port that received it; TN_PORT_HOST: from the host; TN_PORT_RELAY: relayed by
 *	this node
 * @in_vc: the VC whose input buffer at @in_port it occupies, or from the host, the VC of its flow;
 *	hdr.vc may change on the way
 * @vccr_set: VCCR has been chosen and must not change on replay
 * @unresolved: parked from a RETRY buffer; the peer may have accepted it
 * @unsummed: state of the ECRC: 0: computed; TN_UNSUMMED: not computed; TN_UNSUMMED_SENT: not
 *	computed, and the packet was sent without it
 * @stalled: the packet has waited for a credit or bubble, and this was counted already
 * @rank: logarithm of the number of packets in its tree of the heap of waiting packets
 * @held: while the packet waits (on hold, for the relay window, or for an earlier packet): the
 *	bytes of memory that it counts in the limit (tn_ops.keep)
 * @session: while @unresolved: the session of the failed link
 * @parked: when it was last parked, ns
 *
 * The host owns the memory: it provides packets by tn_ops.pkt_get and pkt_new and takes them back
 * by pkt_put.
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
	u8 rank;
	u32 held;
	u32 session;
	u64 parked;
};

#define TN_PORT_HOST	0xff
#define TN_PORT_RELAY	0xfe

#define TN_UNSUMMED	1
#define TN_UNSUMMED_SENT 2

/* Number of flits of the whole packet. */
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
	tn_assert(p != q->tail);
	tn_assert(!q->head == !q->tail);
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
	tn_assert(p != q->head);
	tn_assert(!q->head == !q->tail);
	p->next = q->head;
	q->head = p;
	if (!q->tail)
		q->tail = p;
	q->count++;
}

/* Inserts @p after @at, which is in @q. */
static inline void tn_queue_push_after(struct tn_queue *q, struct tn_pkt *at, struct tn_pkt *p)
{
	tn_assert(p != at);
	tn_assert(at->next || q->tail == at);
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
	tn_assert(q->count);
	q->count--;
	p->next = NULL;
	return p;
}

/* Moves the first @n packets of @from, of which @last is the last one, to the end of @to. */
static inline void tn_queue_move(struct tn_queue *to, struct tn_queue *from, struct tn_pkt *last,
				 u32 n)
{
	struct tn_pkt *first = from->head;

	tn_assert(n && n <= from->count && to != from);
	tn_assert(!last->next == (n == from->count));
	from->head = last->next;
	if (!from->head)
		from->tail = NULL;
	from->count -= n;
	last->next = NULL;
	if (to->tail)
		to->tail->next = first;
	else
		to->head = first;
	to->tail = last;
	to->count += n;
}

#endif /* TN_PKT_H */
