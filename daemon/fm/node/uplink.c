// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way up: the connections of this node to the root and to its parent, the HELLOs and port rows
 * that it sends on them, and when it tries to connect again.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/verdict.h"
#include "lib/deps/invariant.h"

#define REFUSED_WAIT 10	/* in units of fm_config.resend: interval until the next attempt to join a
			 * root that has refused this node; it doubles */
#define REFUSALS_MAX 4	/* ... this often */
#define ROW_WAIT_MAX 16	/* in units of fm_config.resend: longest interval between repetitions of
			 * a port row */

/** struct fm_uplink - this node's way to the root in the distribution tree */
struct fm_uplink {
	uint64_t retry;		/* when to connect to the root again; NEVER: not */
	uint64_t backoff;
	unsigned int refusals;	/* how often the followed root has refused this node, or another
				 * one answered for it, one time after the other */
	bool stray;		/* the parent that the root named did not accept this node */
	char parent[FM_ADDR_MAX];
	uint64_t attach;	/* the last number given to a connection upward */
	uint32_t row_sent;	/* serial of the port row in the first HELLO on the last
				 * connection to the root, which the first WELCOME answers: a later
				 * HELLO may be lost if the connection ends at that WELCOME */
	uint64_t row_sent_on;	/* number of that connection */
	uint32_t row_acked;	/* serial of the last port row that the root is known to have */
	uint64_t row_next;	/* when the port row is sent again, unless it is acknowledged */
	uint64_t row_wait;	/* interval until the repetition after that */
};

bool fm_uplink_new(struct fm *fm)
{
	fm->uplink = calloc(1, sizeof(*fm->uplink));
	return fm->uplink;
}

void fm_uplink_free(struct fm *fm)
{
	free(fm->uplink);
}

struct fm_conn *fm_uplink_conn(const struct fm *fm)
{
	struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_PARENT);

	if (c && c->confirmed)
		return c;
	c = fm_conn_of_role(fm, FM_CONN_ROOT);
	return c && c->confirmed ? c : NULL;
}

void fm_uplink_send(struct fm *fm, const struct fm_msg *msg)
{
	struct fm_conn *c = fm_uplink_conn(fm);

	if (c)
		fm_conn_send(fm, c, msg);
}

/*
 * A node that lost a cable may have lost its parent at the same time. Then no port row reaches the
 * root, and perhaps no other node has noticed. So a node that sends a changed port row up, its own
 * or that of a node below, also pings its parent; a parent that lives answers at once.
 */
void fm_uplink_ask(struct fm *fm)
{
	struct fm_msg ping = { .type = FM_MSG_PING };
	struct fm_conn *c = fm_uplink_conn(fm);

	if (!c || c->urgent)
		return;
	c->urgent = fm->now;
	fm_conn_send(fm, c, &ping);
	fm_conn_look(fm, c);
}

void fm_uplink_pong(struct fm *fm, const struct fm_conn *c)
{
	struct fm_msg msg = { .type = FM_MSG_PONG };

	msg.pong.adrift = fm->cut_off;
	fm_conn_send(fm, c, &msg);
}

void fm_uplink_adrift(struct fm *fm, bool adrift)
{
	if (!adrift)
		fm->root_asks = fm->root_lost = false;
	else if (fm->led.guid || fm->placed)
		fm->root_lost = true;
	if (!adrift && !fm->is_root)
		fm_verdict_forget(fm);
	if (!fm->cut_off == !adrift)
		return;
	fm->cut_off = adrift ? fm->now : 0;
	fm_candidate_adrift(fm);
	if (fm->sent_lost && !adrift)
		fm_ports_spread(fm);
	fm->sent_lost &= adrift;
	for (unsigned int i = 0; i < fm_conns_count(fm); i++)
		if (fm_conn_no(fm, i)->role == FM_CONN_CHILD)
			fm_uplink_pong(fm, fm_conn_no(fm, i));
}

void fm_uplink_hello(struct fm *fm, struct fm_conn *c)
{
	c->hello = true;
	fm_conn_greet(fm, c);
	fm_nic_hello(fm);
}

void fm_uplink_reached(struct fm *fm, struct fm_conn *c)
{
	/*
	 * Numbers are not below the clock, because a mere counter would restart with the manager.
	 */
	if (fm->uplink->attach < fm->now)
		fm->uplink->attach = fm->now;
	c->attach = ++fm->uplink->attach;
	fm_uplink_hello(fm, c);
}

