/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside a NIC: nic.c (host side, links, counters), router.c (moves packets),
 * table.c (rows, holds, colours, parking commands).
 */
#ifndef TN_NIC_IMPL_H
#define TN_NIC_IMPL_H

#include "flow.h"
#include "link.h"
#include "nic.h"
#include "park.h"
#include "relay.h"
#include "route.h"

#define TN_INJECT_MAX	256		/* packets in an injection queue */
/* The same with what this NIC says itself and sends back, beside what the host may queue. */
#define TN_ANSWERS_MAX	(TN_INJECT_MAX + TN_RELAY_RIDERS)

/*
 * Inputs of the router: port * VCS + vc, then for each VC an injection queue, one of
 * packets that come from the parking segment and one of those that are relayed here.
 */
#define TN_INPUT_INJECT	(TORUS_MAX_PORTS * TORUS_VCS)
#define TN_INPUT_REPLAY	(TN_INPUT_INJECT + TORUS_VCS)
#define TN_INPUT_RELAY	(TN_INPUT_REPLAY + TORUS_VCS)
#define TN_INPUTS	(TN_INPUT_RELAY + TORUS_VCS)

#define TN_BLOCK	64		/* rows */

/**
 * struct tn_block - of TN_BLOCK rows of a table, so that neither a commit nor a release
 * walks a whole one, which takes long at millions of nodes
 * @releases: holds in these rows were made after so many releases: unless that
 *	is tn_nic.releases they are lifted, and are cleared when somebody looks
 * @begins: rows, a bit each, that became valid and carried no packet yet: with the
 *	first one the numbering of its flows begins
 */
struct tn_block {
	u64 releases;
	u64 begins;
};

/**
 * struct tn_way - where a header leads from here: that of the next packet is mostly the same
 * @known: the rest means something
 * @path: the header
 * @out: as of tn_route_next()
 * @last: its last step when it goes there
 */
struct tn_way {
	bool known;
	u8 last;
	unsigned int out;
	struct tn_path path;
};

/**
 * struct tn_nic
 * @input: queues in front of the router
 * @active: mask of inputs with packets
 * @turn: input that is served first in the next round
 * @live: mask of ports whose link is not down: others do not send
 * @way: of the packet that was last moved
 * @reopening: mask of closed ports that open when the replay is done
 * @held: own packets whose destination is on hold, in order
 * @rows, @shadow: two tables of @nodes rows; @shadow_open: one was begun
 * @block, @shadow_block: of these tables
 * @copying: one is being begun, its first @copied rows are there
 * @releases: how often all holds were lifted
 * @relays_held: no release since the commit: all destinations with a relay are on hold
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

	u64 active;
	u8 turn;
	u16 live;
	u16 reopening;
	struct tn_way way;
	struct tn_queue input[TN_INPUTS];
	struct tn_queue held;
	u64 held_bytes;
	struct tn_park park;
	struct tn_flows flows;
	struct tn_relay relay;

	u64 counter[TORUS_NC_COUNT];
	u64 flow[TORUS_FC_COUNT][TORUS_COLOURS];
	struct tn_link link[TORUS_MAX_PORTS];
};

static inline bool tn_on_hold(const struct tn_nic *nic, u32 dst)
{
	u64 row = nic->rows[dst];

	return ((row & TORUS_ROW_HOLD) && nic->block[dst / TN_BLOCK].releases == nic->releases) ||
	       ((row & TORUS_ROW_RELAY) && nic->relays_held);
}

/*
 * Does the packet count in the sums of a recovery? VCD data and all that is relayed does, a copy
 * marked bad does not.
 */
static inline bool tn_counts(const struct tn_pkt *pkt)
{
	return pkt->hdr.type == TN_DATA && !pkt->hdr.nic && pkt->tail.vb != TN_VB_BAD &&
	       (!(pkt->tail.flags & TN_TAIL_ADAPTIVE) || pkt->hdr.relayed);
}

