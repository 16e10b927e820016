/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations that these files share: router.c (moves packets), path.c (headers and queues of a
 * row), divert.c (parking and replay) and via.c (relays). Functions that run for each packet are
 * inline.
 */
#ifndef TN_ROUTER_H
#define TN_ROUTER_H

#include "nic_impl.h"
#include "ring.h"

/* path.c */
/** tn_last_after() - Return: the last step that remains in a header @path after a hop by @out */
u8 tn_last_after(const struct tn_nic *nic, struct tn_path path, unsigned int out);
/** tn_find_way() - route a header @path, and store the result in @w; used by tn_way_of() */
void tn_find_way(struct tn_nic *nic, struct tn_path path, struct tn_way *w);

/* divert.c */
/**
 * tn_divert() - park @pkt, which was taken out of its queue and cannot leave by @out
 * A parked packet no longer counts as one in relay memory.
 * Return: false if it must wait: the caller must put it back at the head.
 */
bool tn_divert(struct tn_nic *nic, struct tn_pkt *pkt, unsigned int out, u64 now);
/**
 * tn_divert_relayed() - park @pkt, for which relay memory is reserved, until this node has another
 * table
 */
void tn_divert_relayed(struct tn_nic *nic, struct tn_pkt *pkt, u64 now);
/** tn_replay_parked() - inject the parked packets that are to be replayed. Return: their number */
unsigned int tn_replay_parked(struct tn_nic *nic);

/* via.c */
/**
 * tn_via_relay() - relay @pkt, which was taken out of its queue and has another final destination:
 * start it on its next leg
 */
void tn_via_relay(struct tn_nic *nic, struct tn_pkt *pkt, u64 now);
/** tn_via_drop() - count and free a rider that cannot go on */
void tn_via_drop(struct tn_nic *nic, struct tn_pkt *pkt);
/**
 * tn_of_later_table() - Return: true if the generation of the window of @pkt is a later version
 * than that of this node's rows, which means that this node's manager has missed that version
 * (relay.h)
 */
static inline bool tn_of_later_table(const struct tn_nic *nic, const struct tn_pkt *pkt)
{
	return (s32)(pkt->via.gen - (u32)nic->version) > 0;
}

/**
 * tn_free_buffer() - free the buffer of input @port that a packet occupied, after the packet was
 *	taken out of the queue
 * @nic: the NIC
 * @port: tn_pkt.in_port of the packet; if it is no port, the packet occupied no buffer
 * @vc: tn_pkt.in_vc of the packet
 * @took: the packet took a critical bubble of its ring
 * @now: the time
 */
static inline void tn_free_buffer(struct tn_nic *nic, unsigned int port, unsigned int vc, bool took,
				  u64 now)
{
	if (port >= nic->nports)
		return;
	if (nic->params.bubble)
		took = tn_ring_leave(nic, port, vc, took);
	tn_link_freed(&nic->link[port], vc, took, now);
}

/** tn_free_buffer_of() - free the input buffer that @pkt occupied */
static inline void tn_free_buffer_of(struct tn_nic *nic, const struct tn_pkt *pkt, u64 now)
{
	tn_assert(pkt->in_port < nic->nports || pkt->in_port == TN_PORT_HOST ||
		  pkt->in_port == TN_PORT_RELAY);
	tn_free_buffer(nic, pkt->in_port, pkt->in_vc, false, now);
}

static inline bool tn_same_path(struct tn_path a, struct tn_path b)
{
	return a.dst == b.dst && a.dir == b.dir && a.first == b.first && a.last == b.last;
}

/** tn_way_of() - Return: the routing result of a header @path, mostly from the cache */
static inline const struct tn_way *tn_way_of(struct tn_nic *nic, struct tn_path path)
{
	struct tn_way *w = &nic->way[path.dst % TN_WAYS];

	if (unlikely(!w->known || !tn_same_path(w->path, path)))
		tn_find_way(nic, path, w);
	return w;
}

/** tn_from_park() - Return: true if @pkt was replayed from this node's parking segment */
static inline bool tn_from_park(const struct tn_pkt *pkt)
{
	return pkt->in_port == TN_PORT_HOST && (pkt->tail.flags & TN_TAIL_REPLAYED);
}

#endif /* TN_ROUTER_H */
