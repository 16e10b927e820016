/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Relays: packets for destinations that no header reaches.
 *
 * A row with RELAY leads to another node, the relay. There the packet leaves the
 * network into host memory, and goes on by the relay's own row, which may name a
 * further relay. On its way it carries a relay flit with its final destination;
 * ECRC, ESEQ and colour stay those of the source. A relay takes it as it came, and
 * no flit of it is copied.
 *
 * A full relay never blocks the network. Were a packet to wait in an input of the
 * relay for memory, its buffer would depend on the rings of the next leg, and the
 * order of directions that keeps rings from waiting for each other (router.c) would
 * be lost. So there must always be memory:
 *   - each of the N nodes may have w packets in its window: on their way through
 *     relays, wherever they are. Whoever would have more waits in his own host
 *     memory, and his host with him. A relay thus never holds more than N * w, which
 *     is relay_packets, or N if that is more;
 *   - a packet is of the window of who put it into the network: of its source, or of
 *     the node that replays it from its parking segment;
 *   - a packet that has to be parked leaves relay memory, and its window when that begins
 *     anew (see below); until then it is replayed in the window that it is in. What is
 *     replayed by way of relays passes ports that are closed for order's sake alone: if
 *     it waited there for somebody's replay, which waits for its window, the two would
 *     wait for each other;
 *   - the destination counts the packets that have come from each window, and says
 *     so: ACK, with the whole count of the window's present generation, so that it
 *     may be lost, doubled, or late. Who has packets at a node that told nothing new
 *     for replay_timeout says ASK to it, one node at a time, less and less often
 *     until somebody tells something new: where a network is full, asking must not
 *     fill it more. What NICs say to each other goes before what waits beside it, for
 *     a window that opens late helps nobody;
 *   - ACK, ASK and packets that return as unreachable are in nobody's window. A relay
 *     keeps TN_RELAY_RIDERS of them and drops the rest. They need no room, so no
 *     room depends on them; and they are few, of one flit.
 * Hence relays take in whatever comes, at once, like any destination; what waits in
 * a relay's memory enters a ring by the bubble rule, like any host's packet; and each
 * leg goes in order of directions. No channel waits for a relay, so the network is
 * as free of deadlock as without; relays empty, as their packets are injected into a
 * network that moves; ACKs then come through; windows open.
 *
 * Recovery's sums. A relay counts nothing: a packet is injected once, with one colour,
 * and ends once. What is in a relay's memory is missing from the sums as if it were
 * on a link, and drains, or ends in the parking segment there. If the relay dies, what
 * it held is missing for good, as all that was inside the node.
 *
 * Order. ESEQ restores it at the destination, which needs that no packet of an older
 * table comes after the holds are lifted. The sums see to that. Nor may a packet go
 * round between relays with old and relays with new rows: at each commit all
 * destinations with a relay go on hold, changed or not, for the row of the relay may
 * have changed; and a relay parks a packet of another colour whose onward row is on
 * hold. So all legs of a packet are of one table until it is parked, and it is
 * replayed when all have the new table.
 *
 * A node whose manager sleeps through tables keeps its rows and works on. What comes to it
 * with rows of a later table could go back, and round and round: then the packet that leaves
 * the circle first is any of it, not the first of its flow. So such a relay parks it, and does not
 * replay it, until its manager follows. It knows it by the window: its generation is the
 * version that was released where the packet began or was replayed, which is not before all whose
 * managers answer have that table. Only a later generation tells; a colour does not say
 * which of two is the later one. The other way round, from a sleeper to a relay with later rows,
 * there is no circle: from there on all legs are of the later table, or end at a sleeper.
 * Each version that the sleeper does not follow opens windows to it anew. When it has parked as
 * many packets as it would hold as a relay, and the segment is full, further ones go back as
 * unreachable. A NIC that makes up generations or windows gets no further, and holds up no replay:
 * what is parked so is behind all else (park.h).
 * (TN_RELAY_LEGS is for what is wrong all the same: a packet that passes so many relays ends as
 * unreachable.)
 *
 * Generations. At PARK_REPLAY and RELEASE of a version, whichever comes first, the
 * network holds no relayed packet of an older colour, and none of this one, for its
 * source is on hold: the window is empty, and what never arrived died. It begins
 * anew, its generation being the version. The destination begins to count with the
 * first packet of a higher generation and does not count those of a lower one. If
 * the manager took it for drained without proof, more than w may be under way; a
 * relay that this fills sends what is too much back as unreachable.
 * A packet that ends on the way, because a relay has no row, stays in the window until
 * then: rows that differ so are about to be replaced.
 *
 * Payers and generations are believed, as numbers of flows are (flow.h). A NIC that makes up
 * packets of a later window of another one lets the destination count none of the real ones, and the
 * window stays closed as far as these fill it. To believe only generations up to the version
 * here would take the count of real ones from a node whose manager sleeps.
 *
 * What waits for the window stands in one queue. Nobody in it waits for the one before
 * him, but for a free place, whichever destination's ACK opens it; a queue for each
 * destination would change the turns, not how many go. What it would not change either: a
 * host that takes nothing keeps up to w packets of each source, and so the window from
 * others. It does as much to packets that need no relay, in the inputs that they
 * share. A recovery ends what waits for the dead.
 *
 * Not taken: windows for each destination, against that (a relay would need room for N * N
 * of them); a virtual channel for each leg (as many as legs, which nothing bounds but
 * the fabric); sending what a full relay refuses back to the source (the way back
 * needs room as well); dropping it and sending again end to end (the source would
 * keep copies, and the sums would never be exact); windows from relay to relay (two
 * relays whose packets need each other fill up and wait for each other).
 */
