// SPDX-License-Identifier: GPL-2.0-only
/*
 * The service connections of a node. They are found by their number, and by the GUID of the child
 * at the other end. All nodes join a root at once, so both searches use hash tables.
 *
 * conns->due is a lower bound of the time at which a connection needs attention (a time limit or a
 * keep-alive). Each use of a connection can only lower it; when the time is reached, it is computed
 * again.
 *
 * A node repeats HELLO until WELCOME comes. A connection loses nothing unless it breaks, so
 * repetitions serve only a peer that could not answer the first HELLO, or that takes the sender for
 * lost if no HELLO comes. If N nodes wait at a peer that has too little time for them, and each
 * sends HELLO every resend, the peer gets 10 N messages a second, and has even less time. So
 *  - without any answer the time until the next HELLO doubles, up to 8 times resend;
 *  - a node that asks to be root answers with the time after which it wants the next HELLO, which
 *    grows with the number of nodes that wait at it (root/claim.c);
 *  - a node that has news sends HELLO after resend in any case.
 * A time longer than resend is extended by up to a quarter, differently for each node and each
 * time, so that nodes which began at the same instant do not repeat at the same instant.
 */
#include <stdlib.h>

#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/random.h"
#include "lib/deps/invariant.h"
#include "lib/util/hash.h"

#define PEER_WAIT 4		/* keep-alive intervals of silence after which a peer counts as
				 * lost */
#define ROOT_ASKED 1		/* quarters of a keep-alive interval of silence after which the
				 * root is pinged */
#define PARENT_ASKED 3		/* quarters of a keep-alive interval of silence after which a
				 * parent is pinged, less often than the root, because pings
				 * would be most of all messages */
#define UPWARD_WAIT 6		/* quarters of a keep-alive interval of silence after which root
				 * or parent counts as lost, if nodes can take over */
#define URGENT_WAIT 2		/* in units of fm_config.resend: limit for the answer to an
				 * urgent ping */
#define ANSWER_WAIT 20		/* in units of fm_config.resend: limit for any message of a child
				 * that has to report */
#define CLAIMER_WAIT 10		/* in units of fm_config.resend: limit for a message of a node
				 * that asks to be root or claims, and has answered before, while
				 * no root leads */
#define ASKER_WAIT 5		/* in units of fm_config.resend: limit to connect to an asking
				 * node, or for its answer */
#define TRY_WAIT 20		/* in units of fm_config.resend: limit to connect to a root before
				 * the node leaves its own; TCP sends the first packet again after
				 * 1 s */
#define CALL_WAIT 5		/* in units of fm_config.resend: limit for the answer to a call */
#define BACKOFF_MAX 3		/* how often the time until the next HELLO is doubled at most */
#define SPREAD 4		/* a time longer than resend is extended by up to 1/SPREAD of it */

/**
 * struct fm_conns - all connections of this node
 * @list: the @n connections, in no order; there is room for @room
 * @of_role: the number of connections of each role
 * @by_id: index into @list by connection id; @by_guid: index of the children by GUID
 * @due: no connection needs attention before this time
 */
struct fm_conns {
	struct fm_conn **list;
	unsigned int n, room;
	unsigned int of_role[FM_CONN_TRY + 1];
	struct hash by_id, by_guid;
	uint64_t due;
};

bool fm_conns_new(struct fm *fm)
{
	fm->conns = calloc(1, sizeof(*fm->conns));
	if (fm->conns)
		fm->conns->due = NEVER;
	return fm->conns;
}

unsigned int fm_conns_count(const struct fm *fm)
{
	return fm->conns->n;
}

struct fm_conn *fm_conn_no(const struct fm *fm, unsigned int i)
{
	return i < fm->conns->n ? fm->conns->list[i] : NULL;
}

uint64_t fm_conns_expiry(const struct fm *fm)
{
	return fm->conns->due;
}

bool fm_conn_upward(const struct fm_conn *c)
{
	return c->role == FM_CONN_ROOT || c->role == FM_CONN_PARENT;
}

/*
 * Return: true if the connection leads to the root or to the parent, and a candidate can take over
 * from a root that fails. A takeover begins when the root's children notice that the root does not
 * answer. So this connection is pinged more often, at each node: the nodes below the children learn
 * it from them, or notice it themselves if their parent hangs at the same time.
 */
static bool is_watched(const struct fm *fm, const struct fm_conn *c)
{
	return c->confirmed && fm->cfg.takeover;
}

/* Return: ns of silence after which a peer is pinged. */
static uint64_t ask_after(const struct fm *fm, const struct fm_conn *c)
{
	if (!is_watched(fm, c))
		return fm->cfg.keepalive;
	return (c->role == FM_CONN_ROOT ? ROOT_ASKED : PARENT_ASKED) * fm->cfg.keepalive / 4;
}

