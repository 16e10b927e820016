/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a NIC, shared by nic.c (set-up, place), nic_send.c (packets of this node),
 * nic_ports.c (frames, timers, counters), router.c (moves packets), path.c (headers and queues of a
 * row), divert.c (parking and replay), deliver.c (packets that reach their destination), table.c
 * (rows, holds, colours, parking commands) and via.c (relays).
 */
#ifndef TN_NIC_IMPL_H
#define TN_NIC_IMPL_H

#include "flow.h"
#include "link.h"
#include "nic.h"
#include "park.h"
#include "relay.h"
#include "route.h"

/* packets in an injection queue; twice as many if they continue a message */
#define TN_INJECT_MAX	256
/* number of accounts that bytes on hold are counted in, by destination */
#define TN_HELD_SHARES	256
/* an account may grow to this many times the bytes that are free */
#define TN_HELD_PART	8
/* limit of packets that the NIC itself sends: ASKs, ACKs and returned packets */
#define TN_ANSWERS_MAX	64
/* how many waiting packets are delivered in one call of the host */
#define TN_DUE_MAX	256
/* payload limit of a returned packet: more than an ICMP error quotes */
#define TN_RETURN_FLITS	80

/*
 * Inputs of the router: port * VCS + vc; then an injection queue for each output port and VC of
 * the flow; then for each VC a queue of packets replayed from the parking segment, and a queue of
 * packets that this node relays; then a queue of the NIC's own answers, all on VCD1; then a queue
 * of replies of remote memory for each output port, also on VCD1 (rma_nic.h).
 */
#define TN_INPUT_INJECT	(TORUS_MAX_PORTS * TORUS_VCS)
#define TN_INPUT_REPLAY	(TN_INPUT_INJECT + TORUS_MAX_PORTS * TORUS_VCS)
#define TN_INPUT_RELAY	(TN_INPUT_REPLAY + TORUS_VCS)
#define TN_INPUT_ANSWER	(TN_INPUT_RELAY + TORUS_VCS)
#define TN_INPUT_REPLY	(TN_INPUT_ANSWER + 1)
#define TN_INPUTS	(TN_INPUT_REPLY + TORUS_MAX_PORTS)
#define TN_ACTIVE_WORDS	((TN_INPUTS + 63) / 64)

#define TN_BLOCK	64		/* rows in a block */

/**
 * struct tn_block - state of TN_BLOCK consecutive rows of a table
 *
 * With it, commit and release need not visit all rows of the table, which may be millions.
 *
 * @releases: the value of tn_nic.releases when holds were last set in these rows. If it differs
 *	from the present value, a release has ended these holds, and the HOLD bits are cleared at
 *	the next access
 * @begins: bitmap of rows that became valid and carried no packet since: the first packet begins
 *	a new numbering of the flows to that node
 */
struct tn_block {
	u64 releases;
	u64 begins;
};

#define TN_WAYS		16

/**
 * struct tn_way - cached routing result of a header; the next packet to the same destination mostly
 * has the same header
 * @known: the cache is valid
 * @path: the header
 * @out: the result of tn_route_next()
 * @last: the last step in the header after that hop
 */
struct tn_way {
	bool known;
	u8 last;
	unsigned int out;
	struct tn_path path;
};

/**
 * struct tn_entry - cached injection queue of packets: it is needed twice for each message, before
 * the message is cut into packets and when it is sent
 * @row: the row that they are sent by; 0: the cache is not valid
 * @dst: their destination
 * @vc: their virtual channel
 * @input: index of the queue in tn_nic.input
 */
struct tn_entry {
	u64 row;
	u32 dst;
	u8 vc;
	u8 input;
};

/**
 * struct tn_nic
 * @input: queues in front of the router
 * @active: bitmap of inputs with packets
 * @turn: input that is served first in the next round
 * @live: mask of ports whose link is not down: others do not send
 * @way: routing results of the packets last moved, by destination modulo TN_WAYS: a node that
 *	forwards requests and their replies needs two of them alternately
 * @entry: injection queues of the packets last sent, by destination modulo TN_WAYS
 * @ring_at: when to examine the outputs whose free buffers are all critical bubbles (ring.h); ~0:
 *	there is none
 * @reopening: mask of closed ports that open when the replay is done
 * @cut_short: a later version ended that replay: these ports open when no packet is parked any more
 * @held: packets of this node whose destination is on hold, in order
 * @held_bytes: bytes of the packets in @held and of those that wait for the relay window
 *	(tn_pkt.held)
 * @share: these bytes by destination, modulo TN_HELD_SHARES
 * @rows, @shadow: the active and the shadow table, @nodes rows each; @shadow_open: the shadow
 *	accepts rows
 * @block, @shadow_block: block states of these tables
 * @copying: the active rows are being copied to the shadow; the first @copied are done
 * @releases: number of releases so far; each ends all holds
 * @due_left: how many waiting packets may still be delivered in this call of the host
 * @due_more: more packets may be due than were delivered; the next call continues
 * @rma: remote memory; NULL: the NIC does not have it
 * @relays_held: there was no release since the last commit, so all destinations behind relays are
 *	on hold
 */