uint64_t fm_uplink_attach(const struct fm *fm)
{
	return fm->uplink->attach;
}

/* Resets the back-off: the next attempt to connect waits as if none had failed. */
static void reset_backoff(struct fm *fm)
{
	fm->uplink->backoff = 0;
	fm->uplink->refusals = 0;
}

void fm_uplink_welcomed(struct fm *fm, bool root)
{
	reset_backoff(fm);
	if (root)
		fm->uplink->row_acked = fm->uplink->row_sent;
}

void fm_uplink_stray(struct fm *fm, bool is)
{
	fm->uplink->stray = is;
}

void fm_uplink_describe(struct fm *fm, struct fm_hello *h)
{
	memset(h, 0, sizeof(*h));
	h->role = FM_ROLE_JOIN;
	h->placed = fm->placed;
	h->stray = fm->uplink->stray;
	strcpy(h->fabric, fm->cfg.fabric);
	strcpy(h->name, fm->cfg.name);
	strcpy(h->address, fm->cfg.address);
	h->guid = fm->guid;
	h->epoch = fm->epoch;
	if (fm->placed) {
		h->shape = fm->shape;
		h->coords = fm->coords;
	}
	h->plans = fm->plans;
	h->jobs = true;
	h->plan = fm->plan;
	memcpy(h->position, fm->position, sizeof(h->position));
	h->term = fm->table.term;
	fm_nic_fill(fm, h);
	h->rows_term = fm->table.version ? 0 : fm_rows_epoch(fm);
	h->relay_packets = fm->relay_packets;
	h->priority = (uint16_t)fm_candidate_stated(fm);
	h->marked = fm->bootstrap;
	fm_keep_fill(fm, h);
	h->row = fm->row;
	h->base = fm->base;
	fm_reports_own(fm, &h->sums);
	h->version = fm_rows_version(fm);
}

static void send_hello(struct fm *fm, struct fm_conn *c)
{
	struct fm_msg msg = { .type = FM_MSG_HELLO };
	struct fm_hello *h = &msg.hello;

	fm_uplink_describe(fm, h);
	h->attach = c->attach;
	if (c->role == FM_CONN_PARENT) {
		h->role = FM_ROLE_CHILD;
		h->term = fm->term;
		h->version = fm->table.term == fm->term ? fm->table.version : 0;
	} else {
		fm_table_fill(fm, h);
		/*
		 * The HELLO to a root that this node only tries says nothing of what its own root
		 * has.
		 */
		if (c->role == FM_CONN_ROOT) {
			if (fm->uplink->row_sent_on != c->attach)
				fm->uplink->row_sent = fm->row.serial;
			fm->uplink->row_sent_on = c->attach;
		}
	}
	fm_conn_send(fm, c, &msg);
	if (!c->greeted)
		c->greeted = fm->now;
	fm_conn_look(fm, c);
}

void fm_uplink_counted(struct fm *fm)
{
	for (unsigned int i = 0; i < fm_conns_count(fm); i++) {
		struct fm_conn *c = fm_conn_no(fm, i);

		if (c->hello)
			send_hello(fm, c);
		c->hello = false;
	}
}

/* The time has a random part, so that not all nodes try at once. */
void fm_uplink_retry(struct fm *fm, uint64_t least)
{
	struct fm_uplink *t = fm->uplink;

	t->backoff = t->backoff ? earlier(2 * t->backoff, fm->cfg.member_max / 6) :
				  fm->cfg.resend / 4 + 1;
	if (t->backoff < least)
		t->backoff = least;
	t->retry = fm->now + t->backoff / 2 + fm_random(fm) % t->backoff;
}

void fm_uplink_refused(struct fm *fm, uint64_t wait)
{
	struct fm_uplink *t = fm->uplink;

	if (wait) {
		wait = earlier(wait, FM_BAN_MAX * fm->cfg.member_max);
		fm_uplink_retry_after(fm, wait + fm_random(fm) % fm->cfg.resend);
		return;
	}
	fm_uplink_retry(fm, REFUSED_WAIT * fm->cfg.resend << t->refusals);
	if (t->refusals < REFUSALS_MAX)
		t->refusals++;
}

void fm_uplink_retry_after(struct fm *fm, uint64_t ns)
{
	reset_backoff(fm);
	fm->uplink->retry = fm->now + ns;
}

uint64_t fm_uplink_backoff(const struct fm *fm)
{
	return fm->uplink->backoff;
}

void fm_uplink_hurry(struct fm *fm)
{
	if (fm->uplink->retry != NEVER)
		fm->uplink->retry = fm->now;
}

