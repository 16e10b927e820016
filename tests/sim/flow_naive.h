/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fabricsim flow once more, the slow way: every phit is moved, every input and output
 * is looked at in every cycle, a packet asks for its way anew at every node, and the
 * bubble rules are written out again. It shares only the parameters with the
 * simulator under test.
 */
#ifndef TESTS_SIM_FLOW_NAIVE_H
#define TESTS_SIM_FLOW_NAIVE_H

#include "tools/fabricsim/flow.h"

/** struct naive_end - a packet that has been consumed */
struct naive_end {
	uint32_t now, src, dst, born;
};

struct naive;

/** naive_new() - @p has a trace; no random arbiter, tie or placement */
struct naive *naive_new(const struct flow_params *p);
void naive_free(struct naive *s);
void naive_step(struct naive *s);

/** naive_ends() - what has been consumed so far, in order of time. Return: how many */
size_t naive_ends(const struct naive *s, const struct naive_end **ends);

/** naive_false_packets() - asked for and sent so far */
void naive_false_packets(const struct naive *s, uint64_t *requests, uint64_t *responses);

#endif /* TESTS_SIM_FLOW_NAIVE_H */
