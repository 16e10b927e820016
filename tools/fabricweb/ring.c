// SPDX-License-Identifier: GPL-2.0-or-later
/* Test: tests/unit/test_fabricweb_ring.c. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"

uint64_t ring_first(const struct ring *r)
{
	return r->next > RING_MAX ? r->next - RING_MAX : 0;
}

const struct ring_event *ring_at(const struct ring *r, uint64_t place)
{
	return place >= ring_first(r) && place < r->next ? &r->event[place % RING_MAX] : NULL;
}

/*
 * Return: the event of that number and time, searched from the last one on; NULL if there is none.
 */
static const struct ring_event *find_event(const struct ring *r, uint64_t seq, uint64_t us)
{
	for (uint64_t place = r->next; place > ring_first(r); place--) {
		const struct ring_event *e = ring_at(r, place - 1);

		if (e->seq == seq && e->us == us)
			return e;
	}
	return NULL;
}

bool ring_add(struct ring *r, uint64_t seq, uint64_t us, const char *json)
{
	struct ring_event *e = &r->event[r->next % RING_MAX];
	char *copy;

	if (find_event(r, seq, us))
		return false;
	copy = strdup(json);
	if (!copy)
		return false;
	free(e->json);
	*e = (struct ring_event){ .seq = seq, .us = us, .place = r->next++, .json = copy };
	return true;
}

void ring_clear(struct ring *r)
{
	for (unsigned int i = 0; i < RING_MAX; i++)
		free(r->event[i].json);
	memset(r, 0, sizeof(*r));
}

char *ring_id(const struct ring_event *e, char *buf)
{
	*buf = '\0';
	if (e)
		snprintf(buf, RING_ID_MAX, "%" PRIu64 "-%" PRIu64, e->seq, e->us);
	return buf;
}

uint64_t ring_after(const struct ring *r, const char *id, bool *missed)
{
	const struct ring_event *e;
	uint64_t seq, us, place = r->next;
	int end = 0;

	*missed = false;
	if (sscanf(id, "%20" SCNu64 "-%20" SCNu64 "%n", &seq, &us, &end) != 2 || id[end]) {
		*missed = true;
		return ring_first(r);
	}
	e = find_event(r, seq, us);
	if (e)
		return e->place + 1;
	/* The event is too old to be kept, or of another manager: all later ones are sent. */
	*missed = true;
	while (place > ring_first(r) && ring_at(r, place - 1)->us > us)
		place--;
	return place;
}
