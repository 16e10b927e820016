// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes that take part in the version at hand: their number, and the sum of their fingerprints.
 * Both are kept up to date instead of being added up for each report (changes.c).
 */
#include <stdlib.h>

#include "daemon/fm/root/tally.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"

void fm_tally_free(struct fm_root *r)
{
	free(r->tally.counted);
	free(r->tally.kind);
	r->tally = (struct fm_tally) { .set = 0 };
}

bool fm_tally_start(struct fm_root *r, uint32_t nodes)
{
	r->tally.counted = calloc(nodes, sizeof(*r->tally.counted));
	r->tally.kind = calloc(nodes, sizeof(*r->tally.kind));
	if (r->tally.counted && r->tally.kind)
		return true;
	fm_tally_free(r);
	return false;
}

static enum fm_part part_of(const struct fm *fm, uint32_t node)
{
	const struct fm_entry *e = &fm->table.entry[node];
	const struct fm_mate *m = fm_mate_at(fm->root, node);

	if (fm_table_counts(e) && m && m->guid == e->guid && m->epoch == e->epoch &&
	    m->state == FM_NODE_UP)
		return FM_PART_TAKES;
	/*
	 * No link joins those who take part to who was judged dead since, and nothing older to
	 * who started anew. Of a silent node whose NIC the root never met no epoch is known.
	 */
	if (m && m->guid == e->guid && m->state == FM_NODE_DEAD)
		return FM_PART_NONE;
	if (m && m->guid == e->guid && e->epoch && m->epoch != e->epoch)
		return fm_table_counts(e) ? FM_PART_ANEW : FM_PART_NONE;
	/*
	 * A NIC that lives and does not take part goes on stamping an older colour; so does
	 * one that was judged dead, is back, and waits for the next table.
	 */
	if (e->state == FM_NODE_DEAD && m && m->state == FM_NODE_UP && m->guid == e->guid &&
	    m->epoch == e->epoch)
		return FM_PART_LIVES;
	return e->state == FM_NODE_UP || e->state == FM_NODE_SILENT ? FM_PART_LIVES : FM_PART_NONE;
}

static void count_node(const struct fm *fm, struct fm_tally *t, uint32_t node)
{
	const struct fm_entry *e = &fm->table.entry[node];

	t->set -= t->counted[node];
	t->parts[t->kind[node]]--;
	t->kind[node] = (uint8_t)part_of(fm, node);
	t->counted[node] = t->kind[node] == FM_PART_TAKES ? fm_fingerprint(e->guid, e->epoch) : 0;
	t->parts[t->kind[node]]++;
	t->set += t->counted[node];
}

const struct fm_tally *fm_tally(const struct fm *fm)
{
	struct fm_tally *t = &fm->root->tally;
	uint32_t node;

	while (fm_unmark(&fm->root->changes.part, &node))
		count_node(fm, t, node);
	return t;
}

void fm_tally_applied(struct fm *fm)
{
	const struct fm_tally *t = fm_tally(fm);
	struct fm_root *r = fm->root;
	bool left = false;

	for (uint32_t i = 0; r->bare && i < fm_roster_size(r); i++) {
		struct fm_mate *m = fm_mate_no(r, i);

		m->bare &= m->node == TORUS_NO_NODE || t->kind[m->node] != FM_PART_TAKES;
		left |= m->bare && m->guid;
	}
	r->bare = left;
}
