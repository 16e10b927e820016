/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Relays: paths to destinations that no single header can describe.
 *
 *	N	nodes of the fabric
 *	w	window of a node: how many of its packets may be in flight through relays
 *
 * A row with RELAY leads to another node, the relay. There the packet leaves the network into host
 * memory, and continues by the relay's own row, which may name a further relay. The packet carries
 * a relay flit with its final destination; ECRC, ESEQ and colour remain those of the source. A
 * relay forwards the packet unchanged, and, unless TN_RELAY_REFER packets wait already, does not
 * copy it.
 *
 * A full relay never blocks the network. If a packet could wait in an input buffer of the relay for
 * memory, this buffer would depend on the rings of the next leg, and the order of directions, which
 * keeps rings from waiting for each other (router.c), would be lost. So memory must always be
 * available:
 *  1. At most w packets of each node may be in flight through relays, wherever they are. Further
 *     packets wait in the host memory of their node; if they fill it, the host of that node must
 *     wait, too. So a relay never holds more than N * w packets. This product is relay_packets, or
 *     N if that is more.
 *  2. A packet counts in the window of the node that injected it: its source, or the node that
 *     replayed it from its parking segment.
 *  3. A packet that is parked leaves the relay memory at once, and leaves its window when the next
 *     generation of the window begins (see Generations); until then its replay counts in the same
 *     window. Packets that are replayed through relays also pass ports that are closed to keep
 *     order. Otherwise they could wait there for a replay which in turn waits for their window.
 *  4. The destination counts the packets that have arrived from each window, and sends ACK with the
 *     whole count of the window's present generation, so an ACK may be lost, duplicated or late. A
 *     NIC that has unacknowledged packets to a node, and has received no new count from it for
 *     replay_timeout, sends it ASK. It asks one node at a time, with back-off until any new count
 *     arrives, because a full network must not be filled further. ASK and ACK have a queue of their
 *     own (router.c), so that windows open early.
 *  5. ACK, ASK and packets returned as unreachable are in no window ("riders"). A relay holds
 *     TN_RELAY_RIDERS of them and drops the rest. No memory is reserved for them; they are few, and
 *     have one flit each.
 *
 * Hence (lemma 6) a relay accepts every packet at once, like a destination; packets in relay memory
 * enter a ring by the bubble rule, like packets of a host; and each leg keeps the order of
 * directions. No channel waits for a relay, so relays add no deadlock. Relays become empty, because
 * their packets are injected into a network that moves; then ACKs arrive and windows open.
 *
 * Sums of a recovery. A relay counts nothing: a packet is injected once, with one colour, and ends
 * once. A packet in relay memory is missing in the sums, as if it were on a link, until it drains
 * or is parked there. If the relay dies, its packets are lost like all others inside the node.
 *
 * Order. ESEQ restores the order at the destination, provided that no packet of an older table
 * arrives after the holds have ended; the sums ensure this. A packet must also not circulate
 * between relays with old and relays with new rows. So at each commit all destinations behind
 * relays are put on hold, changed or not, because the row at the relay may have changed; and a
 * relay parks a packet of another colour whose onward row is on hold. All legs of a packet are
 * therefore of one table until it is parked, and it is replayed when all nodes have the new table.
 *
 * Nodes without a running manager. Such a node keeps its rows and works on. A packet that reaches
 * it by rows of a later table could be sent back, and circulate; then the packet that leaves the
 * circle first need not be the first of its flow. So such a relay parks the packet, and does not
 * replay it before it has a new table itself. It recognises this case by the window's generation,
 * which is the version that was released where the packet was injected or replayed; a version is
 * released when all nodes whose managers answer have its table. Only a later generation proves
 * this, because colours do not show which of two tables is later. In the other direction, from such
 * a node to a relay with later rows, no circle is possible: all further legs are of the later
 * table, or end at such a node. Each version that this node misses opens the windows to it once
 * more. When the node has parked as many packets as it may hold as a relay, and the segment is
 * full, it returns further packets as unreachable. A NIC that forges generations or windows can
 * cause no more than this. It delays no replay, because these packets are parked behind all others
 * (park.h). As a last resort, a packet that has passed TN_RELAY_LEGS relays is returned as
 * unreachable.
 *
 * Generations. At PARK_REPLAY or RELEASE of a version, whichever comes first, the network holds no
 * relayed packet of an older colour, and none of this one, as its source is on hold. So the window
 * is empty, and packets that have not arrived are lost. A new window begins, with the version as
 * its generation. The destination starts to count with the first packet of a higher generation and
 * ignores those of a lower one. If the manager continued without proof that the network was
 * drained, more than w packets may be in flight; a relay that has no room for them returns them as
 * unreachable. A packet that ends at a relay without a valid row counts in the window until the
 * next generation begins. That is soon, because tables that differ like this are about to be
 * replaced.
 *
 * Trust. Windows and generations are not verified, like the numbers of flows (flow.h). If a NIC
 * forges packets of a later window of another node, the destination does not count the real ones,
 * and these keep the window closed. The destination cannot refuse all generations above its own
 * version, because a node without a running manager would then stop counting. But if a generation
 * is more than TN_RELAY_AHEAD versions ahead of the destination's own, and still is after the
 * latter has been renewed, it was forged, and any other generation counts
 * (forged_generation_ends_with_next_window() of tests/unit/test_relay.c).
 *
 * Packets that wait for the window are in one queue. Each waits for a free place, no matter which
 * destination's ACK frees it; a queue for each destination would change the order, not the rate.
 * Nor would such queues help against a host that accepts no packets: it can hold up to w packets of
 * each source, and so all of their windows. Such a host also blocks packets without a relay, in the
 * inputs that they share. A recovery removes packets for dead nodes.
 *
 * Alternatives that were rejected: a window for each destination (a relay would need room for N * N
 * of them); a virtual channel for each leg (the number of legs is only bounded by the fabric);
 * returning packets that a full relay refuses to the source (the way back needs room as well);
 * dropping them and retransmitting end to end (the source would keep copies, and the sums would
 * never be exact); windows from relay to relay (two relays whose packets need each other fill up
 * and wait for each other).
 *
 * Tests. Windows, generations and back-off (1, 2, 4), over a network that loses and doubles ASK and
 * ACK: tests/unit/test_relay.c. No deadlock (6) if every hop of every packet ends in a relay:
 * saturated_relays_lose_no_packet() of tests/unit/test_via.c. Replays (3:
 * parked_packet_stays_in_window_or_is_charged_again()), riders (5:
 * packet_of_no_window_without_row_is_dropped()), packets of another colour and of a later table at
 * one relay: tests/unit/test_nic_relay.c. Loss and order in recoveries: tests/sim/test_relays.c.
 */
