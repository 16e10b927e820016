// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that a recovery has left parked, and ports that it has left closed, get another recovery.
 * It holds flows that have nothing to do with them, so if it is in vain the next one comes later,
 * at most 32 s, unless there is another reason for one.
 */
#include <stdlib.h>

#include "daemon/fm/root/leftover.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"

#define WAIT_FIRST (1000 * MS)	/* until the next attempt, if replay was in vain */
#define WAIT_SOON (20 * MS)	/* ... if not */
#define WAIT_LAST (32000 * MS)

/**
 * struct fm_leftover
 * @wait: if the recovery before left packets parked, and there is no other reason for this one: how
 *	long it waited; else 0
 * @at: when the next one is asked for, because the last one left packets parked; NEVER
 * @asked: it has been
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

/* While a port is closed packets may wait for it, so the wait does not grow then. */
void fm_leftover_end(struct fm *fm, const struct fm_sums *s, bool bounded)
{
	struct fm_leftover *l = fm->root->leftover;
	uint64_t wait = bounded ? WAIT_FIRST : WAIT_SOON;

	if (!s->parked && !s->reopen) {
		l->wait = 0;
		return;
	}
	if (l->wait && !s->reopen)
		wait = later(wait, earlier(2 * l->wait, WAIT_LAST));
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
