// SPDX-License-Identifier: GPL-2.0-only
/* The root as a whole: its beginning and end, its stages, and what the node's part tells it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/root.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/up.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/damp.h"
#include "daemon/fm/root/dispute.h"
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/join.h"
#include "daemon/fm/root/judge.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/settle.h"
#include "daemon/fm/root/tally.h"
#include "daemon/fm/root/vanish.h"

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
	r->knows = fm->nic.root_epoch;
	r->obey = fm->now + fm->cfg.resend;
	r->disputes.at = NEVER;
	r->damp.at = NEVER;
	r->vanish.at = NEVER;
	r->grow.at = NEVER;
	r->base.known = (1u << (TORUS_COLOURS + 1)) - 1;
	r->rec.next = NEVER;
	m = fm_mate_add(r, fm->guid);
	if (!m)
		return -ENOMEM;
	m->epoch = fm->epoch;
	fm_mate_via(r, m, fm->guid);
	fm_mate_name(r, m, fm->cfg.name);
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
	fm_reports_own(fm, &own.sums);
	fm_base_count(fm, m, &own);
	fm_settle_news(fm);
	fm_nic_obey_soon(fm);
	return 0;
}

void fm_root_free(struct fm *fm)
{
	struct fm_root *r = fm->root;

	if (!r)
		return;
	fm_damp_free(r);
	fm_changes_free(r);
	fm_tally_free(r);
	free(r->mate);
	free(r->missing);
	free(r->vanish.doubted);
	hash_free(&r->by_guid);
	hash_free(&r->by_name);
	free(r->at);
	free(r->admin);
	fm_recall_free(r);
	free(r);
}

static void up_send(struct fm *fm, const struct fm_msg *msg)
{
	if (msg->type == FM_MSG_REPORT)
		fm_recovery_report(fm, &msg->report);
	else
		fm_join_msg(fm, msg);
}

const struct fm_up fm_root_up = {
	.send = up_send,
	.hello = fm_join_hello,
	.guest_left = fm_join_moves,
	.reached = fm_vanish_reached,
};

void fm_root_due(struct fm *fm)
{
	fm_epoch_due(fm);
	fm_settle_due(fm);
	fm_damp_due(fm);
	fm_vanish_due(fm);
	fm_judge_due(fm);
	fm_grow_due(fm);
	fm_publish_due(fm);
	fm_recovery_due(fm);
	fm_dispute_due(fm);
}

uint64_t fm_root_expiry(const struct fm *fm)
{
	uint64_t at = earlier(fm_settle_expiry(fm), fm_damp_expiry(fm));

	at = earlier(at, earlier(fm_judge_expiry(fm), fm_publish_expiry(fm)));
	at = earlier(at, earlier(fm_recovery_expiry(fm), fm_dispute_expiry(fm)));
	at = earlier(at, earlier(fm_vanish_expiry(fm), fm_grow_expiry(fm)));
	return earlier(at, fm_epoch_expiry(fm));
}
