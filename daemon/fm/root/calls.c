// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: which nodes a root calls
 *
 * Inits go from manager to manager, so a node learns of a root if a link leads to it from a node
 * that takes part. A node of the latest table has no such link if the managers at the other ends
 * of its cables hang or are away. Then it is called: the root connects to its address in the table,
 * and sends its Init there (node/called.c describes how the node reacts). If the node follows, its
 * own Inits reach the nodes behind it. Two kinds of nodes are not called:
 *  - a neighbour of a node that takes part: it has received Inits over the link, and does not
 *  answer;
 *  - a node to which no links lead at all, through any NICs: it is in a part that is cut off, which
 *    has a root of its own, and joins when a cable is back.
 *
 * A node that asks to be root waits until the wave has ended: for SETTLE without a new HELLO, but
 * at most for SETTLE_MAX in all. A node that has claimed goes on calling while it leads. Otherwise
 * a node that the quorum did not need would be without a root until a neighbour's manager is back.
 * A root that has no node left to call stops calling, until it finds a node silent (judge.c).
 *
 * Calls go round by round through the table, at most ROOM calls at once. A call ends after
 * CALL_WAIT at the latest (node/conns.c), also if the service network is cut or a manager hangs; a
 * refused call ends at once. A node that was called once is called again in the next round; after
 * two calls it is called in every second round, after three in every fourth, and at last in one of
 * 2 ^ (TRIES_MAX - 1) rounds. A node that answered that it follows another root may soon leave that
 * root, so it is called at least in every second round.
 *
 * Tests: tests/unit/test_fm_calls.c, tests/unit/test_fm_calls_who.c, tests/sim/test_calls.c.
 */
#include <stdlib.h>
#include <torus/topology.h>

#include "daemon/fm/root/calls.h"
#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/former.h"
#include "daemon/fm/status.h"
#include "daemon/fm/wire/init.h"
#include "lib/deps/invariant.h"

#define ROOM 16		/* most calls at the same time */
#define SETTLE 2	/* in units of fm_config.resend: time without a new HELLO until the first
			 * call */
#define SETTLE_MAX 10	/* in units of fm_config.resend: the first call does not wait for longer */
#define ROUND 3		/* in units of fm_config.resend: time from the end of a round to the next
			 * round */
#define TRIES_MAX 8	/* most calls that are counted: see above how seldom the node is called */
#define TRIES_OTHER 2	/* the same limit after the node has answered */

/** enum call_state - state of the calls to a node */
enum call_state {
	CALL_NONE,		/* no call is open: none was made, or the last one has ended */
	CALL_OPEN,		/* a call is open */
	CALL_OTHER,		/* the node answered that it follows another root */
	CALL_UNKNOWN,	/* no call is possible, because the table has no address of the node */
};

/**
 * struct call - the calls to one node
 * @tries: number of calls, counted up to TRIES_MAX; an answer reduces it to TRIES_OTHER
 */
struct call {
	uint8_t state, tries;
	bool near;		/* links may lead to this node from nodes that take part */
};

/**
 * struct fm_calls - the calls of this node, while it asks to be root or leads
 * @node, @nodes: the calls to each node of the latest table, by node id; NULL: not allocated yet
 * @queue: memory for @nodes node ids
 * @round, @next: number of the present round, and the node id at which it continues
 * @found: in this round a node was found that has to be called
 * @at: when the round continues; NEVER: it does not
 */
struct fm_calls {
	struct call *node;
	uint32_t *queue;
	uint32_t nodes, next, round;
	bool found;
	uint64_t at;
};

bool fm_calls_new(struct fm_root *r)
{
	r->calls = calloc(1, sizeof(*r->calls));
	return r->calls;
}

static void free_room(struct fm_calls *c)
{
	free(c->node);
	free(c->queue);
}

void fm_calls_free(struct fm_root *r)
{
	if (r->calls)
		free_room(r->calls);
	free(r->calls);
}

/* Return: the latest table that this node has, or was sent; NULL if there is none. */
static struct fm_book *latest_book(const struct fm *fm)
{
	const struct fm_past id = fm_former_id(&fm->root->former);
	const struct fm_voters *v;
	struct fm_book *b = fm_recall_table(fm, &id, &v);

	if (b)
		return b;
	return fm->table.version ? fm->table.book : fm->kept.book;
}

/* Return: true if @m takes part, or is about to connect to the parent that it was given. */
static bool takes_part(const struct fm *fm, const struct fm_record *m)
{
	return m->moving || fm_quorum_here(fm, m);
}

