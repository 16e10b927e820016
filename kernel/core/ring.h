/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A NIC's part in the rings of critical bubbles: the policies CBS and MBS of bubble.h, on a wire
 * that loses frames, in rings that are cut and closed. With BLOC nothing of this happens.
 *
 * Where a critical bubble is. It is a mark on one free packet buffer. It is counted
 *
 *  - by the output that sends into that buffer (tn_credit.critical), or
 *  - by the input whose buffer was just freed (tn_credit.owed_critical), or
 *  - by a credit on its way from there to the output before it (VCCR), or
 *  - by a false packet that carries it down (handed, below).
 *
 * How it moves: a packet that goes on in its ring and finds nothing else free takes the buffer,
 * and the one that it leaves is critical instead (CBS, MBS); a buffer that is freed by any other
 * packet takes the mark over if all that is free behind the output is critical (MBS, case 3);
 * and while a packet cannot enter for that reason the output asks, by the cable on which the ring
 * comes in, for a false packet, whose buffer is freed at once and does the same (MBS, case 4).
 * Credits and false packets are sequenced packets, so each counts exactly once, however often the
 * wire has it replayed, and a retraining (RESUME) keeps all four counts.
 *
 * How it begins. Every output puts one bubble into the ring when a session of its link begins,
 * instead of what it had counted before: no manager, no coordinates and no message is needed. The
 * buffer for it is there, because an end whose buffers are all occupied is not listened to until
 * it begins another attempt with a free one (tn_credit_room()); meanwhile what would go over
 * the link is parked. If that segment is full, and the only way of what occupies the buffers ends
 * there, they stay occupied and the link stays down until a recovery replays what is parked. Two
 * bubbles that meet in one place (at one output, or in one report) are one from then on. So there
 * are at most as many as outputs, one each, and with two buffers an input there is always room to
 * enter.
 *
 * Why a session does not begin without one, to take the first buffer that is freed for it. A ring
 * that is cut is a line. Behind a parking segment that is full it may be full without a bubble, for
 * its upstream end drops the one that is in the way (below). If the cut link came up then, the ring
 * would be closed and no buffer of it would ever be freed. The manager would take the link for
 * healthy, and what is parked would wait for it. While the link is down the rows lead elsewhere:
 * what is parked leaves, and the line moves.
 *
 * Why a closed ring has one. A ring is closed while each of its links is up, or retrains, with the
 * same session at both ends. Take the link whose present session began last, at its sender. The
 * bubble that was put there then is conserved by all that has happened since: it is handed on
 * within a node, or by a link in sequence, and none of the links has begun anew. The marks that a
 * receiver drops when it begins an attempt are older than the session of that attempt; and a bubble
 * ends only where it meets another.
 * Thus some buffer of the ring is free, or is being freed, and the packet behind it moves. If a
 * link is cut the ring is a line, whose packets leave it or are parked at its end; it needs no
 * bubble, and what was counted at the cut may be forgotten, for closing it puts in a new one. That
 * is so from the moment on at which either end knows of the cut: what a sender that does not know
 * yet adds to the session never arrives, and it puts in its bubble when the next one begins.
 *
 * Why the lowest node of a ring does not place the first ones. A bubble is lost with the node that
 * counts it. The lowest node does not see whether that has happened elsewhere in the ring: it would
 * make too many or none. A link knows when it begins, and one too many does no harm.
 *
 * How they become fewer. With one buffer an input (MBS) and a bubble at each output, no buffer is
 * free for a packet. Then requests arrive at outputs that are stuck themselves. Such an output
 * takes the buffer in spite of the bubble, for a false packet that carries the bubble. At the other
 * end this bubble meets that of the node that asked, if it still has one, and is given back if not.
 * Bubbles go downstream this way, while all else moves them upstream, and were all outputs to do it
 * at once, they would run in a circle and not meet; so the node with coordinate 0 keeps its own.
 *
 * A node at the upstream end of a line has no neighbour to ask. It drops a bubble that is in its
 * way: it has not heard its neighbour in this attempt (or has no carrier), so no session that began
 * before can close the ring. If it has heard the neighbour, which then falls silent, it begins
 * another attempt after the time @silence.
 *
 * Requests are not sequenced (an IDLE): one that is lost is made again after a while, and one that
 * is late, or doubled, moves a bubble that was not in the way.
 *
 * A peer that lies can take bubbles out of its rings, as it can keep credits to itself (credit.h);
 * what it reports cannot exceed the buffers that it frees.
 *
 * Tests. tests/unit/test_ring.c runs rings of whole NICs whose cables are cut, damaged and
 * retrained, and looks for a free buffer and a critical bubble in each closed ring after each step
 * (test_histories()); test_fewer() has one buffer an input.
 */
#ifndef TN_RING_H
#define TN_RING_H

#include "nic_impl.h"

/* The following are for policies other than BLOC. */

/** tn_ring_take() - a packet is about to be pushed to @out. Return: it takes a bubble. */
bool tn_ring_take(struct tn_link *out, unsigned int vc);

/**
 * tn_ring_leave() - a buffer of input @port is freed
 * @took: the packet in it took a bubble, by going on
 *
 * Return: it is to be given back as critical.
 */
bool tn_ring_leave(struct tn_nic *nic, unsigned int port, unsigned int vc, bool took);

/** tn_ring_wait() - a packet of @vc cannot go out by @out: is a bubble in its way? */
void tn_ring_wait(struct tn_nic *nic, struct tn_link *out, unsigned int vc, u64 now);

/** tn_ring_poll() - ask for what is overdue; at tn_nic.ring_at */
void tn_ring_poll(struct tn_nic *nic, u64 now);

/** tn_ring_respond() - the peer of @out asks for a false packet */
void tn_ring_respond(struct tn_nic *nic, struct tn_link *out, unsigned int vc, u64 now);

/** tn_ring_false_came() - a false packet has come by @in, with a bubble if @handed */
void tn_ring_false_came(struct tn_nic *nic, struct tn_link *in, unsigned int vc, bool handed,
			u64 now);

#endif /* TN_RING_H */
