/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * End-to-end sequence of the flows (source, destination, VC) of VCD0 and VCD1.
 *
 * Links deliver exactly once and in order, and so does a path that stays as it
 * is. Three things can still go wrong when hardware dies, and the number ESEQ in
 * the tail settles them at the receiver:
 *   - a link dies and the far end accepted packets whose acknowledgement never
 *     came; if the far end is dead too, nobody can tell, and they are sent
 *     again: the second copy is behind the expected number and is discarded;
 *   - parts of one flow are parked at two nodes and replayed at once: what is
 *     ahead waits here until the part before it has come;
 *   - a node dies with packets inside: the gap is seen, and when the manager
 *     says that no old packet is left (GIVE_UP), or after gap_time, what waits
 *     is delivered and the gap is counted lost.
 *
 * Numberings. A flow is numbered from 0, and anew whenever the source's row to the
 * destination becomes valid that was not: a node that was declared dead and came back
 * is met by fresh flows, and a source that died and came back has lost all its rows. It
 * begins with the first packet, and its epoch is the version of the table of that
 * moment, which is that of the table that made the row valid or a later one. The
 * versions of a fabric only grow, for the root goes on from the highest that any
 * NIC has, and a NIC that starts anew gets its rows from a table made after its
 * start. So of two numberings of one flow the later one has the higher epoch,
 * whichever NIC was restarted in between, and a receiver needs no memory of the
 * older one to know it: a packet of an epoch below the flow's is late (parked on
 * a node whose manager slept, say, and replayed when the source had long begun
 * anew) and is lost; of one above it, it begins the flow anew at number 0. What a
 * NIC that knows nothing of the flow is given first is in order, late or not.
 *
 * A node may also die and come back while the root is off: then no table says so, and
 * the sources go on with their numbers. The node has just heard of these flows, so it
 * takes any first number (TN_FLOW_FIRST, below). Packets that came back to their source
 * as unreachable meanwhile are a gap if an earlier, parked one still arrives: the node
 * cannot know, and counts them as lost, too.
 *
 * One case is left. If all NICs but one lose their power, among them the root's, and
 * the manager of that one sleeps, the versions begin anew until it wakes; what it
 * then replays looks newer than what was sent since, and until then it takes what is
 * sent to it for doubles. Its traffic is of NICs that are no more; a node that is left
 * alone with a dead manager is to be restarted whole.
 *
 * Between two numberings the row was invalid or the source dead, hence all of the
 * older one was delivered, parked or dead before the newer began, and nothing but
 * what the manager gave up can be late.
 *
 * Epochs are 16 bits of a version and are compared around the circle: right for
 * numberings begun less than 2^15 versions apart. A flow may live longer on one
 * numbering, or be silent so long. So every 2^12 versions a NIC marks flows whose
 * epoch is 2^13 or more behind its own version: of a marked flow, any other epoch
 * is a newer one. That leaves out a NIC whose manager sleeps through some 20000
 * versions, and a packet parked on one; a fabric whose table changes every second
 * takes five hours for that.
 *
 * A number is ahead of the expected one if it follows within 2^26, around the circle
 * of 2^32, and behind it otherwise: no more of one flow can be missing at once, for
 * that is more packets than the memory of all nodes on a path has room for. The rest
 * of the circle is for what comes late: a packet can be parked where the manager sleeps
 * until the receiver has given the gap up and the source has sent on. Taken for ahead,
 * it would leave the flow deaf to all numbers up to its own; so it must not be replayed
 * when the source is 2^32 - 2^26 to 2^32 packets further in the same numbering, six
 * minutes of smallest packets at 6 Gbit/s. status names nodes that hold packets and
 * have no manager. In a flow that a NIC has just heard of every number other than 0 is
 * ahead: the source may have counted for long before this NIC came. What is before the first
 * number that such a flow goes on with is therefore not counted as lost.
 *
 * Numbers are believed. Who makes up packets of another source can put any number into
 * them: one ahead waits, and when its gap is given up, the source's own packets up to it
 * count as doubles, until its next numbering. To take only what the source can have under
 * way would make that shorter, not impossible, and how much that is depends on parking
 * segments and buffers of other nodes. Whoever is on the way can drop and change packets
 * as well, for the ECRC has no key. NICs of a fabric trust each other with data; what a
 * neighbour cannot do by numbers of its link is in link.h and credit.h.
 */
