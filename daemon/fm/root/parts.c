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
 * from another part, or has the last table of a root that died, a table that no other node has.
 * Then the exclusions of both stay:
 *
 *  - Each HELLO contains the exclusions of the node's own ports, and of those at the far ends of
 *    its cables, for neighbours whose managers do not answer.
 *  - But the other part may have excluded ports of nodes that do not take part now, and whose
 *    neighbours do not either. So the root asks the first two nodes of each other part for its
 *    whole table, before it welcomes them and they get another table. It asks two, because one of
 *    them may die before it answers, and by then the other nodes have lost that table and the
 *    connection to the root. If the manager of a node started again, the root asks for the table
 *    that it has kept (node/keep.c). Until the first answer comes, for a resend at most, the root
 *    makes no table (publish.c): a table would include those nodes, and their NICs would open ports
 *    that their part excludes.
 *
 * A kept table may be later than all tables in memory: this happens if the manager of one node
 * hangs while a root makes its last tables, and then all other managers are restarted. So the kept
 * table of a node that has none in memory is asked for, too, unless it is in the line of the latest
 * table in memory, or is that table or an earlier one of the same root. The root also asks for a
 * kept table that is later than the table of the same root in the line.
 *
 * If all managers started again, and NICs have lost their memory, the root begins with the latest
 * of the kept tables. Its line is that table, and the line that was kept with it; the root fetches
 * other kept tables as above, and unites them with it in the same way. So an acknowledged exclusion
 * is not forgotten if one of the candidates joins that have it on disk: these are more than half of
 * all candidates (admin.c). If fewer had it, which was reported to the administrator, it is lost
 * unless one of these few comes back with its disk. One gap is left: a node that joins a root which
 * has a table keeps that table on disk. It may be in force some milliseconds before the next table,
 * which has the exclusions of this node's part. If all nodes lose their power between the two,
 * these exclusions are lost.
 *
 * A table does not contain when a port was excluded, before the parts were separated or after. A
 * port may have been excluded before, and included meanwhile in one part. If the other part still
 * excludes it, it is excluded again, until the administrator includes it once more. That does not
 * depend on which root leads then, or which node joins first. If both parts excluded a port, the
 * later of the two orders stays, by the clocks of the roots that received them. A line has room for
 * FM_LINE_MAX tables: a node with an older one counts as of another part. The log names the ports
 * that are excluded by this.
 *
 * A node with the key may lie, and send tables of as many other parts as it likes. The root stores
 * FOREIGN_MAX of them. When it has made its first table, it unites each of them with that at once,
 * and stores it only in order not to ask for it again: the oldest is dropped. Before the first
 * table, it drops one whose exclusions are all in another one; if there is none, it drops the one
 * of the earliest epoch, and logs that. The table that the root had itself is never dropped.
 *
 * Tests: tests/unit/test_fm_parts.c, tests/unit/test_fm_parts_first.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/parts.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/former.h"
#include "lib/deps/invariant.h"

#define COALESCE (2 * MS)	/* delay of a table, because other nodes of that part join at the
				 * same time */
#define FOREIGN_MAX 16		/* most tables of other parts that are stored */

/**
 * struct foreign - a stored table that may be of another part
 * @id, @line, @shape, @orders, @jobs: as in that table
 * @own: it is the table that this node itself had
 * @admin: by node id: mask of the ports that its administrator excluded
 */
struct foreign {
	struct foreign *next;
	struct fm_past id;
	struct fm_line line;
	struct torus_shape shape;
	bool own;
	struct fm_orders orders;
	struct fm_jobs jobs;
	uint16_t admin[];
};

#define WANTED 4	/* most tables that are fetched at the same time */
#define ASKED_MAX 2	/* most nodes that are asked for one of these tables within a resend */

/**
 * struct wanted - a table that is being fetched
 * @id: identifies the table; version 0: it has come, or there is none
 * @since: when the present period of one resend began
 * @of, @n: GUIDs and number of the nodes that were asked in this period
 */
struct wanted {
	struct fm_past id;
	uint64_t since, of[ASKED_MAX];
	unsigned int n;
};

/**
 * struct fm_parts - tables of other parts
 * @foreign: list of the stored tables
 * @dropped: how many were dropped before the first table
 * @wanted: the tables that are being fetched
 */
