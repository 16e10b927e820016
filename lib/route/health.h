/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The usable cables of a torus: one bit for each cable, with the cables of a ring in consecutive
 * bits, so that a straight segment of hops is checked in one or two words.
 */
#ifndef LIB_ROUTE_HEALTH_H
#define LIB_ROUTE_HEALTH_H

#include <stdbool.h>
#include <torus/route.h>

#define DIMS TORUS_MAX_DIMS

/**
 * struct torus_health - a torus and its exclusions
 * @shape: shape of the torus
 * @nodes: number of nodes
 * @stride: for each dimension, difference of node ids between neighbours
 * @reported: for each node, mask of the ports that it excludes
 * @cut: for each dimension, the bits of all rings, @words words each; bit i of a ring is set if the
 *	cable from position i to the next is excluded by one end or both
 * @words: for each dimension, words of a ring
 * @ring: number of a node's ring in dimension d: sum over j of coordinate j times @ring[d][j]
 * @hurt: for each dimension, a bit for each node, and a spare word; set if a cable of the node's
 *	ring along that dimension is excluded
 * @fault: the excluded cables, each once, in any order
 * @nfaults: number of entries in @fault
 * @room: entries of @fault that are allocated
 * @label: lowest node id of each node's component, if @labelled
 * @labelled: @label is valid; set when a component is first asked for, cleared by changes
 * @mark: for each node, the last search that reached it
 * @round: number of the present search
 * @queue: nodes to visit in the present search
 */
struct torus_health {
	struct torus_shape shape;
	uint32_t nodes;
	uint32_t stride[DIMS];
	uint16_t *reported;
	uint64_t *cut[DIMS];
	uint32_t words[DIMS];
	uint32_t ring[DIMS][DIMS];
	uint64_t *hurt[DIMS];
	struct torus_cable *fault;
	uint32_t nfaults, room;
	uint32_t *label;
	bool labelled;
	uint32_t *mark;
	uint32_t *queue;
	uint32_t round;
};

/** lt_hurt() - Return: true if a cable of @node's ring along @d is excluded */
static inline bool lt_hurt(const struct torus_health *h, uint32_t node, unsigned int d)
{
	return h->hurt[d][node / 64] >> node % 64 & 1;
}

/**
 * lt_hurt_word() - Return: lt_hurt() of 64 nodes from @node on, as bits; bits beyond the last node
 * are undefined
 */
static inline uint64_t lt_hurt_word(const struct torus_health *h, uint32_t node, unsigned int d)
{
	const uint64_t *word = h->hurt[d] + node / 64;

	/* Shifts in two steps, because a shift by 64 is undefined. */
	return word[0] >> node % 64 | word[1] << 1 << (63 - node % 64);
}

/** lt_run_ok() - Return: true if all cables of @hops hops along @dir from @at are healthy */
bool lt_run_ok(const struct torus_health *h, const struct torus_coords *at,
	       unsigned int dir, unsigned int hops);

/**
 * lt_reach() - Return: hops along @dir from @at to the first excluded cable; ring size: no cable of
 * the ring is excluded
 */
unsigned int lt_reach(const struct torus_health *h, const struct torus_coords *at,
		      unsigned int dir);

/** lt_isolated() - Return: true if no cable of @node is healthy */
bool lt_isolated(const struct torus_health *h, uint32_t node);

/**
 * lt_apart() - find out if two nodes are in different components
 * Return: 1 if they are in different components, 0 if not, or -ENOMEM.
 */
int lt_apart(struct torus_health *h, uint32_t a, uint32_t b);

/**
 * lt_spread() - breadth-first search over healthy cables
 * @h: the torus
 * @from: node at which the search begins
 * @level: called with the nodes of each distance from 1 on; nonzero ends the search
 * @arg: argument of @level
 * Return: the nonzero result of @level; 0 if the search was not ended; -ENOMEM.
 */
int lt_spread(struct torus_health *h, uint32_t from,
	      int (*level)(void *arg, const uint32_t *node, uint32_t n), void *arg);

/* Moves @at one hop along @dir. Return: the id of the node there. */
static inline uint32_t lt_step(const struct torus_health *h, struct torus_coords *at,
			       uint32_t node, unsigned int dir)
{
	unsigned int n = h->shape.ndims, d = dir < n ? dir : dir - n;
	uint16_t c = at->c[d], size = h->shape.size[d];

	at->c[d] = (uint16_t)(dir < n ? (c + 1u < size ? c + 1u : 0u) : (c ? c : size) - 1u);
	/* The difference may wrap around; the sum is right modulo 2^32. */
	return node + ((uint32_t)at->c[d] - c) * h->stride[d];
}

#endif /* LIB_ROUTE_HEALTH_H */
