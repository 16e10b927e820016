/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of the host (kernel/host/host.h) from and into the pool's frames. */
#ifndef EMU_MSG_H
#define EMU_MSG_H

#include "kernel/host/host.h"

struct emu;
struct frame;

/** msg_lost() - send an ICMP error to the host; a torus_host_lost */
void msg_lost(void *emu, const u8 *ip, u32 len);
/**
 * msg_send() - send a message, which lies in @f as packets of full payload each, or let it wait
 * @emu: the NIC
 * @f: the message; further references are taken if needed
 * @len: bytes of the message
 * @now: ns
 */
void msg_send(struct emu *emu, struct frame *f, size_t len, u64 now);
/** msg_next() - send a message that waited. Return: false: for none of them is there room */
bool msg_next(struct emu *emu, u64 now);
/** msg_forget() - free a message that waited; a torus_host_free */
void msg_forget(void *emu, struct torus_host_msg *msg);
/** msg_deliver() - take a packet from the fabric, and ownership of it */
void msg_deliver(struct emu *emu, struct tn_pkt *pkt);

#endif /* EMU_MSG_H */
