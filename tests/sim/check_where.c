// SPDX-License-Identifier: GPL-2.0-only
/* Finds the packets of a world in the memory of its NICs. */
#include <stdio.h>

#include "check_impl.h"
#include "kernel/core/nic_impl.h"

typedef bool see_fn(void *arg, const struct tn_pkt *pkt, enum where where, unsigned int port);

static bool each_of(const struct tn_queue *q, enum where where, unsigned int port, see_fn *see,
		    void *arg)
{
	for (const struct tn_pkt *pkt = q->head; pkt; pkt = pkt->next)
		if (see(arg, pkt, where, port))
			return true;
	return false;
}

/* Visits a heap of packets that wait behind a gap, and the heaps linked to it. */
static bool each_waiting(const struct tn_pkt *pkt, see_fn *see, void *arg)
{
	for (; pkt; pkt = pkt->next)
		if (see(arg, pkt, IN_GAP, 0) || each_waiting(pkt->child, see, arg))
			return true;
	return false;
}

bool each_packet(const struct world *w, uint32_t node, see_fn *see, void *arg)
{
	const struct tn_nic *nic = w->node[node].nic;

	if (!nic)
		return false;
	for (unsigned int i = 0; i < TN_INPUTS; i++)
		if (each_of(&nic->input[i], IN_INPUT, 0, see, arg))
			return true;
	for (unsigned int p = 0; p < w->nports; p++)
		if (each_of(&nic->link[p].retry.tx.sent, IN_RETRY, p, see, arg))
			return true;
	for (unsigned int b = 0; b < TN_FLOW_BUCKETS; b++)
		if (each_waiting(nic->flows.wait[b], see, arg))
			return true;
	return each_of(&nic->park.q, IN_PARKING, 0, see, arg) ||
	       each_of(&nic->held, IN_HELD, 0, see, arg) ||
	       each_of(&nic->relay.wait, IN_WINDOW, 0, see, arg);
}

bool not_accepted(const struct world *w, uint32_t node, unsigned int port, uint32_t session,
		  uint16_t tseq)
{
	const struct cable *c = w->node[node].cable[port] < 0 ? NULL :
				&w->cable[w->node[node].cable[port]];
	unsigned int e = c && c->node[0] == node && c->port[0] == port;
	const struct tn_link *far;

	if (!c || !w->node[c->node[e]].nic)
		return false;
	far = &w->node[c->node[e]].nic->link[c->port[e]];
	if (far->session == session)
		return !tn_seq_before(tseq, far->retry.rx.expected);
	/* The far end may have begun a new session, and this end may not know it yet. */
	return far->last_session == session && !tn_seq_before(tseq, far->last_rseq);
}

struct search {
	const struct world *w;
	const struct world_packet *p;
	uint32_t node;
	char *buf;
	size_t room;
};

static bool is_it(void *arg, const struct tn_pkt *pkt, enum where where, unsigned int port)
{
	static const char *const names[] = {
		[IN_INPUT] = "in an input queue", [IN_RETRY] = "in a RETRY buffer",
		[IN_PARKING] = "parked",	  [IN_HELD] = "on hold",
		[IN_WINDOW] = "waiting for the relay window",
	};
	const struct search *s = arg;
	struct world_packet id;

	if (!nic_packet(pkt, &id) || pkt->hdr.type != TN_DATA || id.src != s->p->src ||
	    id.dst != s->p->dst || id.vc != s->p->vc || id.seq != s->p->seq)
		return false;
	if (where == IN_GAP)	/* it has arrived and waits to be delivered in order */
		return false;
	/* The next NIC has accepted the packet, or may have before it died. */
	if (where == IN_RETRY && !not_accepted(s->w, s->node, port,
					       s->w->node[s->node].nic->link[port].session,
					       pkt->hdr.tseq))
		return false;
	snprintf(s->buf, s->room, "at node %u, %s%s", s->node,
		 pkt->unresolved ? "unresolved, " : "", names[where]);
	return true;
}

bool find_packet(const struct world *w, const struct world_packet *p, char *buf, size_t room)
{
	struct search s = { .w = w, .p = p, .buf = buf, .room = room };

	for (s.node = 0; s.node < w->nodes; s.node++)
		if (each_packet(w, s.node, is_it, &s))
			return true;
	return false;
}
