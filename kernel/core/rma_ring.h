/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * A context of remote memory at the NIC: takes requests from a ring that a process fills, issues
 * them, and writes completions. include/uapi/torus_rma.h describes the rings.
 *
 * The process may write anything to the memory of the rings at any time. So the NIC has positions
 * and sizes of its own, reads a position of the process once and checks it against these, copies a
 * request once before it looks at it, and never reads what it has written. All that a wrong process
 * can do is to spoil its own requests and completions.
 *
 * Bounds. A context has @ops places for requests that are open or whose completion is not written
 * yet: no request is taken without one, so a full CQ stops the SQ, and nothing is lost. A PUT or
 * GET is issued in parts of @data_max bytes; at most @parts_max of a context are open, so contexts
 * whose parts are no more than the NIC's slots do not take slots from each other. A call takes
 * TN_RMA_RING_BATCH requests or parts at most.
 *
 * Acknowledgements. Posted operations are acknowledged together (rma.h). One asks for it unless the
 * next request has been read, and is another posted one to the same node; so the last one of a
 * batch is never without. Half of the places, and half of the parts, may be without.
 *
 * When a process is gone, the ring is closed: nothing is taken any more, its memory is not touched,
 * FE operations are cancelled, and what is open ends by itself.
 */
#ifndef TN_RMA_RING_H
#define TN_RMA_RING_H

#include <torus_uapi.h>

#include "rma_initiator.h"

#define TN_RMA_RING_BATCH	64
#define TN_RMA_RING_OPS_MAX	4096

/**
 * struct tn_rma_ring_ops - the host of a ring
 * @issue: tn_nic_rma_issue()
 * @cancel: tn_rma_cancel()
 * @room: Return: bytes from @offset to the end of a region of context @id; 0: it is none of them
 * @mem: memory of byte @offset of that region; @run: bytes from there on that lie together
 * @wake: the process sleeps, and there is a completion
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
 * struct tn_rma_ring_config
 * @head: beginning of the shared memory; the NIC's members are 0
 * @sq: @sq_entries requests, a power of two
 * @cq: @cq_entries completions, a power of two
 * @op: memory of @ops operations, TN_RMA_RING_OPS_MAX at most
 * @id: number of the context, in the high 16 bits of cookies of @issue
 * @nodes: of the torus
 * @data_max: bytes of a part
 * @parts_max: parts that may be open
 * @job: written into each request, as @ep
 */
struct tn_rma_ring_config {
	const struct tn_rma_ring_ops *ops;
	void *host;
	struct torus_rma_head *head;
	const struct torus_rma_ask *sq;
	struct torus_rma_end *cq;
	struct tn_rma_ring_op *op;
	u32 sq_entries;
	u32 cq_entries;
	u32 ops_max;
	u32 parts_max;
	u32 nodes;
	u32 data_max;
	u16 id;
	u16 job;
	u16 ep;
};

/**
 * struct tn_rma_ring_op - a request that is open, or has ended and waits for the CQ
 * @from: the request
 * @ask: its parts, but for address and bytes; and what an FE operation is cancelled by
 * @value: of the completion, as @status and @reason
 * @sent: bytes in parts that were issued
 * @parts: that are open
 * @next: in the list of free ones, or of those that have ended
 * @slot: of an FE operation
 * @open: it has not ended
 * @whole: all parts were issued, or no more will be
 */
struct tn_rma_ring_op {
	struct torus_rma_ask from;
	struct tn_rma_ask ask;
	u64 value;
	u32 sent;
	u32 parts;
	u16 next;
	u16 slot;
	u8 status;
	u8 reason;
	bool open;
	bool whole;
	bool cancelled;
};

/**
 * struct tn_rma_ring - a context
 * @sq_head, @cq_tail: the NIC's own positions
 * @sq_tail: the process's position when it was last read
 * @ahead: the next request, if @has_ahead; @bad: why it is not right, @allowed: what would be
 * @now: the operation whose parts are being issued
 * @idle: free operations
 * @busy: operations that are not free; @open: of them those that have not ended
 * @parts: that are open
 * @ended, @ended_last: operations whose completion is not written yet, in order
 * @broken: enum torus_rma_broken
 */
struct tn_rma_ring {
	struct tn_rma_ring_config cfg;
	struct torus_rma_ask ahead;
	u64 allowed;
	u32 sq_head;
	u32 sq_tail;
	u32 cq_tail;
	u32 busy;
	u32 open;
	u32 parts;
	u16 idle;
	u16 now;
	u16 ended;
	u16 ended_last;
	u8 bad;
	u8 broken;
	bool has_ahead;
	bool asleep;
	bool closed;
};

enum tn_rma_ring_state {
	TN_RMA_RING_IDLE,	/* until its doorbell rings, or an operation ends */
	TN_RMA_RING_BLOCKED,	/* until packets have moved */
	TN_RMA_RING_MORE,	/* it was stopped by TN_RMA_RING_BATCH */
};

/** tn_rma_ring_open() - begin with a context */
void tn_rma_ring_open(struct tn_rma_ring *r, const struct tn_rma_ring_config *cfg);

/** tn_rma_ring_work() - take requests, write completions. Return: when to call again */
enum tn_rma_ring_state tn_rma_ring_work(struct tn_rma_ring *r, u64 now);

/** tn_rma_ring_done() - a part has ended: ops->done of the NIC, for @cookie of this context */
void tn_rma_ring_done(struct tn_rma_ring *r, u64 cookie, const struct tn_rma_end *end);

/**
 * tn_rma_ring_uses() - Return: true if a region is where data of an open request come from or go
 * to; its memory must stay
 */
bool tn_rma_ring_uses(const struct tn_rma_ring *r, u32 region);

/**
 * tn_rma_ring_close() - the process is gone; the memory of the rings, and of its regions, is not
 * touched any more. tn_rma_ring_work() is called until tn_rma_ring_gone(). A second call cancels
 * FE operations again, in case that the first request was lost.
 */
void tn_rma_ring_close(struct tn_rma_ring *r);

/** tn_rma_ring_gone() - Return: true if it is closed, and nothing is open */
static inline bool tn_rma_ring_gone(const struct tn_rma_ring *r)
{
	return r->closed && !r->open;
}

#endif /* TN_RMA_RING_H */
