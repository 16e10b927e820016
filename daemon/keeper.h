/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds events to the history: the events of this manager and, at a candidate that is not root, the
 * events that this manager copies from the root.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <jansson.h>
#include "daemon/events.h"

struct fabricd;
struct history;
struct keeper;

/** keeper_new() - create a keeper without a history. Return: NULL if out of memory */
struct keeper *keeper_new(struct fabricd *d);
/** keeper_free() - close the history, and free. @k may be NULL */
void keeper_free(struct keeper *k);
/**
 * keeper_open() - open the history below @dir if the configuration has one; called when this node
 * is a candidate
 */
void keeper_open(struct keeper *k, const char *dir);
/**
 * keeper_resume() - like keeper_open(), but only if a history of this NIC exists from before this
 * start
 */
void keeper_resume(struct keeper *k, const char *dir);
/** keeper_event() - add an event of this manager to the history */
void keeper_event(struct keeper *k, const struct event_record *r);
/** keeper_changed() - ask the root for events soon; called when the fabric has changed */
void keeper_changed(struct keeper *k);
/** keeper_history() - Return: the history; NULL if there is no history */
struct history *keeper_history(const struct keeper *k);
/** keeper_problem() - Return: the text of the present problem, or "" */
const char *keeper_problem(const struct keeper *k);
/** keeper_json() - Return: what the history contains, for the control socket */
json_t *keeper_json(const struct keeper *k);
/** keeper_record() - Return: an event for the history, with the run and the clock of its manager */
json_t *keeper_record(const struct keeper *k, const struct event_record *r);

#endif /* KEEPER_H */
