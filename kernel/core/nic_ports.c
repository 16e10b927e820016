// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ports of the NIC for its host: frames in and out, timers, settings of links, state, counters.
 */
#include "nic_impl.h"
#include "ring.h"

void tn_nic_rx_pieces(struct tn_nic *nic, unsigned int port, const struct tn_seg *seg,
		      unsigned int n, void *owner, u64 now)
{
	if (port < nic->nports)
		tn_link_rx(&nic->link[port], seg, n, owner, now);
}

void tn_nic_rx(struct tn_nic *nic, unsigned int port, const u8 *frame, size_t len,
	       void *owner, u64 now)
{
	const struct tn_seg whole = { .base = frame, .len = (u32)len };

	tn_nic_rx_pieces(nic, port, &whole, 1, owner, now);
}

void tn_nic_rx_memory(struct tn_nic *nic, unsigned int port, bool on)
{
	tn_assert(port < nic->nports);
	nic->link[port].rx_memory = on;
}

void tn_nic_rx_checked(struct tn_nic *nic, unsigned int port, bool on)
{
	tn_assert(port < nic->nports);
	nic->link[port].rx_checked = on;
}

void tn_nic_tx_memory(struct tn_nic *nic, unsigned int port, bool on)
{
	tn_assert(port < nic->nports);
	nic->link[port].tx_memory = on;
}

u32 tn_nic_tx_ports(const struct tn_nic *nic)
{
	u32 mask = 0, left;

	for (left = nic->live; left; left &= left - 1) {
		unsigned int p = tn_lowest(left);

		tn_assert(p < nic->nports);
		if (tn_link_wants(&nic->link[p]))
			mask |= 1u << p;
	}
	return mask;
}

u32 tn_nic_tx(struct tn_nic *nic, unsigned int port, struct tn_frame *f, u64 now)
{
	tn_assert(port < nic->nports);
	return tn_link_tx(&nic->link[port], f, now);
}

void tn_nic_poll(struct tn_nic *nic, u64 now)
{
	struct tn_flows *f = &nic->flows;
	unsigned int p;

	for (p = 0; p < nic->nports; p++) {
		if (now >= tn_link_expiry(&nic->link[p]))
			tn_link_poll(&nic->link[p], now);
	}
	tn_via_poll(nic, now);
	if (nic->rma)
		tn_rma_poll(nic, now);
	if (now >= nic->ring_at)
		tn_ring_poll(nic, now);
	if (f->waiting && now - f->since >= nic->params.gap_time) {
		u64 lost = f->lost;

		f->since = now;
		nic->due_left = TN_DUE_MAX;
		tn_flow_close_gaps(f);
		tn_deliver_waiting(nic, now);
		if (f->lost != lost)
			tn_report(nic, TN_EV_PARK);
	}
}

bool tn_nic_due(const struct tn_nic *nic)
{
	return nic->due_more && nic->flows.waiting;
}

u64 tn_nic_expiry(const struct tn_nic *nic)
{
	u64 at = nic->flows.waiting ? nic->flows.since + nic->params.gap_time : ~0ull;
	unsigned int p;

	if (tn_nic_due(nic))
		return nic->flows.since;
	if (nic->relay.ask_at < at)
		at = nic->relay.ask_at;
	if (nic->ring_at < at)
		at = nic->ring_at;
	if (nic->rma && tn_rma_expiry(nic) < at)
		at = tn_rma_expiry(nic);
	for (p = 0; p < nic->nports; p++) {
		u64 e = tn_link_expiry(&nic->link[p]);

		if (e < at)
			at = e;
	}
	return at;
}

void tn_nic_carrier(struct tn_nic *nic, unsigned int port, bool up, u64 now)
{
	tn_assert(port < nic->nports);
	tn_link_carrier(&nic->link[port], up, now);
}

void tn_nic_admin(struct tn_nic *nic, unsigned int port, bool up, u64 now)
{
	tn_assert(port < nic->nports);
	tn_link_admin(&nic->link[port], up, now);
}

void tn_nic_frame_max(struct tn_nic *nic, unsigned int port, u32 bytes)
{
	tn_assert(port < nic->nports);
	nic->link[port].frame_max = bytes;
}

void tn_nic_retry(struct tn_nic *nic, unsigned int port, unsigned int protocol, u64 now)
{
	tn_assert(port < nic->nports);
	tn_link_retry(&nic->link[port], protocol, now);
}

void tn_nic_serdes(struct tn_nic *nic, unsigned int port, const struct tn_serdes *serdes)
{
	tn_assert(port < nic->nports);
	tn_link_serdes(&nic->link[port], serdes);
}

void tn_nic_marks(struct tn_nic *nic, unsigned int port, u64 rate, u64 seed)
{
	struct tn_fault *marks = &nic->link[port].marks;

	tn_assert(port < nic->nports);
	marks->ber = rate;
	marks->seed = seed;
	tn_fault_arm(marks);
}

u64 tn_nic_marked(const struct tn_nic *nic, unsigned int port)
{
	tn_assert(port < nic->nports);
	return nic->link[port].marks.ber;
}

void tn_nic_cable(struct tn_nic *nic, unsigned int port, u64 now)
{
	tn_assert(port < nic->nports);
	tn_link_cable(&nic->link[port], now);
}

bool tn_nic_is_joined(const struct tn_nic *nic, unsigned int port)
{
	u8 state = nic->link[port].state;

	tn_assert(port < nic->nports);
	return state == TORUS_LINK_UP || state == TORUS_LINK_RETRAINING;
}

const struct tn_train *tn_nic_train(const struct tn_nic *nic, unsigned int port)
{
	tn_assert(port < nic->nports);
	return &nic->link[port].train;
}

