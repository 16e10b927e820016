// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answers of the site's arbiter to this node's claims. The node keeps them here, because they
 * outlive the struct fm_root that asked.
 */
#include <stdio.h>

#include "daemon/fm/node/verdict.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"

bool fm_verdict_take(struct fm *fm, uint64_t epoch, enum fm_verdict verdict, uint64_t high, const char *why)
{
	struct fm_arbiter *a = &fm->arbiter;

	if (!a->asked || epoch != a->epoch)
		return false;
	a->asked = false;
	a->at = fm->now;
	a->answered = epoch;
	a->verdict = (uint8_t)verdict;
	a->high = verdict == FM_REFUSED ? high : 0;
	snprintf(a->why, sizeof(a->why), "%s", verdict == FM_GRANTED ? "" : why);
	if (verdict == FM_GRANTED) {
		a->again = a->gap = 0;
		fm_problem_clear(fm, "arbiter", 0);
		fm_say(fm, FM_INFO, "arbiter", "the arbiter grants epoch %llu",
		       (unsigned long long)epoch);
	}
	return true;
}

void fm_verdict_forget(struct fm *fm)
{
	fm->arbiter.again = fm->arbiter.gap = 0;
	fm_problem_clear(fm, "arbiter", 0);
}
