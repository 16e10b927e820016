// SPDX-License-Identifier: GPL-2.0-only
/* Relays packets, and counts them in the windows of their sources and destinations; see relay.h. */
#include "router.h"

#define ASK_NODES 4096	/* peers that are examined in one search for a peer to send an ASK to */
#define ASK_SHIFT_MAX 6	/* limit of the back-off: 2^6 times replay_timeout */

/*
 * Sends a packet with the meaning @word (ASK or ACK) to the NIC of node @to. If it cannot be sent
 * now, it is dropped: the peer asks again.
 */
static void send_word(struct tn_nic *nic, u32 to, enum tn_nic_word word, u32 gen, u32 count)
{
	u64 row = nic->rows[to];
	struct tn_pkt *pkt;

	tn_assert(to < nic->nodes);
	if (!(row & TORUS_ROW_VALID) || to == nic->node)
		return;
	pkt = nic->ops->pkt_new(nic->host, 1);
	if (!pkt)
		return;
	pkt->hdr = (struct tn_hdr) {
		.dst = to, .src = nic->node, .len = 1, .type = TN_DATA,
		.vc = TORUS_VC_D1, .nic = 1,
	};
	pkt->tail = (struct tn_tail) { 0 };
	pkt->in_port = TN_PORT_HOST;
	pkt->unresolved = 0;
	pkt->stalled = 0;
	tn_put_le32(pkt->payload, word);
	tn_put_le32(pkt->payload + 4, gen);
	tn_put_le32(pkt->payload + 8, count);
	tn_put_le32(pkt->payload + 12, 0);
	pkt->unsummed = TN_UNSUMMED;
	tn_stamp(nic, pkt, row);
	tn_answer(nic, pkt);
}

void tn_via_receive(struct tn_nic *nic, struct tn_pkt *pkt)
{
	const u8 *p = pkt->payload;
	u32 gen = tn_get_le32(p + 4), from = pkt->hdr.src;

	if (from < nic->nodes && tn_get_le32(p) == TN_NIC_ACK)
		tn_relay_acked(&nic->relay, from, gen, tn_get_le32(p + 8));
	else if (from < nic->nodes && tn_get_le32(p) == TN_NIC_ASK)
		send_word(nic, from, TN_NIC_ACK, gen, tn_relay_count(&nic->relay, from, gen));
	nic->ops->pkt_put(nic->host, pkt);
}

void tn_via_ended(struct tn_nic *nic, const struct tn_via *via)
{
	nic->counter[TORUS_NC_RELAYED_RX]++;
	if (tn_relay_ended(&nic->relay, via))
		send_word(nic, via->payer, TN_NIC_ACK, via->gen,
			  tn_relay_count(&nic->relay, via->payer, via->gen));
}

void tn_via_charge(struct tn_nic *nic, struct tn_pkt *pkt)
{
	if (!pkt->hdr.relayed || pkt->hdr.type != TN_DATA)
		return;
	tn_relay_charge(&nic->relay, pkt, nic->node);
	nic->counter[TORUS_NC_RELAYED_TX]++;
}

/* Reserves relay memory for @pkt. Return: false if none is left. */
static bool take_memory(struct tn_nic *nic, struct tn_pkt *pkt)
{
	struct tn_relay *r = &nic->relay;
	u32 waiting = 0;
	unsigned int vc;

	pkt->in_port = TN_PORT_RELAY;
	for (vc = 0; vc < TORUS_VCS; vc++)
		waiting += nic->input[TN_INPUT_RELAY + vc].count;
	tn_assert(pkt->hdr.relayed);
	tn_assert(waiting >= r->riders);
	if (pkt->via.legs >= TN_RELAY_LEGS ||
	    (tn_is_rider(pkt) ? r->riders >= TN_RELAY_RIDERS :
				waiting - r->riders >= r->capacity))
		return false;
	if (waiting >= TN_RELAY_REFER)
		tn_keep(nic, pkt);
	pkt->via.legs++;
	return true;
}

/* Starts @pkt, for which memory is reserved, on its next leg by a valid @row. */
static void send_onward(struct tn_nic *nic, struct tn_pkt *pkt, u64 row)
{
	u8 colour = pkt->hdr.colour;

	tn_assert(pkt->in_port == TN_PORT_RELAY);
	tn_assert(pkt->via.dst < nic->nodes && pkt->via.dst != nic->node);
	tn_assert(colour < TORUS_COLOURS);
	tn_stamp(nic, pkt, row);
	pkt->hdr.colour = colour;
	nic->relay.riders += tn_is_rider(pkt);
	nic->counter[TORUS_NC_RELAY_FORWARDED]++;
	if (pkt->hdr.nic)
		tn_input_push_front(nic, TN_INPUT_RELAY + pkt->hdr.vc, pkt);
	else
		tn_input_push(nic, TN_INPUT_RELAY + pkt->hdr.vc, pkt);
}

void tn_via_poll(struct tn_nic *nic, u64 now)
{
	struct tn_relay *r = &nic->relay;
	u32 node;

	if (now < r->ask_at)
		return;
	tn_assert(nic->placed);
	tn_assert(r->asks <= ASK_SHIFT_MAX);
	node = tn_relay_ask(r, ASK_NODES);
	r->ask_at = now + (nic->params.replay_timeout << r->asks);
	if (node == TORUS_NO_NODE)
		return;
	if (r->asks < ASK_SHIFT_MAX)
		r->asks++;
	send_word(nic, node, TN_NIC_ASK, r->gen, 0);
}

void tn_via_drop(struct tn_nic *nic, struct tn_pkt *pkt)
{
	nic->counter[TORUS_NC_RELAY_DROPS]++;
	tn_flow_count(nic, pkt, TORUS_FC_UNREACHABLE);	/* counts only a forged one */
	nic->ops->pkt_put(nic->host, pkt);
}

/*
 * If the packet has another colour than this node's rows, and the row of its next leg is on hold,
 * that row may differ from the row in the packet's table; then the packet is parked.
 */
void tn_via_relay(struct tn_nic *nic, struct tn_pkt *pkt, u64 now)
{
	u64 row = nic->rows[pkt->via.dst];

	tn_assert(pkt->hdr.relayed);
	tn_assert(pkt->hdr.dst == nic->node && pkt->via.dst != nic->node);
	tn_free_buffer_of(nic, pkt, now);
	if (tn_is_rider(pkt) && !(take_memory(nic, pkt) && (row & TORUS_ROW_VALID))) {
		tn_via_drop(nic, pkt);
	} else if (tn_is_rider(pkt)) {
		send_onward(nic, pkt, row);
	} else if (!(row & TORUS_ROW_VALID) || !take_memory(nic, pkt)) {
		tn_send_back(nic, pkt, TN_WHY_PATH);
	} else if (tn_of_later_table(nic, pkt) ||
		   (tn_on_hold(nic, pkt->via.dst) && pkt->hdr.colour != nic->colour)) {
		tn_divert_relayed(nic, pkt, now);
	} else {
		send_onward(nic, pkt, row);
	}
}
