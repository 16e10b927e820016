/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * A context of remote memory at the NIC: takes requests from a ring that a process fills, issues
 * them, and writes completions. include/uapi/torus_rma.h describes the rings.
 *
 * The process may write anything to the memory of the rings at any time. So the NIC keeps positions
 * and sizes of its own, reads a position of the process once and checks it against these, copies a
 * request once before it examines it, and never reads back what it has written. A faulty process
 * can only damage its own requests and completions.
 *
 * Bounds. A context has @ops places for requests that are open or whose completion is not written
 * yet. A request is taken only if a place is free, so a full CQ stops the SQ, and no completion is
 * lost. A PUT or GET is issued in parts of @data_max bytes, of which at most @parts_max are open.
 * If the sum of @parts_max over all contexts is at most the number of the NIC's slots, contexts do
 * not take slots from each other. One call takes at most TN_RMA_RING_BATCH requests or parts.
 *
 * Order. Requests to one node are issued in the order of the SQ. If one cannot be sent now, because
 * its node is on hold or its queue is full, it and those behind it to the same node wait in a list,
 * and others go on. There are TN_RMA_RING_HELD lists; a further node of this kind stops the SQ.
 *
 * Acknowledgements. Posted operations are acknowledged together (rma.h). An operation requests an
 * acknowledgement unless the next request has been read and is another posted one to the same node;
 * so the last one of a batch always requests it. At most half of the places, and half of the parts,
 * may be used by operations that do not.
 *
 * Messages. A process posts memory for them (RECV); each message that arrives takes the memory of
 * the oldest RECV, and ends it. At most half of the places are for RECV, so that other requests can
 * go on. A message is refused (RNR) if no RECV is posted, or if it is too long for the oldest one,
 * which then stays posted: an owner does not buffer messages, because it would have to wait for a
 * process. So messages from one context to another are received in the order in which they were
 * sent, each at most once, because they are in one flow and executed as they arrive. Refused
 * messages are an exception: the sender gets the refusal, and later messages may have been received
 * meanwhile. A sender that wants to repeat refused messages in order keeps only one message open at
 * a time, by FENCE, or agrees with the receiver on the number of posted RECV. The completion of a
 * SEND says that the message is in the receiver's memory; the completion of the RECV is written
 * afterwards, without a further request. FENCE does not wait for RECV, whose end depends on others.
 *
 * Cancelling. A CANCEL finds its FE operation or RECV by a hash of the cookie, so its time does not
 * depend on how many are open.
 *
 * When a process is gone, its ring is closed: the NIC takes no more requests, does not access the
 * memory of the process, cancels its FE operations and ends its RECV; the other open operations end
 * by themselves.
 */
#ifndef TN_RMA_RING_H
#define TN_RMA_RING_H

#include <torus_uapi.h>

#include "rma_initiator.h"

#define TN_RMA_RING_BATCH	64
#define TN_RMA_RING_OPS_MAX	4096
#define TN_RMA_RING_HELD	8

/**
 * struct tn_rma_ring_ops - callbacks of a ring into its host
 * @issue: as tn_nic_rma_issue()
 * @cancel: as tn_rma_cancel()
 * @room: Return: bytes from @offset to the end of @region; 0: context @id has no such region, or
 *	@offset is not in it
 * @mem: Return: address of byte @offset of that region; @run is set to the number of bytes from
 *	there on that lie together
 * @wake: called when the process sleeps and there is a completion for it
 */
struct tn_rma_ring_ops {
	int (*issue)(void *host, u32 dst, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		     u64 cookie, u64 now);
	int (*cancel)(void *host, u16 slot, const struct tn_rma_ask *ask);
	u64 (*room)(void *host, u32 id, u32 region, u64 offset);
	u8 *(*mem)(void *host, u32 region, u64 offset, u64 *run);
	void (*wake)(void *host, u32 id);
};

