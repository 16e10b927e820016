// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notifications. The core reports events from within its own calls, during which it must not be
 * called; so link events are queued until the call returns.
 */
#include <linux/genetlink.h>

#include "emu.h"
#include "log.h"
#include "reply.h"

static const char *const state_names[TORUS_LINK_STATES] = {
	"down", "training", "init", "up", "retraining", "faulty"
};

static const char *const reason_names[TORUS_REASONS] = {
	"none", "admin", "carrier", "silence", "retry", "peer", "protocol", "mismatch", "training",
	"bubble"
};

bool notify_mgmt(struct emu *e, unsigned int port, const u8 *data, unsigned int len)
{
	struct nl_msg *msg = reply_new(TORUS_CMD_MGMT_NTF, 0, 0, 64 + len);

	if (msg && (nla_put_u8(msg, TORUS_A_PORT, (u8)port) ||
		    nla_put(msg, TORUS_A_DATA, (int)len, data))) {
		nlmsg_free(msg);
		msg = NULL;
	}
	if (!msg) {
		e->soft.events_lost = true;
		return false;
	}
	server_notify(e, TORUS_GROUP_MGMT, msg);
	return true;
}

/* Sends e->soft.hw.reply, encoded by @tree, to the subscribers of @group. */
static void notify_clients(struct emu *e, unsigned int cmd, unsigned int group,
			   const struct torus_tree *tree)
{
	struct nl_msg *msg = reply_new(cmd, 0, 0, REPLY_BYTES);

	if (msg && reply_put(msg, e, tree, NULL)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	if (msg)
		server_notify(e, group, msg);
	else
		e->soft.events_lost = true;
}

static void flush_link(struct emu *e, const struct tn_event *ev, u64 now)
{
	char at[TORUS_TEXT_MAX];

	if (ev->old_state != ev->state)
		log_info(e->soft.hw.name, "link at port %s: %s -> %s (reason: %s)",
			 torus_port_text(e->soft.hw.nports / 2, ev->port, at),
			 state_names[ev->old_state], state_names[ev->state],
			 reason_names[ev->reason]);
	tn_soft_link_event(&e->soft, ev, &e->soft.hw.reply.link, now);
	notify_clients(e, TORUS_CMD_LINK_NTF, TORUS_GROUP_LINK, &torus_tree_link_ntf);
}

void notify_flush(struct emu *e, u64 now)
{
	struct tn_soft *s = &e->soft;

	for (u32 i = 0; i < s->nevents; i++)
		flush_link(e, &s->event[i], now);
	s->nevents = 0;
	if (s->park_event) {
		tn_soft_park(s, &s->hw.reply.park);
		notify_clients(e, TORUS_CMD_PARK_NTF, TORUS_GROUP_PARK, &torus_tree_park_get);
	}
	s->park_event = false;
	if (s->events_lost)
		server_overflow(e);
	s->events_lost = false;
}
