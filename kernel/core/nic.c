// SPDX-License-Identifier: GPL-2.0-only
/*
 * The NIC as a whole: what its links report to it (struct tn_link_ops), set-up, place and end.
 */
#include "nic_impl.h"
#include "params.h"
#include "ring.h"

_Static_assert(TORUS_MAX_PORTS <= 16, "tn_nic.live and tn_nic.reopening have a bit for each port");

void tn_report(struct tn_nic *nic, u8 type)
{
	struct tn_event ev = { .type = type };

	nic->ops->event(nic->host, &ev);
}

/* --- callbacks of links (struct tn_link_ops) --------------------------------- */

static void link_accept(void *ctx, struct tn_link *l, struct tn_queue *got)
{
	struct tn_nic *nic = ctx;
	unsigned int input = (unsigned int)l->port * TORUS_VCS + got->head->in_vc;
	struct tn_pkt *pkt;

	tn_assert(nic->input[input].count + got->count <= nic->params.slots);
	/* The drain of another colour waits until the sender has the acknowledgement. */
	if (got->head->hdr.colour != nic->colour)
		l->ack_now = true;
	while ((pkt = tn_queue_pop(got))) {
		tn_assert(pkt->in_port == l->port && pkt->in_vc == input % TORUS_VCS);
		pkt->stalled = 0;
		tn_flow_count(nic, pkt, TORUS_FC_LINK_RX);
		tn_input_push(nic, input, pkt);
	}
}

static void link_acked(void *ctx, struct tn_queue *done)
{
	tn_gone(ctx, done);
}

/*
 * Parks the packets in the RETRY buffer of a failed link, in the order of sending, as unresolved:
 * the peer may have accepted some of them. Adaptive packets that were never on the wire are routed
 * again instead.
 */
static void link_failed(void *ctx, struct tn_link *l, struct tn_queue *retry, u64 now)
{
	struct tn_nic *nic = ctx;
	bool first = !nic->park.q.head;
	struct tn_pkt *pkt;

	tn_assert(l->session);
	l->closed = true;
	nic->reopening &= (u16)~(1u << l->port);
	nic->park.through = false;
	while ((pkt = tn_queue_pop(retry))) {
		if ((pkt->hdr.type != TN_DATA && pkt->hdr.type != TN_UNREACH) || pkt->hdr.nic ||
		    pkt->tail.vb == TN_VB_BAD) {
			nic->ops->pkt_put(nic->host, pkt);
			continue;
		}
		if (tn_may_reroute(pkt) && !tn_seq_before(pkt->hdr.tseq, l->retry.tx.high)) {
			tn_reroute(nic, pkt);
			continue;
		}
		/* a packet in a RETRY buffer has left its input buffer */
		tn_assert(pkt->in_port == TN_PORT_HOST);
		tn_assert(!pkt->unresolved);
		pkt->unresolved = 1;
		pkt->session = l->session;
		/* if the host has no parking memory left, the packet stays in its present memory */
		tn_settle(nic, pkt);
		tn_park_push(&nic->park, pkt, now);
	}
	if (first && nic->park.q.head)
		tn_report(nic, TN_EV_PARK);
}

static void link_changed(void *ctx, struct tn_link *l, u8 old_state)
{
	struct tn_nic *nic = ctx;
	struct tn_event ev = {
		.type = TN_EV_LINK,
		.port = l->port,
		.state = l->state,
		.old_state = old_state,
		.reason = l->reason,
	};

	if (l->state == TORUS_LINK_DOWN)
		nic->live &= (u16)~(1u << l->port);
	else
		nic->live |= (u16)(1u << l->port);
	nic->ops->event(nic->host, &ev);
}

static void link_peer_seq(void *ctx, struct tn_link *l, bool none, u16 seq)
{
	tn_nic_park_resolve(ctx, l->port, l->session, seq, none);
}

static void link_asked(void *ctx, struct tn_link *l, unsigned int vc, u64 now)
{
	tn_ring_respond(ctx, l, vc, now);
}

