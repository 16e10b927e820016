/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A slow second implementation of fabricsim flow: it moves every phit, visits every input and
 * output in every cycle, routes a packet anew at every node, and has its own code of the bubble
 * rules. It shares only the parameters with the simulator under test.
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

/** naive_ends() - the packets consumed so far, in order of time. Return: how many */
size_t naive_ends(const struct naive *s, const struct naive_end **ends);

/** naive_false_packets() - how many false packets were asked for and sent so far */
void naive_false_packets(const struct naive *s, uint64_t *requests, uint64_t *responses);

#endif /* TESTS_SIM_FLOW_NAIVE_H */
