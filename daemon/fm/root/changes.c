// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: changes since the last table
 *
 * The work for a table or a report must not grow with the number of all nodes: a cut cable concerns
 * two of them. So a function that changes an input of a table entry (state of the node, port row,
 * place, exclusions, holds) marks the node here, and the next table is made from the marked nodes
 * alone.
 *
 * Lemma. An entry depends on other nodes only by its wiring (wiring.c). If each port that is up
 * leads to the right node, the wiring changes only with the node's own row, or when a neighbour
 * comes or goes, which marks its neighbours, too. A node with any other cable is "odd", and its
 * entry is made again for each table.
 *
 * In the same way the nodes that take part are counted again only for marked nodes (tally.c).
 *
 * Test: tests/unit/test_fm_marks.c.
 */
#include <stdlib.h>
#include <torus/topology.h>

#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/facts.h"
#include "lib/deps/invariant.h"

static bool marks_new(struct fm_marks *m, uint32_t nodes)
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
	invariant(m->is[*node]);
	m->is[*node] = false;
	return true;
}

void fm_changes_free(struct fm_root *r)
{
	struct fm_changes *c = &r->changes;

	marks_free(&c->table);
	marks_free(&c->odd);
	marks_free(&c->differ);
	marks_free(&c->closed);
	marks_free(&c->part);
	c->nodes = 0;
}

bool fm_changes_new(struct fm_root *r, uint32_t nodes)
{
	struct fm_changes *c = &r->changes;

	if (!marks_new(&c->table, nodes) || !marks_new(&c->odd, nodes) ||
	    !marks_new(&c->differ, nodes) || !marks_new(&c->closed, nodes) ||
	    !marks_new(&c->part, nodes)) {
		fm_changes_free(r);
		return false;
	}
	c->nodes = nodes;
	return true;
}

void fm_change_node(struct fm *fm, uint32_t node)
{
	struct fm_changes *c = &fm->root->changes;

	if (node >= c->nodes)
		return;
	fm_mark(&c->table, node);
	fm_mark(&c->closed, node);
	fm_mark(&c->part, node);
	invariant(c->table.n <= c->nodes && c->closed.n <= c->nodes && c->part.n <= c->nodes);
}

void fm_change_place(struct fm *fm, uint32_t node)
{
	struct fm_changes *c = &fm->root->changes;

	fm_change_node(fm, node);
	for (unsigned int p = 0; node < c->nodes && p < 2 * fm->ndims; p++)
		fm_mark(&c->table, torus_neighbour(&fm->table.shape, node, p));
}
