// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host side of the NIC: set-up, sending, links, timers, counters.
 *
 * Messages. tn_nic_send_message() examines the first packet of a message in full. The packets
 * behind it get its header and the next numbers of its flow, and follow it into its queue. The
 * result is that of sending each by itself: nothing runs in between, so the row, the hold and the
 * way to the port are the same for all. Only the limit of the queue, the length and FIRST are
 * examined for each. Packets that the rules treat one by one are sent one by one: those on hold, to
 * this node, through a relay, whose window counts each, and adaptive ones, which have no number
 * (message_is_taken_like_its_packets_one_by_one() of tests/unit/test_series.c).
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

/* --- sending --------------------------------------------------------------- */

/* Restarts the numbering of the flows to @dst with the first packet after its row became valid. */
static void begin_flows(struct tn_nic *nic, u32 dst)
{
	struct tn_block *block = &nic->block[dst / TN_BLOCK];
	u64 bit = 1ull << dst % TN_BLOCK;

	tn_assert(dst < nic->nodes);
	if (!(block->begins & bit))
		return;
	block->begins &= ~bit;
	nic->shadow_block[dst / TN_BLOCK].begins &= ~bit;	/* ROWS_BEGIN has copied the bit */
	tn_flow_begin(&nic->flows, dst, nic->version);
}

/* Return: the virtual channel of the flow of @pkt, a packet of this node. */
static unsigned int flow_vc(const struct tn_pkt *pkt)
{
	return pkt->tail.flags & TN_TAIL_ADAPTIVE ? TORUS_VC_A : pkt->hdr.vc;
}

/*
 * Numbers @pkt, a packet of this node, writes its header and puts it into the injection queue
 * @input.
 */
static void inject_packet(struct tn_nic *nic, struct tn_pkt *pkt, u64 row, unsigned int input)
{
	unsigned int vc = flow_vc(pkt);

	tn_assert(vc < TORUS_VCS);
	tn_assert(pkt->hdr.src == nic->node && pkt->hdr.dst != nic->node);
	tn_assert(!tn_on_hold(nic, pkt->hdr.dst));
	begin_flows(nic, pkt->hdr.dst);
	tn_flow_stamp(&nic->flows, pkt, vc);
	tn_stamp(nic, pkt, row);
	tn_via_charge(nic, pkt);
	pkt->unsummed = TN_UNSUMMED;
	nic->counter[TORUS_NC_INJECTED]++;
	tn_flow_count(nic, pkt, TORUS_FC_INJECTED);
	tn_input_push(nic, input, pkt);
}

/* Return: the queue of a packet of this node: replies have their own. */
static unsigned int input_of(struct tn_nic *nic, const struct tn_pkt *pkt, u64 row)
{
	unsigned int vc = flow_vc(pkt), input = tn_inject_input(nic, pkt->hdr.dst, row, vc);

	if (!pkt->tail.vb || vc != TORUS_VC_D1)
		return input;
	return TN_INPUT_REPLY + (input - TN_INPUT_INJECT) / TORUS_VCS;
}

/* Injects a packet that has waited in this node: on hold, or for the relay window. */
static void inject_late(struct tn_nic *nic, struct tn_pkt *pkt, u64 row)
{
	inject_packet(nic, pkt, row, input_of(nic, pkt, row));
}

/* --- packets of this node that wait here: on hold, or for the relay window -------- */

static u64 *share_of(struct tn_nic *nic, u32 dst)
{
	return &nic->share[dst % TN_HELD_SHARES];
}

static void count_waiting(struct tn_nic *nic, struct tn_pkt *pkt)
{
	u32 bytes = tn_keep(nic, pkt);

	nic->held_bytes += bytes;
	*share_of(nic, pkt->hdr.dst) += bytes;
}

static void uncount_waiting(struct tn_nic *nic, const struct tn_pkt *pkt)
{
	u64 *share = share_of(nic, pkt->hdr.dst);

	tn_assert(nic->held_bytes >= pkt->held);
	tn_assert(*share >= pkt->held);
	nic->held_bytes -= pkt->held;
	*share -= pkt->held;
}

/* Return: true if hold_bytes and the share of @dst in it allow one more packet to @dst to wait. */
static bool may_wait(struct tn_nic *nic, u32 dst)
{
	return nic->held_bytes < nic->params.hold_bytes &&
	       *share_of(nic, dst) <
	       TN_HELD_PART * (nic->params.hold_bytes - nic->held_bytes);
}

/* Return: true if @row leads through a relay whose window is full or has packets waiting. */
static bool window_full(const struct tn_nic *nic, u64 row)
{
	return (row & TORUS_ROW_RELAY) && (row & TORUS_ROW_VALID) &&
	       (nic->relay.wait.head || !tn_relay_may(&nic->relay));
}

