// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the root's proof that the network is drained, packet by packet: when a node begins to
 * replay or lifts its holds, no NIC that takes part in the version may have a packet of an older
 * colour in the network.
 *
 * A drain that ended without proof, by drain_max, is checked in the same way where the root must
 * have waited until nothing moved: no node is silent, so no NIC puts in older packets, and no link
 * that the table has as up loses everything, or did until shortly before the end, so no packet
 * waits for such a link.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check_impl.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "kernel/core/nic_impl.h"

#define ALL_COLOURS ((1u << TORUS_COLOURS) - 1)

/* As not_accepted(), for a parked packet: that has no port, but its session belongs to a port. */
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
	default:	/* not in the network: it has no colour yet, or has arrived */
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

/*
 * Return: true if @node takes part. It is looked up by GUID: its id is another one as long as the
 * discovered shape is a part of the world's.
 */
static bool takes_part(const struct fm *root, const struct world *w, uint32_t node)
{
	const struct wnode *n = &w->node[node];

	return n->nic && fm_table_takes(root, fm_table_find(root, n->guid), n->guid, n->epoch);
}

/* A root of a later epoch may have made tables since, whose packets have any colour. */
static bool is_superseded(const struct fm *root, const struct world *w)
{
	for (uint32_t i = 0; i < w->nodes; i++)
		if (w->node[i].on && w->node[i].by_epoch > fm_epoch(root))
			return true;
	return false;
}

/* Return: true if that port of the NIC is down in the table. */
static bool is_known_down(const struct fm *root, uint64_t guid, unsigned int port)
{
	const struct fm_entry *e = fm_node(root, fm_table_find(root, guid));

	return !e || e->fault & 1u << port;
}

/*
 * A link loses all, or did when the drain ended, and no NIC has given it up yet, or only since the
 * table was made, perhaps after the drain: packets wait for its end, and others behind them. If it
 * was mended less than drain_max before the drain ended, they move again, perhaps only after the
 * last count.
 */
static bool is_stuck(const struct fm *root, const struct world *w)
{
	uint64_t drained = fm_recovery_log(root->root)->at[FM_AT_DRAINED];

	for (uint32_t i = 0; i < w->ncables; i++) {
		const struct cable *k = &w->cable[i];
		bool mended = k->mended && k->mended + root->cfg.drain_max > drained;
		bool lost = k->there && (!world_cable_whole(w, i) || mended);

		for (unsigned int e = 0; e < 2 && lost; e++) {
			const struct wnode *n = &w->node[k->node[e]];

			if (n->nic && (n->nic->link[k->port[e]].state == TORUS_LINK_UP ||
				       !is_known_down(root, n->guid, k->port[e])))
				return true;
		}
	}
	return false;
}

/*
 * Return: true if the NIC of @node may have put in older packets when the drain ended: its node is
 * silent, though perhaps not in the table yet, or was judged dead or silent and has joined since.
 */
static bool may_put_in(const struct fm *root, uint32_t node)
{
	uint64_t drained = fm_recovery_log(root->root)->at[FM_AT_DRAINED];
	const struct fm_entry *e = fm_node(root, node);
	const struct fm_record *m = fm_record_at(root->root, node);

	if (e->state == FM_NODE_SILENT)
		return true;
	if (!m || m->guid != e->guid)
		return false;
	return m->state == FM_NODE_SILENT || (e->state == FM_NODE_DEAD && m->state == FM_NODE_UP) ||
	       (e->state == FM_NODE_UP && m->stated.received > drained);
}

/*
 * Return: true if no packet of an older colour may be left although there was no proof: the root counts
 * on no NIC that still puts some in, and so it has waited until none moved for drain_max. Packets
 * that are missing then were in NICs that died.
 */
static bool is_at_rest(const struct fm *root, const struct world *w)
{
	for (uint32_t i = 0; fm_node(root, i); i++)
		if (may_put_in(root, i))
			return false;
	return !is_stuck(root, w);
}

