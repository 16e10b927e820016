/* SPDX-License-Identifier: GPL-2.0-only */
/* Outages of cables, put together from events of kind link and recovery. */
#ifndef OUTAGES_H
#define OUTAGES_H

#include <jansson.h>
#include <stdbool.h>

#define OUTAGES_KINDS "link,recovery,node,root"
#define OUTAGES_CAUSE_MAX 128

/**
 * outages_find() - find outages of cables, sorted by their beginning
 * @events: in the order in which they happened
 * @faulty: ends of cables that routing does not use now, by node and port; NULL: not known
 * Return: an array of {link, state, from, to, duration_ms, reason, excluded, silent_ms, recovery,
 * pause_ms, dead, latest}; dead: the node whose death was the cause, or null; latest: the end was
 *	not seen, and was not later than "to"
 */
json_t *outages_find(const json_t *events, const json_t *faulty);
/**
 * outages_dead_node() - read an event that a node is dead
 * @over: set to true if the event shows that the node is no longer dead
 * Return: the coordinates of the node; NULL if the event is about something else.
 */
json_t *outages_dead_node(const json_t *event, bool *over);
/**
 * outages_cause_text() - write why the cable of an outage was lost
 * @buf: OUTAGES_CAUSE_MAX bytes
 * Return: @buf: the reason, and whether a node's death or an administrator was the cause
 */
char *outages_cause_text(const json_t *outage, char *buf);
/** outages_held() - Return: true if an administrator took the link down, and it still is */
bool outages_held(const json_t *outage);
/** outages_end_text() - Return: what stands for the end of an outage that has no time of it */
const char *outages_end_text(const json_t *outage);
/**
 * outages_so_far() - set the durations of outages that have not ended, up to that time of day, s
 */
void outages_so_far(const json_t *outages, double until);
/**
 * outages_cable() - Return: {node, port, name, peer}, a new object, from a link or an event of it;
 * the end at a port with "+" comes first, as everywhere else
 */
json_t *outages_cable(const json_t *link);
/**
 * outages_same_cable() - Return: true if both objects describe the same cable; the order of the
 * ends does not matter
 */
bool outages_same_cable(const json_t *a, const json_t *b);

#endif /* OUTAGES_H */
