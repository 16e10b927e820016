// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/slow.h"

bool slow_note(struct slow *s, uint64_t now, uint32_t session, uint64_t trip)
{
	if (s->session != session) {
		s->session = session;
		s->trip = s->at = s->usual = 0;
		s->over = 0;
	}
	if (!trip || trip == s->trip)
		return false;
	s->trip = trip;
	s->at = now;
	return true;
}

/* Return: the longest fresh report of the other links; 0: there is none. */
static uint64_t usual_trip(const struct slow *all, unsigned int n, unsigned int port, uint64_t now)
{
	uint64_t longest = 0;

	for (unsigned int i = 0; i < n; i++)
		if (i != port && all[i].trip > longest && now - all[i].at <= SLOW_FRESH)
			longest = all[i].trip;
	return longest;
}

bool slow_judge(struct slow *all, unsigned int n, unsigned int port, uint64_t now, uint64_t limit)
{
	struct slow *s = &all[port];
	uint64_t usual = usual_trip(all, n, port, now);
	bool was = s->slow;

	if (!limit || s->trip <= limit) {
		s->over = 0;
		s->slow = false;
	} else if (usual) {
		s->usual = usual;
		s->over = s->trip / SLOW_TIMES > usual ? s->over + 1 : 0;
		s->slow = s->slow || s->over >= SLOW_REPORTS;
	}
	return s->slow != was;
}
