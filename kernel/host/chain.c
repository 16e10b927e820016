// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reassembly. The packets of a message have consecutive numbers in their flow (ESEQ), so a gap
 * shows that packets were lost with a dead node; the message is then dropped as a whole.
 *
 * Bounds. A source may begin a message and never end it. At most one message of each flow (source
 * node and VC) can be unfinished: an adaptive packet is a message of its own, or is dropped. All of
 * them together have TORUS_HOST_WAITING_MAX packets and TORUS_HOST_HELD_MAX bytes at most. Packets
 * beyond the first TORUS_HOST_REFER_MAX are copied if they occupy much more memory than their
 * payload needs (tn_ops.keep). When there is no room, the message that has received no packet for
 * the longest time is dropped. So a source that begins messages and does not end them displaces
 * only its own messages, unless it sends thousands of packets between two packets of another
 * source. The table of messages is addressed by a hash with a random seed, so that no sender can
 * make many messages fall into one bucket.
 */
#include "../core/splitmix64.h"
#include "host.h"

/**
 * struct torus_host_chain - an unfinished message; a flow has at most one
 * @memory: a packet whose payload is the memory of this struct
 * @next: the next chain of the bucket, or NULL
 * @at: the pointer in the bucket's list that leads to this chain
 * @older: the chain that got its last packet before this one, or NULL
 * @newer: the chain that got its last packet after this one, or NULL
 * @packets: the packets received so far, which the chain owns; at least one between calls
 * @src: source of the flow, node id
 * @bytes: bytes of @packets, without padding
 * @held: bytes of memory of @packets and @memory
 * @vc: virtual channel of the flow
 */
struct torus_host_chain {
	struct tn_pkt *memory;
	struct torus_host_chain *next, **at;
	struct torus_host_chain *older, *newer;
	struct tn_queue packets;
	u32 src;
	u32 bytes;
	u32 held;
	u8 vc;
};

#define CHAIN_FLITS ((unsigned int)(sizeof(struct torus_host_chain) + TN_FLIT - 1) / TN_FLIT)

static struct torus_host_chain **find_bucket(struct torus_host *h, u32 src, u8 vc)
{
	return &h->bucket[splitmix64_mix(h->seed + src * TORUS_VCS + vc) % ARRAY_SIZE(h->bucket)];
}

static struct torus_host_chain *find_chain(struct torus_host *h, u32 src, u8 vc)
{
	struct torus_host_chain *c = *find_bucket(h, src, vc);

	while (c && (c->src != src || c->vc != vc))
		c = c->next;
	return c;
}

/* Return: the bytes of memory that @pkt occupies while it waits here. */
static u32 keep_packet(const struct torus_host *h, struct tn_pkt *pkt)
{
	if (h->ops->keep && h->waiting >= TORUS_HOST_REFER_MAX)
		return h->ops->keep(h->shell, pkt);
	return pkt->hdr.len * TN_FLIT;
}

static void push_newest(struct torus_host *h, struct torus_host_chain *c)
{
	c->older = h->newest;
	c->newer = NULL;
	*(c->older ? &c->older->newer : &h->oldest) = c;
	h->newest = c;
}

static void unlink_age(struct torus_host *h, struct torus_host_chain *c)
{
	*(c->older ? &c->older->newer : &h->oldest) = c->newer;
	*(c->newer ? &c->newer->older : &h->newest) = c->older;
}

static struct torus_host_chain *new_chain(struct torus_host *h, u32 src, u8 vc)
{
	struct tn_pkt *memory = h->ops->pkt_new(h->shell, CHAIN_FLITS);
	struct torus_host_chain *c;
	u32 held;

	if (!memory)
		return NULL;
	memory->hdr.len = CHAIN_FLITS;
	held = keep_packet(h, memory);
	c = (void *)memory->payload;
	*c = (struct torus_host_chain) {
		.memory = memory, .src = src, .vc = vc, .at = find_bucket(h, src, vc),
		.held = held,
	};
	c->next = *c->at;
	if (c->next)
		c->next->at = &c->next;
	*c->at = c;
	push_newest(h, c);
	h->held += held;
	return c;
}

/* Frees a chain. Return: its packets, which the caller then owns. */
static struct tn_queue end_chain(struct torus_host *h, struct torus_host_chain *c)
{
	struct tn_queue packets = c->packets;