#ifndef TN_RELAY_H
#define TN_RELAY_H

#include "pkt.h"

#define TN_RELAY_LEGS	4096		/* relays that a packet may pass */
#define TN_RELAY_RIDERS	256		/* packets of nobody's window in a relay */

/**
 * struct tn_relay_peer - of one other node
 * @sent, @acked: packets of the own window to it, in the present generation
 * @asked: @acked when it was looked at last for who is to be asked
 * @ended: packets that came from its window of generation @gen
 */
struct tn_relay_peer {
	u32 sent;
	u32 acked;
	u32 asked;
	u32 ended;
	u32 gen;
};

/**
 * struct tn_relay
 * @peer: for each node, the caller's memory
 * @capacity: packets of windows that this node takes in as a relay
 * @window: w, at least 1
 * @out: packets in the own window
 * @gen: its generation
 * @used: some packet is or was in it
 * @riders: packets of nobody's window that wait here
 * @cursor: node that is looked at next for who is to be asked
 * @asks: asked since something new was told
 * @ask_at: when to ask; ~0: not set
 * @wait: own packets that wait for the window, in order
 */
struct tn_relay {
	struct tn_relay_peer *peer;
	u32 nodes;
	u32 capacity;
	u32 window;
	u32 out;
	u32 gen;
	bool used;
	u32 riders;
	u32 cursor;
	u32 asks;
	u64 ask_at;
	struct tn_queue wait;
};

/** tn_relay_init() - @peer: room for @nodes, @packets: relay memory asked for */
void tn_relay_init(struct tn_relay *r, struct tn_relay_peer *peer, u32 nodes, u32 packets);

/** tn_relay_renew() - the network holds nothing of the window: begin anew, once a @gen */
void tn_relay_renew(struct tn_relay *r, u32 gen);

static inline bool tn_relay_may(const struct tn_relay *r)
{
	return r->out < r->window;
}

/** tn_relay_charge() - @pkt, wrapped, is of the window of @node, which is this one */
void tn_relay_charge(struct tn_relay *r, struct tn_pkt *pkt, u32 node);

/** tn_relay_ended() - @via has come to its end. Return: its payer is to be told. */
bool tn_relay_ended(struct tn_relay *r, const struct tn_via *via);

/** tn_relay_count() - what to tell @payer of its window's generation @gen */
u32 tn_relay_count(const struct tn_relay *r, u32 payer, u32 gen);

/** tn_relay_acked() - @from has told that. Return: the window has opened. */
bool tn_relay_acked(struct tn_relay *r, u32 from, u32 gen, u32 count);

/** tn_relay_ask() - of the next @n nodes, one that has packets not acknowledged and has
 * told nothing new since it was looked at last; or TORUS_NO_NODE */
u32 tn_relay_ask(struct tn_relay *r, u32 n);

/** tn_relay_wrap() - @pkt gets a relay flit and is nobody's */
void tn_relay_wrap(struct tn_pkt *pkt);
/** tn_relay_unwrap() - @pkt as its source made it */
void tn_relay_unwrap(struct tn_pkt *pkt);

#endif /* TN_RELAY_H */
