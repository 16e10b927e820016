/* SPDX-License-Identifier: GPL-2.0-only */
/* A command that asks one question and shows its answer. */
#ifndef SHOW_H
#define SHOW_H

#include "ask.h"

/**
 * show_answer() - send @request, and print the answer, as JSON or with @show
 * @node: added to the request as "node" if not NULL
 * Return: an exit status.
 */
int show_answer(const struct ctl *ctl, const char *request, const char *node,
		void (*show)(const json_t *data));

/** struct show_early - functions that are used while there is no table; see wave_show() */
struct show_early {
	json_t *(*items)(const json_t *own);
	void (*show)(const json_t *items);
};

/**
 * struct show_nodes - functions and limits for a question about one node or all nodes
 * @max, @each: as in ask_nodes(); @max 0: one question about all nodes
 * @whole: value of @max for a manager of an earlier release
 * @pick: selects items of the answer, a new reference; or NULL
 * @show: prints the answer as text
 * @early: answers a question about all nodes while there is no table; or NULL
 * @instead: asks another question if the only node asked does not answer, or prints an error; or
 *	NULL
 */
struct show_nodes {
	uint32_t max, whole, each;
	json_t *(*pick)(const json_t *data);
	void (*show)(const json_t *data);
	const struct show_early *early;
	int (*instead)(struct ask *a, const json_t *question, json_t **data);
};

/** show_nodes() - ask @question about @node or all (NULL), show the answer; drops @question */
int show_nodes(const struct ctl *ctl, json_t *question, const char *node,
	       const struct show_nodes *how);

/** show_filter() - Return: an array of the items for which @keep is true, a new reference */
json_t *show_filter(const json_t *all, bool (*keep)(const json_t *item));

#endif /* SHOW_H */
