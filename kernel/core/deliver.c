// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that reach the end of their path: each is given to the host or to a service of this node,
 * in the order of its flow (flow.h), or sent back to its source as unreachable.
 */
#include "nic_impl.h"

/* --- packets sent back to their source --------------------------------------- */

/*
 * Replaces @pkt by a copy with as much payload as its source needs for an error message. Return:
 * the copy; NULL if there is no memory.
 */
static struct tn_pkt *shorten_packet(struct tn_nic *nic, struct tn_pkt *pkt)
{
	u16 len = pkt->hdr.len < TN_RETURN_FLITS ? pkt->hdr.len : TN_RETURN_FLITS;
	struct tn_pkt *copy = nic->ops->pkt_new(nic->host, len);

	if (copy) {
		copy->hdr = pkt->hdr;
		copy->tail = pkt->tail;
		copy->via = pkt->via;
		copy->in_port = pkt->in_port;
		copy->unresolved = 0;
		copy->stalled = 0;
		if (len)
			memcpy(copy->payload, pkt->payload, (size_t)len * TN_FLIT);
		if (len < pkt->hdr.len) {
			copy->hdr.len = len;
			copy->tail.flags &= (u8)(0xff ^ (TN_TAIL_PAD | TN_TAIL_LAST));
		}
	}
	nic->ops->pkt_put(nic->host, pkt);
	return copy;
}

bool tn_give_returned(struct tn_nic *nic, struct tn_pkt *pkt)
{
	if (!pkt->tail.vb)
		return nic->ops->deliver(nic->host, pkt);
	tn_rma_come_back(nic, pkt);
	return true;
}

/* Sends @pkt, which has been counted, back to its source. */
static void turn_back(struct tn_nic *nic, struct tn_pkt *pkt, enum tn_why why)
{
	struct tn_hdr *h = &pkt->hdr;
	u32 src = h->src;
	u64 row;

	nic->counter[TORUS_NC_UNREACHABLE]++;
	tn_report(nic, TN_EV_PARK);
	/* A source id that is out of range would overwrite the directions of the header. */
	if (h->type == TN_UNREACH || src >= nic->nodes ||
	    (h->relayed && pkt->via.dst >= TORUS_MAX_NODES)) {
		/* the source cannot be reached either: drop the packet */
		nic->ops->pkt_put(nic->host, pkt);
		return;
	}
	tn_relay_unwrap(pkt);
	h->type = TN_UNREACH;
	h->vc = TORUS_VC_D1;
	h->src = h->dst;
	h->dst = src;
	pkt->in_port = TN_PORT_HOST;
	pkt->tail.flags &= (u8)(0xff ^ (TN_TAIL_REPLAYED | TN_TAIL_ADAPTIVE));
	if (pkt->tail.vb)
		pkt->tail.epoch = (u16)why;
	if (src == nic->node) {
		nic->counter[TORUS_NC_RETURNED]++;
		if (!tn_give_returned(nic, pkt))
			nic->ops->pkt_put(nic->host, pkt);
		return;
	}
	row = nic->rows[src];
	if (!(row & TORUS_ROW_VALID)) {
		nic->ops->pkt_put(nic->host, pkt);
		return;
	}
	pkt = shorten_packet(nic, pkt);
	if (!pkt)
		return;
	tn_stamp(nic, pkt, row);
	pkt->unsummed = TN_UNSUMMED;
	tn_answer(nic, pkt);
}

void tn_send_back(struct tn_nic *nic, struct tn_pkt *pkt, enum tn_why why)
{
	tn_assert(pkt->hdr.type == TN_DATA || pkt->hdr.type == TN_UNREACH);
	if (pkt->hdr.nic) {
		nic->ops->pkt_put(nic->host, pkt);
		return;
	}
	tn_flow_count(nic, pkt, TORUS_FC_UNREACHABLE);
	if (pkt->tail.flags & TN_TAIL_REPLAYED)
		tn_flow_count(nic, pkt, TORUS_FC_REPLAY_PARKED);
	turn_back(nic, pkt, why);
}

/* --- delivery ---------------------------------------------------------------- */

/* Counts a VCD packet as having reached its destination, whether or not the host accepts it. */
static void count_ended(struct tn_nic *nic, const struct tn_pkt *pkt)
{
	tn_flow_count(nic, pkt, TORUS_FC_DELIVERED);
	if (pkt->tail.flags & TN_TAIL_REPLAYED)
		tn_flow_count(nic, pkt, TORUS_FC_REPLAY_RX);
}

