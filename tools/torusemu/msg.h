/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of the host: a virtio_net_hdr and an IP packet, cut into packets and
 * put together again.
 */
#ifndef EMU_MSG_H
#define EMU_MSG_H

#include "kernel/core/pkt.h"

struct emu;
struct frame;
struct chain;

#define MSG_BUCKETS	256
#define MSG_WAITING_MAX	8192	/* packets of unfinished messages */
#define MSG_PACKETS_MAX	64	/* packets of one: the longest takes 17, cut small more */

/**
 * struct msg - messages on their way
 * @out: packets of a message that the NIC had no room for, and where they go
 * @bucket, @oldest, @newest: unfinished messages from the fabric, by flow and age
 * @waiting: packets of these
 */
struct msg {
	struct tn_queue out;
	u32 out_dst;
	u8 out_vc;
	struct chain *bucket[MSG_BUCKETS];
	struct chain *oldest, *newest;
	u32 waiting;
	u64 icmp_next;		/* see icmp.c */
};

/**
 * msg_send() - a message that lies in @f as packets of full payload each
 * @len: bytes of the message. Takes references of its own to @f if it needs them.
 */
void msg_send(struct emu *emu, struct frame *f, size_t len, u64 now);
/** msg_room() - may another message come? */
bool msg_room(const struct emu *emu);
/** msg_resume() - go on with a message that had to wait */
void msg_resume(struct emu *emu, u64 now);
/** msg_deliver() - a packet from the fabric, now ours */
void msg_deliver(struct emu *emu, struct tn_pkt *pkt);
/** msg_flush() - forget all unfinished messages */
void msg_flush(struct emu *emu);

/**
 * icmp_unreachable() - tell the host that its message cannot arrive
 * @msg: its beginning, @len bytes
 */
void icmp_unreachable(struct emu *emu, const u8 *msg, size_t len);

#endif /* EMU_MSG_H */
