// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what changed, and who takes part
 *
 * A root of a large fabric cannot look at all nodes for each table or report: a
 * cut cable concerns two. So whoever changes something about a node that its entry
 * is made from (mate, row, place, exclusions, holds) tells it here, and the next
 * table is made from those nodes alone.
 *
 * An entry depends on other nodes by its wiring only (wiring.c). As long as each port
 * that is up leads to the node that is due there, that changes with the own row or
 * with who stands beside, and a node that comes or goes tells its neighbours'
 * numbers too. Nodes with any other cable are odd, and looked at for each table.
 *
 * In the same way the number and fingerprint of those who take part are kept up to
 * date instead of being added up for each report.
 */
#include <stdlib.h>
#include <torus/topology.h>

#include "daemon/fm/root/tally.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"

static bool marks_start(struct fm_marks *m, uint32_t nodes)
{
	m->is = calloc(nodes, sizeof(*m->is));
	m->node = malloc(nodes * sizeof(*m->node));
	return m->is && m->node;
}

static void marks_free(struct fm_marks *m)
{
	free(m->is);
	free(m->node);
	*m = (struct fm_marks) { .n = 0 };
}

void fm_mark(struct fm_marks *m, uint32_t node)
{
	if (m->is[node])
		return;
	m->is[node] = true;
	m->node[m->n++] = node;
}

bool fm_unmark(struct fm_marks *m, uint32_t *node)
{
	if (!m->n)
		return false;
	*node = m->node[--m->n];
	m->is[*node] = false;
	return true;
}

void fm_tally_free(struct fm_root *r)
{
	struct fm_tally *t = &r->tally;

	marks_free(&t->table);
	marks_free(&t->odd);
	marks_free(&t->closed);
	marks_free(&t->part);
	free(t->counted);
	free(t->kind);
	*t = (struct fm_tally) { .nodes = 0 };
}

bool fm_tally_start(struct fm *fm, uint32_t nodes)
{
	struct fm_tally *t = &fm->root->tally;

	fm_tally_free(fm->root);
	t->counted = calloc(nodes, sizeof(*t->counted));
	t->kind = calloc(nodes, sizeof(*t->kind));
	if (!t->counted || !t->kind || !marks_start(&t->table, nodes) ||
	    !marks_start(&t->odd, nodes) || !marks_start(&t->closed, nodes) ||
	    !marks_start(&t->part, nodes)) {
		fm_tally_free(fm->root);
		return false;
	}
	t->nodes = nodes;
	return true;
}

void fm_tally_node(struct fm *fm, uint32_t node)
{
	struct fm_tally *t = &fm->root->tally;

	if (node >= t->nodes)
		return;
	fm_mark(&t->table, node);
	fm_mark(&t->closed, node);
	fm_mark(&t->part, node);
}

void fm_tally_place(struct fm *fm, uint32_t node)
{
	struct fm_tally *t = &fm->root->tally;

	fm_tally_node(fm, node);
	for (unsigned int p = 0; node < t->nodes && p < 2 * fm->ndims; p++)
		fm_mark(&t->table, torus_neighbour(&fm->table.shape, node, p));
}

/* --- who takes part ------------------------------------------------------------ */

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
	if (m && m->guid == e->guid &&
	    (m->state == FM_NODE_DEAD || (e->epoch && m->epoch != e->epoch)))
		return FM_PART_NONE;
	/*
	 * A NIC that lives and does not take part goes on stamping an older colour; so does
	 * one that was judged dead, is back, and waits for the next table.
	 */
	if (e->state == FM_NODE_DEAD && m && m->state == FM_NODE_UP && m->guid == e->guid &&
	    m->epoch == e->epoch)
		return FM_PART_LIVES;
	return e->state == FM_NODE_UP || e->state == FM_NODE_SILENT ? FM_PART_LIVES : FM_PART_NONE;
}

static void count(const struct fm *fm, struct fm_tally *t, uint32_t node)
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

	while (fm_unmark(&t->part, &node))
		count(fm, t, node);
	return t;
}
