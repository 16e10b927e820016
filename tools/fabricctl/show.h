/* SPDX-License-Identifier: GPL-2.0-only */
/* A command that asks one question and shows its answer. */
#ifndef SHOW_H
#define SHOW_H

#include "ask.h"

/**
 * show_answer() - @request, as JSON or by @show
 * @node: goes into the request as "node" if not NULL
 * Return: an exit status.
 */
int show_answer(const struct ctl *ctl, const char *request, const char *node,
		void (*show)(const json_t *data));

/**
 * struct show_early - what a command shows while there is no table: see wave_show()
 */
struct show_early {
	json_t *(*items)(const json_t *own);
	void (*show)(const json_t *items);
};

/**
 * struct show_nodes - how a question about one node or all is asked and shown
 * @max, @each: as of ask_nodes(); @max 0: all nodes are asked for at once
 * @pick: takes items out of the answer, a new reference; or NULL
 * @show: for people
 * @early: answers a question about all nodes while there is no table; or NULL
 * @instead: asks for something else if the one node does not answer, or says so; or NULL
 */
struct show_nodes {
	uint32_t max, each;
	json_t *(*pick)(const json_t *data);
	void (*show)(const json_t *data);
	const struct show_early *early;
	int (*instead)(struct ask *a, const json_t *question, json_t **data);
};

/** show_nodes() - a @question about @node, or all if it is NULL; it is dropped */
int show_nodes(const struct ctl *ctl, json_t *question, const char *node,
	       const struct show_nodes *how);

/** show_filter() - an array without what @keep refuses; a new reference */
json_t *show_filter(const json_t *all, bool (*keep)(const json_t *item));

#endif /* SHOW_H */