/* Return: the node of the entry @e, if it takes part; else NULL. */
static const struct fm_record *find_taker(const struct fm *fm, const struct fm_entry *e)
{
	const struct fm_record *m = fm_record(fm->root, e->guid);

	return m && takes_part(fm, m) ? m : NULL;
}

/*
 * Return: true if port @p of @node may be up: by the node's port row, if it takes part, else by the
 * table.
 */
static bool may_be_up(const struct fm *fm, const struct fm_book *b, uint32_t node, unsigned int p)
{
	const struct fm_entry *e = &b->entry[node];
	const struct fm_record *m = find_taker(fm, e);

	if (!m)
		return e->state != FM_NODE_ABSENT && !(e->fault & 1u << p);
	return p < m->row.nports && m->row.port[p].state == FM_PORT_UP;
}

static bool may_be_linked(const struct fm *fm, const struct fm_book *b, uint32_t node,
			  unsigned int p)
{
	uint32_t o = torus_neighbour(&b->shape, node, p);

	return may_be_up(fm, b, node, p) && may_be_up(fm, b, o, torus_dir_opposite(&b->shape, p));
}

/* Marks all nodes to which links may lead, through any NICs, from the nodes that take part. */
static void mark_near(const struct fm *fm, struct fm_calls *c, const struct fm_book *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nodes; i++) {
		c->node[i].near = find_taker(fm, &b->entry[i]);
		if (c->node[i].near)
			c->queue[n++] = i;
	}
	for (uint32_t k = 0; k < n; k++)
		for (unsigned int p = 0; p < 2u * b->shape.ndims; p++) {
			uint32_t o = torus_neighbour(&b->shape, c->queue[k], p);

			if (c->node[o].near || !may_be_linked(fm, b, c->queue[k], p))
				continue;
			c->node[o].near = true;
			c->queue[n++] = o;
		}
}

/* Return: true if a link leads to @node from a node that takes part. */
static bool is_beside(const struct fm *fm, const struct fm_book *b, uint32_t node)
{
	for (unsigned int p = 0; p < 2u * b->shape.ndims; p++) {
		const struct fm_entry *o = &b->entry[torus_neighbour(&b->shape, node, p)];
		const struct fm_record *m = find_taker(fm, o);
		unsigned int q = torus_dir_opposite(&b->shape, p);

		if (m && q < m->row.nports && m->row.port[q].state == FM_PORT_UP &&
		    m->row.port[q].peer_guid == b->entry[node].guid)
			return true;
	}
	return false;
}

/* Return: true if @node has to be called: see the head of this file. */
static bool needs_call(const struct fm *fm, const struct fm_calls *c, const struct fm_book *b,
		    uint32_t node)
{
	return c->node[node].near && !find_taker(fm, &b->entry[node]) && !is_beside(fm, b, node);
}

static unsigned int count_open(const struct fm *fm)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fm_conns_count(fm); i++)
		n += fm_conn_no(fm, i)->role == FM_CONN_CALL;
	return n;
}

static bool is_open(const struct fm *fm, uint64_t guid)
{
	for (unsigned int i = 0; i < fm_conns_count(fm); i++)
		if (fm_conn_no(fm, i)->role == FM_CONN_CALL && fm_conn_no(fm, i)->guid == guid)
			return true;
	return false;
}

/* Return: true if a node with @n->tries calls is to be called in this round. */
static bool is_turn(const struct fm_calls *c, const struct call *n)
{
	invariant(n->tries <= TRIES_MAX);
	return !n->tries || !(c->round & ((1u << (n->tries - 1)) - 1));
}

static void note_unknown(struct fm *fm, const struct fm_entry *e, struct call *n)
{
	if (n->state != CALL_UNKNOWN)
		fm_log(fm, FM_WARNING, "root",
		       "'%s' cannot be called, and no link leads to it from nodes that take part: "
		       "the table has no address of it",
		       e->name);
	n->state = CALL_UNKNOWN;
}

/* Begins a call. Return: true if a connection is being opened. */
static bool open_call(struct fm *fm, const struct fm_entry *e, struct call *n)
{
	int id = fm->ops.connect(fm->io, e->address);
	struct fm_conn *c = id < 0 ? NULL : fm_conn_add(fm, id, FM_CONN_CALL);

	if (n->state != CALL_OPEN && n->state != CALL_OTHER)
		fm_log(fm, FM_INFO, "root",
		       "'%s' is called over the service network: no link leads to it from nodes "
		       "that take part",
		       e->name);
	if (n->tries < TRIES_MAX)
		n->tries++;
	n->state = CALL_OPEN;
	if (c)
		c->guid = e->guid;
	else if (id >= 0)
		fm->ops.close(fm->io, id);
	return c;
}

