/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * End-to-end sequence of the flows (source, destination, service, VC) of VCD0 and VCD1.
 *
 * A link delivers exactly once and in order, and so does a path that does not change. When
 * hardware fails, three cases remain, which the receiver handles by the number ESEQ in the tail:
 *
 *  1. A link fails, and its far end has accepted packets whose acknowledgement was lost. If the far
 *     end is dead too, it cannot say which ones, and all are sent again. The second copy has a
 *     number below the expected one, and is discarded as a duplicate.
 *  2. Parts of one flow are parked at two nodes and replayed at the same time: packets ahead of the
 *     expected number wait here until the earlier part has arrived.
 *  3. A node dies with packets inside: its packets are a gap in the numbers. When the manager
 *     reports that no old packet is left (GIVE_UP), or after gap_time, the waiting packets are
 *     delivered and the gap is counted as lost.
 *
 * Numberings. A flow is numbered from 0. Its numbering restarts when the source's row to the
 * destination becomes valid: after the root had declared the destination dead and it came back, or
 * after the source died and came back, because then it has lost all its rows. The numbering begins
 * with the first packet. Its epoch is the version of the table at that moment, which is the table
 * that made the row valid, or a later one. The versions of a fabric only increase: the root
 * continues from the highest version of any NIC, and a restarted NIC gets its rows from a table
 * made after its start. So of two numberings of one flow the later has the higher epoch, whichever
 * NIC was restarted in between, and the receiver need not remember the older one. A packet with an
 * epoch below the flow's is late (e.g. it was parked on a node without a running manager, and
 * replayed after the source had restarted its numbering), and is dropped and counted as lost. Even
 * if it is a second copy (case 1) it counts as lost, because the receiver does not remember which
 * packets of that numbering it has received. A packet with an epoch above the flow's restarts the
 * flow at number 0. The first packet of a flow that a NIC does not know is in order, late or not.
 *
 * A node may also die and come back while there is no root. Then no table changes, and the sources
 * continue their numberings. The flows are unknown to the node, so it accepts any first number
 * (TN_FLOW_FIRST, below). Packets that were returned to their source as unreachable meanwhile form
 * a gap if an earlier packet was parked and still arrives. The node counts them as lost, too.
 *
 * Suppose that all NICs but one lose power, including the root's, and that the manager of the
 * remaining one does not run. Then no NIC that a manager can ask knows the last version. The root
 * then begins above all versions that can have followed the tables on the disks of its candidates
 * (daemon/fm/node/keep.c). This case is not solved without these disks: versions start from the
 * beginning until that manager runs again. Packets that its NIC replays then seem newer than those
 * sent since, or are mistaken for them, and until then the NIC discards packets sent to it as
 * duplicates. The remedy is to restart a node that was left alone without a manager: its traffic
 * belongs to programs that no longer exist.
 *
 * Between two numberings the row was invalid or the source dead. So all packets of the older
 * numbering were delivered, parked or lost before the newer one began, and only packets that the
 * manager had given up as lost can arrive late.
 *
 * Epochs are the low 16 bits of a version and are compared modulo 2^16, which is right for
 * numberings begun less than 2^15 versions apart. A flow may keep one numbering for longer, or be
 * idle for longer. So every 2^12 versions a NIC marks the flows whose epoch is 2^13 or more below
 * its own version: for a marked flow, any other epoch is newer. This fails for a NIC whose manager
 * misses some 20000 versions, and for a packet parked on it. With a new table every second that
 * takes five hours.
 *
 * A number is ahead of the expected one if it follows within 2^26 (modulo 2^32), else it is behind.
 * No more packets of one flow can be missing at once, because the memory of all nodes on a path has
 * no room for them. The other numbers are for late packets: a packet may stay parked on a node
 * without a running manager until the receiver has given up the gap and the source has sent more.
 * If such a packet were treated as ahead, the flow would discard all numbers up to it. So it must
 * not be replayed when the source is 2^32 - 2^26 to 2^32 packets further in the same numbering. A
 * source that sends the smallest packets at 6 Gbit/s gets there after six minutes. "fabricctl
 * status" names nodes that hold packets and have no manager. In a flow that is new to a NIC, every
 * number other than 0 is ahead, as the source may have sent for a long time before this NIC
 * started. Numbers before the first that such a flow continues with are therefore not counted as
 * lost.
 *
 * Trust. Numbers are not verified. A NIC that forges packets of another source can use any number.
 * A forged packet with a number ahead waits, and after the gap before it is given up, the source's
 * own packets up to that number count as duplicates, until the source's next numbering. A forged
 * epoch ahead of the source's makes the source's own packets late. So an epoch that is more than 64
 * versions ahead of this NIC's own table is doubtful. If it is still that far ahead after the next
 * commit of this NIC, the NIC takes it for forged, and any other epoch for newer. The NIC does not
 * refuse such an epoch at once, because without a running manager it may itself have missed that
 * many tables. A forged epoch within 64 versions lasts until the source begins a numbering with a
 * later one. Accepting only the numbers that the source can have in flight would limit the damage
 * but not prevent it, and this limit would depend on the parking segments and buffers of other
 * nodes. A node on the path can drop and change packets anyhow, because the ECRC has no key. The
 * NICs of a fabric trust each other with data; link.h and credit.h say what a neighbour cannot do
 * by the numbers of its link.
 *
 * Bounds. A source that leaves a gap and sends on lets packets wait here until gap_time has passed.
 * If a waiting packet occupies much more memory than its payload needs, the host copies it
 * (tn_ops.keep); the memory of all waiting packets is limited to park_bytes. The driver counts at
 * least 1 KiB for each, so at most 16,384 wait in 16 MiB. When the gap is filled, each call of the
 * host delivers 256 of them: a packet that arrives in between has a higher number than those that
 * still wait, and waits behind them. Giving up gaps takes a short step for each flow with waiting
 * packets; for a flow with several gaps, it takes TN_FLOW_BUCKETS steps for each gap. Tests:
 * many_due_packets_are_delivered_in_parts() and many_gaps_are_given_up_in_parts() of
 * tests/unit/test_deliver.c.
 *
 * Tests. tests/unit/test_flow.c compares all of this with a list of the packets of each flow: order
 * and duplicates (1, 2) in packets_in_any_order_are_delivered_once_in_order(), gaps (3) in
 * lost_packets_are_given_up_when_licensed(), numberings in
 * valid_row_begins_flow_at_0_in_later_epoch() and flow_survives_half_the_range_of_epochs(), the
 * range of "ahead" in numbers_part_into_before_and_after_at_half() and
 * packet_parked_for_half_the_range_is_late(), flows unknown to the node in
 * new_receiver_finds_flow_at_any_number() and nic_that_starts_late_counts_no_unknown_losses(),
 * forged epochs in forged_epoch_silences_source_only_until_next_table().
 */