bool tn_launch_waiting(struct tn_nic *nic)
{
	struct tn_relay *r = &nic->relay;
	bool some = tn_relay_may(r);

	tn_assert(r->wait.head);
	while (r->wait.head && tn_relay_may(r)) {
		struct tn_pkt *pkt = r->wait.head;
		u64 row = nic->rows[pkt->hdr.dst];

		if (tn_on_hold(nic, pkt->hdr.dst)) {	/* a hold was set while it waited */
			tn_release_held(nic);
			break;
		}
		tn_queue_pop(&r->wait);
		uncount_waiting(nic, pkt);
		inject_late(nic, pkt, row);
	}
	return some;
}

void tn_release_held(struct tn_nic *nic)
{
	struct tn_queue waited = nic->relay.wait, held = nic->held;
	struct tn_pkt *pkt;

	nic->relay.wait = nic->held = (struct tn_queue) { 0 };
	/* In one flow, packets that wait for the window are older than those on hold. */
	while ((pkt = tn_queue_pop(&waited)) || (pkt = tn_queue_pop(&held))) {
		u64 row = nic->rows[pkt->hdr.dst];

		if (tn_on_hold(nic, pkt->hdr.dst)) {
			tn_queue_push(&nic->held, pkt);
			continue;
		}
		if (window_full(nic, row)) {
			tn_queue_push(&nic->relay.wait, pkt);
			continue;
		}
		uncount_waiting(nic, pkt);
		if (row & TORUS_ROW_VALID) {
			inject_late(nic, pkt, row);
			continue;
		}
		/*
		 * The packet was not counted as injected, so the sums must not count it as
		 * unreachable.
		 */
		nic->counter[TORUS_NC_UNREACHABLE]++;
		pkt->hdr.type = TN_UNREACH;
		pkt->hdr.src = pkt->hdr.dst;
		pkt->hdr.dst = nic->node;
		if (!tn_give_returned(nic, pkt))
			nic->ops->pkt_put(nic->host, pkt);
		tn_report(nic, TN_EV_PARK);
	}
	tn_assert(nic->held.head || nic->relay.wait.head || !nic->held_bytes);
}

unsigned int tn_nic_room(struct tn_nic *nic, u32 dst, unsigned int vc)
{
	u32 queued = 0;
	u64 row;

	if (!nic->placed || dst >= nic->nodes || vc >= TORUS_VCS || dst == nic->node)
		return TN_INJECT_MAX;
	row = nic->rows[dst];
	if (tn_on_hold(nic, dst) || window_full(nic, row))
		return may_wait(nic, dst) ? TN_INJECT_MAX : 0;
	if (row & TORUS_ROW_VALID)
		queued = nic->input[tn_inject_input(nic, dst, row, vc)].count;
	return queued < TN_INJECT_MAX ? TN_INJECT_MAX - queued : 0;
}

/*
 * Return: true if an injection queue has room. If the packet @continues a message, the limit is
 * twice as high, so that no message stops in the middle.
 */
static bool queue_takes(const struct tn_queue *q, bool continues)
{
	return q->count < (continues ? 2 * TN_INJECT_MAX : TN_INJECT_MAX);
}

static int send_self(struct tn_nic *nic, struct tn_pkt *pkt)
{
	if (!nic->ops->deliver(nic->host, pkt))
		return -EAGAIN;
	nic->counter[TORUS_NC_INJECTED]++;
	nic->counter[TORUS_NC_DELIVERED]++;
	return 0;
}