struct fm_parts {
	struct foreign *foreign;
	uint32_t dropped;
	struct wanted wanted[WANTED];
};

bool fm_parts_new(struct fm_root *r)
{
	r->parts = calloc(1, sizeof(*r->parts));
	return r->parts;
}

/*
 * Return: true if both tables are of one root in one epoch. State files and managers of earlier
 * releases of the software do not name the root.
 */
static bool is_same_root(const struct fm_past *a, const struct fm_past *b)
{
	return a->epoch == b->epoch && (!a->root || !b->root || a->root == b->root);
}

static bool is_past(const struct fm_line *l, const struct fm_past *t)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (is_same_root(&l->past[i], t))
			return t->version <= l->past[i].version;
	return false;
}

/* Return: true if table @t is in the line of this root's tables, or was made by this root. */
static bool is_in_line(const struct fm *fm, const struct fm_past *t)
{
	return (t->epoch == fm->term && (!t->root || t->root == fm->guid)) ||
	       is_past(&fm->root->line, t);
}

/*
 * Excludes ports of @node, and writes the name of the first one to @text. Return: how many were not
 * excluded before.
 */
static unsigned int exclude_ports(struct fm *fm, uint32_t node, uint16_t mask, char *text,
				  size_t room)
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

/* Excludes the ports that a node's HELLO reported, if its table is of another part. */
static void merge_node(struct fm *fm, const struct fm_record *m)
{
	const struct torus_shape *shape = &fm->table.shape;
	const struct fm_statements *v = &m->stated;
	uint16_t all = (uint16_t)((1u << 2 * shape->ndims) - 1);
	char text[2 * TORUS_TEXT_MAX] = "";
	const struct fm_past id = { .epoch = v->term, .version = v->table, .root = v->root };
	unsigned int n;

	/* The exclusions of a node without a place cannot be assigned to a place. */
	if (!v->table || v->at == TORUS_NO_NODE || memcmp(&v->shape, shape, sizeof(*shape)) ||
	    is_in_line(fm, &id))
		return;
	n = exclude_ports(fm, v->at, v->admin & all, text, sizeof(text));
	for (unsigned int p = 0; p < 2u * shape->ndims; p++)
		if (v->across & 1u << p)
			n += exclude_ports(fm, torus_neighbour(shape, v->at, p),
					   (uint16_t)(1u << torus_dir_opposite(shape, p)), text,
					   sizeof(text));
	if (!n)
		return;
	fm_log(fm, FM_WARNING, "table",
	       "'%s' had another root: %u port%s excluded there stay%s excluded, the first is %s",
	       m->name, n, n == 1 ? "" : "s", n == 1 ? "s" : "", text);
	if (fm->root->settled)
		fm_demand(fm, COALESCE, "another part excluded %s", text);
}

/* --- whole tables of other parts ------------------------------------------------------- */

/*
 * Takes over the orders of that table for excluded ports, where they are later than the present
 * ones.
 */
static void merge_orders(struct fm *fm, const struct foreign *f)
{
	for (uint32_t i = 0; i < f->orders.n; i++) {
		struct fm_order o = f->orders.of[i];

		o.ports &= fm->root->admin[o.node];
		if (fm_orders_merge(&fm->root->orders, &o))
			fm_change_node(fm, o.node);
	}
}

static void free_foreign(struct foreign *f)
{
	fm_orders_free(&f->orders);
	fm_jobs_free(&f->jobs);
	free(f);
}

static void exclude_foreign(struct fm *fm, const struct foreign *f)
{
	const struct torus_shape *shape = &fm->table.shape;
	uint16_t all = (uint16_t)((1u << 2 * shape->ndims) - 1);
	char text[2 * TORUS_TEXT_MAX] = "", root[FM_WHO_MAX];
	unsigned int n = 0;

	for (uint32_t i = 0; i < torus_nodes(shape); i++)
		n += exclude_ports(fm, i, f->admin[i] & all, text, sizeof(text));
	merge_orders(fm, f);
	if (!n)
		return;
	fm_log(fm, FM_WARNING, "table", "root %s of epoch %llu led another part: "
	       "%u port%s excluded there stay%s excluded, the first is %s",
	       fm_table_name(fm, f->id.root, root),
	       (unsigned long long)f->id.epoch, n, n == 1 ? "" : "s",
	       n == 1 ? "s" : "", text);
	if (fm->root->settled)
		fm_demand(fm, COALESCE, "another part excluded %s", text);
}

