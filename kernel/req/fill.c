// SPDX-License-Identifier: GPL-2.0-only
#include "fill.h"

void torus_fill_device(struct torus_device *out, struct tn_nic *nic,
		       const struct tn_params *params)
{
	u64 version = 0;

	out->relay_packets = params->relay_packets;
	out->payload_max = params->payload_max;
	tn_nic_rows(nic, &out->row_count, &version);
	out->version = version;
	memcpy(out->counter, tn_nic_counters(nic), sizeof(out->counter));
}

const struct torus_attrs *torus_without_place(const struct torus_device *device)
{
	static const struct torus_attrs place = { {
		[TORUS_A_NODE / 64] = 1ULL << TORUS_A_NODE % 64 |
			1ULL << TORUS_A_VERSION % 64 | 1ULL << TORUS_A_ROW_COUNT % 64,
	} };

	_Static_assert(TORUS_A_NODE / 64 == TORUS_A_ROW_COUNT / 64, "one word");
	return device->placed ? NULL : &place;
}

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

static void fill_lane(struct torus_lane *out, const struct tn_lane *l)
{
	*out = (struct torus_lane) {
		.state = l->state,
		.pre = l->taps.pre,
		.post = l->taps.post,
		.height = l->eye.height,
		.width = l->eye.width,
		.margin = (u16)l->margin,
		.ber = l->ber,
	};
}

void torus_fill_link(struct torus_link *out, struct tn_nic *nic, unsigned int port,
		     const struct torus_port_host *host, u64 now)
{
	const struct tn_train *t = tn_nic_train(nic, port);
	struct tn_link_info li;

	tn_nic_link_info(nic, port, &li, now);
	memset(out, 0, sizeof(*out));
	fill_state(out, &li, port, host->lower);
	out->fault = (struct torus_fault) {
		.ber = host->bits->ber,
		.seed = host->bits->seed,
		.latency_ns = host->latency,
		.silence = host->silence,
	};
	fill_line(&out->line, host->cable);
	memcpy(out->counter, tn_nic_port_counters(nic, port, now), sizeof(out->counter));
	out->nlanes = t->serdes ? t->serdes->lanes : 0;
	for (unsigned int i = 0; i < out->nlanes; i++)
		fill_lane(&out->lane[i], &t->lane[i]);
}

void torus_fill_link_event(struct torus_link *out, struct tn_nic *nic, const char *lower,
			   const struct tn_event *ev, u64 now)
{
	struct tn_link_info li;

	tn_nic_link_info(nic, ev->port, &li, now);
	memset(out, 0, sizeof(*out));
	fill_state(out, &li, ev->port, lower);
	out->old_state = ev->old_state;
	out->state = ev->state;
	out->reason = ev->reason;
}

void torus_fill_flow(struct torus_flow *out, struct tn_nic *nic, u32 epoch)
{
	u64 version = 0;
	u32 rows;

	memset(out, 0, sizeof(*out));
	tn_nic_rows(nic, &rows, &version);
	out->version = version;
	out->epoch = epoch;
	memcpy(out->counter, tn_nic_flow(nic), sizeof(out->counter));
}

void torus_fill_park(struct torus_park *out, struct tn_nic *nic, u32 epoch)
{
	struct tn_park_info pi;

	tn_nic_park_info(nic, &pi);
	out->parked = pi.parked;
	out->unresolved = pi.unresolved;
	out->bytes = pi.bytes;
	out->bytes_max = pi.bytes_max;
	out->held = pi.held;
	torus_fill_flow(&out->flow, nic, epoch);
}
