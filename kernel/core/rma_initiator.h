/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The initiator of remote memory: turns operations into requests to other nodes, and ends each
 * operation exactly once; rma.h has the argument.
 *
 * Open operations are in a table; the slot of an operation is its index there. The open operations
 * with one node are in two lists, in the order of their numbers: posted ones, several of which one
 * reply may end, and the others, each of which has a reply of its own.
 *
 * For each node the initiator is in one of three states. UNKNOWN: it must send a RESET before the
 * next operation. RESET: it has sent one, with the number @base, and the owner has not confirmed
 * it. KNOWN: the owner has confirmed it, and @epoch is the owner's. When a RESET is sent, only FE
 * operations are open, so no later reply can confirm an operation from before the RESET. These FE
 * operations stay open until the RESET is confirmed: the owner ends those that wait there and
 * reports their number; if as many are open here, none of them was executed. If other operations
 * are open when a RESET is needed, no new ones are issued until they have ended (@drain).
 */
#ifndef TN_RMA_INITIATOR_H
#define TN_RMA_INITIATOR_H

#include "rma.h"

#define TN_RMA_SLOTS_MAX	65535u	/* most operations of a NIC that may be open */
#define TN_RMA_QUERIES		2	/* queries without a reply after which a node is given up */
/* queries without a STATUS after which a node is given up, although it replies to others */
#define TN_RMA_UNANSWERED	16

enum tn_rma_status {
	TN_RMA_DONE,
	TN_RMA_REFUSED,		/* refused; @reason and @value say why */
	TN_RMA_UNREACHABLE,	/* not executed: the request came back; @reason: enum tn_why */
	TN_RMA_LOST,		/* not executed, and it never will be */
	TN_RMA_UNKNOWN,		/* it is not known whether it was executed */
};

/**
 * struct tn_rma_end - how an operation ended
 * @status: enum tn_rma_status
 * @reason: why it was refused or unreachable
 * @bytes: GET: bytes of @data; 0 if it is not done, and of another operation
 * @value: FE and AMO: value of the word before; if the operation was refused, the allowed value
 * @data: GET: the data, valid during the call
 */
struct tn_rma_end {
	u8 status;
	u8 reason;
	u32 bytes;
	u64 value;
	const u8 *data;
};

/**
 * struct tn_rma_initiator_ops - callbacks of the initiator into its host
 * @net: functions that send messages
 * @done: called when an operation has ended; must not call the initiator
 * @holds: Return: true while the host or the NIC holds packets for @dst; then @dst may be silent
 *	without a fault
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
 * @cookie: given back by ops->done
 * @peer: node of the owner
 * @number: number of the operation
 * @bytes: GET: bytes to be read
 * @next, @prev: slots of the next and the previous operation in the same list
 * @op: enum tn_rma_op; 0: the slot is free
 * @posted: the operation is in the list of posted ones
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
 * struct tn_rma_peer - what the initiator knows of another node
 * @since: time of the last QUERY; without one, time at which the first open operation was sent
 * @next: number of the next operation
 * @base: number of the last RESET; the number before it is not used, so that the answer to an
 *	earlier query is recognised
 * @epoch: epoch of its NIC when it last confirmed a RESET; 0: it never did
 * @refused: number of posted operations that it refused since the RESET
 * @chain: next node in the list of nodes with open operations
 * @posted, @slotted: open operations that are posted, and the others
 * @open: number of open operations
 * @fe: how many of these are FE operations
 * @state: enum tn_rma_peer_state
 * @queries: number of queries since its last reply
 * @unanswered: number of queries since its last STATUS
 * @asked: a QUERY is under way because an operation was refused
 * @drain: no operation is issued before all open ones have ended
 * @busy: the node is in the list of nodes with open operations
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
	bool asked;
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
	u64 late;		/* replies to operations that have ended already */
	u64 forged;		/* replies that an honest owner cannot have sent */
	u64 resets;
	u64 queries;
};

/**
 * struct tn_rma_initiator - the initiator's part of a NIC
 * @piece: pieces of the @nodes nodes; NULL: no operation was issued to a node of this piece
 * @slot: @slots operations; of these, no one was used from @unused on
 * @seed: the first numbers of operations follow from it
 * @rma_time: time without a reply after which a node gets a QUERY
 * @first_busy: first node in the list of nodes with open operations
 * @idle: first free slot of those that were used before
 */
