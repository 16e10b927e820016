// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core tells its events from inside its own calls, when it may not be asked
 * anything; so link events wait here until the call is over.
 */
#include <linux/genetlink.h>

#include "emu.h"
#include "log.h"
#include "reply.h"

static const char *const state_names[TORUS_LINK_STATES] = {
	"down", "training", "init", "up", "retraining", "faulty"
};

static const char *const reason_names[TORUS_REASONS] = {
	"none", "admin", "carrier", "silence", "retry", "peer", "protocol", "mismatch", "training"
};

void notify_mgmt(struct emu *e, unsigned int port, const u8 *data, unsigned int len)
{
	struct nl_msg *msg = reply_new(TORUS_CMD_MGMT_NTF, 0, 0, 64 + len);

	if (msg && (nla_put_u8(msg, TORUS_A_PORT, (u8)port) ||
		    nla_put(msg, TORUS_A_DATA, (int)len, data))) {
		nlmsg_free(msg);
		msg = NULL;
	}
	if (msg)
		server_notify(e, TORUS_GROUP_MGMT, msg);
	else
		e->events_lost = true;
}

void notify_event(struct emu *e, const struct tn_event *ev)
{
	if (ev->type == TN_EV_PARK)
		e->park_event = true;
	else if (e->nevents < EMU_EVENTS)
		e->event[e->nevents++] = *ev;
	else
		e->events_lost = true;
}

static void flush_link(struct emu *e, const struct tn_event *ev, u64 now)
{
	struct nl_msg *msg = reply_new(TORUS_CMD_LINK_NTF, 0, 0, 1024);

	if (ev->old_state != ev->state)
		log_info(e->name, "port %u: %s -> %s (%s)", ev->port, state_names[ev->old_state],
			 state_names[ev->state], reason_names[ev->reason]);
	if (msg && reply_link_event(msg, e, ev, now)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	if (msg)
		server_notify(e, TORUS_GROUP_LINK, msg);
	else
		e->events_lost = true;
}

static void flush_park(struct emu *e)
{
	struct nl_msg *msg = reply_new(TORUS_CMD_PARK_NTF, 0, 0, 1024);

	if (msg && reply_park(msg, e)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	if (msg)
		server_notify(e, TORUS_GROUP_PARK, msg);
	else
		e->events_lost = true;
}

void notify_flush(struct emu *e, u64 now)
{
	for (u32 i = 0; i < e->nevents; i++)
		flush_link(e, &e->event[i], now);
	e->nevents = 0;
	if (e->park_event)
		flush_park(e);
	e->park_event = false;
	if (e->events_lost)
		server_overflow(e);
	e->events_lost = false;
}
