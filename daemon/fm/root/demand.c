// SPDX-License-Identifier: GPL-2.0-only
/* The demand for a new table, and when it is due: changes that come together share one table. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "lib/deps/invariant.h"

/**
 * struct fm_demand - the demand for a new table
 * @is: a new table is wanted
 * @since: time of the first change; @asks: number of changes; @cause: text of the first one
 * @at: when the table is to be made; NEVER: it waits for a free colour
 */
struct fm_demand {
	bool is;
	uint32_t asks;
	uint64_t since;
	uint64_t at;
	char cause[FM_TEXT_MAX];
};

bool fm_demand_new(struct fm_root *r)
{
	r->demand = calloc(1, sizeof(*r->demand));
	return r->demand;
}

void fm_demand_free(struct fm_root *r)
{
	free(r->demand);
}

bool fm_demand_is(const struct fm_root *r)
{
	return r->demand->is;
}

uint64_t fm_demand_since(const struct fm_root *r)
{
	return r->demand->since;
}

uint32_t fm_demand_asks(const struct fm_root *r)
{
	return r->demand->asks;
}

const char *fm_demand_cause(const struct fm_root *r)
{
	return r->demand->cause;
}

uint64_t fm_demand_expiry(const struct fm_root *r)
{
	return r->demand->is ? r->demand->at : NEVER;
}

void fm_demand_put_off(struct fm *fm, uint64_t at)
{
	invariant(fm->root->demand->is);
	fm->root->demand->at = at;
}

void fm_demand_end(struct fm *fm)
{
	fm->root->demand->is = false;
}

void fm_demand(struct fm *fm, uint64_t delay, const char *fmt, ...)
{
	struct fm_demand *d = fm->root->demand;
	va_list ap;

	if (!fm->root->settled)
		return;
	if (!d->is) {
		d->is = true;
		d->asks = 0;
		d->since = fm->now;
		d->at = NEVER;
		va_start(ap, fmt);
		vsnprintf(d->cause, sizeof(d->cause), fmt, ap);
		va_end(ap);
	}
	d->asks++;
	/*
	 * A further change can make the table due earlier, but not later: after the report of one
	 * end of a cable the table waits for the other end, whose report ends that wait.
	 */
	d->at = earlier(d->at, fm->now + delay);
}

bool fm_demand_drained(struct fm *fm)
{
	struct fm_demand *d = fm->root->demand;

	if (!d->is || d->at != NEVER)
		return false;
	d->at = fm->now;
	return true;
}