struct tn_rma_initiator {
	const struct tn_rma_initiator_ops *ops;
	void *host;
	struct tn_rma_peer **piece;
	struct tn_rma_open *slot;
	u64 rma_time;
	u64 seed;
	u32 nodes;
	u32 first_busy;
	u16 slots;
	u16 unused;
	u16 idle;
	struct tn_rma_initiator_counts count;
};

/**
 * tn_rma_initiator_init() - initialise, without open operations
 * @piece: a pointer for each piece of @nodes nodes, which are NULL, or point to pieces
 * @slot: memory of @slots operations, which is 0
 * @slots: at most TN_RMA_SLOTS_MAX
 * @rma_time: time without a reply after which a node gets a QUERY
 * @seed: random seed, from which the first numbers of operations follow
 */
void tn_rma_initiator_init(struct tn_rma_initiator *i, const struct tn_rma_initiator_ops *ops,
			   void *host, struct tn_rma_peer **piece, u32 nodes,
			   struct tn_rma_open *slot, u32 slots, u64 rma_time, u64 seed);
/** tn_rma_initiator_extend() - add the piece of @node, in memory for TN_RMA_PIECE nodes */
void tn_rma_initiator_extend(struct tn_rma_initiator *i, u32 node, struct tn_rma_peer *piece);
/** tn_rma_initiator_peer() - Return: what is known of @dst; NULL: no operation was issued to it */
static inline struct tn_rma_peer *tn_rma_initiator_peer(const struct tn_rma_initiator *i, u32 dst)
{
	struct tn_rma_peer *piece = i->piece[dst / TN_RMA_PIECE];

	return piece ? &piece[dst % TN_RMA_PIECE] : NULL;
}

/**
 * tn_rma_issue() - begin an operation: send its request
 * @i: the initiator
 * @dst: node of the owner, below @i->nodes; there must be a row to it
 * @ask: a valid PUT, GET, AMO, FE or SEND (rma_wire.h). Its number is ignored, and so is its slot,
 *	except that an AMO whose result is not wanted has TN_RMA_POSTED
 * @data: data of a PUT or SEND
 * @bytes: bytes of @data
 * @cookie: argument of ops->done
 * @now: present time
 * Return: slot of the operation; -EAGAIN if no slot is free, there is no memory for the packet, or
 * the node is drained.
 */
int tn_rma_issue(struct tn_rma_initiator *i, u32 dst, const struct tn_rma_ask *ask, const u8 *data,
		 u32 bytes, u64 cookie, u64 now);

/**
 * tn_rma_cancel() - ask the owner to end an FE operation that waits
 * @i: the initiator
 * @slot: slot of the operation
 * @ask: the request with which it was issued
 * The operation ends as refused (TN_RMA_CANCELLED), or as done if it was executed before.
 * Return: 0; -ENOENT if the slot has no FE operation; -EAGAIN if there is no memory for the packet.
 */
int tn_rma_cancel(struct tn_rma_initiator *i, u16 slot, const struct tn_rma_ask *ask);

/** tn_rma_initiator_take() - process a reply of @src, the next packet of its flow on VCD1 */
void tn_rma_initiator_take(struct tn_rma_initiator *i, u32 src, const u8 *payload, u32 len,
			   u64 now);

/**
 * tn_rma_returned() - process a request to @dst that came back as unreachable
 * @why: the reason, enum tn_why (wire.h)
 */
void tn_rma_returned(struct tn_rma_initiator *i, u32 dst, const u8 *payload, u32 len, u8 why,
		     u64 now);

/**
 * tn_rma_peers_died() - end as unknown all open operations with nodes for which @gone returns true
 */
void tn_rma_peers_died(struct tn_rma_initiator *i, bool (*gone)(void *ctx, u32 dst), void *ctx);

/** tn_rma_initiator_poll() - send queries that are due. Return: when to call again; ~0: never */
u64 tn_rma_initiator_poll(struct tn_rma_initiator *i, u64 now);

#endif /* TN_RMA_INITIATOR_H */
