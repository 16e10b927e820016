// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: epochs
 *
 * Each life of a root has an epoch, and within it all that the root says has numbers of its own:
 * tables, steps, connections. Nodes and NICs take orders of one epoch only, the latest. So an epoch
 * must not be used twice, neither by two roots nor by two lives of one:
 *
 *  - A root begins above the epochs that its own NIC and all whom it asked obey (claim.c), and
 *    welcomes nobody before its NIC obeys the new one. The NIC keeps it while its manager starts
 *    anew: the next life is above.
 *  - A NIC that lost its memory knows nothing of former lives. But those that took part in them
 *    do: each node says in HELLO what its NIC obeys. If that is not below, or is of this
 *    epoch though this life has not told the node so, the root goes on above that, and
 *    all nodes join anew.
 *  - No NIC obeys two roots in one epoch (kernel/req/fence.c).
 *
 * A peer that says an epoch far above those known is not believed: after the highest number
 * there would be none for the next root. Only a root that knows of none believes any.
 */
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/node/children.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"

void fm_epoch_raise(struct fm *fm, uint64_t epoch)
{
	struct fm_root *r = fm->root;

	fm->uplink.term = fm->root_epoch = epoch;
	if (r->settled)
		fm->table.term = epoch;
	fm_children_drop(fm);
	for (uint32_t i = 1; i < r->nmates; i++)
		if (r->mate[i].via)
			fm_mate_missing(fm, &r->mate[i]);
	r->rec.round_began = fm->now;
	r->obey = fm->now + fm->cfg.resend;
	fm_nic_obey_soon(fm);
}

bool fm_epoch_credible(const struct fm *fm, const struct fm_hello *h)
{
	return !fm->root->knows || later(h->root_epoch, h->kept_term) <= fm->uplink.term + FM_EPOCH_STEP;
}

/* Whether the NIC of @h has obeyed a root that this life knows nothing of. */
static bool obeys_other(const struct fm *fm, const struct fm_hello *h)
{
	const struct fm_mate *m = fm_mate(fm->root, h->guid);

	if (h->root_epoch != fm->uplink.term)
		return h->root_epoch > fm->uplink.term;
	return h->root_guid != fm->guid || !m || m->voice.claimed != fm->uplink.term;
}

bool fm_epoch_above(struct fm *fm, const struct fm_hello *h)
{
	if (!fm->root->settled && h->kept_term >= fm->uplink.term) {
		fm_say(fm, FM_INFO, "root", "'%s' has kept a table of epoch %llu: all nodes join anew in epoch %llu",
		       h->name, (unsigned long long)h->kept_term, (unsigned long long)h->kept_term + 1);
		fm_epoch_raise(fm, h->kept_term + 1);
		return false;
	}
	if (!obeys_other(fm, h))
		return true;
	fm_say(fm, FM_WARNING, "root",
	       "'%s' obeys root %016llx of epoch %llu: all nodes join anew in epoch %llu", h->name,
	       (unsigned long long)h->root_guid, (unsigned long long)h->root_epoch,
	       (unsigned long long)h->root_epoch + 1);
	fm->root->knows = true;
	fm_epoch_raise(fm, h->root_epoch + 1);
	return false;
}

void fm_epoch_due(struct fm *fm)
{
	struct fm_root *r = fm->root;

	if (fm->now < r->obey || r->asking.stage == FM_STAGE_ASKS)
		return;
	r->obey = fm_nic_obeys(fm) ? NEVER : fm->now + fm->cfg.resend;
	if (!fm_nic_obeys(fm))
		fm_nic_obey_soon(fm);
}

uint64_t fm_epoch_expiry(const struct fm *fm)
{
	return fm->root->asking.stage == FM_STAGE_ASKS ? NEVER : fm->root->obey;
}
