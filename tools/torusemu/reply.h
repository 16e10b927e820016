/* SPDX-License-Identifier: GPL-2.0-only */
/* Replies, by kernel/req. */
#ifndef EMU_REPLY_H
#define EMU_REPLY_H

#include <netlink/msg.h>

#include "kernel/req/fill.h"

#define REPLY_BYTES	3072	/* room for any of these */

struct emu;

/** reply_new() - a message with headers; NULL if out of memory */
struct nl_msg *reply_new(unsigned int cmd, u32 seq, int flags, size_t bytes);

/* Return: 0 or a negative libnl error (the message is too small). */
int reply_device(struct nl_msg *msg, struct emu *emu);
int reply_link(struct nl_msg *msg, struct emu *emu, unsigned int port, u64 now);
int reply_link_event(struct nl_msg *msg, struct emu *emu, const struct tn_event *ev, u64 now);
int reply_eye(struct nl_msg *msg, struct emu *e, unsigned int port, unsigned int lane, u64 now);
int reply_flow(struct nl_msg *msg, struct emu *emu);
int reply_park(struct nl_msg *msg, struct emu *emu);

/* notify.c */

/** notify_mgmt() - a management packet came */
void notify_mgmt(struct emu *emu, unsigned int port, const u8 *data, unsigned int len);
/** notify_event() - the core told something; kept until notify_flush() */
void notify_event(struct emu *emu, const struct tn_event *ev);
/** notify_flush() - tell subscribers */
void notify_flush(struct emu *emu, u64 now);

#endif /* EMU_REPLY_H */
