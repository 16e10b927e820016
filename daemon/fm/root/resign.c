// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a root whose own NIC fails
 *
 * A recovery waits for all nodes that are up. If the NIC of another node fails, the node reports
 * that, and the root goes on without it (judge.c). But no recovery goes on without the root itself.
 * So the root hands over if its own NIC
 *  - has made no progress in the present step for member_max, and returns errors;
 *  - has made no progress in it for twice as long, without an error: it may only be slow;
 *  - has refused to replay for member_max.
 * The root hands over to the connected candidate that would ask first to be root. It does that as
 * by an order of the administrator (node/handover.c), but without asking first whether that node is
 * ready, because that could not make things worse. The new root continues the recovery as if this
 * root had died.
 *
 * From then on this node is a node whose NIC fails: it reports that, and is silent. Its HELLO shows
 * that it is not a candidate. It does not ask to be root until its NIC has taken part in a whole
 * recovery (node/task.c). If there is still no root after UNFIT times member_max, it asks
 * nevertheless.
 *
 * If no other candidate is connected, the root goes on leading and trying; this is a problem of
 * its own. A root that has made no table yet cannot hand over, because no other node has a place.
 * A node that asks to be root, and whose NIC does not even obey it, gives up by itself (claim.c).
 *
 * Tests: tests/unit/test_fm_resign.c, tests/sim/test_unfit.c.
 */
#include <string.h>

#include "daemon/fm/root/resign.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/handover.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

#define PROBLEM 100	/* key of this problem of kind "nic"; node/task.c uses lower keys */

/*
 * Return: when the NIC will have failed for too long, so that the root must hand over; NEVER if it
 * does not fail.
 */
static uint64_t fails_at(const struct fm *fm)
{
	if (fm->root->stage != FM_STAGE_LEADS || !fm->root->settled || !fm->table.version)
		return NEVER;
	return fm_task_fails_at(fm, fm_recovery_waits(fm->root));
}

/* Return: the connected candidate that would ask first to be root; NULL if there is none. */
static const struct fm_record *find_successor(const struct fm *fm)
{
	const struct fm_root *r = fm->root;
	const struct fm_record *best = NULL;
	unsigned int most = 0;

	for (uint32_t i = 1; i < fm_roster_size(r); i++) {
		const struct fm_record *m = fm_record_no(r, i);
		unsigned int priority = fm_candidate_priority(m->priority, m->node);

		if (!m->via || m->state != FM_NODE_UP || m->node == TORUS_NO_NODE || !priority)
			continue;
		if (priority > most || (priority == most && m->node < best->node)) {
			best = m;
			most = priority;
		}
	}
	return best;
}

static void hand_over_lead(struct fm *fm, const struct fm_record *m)
{
	struct fm_lead lead = {
		.term = fm->term, .guid = m->guid, .now = true, .unfit = true,
	};
	int err = -fm_task_error(fm);

	strcpy(lead.address, m->address);
	fm_log(fm, FM_ERROR, "root",
	       "this node hands over to '%s': its NIC %s%s, and so no recovery ends",
	       m->name, err ? "says " : "does not answer", err ? strerror(err) : "");
	fm_handover(fm, &lead);
	fm->root->ending = FM_ENDS_UNFIT;
	fm->root->successor = lead;
}

void fm_resign_due(struct fm *fm)
{
	const struct fm_record *m;

	if (fm->now < fm->root->resign_at || fm->now < fails_at(fm)) {
		if (fails_at(fm) == NEVER)
			fm_problem_clear(fm, "nic", PROBLEM);
		return;
	}
	m = find_successor(fm);
	if (m) {
		hand_over_lead(fm, m);
		return;
	}
	fm->root->resign_at = fm->now + fm->cfg.resend;
	fm_problem_set(fm, "nic", PROBLEM,
		       "the NIC of the root does not do what version %llu asks of it, and no other "
		       "candidate is connected that could lead",
		       (unsigned long long)fm->root->version);
}

uint64_t fm_resign_expiry(const struct fm *fm)
{
	return later(fails_at(fm), fm->root->resign_at);
}
