/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recent events: a ring of events with sequence numbers. Each reader keeps the number of the event
 * that it wants next, so a slow reader delays nothing, and it can compute how many events it
 * missed.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include "daemon/fm/fm.h"

#define EVENTS_KEPT 512

/**
 * struct event_record - one event
 * @seq: sequence number; the first event after the start has 1
 * @time: seconds since 1970
 * @node: coordinates of the node that it is about; "": this node
 */
struct event_record {
	uint64_t seq;
	double time;
	enum fm_level level;
	char node[TORUS_TEXT_MAX];
	char kind[16];
	char *text;
	char *link;		/* JSON details of "link", "recovery", "step" or "admin"; or NULL */
};

struct events;

struct events *events_new(void);
void events_free(struct events *ev);

/** events_add() - add an event. Return: its sequence number, or 0 if out of memory. */
uint64_t events_add(struct events *ev, double time, const char *node,
		    enum fm_level level, const char *kind, const char *text);
/** events_link() - add details, in JSON, to the event @seq, which must be the newest one */
void events_link(struct events *ev, uint64_t seq, const char *json);
/** events_next() - Return: the oldest stored event with a number of at least @seq, or NULL */
const struct event_record *events_next(const struct events *ev, uint64_t seq);

#endif /* EVENTS_H */