/* Adds a table to the line, in place of an earlier one of the same root. */
static void add_to_line(struct fm_line *l, const struct fm_past *id)
{
	invariant(l->n <= FM_LINE_MAX);
	for (unsigned int i = 0; i < l->n; i++)
		if (is_same_root(&l->past[i], id)) {
			if (id->version > l->past[i].version)
				l->past[i].version = id->version;
			return;
		}
	if (l->n < FM_LINE_MAX)
		l->past[l->n++] = *id;
}

/* Jobs of another part end, unless they began before the parts did, and still run here. */
static void report_ended_jobs(struct fm *fm, const struct foreign *f)
{
	for (uint32_t i = 0; i < f->jobs.n; i++) {
		const struct fm_job *j = &f->jobs.of[i];
		const struct fm_job *here = fm_jobs_named(&fm->root->jobs, j->name);

		if (!here || here->since != j->since)
			fm_log(fm, FM_WARNING, "job",
			       "job '%s' of another part has ended: it does not run here", j->name);
	}
}

/*
 * Unites the exclusions of a table of another part with the next table, and adds that table to the
 * line.
 */
static void merge_foreign(struct fm *fm, const struct foreign *f)
{
	const struct torus_shape *shape = &fm->table.shape;

	if (is_in_line(fm, &f->id))
		return;
	report_ended_jobs(fm, f);
	if (memcmp(&f->shape, shape, sizeof(*shape)))
		return;
	exclude_foreign(fm, f);
	add_to_line(&fm->root->line, &f->id);
}

/*
 * Takes over the exclusions of the table that this root begins with, if a node had sent it as a
 * kept table of another part. That happens if a node that uses that table joins after this root
 * began to lead, because the root does not fetch the table a second time (recall.c).
 */
static void merge_latest(struct fm *fm, const struct foreign *f)
{
	const struct fm_past latest = fm_former_id(&fm->root->former);

	if (latest.version && fm_past_same(&latest, &f->id) &&
	    !memcmp(&f->shape, &fm->table.shape, sizeof(f->shape)))
		exclude_foreign(fm, f);
}

static struct foreign *foreign_new(const struct fm_past *id, const struct fm_line *line,
				      const struct torus_shape *shape)
{
	struct foreign *f = calloc(1, sizeof(*f) + torus_nodes(shape) * sizeof(f->admin[0]));

	if (!f)
		return NULL;
	f->id = *id;
	f->line = *line;
	f->shape = *shape;
	return f;
}

/* Return: true if another stored table comes from @f, so it contains the exclusions of @f. */
static bool is_outdone(const struct fm_root *r, const struct foreign *f)
{
	for (const struct foreign *o = r->parts->foreign; o; o = o->next)
		if (is_past(&o->line, &f->id) ||
		    (is_same_root(&o->id, &f->id) && o->id.version > f->id.version))
			return true;
	return false;
}

static bool is_earlier(const struct fm_past *a, const struct fm_past *b)
{
	return a->epoch != b->epoch ? a->epoch < b->epoch : a->version < b->version;
}

/*
 * Return: the link in the list to the table that is to be dropped; the list has more than one
 * table.
 */
static struct foreign **find_least(struct fm_root *r)
{
	struct foreign **least = NULL;

	for (struct foreign **at = &r->parts->foreign; *at; at = &(*at)->next) {
		if ((*at)->own)
			continue;
		if (!r->settled && is_outdone(r, *at))
			return at;
		if (!least || r->settled || is_earlier(&(*at)->id, &(*least)->id))
			least = at;	/* the newest table is the first in the list */
	}
	return least;
}

/*
 * Logs that the exclusions of a table may be lost: only the 1st, 2nd, 4th ... time, because a node
 * that lies could cause any number of these lines.
 */
static void log_dropped(struct fm *fm, const struct fm_past *id)
{
	uint32_t n = ++fm->root->parts->dropped;
	char root[FM_WHO_MAX];

	if (n & (n - 1))
		return;
	fm_log(fm, FM_WARNING, "table",
	       "more than %u tables of other parts were sent: the one of root %s, epoch %llu, is "
	       "dropped, and what it excludes may be lost (%u so far)",
	       FOREIGN_MAX, fm_table_name(fm, id->root, root), (unsigned long long)id->epoch, n);
}

