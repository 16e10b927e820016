// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what changed
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
 * In the same way who takes part is counted anew only for them (tally.c).
 */
#include <stdlib.h>
#include <torus/topology.h>

#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/root.h"

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

bool fm_changes_start(struct fm_root *r, uint32_t nodes)
{
	struct fm_changes *c = &r->changes;

	if (!marks_start(&c->table, nodes) || !marks_start(&c->odd, nodes) ||
	    !marks_start(&c->differ, nodes) || !marks_start(&c->closed, nodes) || !marks_start(&c->part, nodes)) {
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
}

void fm_change_place(struct fm *fm, uint32_t node)
{
	struct fm_changes *c = &fm->root->changes;

	fm_change_node(fm, node);
	for (unsigned int p = 0; node < c->nodes && p < 2 * fm->ndims; p++)
		fm_mark(&c->table, torus_neighbour(&fm->table.shape, node, p));
}
