// SPDX-License-Identifier: GPL-2.0-only
/* The half of the tree below this node: accepts children, and announces them to the root. */
#include <stdio.h>
#include <string.h>

#include "daemon/fm/node/children.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "lib/deps/invariant.h"

static void drop_child(struct fm *fm, struct fm_conn *c)
{
	fm_reports_forget(fm, c);
	fm_conn_drop(fm, c);
}

void fm_child_defer(struct fm *fm, struct fm_conn *c, uint64_t wait, const char *why)
{
	struct fm_msg msg = { .type = FM_MSG_REFUSE };

	msg.refuse.wait_ms = (uint32_t)((wait + MS - 1) / MS);
	snprintf(msg.refuse.text, sizeof(msg.refuse.text), "%s", why);
	fm_conn_send(fm, c, &msg);
	drop_child(fm, c);
}

void fm_child_refuse(struct fm *fm, struct fm_conn *c, const char *why)
{
	fm_child_defer(fm, c, 0, why);
}

/* Reports to the root that a child came (ADOPTED) or left (LEFT). */
static void announce_child(struct fm *fm, const struct fm_conn *c, enum fm_msg_type type)
{
	invariant(c->role == FM_CONN_CHILD);
	struct fm_msg msg = { .type = (uint8_t)type };

	msg.left.guid = c->guid;
	msg.left.epoch = c->epoch;
	msg.left.parent = fm->guid;
	msg.left.attach = c->attach;
	fm->up->send(fm, &msg);
}

/* Closes the former connection of a child that has connected again. */
static void drop_older(struct fm *fm, const struct fm_conn *c)
{
	struct fm_conn *o = fm_conn_of_child(fm, c->guid, c);

	if (o)
		drop_child(fm, o);
}

void fm_child_accept(struct fm *fm, struct fm_conn *c, const struct fm_hello *h)
{
	fm_conn_child(fm, c, h->guid);
	c->epoch = h->epoch;
	c->attach = h->attach;
	c->node = fm_table_find(fm, h->guid);
	fm_reports_forget(fm, c);
	c->reported = c->awaited = c->failed = false;
	c->asked = fm->now;
	drop_older(fm, c);
	invariant(!fm_conn_of_child(fm, h->guid, c));
	fm_reports_await(fm, c);
	announce_child(fm, c, FM_MSG_ADOPTED);
	if (fm->cut_off)
		fm_uplink_pong(fm, c);
	if (!c->guest)
		fm_member_child(fm, c, h->version);
}

/*
 * Return: true if the NIC of the node that sent HELLO obeys another root than this node's root in
 * the same epoch.
 */
static bool obeys_another(const struct fm *fm, const struct fm_hello *h)
{
	return h->root_epoch == fm->term && h->root_guid && h->root_guid != fm->root_guid;
}

void fm_child_ask(struct fm *fm, struct fm_conn *c, const struct fm_hello *h)
{
	struct fm_msg msg = { .type = FM_MSG_WELCOME };

	if (h->role == FM_ROLE_JOIN) {
		fm_child_refuse(fm, c, "this node is not the root");
	} else if (!fm_uplink_conn(fm) || h->term != fm->term || obeys_another(fm, h)) {
		fm_child_refuse(fm, c, "this node has not joined the root of that epoch");
	} else {
		msg.welcome.term = fm->term;
		msg.welcome.root_guid = fm->root_guid;
		msg.welcome.adrift = fm->cut_off;
		fm_conn_send(fm, c, &msg);
		fm_child_accept(fm, c, h);
	}
}

void fm_child_hello(struct fm *fm, struct fm_conn *c, const struct fm_hello *h)
{
	char text[FM_TEXT_MAX];

	if (strcmp(h->fabric, fm->cfg.fabric)) {
		snprintf(text, sizeof(text), "fabric '%s' is not '%s'", h->fabric, fm->cfg.fabric);
		fm_child_refuse(fm, c, text);
	} else if (h->guid == fm->guid) {
		fm_child_refuse(fm, c, "it has connected to itself, or another NIC has its GUID");
	} else {
		fm->up->hello(fm, c, h);
	}
}

void fm_child_gone(struct fm *fm, const struct fm_conn *c)
{
	announce_child(fm, c, FM_MSG_LEFT);
	if (c->guest)
		fm->up->guest_left(fm, c->guid);
	/*
	 * The sum that this node has sent may contain the child's report, which by now may also be
	 * in the sum of the child's new parent.
	 */
	fm_member_left(fm);
}

void fm_children_announce(struct fm *fm)
{
	struct fm_msg msg = { .type = FM_MSG_WELCOME };

	msg.welcome.term = fm->term;
	msg.welcome.root_guid = fm->root_guid;
	msg.welcome.adrift = fm->cut_off;
	for (unsigned int i = 0; i < fm_conns_count(fm); i++) {
		if (fm_conn_no(fm, i)->role != FM_CONN_CHILD)
			continue;
		announce_child(fm, fm_conn_no(fm, i), FM_MSG_ADOPTED);
		fm_conn_send(fm, fm_conn_no(fm, i), &msg);
	}
}

void fm_children_drop(struct fm *fm)
{
	for (unsigned int i = fm_conns_count(fm); i-- > 0;)
		if (fm_conn_no(fm, i)->role == FM_CONN_CHILD)
			drop_child(fm, fm_conn_no(fm, i));
}
