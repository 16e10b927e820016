// SPDX-License-Identifier: GPL-2.0-only
/* The checks of a fabric after each step: flow counters, bubbles, windows of relays. */
#include "tests/unit/fabric.h"

/* --- what is really in the network --------------------------------------------- */

/* Return: true if the peer of (node, port) has accepted @tseq of @session. */
static bool accepted(const struct fabric *f, u32 node, unsigned int port, u32 session, u16 tseq)
{
	unsigned int pp;
	const struct tn_link *peer = &f->node[fabric_peer(f, node, port, &pp)].nic->link[pp];

	return peer->session == session && tn_seq_before(tseq, peer->retry.rx.expected);
}

/**
 * struct census - packets that are really there
 * @held: by colour, in the inputs of a NIC, its RETRY buffers and parked, if they count in the
 *	sums of a recovery
 * @network: the same of all nodes, each once, even if two NICs have it: without those that the peer
 *	has accepted
 * @live: if not NULL, packets of the windows of relays that are in the network, by the node that
 *	pays for them
 * @waiting: packets that wait in a relay
 */
struct census {
	s64 held[TORUS_COLOURS];
	s64 network[TORUS_COLOURS];
	u32 *live;
	u32 waiting;
};

/* Counts a packet of a NIC; @network: it counts in the network, too */
static inline void count_packet(const struct tn_pkt *pkt, bool network, struct census *c)
{
	if (!tn_counts(pkt))
		return;
	c->held[pkt->hdr.colour]++;
	c->network[pkt->hdr.colour] += network;
}

static inline void count_charged(const struct fabric *f, const struct tn_pkt *pkt, u32 *live)
{
	if (!live || !pkt->hdr.relayed || tn_is_rider(pkt) ||
	    pkt->via.gen != f->node[pkt->via.payer].nic->relay.gen)
		return;
	live[pkt->via.payer]++;
}

/*
 * Counts the packets in front of the router. Looks only at the inputs that the NIC's own bitmap
 * names, because most are empty. If a bit is missing, the sums are too low.
 */
static void count_inputs(const struct fabric *f, const struct tn_nic *nic, struct census *c)
{
	for (unsigned int word = 0; word < TN_ACTIVE_WORDS; word++) {
		for (u64 left = nic->active[word]; left; left &= left - 1) {
			unsigned int i = word * 64 + (unsigned int)__builtin_ctzll(left);

			for (const struct tn_pkt *pkt = nic->input[i].head; pkt; pkt = pkt->next) {
				count_packet(pkt, true, c);
				count_charged(f, pkt, c->live);
				c->waiting += i >= TN_INPUT_RELAY;
			}
		}
	}
}

static void count_sent(const struct fabric *f, const struct node *n, struct census *c)
{
	for (unsigned int p = 0; p < f->nports; p++) {
		const struct tn_link *l = &n->nic->link[p];

		for (const struct tn_pkt *pkt = l->retry.tx.sent.head; pkt; pkt = pkt->next) {
			bool network = !accepted(f, n->id, p, l->session, pkt->hdr.tseq);

			count_packet(pkt, network, c);
			if (network)
				count_charged(f, pkt, c->live);
		}
	}
}

/*
 * Counts the parked packets of a node. Looks only at those up to the last unresolved one, by the
 * NIC's own number of these, because most of the long queue is resolved. If that number is too low,
 * so are the sums.
 */
static void count_parked(const struct fabric *f, const struct node *n, struct census *c)
{
	const struct tn_nic *nic = n->nic;
	u32 unresolved = nic->park.unresolved;

	for (const struct tn_pkt *pkt = nic->park.q.head; unresolved && pkt; pkt = pkt->next) {
		unsigned int p = 0;

		if (!pkt->unresolved)
			continue;
		unresolved--;
		while (p < f->nports && nic->link[p].session != pkt->session)
			p++;
		count_packet(pkt, p == f->nports ||
			     !accepted(f, n->id, p, pkt->session, pkt->hdr.tseq), c);
	}
}

void fabric_sums(const struct fabric *f, s64 *sum)
{
	memset(sum, 0, TORUS_COLOURS * sizeof(*sum));
	for (u32 i = 0; i < f->n; i++) {
		const u64 (*c)[TORUS_COLOURS] = tn_nic_flow(f->node[i].nic);

		for (int k = 0; k < TORUS_COLOURS; k++)
			sum[k] += (s64)(c[TORUS_FC_INJECTED][k] + c[TORUS_FC_REPLAY_TX][k] -
					c[TORUS_FC_DELIVERED][k] - c[TORUS_FC_PARKED][k] -
					c[TORUS_FC_UNREACHABLE][k]);
	}
}

