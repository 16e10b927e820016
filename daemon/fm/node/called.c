// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: calls
 *
 * Managers pass Inits on over links (bootstrap.c). This wave ends at NICs whose managers hang or
 * are away. A node that it could reach only through such NICs does not learn of a new root. So a
 * root, and a node that asks to be root, sends its Init to such a node over the service network
 * (root/calls.c): this is a call. The called node treats the Init as one of a neighbour, and checks
 * its epoch (fm_bootstrap_credible()). If a root leads the called node, the node stays with that
 * root, and pings its parent. If it follows the caller, it connects to the caller and sends HELLO,
 * as every node does that the wave has reached. Its own Inits then reach the nodes behind it.
 *
 * The called node always answers with an Init of its own. The caller only counts these answers, for
 * status. The called node may follow another root, or another asking node. If links may lead from
 * the nodes of that other root to the caller, the other root makes calls as well. If no links do,
 * the called node belongs to another part of the fabric, which has a root of its own.
 *
 * A node that gets an Init over a link learns its position from the sender's position and the port.
 * A call has no port, so a node that never had a place does not get one by a call.
 *
 * Tests: tests/unit/test_fm_calls.c, tests/sim/test_calls.c.
 */
#include <string.h>

#include "daemon/fm/node/called.h"
#include "daemon/fm/node/bootstrap.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/up.h"
#include "daemon/fm/node/try.h"
#include "daemon/fm/wire/init.h"

static bool read_init(const struct fm *fm, const struct fm_claim *m, struct fm_init *init)
{
	return !fm_init_get(m->init, m->ninit, init) &&
	       !strcmp(init->fabric, fm->cfg.fabric) && init->guid != fm->guid &&
	       init->ndims <= fm->nports / 2;
}

/*
 * Return: true if this node leads, and the caller, whose epoch is not later, must give way to it.
 */
static bool leads_later(const struct fm *fm, const struct fm_init *init)
{
	return fm->is_root && !fm->root_asks && init->epoch <= fm->root_epoch;
}

/*
 * Does the same as fm_bootstrap_init(), except for the work on a port. Afterwards this node may not
 * be root any more, and its connections may be closed.
 */
static void take_call(struct fm *fm, const struct fm_init *init)
{
	if (!fm_bootstrap_credible(fm, FM_NO_PORT, init) || leads_later(fm, init))
		return;
	if (fm_follow_tries(fm, init))
		fm_try(fm, init);
	if ((!fm->is_root && fm_try_avoids(fm, init)) || !fm_follow_takes(fm, init, false))
		return;
	fm_follow(fm, init);
	fm_ports_ask(fm);
	fm_try_join(fm);
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
	take_call(fm, &init);
	c = fm_conn_find(fm, id);
	if (!c)
		return;
	fm_bootstrap_fill(fm, &init);
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