static inline void tn_flow_count(struct tn_nic *nic, const struct tn_pkt *pkt,
				 enum torus_flow_counter which)
{
	if (tn_counts(pkt))
		nic->flow[which][pkt->hdr.colour]++;
}

static inline void tn_input_push(struct tn_nic *nic, unsigned int input, struct tn_pkt *pkt)
{
	tn_queue_push(&nic->input[input], pkt);
	nic->active |= 1ull << input;
}

/* Before all that waits there. */
static inline void tn_input_push_front(struct tn_nic *nic, unsigned int input,
				       struct tn_pkt *pkt)
{
	tn_queue_push_front(&nic->input[input], pkt);
	nic->active |= 1ull << input;
}

/* @pkt, which is to be parked, is in memory for that. False: none is left. */
static inline bool tn_settle(const struct tn_nic *nic, struct tn_pkt *pkt)
{
	return !nic->ops->park || nic->ops->park(nic->host, pkt);
}

/* A relayed packet of nobody's window: relays may drop it. */
static inline bool tn_is_rider(const struct tn_pkt *pkt)
{
	return pkt->hdr.type != TN_DATA || pkt->hdr.nic || pkt->via.payer == TORUS_NO_NODE;
}

/*
 * @pkt, in the RETRY buffer of a failed link, may go another way without a replay. One that is
 * relayed may not: its window belongs to a version of the table.
 */
static inline bool tn_may_reroute(const struct tn_pkt *pkt)
{
	return pkt->hdr.vc == TORUS_VC_A && !pkt->hdr.relayed;
}

void tn_tell(struct tn_nic *nic, u8 type);

/* router.c */
/** tn_stamp() - header of a packet that starts here, from a valid @row */
void tn_stamp(struct tn_nic *nic, struct tn_pkt *pkt, u64 row);
/** tn_parked() - @pkt, resolved, counts as parked from now on */
void tn_parked(struct tn_nic *nic, struct tn_pkt *pkt);
/** tn_reroute() - @pkt, of which no other copy is known, takes another way: see tn_may_reroute() */
void tn_reroute(struct tn_nic *nic, struct tn_pkt *pkt);
/** tn_reopen() - open the ports that waited for the replay, if it is done */
bool tn_reopen(struct tn_nic *nic);
/** tn_deliver_waiting() - packets of flows whose turn has come */
void tn_deliver_waiting(struct tn_nic *nic, u64 now);

/* via.c */
/** tn_via_hear() - a NIC says something to this one; @pkt is given back */
void tn_via_hear(struct tn_nic *nic, struct tn_pkt *pkt);
/** tn_via_ended() - a packet with this relay flit has come to its destination */
void tn_via_ended(struct tn_nic *nic, const struct tn_via *via);
/** tn_via_charge() - @pkt, just stamped, is of this node's window if it is relayed */
void tn_via_charge(struct tn_nic *nic, struct tn_pkt *pkt);
/** tn_via_take() - relay memory for @pkt. Return: false: there is none. */
bool tn_via_take(struct tn_nic *nic, struct tn_pkt *pkt);
/** tn_via_onward() - @pkt, taken, starts on its next leg by a valid @row */
void tn_via_onward(struct tn_nic *nic, struct tn_pkt *pkt, u64 row);
/** tn_via_poll() - ask for acknowledgements that are overdue */
void tn_via_poll(struct tn_nic *nic, u64 now);

/* nic.c */
/** tn_gone() - neighbours have the packets of @done: count them and give them back */
void tn_gone(struct tn_nic *nic, struct tn_queue *done);
/** tn_launch_waiting() - own packets that waited for the relay window. Return: some went. */
bool tn_launch_waiting(struct tn_nic *nic);
/** tn_release_held() - own packets that waited go on their way */
void tn_release_held(struct tn_nic *nic);

#endif /* TN_NIC_IMPL_H */