#ifndef TN_RELAY_H
#define TN_RELAY_H

#include "pkt.h"

#define TN_RELAY_LEGS	4096		/* most relays that a packet may pass */
#define TN_RELAY_RIDERS	256		/* most packets in a relay that count in no window
					 * ("riders") */
#define TN_RELAY_AHEAD	64		/* most versions that another node's window may be ahead
					 * without doubt */
#define TN_RELAY_REFER	64		/* if more packets than this wait in a relay, further
					 * ones are copied (tn_ops.keep) */

/**
 * struct tn_relay_peer - state for one other node
 * @sent, @acked: packets that this node sent to the other node through relays in the present
 *	generation, and how many of these were acknowledged
 * @asked: value of @acked when tn_relay_ask() last examined the node
 * @ended: packets received from that node's window of generation @gen
 * @renewals: value of tn_relay.renewals when @gen was set
 * @turn: value of tn_relay.turn when @sent and @acked were set; else both are 0
 */
struct tn_relay_peer {
	u32 sent;
	u32 acked;
	u32 asked;
	u32 ended;
	u32 gen;
	u8 renewals;
	u16 turn;
};

/**
 * struct tn_relay - the window of this node, and its memory as a relay
 * @peer: state of each node, in memory of the caller
 * @capacity: number of packets of all windows that this node can hold as a relay
 * @window: w, at least 1
 * @out: number of packets in the window of this node
 * @gen: generation of that window
 * @renewals: how many generations of that window have begun, modulo 256
 * @turn: how many generations in which it had a packet have ended, modulo 2^16
 * @sweep: the node whose counts tn_relay_renew() clears next
 * @used: the window had a packet in this generation
 * @riders: number of packets without a window that wait here
 * @cursor: the node that tn_relay_ask() examines next
 * @asks: number of ASKs since the last new count
 * @ask_at: when to send the next ASK; ~0: not set
 * @wait: packets of this node that wait for its window, in order
 */
struct tn_relay {
	struct tn_relay_peer *peer;
	u32 nodes;
	u32 capacity;
	u32 window;
	u32 out;
	u32 gen;
	u8 renewals;
	u16 turn;
	u32 sweep;
	bool used;
	u32 riders;
	u32 cursor;
	u32 asks;
	u64 ask_at;
	struct tn_queue wait;
};

/** tn_relay_init() - @peer: @nodes entries, all zero; @packets: the parameter relay_packets */
void tn_relay_init(struct tn_relay *r, struct tn_relay_peer *peer, u32 nodes, u32 packets);

/**
 * tn_relay_renew() - begin the generation @gen of the window, which is then empty; nothing happens
 * if @gen is not new
 */
void tn_relay_renew(struct tn_relay *r, u32 gen);

static inline bool tn_relay_may(const struct tn_relay *r)
{
	return r->out < r->window;
}

/** tn_relay_charge() - count @pkt, which has a relay flit, in the window of this node, @node */
void tn_relay_charge(struct tn_relay *r, struct tn_pkt *pkt, u32 node);

/**
 * tn_relay_ended() - count a packet that has arrived here, its final destination. Return: true if
 * an ACK is to be sent
 */
bool tn_relay_ended(struct tn_relay *r, const struct tn_via *via);

/** tn_relay_count() - Return: the count for an ACK to @payer, for generation @gen of its window */
u32 tn_relay_count(const struct tn_relay *r, u32 payer, u32 gen);

/** tn_relay_acked() - process an ACK of @from. Return: true if this node's window has room again */
bool tn_relay_acked(struct tn_relay *r, u32 from, u32 gen, u32 count);

/** tn_relay_ask() - examine the next @n nodes. Return: a node that has unacknowledged packets of
 * this node and sent no new count since it was last examined; TORUS_NO_NODE: there is none */
u32 tn_relay_ask(struct tn_relay *r, u32 n);

/** tn_relay_wrap() - add a relay flit to @pkt, which counts in no window yet */
void tn_relay_wrap(struct tn_pkt *pkt);
/** tn_relay_unwrap() - remove the relay flit, so that @pkt is as its source sent it */
void tn_relay_unwrap(struct tn_pkt *pkt);

#endif /* TN_RELAY_H */