#ifndef TN_FLOW_H
#define TN_FLOW_H

#include "pkt.h"

#define TN_FLOW_VCS 2
#define TN_FLOW_SERVICES 2
#define TN_FLOWS (TN_FLOW_VCS * TN_FLOW_SERVICES)	/* flows from, or to, one node */
#define TN_FLOW_BUCKETS 256

struct tn_flow_tx {
	u32 next;
	u16 epoch;
};

struct tn_flow_rx {
	u32 expected;
	u16 epoch;
	u8 flags;		/* TN_FLOW_*; the upper three bits: when the epoch of this flow
				 * became doubtful, 0: it is not (flow.c) */
	u8 licence;		/* value of tn_flows.licence when the last packet of this flow
				 * arrived */
};

#define TN_FLOW_KNOWN	1
#define TN_FLOW_WAITING	2	/* a packet of this flow waits for an earlier one */
#define TN_FLOW_FRESH	4	/* no packet of the present epoch was delivered or given up yet */
#define TN_FLOW_OLD	8	/* the epoch is so old that it cannot be compared: any other one
				 * is newer */
#define TN_FLOW_FIRST	16	/* this NIC has received no other epoch of this flow: the source
				 * may have sent packets before this NIC started */

/**
 * struct tn_flows - all flows of a NIC
 * @tx, @rx: TN_FLOWS entries for each node, in memory of the caller
 * @wait: packets that wait for earlier ones: each bucket is a chain of heaps, one heap for each
 *	flow. A heap is the first packet above a binomial heap of the others: one tree of 2^rank
 *	packets for each bit in their number, ranks ascending. So if a source leaves a gap and sends
 *	n packets after it, each of these costs at most log n steps
 * @look: bitmap of the buckets that tn_flow_next() must examine, because a waiting packet in them
 *	may have become the next of its flow
 * @waiting: number of waiting packets
 * @wait_bytes: bytes of memory that they hold (tn_pkt.held)
 * @since: when the oldest began to wait; ~0: none
 * @version: low 16 bits of the version of the NIC's rows
 * @commits: number of commits of tables
 * @aged: version of the table when tn_flows_age() last marked all flows
 * @licence: number of the last GIVE_UP
 * @licensed: GIVE_UP number @licence is in force: each flow may give up one gap without waiting for
 *	gap_time
 * @lost: packets given up so far
 */
