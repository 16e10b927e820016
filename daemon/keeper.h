/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts events into the history: those of this manager; and, at a candidate that does not lead,
 * those of the root.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <jansson.h>
#include "daemon/events.h"

struct fabricd;
struct history;
struct keeper;

/** keeper_new() - Return: NULL if out of memory */
struct keeper *keeper_new(struct fabricd *d);
/** keeper_free() - @k may be NULL */
void keeper_free(struct keeper *k);
/** keeper_open() - this node is a candidate: begin to keep, if that is configured */
void keeper_open(struct keeper *k, const char *dir);
/** keeper_resume() - the same, if something was kept for this NIC before this start */
void keeper_resume(struct keeper *k, const char *dir);
/** keeper_event() - keep it */
void keeper_event(struct keeper *k, const struct event_record *r);
/** keeper_changed() - the root has published something: it has new events soon */
void keeper_changed(struct keeper *k);
/** keeper_history() - NULL: nothing is kept */
struct history *keeper_history(const struct keeper *k);
/** keeper_problem() - what is wrong, or "" */
const char *keeper_problem(const struct keeper *k);
/** keeper_json() - what is kept, as the control socket tells it */
json_t *keeper_json(const struct keeper *k);
/** keeper_record() - an event as the history has it: with the run and the clock of its manager */
json_t *keeper_record(const struct keeper *k, const struct event_record *r);

#endif /* KEEPER_H */
