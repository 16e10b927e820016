// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exclusion table as this node has it: applies whole tables and changes that come from the
 * root.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/status.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/random.h"
#include "lib/deps/invariant.h"

uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch)
{
	return fm_mix(fm_mix(guid ^ 0x746f727573ULL) + epoch);
}

bool fm_table_counts(const struct fm_entry *e)
{
	return e->state == FM_NODE_UP;
}

uint8_t fm_table_votes(const struct fm_voters *v, const struct fm_entry *e)
{
	invariant(v->n <= FM_VOTERS_MAX);
	return (uint8_t)((e->differs ^ (fm_table_counts(e) ? ~0u : 0)) & ((1u << v->n) - 1));
}

/* Makes @b the book of the table. Takes over the caller's reference. */
static void set_book(struct fm_table *t, struct fm_book *b)
{
	fm_book_put(t->book);
	t->book = b;
	t->nodes = b ? b->nodes : 0;
	t->entry = b ? b->entry : NULL;
	t->closed = b ? b->closed : NULL;
}

void fm_table_free(struct fm_table *t)
{
	set_book(t, NULL);
	free(t->news);
}

uint32_t fm_table_find(const struct fm *fm, uint64_t guid)
{
	return fm->table.book ? fm_book_find(fm->table.book, guid) : TORUS_NO_NODE;
}

/*
 * Finds the present or kept table that contains the NIC, and its node id in @node. Return: NULL if
 * none does.
 */
static struct fm_book *find_book(const struct fm *fm, uint64_t guid, uint32_t *node)
{
	struct fm_book *const books[] = { fm->table.book, fm->kept.book };

	for (unsigned int i = 0; guid && i < 2; i++) {
		*node = books[i] ? fm_book_find(books[i], guid) : TORUS_NO_NODE;
		if (*node != TORUS_NO_NODE)
			return books[i];
	}
	return NULL;
}

const struct fm_entry *fm_table_entry(const struct fm *fm, uint64_t guid)
{
	uint32_t node;
	const struct fm_book *b = find_book(fm, guid, &node);

	return b ? &b->entry[node] : NULL;
}

const char *fm_table_name(const struct fm *fm, uint64_t guid, char *buf)
{
	char at[TORUS_TEXT_MAX];
	uint32_t node;
	const struct fm_book *b = find_book(fm, guid, &node);

	if (b)
		snprintf(buf, FM_WHO_MAX, "'%s' (%s)", b->entry[node].name,
			 torus_node_text(&b->shape, node, at));
	else if (guid == fm->guid)
		snprintf(buf, FM_WHO_MAX, "'%s'", fm->cfg.name);
	else if (!guid)
		snprintf(buf, FM_WHO_MAX, "none");
	else
		snprintf(buf, FM_WHO_MAX, "%016llx", (unsigned long long)guid);
	return buf;
}

/* The search is needed only if this node is not at the place that its NIC has. */
uint32_t fm_table_self(const struct fm *fm)
{
	const struct fm_table *t = &fm->table;

	if (fm->node < t->nodes && t->entry[fm->node].guid == fm->guid)
		return fm->node;
	return fm_table_find(fm, fm->guid);
}

const char *fm_node_state_name(unsigned int state)
{
	static const char *const names[FM_NODE_STATES] = { "absent", "joining", "up", "silent",
							   "dead" };

	return state < FM_NODE_STATES ? names[state] : NULL;
}

bool fm_table_takes(const struct fm *fm, uint32_t node, uint64_t guid, uint32_t epoch)
{
	const struct fm_entry *e = node < fm->table.nodes ? &fm->table.entry[node] : NULL;

	return e && e->guid == guid && e->epoch == epoch && fm_table_counts(e);
}

bool fm_table_begin(struct fm *fm, const struct torus_shape *shape)
{
	struct fm_book *b = fm_book_new(shape);

	if (!b)
		return false;
	set_book(&fm->table, b);
	fm->table.shape = *shape;
	fm->table.version = 0;
	fm->table.voters.n = 0;
	fm->table.line.n = 0;
	return true;
}

/*
 * Applies the message to the present book. Return: the changed book; this is the present book
 * itself, if that is private and has the same shape, else a copy. NULL: no memory.
 */
static struct fm_book *rewrite_book(const struct fm *fm, const struct fm_table_msg *m)
{
	const struct fm_table *t = &fm->table;
	bool same = t->book && !memcmp(&t->shape, &m->shape, sizeof(m->shape));
	struct fm_book *b;

	if (same && !t->book->library)
		b = fm_book_get(t->book);
	else
		b = fm_book_new(&m->shape);
	if (!b)
		return NULL;
	if (!m->base) {
		memset(b->entry, 0, b->nodes * sizeof(*b->entry));
		fm_orders_free(&b->orders);
		fm_book_close(b);
	} else if (b != t->book) {
		fm_orders_copy(&b->orders, &t->book->orders);
		fm_jobs_set(&b->jobs, t->book->jobs.of, t->book->jobs.n);
		memcpy(b->entry, t->entry, b->nodes * sizeof(*b->entry));
		memcpy(b->closed, t->closed, b->nodes * sizeof(*b->closed));
	}
	fm_book_change(b, m->entries, m->nentries);
	fm_book_orders(b, m);
	fm_book_jobs(b, m);
	if (fm->cfg.library)
		fm_library_add(fm->cfg.library, b, fm->root_guid, m->term, m->version);
	return b;
}

