/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of fabricsim availability: sizes of fabrics, times of recovery. */
#ifndef AVAIL_OPTION_H
#define AVAIL_OPTION_H

#include <torus/topology.h>

#include "range.h"

/** struct recovery - duration of a recovery, seconds, by number of nodes */
struct recovery {
	struct range nodes, seconds;	/* rising in nodes */
};

/**
 * recovery_option() - "0.003", or a file of lines NODES SECONDS; # begins a comment. A
 * line may also be an output of fabricsim recovery --json: the longest time until
 * resumption of its acts that begin with @act
 * Return: OK; the caller frees the ranges. CANNOT after it has printed the error.
 */
int recovery_option(const char *option, const char *text, const char *act, struct recovery *r);

/**
 * recovery_at() - seconds; between two sizes on a line over log(nodes), beyond the
 * last as there
 */
double recovery_at(const struct recovery *r, double nodes);

/** nodes_option() - FROM:TO doubles, TO included; the rest is as in range_parse() */
int nodes_option(const char *text, double min, double max, struct range *r);

/**
 * shape_near() - a torus of @dims dimensions whose sizes differ as little as may be:
 * of exactly @nodes if that can be with each at most twice the mean, else near it
 * Return: 0, or -1: no shape is of that size.
 */
int shape_near(unsigned int dims, double nodes, struct torus_shape *out);

#endif /* AVAIL_OPTION_H */
