// SPDX-License-Identifier: GPL-2.0-only
/* The demand for a new table, and when it is due: changes that come together share one table. */
#include <stdarg.h>
#include <stdio.h>

#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/root.h"

void fm_demand(struct fm *fm, uint64_t delay, const char *fmt, ...)
{
	struct fm_demand *d = &fm->root->demand;
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
	/* A further demand can only make it due earlier, so that the rows of both ends share it. */
	d->at = earlier(d->at, fm->now + delay);
}

bool fm_demand_free(struct fm *fm)
{
	struct fm_demand *d = &fm->root->demand;

	if (!d->is || d->at != NEVER)
		return false;
	d->at = fm->now;
	return true;
}
