// SPDX-License-Identifier: GPL-2.0-only
/*
 * The service connections of a node, found by their number and by the NIC of the
 * child they lead to. A root is joined by all nodes at once, so neither may take
 * longer the more there are.
 *
 * conns->due is a lower bound of when one of them must be looked at: it falls with
 * every connection that is used, and is made exact when it is reached.
 */
#include <stdlib.h>

#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/random.h"

#define SLOTS_MIN 8
#define ANSWER_WAIT 20		/* so many times a child is asked without a word */

bool fm_conn_awaited(const struct fm *fm, const struct fm_conn *c)
{
	return fm->member.version && c->awaited;
}

/* When a connection must be looked at next. */
uint64_t fm_conn_expiry(const struct fm *fm, const struct fm_conn *c)
{
	uint64_t lost = c->heard + FM_PARENT_WAIT * fm->cfg.keepalive;
	uint64_t last = c->heard > c->asked ? c->heard : c->asked;

	if (fm_conn_awaited(fm, c))
		lost = earlier(lost, last + ANSWER_WAIT * fm->cfg.resend);
	if (c->role == FM_CONN_CHILD || c->role == FM_CONN_STRANGER || !c->ready)
		return lost;
	if (!c->confirmed)
		return earlier(lost, c->asked + fm->cfg.resend);
	return earlier(lost, last + fm->cfg.keepalive);
}

void fm_conn_look(struct fm *fm, const struct fm_conn *c)
{
	if (c)
		fm->conns.due = earlier(fm->conns.due, fm_conn_expiry(fm, c));
}

static struct fm_conn **id_slot(const struct fm_conns *t, int id)
{
	return &t->by_id[(uint32_t)fm_mix((uint64_t)id) & (t->nslots - 1)];
}

static struct fm_conn **guid_slot(const struct fm_conns *t, uint64_t guid)
{
	return &t->by_guid[(uint32_t)fm_mix(guid) & (t->nslots - 1)];
}

static void chain(struct fm_conns *t, struct fm_conn *c)
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
static bool grow(struct fm_conns *t)
{
	unsigned int room = t->room ? 2 * t->room : 4;
	unsigned int nslots = room < SLOTS_MIN ? SLOTS_MIN : room;
	struct fm_conn **conns = realloc(t->list, room * sizeof(struct fm_conn *));
	struct fm_conn **by_id, **by_guid;

	if (!conns)
		return false;
	t->list = conns;
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
	for (unsigned int i = 0; i < t->n; i++)
		chain(t, t->list[i]);
	return true;
}

struct fm_conn *fm_conn_add(struct fm *fm, int id, enum fm_conn_role role)
{
	struct fm_conns *t = &fm->conns;
	struct fm_conn *c = calloc(1, sizeof(*c));

	if (!c || (t->n == t->room && !grow(t))) {
		free(c);
		return NULL;
	}
	c->id = id;
	c->role = (uint8_t)role;
	c->node = TORUS_NO_NODE;
	c->heard = c->asked = fm->now;
	c->at = t->n;
	t->list[t->n++] = c;
	chain(t, c);
	fm_conn_look(fm, c);
	return c;
}

static void unchain_guid(struct fm_conns *t, struct fm_conn *c)
{
	struct fm_conn **at = guid_slot(t, c->guid);

	while (*at != c)
		at = &(*at)->next_guid;
	*at = c->next_guid;
}

void fm_conn_forget(struct fm *fm, struct fm_conn *c)
{
	struct fm_conns *t = &fm->conns;
	struct fm_conn **at = id_slot(t, c->id);

	while (*at != c)
		at = &(*at)->next_id;
	*at = c->next_id;
	if (c->role == FM_CONN_CHILD)
		unchain_guid(t, c);
	t->list[c->at] = t->list[--t->n];
	t->list[c->at]->at = c->at;
	free(c);
}

void fm_conns_free(struct fm *fm)
{
	struct fm_conns *t = &fm->conns;

	for (unsigned int i = 0; i < t->n; i++)
		free(t->list[i]);
	free(t->list);
	free(t->by_id);
	free(t->by_guid);
}

void fm_conn_child(struct fm *fm, struct fm_conn *c, uint64_t guid)
{
	struct fm_conns *t = &fm->conns;

	if (c->role == FM_CONN_CHILD)
		unchain_guid(t, c);
	c->role = FM_CONN_CHILD;
	c->guid = guid;
	c->next_guid = *guid_slot(t, guid);
	*guid_slot(t, guid) = c;
}

struct fm_conn *fm_conn_find(struct fm *fm, int id)
{
	const struct fm_conns *t = &fm->conns;
	struct fm_conn *c = t->n ? *id_slot(t, id) : NULL;

	while (c && c->id != id)
		c = c->next_id;
	return c;
}

/* Another connection that the same child made. */
struct fm_conn *fm_conn_other(struct fm *fm, const struct fm_conn *c)
{
	struct fm_conn *o = *guid_slot(&fm->conns, c->guid);

	while (o && (o == c || o->guid != c->guid))
		o = o->next_guid;
	return o;
}

struct fm_conn *fm_conn_of_role(const struct fm *fm, enum fm_conn_role role)
{
	for (unsigned int i = 0; i < fm->conns.n; i++)
		if (fm->conns.list[i]->role == role)
			return fm->conns.list[i];
	return NULL;
}

void fm_conn_send(struct fm *fm, const struct fm_conn *c, const struct fm_msg *msg)
{
	fm->ops.send(fm->io, c->id, msg);
}

void fm_conn_drop(struct fm *fm, struct fm_conn *c)
{
	fm->ops.close(fm->io, c->id);
	fm_conn_forget(fm, c);
}

void fm_conns_await(struct fm *fm)
{
	fm->conns.due = earlier(fm->conns.due, fm->now + ANSWER_WAIT * fm->cfg.resend);
}

void fm_conns_look(struct fm *fm)
{
	struct fm_conns *t = &fm->conns;

	t->due = NEVER;
	for (unsigned int i = 0; i < t->n; i++)
		fm_conn_look(fm, t->list[i]);
	/* Many that end one by one are looked at together. */
	if (t->due < fm->now + fm->cfg.resend / 4)
		t->due = fm->now + fm->cfg.resend / 4;
}
