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

/**
 * struct msg - messages on their way
 * @out: packets of a message that the NIC had no room for, and where they go
 */
struct msg {
	struct tn_queue out;
	u32 out_dst;
	u8 out_vc;
	u64 icmp_next;		/* see icmp.c */
};

/** msg_init() - before the NIC has anything to deliver */
void msg_init(struct emu *emu);
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