static void check_sums(struct fabric *f, const struct census *c)
{
	s64 counted[TORUS_COLOURS];

	fabric_sums(f, counted);
	for (int k = 0; k < TORUS_COLOURS; k++)
		expect(&f->r, counted[k] == c->network[k], "colour %d: counters say %lld, there are %lld",
		       k, (long long)counted[k], (long long)c->network[k]);
}

/*
 * Checks a NIC by itself: packets that went in and have not come out are in it, in RETRY buffers
 * or parked, whatever its peers have or report.
 */
static void check_balance(struct fabric *f, const struct node *n, const struct census *real)
{
	const u64 (*c)[TORUS_COLOURS] = tn_nic_flow(n->nic);

	for (int k = 0; k < TORUS_COLOURS; k++) {
		s64 left = (s64)(c[TORUS_FC_INJECTED][k] + c[TORUS_FC_REPLAY_TX][k] +
				 c[TORUS_FC_LINK_RX][k] - c[TORUS_FC_DELIVERED][k] -
				 c[TORUS_FC_PARKED][k] - c[TORUS_FC_UNREACHABLE][k] -
				 c[TORUS_FC_LINK_TX][k]);

		expect(&f->r, left == real->held[k],
		       "node %u, colour %d: counters say %lld, there are %lld", n->id, k,
		       (long long)left, (long long)real->held[k]);
	}
}

/* --- bubbles ------------------------------------------------------------------- */

/* Return: how many buffers of the peer's input packets of @vc occupy, or will occupy. */
static unsigned int occupancy(const struct fabric *f, u32 node, unsigned int port,
			      unsigned int vc)
{
	unsigned int pp, n;
	u32 peer = fabric_peer(f, node, port, &pp);
	const struct tn_link *l = &f->node[node].nic->link[port];
	const struct tn_link *o = &f->node[peer].nic->link[pp];
	const struct tn_pkt *pkt;

	n = o->credit.used[vc];
	for (pkt = l->retry.tx.sent.head; pkt; pkt = pkt->next) {
		bool takes = pkt->hdr.type == TN_DATA || pkt->hdr.type == TN_UNREACH ||
			     pkt->hdr.nic;

		if (pkt->hdr.vc == vc && takes &&
		    !accepted(f, node, port, l->session, pkt->hdr.tseq))
			n++;
	}
	return n;
}

static bool carries(const struct tn_link *l)
{
	return l->state == TORUS_LINK_UP || l->state == TORUS_LINK_RETRAINING;
}

static bool whole(const struct fabric *f, u32 node, unsigned int port)
{
	unsigned int pp;
	u32 peer = fabric_peer(f, node, port, &pp);
	const struct tn_link *a = &f->node[node].nic->link[port];
	const struct tn_link *b = &f->node[peer].nic->link[pp];

	return a->session == b->session && carries(a) && carries(b);
}

/*
 * Return: true if the ring is a line that ends at the link that leaves @node by @port. BLOC keeps
 * its bubble also while only the receiver knows that the session is over. CBS and MBS do not: the
 * receiver drops the bubble that it has (ring.h), and what the sender adds to the session never
 * arrives. The sender puts in another bubble when the next session begins.
 */
static bool ends_ring(const struct fabric *f, u32 node, unsigned int port)
{
	const struct tn_link *l = &f->node[node].nic->link[port];

	if (l->closed)
		return true;
	return f->params.bubble == TORUS_BUBBLE_BLOC ? !carries(l) : !whole(f, node, port);
}

/* Checks that the ring that leaves @node by @port has a free packet buffer somewhere. */
static void check_ring(struct fabric *f, u32 node, unsigned int port, unsigned int vc)
{
	u32 at = node;

	do {
		unsigned int pp, have = occupancy(f, at, port, vc);

		expect(&f->r, have <= f->params.slots, "node %u, port %u, VC %u holds %u", at, port,
		       vc, have);
		if (ends_ring(f, at, port) || have < f->params.slots)
			return;
		at = fabric_peer(f, at, port, &pp);
	} while (at != node);
	expect(&f->r, false, "ring of node %u, port %u, VC %u is full: no bubble", node, port, vc);
}

/*
 * Return: critical bubbles that @node has, or has sent away, for the ring that leaves it by @port.
 */
