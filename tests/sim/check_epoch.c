// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the order of tables, by the rows that NICs are given. The pair (epoch of the root,
 * version) of the rows in force at a NIC never falls, except where the NIC has lost its memory. In
 * an epoch no NIC has tables of two roots, and there is one table for each root, epoch and version.
 *
 * Two roots may lead in epochs of one number if they lead parts that no link joins, and each part
 * is all that its root can reach (daemon/fm/root/epoch.c says why that is safe). So no NIC that
 * has rows of one of these roots sends data to a NIC that has rows of the other, except where
 * the sender's root counts it as silent: then its manager hangs, no node can know whom its NIC
 * obeys, and nothing is proven by it.
 */
#include "check_impl.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "kernel/core/nic_impl.h"
#include "kernel/core/splitmix64.h"

/** struct seen_table - a table of a NIC; @root: GUID; @hash: of its content, 0: not known */
struct seen_table {
	uint64_t epoch, root, version, hash;
	uint32_t node;
};

/** struct epochs - @last: what is in force at each NIC; @table: all tables, with the NIC that had it first */
struct epochs {
	struct seen_table *last;
	struct seen_table *table;
	size_t ntables, tables_room;
};

struct epochs *epochs_new(const struct world *w)
{
	struct epochs *e = calloc(1, sizeof(*e));

	if (!e || !(e->last = calloc(w->nodes, sizeof(*e->last))))
		abort();
	return e;
}

void epochs_free(struct epochs *e)
{
	free(e->last);
	free(e->table);
	free(e);
}

/* Return: true if a NIC, or a manager other than @node's, knows of that root and epoch. */
static bool is_known(const struct check_flow *c, const struct seen_table *t, uint32_t node)
{
	for (uint32_t i = 0; i < c->w->nodes; i++) {
		const struct seen_table *last = &c->epochs->last[i];
		const struct fm *fm = i == node ? NULL : c->w->node[i].fm;

		if ((last->epoch == t->epoch && last->root == t->root) ||
		    (fm && fm->table.term == t->epoch && fm->table.root_guid == t->root))
			return true;
	}
	return false;
}

/* Forgets what only that NIC knew: its next life may take these numbers again, without harm. */
void epochs_power(struct check_flow *c, uint32_t node)
{
	struct epochs *e = c->epochs;
	size_t n = 0;

	e->last[node] = (struct seen_table) { 0 };
	for (size_t i = 0; i < e->ntables; i++)
		if (is_known(c, &e->table[i], node))
			e->table[n++] = e->table[i];
	e->ntables = n;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return splitmix64_mix(hash ^ value);
}

static uint64_t mix_plan(uint64_t hash, const struct torus_plan *p)
{
	for (unsigned int i = 0; i < sizeof(p->net4); i++)
		hash = mix(hash, p->net4[i]);
	for (unsigned int i = 0; i < sizeof(p->net6); i++)
		hash = mix(hash, p->net6[i]);
	return mix(mix(hash, p->len4), p->len6);
}

/* The sets of voters; entries have a bit for each, and further ones that count no more (table.c). */
static uint64_t mix_voters(uint64_t hash, const struct fm_voters *v)
{
	for (unsigned int i = 0; i < v->n; i++)
		hash = mix(mix(hash, v->set[i].ups), v->set[i].maker);
	return mix(hash, v->n);
}

/*
 * Computes a hash of all that rows and recoveries follow from. Sessions and sequence numbers of
 * links are left out, because the second end of a cable tells them later. Return: 0 if the node
 * has another table by now.
 */
static uint64_t hash_table(const struct fm *fm, uint64_t epoch, uint64_t version)
{
	const struct fm_table *t = &fm->table;
	uint64_t hash = 1;

	if (t->term != epoch || t->version != version)
		return 0;
	hash = mix(mix(hash, t->shape.ndims), t->open * 2u + t->pause);
	for (unsigned int d = 0; d < t->shape.ndims; d++)
		hash = mix(hash, t->shape.size[d]);
	hash = mix_voters(mix_plan(hash, &t->plan), &t->voters);
	for (uint32_t i = 0; i < t->nodes; i++) {
		const struct fm_entry *e = &t->entry[i];

		hash = mix(mix(hash, t->closed[i]), e->state);
		hash = mix(hash, fm_table_votes(&t->voters, e));
		hash = mix(mix(hash, e->fault | (uint32_t)e->wiring << 16), e->admin);
		hash = mix(mix(hash, e->guid), e->epoch);
	}
	return hash | 1;
}

