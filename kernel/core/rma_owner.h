/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The owner of memory executes the requests of other nodes; rma.h has the argument.
 *
 * A region is a piece of memory of a job. It is named by its index and a key, or by an address in
 * the space of its job, which is a window (window.h) whose targets are regions. A key has the
 * generation of the region in its high 8 bits and a random number below, which is not 0 and stays
 * when the region is closed: so a request for a region that was closed is told from a wrong one.
 *
 * A request that is refused has changed nothing. One exception: a PUT with NOTIFY that is refused
 * with BUSY has written its data, and the word of the notification has not changed.
 */
#ifndef TN_RMA_OWNER_H
#define TN_RMA_OWNER_H

#include "rma.h"
#include "window.h"

/**
 * struct tn_rma_region - memory that others may use
 * @bytes: 0: closed, or never used; with @fe a multiple of 8
 * @key: 0: never used
 * @access: enum tn_window_access
 * @fe: its full/empty bits; NULL: it has none
 */
struct tn_rma_region {
	u64 bytes;
	struct tn_fe_bits *fe;
	u32 key;
	u16 job;
	u16 access;
};

/**
 * struct tn_rma_source - what the owner knows of another node; all zero at first
 * @next: number of the operation that it expects
 * @refused: posted operations since the RESET
 * @waits: requests that wait
 * @unacked: posted operations since the last ACK
 * @known: there was a RESET
 */
struct tn_rma_source {
	u32 next;
	u32 refused;
	u16 waits;
	u8 unacked;
	u8 known;
};

/**
 * struct tn_rma_owner_ops - the owner's host
 * @mem: memory of byte @offset of a region; @run: bytes from there on that lie together. A multiple
 *	of 8 bytes from the beginning of the region, it is aligned and has 8 bytes or more
 * @space: the window of a job, with targets that are regions; NULL: it has none
 * @recv: a SEND has arrived; 0, or -ENOBUFS if the endpoint has no room for it
 */
struct tn_rma_owner_ops {
	struct tn_rma_net net;
	u8 *(*mem)(void *host, u32 region, u64 offset, u64 *run);
	const struct tn_window *(*space)(void *host, u16 job);
	int (*recv)(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes);
};

/** struct tn_rma_words - words of a region that changed, and whose waiters are to be served */
struct tn_rma_words {
	u32 region;
	u64 word;
	u64 last;
	bool any;
};

struct tn_rma_owner_counts {
	u64 executed;		/* of them each that waited, when it was executed */
	u64 waited;
	u64 refused;		/* by NAK, without gaps */
	u64 gaps;		/* refused because operations before it were lost */
	u64 malformed;
	u64 bytes_in;
	u64 bytes_out;
};

/**
 * struct tn_rma_owner - the owner's part of a NIC
 * @source: of each node
 * @epoch: of this NIC, which differs after each restart
 * @data_max: bytes of data of a reply
 * @waits_max: requests of one node that may wait
 * @served: words that changed by the last request
 */
struct tn_rma_owner {
	const struct tn_rma_owner_ops *ops;
	void *host;
	struct tn_rma_source *source;
	struct tn_rma_region *region;
	struct tn_fe_pool *pool;
	u32 nodes;
	u32 regions;
	u32 epoch;
	u32 data_max;
	u16 waits_max;
	struct tn_rma_words served[2];
	struct tn_rma_owner_counts count;
};

#define TN_RMA_ACK_EVERY	16	/* posted operations, without being asked for it */

/**
 * tn_rma_owner_take() - a packet of VCD0 has arrived, in order
 * @src: node that sent it, below @o->nodes
 * @payload: @len bytes
 * Return: 0 if it was consumed; -EAGAIN if there is no memory for a reply: the packet stays where
 * it is, and the call is repeated.
 */
int tn_rma_owner_take(struct tn_rma_owner *o, u32 src, const u8 *payload, u32 len, u64 now);

/**
 * tn_rma_owner_poll() - serve words that changed, when there is memory for replies again
 * Return: true if none is left.
 */
bool tn_rma_owner_poll(struct tn_rma_owner *o);

/**
 * tn_rma_owner_changed() - words of a region with full/empty bits were changed otherwise
 * Return: 0; -EAGAIN: words that changed before are not served yet.
 */
int tn_rma_owner_changed(struct tn_rma_owner *o, u32 region, u64 offset, u64 bytes);

/** tn_rma_owner_forget() - end what waits of a node that has died */
void tn_rma_owner_forget(struct tn_rma_owner *o, u32 src);
/** tn_rma_owner_sweep() - the same for nodes for which @gone says so */
void tn_rma_owner_sweep(struct tn_rma_owner *o, bool (*gone)(void *ctx, u32 src), void *ctx);

/**
 * tn_rma_owner_close() - close a region; what waits in it is refused with GONE
 * Return: 0; -EAGAIN: it is closed for new requests, but there is no memory for replies to all
 * that wait. Its memory must stay, and the call is repeated.
 */
int tn_rma_owner_close(struct tn_rma_owner *o, u32 region);

#endif /* TN_RMA_OWNER_H */
