/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions to the history of the root, or of one node. */
#ifndef PAST_H
#define PAST_H

#include "ask.h"

/**
 * struct past - a question
 * @since, @until, @level, @kind, @link, @of: options as typed; NULL: all
 * @kinds: several kinds, with commas between them, instead of @kind
 * @local: ask for the history of the node asked, not for that of the root
 * @arguments: @since and @until are arguments of the command, with or without "-", and no options
 * @earliest: no event from before this time, ms since 1970; 0: from any time
 * @last: without @since, @until and @earliest, only this number of the newest events; 0: all events
 */
struct past {
	const char *since, *until, *level, *kind, *kinds, *link, *of;
	bool local, arguments;
	int64_t earliest;
	uint64_t last;
};

/**
 * struct past_found - the result
 * @events: an array of events, in the order in which they happened
 * @about: the manager's reply
 */
struct past_found {
	json_t *events;
	json_t *about;
	int64_t from, to;
};

/**
 * past_check() - check the options, without sending a question; prints the error. Return: OK or
 * CANNOT
 */
int past_check(const struct past *p);
/**
 * past_ask() - send the question. Return: OK, and the caller has to call past_free(); or the kind
 * of the error
 */
int past_ask(struct ask *a, const struct past *p, struct past_found *found);
void past_free(struct past_found *found);
/**
 * past_before() - get the last events before a time
 * @from: that time, ms since 1970
 * @events: set to an array
 * Return: OK or the kind of the error.
 */
int past_before(struct ask *a, int64_t from, json_t **events);
/**
 * past_end() - Return: the end of the requested time, or the present time if that is earlier; unix
 * time, s
 */
double past_end(const struct past_found *found);
/**
 * past_faulty() - get the ports that routing does not use now, by node and port; @faulty is set to
 * NULL if they are not known
 */
int past_faulty(struct ask *a, json_t **faulty);
/** past_is_known() - Return: false if the manager's history began after the requested time */
bool past_is_known(const struct past_found *found);
/** past_none() - Return: @none, the text of no event; if no event is known, a text that says why */
const char *past_none(const struct past_found *found, const char *none);
/** past_notes() - warn of events that may be missing: not kept any more, or lost */
void past_notes(const struct past_found *found);
/**
 * past_follow() - print further events with @show, until the connection fails
 * If the manager does not answer, it, or another one of the lab, is asked again for a minute; no
 * event is shown twice.
 * Return: the kind of the error.
 */
int past_follow(const struct ctl *ctl, struct ask *a, const struct past *p,
		const struct past_found *found, bool (*show)(const json_t *events));

#endif /* PAST_H */
