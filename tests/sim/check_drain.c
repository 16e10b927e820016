// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the root's proof that the network is drained, packet by packet: when a node begins to
 * replay or lifts its holds, no NIC that takes part in the version may have a packet of an older
 * colour in the network.
 */
#include <stdio.h>

#include "check_impl.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/root.h"
#include "kernel/core/nic_impl.h"

#define ALL_COLOURS ((1u << TORUS_COLOURS) - 1)

/* not_accepted() for a parked packet. It has no port, but its session belongs to one. */
static bool not_accepted_by_any(const struct world *w, uint32_t node, const struct tn_pkt *pkt)
{
	for (unsigned int p = 0; p < w->nports; p++)
		if (not_accepted(w, node, p, pkt->session, pkt->hdr.tseq))
			return true;
	return false;
}

/**
 * struct left - counts the packets in the network that are in the NIC of @node
 * @colours: mask of the colours to count
 * @asleep: also count packets whose source still stamps their colour, because its manager did
 *	not follow
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
	default:	/* not in the network: not stamped yet, or arrived */
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

/* Its id is another one as long as the shape that was discovered is a part of the world's. */
static bool takes_part(const struct fm *root, const struct world *w, uint32_t node)
{
	const struct wnode *n = &w->node[node];

	return n->nic && fm_table_takes(root, fm_table_find(root, n->guid), n->guid, n->epoch);
}

const char *check_drain(const struct fm *root, struct world *w, uint64_t version, char *buf, size_t room)
{
	uint8_t older = (uint8_t)(ALL_COLOURS & ~(1u << version % TORUS_COLOURS));

	if (!root || !root->root || root->table.version != version ||
	    root->root->rec.phase < FM_PHASE_REPLAY || root->root->rec.log.bounded)
		return NULL;
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (!takes_part(root, w, i) || w->node[i].nic->version != version ||
		    !left_in(w, i, older, true))
			continue;
		snprintf(buf, room,
			 "the drain of version %llu is proven, but node %u has %u older packets",
			 (unsigned long long)version, i, left_in(w, i, older, true));
		return buf;
	}
	return NULL;
}

/* Whether its packets may reach nodes that the table counts on: the node is up, or silent. */
static bool is_joined(const struct fm *fm, const struct wnode *n)
{
	const struct fm_entry *e = fm ? fm_node(fm, fm_table_find(fm, n->guid)) : NULL;

	return !fm || (e && e->epoch == n->epoch && e->state != FM_NODE_DEAD && e->state != FM_NODE_ABSENT);
}

const char *check_colour(struct world *w, uint32_t node, uint64_t version, char *buf,
			 size_t room)
{
	const struct fm *fm = world_fm(w, node);
	uint8_t colour = (uint8_t)(1u << version % TORUS_COLOURS);

	/*
	 * Only at the first switch: later there are packets of the new version with this colour.
	 * A NIC whose manager does not follow goes on stamping its old colour, which may be this
	 * one. The root knows that it has no proof then, so these packets do not count. Nor do
	 * those in a part with which no link joins it: whoever leads them together knows of them.
	 */
	for (uint32_t i = 0; i < w->nodes; i++)
		if (i != node && w->node[i].on && w->node[i].nic->version >= version)
			return NULL;
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (!w->node[i].on || !is_joined(fm, &w->node[i]) || !left_in(w, i, colour, false))
			continue;
		snprintf(buf, room, "version %llu begins, but node %u has %u packets of its colour",
			 (unsigned long long)version, i, left_in(w, i, colour, false));
		return buf;
	}
	return NULL;
}
