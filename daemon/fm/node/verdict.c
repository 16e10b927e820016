// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answers of the site's arbiter to this node's claims. The node keeps them here, because they
 * outlive the struct fm_root that asked.
 */
#include "daemon/fm/node/verdict.h"
#include "daemon/fm/node/machine.h"

void fm_verdict_forget(struct fm *fm)
{
	fm->arbiter.again = fm->arbiter.gap = 0;
	fm_problem_clear(fm, "arbiter", 0);
}
