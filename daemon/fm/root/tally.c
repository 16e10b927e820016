// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes that take part in the present version: their number, and the sum of their fingerprints.
 * Both are updated for changed nodes only, not added up for each report (changes.c).
 */
#include <stdlib.h>

#include "daemon/fm/root/tally.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "lib/deps/invariant.h"

/**
 * struct fm_counted - how each place of the table was counted last
 * @kind: enum fm_part, by node id
 * @print: the fingerprint that @sum contains, by node id; 0: none
 * @sum: the result
 */
struct fm_counted {
	uint8_t *kind;
	uint64_t *print;
	struct fm_tally sum;
};

void fm_tally_free(struct fm_root *r)
{
	struct fm_counted *c = r->counted;

	if (c) {
		free(c->print);
		free(c->kind);
	}
	free(c);
	r->counted = NULL;
}

bool fm_tally_new(struct fm_root *r, uint32_t nodes)
{
	struct fm_counted *c = calloc(1, sizeof(*c));

	r->counted = c;
	if (c) {
		c->print = calloc(nodes, sizeof(*c->print));
		c->kind = calloc(nodes, sizeof(*c->kind));
		if (c->print && c->kind)
			return true;
	}
	fm_tally_free(r);
	return false;
}

/* Return: how @node counts by the present table and roster. */
static enum fm_part find_part(const struct fm *fm, uint32_t node)
{
	const struct fm_entry *e = &fm->table.entry[node];
	const struct fm_record *m = fm_record_at(fm->root, node);

	if (fm_table_counts(e) && m && m->guid == e->guid && m->epoch == e->epoch &&
	    m->state == FM_NODE_UP)
		return FM_PART_TAKES;
	/*
	 * If the node was judged dead since the table was made, no link joins it to nodes that take
	 * part. If its NIC was restarted, it has no older packets. If the node is silent and has
	 * never joined this root, it is not known whether its NIC was restarted.
	 */
	if (m && m->guid == e->guid && m->state == FM_NODE_DEAD)
		return FM_PART_NONE;
	if (m && m->guid == e->guid && e->epoch && m->epoch != e->epoch)
		return fm_table_counts(e) ? FM_PART_ANEW : FM_PART_NONE;
	/*
	 * A NIC that works but does not take part still sends packets of an older colour. So does
	 * the NIC of a node that was judged dead, is back, and waits for the next table.
	 */
	if (e->state == FM_NODE_DEAD && m && m->state == FM_NODE_UP && m->guid == e->guid &&
	    m->epoch == e->epoch)
		return FM_PART_LIVES;
	return e->state == FM_NODE_UP || e->state == FM_NODE_SILENT ? FM_PART_LIVES : FM_PART_NONE;
}

static void count_node(const struct fm *fm, struct fm_counted *c, uint32_t node)
{
	const struct fm_entry *e = &fm->table.entry[node];
	struct fm_tally *t = &c->sum;

	invariant(c->kind[node] == FM_PART_NONE || t->parts[c->kind[node]]);
	invariant(!c->print[node] || c->kind[node] == FM_PART_TAKES);
	t->set -= c->print[node];
	t->parts[c->kind[node]]--;
	c->kind[node] = (uint8_t)find_part(fm, node);
	c->print[node] = c->kind[node] == FM_PART_TAKES ? fm_fingerprint(e->guid, e->epoch) : 0;
	t->parts[c->kind[node]]++;
	t->set += c->print[node];
}

const struct fm_tally *fm_tally(const struct fm *fm)
{
	static const struct fm_tally none;
	struct fm_counted *c = fm->root->counted;
	uint32_t node;

	if (!c)
		return &none;
	while (fm_unmark(&fm->root->changes.part, &node))
		count_node(fm, c, node);
	return &c->sum;
}

enum fm_part fm_tally_part(const struct fm *fm, uint32_t node)
{
	fm_tally(fm);
	return fm->root->counted->kind[node];
}

void fm_tally_applied(struct fm *fm)
{
	struct fm_root *r = fm->root;
	bool left = false;

	for (uint32_t i = 0; r->bare && i < fm_roster_size(r); i++) {
		struct fm_record *m = fm_record_no(r, i);

		m->bare &= m->node == TORUS_NO_NODE || fm_tally_part(fm, m->node) != FM_PART_TAKES;
		left |= m->bare && m->guid;
	}
	r->bare = left;
}
