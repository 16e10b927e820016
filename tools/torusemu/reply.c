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

static int put_tree(struct nl_msg *msg, const struct torus_tree *tree,
		    const struct torus_attrs *without, const void *from)
{
	u8 buf[REPLY_BYTES] __attribute__((aligned(4)));
	int n = torus_tree_put(tree, without, from, buf, sizeof(buf));

	return n < 0 ? -NLE_NOMEM : nlmsg_append(msg, buf, (size_t)n, NLMSG_ALIGNTO);
}

int reply_device(struct nl_msg *msg, struct emu *e)
{
	struct torus_device out = {
		.driver = "torusemu",
		.ifindex = (u32)e->tun.ifindex,
		.guid = e->guid,
		.epoch = e->epoch,
		.nports = e->nports,
		.bootstrap = e->bootstrap,
		.placed = e->is_placed,
		.node = e->node,
	};

	snprintf(out.name, sizeof(out.name), "%s", e->name);
	if (e->tun.ifindex)
		snprintf(out.ifname, sizeof(out.ifname), "%s", e->tun.name);
	if (e->is_placed) {
		out.shape = e->shape;
		out.coords = e->at;
	}
	torus_fill_device(&out, e->nic, &e->params);
	return put_tree(msg, &torus_tree_device_get, torus_without_place(&out), &out);
}

int reply_link(struct nl_msg *msg, struct emu *e, unsigned int port, u64 now)
{
	const struct port *p = &e->port[port];
	const struct torus_port_host host = {
		.lower = p->lower,
		.bits = &p->fault.bits,
		.latency = p->fault.latency,
		.silence = p->fault.silence,
		.cable = &p->serdes.cable,
	};
	struct torus_link out;

	torus_fill_link(&out, e->nic, port, &host, now);
	return put_tree(msg, &torus_tree_link_get, NULL, &out);
}

int reply_link_event(struct nl_msg *msg, struct emu *e, const struct tn_event *ev, u64 now)
{
	struct torus_link out;

	torus_fill_link_event(&out, e->nic, e->port[ev->port].lower, ev, now);
	return put_tree(msg, &torus_tree_link_ntf, NULL, &out);
}

int reply_eye(struct nl_msg *msg, struct emu *e, unsigned int port, unsigned int lane, u64 now)
{
	const struct tn_train *t = tn_nic_train(e->nic, port);
	struct torus_eye out = {
		.port = (u8)port,
		.lane = (u8)lane,
		.swing = (u16)tn_train_eye_top(t, lane, now),
		.mask_height = (u16)t->params.mask_height,
		.mask_width = (u16)t->params.mask_width,
	};

	for (unsigned int row = 0; row < TORUS_EYE_ROWS; row++)
		tn_train_eye(t, lane, out.swing, row, out.map[row], now);
	return put_tree(msg, &torus_tree_eye_get, NULL, &out);
}

int reply_flow(struct nl_msg *msg, struct emu *e)
{
	struct torus_flow out;

	torus_fill_flow(&out, e->nic, e->epoch);
	return put_tree(msg, &torus_tree_flow_get, NULL, &out);
}

int reply_park(struct nl_msg *msg, struct emu *e)
{
	struct torus_park out;

	torus_fill_park(&out, e->nic, e->epoch);
	return put_tree(msg, &torus_tree_park_get, NULL, &out);
}
