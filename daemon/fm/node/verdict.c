// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the arbiter of the site has said of this node's claims. The node keeps it, because it outlives
 * the root that it asked for.
 */
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/node/machine.h"

void fm_verdict_forget(struct fm *fm)
{
	fm->arbiter.again = fm->arbiter.gap = 0;
	fm_problem_clear(fm, "arbiter", 0);
}
