// SPDX-License-Identifier: GPL-2.0-only
/*
 * Demands another recovery if one has left packets parked or ports closed. A recovery also holds
 * flows that have nothing to do with these packets. So if packets stay parked again, the next such
 * recovery begins after a longer time, at most WAIT_LAST, unless there is another reason for one.
 */
#include <stdlib.h>

#include "daemon/fm/root/leftover.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "lib/deps/invariant.h"

#define WAIT_FIRST (1000 * MS)	/* time until the next attempt, if some step reached its time
				 * limit */
#define WAIT_SOON (20 * MS)	/* time until the next attempt otherwise */
#define WAIT_LAST (32000 * MS)

/**
 * struct fm_leftover - when the next such recovery begins
 * @wait: ns by which the present recovery was delayed, if it has no other reason; else 0
 * @at: when the next one is demanded; NEVER
 * @asked: one was demanded, and has not begun yet
 */
struct fm_leftover {
	uint64_t wait, at;
	bool asked;
};

bool fm_leftover_new(struct fm_root *r)
{
	r->leftover = calloc(1, sizeof(*r->leftover));
	if (!r->leftover)
		return false;
	r->leftover->at = NEVER;
	return true;
}

void fm_leftover_free(struct fm_root *r)
{
	free(r->leftover);
}

void fm_leftover_begin(struct fm *fm)
{
	struct fm_leftover *l = fm->root->leftover;

	if (!l->asked || fm_demand_asks(fm->root) != 1)
		l->wait = 0;
	l->asked = false;
	l->at = NEVER;
}

/* While a port is closed the time does not grow, because packets may wait for that port. */
void fm_leftover_end(struct fm *fm, const struct fm_sums *s, bool bounded)
{
	struct fm_leftover *l = fm->root->leftover;
	uint64_t wait = bounded ? WAIT_FIRST : WAIT_SOON;

	if (!s->parked && !s->reopen) {
		l->wait = 0;
		return;
	}
	if (!s->reopen)
		wait = later(wait, earlier(2 * l->wait, WAIT_LAST));
	invariant(wait >= WAIT_SOON && wait <= WAIT_LAST);
	l->wait = wait;
	l->at = fm->now + wait;
}

void fm_leftover_due(struct fm *fm)
{
	struct fm_leftover *l = fm->root->leftover;

	if (fm->now < l->at)
		return;
	l->at = NEVER;
	l->asked = true;
	fm_demand(fm, 0, "packets left parked");
}

uint64_t fm_leftover_expiry(const struct fm *fm)
{
	return fm->root->leftover->at;
}
