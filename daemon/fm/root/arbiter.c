// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the arbiter
 *
 * A site may have an engine of its own that decides who leads: a lock service, or the membership of
 * a cluster. Where one is configured, a claim (claim.c) whose promises are enough is put to it,
 * before this node leads: "this GUID, in this epoch". Only the first root of all, which claims
 * nothing, and a root that leads already are not asked for a grant.
 *
 *	granted	The node leads.
 *	refused	The claim ends, and the node claims again later, in a later epoch. If the arbiter
 *	has
 *		told which epoch it granted, in one above that.
 *	unknown	The arbiter is down, slow, or says what means nothing. It must not stop a recovery:
 *	a
 *		node with the promises of a quorum (quorum.c) leads all the same. One that may lead only
 *		because no link leads to any other NIC ends its claim as if refused: it may be the
 *		smaller part of a fabric that fell apart, and it is the arbiter that could tell.
 *
 * Safety does not rest on any of this: an answer takes the place of no promise. An arbiter that
 * grants everything, that refuses all, that answers late or lies makes no two roots, since each of
 * them needs what claim.c asks for. It can only keep nodes without a root, by refusing.
 *
 * An answer counts for the epoch that was asked about, so one that comes late, after the claim has
 * ended, counts for nothing. A node that leads without a grant asks on, so that people learn when
 * the arbiter is back; whatever it says then, the node goes on leading. The gap between two
 * questions doubles, from GAP_MIN to GAP_MAX, until a grant.
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
	const char *what = a->verdict == FM_REFUSED ? "the arbiter refuses that this node leads" :
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
 * Return: true if this node may lead without an answer: it has a majority, or it is not known of
 * which nodes a majority would be.
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
