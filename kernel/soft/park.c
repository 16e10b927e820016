// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the parking segment. A packet in the NIC pins the frame or page that its
 * payload came in, which may be a thousand times its size; what is parked stays for long,
 * so it is copied into memory that was allocated, and charged to whoever made the NIC,
 * when the NIC was made. So parking never asks for memory and cannot run out of it:
 * a packet that does not fit keeps waiting in its input buffer, and the senders wait
 * for its credit. Packets of a dead link's RETRY buffer are always taken, but need
 * no more than they have: those that do not fit stay where they lie, at most
 * retry_packets of each port. So do packets that this node relays, at most as many as it
 * holds as a relay. Descriptors came with the packets.
 *
 * It is a ring of blocks, for packets leave in the order in which they came, nearly:
 * a block that is freed before older ones waits for these. Positions count bytes from
 * the beginning of time. A packet that is replayed keeps its block until it has
 * left the NIC. All under the NIC's lock.
 */
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "nic.h"

/** struct block - before each payload; as large as a flit, which keeps these aligned */
struct block {
	u32 bytes;		/* with this */
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
	/* No packet takes more here than it counts for; and there may be one that wraps. */
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

static struct block *take_block(struct torus_parking *p, u32 bytes)
{
	u64 pos = p->tail;
	u32 skip = p->size - do_div(pos, p->size);
	struct block *b;

	if (skip >= bytes)
		skip = 0;
	if (p->tail - p->head + skip + bytes > p->size)
		return NULL;
	if (skip) {		/* it must lie in one piece */
		*block_at(p, p->tail) = (struct block) { .bytes = skip, .free = 1 };
		p->tail += skip;
	}
	b = block_at(p, p->tail);
	*b = (struct block) { .bytes = bytes };
	p->tail += bytes;
	return b;
}

static void give(struct torus_parking *p, struct block *b)
{
	b->free = 1;
	while (p->head != p->tail && block_at(p, p->head)->free)
		p->head += block_at(p, p->head)->bytes;
}

/* Owners are skbs, or this mark and the segment. */
#define IN_PARK 1ul

struct torus_parking *torus_park_of(const struct tn_pkt *pkt)
{
	ulong owner = (ulong)pkt->owner;

	return owner & IN_PARK ? (struct torus_parking *)(owner & ~IN_PARK) : NULL;
}

bool torus_park_take(struct torus_soft *s, struct tn_pkt *pkt)
{
	u32 bytes = pkt->hdr.len * TN_FLIT;
	struct block *b;

	if (torus_park_of(pkt))
		return true;
	b = take_block(&s->park, bytes + sizeof(*b));
	if (!b)
		return false;
	memcpy(b + 1, pkt->payload, bytes);
	torus_pkt_leave(pkt);
	pkt->payload = (u8 *)(b + 1);
	pkt->owner = (void *)((ulong)&s->park | IN_PARK);
	return true;
}

void torus_park_give(struct tn_pkt *pkt)
{
	give(torus_park_of(pkt), (struct block *)pkt->payload - 1);
}
