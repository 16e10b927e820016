// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the distribution tree
 *
 * Every node first joins at the root: HELLO, WELCOME with the address of a
 * parent. It then says HELLO there and leaves the root once the parent has said
 * WELCOME, so the root serves its own children and those who are just joining.
 * To these guests it gives tables and steps only if they are still there when a
 * step is said again: their parents do it, and each node needs a table once.
 * A node that loses its parent goes back to the root, after a random delay; its
 * own children stay with it. If the given parent does not take it, it says so
 * to the root (stray) and stays there.
 *
 * Each start of the root is a term. A node that is welcomed in a new term sends
 * its children away, so that all come to the new root and tell it their rows.
 *
 * A connection delivers in order or breaks. What must survive a break is said
 * again: HELLO until WELCOME; a row until a table comes that was made from it;
 * children are announced anew to each new upstream; steps are repeated by who
 * waits for their reports (member.c, recovery.c).
 *
 * Parents in a circle, which the root never makes but a peer that lies can, would
 * pass words up for ever. Whoever gets a new upstream says its row there: if that comes
 * back from a child, the circle is closed, and that child is sent away.
 *
 * A manager that hangs keeps its connections. It is found by its silence: after
 * PARENT_WAIT keep-alives, and sooner by a parent that waits for its report in a
 * recovery, for a step said again is answered at once by whoever lives. A node
 * without a way to the root tells its children, so that all know whose picture
 * of the fabric is old.
 */
#include <string.h>

#include "daemon/fm/node/tree.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/roster.h"

#define PARENT_WAIT 4		/* keep-alives without a word, then it is lost */
#define ROW_WAIT_MAX 16	/* times resend, between sayings of a row that no table takes */
#define ANSWER_WAIT 20		/* so many times a child is asked without a word */

static struct fm_conn *conn_of_role(struct fm *fm, enum fm_conn_role role)
{
	for (unsigned int i = 0; i < fm->tree.nconns; i++)
		if (fm->tree.conns[i]->role == role)
			return fm->tree.conns[i];
	return NULL;
}

/* When a connection must be looked at next. */
static uint64_t conn_expiry(const struct fm *fm, const struct fm_conn *c)
{
	uint64_t lost = c->heard + PARENT_WAIT * fm->cfg.keepalive;
	uint64_t last = c->heard > c->asked ? c->heard : c->asked;

	if (fm_member_awaits(fm, c))
		lost = earlier(lost, last + ANSWER_WAIT * fm->cfg.resend);
	if (c->role == FM_CONN_CHILD || c->role == FM_CONN_STRANGER || !c->ready)
		return lost;
	if (!c->confirmed)
		return earlier(lost, c->asked + fm->cfg.resend);
	return earlier(lost, last + fm->cfg.keepalive);
}

static void look_at(struct fm *fm, const struct fm_conn *c)
{
	if (c)
		fm->tree.due = earlier(fm->tree.due, conn_expiry(fm, c));
}

static struct fm_conn *conn_add(struct fm *fm, int id, enum fm_conn_role role)
{
	struct fm_conn *c = fm_conn_add(fm, id, role);

	look_at(fm, c);
	return c;
}

void fm_tree_awaits(struct fm *fm)
{
	fm->tree.due = earlier(fm->tree.due, fm->now + ANSWER_WAIT * fm->cfg.resend);
}

void fm_tree_drop(struct fm *fm, struct fm_conn *c)
{
	fm->ops.close(fm->io, c->id);
	fm_conn_forget(fm, c);
}

struct fm_conn *fm_tree_upstream(struct fm *fm)
{
	struct fm_conn *c = conn_of_role(fm, FM_CONN_PARENT);

	if (c && c->confirmed)
		return c;
	c = conn_of_role(fm, FM_CONN_ROOT);
	return c && c->confirmed ? c : NULL;
}

void fm_tree_send(struct fm *fm, const struct fm_conn *c, const struct fm_msg *msg)
{
	fm->ops.send(fm->io, c->id, msg);
}

void fm_tree_send_up(struct fm *fm, const struct fm_msg *msg)
{
	struct fm_conn *c = fm_tree_upstream(fm);

	if (c)
		fm_tree_send(fm, c, msg);
}

void fm_tree_pong(struct fm *fm, const struct fm_conn *c)
{
	struct fm_msg msg = { .type = FM_MSG_PONG };

	msg.pong.adrift = !fm->root && fm->tree.cut_off;
	fm_tree_send(fm, c, &msg);
}