void fm_calls_reached(struct fm *fm, const struct fm_conn *c)
{
	struct fm_msg msg = { .type = FM_MSG_CLAIM };
	struct fm_init init;

	fm_bootstrap_fill(fm, &init);
	msg.claim.guid = fm->guid;
	msg.claim.ninit = (uint16_t)fm_init_put(msg.claim.init, &init);
	fm_conn_send(fm, c, &msg);
}

void fm_calls_answered(struct fm *fm, uint64_t guid, bool follows)
{
	struct fm_calls *c = fm->root->calls;
	struct fm_book *b = latest_book(fm);
	uint32_t node = b ? fm_book_find(b, guid) : TORUS_NO_NODE;

	if (node >= c->nodes)
		return;
	c->node[node].state = follows ? CALL_OPEN : CALL_OTHER;
	if (c->node[node].tries > TRIES_OTHER)
		c->node[node].tries = TRIES_OTHER;
}

/* Allocates the calls for a table of @nodes nodes. Return: false if there is no memory. */
static bool resize_calls(struct fm_calls *c, uint32_t nodes)
{
	struct fm_calls room = { .nodes = nodes, .at = c->at };

	if (c->nodes == nodes)
		return true;
	room.node = calloc(nodes, sizeof(*room.node));
	room.queue = calloc(nodes, sizeof(*room.queue));
	free_room(room.node && room.queue ? c : &room);
	if (!room.node || !room.queue)
		return false;
	*c = room;
	return true;
}

/* Begins the next calls of this round. Return: true if the round is complete. */
static bool continue_round(struct fm *fm, const struct fm_book *b)
{
	struct fm_calls *c = fm->root->calls;
	unsigned int n = count_open(fm);

	invariant(c->next <= c->nodes && c->nodes == b->nodes);
	if (!c->next)
		mark_near(fm, c, b);
	for (; c->next < c->nodes && n < ROOM; c->next++) {
		const struct fm_entry *e = &b->entry[c->next];

		if (!needs_call(fm, c, b, c->next))
			continue;
		c->found = true;
		if (!e->address[0])
			note_unknown(fm, e, &c->node[c->next]);
		else if (is_turn(c, &c->node[c->next]) && !is_open(fm, e->guid))
			n += open_call(fm, e, &c->node[c->next]);
	}
	return c->next == c->nodes;
}

void fm_calls_due(struct fm *fm)
{
	struct fm_calls *c = fm->root->calls;
	struct fm_book *b;

	if (fm->now < c->at)
		return;
	b = latest_book(fm);
	c->at = fm->now + ROUND * fm->cfg.resend;
	if (fm->root->stage == FM_STAGE_CLAIMS || !b || !resize_calls(c, b->nodes))
		return;
	if (!continue_round(fm, b)) {
		c->at = fm->now + fm->cfg.resend / 4;
		return;
	}
	if (!c->found && fm->root->stage == FM_STAGE_LEADS)
		c->at = NEVER;
	c->next = 0;
	c->round++;
	c->found = false;
}

uint64_t fm_calls_expiry(const struct fm *fm)
{
	return fm->root->calls->at;
}

void fm_calls_begin(struct fm *fm, bool leads)
{
	fm->root->calls->at = leads ? NEVER : fm->now + SETTLE * fm->cfg.resend;
}

void fm_calls_joined(struct fm *fm)
{
	const struct fm_root *r = fm->root;
	struct fm_calls *c = fm->root->calls;
	uint64_t last = r->since + SETTLE_MAX * fm->cfg.resend;

	if (r->stage == FM_STAGE_ASKS && !c->round && !c->next)
		c->at = later(c->at, earlier(fm->now + SETTLE * fm->cfg.resend, last));
}

void fm_calls_look(struct fm *fm)
{
	struct fm_calls *c = fm->root->calls;

	c->at = earlier(c->at, fm->now + fm->cfg.resend);
}

void fm_calls_count(const struct fm *fm, struct fm_calls_status *out)
{
	const struct fm_calls *c = fm->root->calls;
	const struct fm_book *b = latest_book(fm);

	*out = (struct fm_calls_status) { 0 };
	for (uint32_t i = 0; b && i < b->nodes && i < c->nodes; i++) {
		bool is = c->node[i].state == CALL_OPEN || c->node[i].state == CALL_OTHER;
		bool follows = find_taker(fm, &b->entry[i]);

		out->called += is;
		out->follow += is && follows;
		out->others += c->node[i].state == CALL_OTHER && !follows;
		out->unknown += c->node[i].state == CALL_UNKNOWN && !follows;
	}
}
