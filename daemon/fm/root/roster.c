// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root's list of all nodes: who holds their connections, found by GUID, by name and by
 * place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/roster.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/root.h"
#include "lib/util/fnv.h"

struct fm_mate *fm_mate(const struct fm_root *r, uint64_t guid)
{
	uint32_t i;

	for (uint32_t at = 0; hash_next(&r->by_guid, (uint32_t)fm_mix(guid), &at, &i);)
		if (r->mate[i].guid == guid)
			return &r->mate[i];
	return NULL;
}

bool fm_mate_joined(const struct fm_mate *m)
{
	return m && m->name[0];
}

static void unhang(struct fm_root *r, struct fm_mate *m)
{
	if (m->next)
		r->mate[m->next - 1].prev = m->prev;
	if (m->prev)
		r->mate[m->prev - 1].next = m->next;
	else if (m->above)
		r->mate[m->above - 1].first = m->next;
	m->above = m->next = m->prev = 0;
}

static void hang(struct fm_root *r, struct fm_mate *m, struct fm_mate *top)
{
	uint32_t self = (uint32_t)(m - r->mate) + 1;

	m->above = (uint32_t)(top - r->mate) + 1;
	m->next = top->first;
	if (m->next)
		r->mate[m->next - 1].prev = self;
	top->first = self;
}

/* Who holds the connection of @m; 0: nobody. */
void fm_mate_via(struct fm_root *r, struct fm_mate *m, uint64_t via)
{
	struct fm_mate *top = via ? fm_mate(r, via) : NULL;

	if (m->via == via && m->above)
		return;
	unhang(r, m);
	m->via = via;
	if (via)
		m->parent = via;
	if (top)
		hang(r, m, top);
	else
		r->uncounted |= via != 0;
}

void fm_roster_judge(struct fm *fm)
{
	/* News come in numbers when many nodes are lost. */
	fm->root->judge_at = earlier(fm->root->judge_at, fm->now + MS / 2);
}

void fm_mate_missing(struct fm *fm, struct fm_mate *m)
{
	struct fm_root *r = fm->root;

	fm_mate_via(r, m, 0);
	m->missing = fm->now;
	m->moving = m->lost = false;
	fm_roster_judge(fm);
	if (m->listed || m == r->mate)
		return;
	m->listed = true;
	r->missing[r->nmissing++] = (uint32_t)(m - r->mate);
}

/*
 * All below @top are missing, however far: a node whose way to the root is new says
 * whom it holds, and so do all below it. If @top is dead, nobody would tell of those
 * further below that died with it.
 */
static void forget_tree(struct fm *fm, struct fm_mate *top)
{
	struct fm_root *r = fm->root;

	while (top->first) {
		struct fm_mate *m = &r->mate[top->first - 1];

		while (m->first) {
			struct fm_mate *lower = &r->mate[m->first - 1];

			unhang(r, lower);
			if (lower != top)	/* late words may have made a circle */
				hang(r, lower, top);
		}
		fm_mate_missing(fm, m);
	}
}

void fm_roster_forget_below(struct fm *fm, uint64_t guid)
{
	struct fm_root *r = fm->root;
	struct fm_mate *top = fm_mate(r, guid);

	if (top)
		forget_tree(fm, top);
	for (uint32_t i = 1; r->uncounted && i < r->nmates; i++) {
		if (r->mate[i].via != guid)
			continue;
		forget_tree(fm, &r->mate[i]);
		fm_mate_missing(fm, &r->mate[i]);
	}
}

void fm_mate_move(struct fm *fm, struct fm_mate *m, uint32_t node)
{
	fm->root->unplaced += (node == TORUS_NO_NODE) - (m->node == TORUS_NO_NODE);
	fm_change_place(fm, m->node);
	fm_change_place(fm, node);
	if (m->node != node)
		m->bare = fm->root->bare = true;
	m->node = node;
}

static uint32_t name_key(const char *name)
{
	return (uint32_t)fm_mix(fnv1a(FNV1A_START, name));
}

void fm_mate_name(struct fm_root *r, struct fm_mate *m, const char *name)
{
	uint32_t self = (uint32_t)(m - r->mate);

	if (!strcmp(m->name, name))
		return;
	hash_del(&r->by_name, name_key(m->name), self);
	strcpy(m->name, name);
	hash_put(&r->by_name, name_key(name), self);
}