/*
 * Return: true if the connection leads to an asking node that has not answered, or that counts as
 * lost. If the asking node is gone, this node can follow another one. But a node that no root has
 * ever led does not count it as lost, and until then names it in its Inits.
 */
static bool is_to_asker(const struct fm *fm, const struct fm_conn *c)
{
	return c->role == FM_CONN_ROOT && (!c->ready || c->greeted) && fm->root_asks &&
	       (fm->root_lost || !c->answered);
}

/*
 * Return: true if the node at the other end asks to be root, and has not answered the last HELLO,
 * although such a node answers each one. Without a limit for this, its followers would wait for it
 * for longer than they wait until they ask themselves.
 */
static bool is_silent_asker(const struct fm *fm, const struct fm_conn *c)
{
	return c->role == FM_CONN_ROOT && c->ready && !c->confirmed && c->greeted && fm->root_asks;
}

/*
 * Return: when the connection counts as lost if no message comes, not considering the lag of this
 * manager.
 */
static uint64_t lost_without_lag(const struct fm *fm, const struct fm_conn *c)
{
	uint64_t lost = c->received + PEER_WAIT * fm->cfg.keepalive;

	if (c->role == FM_CONN_CALL)
		return c->received + CALL_WAIT * fm->cfg.resend;
	if (c->role == FM_CONN_TRY)
		return c->received + (c->brief ? ASKER_WAIT : TRY_WAIT) * fm->cfg.resend;
	if (is_to_asker(fm, c))
		return later(c->received, c->greeted) + ASKER_WAIT * fm->cfg.resend + 2 * c->pace;
	if (is_silent_asker(fm, c))
		lost = earlier(lost, c->greeted + CLAIMER_WAIT * fm->cfg.resend + 2 * c->pace);
	if (is_watched(fm, c))
		lost = c->received + UPWARD_WAIT * fm->cfg.keepalive / 4;
	if (is_watched(fm, c) && c->role == FM_CONN_ROOT && fm->root_asks)
		lost = earlier(lost, c->received + CLAIMER_WAIT * fm->cfg.resend);
	return c->urgent ? earlier(lost, c->urgent + URGENT_WAIT * fm->cfg.resend) : lost;
}

uint64_t fm_conn_lost_at(const struct fm *fm, const struct fm_conn *c)
{
	return lost_without_lag(fm, c) + fm_lag_answer(fm);
}

uint64_t fm_conn_expiry(const struct fm *fm, const struct fm_conn *c)
{
	uint64_t lost = fm_conn_lost_at(fm, c);
	uint64_t last = c->received > c->asked ? c->received : c->asked;

	if (c->awaited)
		lost = earlier(lost, last + ANSWER_WAIT * fm->cfg.resend + fm_lag_answer(fm));
	if (!c->ready)
		return lost;
	if (!c->confirmed)
		return earlier(lost, c->again + fm_lag_late(fm));
	return earlier(lost, last + ask_after(fm, c));
}

/* Sets when the next HELLO is due. */
static void schedule_hello(struct fm *fm, struct fm_conn *c)
{
	unsigned int doubled = c->hellos ? c->hellos - 1u : 0;
	uint64_t after = later(fm->cfg.resend << doubled, c->pace);

	invariant(c->hellos <= BACKOFF_MAX + 1 && c->pace <= fm->cfg.keepalive);
	if (after > fm->cfg.resend)
		after += fm_mix(fm->guid ^ c->asked) % (after / SPREAD);
	c->again = c->asked + after;
}

void fm_conn_greet(struct fm *fm, struct fm_conn *c)
{
	c->asked = fm->now;
	if (c->hellos <= BACKOFF_MAX)
		c->hellos++;
	schedule_hello(fm, c);
}

void fm_conn_pace(struct fm *fm, struct fm_conn *c, uint32_t ms)
{
	c->pace = earlier(ms * MS, fm->cfg.keepalive);
	if (c->pace <= fm->cfg.resend)
		c->pace = 0;
	schedule_hello(fm, c);
}

void fm_conn_hurry(struct fm *fm, struct fm_conn *c)
{
	c->again = earlier(c->again, c->asked + fm->cfg.resend);
	fm_conn_look(fm, c);
}

void fm_conn_look(struct fm *fm, const struct fm_conn *c)
{
	if (c)
		fm->conns->due = earlier(fm->conns->due, fm_conn_expiry(fm, c));
}

static uint32_t id_key(int id)
{
	return (uint32_t)fm_mix((uint64_t)id);
}

static uint32_t guid_key(uint64_t guid)
{
	return (uint32_t)fm_mix(guid);
}

