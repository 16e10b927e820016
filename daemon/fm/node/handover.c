// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: handing over
 *
 * A root that has to hand over first asks the named node, by LEAD down the tree, whether it is
 * ready; if no answer comes, the root leads on. When the answer comes, the root sends LEAD with
 * @now, and ends. Each node passes it on, leaves the root, and follows the named node. That node
 * asks to be root at once. All nodes connect to it, so it leads after three messages each way.
 *
 * LEAD binds no node. The table stays in force, no row changes, and no packet waits. The new root
 * needs the same quorum as any (root/claim.c). If LEAD is lost on its way, or the named node dies,
 * candidates ask to be root as after any loss of a root.
 *
 * Test: tests/unit/test_fm_move.c.
 */
#include <string.h>

#include "daemon/fm/node/handover.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/follow.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/wire/init.h"

/*
 * Follows the named node, as by an Init of a neighbour. Connects to that node after a delay, by
 * which LEAD has reached it, too.
 */
static void follow_named(struct fm *fm, const struct fm_lead *l)
{
	struct fm_init init = {
		.root_guid = l->guid,
		.epoch = l->term,
		.ndims = (uint8_t)fm->ndims,
		.asks = true,
	};

	memcpy(init.size, fm->size, sizeof(init.size));
	strcpy(init.root_address, l->address);
	fm_follow(fm, &init);
	fm_ports_ask(fm);
	fm_uplink_retry_after(fm, fm->cfg.resend / 4 + fm_random(fm) % (fm->cfg.resend / 8 + 1));
}

void fm_handover_obey(struct fm *fm, const struct fm_lead *l)
{
	if (l->guid != fm->guid) {
		follow_named(fm, l);
		return;
	}
	fm_uplink_leave(fm);
	fm_candidate_called(fm, l->unfit);
}

void fm_handover(struct fm *fm, const struct fm_lead *l)
{
	struct fm_msg msg = { .type = FM_MSG_LEAD, .lead = *l };

	for (unsigned int i = 0; i < fm_conns_count(fm); i++)
		if (fm_conn_no(fm, i)->role == FM_CONN_CHILD)
			fm_conn_send(fm, fm_conn_no(fm, i), &msg);
	if (fm->is_root)
		return;
	if (l->now)
		fm_handover_obey(fm, l);
	else if (l->guid == fm->guid)
		fm_uplink_send(fm, &msg);
}