static void link_false_came(void *ctx, struct tn_link *l, unsigned int vc, bool handed, u64 now)
{
	tn_ring_false_came(ctx, l, vc, handed, now);
}

static const struct tn_link_ops link_ops = {
	.accept = link_accept,
	.acked = link_acked,
	.failed = link_failed,
	.changed = link_changed,
	.asked = link_asked,
	.false_came = link_false_came,
	.peer_seq = link_peer_seq,
};

/* --- set-up ---------------------------------------------------------------- */

size_t tn_nic_size(void)
{
	return sizeof(struct tn_nic);
}

int tn_nic_init(void *mem, const struct tn_nic_config *cfg, u64 now)
{
	struct tn_nic *nic = mem;
	struct tn_params_why why;
	unsigned int p;

	if (cfg->nports < 2 || cfg->nports > TORUS_MAX_PORTS || cfg->nports % 2 ||
	    (cfg->small_max && cfg->small_max < TN_PAYLOAD_MIN) ||
	    tn_params_check(&cfg->params, &why))
		return -EINVAL;
	memset(nic, 0, sizeof(*nic));
	nic->ops = cfg->ops;
	nic->host = cfg->host;
	nic->params = cfg->params;
	nic->guid = cfg->guid;
	nic->epoch = cfg->epoch;
	nic->nports = cfg->nports;
	nic->park.bytes_max = cfg->params.park_bytes;
	nic->relay.ask_at = ~0ull;
	nic->ring_at = ~0ull;
	for (p = 0; p < nic->nports; p++) {
		struct tn_link *l = &nic->link[p];

		l->ops = &link_ops;
		l->ctx = nic;
		l->host_ops = nic->ops;
		l->host = nic->host;
		l->params = &nic->params;
		l->guid = nic->guid;
		l->epoch = nic->epoch;
		l->port = (u8)p;
		l->large_max = cfg->large_max;
		l->small_max = cfg->small_max;
		tn_link_init(l, now);
	}
	return 0;
}

void tn_gone(struct tn_nic *nic, struct tn_queue *done)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(done))) {
		tn_flow_count(nic, pkt, TORUS_FC_LINK_TX);
		nic->ops->pkt_put(nic->host, pkt);
	}
}

static void drop_all(struct tn_nic *nic, struct tn_queue *q)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(q)))
		nic->ops->pkt_put(nic->host, pkt);
}

/* Drops @pkt and counts it as ended, so that the sums of a recovery do not wait for it. */
static void drop_counted(struct tn_nic *nic, struct tn_pkt *pkt)
{
	tn_flow_count(nic, pkt, TORUS_FC_UNREACHABLE);
	nic->ops->pkt_put(nic->host, pkt);
}

/* Drops all packets except those in RETRY buffers, which the peers may have accepted already. */
static void drop_packets(struct tn_nic *nic, u64 now)
{
	struct tn_queue waiting = { 0 };
	struct tn_pkt *pkt;
	unsigned int i;

	for (i = 0; i < TN_INPUTS; i++) {
		while ((pkt = tn_queue_pop(&nic->input[i]))) {
			if (pkt->in_port < nic->nports)
				tn_link_freed(&nic->link[pkt->in_port], pkt->in_vc, false, now);
			drop_counted(nic, pkt);
		}
	}
	tn_assert(!nic->reopening || nic->placed);
	memset(nic->active, 0, sizeof(nic->active));
	nic->reopening = 0;
	nic->cut_short = false;
	drop_all(nic, &nic->held);
	drop_all(nic, &nic->relay.wait);
	nic->held_bytes = 0;
	memset(nic->share, 0, sizeof(nic->share));
	while ((pkt = tn_queue_pop(&nic->park.q))) {
		if (pkt->unresolved)
			drop_counted(nic, pkt);
		else
			nic->ops->pkt_put(nic->host, pkt);
	}
	nic->park = (struct tn_park) { .bytes_max = nic->park.bytes_max };
	tn_flows_empty(&nic->flows, &waiting);
	drop_all(nic, &waiting);
}

