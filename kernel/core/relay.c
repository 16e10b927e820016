// SPDX-License-Identifier: GPL-2.0-only
/* Windows of relayed packets; see relay.h. */
#include "relay.h"

void tn_relay_init(struct tn_relay *r, struct tn_relay_peer *peer, u32 nodes, u32 packets)
{
	u32 window = packets / nodes;

	tn_assert(nodes);
	*r = (struct tn_relay) {
		.peer = peer,
		.nodes = nodes,
		.window = window ? window : 1,
		.ask_at = ~0ull,
	};
	r->capacity = r->window * nodes;
}

static void forget_sent(const struct tn_relay *r, struct tn_relay_peer *p)
{
	p->sent = p->acked = 0;
	p->turn = r->turn;
}

/* Return: the entry of @node, with the counts of this generation. */
static struct tn_relay_peer *peer_of(struct tn_relay *r, u32 node)
{
	struct tn_relay_peer *p = &r->peer[node];

	tn_assert(node < r->nodes);
	if (p->turn != r->turn)
		forget_sent(r, p);
	return p;
}

/*
 * Ends a generation in which the window had packets. @turn has 16 bits, so a count must be cleared
 * before its turn number comes again: each call clears the outdated counts of some nodes, and 2^16
 * calls those of all nodes.
 */
static void end_turn(struct tn_relay *r)
{
	u32 n = r->nodes / 0x10000 + 1;

	r->turn++;
	while (n--) {
		forget_sent(r, &r->peer[r->sweep]);
		r->sweep = r->sweep + 1 < r->nodes ? r->sweep + 1 : 0;
	}
}

void tn_relay_renew(struct tn_relay *r, u32 gen)
{
	if (gen == r->gen)
		return;
	tn_assert(r->used || !r->out);
	if (r->used)
		end_turn(r);
	r->gen = gen;
	r->renewals++;
	r->used = false;
	r->out = 0;
	r->asks = 0;
	r->ask_at = ~0ull;
}

void tn_relay_charge(struct tn_relay *r, struct tn_pkt *pkt, u32 node)
{
	struct tn_relay_peer *p = peer_of(r, pkt->via.dst);

	tn_assert(r->out < r->window);
	pkt->via.payer = node;
	pkt->via.gen = r->gen;
	if (p->sent == p->acked)
		p->asked = p->acked - 1;	/* tn_relay_ask() has not examined @p since then */
	p->sent++;
	r->out++;
	r->used = true;
}

/*
 * Return: true if the generation of @p was forged: it is further ahead of this NIC's generation
 * than that of an honest node should be, although this NIC has begun a new generation since it
 * received that one.
 */
static bool is_refuted(const struct tn_relay *r, const struct tn_relay_peer *p)
{
	return p->renewals != r->renewals && (s32)(p->gen - r->gen) > TN_RELAY_AHEAD;
}

bool tn_relay_ended(struct tn_relay *r, const struct tn_via *via)
{
	struct tn_relay_peer *p;

	if (via->payer >= r->nodes)
		return false;
	p = &r->peer[via->payer];
	if ((s32)(via->gen - p->gen) < 0 && !is_refuted(r, p))
		return false;
	if (via->gen != p->gen) {
		p->gen = via->gen;
		p->renewals = r->renewals;
		p->ended = 0;
	}
	p->ended++;
	return true;
}

u32 tn_relay_count(const struct tn_relay *r, u32 payer, u32 gen)
{
	const struct tn_relay_peer *p = &r->peer[payer];

	tn_assert(payer < r->nodes);
	return p->gen == gen ? p->ended : 0;
}

bool tn_relay_acked(struct tn_relay *r, u32 from, u32 gen, u32 count)
{
	struct tn_relay_peer *p = peer_of(r, from);
	u32 new = count - p->acked;

	tn_assert(p->sent - p->acked <= r->out);
	tn_assert(r->out <= r->window);
	/* the ACK is late, or its count cannot be true */
	if (gen != r->gen || !new || new > p->sent - p->acked)
		return false;
	p->acked = count;
	r->out -= new;
	r->asks = 0;
	if (!r->out)
		r->ask_at = ~0ull;
	return true;
}

u32 tn_relay_ask(struct tn_relay *r, u32 n)
{
	if (n > r->nodes)
		n = r->nodes;	/* examine each node at most once */
	tn_assert(r->cursor < r->nodes);
	while (r->out && n--) {
		struct tn_relay_peer *p = peer_of(r, r->cursor);
		u32 i = r->cursor;
		bool mute = p->asked == p->acked;

		r->cursor = i + 1 < r->nodes ? i + 1 : 0;
		p->asked = p->acked;
		if (mute && p->sent != p->acked)
			return i;
	}
	return TORUS_NO_NODE;
}

void tn_relay_wrap(struct tn_pkt *pkt)
{
	tn_assert(!pkt->hdr.relayed);
	pkt->via = (struct tn_via) { .dst = pkt->hdr.dst, .payer = TORUS_NO_NODE };
	pkt->hdr.relayed = 1;
}

void tn_relay_unwrap(struct tn_pkt *pkt)
{
	if (!pkt->hdr.relayed)
		return;
	pkt->hdr.dst = pkt->via.dst;
	pkt->hdr.relayed = 0;
}
