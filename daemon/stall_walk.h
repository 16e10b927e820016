/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DOC: the walk to the node that stops the packets
 *
 * A link whose packets wait for a buffer of the neighbour is an edge from the node that waits to
 * that neighbour. A healthy neighbour returns credits as soon as its own packets go on, so a
 * neighbour that returns none waits itself, and the walk continues at that neighbour. It ends at a
 * sink: a neighbour that reports that none of its links waits. The network does not keep this
 * neighbour from returning credits: its NIC is broken, or its host takes no packets. Only a port
 * that leads straight to a sink may be taken out of service: all others are healthy, and their
 * packets move when those of that port are parked.
 *
 * No node is named as the cause without that proof: not a neighbour that did not answer, because it
 * may wait as well, and not the nodes of a cycle. The nodes answer at different times; so the
 * caller walks twice, and acts only if the same port has waited all the time between and led to the
 * same sink both times (stall.c).
 *
 * In tests/unit/test_stall_walk.c, chain_of_waits_ends_at_its_sink(),
 * all_neighbours_of_sink_are_before_it() and each_of_two_sinks_is_found() are about sinks,
 * circle_of_waits_is_no_fault_of_a_node(), sink_beside_circle_is_named() and
 * wait_for_silent_node_has_no_sink() about nodes that are not named, and
 * wait_counts_only_if_earlier_walk_found_it_too() is about the two walks.
 */
#ifndef STALL_WALK_H
#define STALL_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/topology.h>

enum stall_verdict {
	STALL_CIRCLE,		/* the walk never ends, because nodes wait for each other in a
				 * cycle */
	STALL_PASSES,		/* the neighbour waits, too, and the walk that continues there
				 * ends */
	STALL_SILENT,		/* the neighbour did not report whether it waits */
	STALL_SINK,		/* no link of the neighbour waits */
};

/* Flags of a node; the caller sets STALL_TOLD, the walk the others. */
#define STALL_REPORTED	1u	/* the node has reported all its links that wait */
#define STALL_WAITS	2u	/* one of its links waits */
#define STALL_ENDS	4u	/* a walk from it ends */

/**
 * struct stall_wait - a link whose packets wait: those of @node at @port, since @ns
 * @verdict: enum stall_verdict, set by the walk
 * @seen: set by the caller: the wait led to a sink in the last walk, too
 */
struct stall_wait {
	uint32_t node;
	uint8_t port;
	uint8_t verdict;
	bool seen;
	uint64_t ns;
};

/** stall_walk() - set the verdict of each of @n waits; @node: flags of each node of @shape */
void stall_walk(const struct torus_shape *shape, uint8_t *node, struct stall_wait *w, size_t n);

/**
 * stall_same() - find the wait of the same port as @w in an earlier walk
 * Return: that wait, if it has lasted since then and led to a sink; else NULL.
 */
const struct stall_wait *stall_same(const struct stall_wait *before, size_t n,
				    const struct stall_wait *w);

#endif /* STALL_WALK_H */
