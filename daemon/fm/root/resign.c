// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a root whose own NIC fails
 *
 * A recovery waits for all nodes that are up, and for the root in any case: of a member whose NIC
 * does nothing the root hears, and goes on without it (judge.c); but nobody leads without the
 * root. So a
 * root whose NIC has done nothing new of the step at hand for member_max, though it fails, or for
 * twice
 * as long, and only takes its time, or has refused to replay for member_max, hands over to the
 * candidate that would ask first, of those that are connected. That is told
 * as by order of the administrator (node/handover.c), but without asking first whether that node
 * is ready: nothing can get worse by it. What the recovery has come to is to the new root as if
 * this one
 * had died.
 *
 * From then on this node is a member like others, whose NIC fails: it says so, and is silent. It
 * says
 * in HELLO that it is no candidate, and does not ask to be root, until its NIC has taken part in a
 * whole
 * recovery (node/task.c), or for UNFIT times member_max, after which it asks if there is still no
 * root.
 *
 * If no other candidate is connected it goes on leading and trying: that is a problem of its own.
 * A root that has made no table yet has nobody to hand over to, for no other node has a place. One
 * that
 * asks to be root and whose NIC does not even obey gives up by itself (claim.c).
 */
#include <string.h>

#include "daemon/fm/root/resign.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/handover.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"

#define PROBLEM 100	/* of kind "nic": those of node/task.c have lower keys */

/* When its NIC has failed for too long in the step at hand, if it goes on so. NEVER: it does not fail. */
static uint64_t fails_at(const struct fm *fm)
{
	uint64_t at = NEVER;

	if (!fm_claim_leads(fm) || !fm->root->settled || !fm->table.version)
		return NEVER;
	if (fm->root->rec.waiting && !fm->member.own)
		at = later(fm->member.began, fm->task.did) + (fm->task.err ? 1 : 2) * fm->cfg.member_max;
	if (fm->task.refused)
		at = earlier(at, fm->task.refused + fm->cfg.member_max);
	return at;
}

/* The candidate that would ask first; NULL: there is none. */
static const struct fm_mate *successor(const struct fm *fm)
{
	const struct fm_root *r = fm->root;
	const struct fm_mate *best = NULL;
	unsigned int most = 0;

	for (uint32_t i = 1; i < fm_roster_size(r); i++) {
		const struct fm_mate *m = fm_mate_no(r, i);
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

static void hand_over(struct fm *fm, const struct fm_mate *m)
{
	struct fm_lead lead = { .term = fm->uplink.term, .guid = m->guid, .now = true, .unfit = true };
	int err = -fm->task.err;

	strcpy(lead.address, m->address);
	fm_say(fm, FM_ERROR, "root", "hands over to '%s': this node's NIC %s%s, and so no recovery ends", m->name,
	       err ? "says " : "does not answer", err ? strerror(err) : "");
	fm_handover(fm, &lead);
	fm_root_end(fm);
	fm_candidate_unfit(fm);
	fm_handover_obey(fm, &lead);
}

void fm_resign_due(struct fm *fm)
{
	const struct fm_mate *m;

	if (fm->now < fm->root->move.look || fm->now < fails_at(fm)) {
		if (fails_at(fm) == NEVER)
			fm_problem_clear(fm, "nic", PROBLEM);
		return;
	}
	m = successor(fm);
	if (m) {
		hand_over(fm, m);
		return;
	}
	fm->root->move.look = fm->now + fm->cfg.resend;
	fm_problem_set(fm, "nic", PROBLEM,
		       "the NIC of the root does not do what version %llu asks of it, and no other candidate is connected that could lead",
		       (unsigned long long)fm->root->version);
}

uint64_t fm_resign_expiry(const struct fm *fm)
{
	return later(fails_at(fm), fm->root->move.look);
}