/* The way to the root is lost or found; all below are told. */
static void set_adrift(struct fm *fm, bool adrift)
{
	if (!fm->tree.cut_off == !adrift)
		return;
	fm->tree.cut_off = adrift ? fm->now : 0;
	for (unsigned int i = 0; i < fm->tree.nconns; i++)
		if (fm->tree.conns[i]->role == FM_CONN_CHILD)
			fm_tree_pong(fm, fm->tree.conns[i]);
}

static void send_hello(struct fm *fm, struct fm_conn *c)
{
	struct fm_msg msg = { .type = FM_MSG_HELLO };
	struct fm_hello *h = &msg.hello;
	bool child = c->role == FM_CONN_PARENT;

	h->role = child ? FM_ROLE_CHILD : FM_ROLE_JOIN;
	h->placed = fm->placed;
	h->stray = fm->tree.stray;
	strcpy(h->fabric, fm->cfg.fabric);
	strcpy(h->name, fm->cfg.name);
	strcpy(h->address, fm->cfg.address);
	h->guid = fm->guid;
	h->epoch = fm->epoch;
	if (fm->placed) {
		h->shape = fm->shape;
		h->coords = fm->coords;
	}
	memcpy(h->position, fm->position, sizeof(h->position));
	h->term = fm->tree.term;
	h->attach = c->attach;
	h->relay_packets = fm->relay_packets;
	h->row = fm->row;
	h->base = fm->member.base;
	fm_member_sums(fm, &h->sums);
	if (child)
		h->version = fm->table.term == fm->tree.term ? fm->table.version : 0;
	else
		h->version = fm->applied;
	if (!child)
		fm_table_tell(fm, h);
	if (!child)
		fm->tree.row_told = fm->row.serial;
	c->asked = fm->now;
	fm_tree_send(fm, c, &msg);
}

/* Tries the root again, later each time and not all nodes at once. */
static void retry_later(struct fm *fm, uint64_t least)
{
	struct fm_tree *t = &fm->tree;

	t->backoff = t->backoff ? earlier(2 * t->backoff, fm->cfg.member_max / 6) :
				  fm->cfg.resend / 4 + 1;
	if (t->backoff < least)
		t->backoff = least;
	t->retry = fm->now + t->backoff / 2 + fm_random(fm) % t->backoff;
}

static void connect_root(struct fm *fm)
{
	int id;

	fm->tree.retry = NEVER;
	id = fm->ops.connect(fm->io, fm->root_address);
	if (id >= 0 && conn_add(fm, id, FM_CONN_ROOT))
		return;
	if (id >= 0)
		fm->ops.close(fm->io, id);
	retry_later(fm, 0);
}

static void connect_parent(struct fm *fm, const char *address)
{
	struct fm_conn *c = conn_of_role(fm, FM_CONN_PARENT);
	int id;

	if (c && !strcmp(fm->tree.parent, address))
		return;
	if (c)
		fm_tree_drop(fm, c);
	strcpy(fm->tree.parent, address);
	id = fm->ops.connect(fm->io, address);
	if (id >= 0 && conn_add(fm, id, FM_CONN_PARENT))
		return;
	if (id >= 0)
		fm->ops.close(fm->io, id);
	c = conn_of_role(fm, FM_CONN_ROOT);
	fm->tree.stray = true;
	if (c)
		send_hello(fm, c);
}

void fm_tree_start(struct fm *fm)
{
	fm->tree.retry = NEVER;
	fm->tree.due = NEVER;
	fm->tree.cut_off = fm->now;
	if (fm->bootstrap)
		fm->tree.term = fm_random(fm) | 1;
}

void fm_tree_root_known(struct fm *fm)
{
	struct fm_conn *c = conn_of_role(fm, FM_CONN_ROOT);

	if (fm->root)
		return;
	if (c && !c->confirmed)
		fm_tree_drop(fm, c);
	if (!fm_tree_upstream(fm)) {
		fm->tree.backoff = 0;
		connect_root(fm);
	}
}

void fm_tree_up(struct fm *fm, int id)
{
	struct fm_conn *c = fm_tree_conn(fm, id);

	if (!c) {
		if (!conn_add(fm, id, FM_CONN_STRANGER))
			fm->ops.close(fm->io, id);
		return;
	}
	if (c->role != FM_CONN_ROOT && c->role != FM_CONN_PARENT)
		return;
	c->ready = true;
	c->heard = fm->now;
	/* The clock goes on where a restarted manager would not. */
	if (fm->tree.attach < fm->now)
		fm->tree.attach = fm->now;
	c->attach = ++fm->tree.attach;
	send_hello(fm, c);
	look_at(fm, c);
}

