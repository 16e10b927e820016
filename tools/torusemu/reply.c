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

static int put_counters(struct nl_msg *msg, int type, const u64 *counter, unsigned int n)
{
	struct nlattr *nest = nla_nest_start(msg, type);
	int err = nest ? 0 : -NLE_NOMEM;

	for (unsigned int i = 0; i < n && !err; i++)
		err = nla_put_u64(msg, (int)i + 1, counter[i]);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

static int put_place(struct nl_msg *msg, const struct emu *e)
{
	u64 version = 0;
	u32 rows = 0;
	int n = e->shape.ndims * (int)sizeof(u16);

	tn_nic_rows(e->nic, &rows, &version);
	return nla_put(msg, TORUS_A_SHAPE, n, e->shape.size) ?:
	       nla_put(msg, TORUS_A_COORDS, n, e->at.c) ?:
	       nla_put_u32(msg, TORUS_A_NODE, e->node) ?:
	       nla_put_u64(msg, TORUS_A_VERSION, version) ?:
	       nla_put_u32(msg, TORUS_A_ROW_COUNT, rows);
}

int reply_device(struct nl_msg *msg, struct emu *e)
{
	int err = nla_put_string(msg, TORUS_A_NAME, e->name) ?:
		  nla_put_string(msg, TORUS_A_DRIVER, "torusemu") ?:
		  nla_put_u64(msg, TORUS_A_GUID, e->guid) ?:
		  nla_put_u32(msg, TORUS_A_EPOCH, e->epoch) ?:
		  nla_put_u8(msg, TORUS_A_PORT_COUNT, e->nports) ?:
		  nla_put_u8(msg, TORUS_A_BOOTSTRAP, e->bootstrap) ?:
		  nla_put_u32(msg, TORUS_A_RELAY_PACKETS, e->params.relay_packets) ?:
		  nla_put_u32(msg, TORUS_A_PAYLOAD_MAX, e->params.payload_max);

	if (!err && e->tun.ifindex)
		err = nla_put_u32(msg, TORUS_A_IFINDEX, (u32)e->tun.ifindex) ?:
		      nla_put_string(msg, TORUS_A_IFNAME, e->tun.name);
	if (!err && e->is_placed)
		err = put_place(msg, e);
	return err ?: put_counters(msg, TORUS_A_NODE_COUNTERS, tn_nic_counters(e->nic),
				   TORUS_NC_COUNT);
}

static int put_cable(struct nl_msg *msg, const struct tn_cable *c)
{
	return nla_put_u32(msg, TORUS_FAULT_CABLE, c->length) ?:
	       nla_put_u32(msg, TORUS_FAULT_LOSS, c->loss) ?:
	       nla_put_u32(msg, TORUS_FAULT_CROSSTALK, c->crosstalk) ?:
	       nla_put_u32(msg, TORUS_FAULT_DRIFT, c->drift) ?:
	       nla_put_u32(msg, TORUS_FAULT_AGEING, c->ageing) ?:
	       nla_put_u16(msg, TORUS_FAULT_AGED, c->aged) ?:
	       nla_put_u16(msg, TORUS_FAULT_DEAD, c->dead) ?:
	       nla_put_u32(msg, TORUS_FAULT_TEMPERATURE,
			(u32)(c->warmer + TORUS_CABLE_KELVIN));
}

static int put_fault(struct nl_msg *msg, const struct torus_host_fault *f, const struct tn_cable *c)
{
	struct nlattr *nest = nla_nest_start(msg, TORUS_A_FAULT);
	int err = nest ? 0 : -NLE_NOMEM;

	err = err ?: nla_put_u64(msg, TORUS_FAULT_BER, f->bits.ber) ?:
	      nla_put_u8(msg, TORUS_FAULT_SILENCE, f->silence) ?:
	      nla_put_u64(msg, TORUS_FAULT_LATENCY, f->latency) ?:
	      nla_put_u64(msg, TORUS_FAULT_SEED, f->bits.seed) ?: put_cable(msg, c);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

static int put_lane(struct nl_msg *msg, int type, const struct tn_lane *l)
{
	struct nlattr *nest = nla_nest_start(msg, type);
	int err = nest ? 0 : -NLE_NOMEM;

	err = err ?: nla_put_u8(msg, TORUS_LANE_A_STATE, l->state) ?:
	      nla_put_u8(msg, TORUS_LANE_A_PRE, l->taps.pre) ?:
	      nla_put_u8(msg, TORUS_LANE_A_POST, l->taps.post) ?:
	      nla_put_u16(msg, TORUS_LANE_A_HEIGHT, l->eye.height) ?:
	      nla_put_u16(msg, TORUS_LANE_A_WIDTH, l->eye.width) ?:
	      nla_put_u16(msg, TORUS_LANE_A_MARGIN, (u16)l->margin) ?:
	      nla_put_u64(msg, TORUS_LANE_A_BER, l->ber);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

static int put_lanes(struct nl_msg *msg, const struct tn_train *t)
{
	struct nlattr *nest = nla_nest_start(msg, TORUS_A_LANES);
	int err = nest ? 0 : -NLE_NOMEM;

	for (int i = 0; i < t->serdes->lanes && !err; i++)
		err = put_lane(msg, i + 1, &t->lane[i]);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

int reply_link_state(struct nl_msg *msg, const struct tn_link_info *li, int state, int reason)
{
	return nla_put_u8(msg, TORUS_A_STATE, (u8)state) ?:
	       nla_put_u8(msg, TORUS_A_REASON, (u8)reason) ?:
	       nla_put_u8(msg, TORUS_A_ADMIN, li->admin) ?:
	       nla_put_u8(msg, TORUS_A_CLOSED, li->closed) ?:
	       nla_put_u8(msg, TORUS_A_CARRIER, li->carrier) ?:
	       nla_put_u32(msg, TORUS_A_SESSION, li->session) ?:
	       nla_put_u16(msg, TORUS_A_SEQ, li->seq) ?:
	       nla_put_u64(msg, TORUS_A_PEER_GUID, li->peer_guid) ?:
	       nla_put_u8(msg, TORUS_A_PEER_PORT, li->peer_port) ?:
	       nla_put_u8(msg, TORUS_A_RETRY, li->retry) ?:
	       nla_put_u8(msg, TORUS_A_RETRY_WANTED, li->retry_wanted) ?:
	       put_counters(msg, TORUS_A_GAUGES, li->gauge, TORUS_PG_COUNT);
}

int reply_link(struct nl_msg *msg, struct emu *e, unsigned int port, u64 now)
{
	const struct port *p = &e->port[port];
	struct tn_link_info li;

	tn_nic_link_info(e->nic, port, &li, now);
	return nla_put_u8(msg, TORUS_A_PORT, (u8)port) ?:
	       nla_put_string(msg, TORUS_A_LOWER, p->lower) ?:
	       reply_link_state(msg, &li, li.state, li.reason) ?:
	       put_fault(msg, &p->fault, &p->serdes.cable) ?:
	       put_counters(msg, TORUS_A_PORT_COUNTERS, tn_nic_port_counters(e->nic, port, now),
			    TORUS_PC_COUNT) ?:
	       put_lanes(msg, tn_nic_train(e->nic, port));
}

int reply_eye(struct nl_msg *msg, struct emu *e, unsigned int port, unsigned int lane, u64 now)
{
	const struct tn_train *t = tn_nic_train(e->nic, port);
	unsigned int top = tn_train_eye_top(t, lane, now);
	u8 map[TORUS_EYE_ROWS * TORUS_EYE_COLS];

	for (unsigned int row = 0; row < TORUS_EYE_ROWS; row++)
		tn_train_eye(t, lane, top, row, map + (size_t)row * TORUS_EYE_COLS, now);
	return nla_put_u8(msg, TORUS_A_PORT, (u8)port) ?:
	       nla_put_u8(msg, TORUS_A_LANE, (u8)lane) ?:
	       nla_put(msg, TORUS_A_EYE, sizeof(map), map) ?:
	       nla_put_u16(msg, TORUS_A_SWING, (u16)top) ?:
	       nla_put_u16(msg, TORUS_A_MASK_HEIGHT, (u16)t->params.mask_height) ?:
	       nla_put_u16(msg, TORUS_A_MASK_WIDTH, (u16)t->params.mask_width);
}

int reply_flow(struct nl_msg *msg, struct emu *e)
{
	u64 version = 0;
	u32 rows;

	tn_nic_rows(e->nic, &rows, &version);
	return nla_put_u64(msg, TORUS_A_VERSION, version) ?:
	       nla_put_u32(msg, TORUS_A_EPOCH, e->epoch) ?:
	       put_counters(msg, TORUS_A_FLOW, &tn_nic_flow(e->nic)[0][0],
			    TORUS_FC_COUNT * TORUS_COLOURS);
}

int reply_park(struct nl_msg *msg, struct emu *e)
{
	struct tn_park_info pi;

	tn_nic_park_info(e->nic, &pi);
	return nla_put_u64(msg, TORUS_A_PARKED, pi.parked) ?:
	       nla_put_u64(msg, TORUS_A_UNRESOLVED, pi.unresolved) ?:
	       nla_put_u64(msg, TORUS_A_PARK_BYTES, pi.bytes) ?:
	       nla_put_u64(msg, TORUS_A_PARK_BYTES_MAX, pi.bytes_max) ?:
	       nla_put_u64(msg, TORUS_A_HELD, pi.held) ?:
	       reply_flow(msg, e);
}
