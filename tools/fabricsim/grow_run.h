/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A part of a torus grows from node 0, in virtual time, with the manager's own state machine
 * (daemon/fm/grow/growth.c) at each node. A message takes one hop time or more, and none is lost.
 */
#ifndef GROW_RUN_H
#define GROW_RUN_H

#include <torus/topology.h>

#include "daemon/fm/grow/growth.h"

/**
 * struct grow_case - a growth
 * @shape: the torus
 * @ask: nodes to be found
 * @dead: for each node, true if it takes no part; node 0 is the root and must not be dead
 * @jitter: a message takes 1 to 1 + @jitter hop times; those of a link stay in order
 * @seed: for @jitter
 */
struct grow_case {
	struct torus_shape shape;
	uint32_t ask;
	const bool *dead;
	uint32_t jitter;
	uint64_t seed;
};

/**
 * struct grow_result - the result of a growth
 * @members: nodes that became members
 * @counted: members of which the root knew when the search ended
 * @missing: nodes of which the root knew then that they were not found
 * @messages: messages of each kind; of ACK, those that would follow after the end
 * @hop_times: time of the last message of the search: PROPAGATE to COMPLETE
 * @end: time of the last message
 * @over: at the end all members run, with numbers from 0 on; or, if nodes are missing, all are free
 */
struct grow_result {
	uint32_t members, counted, missing;
	uint64_t messages[FM_GROWTH_KINDS], hop_times, end;
	bool over;
};

/** grow_run() - let a part grow. Return: 0 or -ENOMEM */
int grow_run(const struct grow_case *c, struct grow_result *out);

/** grow_searches() - Return: true if messages of @kind search for nodes */
static inline bool grow_searches(enum fm_growth_kind kind)
{
	return kind <= FM_GROWTH_COMPLETE;
}

#endif /* GROW_RUN_H */
