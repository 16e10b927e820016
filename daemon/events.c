// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/events.h"

struct events {
	uint64_t last;
	struct event_record ring[EVENTS_KEPT];
};

struct events *events_new(void)
{
	return calloc(1, sizeof(struct events));
}

void events_free(struct events *ev)
{
	if (!ev)
		return;
	for (unsigned int i = 0; i < EVENTS_KEPT; i++) {
		free(ev->ring[i].text);
		free(ev->ring[i].link);
	}
	free(ev);
}

uint64_t events_add(struct events *ev, double time, const char *node,
		    enum fm_level level, const char *kind, const char *text)
{
	struct event_record *r = &ev->ring[(ev->last + 1) % EVENTS_KEPT];
	char *copy = strdup(text);

	if (!copy)
		return 0;
	free(r->text);
	free(r->link);
	r->text = copy;
	r->link = NULL;
	r->seq = ++ev->last;
	r->time = time;
	r->level = level;
	snprintf(r->node, sizeof(r->node), "%s", node);
	snprintf(r->kind, sizeof(r->kind), "%s", kind);
	return r->seq;
}

void events_link(struct events *ev, uint64_t seq, const char *json)
{
	if (seq == ev->last)
		ev->ring[seq % EVENTS_KEPT].link = strdup(json);
}

const struct event_record *events_next(const struct events *ev, uint64_t seq)
{
	uint64_t oldest = ev->last >= EVENTS_KEPT ? ev->last - EVENTS_KEPT + 1 : 1;

	if (seq < oldest)
		seq = oldest;
	return seq > ev->last ? NULL : &ev->ring[seq % EVENTS_KEPT];
}
