// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/meter.h"

void meter_recovery(struct meter *m, const struct fm_recovery *r)
{
	uint64_t last = r->at[FM_AT_DETECTED];

	for (unsigned int i = FM_AT_DETECTED + 1; i < FM_STAMPS; i++) {
		if (r->at[i] < last)
			continue;	/* 0: the step was not needed */
		histogram_add(&m->step[i], r->at[i] - last);
		last = r->at[i];
	}
	histogram_add(&m->recovery, last - r->at[FM_AT_DETECTED]);
	m->bounded += r->bounded;
	m->parked += r->parked;
	m->replayed += r->replayed;
	m->lost += r->lost;
}

void meter_root(struct meter *m, bool leads)
{
	m->became_root += leads && !m->leads;
	m->leads = leads;
}
