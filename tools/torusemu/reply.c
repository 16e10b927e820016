// SPDX-License-Identifier: GPL-2.0-only
#include "reply.h"

#include <linux/genetlink.h>

#include "emu.h"

struct nl_msg *reply_new(unsigned int cmd, u32 seq, int flags, size_t bytes)
{
	struct genlmsghdr g = { .cmd = (u8)cmd, .version = TORUS_GENL_VERSION };
	struct nl_msg *msg = nlmsg_alloc_size(NLMSG_HDRLEN + GENL_HDRLEN + 64 + bytes);

	if (msg && nlmsg_put(msg, 0, seq, TORUS_EMU_FAMILY, 0, flags) &&
	    nlmsg_append(msg, &g, sizeof(g), NLMSG_ALIGNTO) >= 0)
		return msg;
	nlmsg_free(msg);
	return NULL;
}

int reply_put(struct nl_msg *msg, struct emu *e, const struct torus_tree *tree,
	      const struct torus_attrs *without)
{
	u8 buf[REPLY_BYTES] __attribute__((aligned(4)));
	int n = torus_tree_put(tree, without, &e->soft.hw.reply, buf, sizeof(buf));

	return n < 0 ? n : nlmsg_append(msg, buf, (size_t)n, NLMSG_ALIGNTO);
}