static void connect_root(struct fm *fm)
{
	int id;

	invariant(!fm->is_root && !fm_conn_of_role(fm, FM_CONN_ROOT));
	fm->uplink->retry = NEVER;
	id = fm->ops.connect(fm->io, fm->root_address);
	if (id >= 0 && fm_conn_add(fm, id, FM_CONN_ROOT))
		return;
	if (id >= 0)
		fm->ops.close(fm->io, id);
	fm_uplink_retry(fm, 0);
}

void fm_uplink_parent(struct fm *fm, const char *address)
{
	struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_PARENT);
	int id;

	if (c && !strcmp(fm->uplink->parent, address))
		return;
	if (c)
		fm_conn_drop(fm, c);
	strcpy(fm->uplink->parent, address);
	id = fm->ops.connect(fm->io, address);
	if (id >= 0 && fm_conn_add(fm, id, FM_CONN_PARENT))
		return;
	if (id >= 0)
		fm->ops.close(fm->io, id);
	c = fm_conn_of_role(fm, FM_CONN_ROOT);
	fm->uplink->stray = true;
	if (c)
		fm_uplink_hello(fm, c);
}

bool fm_uplink_is_parent(const struct fm *fm, const char *address)
{
	return !strcmp(fm->uplink->parent, address);
}

void fm_uplink_begin(struct fm *fm)
{
	fm->uplink->retry = NEVER;
	fm->cut_off = fm->now;
	fm_candidate_adrift(fm);
}

void fm_uplink_leave(struct fm *fm)
{
	for (unsigned int i = fm_conns_count(fm); i-- > 0;)
		if (fm_conn_upward(fm_conn_no(fm, i)))
			fm_conn_drop(fm, fm_conn_no(fm, i));
	fm->uplink->retry = NEVER;
	fm_problem_clear(fm, "refused", 0);	/* the problem concerned the root that this node
						 * leaves */
	fm->asker.need = 0;
	fm_uplink_adrift(fm, true);
}

void fm_uplink_root_known(struct fm *fm)
{
	reset_backoff(fm);
	connect_root(fm);
}

void fm_uplink_take(struct fm *fm, struct fm_conn *c)
{
	invariant(!fm->is_root && !fm_conn_of_role(fm, FM_CONN_ROOT));
	reset_backoff(fm);
	fm_conn_lead(fm, c);
}

static void send_row(struct fm *fm)
{
	struct fm_msg msg = { .type = FM_MSG_ROW };

	msg.row.guid = fm->guid;
	msg.row.epoch = fm->epoch;
	msg.row.row = fm->row;
	fm->up->send(fm, &msg);
	fm->uplink->row_next = fm->now + fm->uplink->row_wait;
	fm->uplink->row_wait = earlier(2 * fm->uplink->row_wait, ROW_WAIT_MAX * fm->cfg.resend);
}

void fm_uplink_row(struct fm *fm)
{
	struct fm_conn *c = fm_conn_of_role(fm, FM_CONN_ROOT);

	fm->uplink->row_wait = fm->cfg.resend;
	send_row(fm);
	fm_uplink_ask(fm);
	if (c && c->ready && !c->confirmed)
		fm_conn_hurry(fm, c);
}

void fm_uplink_row_again(struct fm *fm)
{
	fm->uplink->row_next = fm->now;
	fm->uplink->row_wait = fm->cfg.resend;
}

void fm_uplink_row_acked(struct fm *fm, uint32_t serial)
{
	if (serial == fm->row.serial)
		fm->uplink->row_acked = serial;
}

void fm_uplink_rejoin(struct fm *fm)
{
	fm_uplink_leave(fm);
	fm_uplink_retry(fm, 0);
}

/*
 * Return: true if the root is not known to have this node's port row. (The root itself has no
 * connection upward.)
 */
static bool row_waits(const struct fm *fm)
{
	invariant(!fm->is_root || !fm_uplink_conn(fm));
	return fm->row.serial != fm->uplink->row_acked && fm_uplink_conn(fm);
}

void fm_uplink_due(struct fm *fm)
{
	if (row_waits(fm) && fm->now >= fm->uplink->row_next)
		send_row(fm);
	if (fm->now >= fm->uplink->retry)
		connect_root(fm);
}

uint64_t fm_uplink_expiry(const struct fm *fm)
{
	return row_waits(fm) ? earlier(fm->uplink->retry, fm->uplink->row_next) : fm->uplink->retry;
}
