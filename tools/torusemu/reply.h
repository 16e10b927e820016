/* SPDX-License-Identifier: GPL-2.0-only */
/* Replies and notifications, encoded by kernel/req. */
#ifndef EMU_REPLY_H
#define EMU_REPLY_H

#include <netlink/msg.h>

#include "kernel/core/nic.h"
#include "kernel/req/tree.h"

#define REPLY_BYTES	3072	/* room for any reply or notification except a reply with rows */

struct emu;

/** reply_new() - Return: a message with headers, or NULL without memory */
struct nl_msg *reply_new(unsigned int cmd, u32 seq, int flags, size_t bytes);

/**
 * reply_put() - encode soft.hw.reply; @tree selects the attributes
 * Return: 0, or a negative errno if the message is too small.
 */
int reply_put(struct nl_msg *msg, struct emu *emu, const struct torus_tree *tree,
	      const struct torus_attrs *without);

/* notify.c */

/** notify_mgmt() - notify subscribers of a management packet. Return: false if out of memory */
bool notify_mgmt(struct emu *emu, unsigned int port, const u8 *data, unsigned int len);
/** notify_flush() - notify subscribers of the events that the core reported */
void notify_flush(struct emu *emu, u64 now);

#endif /* EMU_REPLY_H */