/* The parent we were given, or had, is gone. */
static void parent_lost(struct fm *fm, bool confirmed)
{
	struct fm_conn *c = conn_of_role(fm, FM_CONN_ROOT);

	if (!confirmed) {
		fm->tree.stray = true;
	} else {
		fm->tree.backoff = 0;
		fm_say(fm, FM_WARNING, "tree", "parent lost; back to the root");
	}
	if (c && c->ready)
		send_hello(fm, c);
	else if (!c)
		retry_later(fm, 0);
}

static void conn_lost(struct fm *fm, struct fm_conn *c)
{
	struct fm_conn was = *c;

	fm_conn_forget(fm, c);
	if (was.confirmed && !fm_tree_upstream(fm))
		set_adrift(fm, true);
	switch (was.role) {
	case FM_CONN_ROOT:
		if (!conn_of_role(fm, FM_CONN_PARENT))
			retry_later(fm, 0);
		break;
	case FM_CONN_PARENT:
		parent_lost(fm, was.confirmed);
		break;
	case FM_CONN_CHILD:
		fm_child_gone(fm, &was);
		break;
	}
}

void fm_tree_down(struct fm *fm, int id)
{
	struct fm_conn *c = fm_tree_conn(fm, id);

	if (c)
		conn_lost(fm, c);
}

/*
 * The way up is new, here or further up: what was said on the old one may be
 * lost and is said again, by all below as well.
 */
static void upstream_new(struct fm *fm)
{
	fm_children_announce(fm);
	fm->tree.row_next = fm->now;
	fm->tree.row_wait = fm->cfg.resend;
	fm_member_check(fm, true);
}

static void welcome(struct fm *fm, struct fm_conn *c, const struct fm_welcome *w)
{
	struct fm_tree *t = &fm->tree;
	bool first = !c->confirmed;
	int id = c->id;

	if (w->root_guid != fm->root_guid || !w->term)
		return;
	c->confirmed = true;
	set_adrift(fm, false);
	t->backoff = 0;
	fm_problem_clear(fm, "refused", 0);
	if (c->role == FM_CONN_PARENT) {
		t->stray = false;
		c = conn_of_role(fm, FM_CONN_ROOT);
		if (c && w->term == t->term)
			fm_tree_drop(fm, c);
		upstream_new(fm);
		return;
	}
	t->row_acked = t->row_told;
	if (t->term != w->term) {
		t->term = w->term;
		fm_children_drop(fm);
	}
	if (w->parent[0])
		connect_parent(fm, w->parent);
	else
		t->stray = false;
	if (first && fm_tree_conn(fm, id))
		upstream_new(fm);
}

static void refused(struct fm *fm, struct fm_conn *c, const char *why)
{
	if (c->role == FM_CONN_PARENT) {
		fm->ops.close(fm->io, c->id);
		conn_lost(fm, c);
		return;
	}
	fm_problem_set(fm, "refused", 0, "the root refuses this node: %s", why);
	fm_tree_drop(fm, c);
	retry_later(fm, 10 * fm->cfg.resend);
}

/* What comes from a connection that we opened: from above. */
static void from_above(struct fm *fm, struct fm_conn *c, const struct fm_msg *msg)
{
	switch (msg->type) {
	case FM_MSG_WELCOME:
		welcome(fm, c, &msg->welcome);
		break;
	case FM_MSG_REFUSE:
		refused(fm, c, msg->refuse.text);
		break;
	case FM_MSG_PONG:
		if (c == fm_tree_upstream(fm))
			set_adrift(fm, msg->pong.adrift);
		break;
	case FM_MSG_TABLE:
		if (c->confirmed)
			fm_member_table(fm, &msg->table);
		break;
	case FM_MSG_STEP:
		if (c->confirmed)
			fm_member_step(fm, &msg->step);
		break;
	}
}

/* Did we say this ourselves? Of a notice about a child its parent is the author. */
static bool ours(const struct fm *fm, const struct fm_msg *msg)
{
	return (msg->type == FM_MSG_ROW ? msg->row.guid : msg->left.parent) == fm->guid;
}