void tn_nic_flush(struct tn_nic *nic)
{
	unsigned int p;

	tn_assert(!nic->rma);
	drop_packets(nic, 1);
	for (p = 0; p < nic->nports; p++)
		drop_all(nic, &nic->link[p].retry.tx.sent);
}

static size_t round_up_64(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

static size_t blocks_size(size_t nodes)
{
	return round_up_64((nodes + TN_BLOCK - 1) / TN_BLOCK * sizeof(struct tn_block));
}

size_t tn_nic_table_size(const struct torus_shape *shape)
{
	size_t n = tn_shape_nodes(shape);

	return 2 * round_up_64(n * sizeof(u64)) + 2 * blocks_size(n) +
	       round_up_64(n * TN_FLOWS * sizeof(struct tn_flow_tx)) +
	       round_up_64(n * TN_FLOWS * sizeof(struct tn_flow_rx)) +
	       round_up_64(n * sizeof(struct tn_relay_peer));
}

bool tn_nic_at(const struct tn_nic *nic, struct torus_shape *shape, struct torus_coords *at)
{
	if (!nic->placed)
		return false;
	*shape = nic->shape;
	*at = nic->at;
	return true;
}

static bool place_ok(const struct tn_nic *nic, const struct torus_shape *shape,
		     const struct torus_coords *at)
{
	unsigned int d;

	if (!tn_shape_nodes(shape) || 2u * shape->ndims > nic->nports)
		return false;
	for (d = 0; d < TORUS_MAX_DIMS; d++) {
		if (at->c[d] >= shape->size[d])
			return false;
	}
	return true;
}

/* Compares members, not memory: the structs have padding. */
static bool same_place(const struct tn_nic *nic, const struct torus_shape *shape,
		       const struct torus_coords *at)
{
	unsigned int d;

	if (nic->shape.ndims != shape->ndims)	/* ndims is 0 if the NIC has no place yet */
		return false;
	for (d = 0; d < TORUS_MAX_DIMS; d++) {
		if (nic->shape.size[d] != shape->size[d] || nic->at.c[d] != at->c[d])
			return false;
	}
	return true;
}

int tn_nic_set_shape(struct tn_nic *nic, const struct torus_shape *shape,
		     const struct torus_coords *at, void *mem)
{
	u32 n = tn_shape_nodes(shape);
	u8 *m = mem;
	struct tn_flow_tx *tx;

	if (!place_ok(nic, shape, at))
		return -EINVAL;
	if (same_place(nic, shape, at))
		return 0;
	tn_assert(!nic->rma);
	if (nic->placed)
		drop_packets(nic, 1);
	nic->shape = *shape;
	nic->at = *at;
	nic->node = tn_node_id(shape, at);
	nic->nodes = n;
	memset(nic->way, 0, sizeof(nic->way));
	memset(nic->entry, 0, sizeof(nic->entry));
	nic->rows = (u64 *)m;
	m += round_up_64(n * sizeof(u64));
	nic->shadow = (u64 *)m;
	m += round_up_64(n * sizeof(u64));
	nic->block = (struct tn_block *)m;
	m += blocks_size(n);
	nic->shadow_block = (struct tn_block *)m;
	m += blocks_size(n);
	tx = (struct tn_flow_tx *)m;
	m += round_up_64(n * TN_FLOWS * sizeof(*tx));
	tn_flows_init(&nic->flows, tx, (struct tn_flow_rx *)m, n);
	m += round_up_64(n * TN_FLOWS * sizeof(struct tn_flow_rx));
	tn_relay_init(&nic->relay, (struct tn_relay_peer *)m, n, nic->params.relay_packets);
	m += round_up_64(n * sizeof(struct tn_relay_peer));
	tn_assert((size_t)(m - (u8 *)mem) == tn_nic_table_size(shape));
	tn_assert(nic->node < n);
	nic->version = 0;
	nic->colour = 0;
	nic->shadow_open = false;
	nic->copying = false;
	nic->placed = true;
	return 0;
}
