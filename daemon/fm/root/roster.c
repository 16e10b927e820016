// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root's list of all nodes, and the tree of their connections. Nodes are found by GUID, by name
 * and by place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/roster.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/facts.h"
#include "lib/deps/invariant.h"
#include "lib/util/fnv.h"
#include "lib/util/hash.h"

/**
 * struct fm_roster - all nodes, by roster index
 * @n: number of indices given so far, including those that are free again
 * @room: number of allocated entries
 * @free, @nfree: list of the free indices: the first one + 1, then linked by @next; and their
 *	number
 * @by_guid, @by_name: hash tables of indices in @record
 * @uncounted: some node is connected to a node that the root does not know
 */
struct fm_roster {
	struct fm_record *record;
	uint32_t n, room;
	uint32_t free, nfree;
	struct hash by_guid, by_name;
	bool uncounted;
};

bool fm_roster_new(struct fm_root *r)
{
	r->roster = calloc(1, sizeof(*r->roster));
	return r->roster;
}

void fm_roster_free(struct fm_root *r)
{
	struct fm_roster *list = r->roster;

	if (!list)
		return;
	free(list->record);
	hash_free(&list->by_guid);
	hash_free(&list->by_name);
	free(list);
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	return r->roster->n;
}

uint32_t fm_roster_known(const struct fm_root *r)
{
	return r->roster->n - r->roster->nfree;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	invariant(i < r->roster->n);
	return &r->roster->record[i];
}

uint32_t fm_record_number(const struct fm_root *r, const struct fm_record *m)
{
	invariant(m >= r->roster->record && m < r->roster->record + r->roster->n);
	return (uint32_t)(m - r->roster->record);
}

uint32_t *fm_roster_scratch(const struct fm_root *r)
{
	return r->missing + r->roster->room;
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	uint32_t i;

	for (uint32_t at = 0; hash_next(&r->roster->by_guid, (uint32_t)fm_mix(guid), &at, &i);)
		if (fm_record_no(r, i)->guid == guid)
			return fm_record_no(r, i);
	return NULL;
}

bool fm_record_joined(const struct fm_record *m)
{
	return m && m->name[0];
}

/* Removes @m, with all nodes below it, from the tree of connections. */
static void detach_record(struct fm_root *r, struct fm_record *m)
{
	invariant(m->above || (!m->next && !m->prev));
	if (m->next)
		fm_record_no(r, m->next - 1)->prev = m->prev;
	if (m->prev)
		fm_record_no(r, m->prev - 1)->next = m->next;
	else if (m->above)
		fm_record_no(r, m->above - 1)->first = m->next;
	m->above = m->next = m->prev = 0;
}

/* Puts @m below @top in the tree of connections. */
static void attach_record(struct fm_root *r, struct fm_record *m, struct fm_record *top)
{
	uint32_t self = fm_record_number(r, m) + 1;

	invariant(!m->above);
	m->above = fm_record_number(r, top) + 1;
	m->next = top->first;
	if (m->next)
		fm_record_no(r, m->next - 1)->prev = self;
	top->first = self;
}

void fm_record_via(struct fm_root *r, struct fm_record *m, uint64_t via)
{
	struct fm_record *top = via ? fm_record(r, via) : NULL;

	if (m->via == via && m->above)
		return;
	detach_record(r, m);
	m->via = via;
	if (via)
		m->parent = via;
	if (top)
		attach_record(r, m, top);
	else
		r->roster->uncounted |= via != 0;
}

void fm_roster_judge(struct fm *fm)
{
	/* Not at once, because when many nodes are lost, many notices come within a short time. */
	fm->root->judge_at = earlier(fm->root->judge_at, fm->now + MS / 2);
}

void fm_record_missing(struct fm *fm, struct fm_record *m)
{
	struct fm_root *r = fm->root;

	fm_record_via(r, m, 0);
	m->missing = fm->now;
	m->moving = m->lost = false;
	fm_roster_judge(fm);
	if (m->listed || m == fm_record_no(r, 0))
		return;
	m->listed = true;
	invariant(r->nmissing < r->roster->room);
	r->missing[r->nmissing++] = fm_record_number(r, m);
}

/*
 * Makes all nodes below @top, at any depth, missing. A node with a new connection upward announces
 * its children again, and so do all nodes below it, so those that live are found again. If @top is
 * dead, no node would report the loss of nodes further below that died with it.
 */
static void forget_tree(struct fm *fm, struct fm_record *top)
{
	struct fm_root *r = fm->root;

	while (top->first) {
		struct fm_record *m = fm_record_no(r, top->first - 1);

		while (m->first) {
			struct fm_record *lower = fm_record_no(r, m->first - 1);

			detach_record(r, lower);
			if (lower != top)	/* outdated notices may have made a cycle */
				attach_record(r, lower, top);
		}
		fm_record_missing(fm, m);
	}
}

void fm_roster_forget_below(struct fm *fm, uint64_t guid)
{
	struct fm_root *r = fm->root;
	struct fm_record *top = fm_record(r, guid);

	if (top)
		forget_tree(fm, top);
	for (uint32_t i = 1; r->roster->uncounted && i < fm_roster_size(r); i++) {
		if (fm_record_no(r, i)->via != guid)
			continue;
		forget_tree(fm, fm_record_no(r, i));
		fm_record_missing(fm, fm_record_no(r, i));
	}
}

