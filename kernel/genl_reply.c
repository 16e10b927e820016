// SPDX-License-Identifier: GPL-2.0-only
/* The attribute trees D, L, F and P of <uapi/torus.h>. */
#include "genl.h"

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put(skb, type, sizeof(value), &value);
}

static int put_counters(struct sk_buff *skb, int type, const u64 *counter, unsigned int n)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest)
		return -EMSGSIZE;
	for (unsigned int i = 0; i < n; i++) {
		if (put_u64(skb, (int)i + 1, counter[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

int torus_put_dev(struct sk_buff *skb, struct torus_dev *d)
{
	return nla_put_u32(skb, TORUS_A_IFINDEX, (u32)d->netdev->ifindex);
}

static int put_place(struct sk_buff *skb, const struct torus_dev *d)
{
	int n = d->shape.ndims * (int)sizeof(u16);
	u64 version = 0;
	u32 rows = 0;

	tn_nic_rows(d->nic, &rows, &version);
	return nla_put(skb, TORUS_A_SHAPE, n, d->shape.size) ?:
	       nla_put(skb, TORUS_A_COORDS, n, d->at.c) ?:
	       nla_put_u32(skb, TORUS_A_NODE, d->node) ?:
	       put_u64(skb, TORUS_A_VERSION, version) ?:
	       nla_put_u32(skb, TORUS_A_ROW_COUNT, rows);
}

int torus_put_device(struct sk_buff *skb, struct torus_dev *d)
{
	char ifname[IFNAMSIZ];
	int err;

	/* It may be renamed meanwhile. */
	strscpy(ifname, d->netdev->name, sizeof(ifname));
	err = nla_put_string(skb, TORUS_A_NAME, d->name) ?:
	      torus_put_dev(skb, d) ?:
	      nla_put_string(skb, TORUS_A_IFNAME, ifname) ?:
	      nla_put_string(skb, TORUS_A_DRIVER, TORUS_DRIVER) ?:
	      put_u64(skb, TORUS_A_GUID, d->guid) ?:
	      nla_put_u32(skb, TORUS_A_EPOCH, d->epoch) ?:
	      nla_put_u8(skb, TORUS_A_PORT_COUNT, d->nports) ?:
	      nla_put_u8(skb, TORUS_A_BOOTSTRAP, d->bootstrap) ?:
	      nla_put_u32(skb, TORUS_A_RELAY_PACKETS, d->params.relay_packets) ?:
	      nla_put_u32(skb, TORUS_A_PAYLOAD_MAX, d->params.payload_max);
	if (!err && d->placed)
		err = put_place(skb, d);
	return err ?: put_counters(skb, TORUS_A_NODE_COUNTERS, tn_nic_counters(d->nic),
				   TORUS_NC_COUNT);
}

static int put_fault(struct sk_buff *skb, const struct torus_host_fault *f,
		     const struct tn_cable *c)
{
	struct nlattr *nest = nla_nest_start(skb, TORUS_A_FAULT);

	if (!nest || put_u64(skb, TORUS_FAULT_BER, f->bits.ber) ||
	    nla_put_u8(skb, TORUS_FAULT_SILENCE, f->silence) ||
	    put_u64(skb, TORUS_FAULT_LATENCY, f->latency) ||
	    put_u64(skb, TORUS_FAULT_SEED, f->bits.seed) ||
	    nla_put_u32(skb, TORUS_FAULT_CABLE, c->length) ||
	    nla_put_u32(skb, TORUS_FAULT_LOSS, c->loss) ||
	    nla_put_u32(skb, TORUS_FAULT_CROSSTALK, c->crosstalk) ||
	    nla_put_u32(skb, TORUS_FAULT_DRIFT, c->drift) ||
	    nla_put_u32(skb, TORUS_FAULT_AGEING, c->ageing) ||
	    nla_put_u16(skb, TORUS_FAULT_AGED, c->aged) ||
	    nla_put_u16(skb, TORUS_FAULT_DEAD, c->dead) ||
	    nla_put_u32(skb, TORUS_FAULT_TEMPERATURE,
			(u32)(c->warmer + TORUS_CABLE_KELVIN)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_lane(struct sk_buff *skb, int type, const struct tn_lane *l)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest || nla_put_u8(skb, TORUS_LANE_A_STATE, l->state) ||
	    nla_put_u8(skb, TORUS_LANE_A_PRE, l->taps.pre) ||
	    nla_put_u8(skb, TORUS_LANE_A_POST, l->taps.post) ||
	    nla_put_u16(skb, TORUS_LANE_A_HEIGHT, l->eye.height) ||
	    nla_put_u16(skb, TORUS_LANE_A_WIDTH, l->eye.width) ||
	    nla_put_u16(skb, TORUS_LANE_A_MARGIN, (u16)l->margin) ||
	    put_u64(skb, TORUS_LANE_A_BER, l->ber))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_lanes(struct sk_buff *skb, const struct tn_train *t)
{
	struct nlattr *nest = nla_nest_start(skb, TORUS_A_LANES);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < t->serdes->lanes; i++) {
		if (put_lane(skb, i + 1, &t->lane[i]))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

int torus_put_link_state(struct sk_buff *skb, const struct tn_link_info *li, u8 state,
			 u8 reason)
{
	return nla_put_u8(skb, TORUS_A_STATE, state) ?:
	       nla_put_u8(skb, TORUS_A_REASON, reason) ?:
	       nla_put_u8(skb, TORUS_A_ADMIN, li->admin) ?:
	       nla_put_u8(skb, TORUS_A_CLOSED, li->closed) ?:
	       nla_put_u8(skb, TORUS_A_CARRIER, li->carrier) ?:
	       nla_put_u32(skb, TORUS_A_SESSION, li->session) ?:
	       nla_put_u16(skb, TORUS_A_SEQ, li->seq) ?:
	       put_u64(skb, TORUS_A_PEER_GUID, li->peer_guid) ?:
	       nla_put_u8(skb, TORUS_A_PEER_PORT, li->peer_port) ?:
	       nla_put_u8(skb, TORUS_A_RETRY, li->retry) ?:
	       nla_put_u8(skb, TORUS_A_RETRY_WANTED, li->retry_wanted) ?:
	       put_counters(skb, TORUS_A_GAUGES, li->gauge, TORUS_PG_COUNT);
}

int torus_put_link(struct sk_buff *skb, struct torus_dev *d, unsigned int port, u64 now)
{
	const struct torus_port *p = &d->port[port];
	struct tn_link_info li;

	tn_nic_link_info(d->nic, port, &li, now);
	return torus_put_dev(skb, d) ?:
	       nla_put_u8(skb, TORUS_A_PORT, (u8)port) ?:
	       nla_put_string(skb, TORUS_A_LOWER, p->lower_name) ?:
	       torus_put_link_state(skb, &li, li.state, li.reason) ?:
	       put_fault(skb, &p->fault, &p->serdes.cable) ?:
	       put_counters(skb, TORUS_A_PORT_COUNTERS,
			    tn_nic_port_counters(d->nic, port, now), TORUS_PC_COUNT) ?:
	       put_lanes(skb, tn_nic_train(d->nic, port));
}

int torus_put_flow(struct sk_buff *skb, struct torus_dev *d)
{
	u64 version = 0;
	u32 rows;

	tn_nic_rows(d->nic, &rows, &version);
	return torus_put_dev(skb, d) ?:
	       put_u64(skb, TORUS_A_VERSION, version) ?:
	       nla_put_u32(skb, TORUS_A_EPOCH, d->epoch) ?:
	       put_counters(skb, TORUS_A_FLOW, &tn_nic_flow(d->nic)[0][0],
			    TORUS_FC_COUNT * TORUS_COLOURS);
}

int torus_put_park(struct sk_buff *skb, struct torus_dev *d)
{
	struct tn_park_info pi;

	tn_nic_park_info(d->nic, &pi);
	return put_u64(skb, TORUS_A_PARKED, pi.parked) ?:
	       put_u64(skb, TORUS_A_UNRESOLVED, pi.unresolved) ?:
	       put_u64(skb, TORUS_A_PARK_BYTES, pi.bytes) ?:
	       put_u64(skb, TORUS_A_PARK_BYTES_MAX, pi.bytes_max) ?:
	       put_u64(skb, TORUS_A_HELD, pi.held) ?:
	       torus_put_flow(skb, d);
}