static void from_child(struct fm *fm, struct fm_conn *c, const struct fm_msg *msg)
{
	switch (msg->type) {
	case FM_MSG_PING:
		fm_tree_pong(fm, c);
		break;
	case FM_MSG_FETCH:
		fm_member_child(fm, c, 0);
		break;
	case FM_MSG_REPORT:
		fm_member_report(fm, c, &msg->report);
		break;
	case FM_MSG_ROW:
	case FM_MSG_LEFT:
	case FM_MSG_ADOPTED:
		if (fm->root) {
			fm_root_msg(fm, msg);
		} else if (ours(fm, msg)) {
			fm->ops.close(fm->io, c->id);
			conn_lost(fm, c);
		} else {
			fm_tree_send_up(fm, msg);
		}
		break;
	}
}

void fm_tree_msg(struct fm *fm, int id, const struct fm_msg *msg)
{
	struct fm_conn *c = fm_tree_conn(fm, id);

	if (!c)
		return;
	c->heard = fm->now;
	if (c->role == FM_CONN_ROOT || c->role == FM_CONN_PARENT)
		from_above(fm, c, msg);
	else if (msg->type == FM_MSG_HELLO)
		fm_child_hello(fm, c, &msg->hello);
	else if (c->role == FM_CONN_CHILD)
		from_child(fm, c, msg);
	look_at(fm, fm_tree_conn(fm, id));
}

static void send_row(struct fm *fm)
{
	struct fm_msg msg = { .type = FM_MSG_ROW };

	msg.row.guid = fm->guid;
	msg.row.epoch = fm->epoch;
	msg.row.row = fm->row;
	if (fm->root) {
		fm->tree.row_acked = fm->row.serial;
		fm_root_msg(fm, &msg);
		return;
	}
	fm_tree_send_up(fm, &msg);
	fm->tree.row_next = fm->now + fm->tree.row_wait;
	fm->tree.row_wait = earlier(2 * fm->tree.row_wait, ROW_WAIT_MAX * fm->cfg.resend);
}

void fm_tree_row(struct fm *fm)
{
	fm->tree.row_wait = fm->cfg.resend;
	send_row(fm);
}

void fm_tree_row_acked(struct fm *fm, uint32_t serial)
{
	if (serial == fm->row.serial)
		fm->tree.row_acked = serial;
}

/* Return: whether the connection is gone. */
static bool conn_due(struct fm *fm, struct fm_conn *c)
{
	struct fm_msg ping = { .type = FM_MSG_PING };

	if (conn_expiry(fm, c) > fm->now)
		return false;
	if (c->role == FM_CONN_CHILD || c->role == FM_CONN_STRANGER || !c->ready ||
	    fm->now >= c->heard + PARENT_WAIT * fm->cfg.keepalive) {
		fm->ops.close(fm->io, c->id);
		conn_lost(fm, c);
		return true;
	}
	if (!c->confirmed) {
		send_hello(fm, c);
	} else {
		c->asked = fm->now;
		fm_tree_send(fm, c, &ping);
	}
	return false;
}

/* The root does not know that we are here: it is told again, from the start. */
void fm_tree_rejoin(struct fm *fm)
{
	for (unsigned int i = fm->tree.nconns; i-- > 0;)
		if (fm->tree.conns[i]->role == FM_CONN_ROOT ||
		    fm->tree.conns[i]->role == FM_CONN_PARENT)
			fm_tree_drop(fm, fm->tree.conns[i]);
	set_adrift(fm, true);
	retry_later(fm, 0);
}

static bool row_waits(const struct fm *fm)
{
	return !fm->root && fm->row.serial != fm->tree.row_acked;
}

static void conns_due(struct fm *fm)
{
	struct fm_tree *t = &fm->tree;

	for (unsigned int i = 0; i < t->nconns;)
		if (!conn_due(fm, t->conns[i]))
			i++;
	t->due = NEVER;
	for (unsigned int i = 0; i < t->nconns; i++)
		look_at(fm, t->conns[i]);
	/* Many that end one by one are looked at together. */
	if (t->due < fm->now + fm->cfg.resend / 4)
		t->due = fm->now + fm->cfg.resend / 4;
}

void fm_tree_due(struct fm *fm)
{
	if (fm->now >= fm->tree.due)
		conns_due(fm);
	if (row_waits(fm) && fm_tree_upstream(fm) && fm->now >= fm->tree.row_next)
		send_row(fm);
	if (fm->now >= fm->tree.retry)
		connect_root(fm);
}

uint64_t fm_tree_expiry(const struct fm *fm)
{
	uint64_t at = earlier(fm->tree.retry, fm->tree.due);

	if (row_waits(fm) && fm_tree_upstream((struct fm *)fm))
		at = earlier(at, fm->tree.row_next);
	return at;
}