/* Lists the nodes whose entries the message changes, for rows.c. */
static void add_news(struct fm *fm, const struct fm_table_msg *m)
{
	struct fm_table *t = &fm->table;

	if (!t->news)
		t->news = malloc(FM_NEWS_MAX * sizeof(*t->news));
	if (!t->news || !m->base || t->nnews + m->nentries > FM_NEWS_MAX) {
		t->nnews = FM_NEWS_MAX + 1;
		return;
	}
	for (uint32_t i = 0; i < m->nentries; i++)
		t->news[t->nnews++] = m->entries[i].node;
}

bool fm_table_take(struct fm *fm, const struct fm_table_msg *m)
{
	struct fm_table *t = &fm->table;
	struct fm_book *b;

	invariant(m->version > m->base);
	invariant(m->term != t->term || m->version > t->version);
	if (m->base && (t->term != m->term || t->version != m->base ||
			memcmp(&t->shape, &m->shape, sizeof(m->shape))))
		return false;
	b = fm_library_find(fm->cfg.library, fm->root_guid, m->term, m->version, &m->shape);
	if (!b)
		b = rewrite_book(fm, m);
	if (!b)
		return false;
	invariant(b->nodes == torus_nodes(&m->shape));
	set_book(t, b);
	if (!fm->ops.rows_apply)
		add_news(fm, m);
	t->shape = m->shape;
	t->term = m->term;
	t->root_guid = fm->root_guid;
	t->version = m->version;
	t->in_force = false;
	t->plan = m->plan;
	t->open = m->open;
	t->pause = m->pause;
	t->voters = m->voters;
	t->line = m->line;
	return true;
}

/*
 * A shared book changes for all machines that use it, which is right, because all get the same ends
 * of sessions.
 */
void fm_table_ended(struct fm *fm, const struct fm_ended *e)
{
	struct fm_entry *entry;

	if (e->node >= fm->table.nodes || e->port >= TORUS_MAX_PORTS)
		return;
	fm->table.book->lack.known = false;
	entry = &fm->table.entry[e->node];
	entry->ended |= (uint16_t)(1u << e->port);
	entry->session[e->port] = e->session;
	entry->seq[e->port] = e->seq;
}

/*
 * The entry of an absent node has content if an administrator has excluded ports there, or if the
 * node belongs to a job.
 */
bool fm_table_blank(const struct fm_entry *e)
{
	return e->state == FM_NODE_ABSENT && !e->admin && !e->job;
}

/*
 * The message omits blank entries, and the bits of @differs beyond the present sets of voters.
 * Entries may still have such bits, if a root made fewer sets than before and did not send the
 * entries again.
 */
bool fm_table_whole(const struct fm *fm, struct fm_msg *out)
{
	const struct fm_table *t = &fm->table;
	struct fm_table_msg *m = &out->table;
	uint32_t there = 0;
	unsigned int more = 0;

	memset(out, 0, sizeof(*out));
	out->type = FM_MSG_TABLE;
	m->term = t->term;
	m->version = t->version;
	m->shape = t->shape;
	m->plan = t->plan;
	m->open = t->open;
	m->pause = t->pause;
	m->voters = t->voters;
	m->line = t->line;
	m->clean = fm->table.clean;
	m->entries = t->entry;
	m->norders = t->book->orders.n;
	m->orders = t->book->orders.of;
	m->anew = true;
	m->njobs = t->book->jobs.n;
	m->jobs = t->book->jobs.of;
	for (uint32_t i = 0; i < t->nodes; i++) {
		there += !fm_table_blank(&t->entry[i]);
		more |= t->entry[i].differs >> t->voters.n;
	}
	if (there == t->nodes && !more) {
		m->nentries = there;
		return true;
	}
	m->entries = malloc((there + 1) * sizeof(*m->entries));
	if (!m->entries)
		return false;
	for (uint32_t i = 0; i < t->nodes; i++) {
		if (fm_table_blank(&t->entry[i]))
			continue;
		m->entries[m->nentries] = t->entry[i];
		m->entries[m->nentries++].differs &= (uint8_t)((1u << t->voters.n) - 1);
	}
	invariant(m->nentries == there);
	return true;
}

void fm_table_whole_end(const struct fm *fm, struct fm_msg *msg)
{
	if (msg->table.entries != fm->table.entry)
		free(msg->table.entries);
}

/* HELLO describes the table only if it has the shape in which this node's NIC is placed. */
void fm_table_fill(const struct fm *fm, struct fm_hello *h)
{
	const struct fm_table *t = &fm->table;

	if (!fm->placed || !t->version || memcmp(&t->shape, &fm->shape, sizeof(t->shape)))
		return;
	h->table = t->version;
	h->table_root = t->root_guid;
	h->ups = fm_book_ups(t->book);
	h->counted = fm_table_takes(fm, fm->node, fm->guid, fm->epoch);
	h->voters = t->voters;
	h->in_force = t->in_force;
	h->line = t->line;
	if (t->entry[fm->node].guid == fm->guid && t->entry[fm->node].epoch == fm->epoch)
		h->votes = fm_table_votes(&t->voters, &t->entry[fm->node]);
	h->clean = fm->table.clean;
	h->open = t->open;
	h->plan = t->plan;
	h->admin = t->entry[fm->node].admin;
	for (unsigned int p = 0; p < 2u * t->shape.ndims; p++) {
		uint32_t far = torus_neighbour(&t->shape, fm->node, p);

		if (t->entry[far].admin & 1u << torus_dir_opposite(&t->shape, p))
			h->across |= (uint16_t)(1u << p);
	}
}