/**
 * struct tn_rma_ring_config - configuration of a context
 * @head: beginning of the shared memory; the members that the NIC writes are 0
 * @sq: ring of requests; @sq_entries is a power of two
 * @cq: ring of completions; @cq_entries is a power of two
 * @op: memory of @ops_max operations, at most TN_RMA_RING_OPS_MAX
 * @id: number of the context; it is in the high 16 bits of the cookies of @issue
 * @nodes: number of nodes of the torus
 * @data_max: most bytes of a part
 * @parts_max: most parts that may be open
 * @gather: memory of @data_max bytes for a message that is not contiguous in memory; NULL: all
 *	regions are contiguous
 * @name: name of the context for messages, below 2^48
 * @seed: random number that the process does not know; cookies are hashed with it
 * @job, @ep: job and endpoint, which the NIC writes into each request
 */
struct tn_rma_ring_config {
	const struct tn_rma_ring_ops *ops;
	void *host;
	struct torus_rma_head *head;
	const struct torus_rma_ask *sq;
	struct torus_rma_end *cq;
	struct tn_rma_ring_op *op;
	u8 *gather;
	u64 name;
	u64 seed;
	u32 sq_entries;
	u32 cq_entries;
	u32 ops_max;
	u32 parts_max;
	u32 nodes;
	u32 data_max;
	u32 job;
	u16 id;
	u16 ep;
};

/**
 * struct tn_rma_ring_op - a request that is open, or that has ended and waits for room in the CQ
 * @from: the request as the process wrote it
 * @ask: the request for each part, except for address and bytes; of an FE operation also the
 *	argument of tn_rma_cancel()
 * @value, @status, @reason: members of the completion
 * @sent: bytes of the parts that were issued
 * @parts: number of open parts
 * @hashed: first operation with hash i, if this is operation i
 * @like, @like_before: neighbours in the list of FE operations and RECV with the same hash
 * @before: RECV: the one that was posted before
 * @next: next operation in the list of free ones, of those that have ended, of those that wait for
 *	the same node, or of RECV
 * @slot: slot of an FE operation; RECV: endpoint that sent the message
 * @open: the request has not ended
 * @whole: no more parts will be issued
 */
struct tn_rma_ring_op {
	struct torus_rma_ask from;
	struct tn_rma_ask ask;
	u64 value;
	u32 sent;
	u32 parts;
	u16 hashed;
	u16 like;
	u16 like_before;
	u16 before;
	u16 next;
	u16 slot;
	u8 status;
	u8 reason;
	bool open;
	bool whole;
	bool cancelled;
};

/** struct tn_rma_held - operations that wait until something can be sent to @node, in order */
struct tn_rma_held {
	u32 node;
	u16 first;
	u16 last;
};

/**
 * struct tn_rma_ring - a context
 * @sq_head, @cq_tail: positions of the NIC
 * @sq_tail: position of the process when it was last read
 * @naps: how often the NIC went to sleep
 * @ahead: copy of the next request, if @has_ahead
 * @bad: why @ahead is invalid; 0: it is valid
 * @allowed: what would be allowed instead
 * @now: operation whose parts are being issued
 * @held: lists of operations that wait for a node; @holds of them are not empty
 * @idle: list of free operations
 * @busy: number of operations that are not free
 * @open: number of operations that have not ended
 * @parts: number of open parts
 * @recvs: number of RECV that are posted; they are in the list from @recv to @recv_last
 * @ended, @ended_last: list of operations whose completion is not written yet, in order; if @ended
 *	is TN_RMA_NO_OP, @ended_last has no meaning
 * @steps: number of requests that the last tn_rma_ring_work() has taken, and of parts, messages and
 *	cancellations that it has sent
 * @broken: enum torus_rma_broken
 */
struct tn_rma_ring {
	struct tn_rma_ring_config cfg;
	struct torus_rma_ask ahead;
	struct tn_rma_held held[TN_RMA_RING_HELD];
	u64 allowed;
	u32 sq_head;
	u32 sq_tail;
	u32 cq_tail;
	u32 naps;
	u32 busy;
	u32 open;
	u32 parts;
	u32 recvs;
	u32 steps;
	u16 idle;
	u16 now;
	u16 recv;
	u16 recv_last;
	u16 ended;
	u16 ended_last;
	u8 holds;
	u8 bad;
	u8 broken;
	bool has_ahead;
	bool asleep;
	bool closed;
};

