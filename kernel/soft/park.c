// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the parking segment.
 *
 * A packet in the NIC keeps the frame or page that its payload came in from being freed, which may
 * be a thousand times its size. Parked packets stay for a long time, so they are copied into memory
 * that was allocated when the NIC was made, and charged to the user who made it. So parking
 * allocates nothing: a packet that does not fit keeps waiting in its input buffer, and the senders
 * wait for its credit. Packets from the RETRY buffer of a dead link, and packets that this node
 * relays, are always parked: those that do not fit stay in their present memory. Their number is
 * limited to retry_packets for each port, plus the number of packets that the node can hold as a
 * relay.
 *
 * The segment is a ring of blocks, because packets leave nearly in the order in which they came. A
 * block that is freed before older ones is reclaimed after them. Positions count bytes since the
 * NIC was made. A packet that is replayed keeps its block until it has left the NIC. The NIC's lock
 * protects all of this.
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "nic.h"

/**
 * struct block - header of a block, before the payload; one flit long, which keeps payloads aligned
 * @bytes: length of the block with its header, a multiple of TN_FLIT
 * @free: the block is free, and is reclaimed when all older ones are
 * @unused: fills the flit
 */
struct block {
	u32 bytes;
	u32 free;
	u64 unused;
};

static struct block *block_at(const struct torus_parking *p, u64 pos)
{
	return (struct block *)(p->mem + do_div(pos, p->size));
}

int torus_park_init(struct torus_soft *s)
{
	struct torus_parking *p = &s->park;

	BUILD_BUG_ON(sizeof(struct block) != TN_FLIT);
	/*
	 * A block is no longer than the core counts for its packet; one packet more covers the
	 * skipped end of the ring.
	 */
	p->size =
		(u32)min_t(u64, round_up(s->soft.params.park_bytes + 2 * TN_PACKET_MAX, PAGE_SIZE),
			   U32_MAX & PAGE_MASK);
	p->mem = __vmalloc(p->size, TORUS_GFP_LARGE);
	return p->mem ? 0 : -ENOMEM;
}

void torus_park_exit(struct torus_soft *s)
{
	vfree(s->park.mem);
	s->park.mem = NULL;
}

/* Return: a new block of @bytes, or NULL if the ring is full. */
static struct block *take_block(struct torus_parking *p, u32 bytes)
{
	u64 pos = p->tail;
	u32 skip = p->size - do_div(pos, p->size);
	struct block *b;

	if (skip >= bytes)
		skip = 0;
	if (p->tail - p->head + skip + bytes > p->size)
		return NULL;
	if (skip) {		/* the block must be contiguous, so skip the end of the ring */
		*block_at(p, p->tail) = (struct block) { .bytes = skip, .free = 1 };
		p->tail += skip;
	}
	b = block_at(p, p->tail);
	*b = (struct block) { .bytes = bytes };
	p->tail += bytes;
	return b;
}

static void free_block(struct torus_parking *p, struct block *b)
{
	b->free = 1;
	while (p->head != p->tail && block_at(p, p->head)->free)
		p->head += block_at(p, p->head)->bytes;
}

/* tn_pkt.owner is a pointer to an skb, or one to the parking segment with this bit set. */
#define IN_PARK 1ul

struct torus_parking *torus_park_of(const struct tn_pkt *pkt)
{
	unsigned long owner = (unsigned long)pkt->owner;

	return owner & IN_PARK ? (struct torus_parking *)(owner & ~IN_PARK) : NULL;
}

bool torus_park_take(struct torus_soft *s, struct tn_pkt *pkt)
{
	u32 bytes = pkt->hdr.len * TN_FLIT;
	struct block *b;

	lockdep_assert_held(&s->lock);
	if (torus_park_of(pkt))
		return true;
	b = take_block(&s->park, bytes + sizeof(*b));
	if (!b)
		return false;
	memcpy(b + 1, pkt->payload, bytes);
	torus_pkt_leave(pkt);
	pkt->payload = (u8 *)(b + 1);
	pkt->owner = (void *)((unsigned long)&s->park | IN_PARK);
	return true;
}

void torus_park_give(struct tn_pkt *pkt)
{
	struct torus_parking *p = torus_park_of(pkt);

	lockdep_assert_held(&container_of(p, struct torus_soft, park)->lock);
	free_block(p, (struct block *)pkt->payload - 1);
}