/*
 * Gives @pkt to the service that it is for; if this NIC does not have the service, sends it back.
 * Return: as give_host().
 */
static noinline bool give_service(struct tn_nic *nic, struct tn_pkt *pkt)
{
	if (!nic->rma) {
		turn_back(nic, pkt, TN_WHY_SERVICE);
		return true;
	}
	if (!tn_rma_deliver(nic, pkt))
		return false;
	nic->counter[TORUS_NC_DELIVERED]++;
	return true;
}

/* Gives @pkt to the host or to its service. Return: false if there is no room for it. */
static inline bool give_host(struct tn_nic *nic, struct tn_pkt *pkt)
{
	if (unlikely(pkt->tail.vb))
		return give_service(nic, pkt);
	if (!nic->ops->deliver(nic->host, pkt))
		return false;
	nic->counter[TORUS_NC_DELIVERED]++;
	return true;
}

void tn_deliver_waiting(struct tn_nic *nic, u64 now)
{
	struct tn_flows *f = &nic->flows;
	struct tn_pkt *pkt;

	nic->due_more = false;
	while (nic->due_left && (pkt = tn_flow_next(f))) {
		struct tn_pkt seen = *pkt;

		tn_assert(f->waiting);
		nic->due_left--;
		f->since = now;
		tn_flow_unwait(f, pkt);
		if (tn_flow_turn(f, pkt) != TN_FLOW_NOW) {
			nic->counter[TORUS_NC_DUPLICATES]++;
			nic->ops->pkt_put(nic->host, pkt);
		} else if (give_host(nic, pkt)) {
			tn_flow_done(f, &seen);
		} else {
			tn_flow_wait(f, pkt, now);
			return;
		}
	}
	nic->due_more = !nic->due_left && f->waiting;
}

/*
 * Delivers the waiting packets of the flow's former epoch. Return: false if some remain, because
 * the host is full or due_left is used up.
 */
static bool former_epoch_done(struct tn_nic *nic, const struct tn_pkt *pkt, u64 now)
{
	struct tn_flows *f = &nic->flows;
	u32 before;

	while (tn_flow_overdue(f, pkt)) {
		before = f->waiting;
		tn_flow_close_gap(f, pkt);
		tn_deliver_waiting(nic, now);
		if (f->waiting == before)
			return false;
	}
	return true;
}

bool tn_hand_over(struct tn_nic *nic, struct tn_pkt *pkt, const struct tn_pkt *came, u64 now)
{
	u32 held;

	tn_assert(!pkt->hdr.relayed);
	tn_assert(pkt->hdr.type == TN_DATA || pkt->hdr.type == TN_UNREACH);
	if (pkt->hdr.type == TN_UNREACH) {
		if (!tn_give_returned(nic, pkt))
			return false;
		nic->counter[TORUS_NC_RETURNED]++;
	} else if (pkt->hdr.src >= nic->nodes ||
		   (!(pkt->tail.flags & TN_TAIL_ADAPTIVE) && pkt->hdr.vc >= TN_FLOW_VCS)) {
		count_ended(nic, came);
		nic->counter[TORUS_NC_HOST_RX_DROPS]++;
		nic->ops->pkt_put(nic->host, pkt);
	} else if (pkt->tail.flags & TN_TAIL_ADAPTIVE) {
		if (!give_host(nic, pkt))
			return false;
		count_ended(nic, came);
	} else if (!former_epoch_done(nic, pkt, now)) {
		return false;
	} else {
		switch (tn_flow_turn(&nic->flows, pkt)) {
		case TN_FLOW_NOW:
			if (!give_host(nic, pkt))
				return false;
			count_ended(nic, came);
			if (tn_flow_done(&nic->flows, came))
				tn_deliver_waiting(nic, now);
			break;
		case TN_FLOW_EARLY:
			/*
			 * One packet may wait even if there is no room: gap_time limits how long.
			 */
			held = tn_keep(nic, pkt);
			if (nic->flows.waiting &&
			    nic->flows.wait_bytes + held > nic->params.park_bytes)
				return false;
			count_ended(nic, pkt);
			nic->counter[TORUS_NC_REORDERED]++;
			tn_flow_wait(&nic->flows, pkt, now);
			break;
		case TN_FLOW_BEHIND:
			count_ended(nic, pkt);
			nic->counter[TORUS_NC_DUPLICATES]++;
			nic->ops->pkt_put(nic->host, pkt);
			break;
		case TN_FLOW_LATE:
			count_ended(nic, pkt);
			nic->flows.lost++;
			nic->ops->pkt_put(nic->host, pkt);
			break;
		}
	}
	return true;
}
