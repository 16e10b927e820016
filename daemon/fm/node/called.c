// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: calls
 *
 * The wave of Inits (bootstrap.c) ends at NICs whose managers hang or are away. A node that only
 * such NICs lead to hears of no new root. So one that asks to be root, or leads, says its Init to
 * such a node over the service network (root/calls.c): a call. The node that is called treats it
 * as if it had come from a neighbour: it believes no epoch far above those that it knows, stays
 * with a root that leads it, and asks its parent whether it lives. If it follows, it connects to
 * the one that called, and says HELLO, as every node does that the wave has reached. Its own Inits
 * then tell those behind it.
 *
 * In each case it answers with an Init of its own. That is only counted (status): if the node
 * follows another root, or another one that asks, that calls in its turn if links may lead from
 * there to this node; and if none do, this node is of another part, which goes on by itself.
 *
 * An Init over a link tells by its port where the receiver is. A call does not: a node that has
 * never had a place gets none by it.
 */
#include <string.h>

#include "daemon/fm/node/called.h"
#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/up.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/wire/init.h"

static bool read_init(const struct fm *fm, const struct fm_claim *m, struct fm_init *init)
{
	return m->ninit && !fm_init_get(m->init, m->ninit, init) &&
	       !strcmp(init->fabric, fm->cfg.fabric) && init->guid != fm->guid && init->ndims <= fm->nports / 2;
}

/*
 * A root that leads gives way only to a later one: who tells of another may not know of this one
 * yet.
 */
static bool leads_later(const struct fm *fm, const struct fm_init *init)
{
	return fm->is_root && !fm->root_asks && init->epoch <= fm->root_epoch;
}

/*
 * As bootstrap.c does, but for what belongs to a port. May end this node as root, and its
 * connections.
 */
static void hear(struct fm *fm, const struct fm_init *init)
{
	if (!fm_bootstrap_credible(fm, FM_NO_PORT, init) || leads_later(fm, init) ||
	    !fm_follow_takes(fm, init))
		return;
	fm_follow(fm, init);
	fm_ports_ask(fm);
	fm_uplink_root_known(fm);
}

void fm_called(struct fm *fm, struct fm_conn *c, const struct fm_claim *m)
{
	struct fm_msg msg = { .type = FM_MSG_CLAIM };
	struct fm_init init;
	int id = c->id;

	if (!read_init(fm, m, &init)) {
		fm_conn_drop(fm, c);
		return;
	}
	hear(fm, &init);
	c = fm_conn_find(fm, id);
	if (!c)
		return;
	fm_bootstrap_tell(fm, &init);
	msg.claim.guid = fm->guid;
	msg.claim.ninit = (uint16_t)fm_init_put(msg.claim.init, &init);
	fm_conn_send(fm, c, &msg);
}

void fm_called_back(struct fm *fm, struct fm_conn *c, const struct fm_claim *m)
{
	uint64_t guid = c->guid;
	struct fm_init init;
	bool is = read_init(fm, m, &init);

	fm_conn_drop(fm, c);
	if (!is)
		return;
	fm->up->answered(fm, guid, init.root_guid == fm->guid);
}