struct tn_nic {
	const struct tn_ops *ops;
	void *host;
	struct tn_params params;
	u64 guid;
	u32 epoch;
	u8 nports;

	bool placed;
	struct torus_shape shape;
	struct torus_coords at;
	u32 node;
	u32 nodes;

	u64 *rows;
	u64 *shadow;
	struct tn_block *block;
	struct tn_block *shadow_block;
	u64 version;
	u64 shadow_version;
	bool shadow_open;
	bool copying;
	u32 copied;
	u64 releases;
	bool relays_held;
	u8 colour;

	u64 active[TN_ACTIVE_WORDS];
	u8 turn;
	u16 live;
	u16 reopening;
	bool cut_short;
	u64 ring_at;
	struct tn_way way[TN_WAYS];
	struct tn_entry entry[TN_WAYS];
	struct tn_queue input[TN_INPUTS];
	struct tn_queue held;
	u64 held_bytes;
	u64 share[TN_HELD_SHARES];
	struct tn_park park;
	struct tn_flows flows;
	u32 due_left;
	bool due_more;
	struct tn_relay relay;
	struct tn_nic_rma *rma;

	u64 counter[TORUS_NC_COUNT];
	u64 flow[TORUS_FC_COUNT][TORUS_COLOURS];
	struct tn_link link[TORUS_MAX_PORTS];
};

static inline bool tn_on_hold(const struct tn_nic *nic, u32 dst)
{
	u64 row = nic->rows[dst];

	tn_assert(dst < nic->nodes);
	tn_assert(nic->block[dst / TN_BLOCK].releases <= nic->releases);
	return ((row & TORUS_ROW_HOLD) && nic->block[dst / TN_BLOCK].releases == nic->releases) ||
	       ((row & TORUS_ROW_RELAY) && nic->relays_held);
}

/*
 * Return: true if the packet counts in the sums of a recovery: data on VCD0 and VCD1 and all
 * relayed packets, but no copies that are marked bad.
 */
static inline bool tn_counts(const struct tn_pkt *pkt)
{
	return pkt->hdr.type == TN_DATA && !pkt->hdr.nic && pkt->tail.vb != TN_VB_BAD &&
	       (!(pkt->tail.flags & TN_TAIL_ADAPTIVE) || pkt->hdr.relayed);
}

static inline void tn_flow_count(struct tn_nic *nic, const struct tn_pkt *pkt,
				 enum torus_flow_counter which)
{
	tn_assert(pkt->hdr.colour < TORUS_COLOURS);
	if (tn_counts(pkt))
		nic->flow[which][pkt->hdr.colour]++;
}

static inline void tn_input_push(struct tn_nic *nic, unsigned int input, struct tn_pkt *pkt)
{
	tn_assert(input < TN_INPUTS);
	tn_queue_push(&nic->input[input], pkt);
	nic->active[input / 64] |= 1ull << input % 64;
}

/* Puts @pkt at the head of the queue. */
static inline void tn_input_push_front(struct tn_nic *nic, unsigned int input,
				       struct tn_pkt *pkt)
{
	tn_assert(input < TN_INPUTS);
	tn_queue_push_front(&nic->input[input], pkt);
	nic->active[input / 64] |= 1ull << input % 64;
}

/* Moves @pkt into parking memory, if the host has such memory. Return: false if none is left. */
static inline bool tn_settle(const struct tn_nic *nic, struct tn_pkt *pkt)
{
	return !nic->ops->park || nic->ops->park(nic->host, pkt);
}

/*
 * Called before @pkt waits for a long time: sets pkt->held, and returns it: the bytes of memory
 * that @pkt occupies.
 */
static inline u32 tn_keep(const struct tn_nic *nic, struct tn_pkt *pkt)
{
	pkt->held = nic->ops->keep ? nic->ops->keep(nic->host, pkt) : (u32)tn_park_cost(pkt);
	return pkt->held;
}

/*
 * Return: true if @pkt is a "rider" (relay.h): it is relayed but counts in no window, so a relay
 * may drop it.
 */
static inline bool tn_is_rider(const struct tn_pkt *pkt)
{
	return pkt->hdr.type != TN_DATA || pkt->hdr.nic || pkt->via.payer == TORUS_NO_NODE;
}

/*
 * Return: true if @pkt, which was in the RETRY buffer of a failed link, may take another path at
 * once and need not wait for a replay. A relayed packet must wait, because its window belongs to a
 * version of the table.
 */
static inline bool tn_may_reroute(const struct tn_pkt *pkt)
{
	return pkt->hdr.vc == TORUS_VC_A && !pkt->hdr.relayed;
}

/** tn_report() - report an event of @type, which concerns no single port, to the host */
void tn_report(struct tn_nic *nic, u8 type);

/* router.c */
/**
 * tn_answer() - send @pkt, an ASK, an ACK or a returned packet, which is stamped for VCD1
 * If TN_ANSWERS_MAX of them wait, the one that has waited longest is dropped.
 */