static void check_one_table(struct check_flow *c, const struct seen_table *t)
{
	struct epochs *e = c->epochs;

	for (size_t i = e->ntables; t->hash && i--;) {
		if (e->table[i].epoch != t->epoch || e->table[i].root != t->root ||
		    e->table[i].version != t->version)
			continue;
		if (e->table[i].hash != t->hash)
			flow_wrong(c, "nodes %u and %u have different tables, both of epoch %llu, version %llu",
				   e->table[i].node, t->node, (unsigned long long)t->epoch,
				   (unsigned long long)t->version);
		return;
	}
	if (!t->hash)
		return;
	if (e->ntables == e->tables_room) {
		e->tables_room = e->tables_room ? 2 * e->tables_room : 64;
		e->table = realloc(e->table, e->tables_room * sizeof(*e->table));
		if (!e->table)
			abort();
	}
	e->table[e->ntables++] = *t;
}

void epochs_switched(struct check_flow *c, uint32_t node, uint64_t version)
{
	const struct wnode *n = &c->w->node[node];
	struct seen_table *last = &c->epochs->last[node];
	struct seen_table now = { .epoch = n->by_epoch, .root = n->by_guid, .version = version,
				  .node = node };

	if (c->lies)
		return;
	now.hash = n->fm ? hash_table(n->fm, now.epoch, version) : 0;
	if (now.epoch < last->epoch || (now.epoch == last->epoch && version < last->version))
		flow_wrong(c, "the NIC of node %u has epoch %llu, version %llu, and gets %llu, %llu", node,
			   (unsigned long long)last->epoch, (unsigned long long)last->version,
			   (unsigned long long)now.epoch, (unsigned long long)version);
	if (now.epoch == last->epoch && now.root != last->root)
		flow_wrong(c, "the NIC of node %u has tables of roots %llx and %llx, both of epoch %llu", node,
			   (unsigned long long)last->root, (unsigned long long)now.root,
			   (unsigned long long)now.epoch);
	*last = now;
	check_one_table(c, &now);
}

/*
 * Return: true if the NIC may send data over the cable's end @e now: the link is up, it is not
 * closed until a replay, and the table @t, if the NIC's manager has it, does not exclude it and
 * counts on the manager of the other end.
 */
static bool is_open(const struct world *w, const struct cable *c, unsigned int e, const struct seen_table *t)
{
	const struct fm_entry *far;
	const struct wnode *n = &w->node[c->node[e]];
	const struct tn_link *l = n->nic ? &n->nic->link[c->port[e]] : NULL;
	const struct fm *fm = n->fm;

	if (!l || l->state != TORUS_LINK_UP || l->closed || !fm || fm->table.term != t->epoch ||
	    fm->table.version != t->version || fm->node >= fm->table.nodes)
		return false;
	far = fm_node(fm, fm_table_find(fm, w->node[c->node[!e]].guid));
	return !(fm->table.closed[fm->node] & 1u << c->port[e]) && far && far->state != FM_NODE_SILENT;
}

void epochs_look(struct check_flow *c)
{
	const struct world *w = c->w;

	for (uint32_t i = 0; i < w->ncables && !c->lies; i++) {
		const struct cable *cable = &w->cable[i];
		const struct seen_table *a = &c->epochs->last[cable->node[0]];
		const struct seen_table *b = &c->epochs->last[cable->node[1]];

		if (!cable->there || !a->epoch || a->epoch != b->epoch || a->root == b->root)
			continue;
		if (is_open(w, cable, 0, a) || is_open(w, cable, 1, b))
			flow_wrong(c, "data passes between nodes %u and %u, "
				   "which have tables of roots %llx and %llx, both of epoch %llu",
				   cable->node[0], cable->node[1], (unsigned long long)a->root,
				   (unsigned long long)b->root, (unsigned long long)a->epoch);
	}
}
