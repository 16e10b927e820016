// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root's list of all nodes: who said HELLO, who holds its connection now,
 * what its row says, and whether it is up, silent or dead (judge.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/roster.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/dispute.h"
#include "daemon/fm/root/judge.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/settle.h"
#include "daemon/fm/root/tally.h"
#include "lib/util/fnv.h"

static void slot_put(struct fm_root *r, uint32_t i)
{
	uint32_t s = (uint32_t)fm_mix(r->mate[i].guid) & (r->nslots - 1);

	while (r->slot[s])
		s = (s + 1) & (r->nslots - 1);
	r->slot[s] = i + 1;
}

struct fm_mate *fm_mate(const struct fm_root *r, uint64_t guid)
{
	uint32_t s = (uint32_t)fm_mix(guid) & (r->nslots - 1);

	for (; r->slot[s]; s = (s + 1) & (r->nslots - 1))
		if (r->mate[r->slot[s] - 1].guid == guid)
			return &r->mate[r->slot[s] - 1];
	return NULL;
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
	if (top)
		hang(r, m, top);
	else
		r->uncounted |= via != 0;
}

void fm_mate_missing(struct fm *fm, struct fm_mate *m)
{
	struct fm_root *r = fm->root;

	fm_mate_via(r, m, 0);
	m->missing = fm->now;
	m->moving = false;
	r->judge_at = earlier(r->judge_at, fm_judge_soonest(fm));
	if (m->listed || m == r->mate)
		return;
	m->listed = true;
	r->missing[r->nmissing++] = (uint32_t)(m - r->mate);
}

void fm_mate_move(struct fm *fm, struct fm_mate *m, uint32_t node)
{
	fm->root->unplaced += (node == TORUS_NO_NODE) - (m->node == TORUS_NO_NODE);
	fm_tally_place(fm, m->node);
	fm_tally_place(fm, node);
	m->node = node;
}

/* --- names -------------------------------------------------------------------- */

static uint32_t name_slot(const struct fm_root *r, const char *name)
{
	return (uint32_t)fm_mix(fnv1a(FNV1A_START, name)) & (r->nslots - 1);
}

static void name_put(struct fm_root *r, uint32_t i)
{
	uint32_t s = name_slot(r, r->mate[i].name);

	for (; r->by_name[s]; s = (s + 1) & (r->nslots - 1))
		if (r->by_name[s] == i + 1)
			return;
	r->by_name[s] = i + 1;
	r->nnamed++;
}

static void names_anew(struct fm_root *r)
{
	memset(r->by_name, 0, r->nslots * sizeof(*r->by_name));
	r->nnamed = 0;
	for (uint32_t i = 0; i < r->nmates; i++)
		name_put(r, i);
}

static void mate_name(struct fm_root *r, struct fm_mate *m, const char *name)
{
	if (!strcmp(m->name, name))
		return;
	strcpy(m->name, name);
	name_put(r, (uint32_t)(m - r->mate));
	if (r->nnamed > r->nslots / 2)
		names_anew(r);
}

/* Another node of that name, that is there. */
static const struct fm_mate *namesake(const struct fm_root *r, const char *name, uint64_t guid)
{
	for (uint32_t s = name_slot(r, name); r->by_name[s]; s = (s + 1) & (r->nslots - 1)) {
		const struct fm_mate *o = &r->mate[r->by_name[s] - 1];

		if (o->guid != guid && o->via && !strcmp(o->name, name))
			return o;
	}
	return NULL;
}

struct fm_mate *fm_mate_at(const struct fm_root *r, uint32_t node)
{
	return r->at && r->at[node] ? &r->mate[r->at[node] - 1] : NULL;
}

struct fm_mate *fm_mate_add(struct fm_root *r, uint64_t guid)
{
	struct fm_mate *m;

	if (r->nmates == r->room) {
		uint32_t room = r->room ? 2 * r->room : 16;
		uint32_t *slot = calloc(4 * room, sizeof(*slot));
		uint32_t *by_name = calloc(4 * room, sizeof(*by_name));

		uint32_t *missing = realloc(r->missing, 2 * room * sizeof(*missing));

		m = realloc(r->mate, room * sizeof(*m));
		if (m)
			r->mate = m;
		if (missing)
			r->missing = missing;
		if (!m || !slot || !by_name || !missing) {
			free(slot);
			free(by_name);
			return NULL;
		}
		free(r->slot);
		free(r->by_name);
		r->slot = slot;
		r->by_name = by_name;
		r->room = room;
		r->nslots = 4 * room;
		for (uint32_t i = 0; i < r->nmates; i++)
			slot_put(r, i);
		names_anew(r);
	}
	m = &r->mate[r->nmates++];
	memset(m, 0, sizeof(*m));
	m->guid = guid;
	m->node = TORUS_NO_NODE;
	r->unplaced++;
	m->state = FM_NODE_UP;
	slot_put(r, r->nmates - 1);
	return m;
}

static bool sums_zero(const struct fm_sums *s)
{
	static const struct fm_sums zero;

	return !memcmp(s->flow, zero.flow, sizeof(s->flow));
}

/* A NIC begins to be counted: with all zero it fits any base. */
static void mate_counts(struct fm *fm, const struct fm_mate *m, const struct fm_hello *h)
{
	struct fm_root *r = fm->root;

	if (sums_zero(&h->sums))
		r->base.set += fm_fingerprint(m->guid, m->epoch);
	else
		r->base.known = 0;
	if (h->base.version > r->base_seen.version)
		r->base_seen = h->base;
}

int fm_root_start(struct fm *fm, const struct torus_device *dev)
{
	struct fm_root *r = calloc(1, sizeof(*r));
	const struct torus_shape *cfg = &fm->cfg.shape;
	struct fm_hello own = { .guid = fm->guid };
	struct fm_mate *m;

	if (!r)
		return -ENOMEM;
	fm->root = r;
	r->clean = (1u << TORUS_COLOURS) - 1;
	r->judge_at = NEVER;
	r->disputes.at = NEVER;
	r->damp.at = NEVER;
	r->base.known = (1u << (TORUS_COLOURS + 1)) - 1;
	r->rec.next = NEVER;
	m = fm_mate_add(r, fm->guid);
	if (!m)
		return -ENOMEM;
	m->epoch = fm->epoch;
	fm_mate_via(r, m, fm->guid);
	mate_name(r, m, fm->cfg.name);
	strcpy(m->address, fm->cfg.address);
	m->row = fm->row;
	fm_mate_move(fm, m, 0);
	m->fixed = true;
	if (dev->placed && dev->node == 0 &&
	    (cfg->ndims ? !memcmp(cfg, &dev->shape, sizeof(*cfg)) :
			  !fm->cabled || torus_nodes(&dev->shape) > 1)) {
		r->restored = true;
		r->version_seen = dev->version;
		m->version = dev->version;
	} else if (dev->placed) {
		fm_say(fm, FM_WARNING, "bootstrap",
		       "the NIC was placed at another shape or not at 0: placed anew");
		r->version_seen = dev->version;
	}
	fm_sums_read(fm, &own.sums);
	mate_counts(fm, m, &own);
	fm_settle_news(fm);
	return 0;
}

void fm_root_free(struct fm *fm)
{
	struct fm_root *r = fm->root;

	if (!r)
		return;
	fm_damp_free(r);
	fm_tally_free(r);
	free(r->mate);
	free(r->missing);
	free(r->slot);
	free(r->by_name);
	free(r->at);
	free(r->admin);
	fm_recall_free(r);
	free(r);
}

static bool rows_same(const struct fm_row *a, const struct fm_row *b)
{
	if (a->nports != b->nports)
		return false;
	for (unsigned int p = 0; p < a->nports; p++)
		if (!fm_port_row_same(&a->port[p], &b->port[p]))
			return false;
	return true;
}

/* Names the first port that went up or down, if any did, as cause of a recovery. */
static void row_cause(const struct fm *fm, const struct fm_mate *m, const struct fm_row *now,
		      char *text, size_t room)
{
	static const char *const states[] = { "down", "up", "down" };
	char port[TORUS_TEXT_MAX], node[TORUS_TEXT_MAX];
	unsigned int p = 0;

	while (p < 2 * fm->ndims && m->row.port[p].state == now->port[p].state)
		p++;
	if (fm->table.version && m->node != TORUS_NO_NODE && p < 2 * fm->ndims)
		snprintf(text, room, "link %s:%s %s", torus_node_text(&fm->table.shape, m->node, node),
			 torus_port_text(fm->ndims, p, port), states[now->port[p].state]);
	else
		snprintf(text, room, "links of '%s'", m->name);
}

/*
 * Both ends of a cable tell of its change, at nearly the same time: a table
 * waits for the other end. Once both have told it waits only as long as other
 * cables may take to tell that went at the same instant.
 */
#define COALESCE (2 * MS)
#define OTHER_END (6 * MS)
#define BOTH_ENDS (MS / 4)

static void row_take(struct fm *fm, struct fm_mate *m, const struct fm_row *row)
{
	char cause[FM_TEXT_MAX / 2];
	bool known;

	fm_tally_node(fm, m->node);
	if (rows_same(&m->row, row)) {
		m->row.serial = row->serial;
		return;
	}
	row_cause(fm, m, row, cause, sizeof(cause));
	known = fm_damp_row(fm, m, row);
	m->row = *row;
	m->opening = 0;
	fm_dispute_row(fm, m);
	if (fm->root->nmissing)
		fm->root->judge_at = earlier(fm->root->judge_at, fm_judge_soonest(fm));
	if (!known)
		fm_publish_dirty(fm, fm_disputed_any(fm, m) ? OTHER_END : BOTH_ENDS, "%s", cause);
	fm_settle_news(fm);
}

/* --- HELLO ------------------------------------------------------------------ */

/* Why a HELLO cannot be accepted, or NULL. */
static const char *objection(struct fm *fm, const struct fm_hello *h, char *text, size_t room)
{
	const struct fm_mate *m = fm_mate(fm->root, h->guid);

	if (m && m->via && (strcmp(m->name, h->name) || strcmp(m->address, h->address))) {
		snprintf(text, room, "GUID %016llx of '%s' (%s) is in use by '%s' (%s)",
			 (unsigned long long)h->guid, h->name, h->address, m->name, m->address);
		return text;
	}
	if (h->row.nports < 2 * fm->ndims) {
		snprintf(text, room, "'%s' has %u ports; a fabric of %u dimensions needs %u", h->name,
			 h->row.nports, fm->ndims, 2 * fm->ndims);
		return text;
	}
	m = namesake(fm->root, h->name, h->guid);
	if (m) {
		snprintf(text, room, "name '%s' of %016llx (%s) is in use by %016llx (%s)", h->name,
			 (unsigned long long)h->guid, h->address, (unsigned long long)m->guid,
			 m->address);
		return text;
	}
	return NULL;
}

void fm_root_moves(struct fm *fm, uint64_t guid)
{
	struct fm_mate *m = fm_mate(fm->root, guid);

	if (m)
		m->moving = true;
}

#define RESTLESS 10	/* keep-alives since it joined last */

static bool there(const struct fm_mate *m)
{
	return (m->via || m->moving) && m->state == FM_NODE_UP;
}

/*
 * The tree is a heap of the roster: the parent of number i is (i - 1) / fanout,
 * or the nearest of its forebears that is there; for one that comes back because
 * it was not taken, or was here only just, the next above. Numbers fall on the way
 * up, so there is no circle, and it ends at the root: where connections break all
 * the time the tree becomes flat, and less is said again after each.
 */
static const char *parent_of(struct fm *fm, struct fm_mate *m, bool joins, bool stray)
{
	const struct fm_root *r = fm->root;
	bool restless = m->joined && fm->now < m->joined + RESTLESS * fm->cfg.keepalive;
	uint32_t i = m->given;

	if (joins && !restless)
		i = (uint32_t)(m - r->mate);
	if (joins)
		m->joined = fm->now;
	while (i > 0 && (joins || stray || !there(&r->mate[i]))) {
		i = (i - 1) / fm->cfg.fanout;
		joins = stray = false;
	}
	m->given = i;
	return i ? r->mate[i].address : "";
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

/* Everyone said to hang below @guid must be told of anew. */
static void forget_below(struct fm *fm, uint64_t guid)
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

/*
 * Each node lets as many packets on the way through relays as its own memory is good
 * for at every other one: with less there, relays must send some back.
 */
static void check_relay(struct fm *fm, const struct fm_mate *m,
			uint32_t packets)
{
	if (packets && fm->relay_packets && packets != fm->relay_packets)
		fm_problem_set(fm, "relay", m->guid,
			       "'%s' keeps %u packets as a relay, the root '%s' %u: set relay_packets of all NICs to the same, or relays return what they have no room for",
			       m->name, packets, fm->cfg.name, fm->relay_packets);
	else
		fm_problem_clear(fm, "relay", m->guid);
}

static void mate_hello(struct fm *fm, struct fm_mate *m, const struct fm_hello *h, bool fresh)
{
	struct fm_root *r = fm->root;
	bool back = m->state != FM_NODE_UP || m->epoch != h->epoch;

	if (!fresh && m->epoch != h->epoch) {
		fm_recovery_set_changed(fm);
		m->attach = 0;
	}
	m->epoch = h->epoch;
	m->state = FM_NODE_UP;
	m->missing = 0;
	fm_problem_clear(fm, "node", m->guid);
	m->version = h->version;
	fm_recall_hello(fm, h);
	mate_name(r, m, h->name);
	strcpy(m->address, h->address);
	check_relay(fm, m, h->relay_packets);
	if (fresh || back)
		mate_counts(fm, m, h);
	if (h->version > r->version_seen)
		r->version_seen = h->version;
	/* A manager that missed versions, or has seen those of a former root. */
	if (h->placed && h->version != r->version &&
	    (r->rec.phase == FM_PHASE_REST || h->version > r->version))
		fm_publish_dirty(fm, COALESCE, "node '%s' has version %llu", m->name,
				 (unsigned long long)h->version);
	if (fresh || m->node == TORUS_NO_NODE)
		fm_publish_dirty(fm, COALESCE, "node '%s' joins", m->name);
	if (r->restored && !r->settled && h->placed && m->node == TORUS_NO_NODE &&
	    !memcmp(&h->shape, &fm->shape, sizeof(h->shape)))
		fm_mate_move(fm, m, torus_node_id(&h->shape, &h->coords));
	if (back && r->settled)
		fm_publish_dirty(fm, COALESCE, "node '%s' is back", m->name);
	row_take(fm, m, &h->row);
	m->row.serial = h->row.serial;
	fm_tally_node(fm, m->node);
	fm_settle_news(fm);
}

void fm_root_hello(struct fm *fm, struct fm_conn *c, const struct fm_hello *h)
{
	struct fm_msg msg = { .type = FM_MSG_WELCOME };
	struct fm_mate *m;
	char text[FM_TEXT_MAX];
	const char *why = objection(fm, h, text, sizeof(text));
	bool fresh;

	if (why) {
		fm_problem_set(fm, "refused", fm_mix(h->guid) ^ h->epoch, "%s", why);
		fm_child_refuse(fm, c, why);
		return;
	}
	fm_problem_clear(fm, "refused", fm_mix(h->guid) ^ h->epoch);
	m = fm_mate(fm->root, h->guid);
	fresh = !m;
	if (fresh)
		m = fm_mate_add(fm->root, h->guid);
	if (!m) {
		fm_child_refuse(fm, c, "the root is out of memory");
		return;
	}
	if (fresh)
		fm_say(fm, FM_INFO, "node", "'%s' (%s) joins", h->name, h->address);
	if (c->role != FM_CONN_CHILD)
		forget_below(fm, h->guid);
	/* The same again on one connection may be late: rows have their serial. */
	if (c->role != FM_CONN_CHILD || (int32_t)(h->row.serial - m->row.serial) > 0)
		mate_hello(fm, m, h, fresh);
	m = fm_mate(fm->root, h->guid);
	msg.welcome.term = fm->uplink.term;
	msg.welcome.root_guid = fm->guid;
	strcpy(msg.welcome.parent, parent_of(fm, m, c->role != FM_CONN_CHILD, h->stray));
	c->guest = msg.welcome.parent[0];
	fm_conn_send(fm, c, &msg);
	fm_child_accept(fm, c, &(struct fm_hello) { .guid = h->guid,
							 .epoch = h->epoch,
							 .attach = h->attach });
}

/* --- what comes up the tree ------------------------------------------------- */

static void left(struct fm *fm, const struct fm_left *l)
{
	struct fm_mate *m = fm_mate(fm->root, l->guid);

	if (!m || m->epoch != l->epoch || l->attach < m->attach)
		return;
	m->attach = l->attach + 1;
	fm_mate_missing(fm, m);
	forget_below(fm, l->guid);
	fm_say(fm, FM_DEBUG, "node", "connection to '%s' lost", m->name);
}

static void adopted(struct fm *fm, const struct fm_left *l)
{
	struct fm_mate *m = fm_mate(fm->root, l->guid);

	if (!m || m->epoch != l->epoch || l->attach < m->attach)
		return;
	m->attach = l->attach;
	fm_mate_via(fm->root, m, l->parent);
	m->missing = 0;
	/*
	 * Judged dead because this came late. One that is in the table sees that there
	 * and joins anew; of one that was never placed no table says anything.
	 */
	if (m->state == FM_NODE_DEAD && m->node == TORUS_NO_NODE) {
		m->state = FM_NODE_UP;
		fm_problem_clear(fm, "node", m->guid);
		fm_publish_dirty(fm, COALESCE, "node '%s' is back", m->name);
	}
}

void fm_root_msg(struct fm *fm, const struct fm_msg *msg)
{
	struct fm_mate *m;

	switch (msg->type) {
	case FM_MSG_ROW:
		m = fm_mate(fm->root, msg->row.guid);
		if (m && m->epoch == msg->row.epoch &&
		    (int32_t)(msg->row.row.serial - m->row.serial) > 0)
			row_take(fm, m, &msg->row.row);
		break;
	case FM_MSG_LEFT:
		left(fm, &msg->left);
		break;
	case FM_MSG_ADOPTED:
		adopted(fm, &msg->left);
		break;
	case FM_MSG_REPORT:
		fm_recovery_report(fm, &msg->report);
		break;
	}
}
