/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parking segment: host memory into which a NIC puts packets whose link is dead, in the order
 * in which they would have been sent (Angara paper), until the manager has installed new tables and
 * no packet with a header from the old tables is left. The paper does not say what happens to
 * packets on the dead link, nor to packets when the segment is full. The rules below for both cases
 * are this project's.
 *
 * Packets of the RETRY buffer of a dead link come first and are unresolved: the peer may have
 * accepted the first of them. tn_park_resolve() drops those. A replay is refused while any packet
 * is unresolved.
 *
 * Adaptive packets (VCA) of that buffer need no replay, because they keep no order.
 *
 *  - One that was never on the wire exists nowhere else: it is routed again at once (router.c).
 *  - If it was sent, the peer may have accepted it and forwarded it. To send it by another path now
 *    would duplicate it, and adaptive packets have no number by which the destination could notice.
 *    So it waits here for the peer's last acknowledgement, like the others, but leaves as soon as
 *    that has arrived, in the INIT of the next session or through the manager, without drain or
 *    replay. From then on it is treated as a new packet of this host, even if it had been replayed
 *    before: if the link of its escape channel is dead and no other direction has room, it is
 *    parked, or waits in its queue if this segment is full.
 *  - If the peer is gone, it will never acknowledge anything. Then a packet of VCD is kept, because
 *    the destination discards a second copy by its number. An adaptive one is kept, too, and
 *    counted as unsure: it may arrive twice, whereas dropping it could lose it.
 *
 * A replay includes packets that are parked after it began: packets that had to wait because the
 * segment was full, and adaptive packets, because no drain waits for these. It ends when a link
 * fails, when new rows are committed, or when a replayed packet is parked again: the rows are then
 * outdated.
 *
 * A full segment refuses packets that can wait in input buffers (back-pressure). It still accepts
 * RETRY buffers, because these packets have no other place to wait, and packets of a relay, as many
 * as the relay has memory for; further ones are returned as unreachable.
 *
 * Packets of a later table than that of this node (relay.h) are parked behind all others, and a
 * running replay does not include them: only the next one does.
 *
 * Tests. tests/unit/test_park.c compares the segment with an array; tests/unit/test_divert.c has
 * full segments (full_segment_is_reported_once_and_loses_nothing()), the packets of a RETRY buffer
 * (packets_of_lost_link_are_unresolved_until_peer_reports()) and replays that go on or end
 * (replayed_packets_find_room_in_full_segment() and those after it); test_path.c has adaptive ones
 * (unsure_adaptive_packets_are_sent_again_and_counted()).
 */
#ifndef TN_PARK_H
#define TN_PARK_H

#include "pkt.h"

/**
 * struct tn_park - the parking segment of a NIC
 * @last: the last packet in @q that is not of a later table; NULL: there is none
 * @later: number of packets of a later table, the last ones in @q
 * @relayed: number of packets from relay memory; their in_port is TN_PORT_RELAY
 * @unresolved: number of packets from RETRY buffers that are unresolved
 * @replaying: number of packets at the head that are to be re-injected
 * @through: packets that are parked now are re-injected, too
 * @full: a packet was refused since the segment was last empty
 */
struct tn_park {
	struct tn_queue q;
	struct tn_pkt *last;
	u32 later;
	u32 relayed;
	u64 bytes;
	u64 bytes_max;
	u32 unresolved;
	u32 replaying;
	bool through;
	bool full;
};

static inline u64 tn_park_cost(const struct tn_pkt *pkt)
{
	return (u64)tn_pkt_flits(pkt) * TN_FLIT;
}

static inline bool tn_park_room(const struct tn_park *p, const struct tn_pkt *pkt)
{
	return p->bytes + tn_park_cost(pkt) <= p->bytes_max;
}

void tn_park_push(struct tn_park *p, struct tn_pkt *pkt, u64 now);
/** tn_park_push_later() - park @pkt, which is of a later table than that of this node */
void tn_park_push_later(struct tn_park *p, struct tn_pkt *pkt, u64 now);
struct tn_pkt *tn_park_pop(struct tn_park *p);
/**
 * tn_park_replay() - begin to re-inject all parked packets, and those that are parked from now on
 */
void tn_park_replay(struct tn_park *p);

/**
 * tn_park_resolve() - decide on the unresolved packets of @session
 * @seq: the peer has accepted all packets before this TSEQ; not used if @dead
 * @gone: packets that the peer has accepted are appended
 * @stays: called for each packet that the peer has not accepted; from then on the packet is
 *	resolved. It returns true if the packet stays parked; false if it has put the packet into
 *	another queue
 */
void tn_park_resolve(struct tn_park *p, u32 session, u16 seq, bool dead,
		     struct tn_queue *gone, bool (*stays)(void *ctx, struct tn_pkt *pkt),
		     void *ctx);

/**
 * struct tn_park_flow - the parked packets of one flow; @since: when the oldest of them was parked
 */
struct tn_park_flow {
	u32 src;
	u32 dst;
	u8 vc;
	u64 packets;
	u64 bytes;
	u64 since;
};

/* how many packets tn_park_flows() examines at most, so that a long segment does not take long */
#define TN_PARK_LOOK 16384

/**
 * tn_park_flows() - list the first @max flows among the first TN_PARK_LOOK parked packets
 * @more: set to the number of packets that are of none of these flows
 * Return: the number of flows
 */
u32 tn_park_flows(const struct tn_park *p, struct tn_park_flow *out, u32 max, u64 *more);

#endif /* TN_PARK_H */
