// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: parts that meet
 *
 * A fabric that is cut in two may have two roots, and the administrator may exclude ports in both
 * parts. When a cable is mended, the nodes of one part join the root of the other part, whose table
 * lacks the decisions of their part.
 *
 * Each table names the tables from which it comes: its line, which has the last table of each
 * former root with which the next root began. All decisions of a table of the line, and of tables
 * before it, are in the present table. A node that joins with a table that is not in the line comes
 * from another part, or has the last table of a root that died, which no other node has. Then the
 * exclusions of both stay:
 *
 *  - Each node tells the exclusions of its own ports, and of those at the far ends of its cables,
 *    for neighbours whose managers do not answer.
 *  - But the other part may have excluded ports of nodes that do not take part, nor any neighbour
 *    of theirs. So the root asks one node of each other part for its whole table, before that node
 *    is welcomed and gets another one. If its manager began anew, the root asks for the table that
 *    it has kept (node/keep.c). So no exclusion that was acknowledged is forgotten.
 *
 * A table does not say when a port was excluded, before the parts were separated or after. A port
 * may have been excluded before, and included meanwhile in one part. If the other part still has it
 * excluded, it is excluded again, until the administrator includes it once more. That does not
 * depend on which root leads then, or which node joins first. A line has room for FM_LINE_MAX
 * tables: a node with an older one counts as of another part. The log names the ports that are
 * excluded by this.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/parts.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"

#define COALESCE (2 * MS)	/* others of that part join, too */

/**
 * struct fm_foreign - a table that may be of another part
 * @id, @shape: of it; @kept: it comes from a disk; @admin: mask of ports of each node that it excludes by order
 */
struct fm_foreign {
	struct fm_foreign *next;
	struct fm_past id;
	struct torus_shape shape;
	bool kept;
	uint16_t admin[];
};

static bool is_past(const struct fm_line *l, const struct fm_past *t)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (l->past[i].epoch == t->epoch && (!t->root || l->past[i].root == t->root))
			return t->version <= l->past[i].version;
	return false;
}

/*
 * Return: true if table @t is in the line of this root's tables, or was made by this root. A root
 * that began with a kept table has no line: which of the kept tables counts is then decided by
 * their age (recall.c). @kept: so was this one.
 */