const struct fm_mate *fm_mate_namesake(const struct fm_root *r, const char *name, uint64_t guid)
{
	uint32_t i;

	for (uint32_t at = 0; hash_next(&r->by_name, name_key(name), &at, &i);) {
		const struct fm_mate *o = &r->mate[i];

		if (o->guid != guid && o->via && !strcmp(o->name, name))
			return o;
	}
	return NULL;
}

struct fm_mate *fm_mate_at(const struct fm_root *r, uint32_t node)
{
	return r->at && r->at[node] ? &r->mate[r->at[node] - 1] : NULL;
}

/* Room for one more. False: no memory. */
static bool make_room(struct fm_root *r)
{
	uint32_t room = r->room ? 2 * r->room : 16;
	uint32_t *missing;
	struct fm_mate *mate;

	if (r->nmates < r->room)
		return true;
	missing = realloc(r->missing, 2 * room * sizeof(*missing));
	if (missing)
		r->missing = missing;
	mate = realloc(r->mate, room * sizeof(*mate));
	if (mate)
		r->mate = mate;
	if (!missing || !mate || !hash_reserve(&r->by_guid, room) ||
	    !hash_reserve(&r->by_name, room))
		return false;
	r->room = room;
	return true;
}

/* A number that nobody has. Return: NULL if out of memory. */
static struct fm_mate *new_number(struct fm_root *r)
{
	struct fm_mate *m;

	if (r->free) {
		m = &r->mate[r->free - 1];
		r->free = m->next;
		r->nfree--;
		return m;
	}
	return make_room(r) ? &r->mate[r->nmates++] : NULL;
}

struct fm_mate *fm_mate_add(struct fm_root *r, uint64_t guid)
{
	struct fm_mate *m = new_number(r);

	if (!m)
		return NULL;
	memset(m, 0, sizeof(*m));
	m->guid = guid;
	m->node = m->worked_at = TORUS_NO_NODE;
	r->unplaced++;
	m->state = FM_NODE_UP;
	hash_put(&r->by_guid, (uint32_t)fm_mix(guid), (uint32_t)(m - r->mate));
	hash_put(&r->by_name, name_key(m->name), (uint32_t)(m - r->mate));
	return m;
}

#define CLAIM_WAIT 50	/* times resend, that one who was told to obey this root may take */

/* Nobody waits for @m, has it as parent, or will look at it again. */
static bool forgettable(const struct fm *fm, const struct fm_mate *m)
{
	bool comes = !fm_mate_joined(m) && m->voice.claimed == fm->uplink.term &&
		     fm->now < m->voice.heard + CLAIM_WAIT * fm->cfg.resend;

	return m->guid && !comes && m->state == FM_NODE_DEAD && m->node == TORUS_NO_NODE && !m->via &&
	       !m->first && !m->listed && !m->doubted;
}

/* Its number, which others have noted, is given to the next who is new. */
static void forget(struct fm *fm, struct fm_mate *m)
{
	struct fm_root *r = fm->root;
	uint32_t self = (uint32_t)(m - r->mate);

	fm_problem_clear(fm, "node", m->guid);
	hash_del(&r->by_guid, (uint32_t)fm_mix(m->guid), self);
	hash_del(&r->by_name, name_key(m->name), self);
	free(m->flap);
	*m = (struct fm_mate) { .node = TORUS_NO_NODE, .worked_at = TORUS_NO_NODE,
				.state = FM_NODE_DEAD, .next = r->free };
	r->free = self + 1;
	r->nfree++;
	r->unplaced--;
}

void fm_roster_forget(struct fm *fm)
{
	struct fm_root *r = fm->root;

	for (uint32_t i = 1; r->unplaced && i < r->nmates; i++)
		if (forgettable(fm, &r->mate[i]))
			forget(fm, &r->mate[i]);
}

const char *fm_end_text(const struct fm *fm, const struct fm_mate *m, unsigned int p,
			char *buf, size_t room)
{
	char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];

	if (m->node == TORUS_NO_NODE || p >= 2 * fm->ndims)
		snprintf(buf, room, "port %u of '%s'", p, m->name);
	else
		snprintf(buf, room, "%s:%s ('%s')",
			 torus_node_text(&fm->table.shape, m->node, node),
			 torus_port_text(fm->ndims, p, port), m->name);
	return buf;
}