/* Makes room for one more connection. Return: false if there is no memory. */
static bool make_room(struct fm_conns *t)
{
	unsigned int room = t->room ? 2 * t->room : 4;
	struct fm_conn **list;

	if (t->n < t->room)
		return true;
	list = realloc(t->list, room * sizeof(struct fm_conn *));
	if (list)
		t->list = list;
	if (!list || !hash_reserve(&t->by_id, room) || !hash_reserve(&t->by_guid, room))
		return false;
	t->room = room;
	return true;
}

struct fm_conn *fm_conn_add(struct fm *fm, int id, enum fm_conn_role role)
{
	struct fm_conns *t = fm->conns;
	struct fm_conn *c = calloc(1, sizeof(*c));

	invariant(!fm_conn_find(fm, id));
	invariant(role != FM_CONN_CHILD);
	if (!c || !make_room(t)) {
		free(c);
		return NULL;
	}
	c->id = id;
	c->role = (uint8_t)role;
	t->of_role[role]++;
	c->node = TORUS_NO_NODE;
	c->received = c->asked = fm->now;
	c->at = t->n;
	t->list[t->n++] = c;
	hash_put(&t->by_id, id_key(id), c->at);
	fm_conn_look(fm, c);
	return c;
}

/* Moves @c to the index @at, that of a connection that has ended. */
static void move_conn(struct fm_conns *t, struct fm_conn *c, unsigned int at)
{
	hash_change(&t->by_id, id_key(c->id), c->at, at);
	if (c->role == FM_CONN_CHILD)
		hash_change(&t->by_guid, guid_key(c->guid), c->at, at);
	t->list[at] = c;
	c->at = at;
}

void fm_conn_forget(struct fm *fm, struct fm_conn *c)
{
	struct fm_conns *t = fm->conns;

	invariant(c->at < t->n && t->list[c->at] == c && t->of_role[c->role]);
	t->of_role[c->role]--;
	hash_del(&t->by_id, id_key(c->id), c->at);
	if (c->role == FM_CONN_CHILD)
		hash_del(&t->by_guid, guid_key(c->guid), c->at);
	if (c->at != --t->n)
		move_conn(t, t->list[t->n], c->at);
	free(c);
}

void fm_conns_free(struct fm *fm)
{
	struct fm_conns *t = fm->conns;

	if (!t)
		return;
	for (unsigned int i = 0; i < t->n; i++)
		free(t->list[i]);
	free(t->list);
	hash_free(&t->by_id);
	hash_free(&t->by_guid);
	free(t);
}

static void change_role(struct fm_conns *t, struct fm_conn *c, enum fm_conn_role role)
{
	t->of_role[c->role]--;
	t->of_role[role]++;
	c->role = (uint8_t)role;
}

void fm_conn_child(struct fm *fm, struct fm_conn *c, uint64_t guid)
{
	struct fm_conns *t = fm->conns;

	if (c->role == FM_CONN_CHILD)
		hash_del(&t->by_guid, guid_key(c->guid), c->at);
	change_role(t, c, FM_CONN_CHILD);
	c->guid = guid;
	hash_put(&t->by_guid, guid_key(guid), c->at);
}

void fm_conn_lead(struct fm *fm, struct fm_conn *c)
{
	invariant(c->role != FM_CONN_CHILD);
	change_role(fm->conns, c, FM_CONN_ROOT);
}

struct fm_conn *fm_conn_find(struct fm *fm, int id)
{
	const struct fm_conns *t = fm->conns;
	uint32_t i;

	for (uint32_t at = 0; hash_next(&t->by_id, id_key(id), &at, &i);)
		if (t->list[i]->id == id)
			return t->list[i];
	return NULL;
}

struct fm_conn *fm_conn_of_child(const struct fm *fm, uint64_t guid, const struct fm_conn *but)
{
	const struct fm_conns *t = fm->conns;
	uint32_t i;

	for (uint32_t at = 0; hash_next(&t->by_guid, guid_key(guid), &at, &i);)
		if (t->list[i] != but && t->list[i]->guid == guid)
			return t->list[i];
	return NULL;
}

struct fm_conn *fm_conn_of_role(const struct fm *fm, enum fm_conn_role role)
{
	/* A root has thousands of children, and no connection of most other roles. */
	for (unsigned int i = 0; fm->conns->of_role[role] && i < fm->conns->n; i++)
		if (fm->conns->list[i]->role == role)
			return fm->conns->list[i];
	invariant(!fm->conns->of_role[role]);
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
	fm->conns->due = earlier(fm->conns->due, fm->now + ANSWER_WAIT * fm->cfg.resend);
}

void fm_conns_look(struct fm *fm)
{
	struct fm_conns *t = fm->conns;

	t->due = NEVER;
	for (unsigned int i = 0; i < t->n; i++)
		fm_conn_look(fm, t->list[i]);
	/* delayed, so that connections that end one after the other are handled together */
	if (t->due < fm->now + fm->cfg.resend / 4)
		t->due = fm->now + fm->cfg.resend / 4;
}
