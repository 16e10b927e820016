// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: epochs
 *
 * Each time that a node becomes root, it begins an epoch, and numbers its tables, steps and
 * connections within it. Nodes and NICs take orders of one epoch only, the latest. An epoch is a
 * number and the GUID of a root. Two roots must not use the same number if links join the nodes
 * that they lead, nor must one root use a number again after a restart. Five rules ensure that:
 *
 *  - A root begins above the epochs that its own NIC, and all nodes that it asked, obey (claim.c),
 *    and welcomes no node before its NIC obeys the new epoch. The NIC keeps the epoch while its
 *    manager is restarted, so the root's next epoch is above it.
 *  - The NIC of a root may have lost its memory, and with it all former epochs. But the nodes that
 *    took part in them know them: each HELLO contains the epoch that the NIC obeys. If that is
 *    above the root's epoch, or is the root's epoch although the root has not ordered this node to
 *    obey since its start, the root gives up its leadership, and claims an epoch above that one.
 *    For the nodes that obeyed another root may have a table that came into force since, and may go
 *    on with a quorum of their own.
 *  - A NIC that was ordered to obey a root, and did not answer in time, may obey it. HELLO contains
 *    both epochs, and counts as a promise by the first only. If the second one is not below the
 *    root's epoch, and is not an order of this root since its start, the root asks all nodes again
 *    in the same way: otherwise that NIC could refuse all orders, and no node would know the
 *    reason.
 *  - No NIC obeys two roots in epochs of one number (kernel/req/fence.c).
 *  - A node does not believe an epoch far above those that it knows: after the highest number there
 *    would be no epoch left for the next root. Only a node that knows no epoch believes any: its
 *    own NIC had obeyed no root when it began, no table was kept, and it has not led any other
 *    node. Versions are limited in the same way: the next table of a root has a version above those
 *    of all nodes, and after the highest number there would be no next table.
 *
 * Two parts that no link joins may have roots in epochs of one number: neither can know of the
 * other. That is safe, because no node or NIC takes one of the two epochs for the other:
 *
 *  - A claim is won in one of two ways (claim.c). By quorums of one table no two claims of one
 *    number are won: a node of both quorums would have obeyed both roots, which its NIC refuses. If
 *    a claim is won because no link leads out of the part, each node is in one part only, and obeys
 *    its root. Such a part goes on with quorums of its own tables (quorum.c), also when a link
 *    between the parts is back. If the node that claims learns over this link that another root
 *    leads there, it claims an epoch above that root's. If another node of its part is at that
 *    link, the two parts may have roots in epochs of one number, as before.
 *  - A link that comes back carries Inits, and no data, until it is opened by a replay of a table
 *    in which both its ends are up (node/rows.c). A root has no node of the other part in a table
 *    before that node has sent it HELLO. But that node obeys another root in the same number. So
 *    the root asks all nodes again (see above), and welcomes the node in an epoch above both. So no
 *    packet passes rows of both roots. The NIC checks this, too: it takes no row, release or replay
 *    of the second root under that number.
 *  - Only a node whose manager hangs may be in the table without having sent HELLO: it is silent
 *    there, and its NIC may obey the other root, if all nodes that knew this have lost their
 *    memory. Packets pass it by the paths in their headers. It gets no rows and no orders, and no
 *    drain is proven while it is silent (recovery.c), so no proof depends on its NIC.
 *  - Where tables are compared, the GUIDs of their roots are compared, too (recall.c). Votes by a
 *    table of one root do not count for a claim with that of the other, and exclusions of either
 *    part stay (parts.c). A node that has rows, but no table any more, reports only the number of
 *    its rows. It may count for a claim as a node of a table from before the parts were separated.
 *    No second root leads by that, because its NIC obeys the claim; and the decisions of its part
 *    are taken from the table that was kept there.
 *  - Of two roots of one number the one of the lesser GUID gives way when they learn of each other
 *    (claim.c), and its nodes leave it (node/follow.c).
 *
 * When such parts meet, a node of one part comes to the root of the other, which asks all nodes
 * again. Its nodes have no root meanwhile. If they followed the root of the first part then, that
 * one would have to ask again, too, and both would have the next number: they could claim in turn
 * without end, and none would lead, even if all nodes reach each other. So all changes go up in one
 * order, that by number and then by GUID:
 *
 *  - A node that is led leaves its root only for a later one, and a root that leads gives way only
 *    to a later one. A root that leads no other node also gives way to one of the same number that
 *    leads some, but only if it does not know them: they do not know it either, as a rule, and stay
 *    where they are.
 *  - A node that has lost its root, or asks, follows no root that leads, if the root that its own
 *    NIC obeys is later. A node that claims gives way only to a root that is later than its claim.
 *
 * Then it ends. A root asks again only because of a node that obeys a root of the same number and
 * a lesser GUID (or that has given up, which takes seconds). Let the roots be in the order of
 * their GUIDs. The first one never asks again. The second one does so while it has the number of
 * the first, thus once. In general each one does so once at most for each number that a root
 * before it has had. After that all numbers are different, no root asks again, and all nodes that
 * reach the latest root follow it. This takes the time of these claims, some milliseconds each,
 * and of the waits after attempts that failed (node/try.c). A rank is better here than a random
 * pause: no node has to wait, and the bound is certain.
 *
 *  - If a root has died, there is none of the same number in most cases, and the rules change
 *    nothing. If there is one, of a lesser GUID, nodes of the dead root follow it only when they
 *    give up (2 s), unless a candidate among them leads before.
 *  - A node that lies gains nothing by these rules. They never let a node wait because of what
 *    others tell of roots that do not lead; they only let it decline roots, by what its own NIC
 *    obeys, and it declines none when it has given up. A HELLO with a false epoch makes a root ask
 *    again, with or without them.
 *  - A root that does not reach the latest one goes on with those who reach neither, alone in most
 *    cases, and so does a node that only the other root reaches. Both ends show that the service
 *    network has to be mended (node/try.c). No root leads a node by way of others that reach it:
 *    its HELLO, which promises, must come from the node itself.
 *
 * Tests: tests/unit/test_fm_epoch.c; tests/spin/meet.pml, in which each of these rules is needed;
 * tests/sim/test_split.c; tests/sim/check_epoch.c checks in all random histories that no data
 * passes between NICs with rows of two such roots.
 */
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "lib/deps/invariant.h"