const char *check_drain(const struct fm *root, struct world *w, uint64_t version, char *buf, size_t room)
{
	uint8_t older = (uint8_t)(ALL_COLOURS & ~(1u << version % TORUS_COLOURS));
	bool proven;

	if (!root || !root->root || root->table.version != version ||
	    fm_recovery_phase(root->root) < FM_PHASE_REPLAY || is_superseded(root, w))
		return NULL;
	proven = !fm_recovery_log(root->root)->bounded;
	if (!proven && !is_at_rest(root, w))
		return NULL;
	for (uint32_t i = 0; i < w->nodes; i++) {
		if (!takes_part(root, w, i) || w->node[i].nic->version != version ||
		    !left_in(w, i, older, true))
			continue;
		snprintf(buf, room,
			 "the drain of version %llu is %s, but node %u has %u older packets",
			 (unsigned long long)version, proven ? "proven" : "bounded", i,
			 left_in(w, i, older, true));
		return buf;
	}
	return NULL;
}

/* Return: true if the table counts on that NIC: its node is up, or silent. */
static bool is_counted_on(const struct fm *fm, const struct wnode *n)
{
	const struct fm_entry *e = fm_node(fm, fm_table_find(fm, n->guid));

	return e && e->epoch == n->epoch && e->state != FM_NODE_DEAD && e->state != FM_NODE_ABSENT;
}

/*
 * Return: true if packets may pass over the cable: both ends are up, and none is closed until a
 * replay.
 */
static bool is_open(const struct world *w, const struct cable *k)
{
	for (unsigned int e = 0; e < 2; e++) {
		const struct tn_nic *nic = k->there ? w->node[k->node[e]].nic : NULL;

		if (!nic || nic->link[k->port[e]].state != TORUS_LINK_UP || nic->link[k->port[e]].closed)
			return false;
	}
	return true;
}

/* Marks the nodes whose packets may reach a NIC that the table of @fm counts on; NULL: all. */
static void find_joined(const struct world *w, const struct fm *fm, bool *joined)
{
	bool more = true;

	for (uint32_t i = 0; i < w->nodes; i++)
		joined[i] = !fm || is_counted_on(fm, &w->node[i]);
	while (more) {
		more = false;
		for (uint32_t i = 0; i < w->ncables; i++) {
			const struct cable *k = &w->cable[i];

			if (joined[k->node[0]] == joined[k->node[1]] || !is_open(w, k))
				continue;
			joined[k->node[0]] = joined[k->node[1]] = more = true;
		}
	}
}

/*
 * Return: true if the root knew of no clean colour when it made its first table. Packets of any
 * colour may be left then, and another table must follow whose drain is of that colour, too.
 */
static bool any_colour_left(struct world *w, uint64_t version)
{
	const struct fm *fm = world_fm(w, world_root(w));

	return fm && fm->root && fm->root->version == version && !fm->root->clean &&
	       fm_demand_is(fm->root);
}

const char *check_colour(struct world *w, uint32_t node, uint64_t version, char *buf,
			 size_t room)
{
	const struct fm *fm = world_fm(w, node);
	uint8_t colour = (uint8_t)(1u << version % TORUS_COLOURS);
	bool *joined;

	/*
	 * Only at the first switch: later there are packets of the new version with this colour.
	 * A NIC whose manager does not follow goes on stamping its old colour, which may be this
	 * one. The root knows that it has no proof then, so these packets do not count. Nor do
	 * those in a part with which no link joins it: whoever leads them together knows of them.
	 */
	for (uint32_t i = 0; i < w->nodes; i++)
		if (i != node && w->node[i].on && w->node[i].nic->version >= version)
			return NULL;
	if (any_colour_left(w, version))
		return NULL;
	joined = calloc(w->nodes, sizeof(*joined));
	if (!joined)
		abort();
	find_joined(w, fm, joined);
	buf[0] = '\0';
	for (uint32_t i = 0; i < w->nodes && !buf[0]; i++)
		if (w->node[i].on && joined[i] && left_in(w, i, colour, false))
			snprintf(buf, room, "version %llu begins, but node %u has %u packets of its colour",
				 (unsigned long long)version, i, left_in(w, i, colour, false));
	free(joined);
	return buf[0] ? buf : NULL;
}
