// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that this node sends: from its host, and of services in the NIC. A packet gets the number
 * in its flow and its header, and goes into an injection queue; or it waits, because its
 * destination is on hold or the window of its relay is full.
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
#include "ring.h"

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
