/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking links and nodes out of the fabric, and back; what is done to one end of a cable. */
#ifndef CHANGE_H
#define CHANGE_H

#include "ask.h"
#include "command.h"

/**
 * struct exclusion - how links and nodes are excluded
 * @reason: or NULL; @term: seconds after which it ends, 0 for never
 * @force: also if nodes are cut off
 */
struct exclusion {
	const char *reason;
	uint64_t term;
	bool force;
};

/**
 * change_exclusion() - @cmd: "exclude" or "include"; @what: @n of NODE or LINK
 * @how: of an exclusion, or NULL
 */
int change_exclusion(const struct ctl *ctl, const char *cmd, const struct exclusion *how,
		     char **what, int n);

/**
 * change_ask() - the same with a manager that is open, and shows nothing
 * @requests: an array, which gets a request for each of @what, with its node and port as text
 * @data: the answer, to be dropped by the caller
 */
int change_ask(struct ask *a, const char *cmd, const struct exclusion *how, char **what, int n,
	       json_t *requests, json_t **data);
/** change_kept() - says so if candidates have not kept it. Return: OK or NOT_KEPT */
int change_kept(const json_t *data);

/** change_port() - @link, an end of a cable, goes down or @up */
int change_port(const struct ctl *ctl, const char *link, bool up);
/** change_retry() - @link, an end of a cable, asks for another retry protocol */
int change_retry(const struct ctl *ctl, const char *link, const char *protocol);
/** change_retrain() - the receiver at @link trains anew */
int change_retrain(const struct ctl *ctl, const char *link);

#endif /* CHANGE_H */