static unsigned int critical_at(const struct fabric *f, u32 node, unsigned int port,
				unsigned int vc)
{
	unsigned int in = tn_dir_opposite(&f->shape, port), n;
	const struct tn_link *l = &f->node[node].nic->link[port];
	const struct tn_link *before = &f->node[node].nic->link[in];
	const struct tn_pkt *pkt;

	n = l->credit.critical[vc] + before->credit.owed_critical[vc];
	for (pkt = l->retry.tx.sent.head; pkt; pkt = pkt->next) {
		if (pkt->hdr.type == TN_CREDIT && pkt->hdr.nic && pkt->hdr.vc == vc &&
		    pkt->hdr.dst && !accepted(f, node, port, l->session, pkt->hdr.tseq))
			n++;
	}
	for (pkt = before->retry.tx.sent.head; pkt; pkt = pkt->next) {
		if (pkt->vccr_set && pkt->hdr.crp_vc == vc && pkt->hdr.crp >> TN_CRP_CRITICAL &&
		    !accepted(f, node, in, before->session, pkt->hdr.tseq))
			n++;
	}
	return n;
}

unsigned int fabric_critical(const struct fabric *f, u32 node, unsigned int port,
			     unsigned int vc, bool *closed)
{
	unsigned int n = 0, pp;
	u32 at = node;

	*closed = true;
	do {
		*closed &= whole(f, at, port);
		n += critical_at(f, at, port, vc);
		at = fabric_peer(f, at, port, &pp);
	} while (at != node);
	return n;
}

/*
 * Checks that a closed ring has a critical bubble, and that no output counts two, or more than are
 * free.
 */
static void check_critical(struct fabric *f, u32 node, unsigned int port, unsigned int vc)
{
	bool closed;
	unsigned int n = fabric_critical(f, node, port, vc, &closed);

	expect(&f->r, n || !closed, "ring of node %u, port %u, VC %u has no bubble", node, port,
	       vc);
}

static void check_marks(struct fabric *f)
{
	for (u32 i = 0; i < f->n; i++) {
		for (unsigned int p = 0; p < f->nports; p++) {
			const struct tn_link *l = &f->node[i].nic->link[p];

			for (unsigned int vc = 0; vc < TORUS_VCS; vc++)
				expect(&f->r, l->credit.critical[vc] <= (vc != TORUS_VC_A) &&
				       (l->state != TORUS_LINK_UP || l->credit.critical[vc] <=
					tn_credit_free(&l->credit, vc)),
				       "node %u, port %u, VC %u: %u critical of %u", i, p, vc,
				       l->credit.critical[vc], tn_credit_free(&l->credit, vc));
		}
	}
}

static void check_bubbles(struct fabric *f)
{
	bool marks = f->params.bubble != TORUS_BUBBLE_BLOC;

	for (u32 i = 0; i < f->n; i++) {
		const struct torus_coords *at = &f->node[i].at;

		for (unsigned int p = 0; p < f->nports; p++) {
			if (fabric_wired(f, p) && !at->c[tn_dir_dim(&f->shape, p)]) {
				check_ring(f, i, p, TORUS_VC_D0);
				check_ring(f, i, p, TORUS_VC_D1);
				if (marks) {
					check_critical(f, i, p, TORUS_VC_D0);
					check_critical(f, i, p, TORUS_VC_D1);
				}
			}
		}
	}
	if (marks)
		check_marks(f);
}

/* --- relays ---------------------------------------------------------------------- */

static void check_relay(struct fabric *f, u32 node, const struct census *c)
{
	const struct tn_relay *r = &f->node[node].nic->relay;

	expect(&f->r, c->waiting <= r->capacity + r->riders && r->riders <= TN_RELAY_RIDERS,
	       "relay %u holds %u", node, c->waiting);
}

/* Checks that no more packets of a window are in the network than the window counts. */
static void check_windows(struct fabric *f, const struct census *c)
{
	for (u32 i = 0; i < f->n; i++) {
		const struct tn_relay *r = &f->node[i].nic->relay;

		expect(&f->r, c->live[i] <= r->out && r->out <= r->window,
		       "window of node %u: %u packets, %u known, %u allowed", i, c->live[i], r->out,
		       r->window);
	}
}

/* --- all of it ------------------------------------------------------------------- */

static void check_node(struct fabric *f, const struct node *n, struct census *c)
{
	memset(c->held, 0, sizeof(c->held));
	c->waiting = 0;
	count_inputs(f, n->nic, c);
	count_sent(f, n, c);
	count_parked(f, n, c);
	check_balance(f, n, c);
	if (c->live)
		check_relay(f, n->id, c);
}

void fabric_check(struct fabric *f)
{
	struct census c = { 0 };

	if (!f->unchecked && (f->relays || f->reroute)) {
		c.live = calloc(f->n, sizeof(*c.live));
		assert_non_null(c.live);
	}
	for (u32 i = 0; i < f->n; i++)
		check_node(f, &f->node[i], &c);
	if (f->unchecked)
		return;
	f->checks++;
	check_bubbles(f);
	if (c.live)
		check_windows(f, &c);
	if (!f->lossy)
		check_sums(f, &c);
	free(c.live);
}
