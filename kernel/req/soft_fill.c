// SPDX-License-Identifier: GPL-2.0-only
/* Fills the structs of <torus/reply.h> from the state of a software NIC. */
#include "../core/park.h"
#include "soft.h"

static void fill_state(struct torus_link *out, const struct tn_link_info *li, unsigned int port,
		       const char *lower)
{
	out->port = (u8)port;
	out->state = li->state;
	out->state_age = li->state_age;
	out->reason = li->reason;
	out->admin = li->admin;
	out->closed = li->closed;
	out->carrier = li->carrier;
	out->session = li->session;
	out->seq = li->seq;
	out->peer_guid = li->peer_guid;
	out->peer_port = li->peer_port;
	out->retry = li->retry;
	out->retry_wanted = li->retry_wanted;
	out->differs = li->differs;
	out->differs_own = li->differs_own;
	out->differs_peer = li->differs_peer;
	memcpy(out->gauge, li->gauge, sizeof(out->gauge));
	memcpy(out->lower, lower, strnlen(lower, sizeof(out->lower) - 1));
}

static void fill_line(struct torus_line *out, const struct tn_cable *c)
{
	*out = (struct torus_line) {
		.length = c->length,
		.loss = c->loss,
		.crosstalk = c->crosstalk,
		.drift = c->drift,
		.ageing = c->ageing,
		.aged = c->aged,
		.dead = c->dead,
		.temperature = (u32)(c->warmer + TORUS_CABLE_KELVIN),
	};
}

static void fill_lane(struct torus_lane *out, const struct tn_serdes *s, const struct tn_lane *l)
{
	*out = (struct torus_lane) {
		.state = l->state,
		.pre = l->taps.pre,
		.post = l->taps.post,
		.ctle = tn_serdes_sets_rx(s) ? (u8)(l->rx.ctle + 1) : 0,
		.dfe = tn_serdes_sets_rx(s) ? (u8)(l->rx.dfe + 1) : 0,
		.height = l->eye.height,
		.width = l->eye.width,
		.margin = (u16)l->margin,
		.ber = l->ber,
	};
}

void tn_soft_link(struct tn_soft *s, unsigned int port, struct torus_link *out, u64 now)
{
	const struct tn_train *t = tn_nic_train(s->nic, port);
	const struct tn_soft_port *p = &s->port[port];
	struct tn_link_info li;

	tn_nic_link_info(s->nic, port, &li, now);
	memset(out, 0, sizeof(*out));
	fill_state(out, &li, port, p->lower);
	out->fault = (struct torus_fault) {
		.ber = p->fault.bits.ber,
		.seed = p->fault.bits.seed,
		.latency_ns = p->fault.latency,
		.silence = p->fault.silence,
		.vb = tn_nic_marked(s->nic, port),
	};
	fill_line(&out->line, &p->serdes.cable);
	memcpy(out->counter, tn_nic_port_counters(s->nic, port, now), sizeof(out->counter));
	out->nlanes = t->serdes ? t->serdes->lanes : 0;
	for (unsigned int i = 0; i < out->nlanes; i++)
		fill_lane(&out->lane[i], t->serdes, &t->lane[i]);
}

void tn_soft_link_event(struct tn_soft *s, const struct tn_event *ev, struct torus_link *out,
			u64 now)
{
	struct tn_link_info li;

	tn_nic_link_info(s->nic, ev->port, &li, now);
	memset(out, 0, sizeof(*out));
	fill_state(out, &li, ev->port, s->port[ev->port].lower);
	out->old_state = ev->old_state;
	out->state = ev->state;
	out->reason = ev->reason;
}

void tn_soft_flow(struct tn_soft *s, struct torus_flow *out)
{
	u64 version = 0;
	u32 rows;

	memset(out, 0, sizeof(*out));
	tn_nic_rows(s->nic, &rows, &version);
	out->version = version;
	out->epoch = s->hw.epoch;
	memcpy(out->counter, tn_nic_flow(s->nic), sizeof(out->counter));
}

void tn_soft_park(struct tn_soft *s, struct torus_park *out)
{
	struct tn_park_info pi;

	tn_nic_park_info(s->nic, &pi);
	out->parked = pi.parked;
	out->unresolved = pi.unresolved;
	out->bytes = pi.bytes;
	out->bytes_max = pi.bytes_max;
	out->held = pi.held;
	tn_soft_flow(s, &out->flow);
}

void tn_soft_park_flows(struct tn_soft *s, struct torus_park_flows *out, u64 now)
{
	struct tn_park_flow flow[TORUS_PARK_FLOWS_MAX];
	u64 more;

	memset(out, 0, sizeof(*out));
	out->nflows = (u8)tn_nic_park_flows(s->nic, flow, TORUS_PARK_FLOWS_MAX, &more);
	out->more = more;
	for (u32 i = 0; i < out->nflows; i++)
		out->flow[i] = (struct torus_park_flow) {
			.from = flow[i].src, .to = flow[i].dst, .vc = flow[i].vc,
			.packets = flow[i].packets, .bytes = flow[i].bytes,
			.age = now > flow[i].since ? now - flow[i].since : 0,
		};
}
