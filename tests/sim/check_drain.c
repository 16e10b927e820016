// SPDX-License-Identifier: GPL-2.0-only
/*
 * At the moment when a node begins to replay or lets flows go, as the root said that the
 * network is drained and proved it: no NIC that takes part in the version has a packet of
 * an older colour, looked at packet by packet.
 */
#include <stdio.h>

#include "check.h"
#include "daemon/fm/root.h"
#include "kernel/core/nic_impl.h"
#include "tools/fabricsim/world_impl.h"

/*
 * The far end of a cable has not accepted what waits here for its acknowledgement. What one
 * that died or began anew had is not known: this may be a copy of what went on from there.
 */
static bool refused(const struct world *w, uint32_t node, unsigned int port, u32 session,
		    u16 tseq)
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
	/* It may be past that session already, where the other end has not noticed its end. */
	return far->last_session == session && !tn_seq_before(tseq, far->last_rseq);
}

static unsigned int older(const struct tn_nic *nic, const struct tn_pkt *pkt)
{
	return tn_counts(pkt) && pkt->hdr.colour != nic->colour;
}

/* The same of one that is parked, since its link failed just now. */
static bool refused_by_any(const struct world *w, uint32_t node, const struct tn_pkt *pkt)
{
	for (unsigned int p = 0; p < w->nports; p++)
		if (refused(w, node, p, pkt->session, pkt->hdr.tseq))
			return true;
	return false;
}

/* Packets of an older colour in the NIC of @node. */
static unsigned int left_in(const struct world *w, uint32_t node)
{
	const struct tn_nic *nic = w->node[node].nic;
	const struct tn_pkt *pkt;
	unsigned int n = 0;

	for (unsigned int i = 0; i < TN_INPUTS; i++)
		for (pkt = nic->input[i].head; pkt; pkt = pkt->next)
			n += older(nic, pkt);
	for (unsigned int p = 0; p < w->nports; p++)
		for (pkt = nic->link[p].retry.tx.sent.head; pkt; pkt = pkt->next)
			n += older(nic, pkt) &&
			     refused(w, node, p, nic->link[p].session, pkt->hdr.tseq);
	for (pkt = nic->park.q.head; pkt; pkt = pkt->next)
		n += pkt->unresolved && older(nic, pkt) && refused_by_any(w, node, pkt);
	return n;
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

	if (!root || !root->root || root->table.version != version ||
	    root->root->rec.phase < FM_PHASE_REPLAY || root->root->rec.log.bounded)
		return NULL;
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (!takes_part(root, w, i) || w->node[i].nic->version != version ||
		    !left_in(w, i))
			continue;
		snprintf(buf, room, "version %llu is proven to be drained, and node %u has %u older packets",
			 (unsigned long long)version, i, left_in(w, i));
		return buf;
	}
	return NULL;
}
