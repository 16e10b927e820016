/* SPDX-License-Identifier: GPL-2.0-only */
/* Replies, by kernel/req. */
#ifndef EMU_REPLY_H
#define EMU_REPLY_H

#include <netlink/msg.h>

#include "kernel/core/nic.h"
#include "kernel/req/tree.h"

#define REPLY_BYTES	3072	/* room for any of these */

struct emu;

/** reply_new() - a message with headers; NULL if out of memory */
struct nl_msg *reply_new(unsigned int cmd, u32 seq, int flags, size_t bytes);

/**
 * reply_put() - what the NIC's @tree says, from soft.hw.reply
 * Return: 0, or a negative errno (the message is too small).
 */
int reply_put(struct nl_msg *msg, struct emu *emu, const struct torus_tree *tree,
	      const struct torus_attrs *without);

/* notify.c */

/** notify_mgmt() - a management packet came */
void notify_mgmt(struct emu *emu, unsigned int port, const u8 *data, unsigned int len);
/** notify_flush() - tell subscribers what the core told */
void notify_flush(struct emu *emu, u64 now);

#endif /* EMU_REPLY_H */
