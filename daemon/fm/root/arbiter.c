// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the arbiter
 *
 * A site may have an arbiter that decides which node leads: a lock service, or the membership of a
 * cluster. If one is configured, a node whose claim (claim.c) has enough promises asks the arbiter
 * before it leads: "this GUID, in this epoch?". Only the very first root, which claims nothing, and
 * a root that leads already, need no grant.
 *
 *	granted	The node leads.
 *	refused	The claim ends, and the node claims again later, in a later epoch, above the one
 *		that the arbiter has granted, if it named one.
 *	unknown	The arbiter is down, slow, or its answer has no meaning. It must not stop a
 *		recovery: a node with the promises of a quorum (quorum.c) leads nevertheless. A node
 *		that may lead only because no link leads to any other NIC ends its claim as if
 *		refused: it may be the smaller part of a fabric that fell apart, which only the
 *		arbiter can decide.
 *
 * Safety does not depend on the arbiter: an answer replaces no promise. An arbiter that grants
 * everything, answers late or lies cannot make two roots, because each of them needs the quorum of
 * claim.c. It can only keep nodes without a root, by refusing.
 *
 * An answer counts for the epoch of its question, so an answer that comes after the claim has ended
 * is ignored. A node that leads without a grant goes on asking, so that its status shows when the
 * arbiter is back; the node goes on leading whatever the answer is. The gap between two questions
 * doubles, up to a limit (node/verdict.c), until a grant.
 *
 * Tests: tests/unit/test_fm_arbiter.c, tests/sim/test_arbiter.c.
 */
#include "daemon/fm/root/arbiter.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/facts.h"

static const char kind[] = "arbiter";

static void set_arbiter_problem(struct fm *fm, bool leads)
{
	const struct fm_answer *a = fm_verdict(fm);
	const char *what = a->verdict == FM_REFUSED ? "the arbiter refuses to let this node lead" :
						      "the arbiter gives no answer";

	if (leads)
		fm_problem_set(fm, kind, 0, "%s: %s; this node leads nevertheless", what, a->why);
	else if (a->verdict == FM_REFUSED)
		fm_problem_set(fm, kind, 0, "%s: %s; this node asks again", what, a->why);
	else
		fm_problem_set(fm, kind, 0, "%s: %s; this node has no majority and asks again",
			       what, a->why);
}

bool fm_arbiter_waits(const struct fm *fm)
{
	return fm->cfg.arbiter && fm->now < fm_verdict_again(fm);
}

/*
 * Return: true if this node may lead without an answer of the arbiter: it has a quorum, or no table
 * is known.
 */
static bool may_decide(const struct fm *fm, bool quorum)
{
	uint32_t here, need;

	fm_quorum_count(fm, &here, &need);
	return quorum || !need;
}

bool fm_arbiter_lets(struct fm *fm, bool quorum, bool *ends)
{
	const struct fm_answer *a = fm_verdict(fm);
	bool waits;

	*ends = false;
	if (!fm->cfg.arbiter)
		return true;
	if (fm_verdict_asked(fm, &waits) != fm->term) {
		fm_verdict_ask(fm);
		return false;
	}
	if (waits)
		return false;
	if (a->verdict == FM_GRANTED)
		return true;
	if (a->verdict == FM_UNKNOWN && may_decide(fm, quorum)) {
		fm_verdict_put_off(fm);
		set_arbiter_problem(fm, true);
		return true;
	}
	fm_verdict_put_off(fm);
	set_arbiter_problem(fm, false);
	*ends = true;
	return false;
}

void fm_arbiter_answered(struct fm *fm)
{
	if (fm->root->stage == FM_STAGE_LEADS && fm_verdict(fm)->verdict != FM_GRANTED) {
		fm_verdict_put_off(fm);
		set_arbiter_problem(fm, true);
	}
}

/*
 * Return: true if this node leads without a grant, and must ask the arbiter again: no question is
 * open.
 */
static bool asks_on(const struct fm *fm)
{
	bool waits;

	fm_verdict_asked(fm, &waits);
	return fm->cfg.arbiter && fm->root->stage == FM_STAGE_LEADS && fm_verdict_again(fm) &&
	       !waits;
}

void fm_arbiter_due(struct fm *fm)
{
	if (asks_on(fm) && fm->now >= fm_verdict_again(fm))
		fm_verdict_ask(fm);
}

uint64_t fm_arbiter_expiry(const struct fm *fm)
{
	return asks_on(fm) ? fm_verdict_again(fm) : NEVER;
}
