// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that cannot leave by their port: they are parked, and replayed by new rows.
 *
 * The Angara paper says that each of its three subnets handles a dead link in its own way, and
 * describes that of VCD0 and VCD1: parking. For VCA the rule is our interpretation: another allowed
 * direction if it has room, else the escape, else parking. Packets in the RETRY buffer of the dead
 * link are parked as well (park.h says when).
 *
 * Order. Parked packets leave before later ones of their flow: a port that once diverted a packet
 * stays closed until the manager reopens it, and then until all parked packets have left. Packets
 * that arrive meanwhile are parked behind them (parked_packets_are_replayed_in_order(),
 * port_opens_when_last_replayed_packet_has_left() of tests/unit/test_divert.c).
 *
 * End. A packet of a replay is parked again only if the new rows lead over a dead link, too. That
 * ends the replay (tn_divert()), so the packet does not circulate. Packets of the replay always
 * have room in the segment (replayed_packets_find_room_in_full_segment()).
 */
#include "router.h"

void tn_parked(struct tn_nic *nic, struct tn_pkt *pkt)
{
	tn_assert(!pkt->unresolved);
	tn_assert(!pkt->hdr.nic);
	tn_assert(pkt->tail.vb != TN_VB_BAD);
	nic->counter[TORUS_NC_PARKED]++;
	tn_flow_count(nic, pkt, TORUS_FC_PARKED);
	if (pkt->tail.flags & TN_TAIL_REPLAYED)
		tn_flow_count(nic, pkt, TORUS_FC_REPLAY_PARKED);
	pkt->tail.flags &= (u8)(0xff ^ TN_TAIL_REPLAYED);
}

/*
 * Return: true if @pkt can be parked. Even a full segment accepts packets from relay memory, except
 * riders, because otherwise input buffers would have to wait for relay memory. Such packets stay in
 * the memory where they are. Their number is limited to the relay's capacity, which is reached only
 * if NICs exceed their windows.
 */
static bool has_room(const struct tn_nic *nic, struct tn_pkt *pkt)
{
	if (tn_park_room(&nic->park, pkt) && tn_settle(nic, pkt))
		return true;
	return pkt->in_port == TN_PORT_RELAY && !tn_is_rider(pkt) &&
	       nic->park.relayed < nic->relay.capacity;
}

/*
 * Parks @pkt; called after has_room() has returned true. @push: tn_park_push() or
 * tn_park_push_later().
 */
static void park_it(struct tn_nic *nic, struct tn_pkt *pkt, u64 now,
		    void (*push)(struct tn_park *p, struct tn_pkt *pkt, u64 now))
{
	bool first = !nic->park.q.head;

	tn_assert(pkt->hdr.type == TN_DATA || pkt->hdr.type == TN_UNREACH);
	if (pkt->in_port != TN_PORT_RELAY)
		pkt->in_port = TN_PORT_HOST;
	tn_parked(nic, pkt);
	push(&nic->park, pkt, now);
	if (first)
		tn_report(nic, TN_EV_PARK);
}

static void note_full(struct tn_nic *nic)
{
	if (nic->park.full)
		return;
	nic->park.full = true;
	tn_report(nic, TN_EV_PARK);
}

bool tn_divert(struct tn_nic *nic, struct tn_pkt *pkt, unsigned int out, u64 now)
{
	struct tn_park *p = &nic->park;

	tn_assert(out < nic->nports);
	if (pkt->hdr.nic) {
		tn_free_buffer_of(nic, pkt, now);
		nic->ops->pkt_put(nic->host, pkt);
		return true;
	}
	nic->link[out].closed = true;
	if (!tn_from_park(pkt) && !has_room(nic, pkt)) {
		note_full(nic);
		if (pkt->in_port != TN_PORT_RELAY)
			return false;
		if (tn_is_rider(pkt))
			tn_via_drop(nic, pkt);
		else
			tn_send_back(nic, pkt, TN_WHY_PATH);
		return true;
	}
	/*
	 * If a packet that was replayed by the present rows is parked again, these rows lead over a
	 * dead link, so the replay ends. If its colour is another one, it is an adaptive packet of
	 * an earlier replay (no drain counts those), which the present rows have not been tried
	 * for.
	 */
	if (tn_from_park(pkt) && pkt->hdr.colour == nic->colour)
		p->through = false;
	tn_free_buffer_of(nic, pkt, now);
	park_it(nic, pkt, now, tn_park_push);
	return true;
}

void tn_divert_relayed(struct tn_nic *nic, struct tn_pkt *pkt, u64 now)
{
	if (has_room(nic, pkt)) {
		park_it(nic, pkt, now,
			tn_of_later_table(nic, pkt) ? tn_park_push_later : tn_park_push);
	} else {
		note_full(nic);
		tn_send_back(nic, pkt, TN_WHY_PATH);
	}
}

unsigned int tn_replay_parked(struct tn_nic *nic)
{
	unsigned int n = 0;

	while (nic->park.replaying) {
		struct tn_pkt *pkt = nic->park.q.head;
		unsigned int vc = pkt->tail.flags & TN_TAIL_ADAPTIVE ? TORUS_VC_A : pkt->hdr.vc;
		bool paid = pkt->hdr.relayed && !tn_is_rider(pkt) &&
			    pkt->via.gen == nic->relay.gen;
		u64 row = nic->rows[pkt->hdr.relayed ? pkt->via.dst : pkt->hdr.dst];

		tn_assert(!pkt->unresolved);
		tn_assert(vc < TORUS_VCS);
		tn_assert(pkt->in_port == TN_PORT_HOST || pkt->in_port == TN_PORT_RELAY);
		if (nic->input[TN_INPUT_REPLAY + vc].count >= TN_INJECT_MAX ||
		    ((row & TORUS_ROW_RELAY) && !paid && !tn_relay_may(&nic->relay)))
			break;
		tn_park_pop(&nic->park);
		if (!paid)
			tn_relay_unwrap(pkt);
		n++;
		nic->counter[TORUS_NC_REPLAYED]++;
		pkt->hdr.colour = nic->colour;
		pkt->tail.flags |= TN_TAIL_REPLAYED;
		if (!(row & TORUS_ROW_VALID)) {
			tn_flow_count(nic, pkt, TORUS_FC_REPLAY_TX);
			tn_send_back(nic, pkt, TN_WHY_PATH);
			continue;
		}
		tn_stamp(nic, pkt, row);
		if (!paid)
			tn_via_charge(nic, pkt);
		tn_flow_count(nic, pkt, TORUS_FC_REPLAY_TX);
		tn_input_push(nic, TN_INPUT_REPLAY + vc, pkt);
	}
	if (!nic->park.q.head)
		tn_report(nic, TN_EV_PARK);
	return n;
}

bool tn_reopen(struct tn_nic *nic)
{
	unsigned int i;

	if (!nic->reopening || nic->park.replaying || (nic->cut_short && nic->park.q.head))
		return false;
	for (i = TN_INPUT_REPLAY; i < TN_INPUT_RELAY; i++) {
		if (nic->input[i].head)
			return false;
	}
	for (i = 0; i < nic->nports; i++) {
		if (nic->reopening >> i & 1)
			nic->link[i].closed = false;
	}
	nic->reopening = 0;
	return true;
}
