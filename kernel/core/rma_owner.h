/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The owner of memory executes the requests of other nodes; rma.h has the argument.
 *
 * A region is a piece of memory of a job. It is named by its index and a key, or by an address in
 * the space of its job, which is a window (window.h) whose targets are regions. A key has the
 * generation of the region in its high 8 bits and a random number in the others. The random number
 * is not 0 and stays when the region is closed, so that the owner can distinguish a request for a
 * closed region from a wrong one.
 *
 * If there is no memory for what is known of a node, its RESET is ignored. So its operations are
 * refused with GAP, and end as unknown.
 *
 * A refused request changes nothing, with one exception: a PUT with NOTIFY that is refused with
 * BUSY has written its data, and only the word of the notification is unchanged.
 */
#ifndef TN_RMA_OWNER_H
#define TN_RMA_OWNER_H

#include "rma.h"
#include "window.h"

/**
 * struct tn_rma_region - memory of this node that other nodes may use
 * @bytes: size of the region; with @fe a multiple of 8; 0: the region is closed or was never used
 * @fe: full/empty bits of the region's words; NULL: the region has none
 * @key: key of the region; 0: the region was never used
 * @job: job to which the region belongs
 * @access: rights of others, enum tn_window_access
 */
struct tn_rma_region {
	u64 bytes;
	struct tn_fe_bits *fe;
	u32 key;
	u32 job;
	u16 access;
};

/**
 * struct tn_rma_source - what the owner knows of another node; all zero at first
 * @next: number that the node's next operation must have
 * @refused: number of its posted operations that were refused since the RESET
 * @waits: number of its requests that wait
 * @unacked: number of its posted operations since the last ACK
 * @known: the node has sent a RESET
 */
struct tn_rma_source {
	u32 next;
	u32 refused;
	u16 waits;
	u8 unacked;
	u8 known;
};

/**
 * struct tn_rma_owner_ops - callbacks of the owner into its host
 * @net: functions that send messages
 * @mem: Return: address of byte @offset of a region; @run is set to the number of bytes from there
 *	on that lie together. If @offset is a multiple of 8, the address is aligned to 8 bytes, and
 *	@run is at least 8
 * @space: Return: the window of a job, whose targets are regions; NULL: the job has none
 * @recv: called when a SEND has arrived. Return: 0 if the endpoint has taken it, else the reason of
 *	the refusal, enum tn_rma_reason; then @allowed is set to the allowed value, if the reason
 *	has one
 */
struct tn_rma_owner_ops {
	struct tn_rma_net net;
	u8 *(*mem)(void *host, u32 region, u64 offset, u64 *run);
	const struct tn_window *(*space)(void *host, u32 job);
	u8 (*recv)(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		   u64 *allowed);
};

/**
 * struct tn_rma_words - words of a region that changed, and whose waiters are to be served
 * @region: the region
 * @word: number of the first of these words that may still have waiters to serve
 * @last: number of the last one
 * @any: there are such words
 */
struct tn_rma_words {
	u32 region;
	u64 word;
	u64 last;
	bool any;
};

struct tn_rma_owner_counts {
	/* operations executed; one that waited is counted when it is executed */
	u64 executed;
	u64 waited;
	u64 refused;		/* operations refused by NAK, except for gaps */
	u64 gaps;		/* refused because operations before it were lost */
	u64 malformed;
	u64 bytes_in;
	u64 bytes_out;
};

/**
 * struct tn_rma_owner - the owner's part of a NIC
 * @piece: pieces of the @nodes nodes; NULL: no node of this piece has sent a RESET
 * @region: @regions regions
 * @pool: requests that wait, at most 65534; the quotas of regions limit those of users
 * @epoch: epoch of this NIC, which differs after each restart
 * @data_max: most bytes of data of a reply
 * @served: words that the last request changed
 */
struct tn_rma_owner {
	const struct tn_rma_owner_ops *ops;
	void *host;
	struct tn_rma_source **piece;
	struct tn_rma_region *region;
	struct tn_fe_pool *pool;
	u32 nodes;
	u32 regions;
	u32 epoch;
	u32 data_max;
	struct tn_rma_words served[2];
	struct tn_rma_owner_counts count;
};

/** tn_rma_owner_source() - Return: what is known of @src; NULL: it has not sent a RESET */
static inline struct tn_rma_source *tn_rma_owner_source(const struct tn_rma_owner *o, u32 src)
{
	struct tn_rma_source *piece = o->piece[src / TN_RMA_PIECE];

	return piece ? &piece[src % TN_RMA_PIECE] : NULL;
}

/* posted operations after which the owner acknowledges, at the latest */
#define TN_RMA_ACK_EVERY	16

/**
 * tn_rma_owner_take() - process a packet of VCD0, the next of its flow
 * @o: the owner
 * @src: node that sent the packet, below @o->nodes
 * @payload: payload of the packet
 * @len: bytes of @payload
 * @now: present time
 * Return: 0: the packet was consumed; -EAGAIN: there is no memory for a reply, so the caller keeps
 * the packet and calls again.
 */
int tn_rma_owner_take(struct tn_rma_owner *o, u32 src, const u8 *payload, u32 len, u64 now);

/**
 * tn_rma_owner_poll() - serve the waiters of words that changed; called when there is memory for
 * replies again
 * Return: true if all are served.
 */
bool tn_rma_owner_poll(struct tn_rma_owner *o);

/**
 * tn_rma_owner_changed() - serve the waiters of @bytes bytes from @offset on; called when the host
 * has changed words of a region with full/empty bits
 * Return: 0; -EAGAIN: the waiters of words that changed before are not all served, so the caller
 * calls again.
 */
int tn_rma_owner_changed(struct tn_rma_owner *o, u32 region, u64 offset, u64 bytes);

/** tn_rma_owner_forget() - remove the waiting requests of @src; called when @src has died */
void tn_rma_owner_forget(struct tn_rma_owner *o, u32 src);
/** tn_rma_owner_sweep() - the same for all nodes for which @gone returns true */
void tn_rma_owner_sweep(struct tn_rma_owner *o, bool (*gone)(void *ctx, u32 src), void *ctx);

/**
 * tn_rma_owner_close() - close a region: requests that wait in it are refused with GONE
 * Return: 0; -EAGAIN: the region takes no new requests, but there is no memory for the replies to
 * all that wait. The caller then keeps the memory of the region, and calls again.
 */
int tn_rma_owner_close(struct tn_rma_owner *o, u32 region);

#endif /* TN_RMA_OWNER_H */