	*c->at = c->next;
	if (c->next)
		c->next->at = c->at;
	unlink_age(h, c);
	h->waiting -= packets.count;
	h->held -= c->held;
	h->ops->pkt_put(h->shell, c->memory);
	return packets;
}

void torus_host_drop(struct torus_host *h, struct tn_queue *q)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(q)))
		h->ops->pkt_put(h->shell, pkt);
	tn_nic_counters(h->nic)[q == &h->out ? TORUS_NC_HOST_TX_DROPS : TORUS_NC_HOST_RX_DROPS]++;
}

static void drop_chain(struct torus_host *h, struct torus_host_chain *c)
{
	struct tn_queue packets = end_chain(h, c);

	torus_host_drop(h, &packets);
}

/*
 * Finds the chain that @pkt belongs to; @c is the present chain of its flow. Return: @c if @pkt
 * continues it. Otherwise @c is dropped, and the result is a new chain if @pkt is the first packet
 * of a message, else NULL.
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

/*
 * Checks the size @bytes of the message @msg, and drops the message if it is invalid. Return:
 * @bytes, or 0.
 */
static u32 check_message(struct torus_host *h, struct tn_queue *msg, u32 bytes)
{
	if (tn_pkt_bytes(msg->head) > TORUS_HOST_HDR && bytes <= TORUS_HOST_MSG_MAX)
		return bytes;
	torus_host_drop(h, msg);
	return 0;
}

/*
 * Appends @pkt to @c, which becomes the newest chain, and drops older chains if there is no room.
 */
static void wait_in(struct torus_host *h, struct torus_host_chain *c, struct tn_pkt *pkt)
{
	u32 held = keep_packet(h, pkt);

	tn_queue_push(&c->packets, pkt);
	c->held += held;
	h->held += held;
	h->waiting++;
	if (c != h->newest) {
		unlink_age(h, c);
		push_newest(h, c);
	}
	while (h->oldest != c &&
	       (h->waiting > TORUS_HOST_WAITING_MAX || h->held > TORUS_HOST_HELD_MAX))
		drop_chain(h, h->oldest);
}

/*
 * Completes @c with @pkt. Return: bytes of the message, whose packets are put into @msg; 0 if it is
 * invalid.
 */
static u32 finish_message(struct torus_host *h, struct torus_host_chain *c, struct tn_pkt *pkt,
			  struct tn_queue *msg)
{
	u32 bytes = c->bytes;

	*msg = end_chain(h, c);
	tn_queue_push(msg, pkt);
	return check_message(h, msg, bytes);
}

/* Drops @pkt, which belongs to no message. Return: 0 */
static u32 drop_packet(struct torus_host *h, struct tn_pkt *pkt)
{
	struct tn_queue q = { 0 };

	tn_queue_push(&q, pkt);
	torus_host_drop(h, &q);
	return 0;
}

u32 torus_host_take(struct torus_host *h, struct tn_pkt *pkt, struct tn_queue *msg)
{
	u8 whole = TN_TAIL_FIRST | TN_TAIL_LAST, ends = pkt->tail.flags & whole;
	bool adaptive = pkt->tail.flags & TN_TAIL_ADAPTIVE;
	u32 bytes = tn_pkt_bytes(pkt);
	struct torus_host_chain *c;

	*msg = (struct tn_queue) { 0 };
	if (pkt->hdr.type == TN_UNREACH) {
		torus_host_unreachable(h, pkt);
		h->ops->pkt_put(h->shell, pkt);
		return 0;
	}
	if (adaptive && ends != whole)
		return drop_packet(h, pkt);
	c = adaptive ? NULL : find_chain(h, pkt->hdr.src, pkt->hdr.vc);
	if (ends == whole && !c) {
		tn_queue_push(msg, pkt);
		return check_message(h, msg, bytes);
	}
	c = chain_of(h, c, pkt, pkt->hdr.vc);
	if (!c)
		return drop_packet(h, pkt);
	c->bytes += bytes;
	if (ends & TN_TAIL_LAST)
		return finish_message(h, c, pkt, msg);
	wait_in(h, c, pkt);
	if (c->bytes > TORUS_HOST_MSG_MAX)
		drop_chain(h, c);
	return 0;
}

void torus_host_flush(struct torus_host *h)
{
	torus_host_forget(h);
	while (h->oldest)
		drop_chain(h, h->oldest);
}