/* Sends @pkt of the service tail.vb to @dst. Return: as tn_nic_send(). */
static int send_packet(struct tn_nic *nic, struct tn_pkt *pkt, u32 dst, unsigned int vc)
{
	bool continues = !(pkt->tail.flags & TN_TAIL_FIRST), holds, waits;
	unsigned int input = 0;
	u16 len = pkt->hdr.len;
	u64 row;

	if (!nic->placed)
		return -ENODEV;
	if (dst >= nic->nodes || vc >= TORUS_VCS || len > nic->params.payload_max / TN_FLIT)
		return -EINVAL;
	row = nic->rows[dst];
	holds = tn_on_hold(nic, dst);
	waits = dst != nic->node && (holds || window_full(nic, row));
	if (waits && !continues && !may_wait(nic, dst))
		return -EAGAIN;
	if (!waits && dst != nic->node && (row & TORUS_ROW_VALID)) {
		input = tn_inject_input(nic, dst, row, vc);
		if (unlikely(pkt->tail.vb) && vc == TORUS_VC_D1)
			input = TN_INPUT_REPLY + (input - TN_INPUT_INJECT) / TORUS_VCS;
		else if (!queue_takes(&nic->input[input], continues))
			return -EAGAIN;
	}
	pkt->hdr = (struct tn_hdr) {
		.dst = dst,
		.src = nic->node,
		.len = len,
		.type = TN_DATA,
		.vc = (u8)vc,
	};
	pkt->tail = (struct tn_tail) {
		.flags = pkt->tail.flags & (TN_TAIL_PAD | TN_TAIL_FIRST | TN_TAIL_LAST),
		.vb = pkt->tail.vb,
	};
	if (vc == TORUS_VC_A)
		pkt->tail.flags |= TN_TAIL_ADAPTIVE;
	pkt->in_port = TN_PORT_HOST;
	pkt->in_vc = (u8)vc;
	pkt->unresolved = 0;
	pkt->stalled = 0;
	if (dst == nic->node)
		return send_self(nic, pkt);
	if (holds) {
		nic->counter[TORUS_NC_HELD]++;
		count_waiting(nic, pkt);
		tn_queue_push(&nic->held, pkt);
		return 0;
	}
	if (!(row & TORUS_ROW_VALID)) {
		nic->counter[TORUS_NC_UNREACHABLE]++;
		return -EHOSTUNREACH;
	}
	if (waits) {
		nic->counter[TORUS_NC_RELAY_WAITED]++;
		count_waiting(nic, pkt);
		tn_queue_push(&nic->relay.wait, pkt);
		return 0;
	}
	inject_packet(nic, pkt, row, input);
	return 0;
}

int tn_nic_send(struct tn_nic *nic, struct tn_pkt *pkt, u32 dst, unsigned int vc, u64 now)
{
	(void)now;
	pkt->tail.vb = TN_SERVICE_HOST;
	return send_packet(nic, pkt, dst, vc);
}

/*
 * Return: true if the packets of a message behind one that was just sent to @dst go into the same
 * injection queue with the same header ("Messages" above).
 */
static bool leads_message(const struct tn_nic *nic, u32 dst, unsigned int vc)
{
	return dst != nic->node && vc < TN_FLOW_VCS && !tn_on_hold(nic, dst) &&
	       !(nic->rows[dst] & TORUS_ROW_RELAY);
}

/*
 * Injects the packets of @msg that continue the message of @lead, which was just injected, as far
 * as tn_nic_send() would take them.
 */
static void inject_like(struct tn_nic *nic, struct tn_queue *msg, const struct tn_pkt *lead,
			unsigned int vc)
{
	unsigned int input = tn_inject_input(nic, lead->hdr.dst, nic->rows[lead->hdr.dst], vc);
	const u8 mine = TN_TAIL_PAD | TN_TAIL_FIRST | TN_TAIL_LAST;
	struct tn_queue *q = &nic->input[input];
	u32 n = 0;

	tn_assert(q->tail == lead && lead->hdr.vc == vc);
	while (msg->head && queue_takes(q, true)) {
		struct tn_pkt *pkt = msg->head;
		u16 len = pkt->hdr.len;

		if ((pkt->tail.flags & TN_TAIL_FIRST) || len > nic->params.payload_max / TN_FLIT)
			break;
		tn_queue_pop(msg);
		pkt->hdr = lead->hdr;
		pkt->hdr.len = len;
		pkt->tail = (struct tn_tail) {
			.flags = pkt->tail.flags & mine,
			.vb = lead->tail.vb,
			.epoch = lead->tail.epoch,
			.eseq = lead->tail.eseq + ++n,
		};
		pkt->in_port = TN_PORT_HOST;
		pkt->in_vc = (u8)vc;
		pkt->unresolved = 0;
		pkt->stalled = 0;
		pkt->unsummed = TN_UNSUMMED;
		tn_queue_push(q, pkt);
	}
	tn_assert(tn_counts(lead));
	nic->counter[TORUS_NC_INJECTED] += n;
	nic->flow[TORUS_FC_INJECTED][lead->hdr.colour] += n;
	tn_flow_stamped(&nic->flows, lead, vc, n);
}

int tn_nic_send_message(struct tn_nic *nic, struct tn_queue *msg, u32 dst, unsigned int vc,
			u64 now)
{
	while (msg->head) {
		struct tn_pkt *pkt = msg->head, *next = pkt->next;
		int err = tn_nic_send(nic, pkt, dst, vc, now);

		if (err)
			return err;
		msg->head = next;
		if (!next)
			msg->tail = NULL;
		msg->count--;
		if (next && leads_message(nic, dst, vc))
			inject_like(nic, msg, pkt, vc);
	}
	return 0;
}

int tn_send_service(struct tn_nic *nic, struct tn_pkt *pkt, u32 dst, unsigned int vc)
{
	tn_assert(dst != nic->node && pkt->tail.vb);
	return send_packet(nic, pkt, dst, vc);
}

/* --- links, timers, counters ------------------------------------------------ */

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
