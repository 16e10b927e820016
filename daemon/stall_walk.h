/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DOC: the walk to the node at which packets stand still
 *
 * A link whose packets wait for a buffer of the neighbour is an edge from the node that waits
 * to that neighbour. A healthy neighbour returns credits as soon as its own packets go on, so
 * one that keeps them waits itself, and the walk goes on there. It ends at a sink: a neighbour
 * that says that none of its links waits. Nothing on the network's side keeps that one from
 * returning credits: its NIC is broken, or its host takes no packets. Only a port that leads
 * straight to a sink may be taken out of service: all others are healthy, and their packets
 * move once that one is parked.
 *
 * Nobody is blamed without that proof: not a neighbour that did not answer, for it may wait as
 * well, and not the nodes of a circle. A node's answer is of one moment, and the answers
 * are not of the same one; the caller therefore walks twice, and acts if the same port has
 * waited all the time between and led to the same sink both times (stall.c).
 */
#ifndef STALL_WALK_H
#define STALL_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/topology.h>

enum stall_verdict {
	STALL_CIRCLE,		/* the walk never ends: nodes wait for each other */
	STALL_PASSES,		/* the neighbour waits, too, and its walk ends */
	STALL_SILENT,		/* the neighbour did not tell whether it waits */
	STALL_SINK,		/* the neighbour waits for nobody */
};

/* Knowledge of a node; the caller sets STALL_TOLD, the walk the others. */
#define STALL_TOLD	1u	/* it told of all its links */
#define STALL_WAITS	2u
#define STALL_ENDS	4u	/* a walk from it ends */

/**
 * struct stall_wait - packets of @node have waited at @port for @ns
 * @verdict: enum stall_verdict, by the walk
 * @seen: the caller's: it led to a sink in the last walk, too
 */
struct stall_wait {
	uint32_t node;
	uint8_t port;
	uint8_t verdict;
	bool seen;
	uint64_t ns;
};

/** stall_walk() - sets the verdict of each of @n waits; @node: a byte for each node of @shape */
void stall_walk(const struct torus_shape *shape, uint8_t *node, struct stall_wait *w, size_t n);

/**
 * stall_same() - the wait of @w, going on since, in an earlier walk, if it led to a sink; or NULL
 */
const struct stall_wait *stall_same(const struct stall_wait *before, size_t n,
				    const struct stall_wait *w);

#endif /* STALL_WALK_H */
