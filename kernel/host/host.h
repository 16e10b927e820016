/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages between a host and its NIC.
 *
 * A message is a virtio_net_hdr, little endian, and an IP packet, so that segmentation and
 * checksums may be left to whoever needs them done. It crosses the fabric cut into packets,
 * FIRST to LAST of one flow. What cuts it and what gives it to the host is the shell's, so that
 * nothing is copied that can stay where it lies.
 *
 *	to send, while torus_host_room():
 *		torus_host_begin(), torus_host_packet() for each, torus_host_send()
 *	for each packet that the NIC delivers: torus_host_take()
 */
#ifndef TORUS_HOST_H
#define TORUS_HOST_H

#include "../core/nic.h"

#define TORUS_HOST_HDR		10u	/* bytes of the virtio_net_hdr */
#define TORUS_HOST_MSG_MAX	(TORUS_HOST_HDR + 65535)
#define TORUS_HOST_IP		40u	/* bytes of an IP packet that say where it goes */
/* Packets of a message: twice as many as the longest needs in the smallest packets. */
#define TORUS_HOST_PACKETS_MAX	(2 * ((TORUS_HOST_MSG_MAX + TN_PAYLOAD_MIN - 1) / TN_PAYLOAD_MIN))
#define TORUS_HOST_WAITING_MAX	8192	/* packets of all unfinished messages */
#define TORUS_HOST_BUCKETS	256
#define TORUS_HOST_ANSWER_MAX	1280u	/* bytes of an "unreachable" */

struct torus_host_chain;

/**
 * typedef torus_host_lost - an IP packet of the host, of which these @len bytes are known, cannot
 * arrive: the shell tells the host, if torus_host_answer() says so
 */
typedef void (*torus_host_lost)(void *shell, const u8 *ip, u32 len);

/**
 * struct torus_host - messages of one NIC
 * @ops, @shell: of the NIC: they have the memory of packets
 * @shape: of the fabric; NULL while the NIC has no place: set by the shell
 * @payload_max: bytes of a packet, whole flits
 * @out: packets of a message that the NIC had no room for
 * @out_dst, @out_vc: where they go
 * @bucket, @oldest, @newest: unfinished messages from the fabric, by flow and age
 * @waiting: packets of these
 * @answer_at: when the next "unreachable" may be said, ns
 */
struct torus_host {
	const struct tn_ops *ops;
	void *shell;
	struct tn_nic *nic;
	torus_host_lost lost;
	const struct torus_shape *shape;
	u32 payload_max;
	struct tn_queue out;
	u32 out_dst;
	u8 out_vc;
	/* private: */
	struct torus_host_chain *bucket[TORUS_HOST_BUCKETS];
	struct torus_host_chain *oldest, *newest;
	u32 waiting;
	u64 answer_at;
};

/** torus_host_init() - before the NIC, which has this @cfg, has anything to deliver */
void torus_host_init(struct torus_host *h, struct tn_nic *nic, const struct tn_nic_config *cfg,
		     torus_host_lost lost);

/* --- from the host --- */

/** torus_host_room() - may another message come? */
bool torus_host_room(const struct torus_host *h);
/**
 * torus_host_begin() - a message of the host, to be cut into h->out
 * @ip: its IP packet's beginning: @n bytes, TORUS_HOST_IP if it has so many
 * @len: bytes of the message, with its header
 * Return: false: it does not go into the fabric, and is counted as dropped.
 */
bool torus_host_begin(struct torus_host *h, const u8 *ip, size_t n, u32 len);

/**
 * torus_host_packet() - @pkt has the bytes @at to @at + @bytes of a message of @len, and
 * room up to a whole flit
 */
static inline void torus_host_packet(struct tn_queue *q, struct tn_pkt *pkt, u32 at, u32 bytes,
				     u32 len)
{
	u32 pad = -bytes % TN_FLIT;

	if (pad)
		memset(pkt->payload + bytes, 0, pad);
	pkt->hdr.len = (u16)((bytes + pad) / TN_FLIT);
	pkt->tail.flags = (u8)(pad | (at ? 0 : TN_TAIL_FIRST) |
			       (at + bytes == len ? TN_TAIL_LAST : 0));
	tn_queue_push(q, pkt);
}

/** torus_host_send() - what waits in h->out into the NIC, while this has room */
void torus_host_send(struct torus_host *h, u64 now);
/** torus_host_drop() - packets of a message that will not arrive, counted as one drop */
void torus_host_drop(struct torus_host *h, struct tn_queue *q);

/* --- from the fabric --- */

/**
 * torus_host_take() - a packet from the fabric, which is now owned here
 * @msg: gets the packets of a message, now the caller's, if @pkt completes one
 * Return: bytes of this message, more than TORUS_HOST_HDR in its first packet; 0: none.
 */
u32 torus_host_take(struct torus_host *h, struct tn_pkt *pkt, struct tn_queue *msg);
/** torus_host_flush() - drop all unfinished messages, in both directions */
void torus_host_flush(struct torus_host *h);

/* --- unreachable --- */

/** torus_host_unreachable() - @pkt of a message cannot arrive: its first one is told */
void torus_host_unreachable(struct torus_host *h, const struct tn_pkt *pkt);
/**
 * torus_host_answer() - does the host get an ICMP error about the IP packet that begins with
 *	these @len bytes?
 * Return: bytes of the error, TORUS_HOST_ANSWER_MAX at most; 0: none.
 */
u32 torus_host_answer(struct torus_host *h, const u8 *ip, u32 len, u64 now);
/** torus_host_answer_write() - write the error of @bytes about @ip to @out */
void torus_host_answer_write(const u8 *ip, u32 bytes, u8 *out);

#endif /* TORUS_HOST_H */