static bool in_line(const struct fm *fm, const struct fm_past *t, bool kept)
{
	if (kept && !fm->root->quorum.line.n)
		return true;
	return (t->epoch == fm->uplink.term && (!t->root || t->root == fm->guid)) ||
	       is_past(&fm->root->quorum.line, t);
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
	const struct fm_past id = { .epoch = v->term, .version = v->table, .root = v->root };
	unsigned int n;

	if (!v->table || memcmp(&v->shape, shape, sizeof(*shape)) || in_line(fm, &id, false))
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

/* --- whole tables of other parts ------------------------------------------------------- */

static void merge_foreign(struct fm *fm, const struct fm_foreign *f)
{
	const struct torus_shape *shape = &fm->table.shape;
	uint16_t all = (uint16_t)((1u << 2 * shape->ndims) - 1);
	char text[2 * TORUS_TEXT_MAX] = "", root[FM_WHO_MAX];
	unsigned int n = 0;

	if (memcmp(&f->shape, shape, sizeof(*shape)) || in_line(fm, &f->id, f->kept))
		return;
	for (uint32_t i = 0; i < torus_nodes(shape); i++)
		n += exclude(fm, i, f->admin[i] & all, text, sizeof(text));
	if (!n)
		return;
	fm_say(fm, FM_WARNING, "table", "root %s of epoch %llu led another part: "
	       "%u port%s excluded there stay%s so, %s first", fm_table_who(fm, f->id.root, root),
	       (unsigned long long)f->id.epoch, n, n == 1 ? "" : "s",
	       n == 1 ? "s" : "", text);
	if (fm->root->settled)
		fm_demand(fm, COALESCE, "excluded %s in another part", text);
}

static struct fm_foreign *foreign_new(const struct fm_past *id, bool kept, const struct torus_shape *shape)
{
	struct fm_foreign *f = calloc(1, sizeof(*f) + torus_nodes(shape) * sizeof(f->admin[0]));

	if (!f)
		return NULL;
	f->id = *id;
	f->kept = kept;
	f->shape = *shape;
	return f;
}

static void add_foreign(struct fm *fm, struct fm_foreign *f)
{
	f->next = fm->root->sent.foreign;
	fm->root->sent.foreign = f;
}

void fm_parts_own(struct fm *fm)
{
	const struct fm_table *t = &fm->table;
	const struct fm_kept *k = &fm->kept;
	const struct fm_past had = {
		.epoch = t->term, .version = t->version, .root = t->root_guid,
	};
	const struct fm_past kept = { .epoch = k->term, .version = k->version, .root = k->root };
	const struct fm_book *b = t->version ? t->book : k->book;
	struct fm_foreign *f = b ? foreign_new(t->version ? &had : &kept, !t->version, &b->shape) : NULL;

	if (!f)
		return;
	for (uint32_t i = 0; i < b->nodes; i++)
		f->admin[i] = b->entry[i].admin;
	add_foreign(fm, f);
}

/* Return: true if table @id, with @line, may be of another part, by all that is known now. */
static bool is_foreign(const struct fm *fm, const struct fm_past *id, bool kept,
		       const struct fm_line *line)
{
	const struct fm_told *told = &fm->root->told;
	const struct fm_past latest = fm_told_id(told);

	if (fm->root->settled)
		return id->version && !in_line(fm, id, kept);
	return id->version && told->table &&
	       !(told->epoch == id->epoch && (!id->root || told->root == id->root)) &&
	       !is_past(&told->line, id) && !is_past(line, &latest);
}

static bool is_had(const struct fm_root *r, const struct fm_past *id)
{
	for (const struct fm_foreign *f = r->sent.foreign; f; f = f->next)
		if (f->id.epoch == id->epoch && (!id->root || f->id.root == id->root) &&
		    f->id.version >= id->version)
			return true;
	return false;
}

void fm_parts_ask(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h)
{
	const struct fm_past had = { .epoch = h->term, .version = h->table, .root = h->table_root };
	const struct fm_past kept = { .epoch = h->kept_term, .version = h->kept, .root = h->kept_root };
	const struct fm_past id = h->table ? had : kept;
	struct fm_msg msg = { .type = FM_MSG_FETCH, .fetch = { .former = h->table > 0 } };
	struct fm_sent *s = &fm->root->sent;

	if (!is_foreign(fm, &id, !h->table, &h->line) || is_had(fm->root, &id) ||
	    (fm_past_same(&s->wanted, &id) && fm->now < s->wanted_at + fm->cfg.resend))
		return;
	s->wanted = id;
	s->wanted_at = fm->now;
	fm_conn_send(fm, c, &msg);
}

bool fm_parts_sent(struct fm *fm, const struct fm_table_msg *m)
{
	const struct fm_past id = { .epoch = m->term, .version = m->version, .root = m->maker };
	struct fm_sent *s = &fm->root->sent;
	struct fm_foreign *f;

	if (m->base || !s->wanted.version || s->wanted.root != id.root ||
	    !fm_past_same(&s->wanted, &id) || is_had(fm->root, &id))
		return false;
	f = foreign_new(&id, !m->former, &m->shape);
	if (!f)
		return false;
	for (uint32_t i = 0; i < m->nentries; i++)
		f->admin[m->entries[i].node] = m->entries[i].admin;
	add_foreign(fm, f);
	if (fm->root->settled)
		merge_foreign(fm, f);
	return true;
}

void fm_parts_free(struct fm_root *r)
{
	struct fm_foreign *f;

	while ((f = r->sent.foreign)) {
		r->sent.foreign = f->next;
		free(f);
	}
}

/* --- parts that meet --------------------------------------------------------------------- */

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
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		merge(fm, fm_mate_no(r, i));
	for (const struct fm_foreign *f = r->sent.foreign; f; f = f->next)
		merge_foreign(fm, f);
	fm_parts_free(r);
}
