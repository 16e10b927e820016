/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last events of a manager, for browsers that connect again. The manager numbers its events
 * from 1 each time it starts, so an event is known by its number and its time together: "17-TIME",
 * the time in microseconds.
 */
#ifndef FABRICWEB_RING_H
#define FABRICWEB_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_MAX	512	/* as many as the manager keeps */
#define RING_ID_MAX	48

/**
 * struct ring_event - an event
 * @json: its text, owned by the ring
 * @place: number of events that were added before it
 */
struct ring_event {
	uint64_t seq, us, place;
	char *json;
};

/** struct ring - the last events; zeroed, it is empty. @next: the place of the next event */
struct ring {
	struct ring_event event[RING_MAX];
	uint64_t next;
};

/**
 * ring_add() - add an event, unless it is there
 * @json: its text, which is copied
 * Return: false if it was there, or if there is no memory.
 */
bool ring_add(struct ring *r, uint64_t seq, uint64_t us, const char *json);
void ring_clear(struct ring *r);

/**
 * ring_at() - Return: the event at a place; NULL if it is not kept any more, or has not come yet
 */
const struct ring_event *ring_at(const struct ring *r, uint64_t place);
/** ring_first() - Return: place of the oldest event that is kept */
uint64_t ring_first(const struct ring *r);

/** ring_id() - Return: @buf, set to the name of an event; "" if @e is NULL */
char *ring_id(const struct ring_event *e, char *buf);
/**
 * ring_after() - find what a browser has not seen
 * @id: name of the last event that it has seen
 * @missed: set to true if events after that one may have been lost
 * Return: place of the first event that is new to it.
 */
uint64_t ring_after(const struct ring *r, const char *id, bool *missed);

#endif /* FABRICWEB_RING_H */