static void drop_least(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct foreign **at = find_least(r), *f = *at;

	invariant(!f->own);
	if (!r->settled && !is_outdone(r, f))
		log_dropped(fm, &f->id);
	*at = f->next;
	free_foreign(f);
}

static void add_foreign(struct fm *fm, struct foreign *f)
{
	unsigned int n = 0;

	f->next = fm->root->parts->foreign;
	fm->root->parts->foreign = f;
	for (; f; f = f->next)
		n++;
	invariant(n <= FOREIGN_MAX + 1);
	if (n > FOREIGN_MAX)
		drop_least(fm);
}

bool fm_parts_own(const struct fm *fm, struct fm_root *r)
{
	const struct fm_table *t = &fm->table;
	const struct fm_kept *k = &fm->kept;
	const struct fm_past had = {
		.epoch = t->term, .version = t->version, .root = t->root_guid,
	};
	const struct fm_past kept = { .epoch = k->term, .version = k->version, .root = k->root };
	const struct fm_book *b = t->version ? t->book : k->book;
	struct foreign *f = !b ? NULL : t->version ? foreign_new(&had, &t->line, &b->shape) :
							foreign_new(&kept, &k->line, &b->shape);

	if (!f)
		return !b;
	for (uint32_t i = 0; i < b->nodes; i++)
		f->admin[i] = b->entry[i].admin;
	fm_orders_copy(&f->orders, &b->orders);
	f->own = true;
	r->parts->foreign = f;
	return true;
}

/*
 * Return: true if table @id, with @line, may be of another part, as far as is known now. While no
 * node is known to have a table in memory, it is compared with the latest kept one (recall.c).
 * @is_kept: it is a kept table. If it is later than the table in memory of the same root, recall.c
 *	does not fetch it, because that is not the latest in memory.
 */
static bool is_foreign(const struct fm *fm, const struct fm_past *id, const struct fm_line *line,
		       bool is_kept)
{
	const struct fm_former *former = &fm->root->former;
	const struct fm_kept *k = &fm->kept;
	const struct fm_past latest = fm_former_id(former);
	const struct fm_past kept = { .epoch = k->term, .version = k->version, .root = k->root };

	if (fm->root->settled)
		return id->version && !is_in_line(fm, id);
	if (!former->table)	/* recall.c fetches a later table */
		return id->version && id->epoch <= k->term && !is_same_root(&kept, id) &&
		       !is_past(&k->line, id);
	if (is_same_root(&latest, id))
		return is_kept && id->version > latest.version;
	return id->version && !is_past(&former->line, id) && !is_past(line, &latest);
}

/* Return: true if that table, or a later one of the same root and epoch, is stored. */
static bool is_stored(const struct fm_root *r, const struct fm_past *id)
{
	for (const struct foreign *f = r->parts->foreign; f; f = f->next)
		if (is_same_root(&f->id, id) && f->id.version >= id->version)
			return true;
	return false;
}

/* Return: true if @w is for table @id, which has not come yet. */
static bool is_wanted(const struct wanted *w, const struct fm_past *id)
{
	return w->id.version && w->id.root == id->root && fm_past_same(&w->id, id);
}

/*
 * Return: the entry for table @id among those being fetched, or else the oldest entry, which may be
 * replaced.
 */
static struct wanted *find_wanted(struct fm_parts *s, const struct fm_past *id)
{
	struct wanted *oldest = s->wanted;

	for (struct wanted *w = s->wanted; w < s->wanted + WANTED; w++) {
		if (is_wanted(w, id))
			return w;
		if (w->since < oldest->since)
			oldest = w;
	}
	return oldest;
}

static bool was_asked(const struct wanted *w, uint64_t guid)
{
	invariant(w->n <= ASKED_MAX);
	for (unsigned int i = 0; i < w->n; i++)
		if (w->of[i] == guid)
			return true;
	return false;
}

