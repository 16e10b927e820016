// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: parts that meet
 *
 * A fabric that is cut in two may have two roots, and the administrator may exclude ports in both parts.
 * When a cable is mended the nodes of one part join the root of the other, whose table says nothing of
 * what was decided in theirs.
 *
 * Each table says from which tables it comes: its line, which has the last table of each former root
 * that the next one began with. All that was decided in a table of the line, or before one, is known in
 * that table. A node that joins with a table that is not in the line comes from another part, or has the
 * last word of a root that died, which nobody else heard. Then
 *
 *	what is excluded in either part stays excluded.
 *
 * Each node tells of its own ports, and of those at the far ends of its cables, for neighbours whose
 * managers do not answer. So no exclusion that was acknowledged is forgotten.
 *
 * A table does not say when a port was excluded, before the parts were separated or after. So what was
 * excluded before, and was included meanwhile in the part that now joins, may be excluded again, if the
 * other part has it so, until the administrator includes it once more. What the root includes that the
 * others join stays included, but for cables between the parts. A line has room for FM_LINE_MAX tables:
 * a node with an older one counts as of another part. The log names what is excluded by this.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/parts.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"

#define COALESCE (2 * MS)	/* others of that part join, too */

/* Whether the table with which the node has come is in the line of the root's, or of this root. */
static bool in_line(const struct fm *fm, const struct fm_voice *v)
{
	const struct fm_line *l = &fm->root->quorum.line;

	if (v->term == fm->uplink.term && v->root == fm->guid)
		return true;
	for (unsigned int i = 0; i < l->n; i++)
		if (l->past[i].epoch == v->term && l->past[i].root == v->root)
			return v->table <= l->past[i].version;
	return false;
}

/* Excludes ports of @node, and names the first in @text. Return: how many were not excluded here. */
static unsigned int exclude(struct fm *fm, uint32_t node, uint16_t mask, char *text, size_t room)
{
	char at[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];
	uint16_t *admin = &fm->root->admin[node];

	mask &= (uint16_t)~*admin;
	if (!mask)
		return 0;
	*admin |= mask;
	fm_change_node(fm, node);
	if (!text[0])
		snprintf(text, room, "%s:%s", torus_node_text(&fm->table.shape, node, at),
			 torus_port_text(fm->ndims, (unsigned int)__builtin_ctz(mask), port));
	return (unsigned int)__builtin_popcount(mask);
}

static void merge(struct fm *fm, const struct fm_mate *m)
{
	const struct torus_shape *shape = &fm->table.shape;
	const struct fm_voice *v = &m->voice;
	uint16_t all = (uint16_t)((1u << 2 * shape->ndims) - 1);
	char text[2 * TORUS_TEXT_MAX] = "";
	unsigned int n;

	if (!v->table || memcmp(&v->shape, shape, sizeof(*shape)) || in_line(fm, v))
		return;
	n = exclude(fm, v->at, v->admin & all, text, sizeof(text));
	for (unsigned int p = 0; p < 2u * shape->ndims; p++)
		if (v->across & 1u << p)
			n += exclude(fm, torus_neighbour(shape, v->at, p),
				     (uint16_t)(1u << torus_dir_opposite(shape, p)), text, sizeof(text));
	if (!n)
		return;
	fm_say(fm, FM_WARNING, "table", "'%s' had another root: %u port%s excluded there stay%s so, %s first",
	       m->name, n, n == 1 ? "" : "s", n == 1 ? "s" : "", text);
	if (fm->root->settled)
		fm_demand(fm, COALESCE, "excluded %s in another part", text);
}

void fm_parts_hello(struct fm *fm, const struct fm_mate *m)
{
	if (fm->root->settled)
		merge(fm, m);
}

void fm_parts_end(struct fm *fm)
{
	struct fm_root *r = fm->root;
	const struct fm_told *t = &r->told;
	struct fm_line *l = &r->quorum.line;

	if (t->table)
		l->past[l->n++] = (struct fm_past) { .epoch = t->epoch, .version = t->table, .root = t->root };
	for (unsigned int i = 0; i < t->line.n && l->n < FM_LINE_MAX; i++)
		l->past[l->n++] = t->line.past[i];
	for (uint32_t i = 0; i < r->nmates; i++)
		merge(fm, &r->mate[i]);
}