void tn_nic_retrain(struct tn_nic *nic, unsigned int port, u64 now)
{
	tn_assert(port < nic->nports);
	tn_link_retrain(&nic->link[port], now);
}

int tn_nic_mgmt_send(struct tn_nic *nic, unsigned int port, const u8 *data, unsigned int len,
		     u64 now)
{
	if (port >= nic->nports)
		return -EINVAL;
	return tn_link_mgmt(&nic->link[port], data, len, now);
}

static void serdes_gauges(const struct tn_train *t, u64 *gauge)
{
	if (!t->serdes)
		return;
	gauge[TORUS_PG_LANES] = t->serdes->lanes;
	gauge[TORUS_PG_WIDTH] = tn_train_width(t);
	gauge[TORUS_PG_RATE] = t->serdes->mbps[t->rate];
	gauge[TORUS_PG_RATE_MAX] = t->serdes->mbps[0];
	gauge[TORUS_PG_MARGIN] = tn_train_margin(t);
	gauge[TORUS_PG_LINE_BER] = tn_train_ber(t);
	gauge[TORUS_PG_MARGIN_TRAIN] = t->params.margin_train;
}

/* Return: the longest time for which the packets of a VC have been waiting, ns. */
static u64 longest_wait(const struct tn_link *l, u64 now)
{
	u64 most = 0;
	unsigned int vc;

	for (vc = 0; vc < TORUS_VCS; vc++) {
		if (l->waiting[vc] && now - l->waiting[vc] > most)
			most = now - l->waiting[vc];
	}
	return most;
}

void tn_nic_link_info(struct tn_nic *nic, unsigned int port, struct tn_link_info *info,
		      u64 now)
{
	struct tn_link *l = &nic->link[port];
	unsigned int vc;

	tn_assert(port < nic->nports);
	tn_link_account(l, now);
	*info = (struct tn_link_info) {
		.state = l->state,
		.state_age = now > l->state_at ? now - l->state_at : 0,
		.reason = l->reason,
		.admin = l->admin,
		.carrier = l->carrier,
		.closed = l->closed,
		.session = l->session,
		.seq = l->retry.rx.expected,
		.retry = l->session ? l->retry.ops->protocol : TORUS_RETRY_AUTO,
		.retry_wanted = l->retry_wanted,
		.peer_guid = l->peer_guid,
		.peer_port = l->peer_port,
		.differs = l->differs,
		.differs_own = l->differs_own,
		.differs_peer = l->differs_peer,
	};
	info->gauge[TORUS_PG_RETRY_PACKETS] = l->retry.tx.sent.count;
	info->gauge[TORUS_PG_RETRY_FLITS] = l->retry.tx.flits;
	info->gauge[TORUS_PG_CREDITS_VCD0] = tn_credit_free(&l->credit, TORUS_VC_D0);
	info->gauge[TORUS_PG_CREDITS_VCD1] = tn_credit_free(&l->credit, TORUS_VC_D1);
	info->gauge[TORUS_PG_CREDITS_VCA] = tn_credit_free(&l->credit, TORUS_VC_A);
	info->gauge[TORUS_PG_CTTR] = l->retry.tx.tseq;
	info->gauge[TORUS_PG_CTRP] = l->retry.rx.expected;
	info->gauge[TORUS_PG_WIRE] = l->wire;
	info->gauge[TORUS_PG_PEER_RATE] = l->peer_mbps;
	info->gauge[TORUS_PG_ROUND_TRIP] = l->retry.tx.trips.known;
	info->gauge[TORUS_PG_WAITED] = longest_wait(l, now);
	info->gauge[TORUS_PG_CRITICAL_VCD0] = l->credit.critical[TORUS_VC_D0];
	info->gauge[TORUS_PG_CRITICAL_VCD1] = l->credit.critical[TORUS_VC_D1];
	serdes_gauges(&l->train, info->gauge);
	for (vc = 0; vc < TORUS_VCS; vc++) {
		info->gauge[TORUS_PG_CT_VCD0 + vc] = l->credit.ct[vc];
		info->gauge[TORUS_PG_N_INP_VCD0 + vc] = l->credit.n_inp[vc];
		info->gauge[TORUS_PG_QUEUED_PACKETS] += nic->input[port * TORUS_VCS + vc].count;
	}
}

const u64 *tn_nic_port_counters(struct tn_nic *nic, unsigned int port, u64 now)
{
	tn_assert(port < nic->nports);
	tn_link_account(&nic->link[port], now);
	return nic->link[port].counter;
}

u64 *tn_nic_counters(struct tn_nic *nic)
{
	if (nic->rma)
		tn_rma_note_counts(nic);
	nic->counter[TORUS_NC_LOST] = nic->flows.lost;
	nic->counter[TORUS_NC_HOST_DROPS] = nic->counter[TORUS_NC_HOST_TX_DROPS] +
					    nic->counter[TORUS_NC_HOST_RX_DROPS];
	return nic->counter;
}

void tn_nic_counters_read(const struct tn_nic *nic, u64 *to)
{
	unsigned int i;

	for (i = 0; i < TORUS_NC_COUNT; i++)
		to[i] = tn_read_once(&nic->counter[i]);
	to[TORUS_NC_LOST] = tn_read_once(&nic->flows.lost);
	to[TORUS_NC_HOST_DROPS] = to[TORUS_NC_HOST_TX_DROPS] + to[TORUS_NC_HOST_RX_DROPS];
}

const u64 (*tn_nic_flow(const struct tn_nic *nic))[TORUS_COLOURS]
{
	return nic->flow;
}
