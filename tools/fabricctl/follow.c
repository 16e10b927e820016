// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events have numbers within a log, and a time by the clock of the machine that noticed them.
 * Clocks of two machines differ, and one may be set back. So within a log, events with greater
 * numbers than the last one shown are new. In a log that was not seen before, all events are new,
 * except those that happened clearly before the last event shown, because the log may have begun
 * long ago.
 *
 * Test: tests/unit/test_follow.c.
 */
#include <stdio.h>
#include <string.h>

#include "follow.h"
#include "json.h"

#define CLOCKS_S 10	/* largest difference between the clocks of two machines */
#define AGAIN_S 600	/* how far the clock of one machine may be set back */

static double time_of(const json_t *event)
{
	return json_number_value(json_object_get(event, "time"));
}

bool follow_take(struct follow *f, const json_t *event)
{
	uint64_t seq = json_count(event, "seq");
	const char *log = json_text(event, "log");
	unsigned int i;

	log = log ? log : "";
	for (i = 0; i < f->n && strcmp(f->log[i].log, log); i++)
		;
	if (i == f->n && time_of(event) < f->since)
		return false;
	if (i == FOLLOW_LOGS)
		i = f->n = 0;
	if (i == f->n) {
		snprintf(f->log[i].log, sizeof(f->log[i].log), "%s", log);
		f->log[i].seq = 0;
		f->n++;
	}
	if (seq <= f->log[i].seq)
		return false;
	f->log[i].seq = seq;
	f->last = time_of(event);
	return true;
}

int64_t follow_again(struct follow *f)
{
	double from = f->last - AGAIN_S;

	f->since = f->last - CLOCKS_S;
	return from > 0 ? (int64_t)(from * 1e3) : 0;
}

bool follow_is_same_run(const json_t *events, uint64_t seq, double time)
{
	size_t i;
	json_t *v;

	json_array_foreach(events, i, v)
		if (json_count(v, "seq") == seq)
			return !(time_of(v) < time || time_of(v) > time);
	return json_count(json_array_get(events, 0), "seq") > seq;
}
