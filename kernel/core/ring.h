/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NIC's part in the rings of critical bubbles: the policies CBS and MBS of bubble.h, on a wire
 * that loses frames, in rings that are cut and closed. With BLOC none of this is used.
 *
 * Where a critical bubble is. It is a mark on one free packet buffer, and it is counted
 *
 *  - by the output that sends into that buffer (tn_credit.critical), or
 *  - by the input whose buffer was just freed (tn_credit.owed_critical), or
 *  - by a credit on its way from there to the output that sends to it (VCCR), or
 *  - by a false packet that carries it downstream (handed, below).
 *
 * How it moves. A packet that continues in its ring and finds only critical buffers free takes one,
 * and the buffer that it leaves becomes critical (CBS, MBS). A buffer that any other packet frees
 * takes over the mark if all free buffers behind the output are critical (MBS, case 3). While a
 * packet cannot enter for that reason, the output asks the upstream node for a false packet, whose
 * buffer is freed at once and takes over the mark, too (MBS, case 4).
 *
 * How it begins. When a session of a link begins, its output puts one bubble into the ring, instead
 * of those that it had counted before. This needs no manager, coordinates or messages. A buffer for
 * it exists, because an end whose buffers are all occupied is ignored until it begins another
 * attempt with a free one (tn_credit_room()); meanwhile packets for the link are parked. If the
 * segment is full, and the packets that occupy the buffers could only be parked there, the link
 * stays down until a recovery replays the parked packets.
 *
 * Lemmas; tests/unit/test_ring.c runs rings of whole NICs whose cables are cut, damaged and
 * retrained, and checks them in each closed ring after each step
 * (random_histories_of_rings_go_on()).
 *
 *  1. A bubble counts exactly once: credits and false packets are sequenced packets, and a
 *     retraining (RESUME) keeps all four counts.
 *  2. There are at most as many bubbles as outputs, because two that meet in one place (at one
 *     output, or in one report) become one. So with two buffers an input a packet can always enter.
 *  3. A closed ring has a bubble. A ring is closed while each of its links is up, or retrains, with
 *     the same session at both ends. Take the link whose present session began last at its sender.
 *     Everything since then has conserved the bubble that was put in there: it was passed on within
 *     a node, or over a link in sequence, and no link has begun another session. Marks that a
 *     receiver drops when it begins an attempt are older than the session of that attempt; and a
 *     bubble ends only where it meets another one.
 *  4. So a closed ring moves: some buffer of it is free, or is being freed, and the packet behind
 *     that buffer can move.
 *  5. A cut ring needs no bubble: it is a line, whose packets leave it or are parked at its end. It
 *     is a line as soon as one end of the cut link knows of the cut. Packets that the other end
 *     still sends in the old session never arrive, and that end puts in its bubble when the next
 *     session begins.
 *
 * Fewer bubbles. With one buffer an input (MBS) and a bubble at each output, no buffer is free for
 * a packet. Then requests arrive at outputs that are stuck themselves. Such an output nevertheless
 * takes the buffer, for a false packet that carries the bubble. At the other end this bubble merges
 * with that of the node that asked, if it still has one; otherwise it is returned. This moves a
 * bubble downstream; all other rules move it upstream. If all outputs did it at once, the bubbles
 * would run in a circle without meeting; so the node with coordinate 0 keeps its own
 * (full_ring_makes_bubbles_fewer_under_mbs()).
 *
 * The upstream end of a line has no neighbour to ask. It drops a bubble that blocks packets: it has
 * received nothing from its neighbour in this attempt (or has no carrier), so no session that began
 * before can close the ring. If it has received something, and the neighbour then falls silent, it
 * begins another attempt after the time @silence (bubble_is_dropped_at_end_of_line() of
 * test_ring_node.c).
 *
 * Requests travel in IDLE packets, so they are not sequenced. A lost request is repeated after a
 * while. A late or duplicated request moves a bubble that blocked nothing, which does no harm.
 *
 * A forging peer can remove bubbles from its rings, as it can keep credits (credit.h); its reports
 * cannot exceed the buffers that it frees.
 *
 * Alternatives that were rejected.
 *
 *  - A session begins without a bubble, and the first freed buffer becomes one. A cut ring behind a
 *    full parking segment may be full without a bubble, because its upstream end drops the one that
 *    blocks packets. If the cut link came up then, the ring would be closed, and none of its
 *    buffers would ever be freed: the manager would treat the link as healthy, and parked packets
 *    would wait for it. While the link is down the rows lead elsewhere, and the line moves.
 *  - The lowest node of a ring puts in the first bubbles. A bubble is lost with the node that
 *    counts it, and the lowest node does not see whether that has happened elsewhere: it would put
 *    in too many or none. A link knows when its session begins, and one bubble too many does no
 *    harm.
 */
#ifndef TN_RING_H
#define TN_RING_H

#include "nic_impl.h"

/* The following functions are called only if the policy is not BLOC. */

/**
 * tn_ring_take() - called before a packet is pushed to @out. Return: true if it takes a critical
 * bubble
 */
bool tn_ring_take(struct tn_link *out, unsigned int vc);

/**
 * tn_ring_leave() - called when a packet buffer of input @port is freed
 * @took: the packet in it continued in its ring and took a bubble there
 * Return: true if the buffer is returned as critical.
 */
bool tn_ring_leave(struct tn_nic *nic, unsigned int port, unsigned int vc, bool took);

/**
 * tn_ring_wait() - note that a packet of @vc cannot leave by @out
 * If it waits for a bubble, this starts the timer T.
 */
void tn_ring_wait(struct tn_nic *nic, struct tn_link *out, unsigned int vc, u64 now);

/** tn_ring_poll() - send the requests for false packets that are due; called at tn_nic.ring_at */
void tn_ring_poll(struct tn_nic *nic, u64 now);

/**
 * tn_ring_respond() - answer the peer of @out, which requests a false packet: send one if the
 * policy allows it
 */
void tn_ring_respond(struct tn_nic *nic, struct tn_link *out, unsigned int vc, u64 now);

/**
 * tn_ring_false_came() - process a false packet received by @in; @handed: it carries a critical
 * bubble
 */
void tn_ring_false_came(struct tn_nic *nic, struct tn_link *in, unsigned int vc, bool handed,
			u64 now);

#endif /* TN_RING_H */