struct tn_flows {
	struct tn_flow_tx *tx;
	struct tn_flow_rx *rx;
	u32 nodes;
	u32 commits;
	u16 version;
	u8 licence;
	bool licensed;
	u64 lost;
	u32 waiting;
	struct tn_pkt *wait[TN_FLOW_BUCKETS];
	u64 look[TN_FLOW_BUCKETS / 64];
	u64 wait_bytes;
	u64 since;
	u64 aged;
};

/** tn_flows_init() - @tx, @rx: TN_FLOWS entries for each of @nodes nodes, all zero */
void tn_flows_init(struct tn_flows *f, struct tn_flow_tx *tx, struct tn_flow_rx *rx,
		   u32 nodes);

/**
 * tn_flow_stamp() - write the next ESEQ of the flow and its epoch into a new packet of this node,
 * whose service is in its tail
 */
void tn_flow_stamp(struct tn_flows *f, struct tn_pkt *pkt, unsigned int vc);
/**
 * tn_flow_stamped() - count @n further packets of the flow of @pkt, to which the caller has given
 * the numbers after that of @pkt, the last one that tn_flow_stamp() has numbered
 */
void tn_flow_stamped(struct tn_flows *f, const struct tn_pkt *pkt, unsigned int vc, u32 n);

/**
 * tn_flow_begin() - restart the numbering of the flows to @dst; called at the first packet since
 * the row to @dst became valid
 */
void tn_flow_begin(struct tn_flows *f, u32 dst, u64 version);

/**
 * tn_flows_age() - mark the flows with @n nodes, from @first on, whose epoch is too old at @version
 * to be compared
 * @version: version of the active table. This is called while the next table is prepared, in slices
 *	of which the last ends with the last node. The next table may never take effect, so its
 *	version is not used
 */
void tn_flows_age(struct tn_flows *f, u32 first, u32 n, u64 version);
/** tn_flows_commit() - called when a table of @version takes effect */
void tn_flows_commit(struct tn_flows *f, u64 version);

enum tn_flow_turn { TN_FLOW_NOW, TN_FLOW_EARLY, TN_FLOW_BEHIND, TN_FLOW_LATE };

/**
 * tn_flow_turn() - decide what to do with a packet that has arrived
 * The flow changes only if the epoch is new, or if tn_flow_license() allows it to skip a gap.
 * Return: TN_FLOW_NOW: the packet is the next one; EARLY: packets before it are missing; BEHIND: it
 * is a duplicate; LATE: it belongs to an earlier numbering.
 */
enum tn_flow_turn tn_flow_turn(struct tn_flows *f, const struct tn_pkt *pkt);

/** tn_flow_done() - note that @pkt was delivered. Return: true if packets of its flow wait */
bool tn_flow_done(struct tn_flows *f, const struct tn_pkt *pkt);

/**
 * tn_flow_wait() - keep @pkt until the packets before it have arrived; pkt->held counts in
 * wait_bytes
 */
void tn_flow_wait(struct tn_flows *f, struct tn_pkt *pkt, u64 now);

/** tn_flow_next() - Return: a waiting packet that is now the next of its flow, or NULL */
struct tn_pkt *tn_flow_next(struct tn_flows *f);
/** tn_flow_unwait() - remove @pkt, found by tn_flow_next(), from the waiting packets */
void tn_flow_unwait(struct tn_flows *f, struct tn_pkt *pkt);

/** tn_flows_empty() - move all waiting packets to @out, in no particular order */
void tn_flows_empty(struct tn_flows *f, struct tn_queue *out);

/**
 * tn_flow_overdue() - Return: true if @pkt begins a new epoch of its flow while packets of the
 * former epoch wait behind a gap. That gap can no longer be filled, so the caller delivers the
 * waiting packets first.
 */
bool tn_flow_overdue(struct tn_flows *f, const struct tn_pkt *pkt);

/**
 * tn_flow_close_gap() - in the flow of @of, give up the missing packets before the first waiting
 * packet, if one waits
 */
void tn_flow_close_gap(struct tn_flows *f, const struct tn_pkt *of);

/** tn_flow_close_gaps() - give up the first gap of every flow that has waiting packets */
void tn_flow_close_gaps(struct tn_flows *f);

/**
 * tn_flow_license() - called after the manager's GIVE_UP: allow each flow to skip one gap at once
 */
void tn_flow_license(struct tn_flows *f);

#endif /* TN_FLOW_H */
