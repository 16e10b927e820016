/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remote memory as service 1 of a NIC: the owner (rma_owner.h) and the initiator (rma_initiator.h)
 * send and receive packets of the NIC. rma.h has the argument of the protocol; here is what it
 * needs from the router.
 *
 * Requests of this node wait in the injection queues of VCD0, like messages of the host. Replies
 * have a queue of their own for each port (TN_INPUT_REPLY), so that no message of the host keeps a
 * reply waiting. At most @replies of them wait there. When that many wait, the owner takes no
 * request: the router leaves it in its input buffer, and tries again when packets have moved.
 *
 * If a reply cannot be injected because its destination is on hold, or because the relay window is
 * full, the owner must not stop for that: a recovery releases holds, and windows open, only after
 * the requests in the network have reached their owners. So such replies wait in hold_bytes like
 * other packets of this node. If there is no room they are dropped and counted, and a STATUS
 * informs the initiator that its reply is lost.
 *
 * The counters of the NIC that begin with RMA_ are those of owner and initiator, and go on when the
 * service is closed and opened again.
 *
 * A node to which there is no row when a recovery ends (tn_nic_release()) is dead or cut off. Open
 * operations with it end as unknown at once, without waiting for rma_time, and its waiting requests
 * are removed.
 */
#ifndef TN_RMA_NIC_H
#define TN_RMA_NIC_H

#include "nic.h"
#include "rma_initiator.h"
#include "rma_owner.h"

/**
 * struct tn_nic_rma_ops - callbacks of remote memory into the host
 * @mem, @space, @recv: as in struct tn_rma_owner_ops
 * @done: as in struct tn_rma_initiator_ops
 * @memory: Return: @bytes bytes, which are 0 and aligned to 8, until tn_nic_rma_close(); or NULL
 * They must not call the NIC.
 */
struct tn_nic_rma_ops {
	u8 *(*mem)(void *host, u32 region, u64 offset, u64 *run);
	const struct tn_window *(*space)(void *host, u32 job);
	u8 (*recv)(void *host, u32 src, const struct tn_rma_ask *ask, const u8 *data, u32 bytes,
		   u64 *allowed);
	void (*done)(void *host, u64 cookie, const struct tn_rma_end *end);
	void *(*memory)(void *host, size_t bytes);
};

/**
 * struct tn_nic_rma_config - configuration of remote memory
 * @ops: callbacks
 * @region: @regions regions of this node, in memory of the caller
 * @pool: pool for at most 65534 requests that wait for full/empty bits
 * @slots: most operations of this node that may be open, up to TN_RMA_SLOTS_MAX
 * @replies: most replies that may wait for a port, at least 1
 * @rma_time: time without a reply after which a node gets a QUERY, ns
 */
struct tn_nic_rma_config {
	const struct tn_nic_rma_ops *ops;
	void *host;
	struct tn_rma_region *region;
	struct tn_fe_pool *pool;
	u32 regions;
	u32 slots;
	u32 replies;
	u64 rma_time;
};

struct tn_nic_rma_counts {
	u64 reply_drops;	/* replies dropped: no row, or no room in hold_bytes */
	u64 forged;		/* requests that came back from a node that does not exist */
};

/**
 * tn_nic_rma_size() - Return: bytes of memory that remote memory needs in a torus of this shape at
 * first; for nodes with which it has to do, it takes more by ops->memory
 */
size_t tn_nic_rma_size(const struct torus_shape *shape, u32 slots);

/**
 * tn_nic_rma_open() - start remote memory
 * @mem: tn_nic_rma_size() bytes, which are 0 and 64-byte aligned; used until tn_nic_rma_close()
 * Return: 0; -ENODEV if no shape is set; -EBUSY if it was started before; -EINVAL if a number is
 * out of range.
 */
int tn_nic_rma_open(struct tn_nic *nic, const struct tn_nic_rma_config *cfg, void *mem, u64 now);
/**
 * tn_nic_rma_close() - stop remote memory; called before another shape is set and before
 * tn_nic_flush()
 * Open operations end as unknown, and requests of other nodes that wait are removed.
 */
void tn_nic_rma_close(struct tn_nic *nic);

/**
 * tn_nic_rma_issue() - begin an operation, as tn_rma_issue() does
 * Return: slot of the operation; -EAGAIN as tn_rma_issue(); -ENODEV if remote memory is not
 * started; -EINVAL if @dst or a size is wrong; -EHOSTUNREACH if there is no valid row to @dst.
 */
int tn_nic_rma_issue(struct tn_nic *nic, u32 dst, const struct tn_rma_ask *ask, const u8 *data,
		     u32 bytes, u64 cookie, u64 now);
/** tn_nic_rma_owner() - Return: the owner, for its regions and counters; NULL: not started */
struct tn_rma_owner *tn_nic_rma_owner(struct tn_nic *nic);
/**
 * tn_nic_rma_initiator() - Return: the initiator, to cancel operations and to read its counters;
 * NULL: not started
 */
struct tn_rma_initiator *tn_nic_rma_initiator(struct tn_nic *nic);
const struct tn_nic_rma_counts *tn_nic_rma_counts(const struct tn_nic *nic);

#endif /* TN_RMA_NIC_H */