void fm_epoch_raise(struct fm *fm, uint64_t epoch)
{
	invariant(epoch > fm->term && epoch > fm_nic_latest(fm));
	fm->term = fm->root_epoch = epoch;
	fm->root->obey = fm->now + fm->cfg.resend;
	fm_nic_obey_soon(fm);
}

uint64_t fm_epoch_credible(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	uint64_t known = later(later(fm->term, r->high), fm->kept.term);
	bool has_led = r->settled && r->joiners > 1;

	return r->knows || has_led || fm->kept.term ? known + FM_EPOCH_STEP : FM_EPOCH_MAX;
}

uint64_t fm_version_credible(const struct fm *fm)
{
	const struct fm_root *r = fm->root;
	uint64_t known =
		later(later(r->version, r->version_seen), later(r->former.table, fm->kept.version));

	return known ? known + FM_VERSION_STEP : FM_VERSION_MAX;
}

uint64_t fm_epoch_stated(const struct fm_hello *h)
{
	return later(h->root_epoch, h->maybe_epoch);
}

/*
 * Return: true if the NIC @node obeys @root in an epoch after this root's, or in the same epoch
 * although this root has not ordered that since its start.
 */
static bool is_other(const struct fm *fm, uint64_t node, uint64_t epoch, uint64_t root)
{
	const struct fm_record *m = fm_record(fm->root, node);

	if (epoch != fm->term)
		return epoch > fm->term;
	return root != fm->guid || !m || m->stated.claimed != fm->term;
}

bool fm_epoch_above(struct fm *fm, const struct fm_hello *h)
{
	char root[FM_WHO_MAX];

	if (!fm->root->settled && h->kept_term >= fm->term)
		fm_log(fm, FM_INFO, "root",
		       "'%s' has kept a table of epoch %llu: all nodes are asked anew", h->name,
		       (unsigned long long)h->kept_term);
	else if (is_other(fm, h->guid, h->root_epoch, h->root_guid))
		fm_log(fm, FM_WARNING, "root",
		       "'%s' obeys root %s of epoch %llu: all nodes are asked anew", h->name,
		       fm_table_name(fm, h->root_guid, root), (unsigned long long)h->root_epoch);
	else if (is_other(fm, h->guid, h->maybe_epoch, h->maybe_guid))
		fm_log(fm, FM_WARNING, "root",
		       "the NIC of '%s' may obey epoch %llu, for it did not answer: all nodes are "
		       "asked anew",
		       h->name, (unsigned long long)h->maybe_epoch);
	else
		return true;
	return false;
}

void fm_epoch_due(struct fm *fm)
{
	struct fm_root *r = fm->root;

	if (fm->now < r->obey || r->stage == FM_STAGE_ASKS)
		return;
	r->obey = fm_nic_obeys(fm) ? NEVER : fm->now + fm->cfg.resend;
	if (!fm_nic_obeys(fm))
		fm_nic_obey_soon(fm);
}

uint64_t fm_epoch_expiry(const struct fm *fm)
{
	return fm->root->stage == FM_STAGE_ASKS ? NEVER : fm->root->obey;
}
