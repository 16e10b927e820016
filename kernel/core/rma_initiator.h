/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The initiator of remote memory: operations become requests to other nodes, and each of them ends
 * exactly once; rma.h has the argument.
 *
 * Operations that are open stand in a table; the slot of an operation is its place there. Those
 * with one node are in two lists, in the order of their numbers: posted ones, which one reply may
 * end together, and the others, each of which has a reply of its own.
 *
 * To a node the initiator is in one of three states. UNKNOWN: the next operation begins with a
 * RESET. RESET: there was one, and the owner has not confirmed it; @base is its number. KNOWN: it
 * has, and @epoch is the owner's. When a RESET is sent, nothing is open but FE operations, so no
 * number before it can be taken for executed after it. They are open until it is confirmed: the
 * owner ends them and says how many; if they are as many as are open here, they certainly were not
 * executed. If other operations are open when a RESET is needed, no new ones are issued until they
 * have ended (@drain).
 */
#ifndef TN_RMA_INITIATOR_H
#define TN_RMA_INITIATOR_H

#include "rma.h"

#define TN_RMA_SLOTS_MAX	65535u	/* operations of a NIC that may be open */
#define TN_RMA_QUERIES		2	/* without a reply, after which a node is given up */
#define TN_RMA_UNANSWERED	16	/* without a STATUS, though it replies to others */

enum tn_rma_status {
	TN_RMA_DONE,
	TN_RMA_REFUSED,		/* @reason and @value say why */
	TN_RMA_UNREACHABLE,	/* the request came back: not executed; @reason: enum tn_why */
	TN_RMA_LOST,		/* not executed, and will not be */
	TN_RMA_UNKNOWN,		/* perhaps executed */
};

/**
 * struct tn_rma_end - how an operation ended
 * @value: FE and AMO: the value before; refused: what is allowed
 * @data: GET: its @bytes bytes, valid during the call
 */
struct tn_rma_end {
	u8 status;
	u8 reason;
	u32 bytes;
	u64 value;
	const u8 *data;
};

/**
 * struct tn_rma_initiator_ops - the initiator's host
 * @done: an operation ended; it must not call the initiator
 * @holds: true while the host or the NIC holds packets for @dst, so that silence means nothing
 */
struct tn_rma_initiator_ops {
	struct tn_rma_net net;
	void (*done)(void *host, u64 cookie, const struct tn_rma_end *end);
	bool (*holds)(void *host, u32 dst);
};

/** struct tn_rma_list - slots of operations, in the order of their numbers */
struct tn_rma_list {
	u16 first;
	u16 last;
};

/**
 * struct tn_rma_open - an operation that is open, or a free slot
 * @next, @prev: in its list
 * @bytes: GET: how many
 * @op: enum tn_rma_op; 0: free
 */
struct tn_rma_open {
	u64 cookie;
	u32 peer;
	u32 number;
	u32 bytes;
	u16 next;
	u16 prev;
	u8 op;
	u8 posted;
};

enum tn_rma_peer_state { TN_RMA_PEER_UNKNOWN, TN_RMA_PEER_RESET, TN_RMA_PEER_KNOWN };

/**
 * struct tn_rma_peer - another node
 * @since: when it was asked, or when the first of those that are open was sent
 * @next: number of the next operation
 * @base: number of the last RESET; one is left out before it, for queries that were sent before
 * @epoch: of its NIC when it last confirmed a RESET; 0: it never did
 * @chain: the next peer with open operations
 * @refused: posted operations that were refused since the RESET
 * @open: operations that are open
 * @fe: FE operations among them
 * @queries: that were sent since its last reply
 * @unanswered: that were sent since its last STATUS
 * @busy: it is among those with open operations
 */
struct tn_rma_peer {
	u64 since;
	u32 next;
	u32 base;
	u32 epoch;
	u32 refused;
	u32 chain;
	struct tn_rma_list posted;
	struct tn_rma_list slotted;
	u16 open;
	u16 fe;
	u8 state;
	u8 queries;
	u8 unanswered;
	bool drain;
	bool busy;
};

struct tn_rma_initiator_counts {
	u64 issued;
	u64 done;
	u64 refused;
	u64 unreachable;
	u64 lost;
	u64 unknown;
	u64 late;		/* replies to operations that have ended */
	u64 forged;		/* replies that cannot be right */
	u64 resets;
	u64 queries;
};

/**
 * struct tn_rma_initiator - the initiator's part of a NIC
 * @rma_time: silence after which a node is asked
 * @first_busy: the first peer with open operations
 */
struct tn_rma_initiator {
	const struct tn_rma_initiator_ops *ops;
	void *host;
	struct tn_rma_peer *peer;
	struct tn_rma_open *slot;
	u64 rma_time;
	u32 nodes;
	u32 first_busy;
	u16 slots;
	u16 idle;
	struct tn_rma_initiator_counts count;
};

/**
 * tn_rma_initiator_init() - begin
 * @peer: memory of @nodes peers
 * @slot: memory of @slots operations, at most TN_RMA_SLOTS_MAX
 * @seed: random; the numbers of operations begin at what follows from it
 */
void tn_rma_initiator_init(struct tn_rma_initiator *i, const struct tn_rma_initiator_ops *ops,
			   void *host, struct tn_rma_peer *peer, u32 nodes,
			   struct tn_rma_open *slot, u32 slots, u64 rma_time, u64 seed);

/**
 * tn_rma_issue() - send the request of an operation
 * @dst: the owner's node, below @i->nodes, to which there is a row
 * @ask: PUT, GET, AMO, FE or SEND, right by rma_wire.h; number is not read, nor slot, but by AMO:
 *	TN_RMA_POSTED if its result is not wanted
 * @data: @bytes bytes of PUT and SEND
 * @cookie: for ops->done
 * Return: its slot; -EAGAIN if there is no slot, no memory for the packet, or the node is drained.
 */
int tn_rma_issue(struct tn_rma_initiator *i, u32 dst, const struct tn_rma_ask *ask, const u8 *data,
		 u32 bytes, u64 cookie, u64 now);

/**
 * tn_rma_cancel() - ask the owner to end an FE operation that waits; it ends as refused
 * (TN_RMA_CANCELLED), or as executed if that came first
 * @ask: as it was issued
 * Return: 0; -ENOENT if the slot has no FE operation; -EAGAIN if there is no memory for the packet.
 */
int tn_rma_cancel(struct tn_rma_initiator *i, u16 slot, const struct tn_rma_ask *ask);

/** tn_rma_initiator_take() - a reply has arrived on VCD1, in order, from @src below @i->nodes */
void tn_rma_initiator_take(struct tn_rma_initiator *i, u32 src, const u8 *payload, u32 len,
			   u64 now);

/**
 * tn_rma_returned() - a request to @dst has come back as unreachable
 * @why: the reason, enum tn_why (wire.h)
 */
void tn_rma_returned(struct tn_rma_initiator *i, u32 dst, const u8 *payload, u32 len, u8 why,
		     u64 now);

/** tn_rma_peers_died() - what is open with nodes for which @gone says so ends as unknown */
void tn_rma_peers_died(struct tn_rma_initiator *i, bool (*gone)(void *ctx, u32 dst), void *ctx);

/** tn_rma_initiator_poll() - ask nodes that are silent. Return: when to call again; ~0: never */
u64 tn_rma_initiator_poll(struct tn_rma_initiator *i, u64 now);

#endif /* TN_RMA_INITIATOR_H */
