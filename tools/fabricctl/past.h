/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions to the history of the root, or of one node. */
#ifndef PAST_H
#define PAST_H

#include "ask.h"

/**
 * struct past - what is asked
 * @since, @until, @level, @kind, @link, @of: as they were typed; NULL: all
 * @kinds: several, with commas between them, instead of @kind
 * @local: of the node asked, not of the root
 * @last: only so many, the last ones, if neither @since nor @until says when; 0: all
 */
struct past {
	const char *since, *until, *level, *kind, *kinds, *link, *of;
	bool local;
	uint64_t last;
};

/** struct past_found - @events: an array, in the order in which they happened; @about: the reply */
struct past_found {
	json_t *events;
	json_t *about;
	int64_t from, to;
};

/** past_check() - says what is wrong with the words; does not ask. Return: OK or CANNOT */
int past_check(const struct past *p);
/** past_ask() - Return: OK, or why not; @found is then to be given to past_free() */
int past_ask(struct ask *a, const struct past *p, struct past_found *found);
void past_free(struct past_found *found);
/** past_faulty() - @faulty: cables that are down now; NULL: not known, or too many to be listed */
int past_faulty(struct ask *a, json_t **faulty);
/** past_notes() - warns of what the answer may lack: what is not kept any more, or was lost */
void past_notes(const struct past_found *found);
/**
 * past_follow() - prints events that come from now on, by @show, until that fails
 * Return: why it ended.
 */
int past_follow(struct ask *a, const struct past *p, const struct past_found *found,
		bool (*show)(const json_t *events));

#endif /* PAST_H */