enum tn_rma_ring_state {
	TN_RMA_RING_IDLE,	/* call again when the doorbell rings, or an operation ends */
	TN_RMA_RING_BLOCKED,	/* call again when packets have moved */
	TN_RMA_RING_MORE,	/* call again at once: TN_RMA_RING_BATCH ended the call */
};

/** tn_rma_ring_open() - initialise the ring for a new context */
void tn_rma_ring_open(struct tn_rma_ring *r, const struct tn_rma_ring_config *cfg);

/** tn_rma_ring_work() - take requests and write completions. Return: when to call again */
enum tn_rma_ring_state tn_rma_ring_work(struct tn_rma_ring *r, u64 now);

/**
 * tn_rma_ring_done() - process the end of a part; called by ops->done of the NIC
 * The next tn_rma_ring_work() writes the completions, all of them together.
 */
void tn_rma_ring_done(struct tn_rma_ring *r, u64 cookie, const struct tn_rma_end *end);

/**
 * tn_rma_ring_uses() - Return: true if an open request reads or writes a region of the process, so
 * that its memory must stay
 */
bool tn_rma_ring_uses(const struct tn_rma_ring *r, u32 region);

/**
 * tn_rma_ring_close() - close the ring; called when the process is gone
 * From then on the NIC does not touch the memory of the rings and of the process's regions. The
 * caller calls tn_rma_ring_work() until tn_rma_ring_gone() is true. A second call cancels FE
 * operations again, because the first cancellation may be lost.
 */
void tn_rma_ring_close(struct tn_rma_ring *r);

/** tn_rma_ring_gone() - Return: true if the ring is closed and no request is open */
static inline bool tn_rma_ring_gone(const struct tn_rma_ring *r)
{
	return r->closed && !r->open;
}

/** tn_rma_ring_has_data() - Return: true if the process's memory belongs to the request */
static inline bool tn_rma_ring_has_data(const struct torus_rma_ask *a)
{
	return a->op == TORUS_RMA_PUT || a->op == TORUS_RMA_GET || a->op == TORUS_RMA_SEND ||
	       a->op == TORUS_RMA_RECV;
}

/**
 * tn_rma_ring_check() - Return: why the request @a is wrong, enum torus_rma_invalid, or 0;
 * @allowed: what would be allowed instead (rma_check.c)
 */
u8 tn_rma_ring_check(const struct tn_rma_ring *r, const struct torus_rma_ask *a, u64 *allowed);

/* rma_recv.c */

/**
 * tn_rma_ring_recv() - process a message for this context; called by ops->recv of the NIC
 * Return: 0; else why it is refused, enum tn_rma_reason, and *@allowed as for ops->recv. The next
 * tn_rma_ring_work() writes the completion.
 */
u8 tn_rma_ring_recv(struct tn_rma_ring *r, u32 src, const struct tn_rma_ask *ask, const u8 *data,
		    u32 bytes, u64 *allowed);

/* Between rma_ring.c and rma_recv.c. */

#define TN_RMA_NO_OP		0xffff

/** tn_rma_ring_post() - append the RECV @at to the list */
void tn_rma_ring_post(struct tn_rma_ring *r, u16 at);
/** tn_rma_ring_unpost() - end the RECV @at as cancelled */
void tn_rma_ring_unpost(struct tn_rma_ring *r, u16 at);
/** tn_rma_ring_unpost_all() - end all RECV as cancelled */
void tn_rma_ring_unpost_all(struct tn_rma_ring *r);
/** tn_rma_ring_recvs_max() - Return: most RECV that may be posted */
static inline u32 tn_rma_ring_recvs_max(const struct tn_rma_ring *r)
{
	return r->cfg.ops_max / 2;
}

/** tn_rma_ring_land() - copy @bytes bytes to the memory of operation @op, from byte @at of it on */
void tn_rma_ring_land(struct tn_rma_ring *r, const struct tn_rma_ring_op *op, u32 at,
		      const u8 *data, u32 bytes);
/** tn_rma_ring_end() - note that operation @at has ended; its completion is written later */
void tn_rma_ring_end(struct tn_rma_ring *r, u16 at);

#endif /* TN_RMA_RING_H */
