/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a part of a torus grows by itself (V. V. Korneev, 2022, "Forming subsystems", with corrections):
 *
 * PROPAGATE(n) asks a neighbour to find n nodes, itself included. A free node becomes a member, the
 * sender its parent, and shares n - 1 evenly among its open links, the rest to the lowest ports. A
 * member that its parent asks again shares n at once; asked by another node, it answers REFUSE(n), and
 * the link is closed at both ends. REFUSE(n), and DEAD(n) from a child, close the link, and n is
 * shared again at once. If no link is open, n waits until all questions are answered. When they are
 * and nothing waits, DONE(d) goes to the parent, where d is the number of nodes that were added since
 * the last one; if something waits and no link is open, DEAD(n) follows it.
 *
 * In the paper, DONE carries the whole subtree, so that a second one is counted twice; a member that
 * another member asks answers to its own parent, so that the one that asked waits for ever; and
 * nothing says what follows a DEAD.
 */
#ifndef GROW_RUN_H
#define GROW_RUN_H

#include <torus/topology.h>

enum grow_message { GROW_PROPAGATE, GROW_REFUSE, GROW_DEAD, GROW_DONE, GROW_MESSAGES };

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
 * struct grow_result - how it ended
 * @members: members
 * @counted: members of which the root knows
 * @missing: nodes of which the root knows that they were not found
 * @messages: messages of each kind
 * @hop_times: time of the last message
 * @over: nothing was left unanswered at any member
 */
struct grow_result {
	uint32_t members, counted, missing;
	uint64_t messages[GROW_MESSAGES], hop_times;
	bool over;
};

/** grow_run() - let a part grow. Return: 0 or -ENOMEM */
int grow_run(const struct grow_case *c, struct grow_result *out);

#endif /* GROW_RUN_H */
