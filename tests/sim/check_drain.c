// SPDX-License-Identifier: GPL-2.0-only
/*
 * At the moment when a node begins to replay or lets flows go, as the root said that the
 * network is drained and proved it: no NIC that takes part in the version has a packet of
 * an older colour, looked at packet by packet.
 */
#include <stdio.h>

#include "check_impl.h"
#include "daemon/fm/root.h"
#include "kernel/core/nic_impl.h"

#define ALL_COLOURS ((1u << TORUS_COLOURS) - 1)

/* The same of one that is parked, since its link failed just now. */
static bool not_accepted_by_any(const struct world *w, uint32_t node, const struct tn_pkt *pkt)
{
	for (unsigned int p = 0; p < w->nports; p++)
		if (not_accepted(w, node, p, pkt->session, pkt->hdr.tseq))
			return true;
	return false;
}

/**
 * struct left - packets in the network that the NIC of @node has
 * @colours: a mask of those that are counted
 * @asleep: so are packets of a source whose NIC still stamps that colour
 */
struct left {
	const struct world *w;
	uint32_t node;
	uint8_t colours;
	bool asleep;
	unsigned int n;
};

static bool is_counted(const struct left *l, const struct tn_pkt *pkt)
{
	const struct tn_nic *src = l->w->node[pkt->hdr.src % l->w->nodes].nic;

	return tn_counts(pkt) && l->colours >> pkt->hdr.colour & 1 &&
	       (l->asleep || !src || src->colour != pkt->hdr.colour);
}

static bool count_left(void *arg, const struct tn_pkt *pkt, enum where where, unsigned int port)
{
	struct left *l = arg;
	const struct tn_nic *nic = l->w->node[l->node].nic;

	if (!is_counted(l, pkt))
		return false;
	switch (where) {
	case IN_INPUT:
		l->n++;
		break;
	case IN_RETRY:
		l->n += not_accepted(l->w, l->node, port, nic->link[port].session, pkt->hdr.tseq);
		break;
	case IN_PARKING:
		l->n += pkt->unresolved && not_accepted_by_any(l->w, l->node, pkt);
		break;
	default:	/* not stamped yet, or arrived */
		break;
	}
	return false;
}

static unsigned int left_in(const struct world *w, uint32_t node, uint8_t colours, bool asleep)
{
	struct left l = { .w = w, .node = node, .colours = colours, .asleep = asleep };

	each_packet(w, node, count_left, &l);
	return l.n;
}

static bool takes_part(const struct fm *root, const struct world *w, uint32_t node)
{
	const struct fm_entry *e = &root->table.entry[node];
	const struct wnode *n = &w->node[node];

	return n->nic && fm_table_counts(e) && e->guid == n->guid && e->epoch == n->epoch;
}

const char *check_drain(struct world *w, uint64_t version, char *buf, size_t room)
{
	const struct fm *root = world_fm(w, world_root(w));
	uint8_t older = (uint8_t)(ALL_COLOURS & ~(1u << version % TORUS_COLOURS));

	if (!root || !root->root || root->table.version != version ||
	    root->root->rec.phase < FM_PHASE_REPLAY || root->root->rec.log.bounded)
		return NULL;
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (!takes_part(root, w, i) || w->node[i].nic->version != version ||
		    !left_in(w, i, older, true))
			continue;
		snprintf(buf, room, "version %llu is proven to be drained, and node %u has %u older packets",
			 (unsigned long long)version, i, left_in(w, i, older, true));
		return buf;
	}
	return NULL;
}

const char *check_colour(struct world *w, uint32_t node, uint64_t version, char *buf,
			 size_t room)
{
	uint8_t colour = (uint8_t)(1u << version % TORUS_COLOURS);

	/*
	 * Only the first to switch has none of its own. A NIC whose manager sleeps goes on
	 * with the colour that it has: what it sends is known to be without proof.
	 */
	for (uint32_t i = 0; i < w->nodes; i++)
		if (i != node && w->node[i].on && w->node[i].nic->version >= version)
			return NULL;
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (!w->node[i].on || !left_in(w, i, colour, false))
			continue;
		snprintf(buf, room, "version %llu begins, and node %u has %u packets of its colour",
			 (unsigned long long)version, i, left_in(w, i, colour, false));
		return buf;
	}
	return NULL;
}
