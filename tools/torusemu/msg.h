/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of the host (kernel/host/host.h) from and into the pool's frames. */
#ifndef EMU_MSG_H
#define EMU_MSG_H

#include "kernel/host/host.h"

struct emu;
struct frame;

/** msg_lost() - a torus_host_lost */
void msg_lost(void *emu, const u8 *ip, u32 len);
/**
 * msg_send() - a message that lies in @f as packets of full payload each
 * @len: bytes of the message. Takes references of its own to @f if it needs them.
 */
void msg_send(struct emu *emu, struct frame *f, size_t len, u64 now);
/** msg_deliver() - a packet from the fabric, now ours */
void msg_deliver(struct emu *emu, struct tn_pkt *pkt);

#endif /* EMU_MSG_H */