void fm_parts_ask(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h)
{
	const struct fm_past had = { .epoch = h->term, .version = h->table, .root = h->table_root };
	const struct fm_past kept = { .epoch = h->kept_term,
				      .version = h->kept,
				      .root = h->kept_root };
	const struct fm_past id = h->table ? had : kept;
	struct fm_msg msg = { .type = FM_MSG_FETCH, .fetch = { .former = h->table > 0 } };
	struct wanted *w = find_wanted(fm->root->parts, &id);

	if (!is_foreign(fm, &id, &h->line, !h->table) || is_stored(fm->root, &id))
		return;
	if (!is_wanted(w, &id) || fm->now >= w->since + fm->cfg.resend)
		*w = (struct wanted) { .id = id, .since = fm->now };
	if (w->n == ASKED_MAX || was_asked(w, h->guid))
		return;
	w->of[w->n++] = h->guid;
	fm_conn_send(fm, c, &msg);
}

uint64_t fm_parts_awaits(const struct fm *fm)
{
	const struct fm_parts *s = fm->root->parts;
	uint64_t until = 0;

	for (unsigned int i = 0; i < WANTED; i++)
		if (s->wanted[i].id.version)
			until = later(until, s->wanted[i].since + fm->cfg.resend);
	return until;
}

/*
 * Stores the table of that message, and takes over its exclusions, at once or with the first table.
 */
static void take_table(struct fm *fm, const struct fm_past *id, const struct fm_table_msg *m)
{
	struct foreign *f = foreign_new(id, &m->line, &m->shape);

	if (!f) {
		fm_log(fm, FM_ERROR, "table",
		       "no memory for a table of another part: what it excludes may be lost");
		return;
	}
	for (uint32_t i = 0; i < m->nentries; i++)
		f->admin[m->entries[i].node] = m->entries[i].admin;
	for (uint32_t i = 0; i < m->norders; i++)
		fm_orders_put(&f->orders, &m->orders[i]);
	fm_jobs_set(&f->jobs, m->jobs, m->njobs);
	if (fm->root->settled)
		merge_foreign(fm, f);
	add_foreign(fm, f);
}

void fm_parts_sent(struct fm *fm, const struct fm_table_msg *m)
{
	const struct fm_past id = { .epoch = m->term, .version = m->version, .root = m->maker };
	struct wanted *w = find_wanted(fm->root->parts, &id);
	bool wanted = is_wanted(w, &id);

	/* Before the first table, recall.c may have asked for this table. */
	if (m->base || is_stored(fm->root, &id) || m->term > fm_epoch_credible(fm) ||
	    (!wanted && (m->former || fm->root->settled)))
		return;
	if (wanted)
		w->id.version = 0;
	take_table(fm, &id, m);
}

static void forget_foreign(struct fm_root *r)
{
	struct foreign *f;

	while ((f = r->parts->foreign)) {
		r->parts->foreign = f->next;
		free_foreign(f);
	}
}

void fm_parts_free(struct fm_root *r)
{
	if (r->parts)
		forget_foreign(r);
	free(r->parts);
}

/* --- parts that meet --------------------------------------------------------------------- */

void fm_parts_hello(struct fm *fm, const struct fm_record *m)
{
	if (fm->root->settled)
		merge_node(fm, m);
}

static void add_past(struct fm_line *l, const struct fm_past *first, const struct fm_line *rest)
{
	l->past[l->n++] = *first;
	for (unsigned int i = 0; i < rest->n && l->n < FM_LINE_MAX; i++)
		l->past[l->n++] = rest->past[i];
}

/*
 * Begins the line with the latest table that a node has in memory, or else with the latest kept
 * one.
 */
static void begin_line(struct fm *fm)
{
	const struct fm_former *t = &fm->root->former;
	const struct fm_kept *k = &fm->kept;
	const struct fm_past latest = fm_former_id(t);
	const struct fm_past kept = { .epoch = k->term, .version = k->version, .root = k->root };

	if (t->table)
		add_past(&fm->root->line, &latest, &t->line);
	else if (k->book && !memcmp(&k->book->shape, &fm->table.shape, sizeof(k->book->shape)))
		add_past(&fm->root->line, &kept, &k->line);
}

void fm_parts_end(struct fm *fm)
{
	struct fm_root *r = fm->root;

	begin_line(fm);
	for (uint32_t i = 0; i < fm_roster_size(r); i++)
		merge_node(fm, fm_record_no(r, i));
	for (const struct foreign *f = r->parts->foreign; f; f = f->next) {
		merge_latest(fm, f);
		if (!is_outdone(r, f))
			merge_foreign(fm, f);
	}
	forget_foreign(r);
}
