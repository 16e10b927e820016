// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/wear.h"

#define MASK 100	/* percent of the mask; a margin of this size leaves no room */

static double room_of(double margin)
{
	return margin > MASK ? margin - MASK : 0;
}

/* Updates the mean of the margin over about a day, and the largest mean. */
static void follow_margin(struct wear *w, uint32_t margin, uint64_t ns)
{
	double part = ns < WEAR_DAY ? (double)ns / (double)WEAR_DAY : 1;

	w->mean += (margin - w->mean) * part;
	if (w->mean > w->usual)
		w->usual = w->mean;
}

static void add_time(struct wear *w, uint32_t margin, uint64_t ns)
{
	double room = room_of(margin), usual = room_of(w->usual);

	if (room < WEAR_LOW * usual && w->usual - margin >= WEAR_LEAST)
		w->low += ns;
	else
		w->low = w->low > ns ? w->low - ns : 0;
	w->fine = room >= WEAR_FINE * usual ? w->fine + ns : 0;
}

bool wear_read(struct wear *w, uint64_t at, uint32_t session, uint32_t margin,
	       uint64_t clean_for)
{
	bool was = w->worn;
	uint64_t ns = at - w->at;

	if (!w->at || at < w->at) {
		*w = (struct wear) { .at = at, .session = session,
				    .mean = margin, .usual = margin };
		return was;
	}
	w->at = at;
	if (w->session != session) {	/* the readings do not cover the time between two
					 * sessions */
		w->session = session;
		return false;
	}
	if (!w->worn)
		follow_margin(w, margin, ns);
	add_time(w, margin, ns);
	if (!w->worn && w->low >= WEAR_HOLD) {
		w->worn = true;
		w->fine = 0;
	} else if (w->worn && w->fine >= clean_for) {
		*w = (struct wear) { .at = at, .session = session,
				    .mean = margin, .usual = margin };
	}
	return w->worn != was;
}
