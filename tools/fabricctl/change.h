/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking links and nodes out of the fabric, and back; what is done to one end of a cable. */
#ifndef CHANGE_H
#define CHANGE_H

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

/** change_port() - @link, an end of a cable, goes down or @up */
int change_port(const struct ctl *ctl, const char *link, bool up);
/** change_retry() - @link, an end of a cable, asks for another retry protocol */
int change_retry(const struct ctl *ctl, const char *link, const char *protocol);
/** change_retrain() - the receiver at @link trains anew */
int change_retrain(const struct ctl *ctl, const char *link);

#endif /* CHANGE_H */
