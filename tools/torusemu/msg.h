/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts messages of the host (kernel/host/host.h) to frames of the pool and back. */
#ifndef EMU_MSG_H
#define EMU_MSG_H

#include "kernel/host/host.h"

struct emu;
struct frame;

/** msg_lost() - send an ICMP error to the host; implements torus_host_lost */
void msg_lost(void *emu, const u8 *ip, u32 len);
/**
 * msg_send() - send a message, whose packets lie in @f one after the other with their gaps; if the
 * NIC has no room, the message waits
 * @emu: the NIC
 * @f: the message; further references are taken if needed
 * @len: bytes of the message
 * @now: ns
 */
void msg_send(struct emu *emu, struct frame *f, size_t len, u64 now);
/**
 * msg_next() - send a message that waited. Return: false if there is no room for any waiting
 * message
 */
bool msg_next(struct emu *emu, u64 now);
/** msg_forget() - free a message that waited; implements torus_host_free */
void msg_forget(void *emu, struct torus_host_msg *msg);
/** msg_deliver() - handle a packet for the host from the fabric; takes over @pkt */
void msg_deliver(struct emu *emu, struct tn_pkt *pkt);

#endif /* EMU_MSG_H */
