// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reassembly. The packets of a message have consecutive numbers in their flow (ESEQ), so a gap
 * shows that packets were lost with a dead node; the message is then dropped as a whole.
 */
#include "host.h"

/**
 * struct torus_host_chain - an unfinished message; a flow has at most one
 * @memory: a packet whose payload is the memory of this struct
 * @next: the next chain of the bucket, or NULL
 * @at: the pointer to this chain in its bucket
 * @older: the chain that was begun before this one, or NULL
 * @newer: the chain that was begun after this one, or NULL
 * @packets: the packets so far, at least one between calls; owned here
 * @src: source of the flow, node id
 * @bytes: of @packets, without padding
 * @vc: of the flow
 */
struct torus_host_chain {
	struct tn_pkt *memory;
	struct torus_host_chain *next, **at;
	struct torus_host_chain *older, *newer;
	struct tn_queue packets;
	u32 src;
	u32 bytes;
	u8 vc;
};

#define CHAIN_FLITS ((unsigned int)(sizeof(struct torus_host_chain) + TN_FLIT - 1) / TN_FLIT)

static struct torus_host_chain **find_bucket(struct torus_host *h, u32 src, u8 vc)
{
	return &h->bucket[(src * TORUS_VCS + vc) % ARRAY_SIZE(h->bucket)];
}

static struct torus_host_chain *find_chain(struct torus_host *h, u32 src, u8 vc)
{
	struct torus_host_chain *c = *find_bucket(h, src, vc);

	while (c && (c->src != src || c->vc != vc))
		c = c->next;
	return c;
}

static struct torus_host_chain *new_chain(struct torus_host *h, u32 src, u8 vc)
{
	struct tn_pkt *memory = h->ops->pkt_new(h->shell, CHAIN_FLITS);
	struct torus_host_chain *c;

	if (!memory)
		return NULL;
	c = (void *)memory->payload;
	*c = (struct torus_host_chain) {
		.memory = memory, .src = src, .vc = vc, .at = find_bucket(h, src, vc),
		.older = h->newest,
	};
	c->next = *c->at;
	if (c->next)
		c->next->at = &c->next;
	*c->at = c;
	*(c->older ? &c->older->newer : &h->oldest) = c;
	h->newest = c;
	return c;
}

/* Frees a chain. Return: its packets, which the caller then owns. */
static struct tn_queue end_chain(struct torus_host *h, struct torus_host_chain *c)
{
	struct tn_queue packets = c->packets;

	*c->at = c->next;
	if (c->next)
		c->next->at = c->at;
	*(c->older ? &c->older->newer : &h->oldest) = c->newer;
	*(c->newer ? &c->newer->older : &h->newest) = c->older;
	h->waiting -= packets.count;
	h->ops->pkt_put(h->shell, c->memory);
	return packets;
}

void torus_host_drop(struct torus_host *h, struct tn_queue *q)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(q)))
		h->ops->pkt_put(h->shell, pkt);
	tn_nic_counters(h->nic)[TORUS_NC_HOST_DROPS]++;
}

static void drop_chain(struct torus_host *h, struct torus_host_chain *c)
{
	struct tn_queue packets = end_chain(h, c);

	torus_host_drop(h, &packets);
}

/*
 * Return: the chain that @pkt belongs to: @c, the flow's, if @pkt continues it, else a new one if
 * @pkt is the first of a message, else NULL. If @pkt does not continue @c, drops @c.
 */
static struct torus_host_chain *chain_of(struct torus_host *h, struct torus_host_chain *c,
					 const struct tn_pkt *pkt, u8 vc)
{
	bool first = pkt->tail.flags & TN_TAIL_FIRST;

	if (c && (first || pkt->tail.eseq != c->packets.tail->tail.eseq + 1 ||
		  pkt->tail.epoch != c->packets.tail->tail.epoch ||
		  c->packets.count == TORUS_HOST_PACKETS_MAX)) {
		drop_chain(h, c);
		c = NULL;
	}
	return c || !first ? c : new_chain(h, pkt->hdr.src, vc);
}

/* Return: @bytes, if @msg has the size of a message; else drops it and returns 0. */
static u32 check_message(struct torus_host *h, struct tn_queue *msg, u32 bytes)
{
	if (tn_pkt_bytes(msg->head) > TORUS_HOST_HDR && bytes <= TORUS_HOST_MSG_MAX)
		return bytes;
	torus_host_drop(h, msg);
	return 0;
}

u32 torus_host_take(struct torus_host *h, struct tn_pkt *pkt, struct tn_queue *msg)
{
	u8 vc = pkt->tail.flags & TN_TAIL_ADAPTIVE ? (u8)TORUS_VC_A : pkt->hdr.vc;
	u8 whole = TN_TAIL_FIRST | TN_TAIL_LAST;
	struct torus_host_chain *c = find_chain(h, pkt->hdr.src, vc);
	bool last = pkt->tail.flags & TN_TAIL_LAST;
	u32 bytes = tn_pkt_bytes(pkt);

	*msg = (struct tn_queue) { 0 };
	if (pkt->hdr.type == TN_UNREACH) {
		torus_host_unreachable(h, pkt);
		h->ops->pkt_put(h->shell, pkt);
		return 0;
	}
	if ((pkt->tail.flags & whole) == whole && !c) {
		tn_queue_push(msg, pkt);
		return check_message(h, msg, bytes);
	}
	c = chain_of(h, c, pkt, vc);
	if (!c) {
		tn_queue_push(msg, pkt);
		torus_host_drop(h, msg);
		return 0;
	}
	tn_queue_push(&c->packets, pkt);
	bytes = c->bytes += bytes;
	h->waiting++;
	if (last) {
		*msg = end_chain(h, c);
		return check_message(h, msg, bytes);
	}
	if (h->waiting > TORUS_HOST_WAITING_MAX)
		drop_chain(h, h->oldest);
	return 0;
}

void torus_host_flush(struct torus_host *h)
{
	if (h->out.head)
		torus_host_drop(h, &h->out);
	while (h->oldest)
		drop_chain(h, h->oldest);
}
