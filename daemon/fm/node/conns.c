// SPDX-License-Identifier: GPL-2.0-only
/*
 * The service connections of a node, found by their number and by the NIC of the
 * child they lead to. A root is joined by all nodes at once, so neither may take
 * longer the more there are.
 *
 * tree->due is a lower bound of when one of them must be looked at: it falls with
 * every connection that is used, and is made exact when it is reached.
 */
#include <stdlib.h>

#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/random.h"

#define SLOTS_MIN 8

static struct fm_conn **id_slot(const struct fm_tree *t, int id)
{
	return &t->by_id[(uint32_t)fm_mix((uint64_t)id) & (t->nslots - 1)];
}

static struct fm_conn **guid_slot(const struct fm_tree *t, uint64_t guid)
{
	return &t->by_guid[(uint32_t)fm_mix(guid) & (t->nslots - 1)];
}

static void chain(struct fm_tree *t, struct fm_conn *c)
{
	struct fm_conn **id = id_slot(t, c->id), **guid;

	c->next_id = *id;
	*id = c;
	if (c->role != FM_CONN_CHILD)
		return;
	guid = guid_slot(t, c->guid);
	c->next_guid = *guid;
	*guid = c;
}

/* Room for twice as many. False: no memory. */
static bool grow(struct fm_tree *t)
{
	unsigned int room = t->room ? 2 * t->room : 4;
	unsigned int nslots = room < SLOTS_MIN ? SLOTS_MIN : room;
	struct fm_conn **conns = realloc(t->conns, room * sizeof(struct fm_conn *));
	struct fm_conn **by_id, **by_guid;

	if (!conns)
		return false;
	t->conns = conns;
	by_id = calloc(nslots, sizeof(struct fm_conn *));
	by_guid = calloc(nslots, sizeof(struct fm_conn *));
	if (!by_id || !by_guid) {
		free(by_id);
		free(by_guid);
		return false;
	}
	free(t->by_id);
	free(t->by_guid);
	t->by_id = by_id;
	t->by_guid = by_guid;
	t->nslots = nslots;
	t->room = room;
	for (unsigned int i = 0; i < t->nconns; i++)
		chain(t, t->conns[i]);
	return true;
}

struct fm_conn *fm_conn_add(struct fm *fm, int id, enum fm_conn_role role)
{
	struct fm_tree *t = &fm->tree;
	struct fm_conn *c = calloc(1, sizeof(*c));

	if (!c || (t->nconns == t->room && !grow(t))) {
		free(c);
		return NULL;
	}
	c->id = id;
	c->role = (uint8_t)role;
	c->node = TORUS_NO_NODE;
	c->heard = c->asked = fm->now;
	c->at = t->nconns;
	t->conns[t->nconns++] = c;
	chain(t, c);
	return c;
}

static void unchain_guid(struct fm_tree *t, struct fm_conn *c)
{
	struct fm_conn **at = guid_slot(t, c->guid);

	while (*at != c)
		at = &(*at)->next_guid;
	*at = c->next_guid;
}

void fm_conn_forget(struct fm *fm, struct fm_conn *c)
{
	struct fm_tree *t = &fm->tree;
	struct fm_conn **at = id_slot(t, c->id);

	while (*at != c)
		at = &(*at)->next_id;
	*at = c->next_id;
	fm_member_forget(fm, c);
	if (c->role == FM_CONN_CHILD)
		unchain_guid(t, c);
	t->conns[c->at] = t->conns[--t->nconns];
	t->conns[c->at]->at = c->at;
	free(c);
}

void fm_conns_free(struct fm *fm)
{
	struct fm_tree *t = &fm->tree;

	for (unsigned int i = 0; i < t->nconns; i++)
		free(t->conns[i]);
	free(t->conns);
	free(t->by_id);
	free(t->by_guid);
}

void fm_conn_child(struct fm *fm, struct fm_conn *c, uint64_t guid)
{
	struct fm_tree *t = &fm->tree;

	if (c->role == FM_CONN_CHILD)
		unchain_guid(t, c);
	c->role = FM_CONN_CHILD;
	c->guid = guid;
	c->next_guid = *guid_slot(t, guid);
	*guid_slot(t, guid) = c;
}

struct fm_conn *fm_tree_conn(struct fm *fm, int id)
{
	const struct fm_tree *t = &fm->tree;
	struct fm_conn *c = t->nconns ? *id_slot(t, id) : NULL;

	while (c && c->id != id)
		c = c->next_id;
	return c;
}

/* Another connection that the same child made. */
struct fm_conn *fm_conn_other(struct fm *fm, const struct fm_conn *c)
{
	struct fm_conn *o = *guid_slot(&fm->tree, c->guid);

	while (o && (o == c || o->guid != c->guid))
		o = o->next_guid;
	return o;
}
