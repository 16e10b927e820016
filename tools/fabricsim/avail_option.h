/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of fabricsim availability: sizes of fabrics, times of recovery. */
#ifndef AVAIL_OPTION_H
#define AVAIL_OPTION_H

#include <torus/topology.h>

#include "range.h"

/** struct recovery - duration of a recovery, seconds, by number of nodes */
struct recovery {
	struct range nodes, seconds;	/* ascending by the number of nodes */
};

/**
 * recovery_option() - parse @text: a number of seconds such as "0.003", or the name of a file with
 * lines NODES SECONDS; # begins a comment. A line may also be an output of fabricsim recovery
 * --json: then the longest time until traffic resumes is used, of all acts whose names begin with
 * @act
 * Return: OK; the caller frees the ranges. CANNOT after it has printed the error.
 */
int recovery_option(const char *option, const char *text, const char *act, struct recovery *r);

/**
 * recovery_at() - Return: duration in seconds; between two sizes it is interpolated over
 * log(nodes), beyond the last size it stays constant
 */
double recovery_at(const struct recovery *r, double nodes);

/**
 * nodes_option() - like range_parse(), but FROM:TO means that the number doubles at each step, up
 * to TO
 */
int nodes_option(const char *text, double min, double max, struct range *r);

/**
 * shape_near() - find a torus of @dims dimensions whose sizes differ as little as possible: with
 * exactly @nodes nodes if each size can be at most twice the mean, else with nearly as many
 * Return: 0, or -1 if there is no shape of about that size.
 */
int shape_near(unsigned int dims, double nodes, struct torus_shape *out);

#endif /* AVAIL_OPTION_H */