void fm_record_move(struct fm *fm, struct fm_record *m, uint32_t node)
{
	invariant(m->node != TORUS_NO_NODE || fm->root->unplaced);
	fm->root->unplaced += (node == TORUS_NO_NODE) - (m->node == TORUS_NO_NODE);
	fm_change_place(fm, m->node);
	fm_change_place(fm, node);
	if (m->node != node)
		m->bare = fm->root->bare = true;
	m->node = node;
	if (node != TORUS_NO_NODE)
		m->waits_since = 0;
	if (node != TORUS_NO_NODE && fm->table.version) {
		fm->root->brought |= m->brought;
		m->brought = 0;
	}
	fm->root->ranks_at = earlier(fm->root->ranks_at, fm->now + fm->cfg.resend);
}

static uint32_t name_key(const char *name)
{
	return (uint32_t)fm_mix(fnv1a(FNV1A_START, name));
}

void fm_record_name(struct fm_root *r, struct fm_record *m, const char *name)
{
	uint32_t self = fm_record_number(r, m);

	if (!strcmp(m->name, name))
		return;
	hash_del(&r->roster->by_name, name_key(m->name), self);
	strcpy(m->name, name);
	hash_put(&r->roster->by_name, name_key(name), self);
}

const struct fm_record *fm_record_namesake(const struct fm_root *r, const char *name, uint64_t guid)
{
	uint32_t i;

	for (uint32_t at = 0; hash_next(&r->roster->by_name, name_key(name), &at, &i);) {
		const struct fm_record *o = fm_record_no(r, i);

		if (o->guid != guid && o->via && !strcmp(o->name, name))
			return o;
	}
	return NULL;
}

struct fm_record *fm_record_at(const struct fm_root *r, uint32_t node)
{
	invariant(!r->at || node < r->changes.nodes);
	return r->at && r->at[node] ? fm_record_no(r, r->at[node] - 1) : NULL;
}

/* Makes room for one more node. Return: false if there is no memory. */
static bool grow_roster(struct fm_root *r)
{
	struct fm_roster *l = r->roster;
	uint32_t room = l->room ? 2 * l->room : 16;
	uint32_t *missing;
	struct fm_record *record;

	if (l->n < l->room)
		return true;
	missing = realloc(r->missing, 2 * room * sizeof(*missing));
	if (missing)
		r->missing = missing;
	record = realloc(l->record, room * sizeof(*record));
	if (record)
		l->record = record;
	if (!missing || !record || !hash_reserve(&l->by_guid, room) ||
	    !hash_reserve(&l->by_name, room))
		return false;
	l->room = room;
	return true;
}

/* Takes a free index. Return: its entry; NULL if there is no memory. */
static struct fm_record *take_number(struct fm_root *r)
{
	struct fm_roster *l = r->roster;
	struct fm_record *m;

	if (l->free) {
		m = &l->record[l->free - 1];
		l->free = m->next;
		l->nfree--;
		return m;
	}
	return grow_roster(r) ? &l->record[l->n++] : NULL;
}

struct fm_record *fm_record_add(struct fm_root *r, uint64_t guid)
{
	struct fm_record *m = take_number(r);

	if (!m)
		return NULL;
	memset(m, 0, sizeof(*m));
	m->guid = guid;
	m->node = m->worked_at = TORUS_NO_NODE;
	r->unplaced++;
	m->state = FM_NODE_UP;
	hash_put(&r->roster->by_guid, (uint32_t)fm_mix(guid), fm_record_number(r, m));
	hash_put(&r->roster->by_name, name_key(m->name), fm_record_number(r, m));
	return m;
}

#define CLAIM_WAIT 50	/* in units of fm_config.resend: how long a node that was asked to obey
			 * this root has time to join */

/* Return: true if @m is dead, has no place, and no part of the root refers to it. */
static bool is_forgettable(const struct fm *fm, const struct fm_record *m)
{
	bool comes = !fm_record_joined(m) && m->stated.claimed == fm->term &&
		     fm->now < m->stated.received + CLAIM_WAIT * fm->cfg.resend;

	return m->guid && !comes && m->state == FM_NODE_DEAD && m->node == TORUS_NO_NODE &&
	       !m->via && !m->first && !m->listed && !m->doubted;
}

/* Removes @m from the roster. The next new node gets its index. */
static void drop_record(struct fm *fm, struct fm_record *m)
{
	struct fm_root *r = fm->root;
	uint32_t self = fm_record_number(r, m);

	invariant(self && r->unplaced);
	fm_problem_clear(fm, "node", m->guid);
	hash_del(&r->roster->by_guid, (uint32_t)fm_mix(m->guid), self);
	hash_del(&r->roster->by_name, name_key(m->name), self);
	free(m->flap);
	*m = (struct fm_record) { .node = TORUS_NO_NODE, .worked_at = TORUS_NO_NODE,
				.state = FM_NODE_DEAD, .next = r->roster->free };
	r->roster->free = self + 1;
	r->roster->nfree++;
	r->unplaced--;
}

void fm_roster_forget(struct fm *fm)
{
	struct fm_root *r = fm->root;

	for (uint32_t i = 1; r->unplaced && i < fm_roster_size(r); i++)
		if (is_forgettable(fm, fm_record_no(r, i)))
			drop_record(fm, fm_record_no(r, i));
}

const char *fm_end_text(const struct fm *fm, const struct fm_record *m, unsigned int p,
			char *buf, size_t room)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];

	if (p >= 2 * fm->ndims)
		snprintf(buf, room, "port %u of '%s'", p, m->name);
	else if (m->node >= fm->table.nodes)
		snprintf(buf, room, "port %s of '%s'", torus_port_text(fm->ndims, p, port),
			 m->name);
	else
		snprintf(buf, room, "%s:%s ('%s')",
			 torus_node_text(&fm->table.shape, m->node, node),
			 torus_port_text(fm->ndims, p, port), m->name);
	return buf;
}
