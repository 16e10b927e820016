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
 *    epoch though this life has not told the node so, the root gives up what it leads, and
 *    claims an epoch above that: those who obeyed another may have a table that came into force
 *    since, and may lead on with a quorum of their own.
 *  - No NIC obeys two roots in one epoch (kernel/req/fence.c).
 *
 * A peer that says an epoch far above those known is not believed: after the highest number
 * there would be none for the next root. Only one that knows of none believes any: no NIC of its own
 * has obeyed a root, and no table was kept.
 */
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"

void fm_epoch_raise(struct fm *fm, uint64_t epoch)
{
	fm->uplink.term = fm->root_epoch = epoch;
	fm->root->obey = fm->now + fm->cfg.resend;
	fm_nic_obey_soon(fm);
}

uint64_t fm_epoch_believed(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	uint64_t known = later(later(fm->uplink.term, r->asking.high), fm->kept.term);

	return r->knows || fm->kept.term ? known + FM_EPOCH_STEP : FM_EPOCH_MAX;
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
	if (!fm->root->settled && h->kept_term >= fm->uplink.term)
		fm_say(fm, FM_INFO, "root", "'%s' has kept a table of epoch %llu: all nodes are asked anew",
		       h->name, (unsigned long long)h->kept_term);
	else if (obeys_other(fm, h))
		fm_say(fm, FM_WARNING, "root", "'%s' obeys root %016llx of epoch %llu: all nodes are asked anew",
		       h->name, (unsigned long long)h->root_guid, (unsigned long long)h->root_epoch);
	else
		return true;
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
