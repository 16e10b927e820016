/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages between a host and its NIC.
 *
 * A message is a virtio_net_hdr, little endian, and an IP packet, so that segmentation and
 * checksums may be left to whoever needs them done. It crosses the fabric cut into packets,
 * FIRST to LAST of one flow.
 */
#ifndef TORUS_HOST_H
#define TORUS_HOST_H

#include "../core/nic.h"

#define TORUS_HOST_HDR		10u	/* bytes of the virtio_net_hdr */
#define TORUS_HOST_MSG_MAX	(TORUS_HOST_HDR + 65535)
/* Packets of a message: twice as many as the longest needs in the smallest packets. */
#define TORUS_HOST_PACKETS_MAX	(2 * ((TORUS_HOST_MSG_MAX + TN_PAYLOAD_MIN - 1) / TN_PAYLOAD_MIN))
#define TORUS_HOST_WAITING_MAX	8192	/* packets of all unfinished messages */
#define TORUS_HOST_BUCKETS	256

struct torus_host_chain;

/**
 * struct torus_host_ops - what the host side asks of its shell
 * @alloc: some bytes, all 0, or NULL
 * @free: they are not needed any more
 * @pkt_put: nor is this packet
 */
struct torus_host_ops {
	void *(*alloc)(void *shell, size_t bytes);
	void (*free)(void *shell, void *mem);
	void (*pkt_put)(void *shell, struct tn_pkt *pkt);
};

/**
 * struct torus_host - messages of one NIC
 * @ops, @shell, @nic: set by the shell; else all is 0 at first
 * @bucket, @oldest, @newest: unfinished messages from the fabric, by flow and age
 * @waiting: packets of these
 */
struct torus_host {
	const struct torus_host_ops *ops;
	void *shell;
	struct tn_nic *nic;
	/* private: */
	struct torus_host_chain *bucket[TORUS_HOST_BUCKETS];
	struct torus_host_chain *oldest, *newest;
	u32 waiting;
};

/**
 * torus_host_take() - a data packet from the fabric, which is now owned here
 * @msg: gets the packets of a message, now the caller's, if @pkt completes one
 * Return: bytes of this message, more than TORUS_HOST_HDR in its first packet; 0: none.
 */
u32 torus_host_take(struct torus_host *h, struct tn_pkt *pkt, struct tn_queue *msg);
/** torus_host_flush() - drop all unfinished messages */
void torus_host_flush(struct torus_host *h);

#endif /* TORUS_HOST_H */