void tn_answer(struct tn_nic *nic, struct tn_pkt *pkt);

/* path.c */
/** tn_stamp() - fill the header of a packet that starts at this node, from a valid @row */
void tn_stamp(struct tn_nic *nic, struct tn_pkt *pkt, u64 row);
/**
 * tn_inject_input() - choose the injection queue for packets to @dst by a valid @row, with the
 * flow's @vc
 * Return: the number of the input: that of the port by which these packets leave.
 */
unsigned int tn_inject_input(struct tn_nic *nic, u32 dst, u64 row, unsigned int vc);
/**
 * tn_reroute() - route @pkt again, of which no other copy can exist; called after tn_may_reroute()
 */
void tn_reroute(struct tn_nic *nic, struct tn_pkt *pkt);

/* divert.c */
/** tn_parked() - count @pkt, which is resolved, as parked */
void tn_parked(struct tn_nic *nic, struct tn_pkt *pkt);
/**
 * tn_reopen() - open the ports that wait for the end of a replay. Return: false if the replay goes
 * on
 */
bool tn_reopen(struct tn_nic *nic);

/* deliver.c */
/**
 * tn_hand_over() - deliver @pkt to this host, or let it wait or drop it by its number
 * @nic: the NIC
 * @pkt: without its relay flit
 * @came: the packet as it was received, of the same flow and number
 * @now: the time
 * Return: false if there is no room for it now.
 */
bool tn_hand_over(struct tn_nic *nic, struct tn_pkt *pkt, const struct tn_pkt *came, u64 now);
/**
 * tn_deliver_waiting() - deliver packets that waited and are now next in their flows, at most
 * due_left
 */
void tn_deliver_waiting(struct tn_nic *nic, u64 now);
/**
 * tn_send_back() - send @pkt, which cannot go on, back to its source as unreachable, and count it
 * Its input buffer is free already, so the number of such packets is limited in another way: see
 * "Bounds" at the head of router.c.
 */
void tn_send_back(struct tn_nic *nic, struct tn_pkt *pkt, enum tn_why why);
/**
 * tn_give_returned() - give @pkt, which came back as unreachable, to its sender at this node
 * Return: false if the host is full.
 */
bool tn_give_returned(struct tn_nic *nic, struct tn_pkt *pkt);

/* via.c */
/** tn_via_receive() - process an ASK or ACK of another NIC, and free @pkt */
void tn_via_receive(struct tn_nic *nic, struct tn_pkt *pkt);
/**
 * tn_via_ended() - count a packet with the relay flit @via that has reached its final destination
 */
void tn_via_ended(struct tn_nic *nic, const struct tn_via *via);
/**
 * tn_via_charge() - if @pkt, whose header was just written, is relayed, count it in this node's
 * window
 */
void tn_via_charge(struct tn_nic *nic, struct tn_pkt *pkt);
/** tn_via_poll() - send an ASK if acknowledgements are overdue */
void tn_via_poll(struct tn_nic *nic, u64 now);

/* rma_nic.c; all but tn_rma_come_back() only if nic->rma */
/**
 * tn_rma_deliver() - take a packet of remote memory, the next of its flow. Return: false if there
 * is no room for it now
 */
bool tn_rma_deliver(struct tn_nic *nic, struct tn_pkt *pkt);
/** tn_rma_come_back() - process a packet of remote memory that came back as unreachable */
void tn_rma_come_back(struct tn_nic *nic, struct tn_pkt *pkt);
/** tn_rma_note_counts() - bring the NIC's counters of remote memory up to date */
void tn_rma_note_counts(struct tn_nic *nic);
/** tn_rma_work() - serve waiters, and requests of this node to itself */
void tn_rma_work(struct tn_nic *nic, u64 now);
/**
 * tn_rma_released() - called when a recovery has ended: end what is open with nodes that have no
 * row
 */
void tn_rma_released(struct tn_nic *nic, u64 now);
void tn_rma_poll(struct tn_nic *nic, u64 now);
u64 tn_rma_expiry(const struct tn_nic *nic);

/* nic.c */
/** tn_gone() - count the packets of @done, which neighbours have accepted, and free them */
void tn_gone(struct tn_nic *nic, struct tn_queue *done);

/* nic_send.c */
/**
 * tn_send_service() - send a packet of a service to another node: hdr.len, tail.flags and tail.vb
 * are set. A reply (VCD1) needs no room in a queue, but its row.
 * Return: as tn_nic_send().
 */
int tn_send_service(struct tn_nic *nic, struct tn_pkt *pkt, u32 dst, unsigned int vc);
/**
 * tn_launch_waiting() - inject packets of this node that waited for the relay window. Return: true
 * if any was injected
 */
bool tn_launch_waiting(struct tn_nic *nic);
/**
 * tn_release_held() - inject the waiting packets of this node that no hold or window stops any more
 */
void tn_release_held(struct tn_nic *nic);

#endif /* TN_NIC_IMPL_H */