#ifndef TN_FLOW_H
#define TN_FLOW_H

#include "pkt.h"

#define TN_FLOW_VCS 2
#define TN_FLOW_BUCKETS 256

struct tn_flow_tx {
	u32 next;
	u16 epoch;
};

struct tn_flow_rx {
	u32 expected;
	u16 epoch;
	u8 flags;		/* TN_FLOW_* */
	u8 licence;		/* tn_flows.licence when a packet last came */
};

#define TN_FLOW_KNOWN	1
#define TN_FLOW_WAITING	2	/* some packet of it waits */
#define TN_FLOW_FRESH	4	/* nothing of the epoch was delivered or given up yet */
#define TN_FLOW_OLD	8	/* the epoch is too old to be compared */
#define TN_FLOW_FIRST	16	/* the first epoch that this NIC hears of: it may have begun
				 * before */

/**
 * struct tn_flows - all flows of a NIC
 * @tx, @rx: TN_FLOW_VCS for each node, the caller's memory
 * @wait: packets ahead of their turn: of each flow a heap, its first packet in a chain of
 *	such; so that who leaves a gap and sends on, by mistake or not, costs others
 *	log n a packet
 * @look: buckets, a bit each, where somebody's turn may have come
 * @waiting: packets that wait
 * @wait_bytes: of their flits
 * @since: when the oldest began to wait; ~0: none
 * @licence: number of the last GIVE_UP
 * @licensed: it is still in force
 * @lost: packets given up so far
 */
struct tn_flows {
	struct tn_flow_tx *tx;
	struct tn_flow_rx *rx;
	u32 nodes;
	u8 licence;
	bool licensed;
	u64 lost;
	u32 waiting;
	struct tn_pkt *wait[TN_FLOW_BUCKETS];
	u64 look[TN_FLOW_BUCKETS / 64];
	u64 wait_bytes;
	u64 since;
};

void tn_flows_init(struct tn_flows *f, struct tn_flow_tx *tx, struct tn_flow_rx *rx,
		   u32 nodes);

/** tn_flow_stamp() - number a new packet of this node: ESEQ, epoch */
void tn_flow_stamp(struct tn_flows *f, struct tn_pkt *pkt, unsigned int vc);

/** tn_flow_begin() - the first packet since the row to @dst became valid: number its flows anew */
void tn_flow_begin(struct tn_flows *f, u32 dst, u64 version);

/** tn_flows_age() - the table's version goes from @old to @version */
void tn_flows_age(struct tn_flows *f, u64 old, u64 version);

enum tn_flow_turn { TN_FLOW_NOW, TN_FLOW_EARLY, TN_FLOW_BEHIND, TN_FLOW_LATE };

/** tn_flow_turn() - is it @pkt's turn? Changes nothing but a new epoch. */
enum tn_flow_turn tn_flow_turn(struct tn_flows *f, const struct tn_pkt *pkt);

/** tn_flow_done() - @pkt, whose turn it was, is delivered. Return: more of its
 * flow are waiting. */
bool tn_flow_done(struct tn_flows *f, const struct tn_pkt *pkt);

void tn_flow_wait(struct tn_flows *f, struct tn_pkt *pkt, u64 now);

/** tn_flow_next() - a waiting packet whose turn has come, or NULL */
struct tn_pkt *tn_flow_next(struct tn_flows *f);
/** tn_flow_unwait() - take @pkt, found by tn_flow_next(), out of the wait */
void tn_flow_unwait(struct tn_flows *f, struct tn_pkt *pkt);

/** tn_flows_empty() - all that wait go to @out, in no order */
void tn_flows_empty(struct tn_flows *f, struct tn_queue *out);

/**
 * tn_flow_overdue() - does @pkt begin its flow anew while packets of the flow's
 * former epoch wait behind a gap? No more of those will come: they go first.
 */
bool tn_flow_overdue(struct tn_flows *f, const struct tn_pkt *pkt);

/** tn_flow_close_gap() - close the first gap of @of's flow, if it waits at one */
void tn_flow_close_gap(struct tn_flows *f, const struct tn_pkt *of);

/** tn_flow_close_gaps() - close the first gap of every flow that waits */
void tn_flow_close_gaps(struct tn_flows *f);

/** tn_flow_license() - each flow may begin with a gap, once */
void tn_flow_license(struct tn_flows *f);

#endif /* TN_FLOW_H */
