/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The usable parts of a torus: one bit for each cable, the cables of a ring side by
 * side, so that a straight run of hops is checked by a look at a word or two.
 */
#ifndef LIB_ROUTE_HEALTH_H
#define LIB_ROUTE_HEALTH_H

#include <stdbool.h>
#include <torus/route.h>

#define DIMS TORUS_MAX_DIMS

/**
 * struct torus_health - a torus and its exclusions
 * @stride: difference of node ids between neighbours along a dimension
 * @said: for each node, the ports that it says must not be used
 * @cut: for each dimension the rings, @words each; bit i of a ring: the cable
 *	from position i to the next one is excluded by one end or both
 * @ring: number of a node's ring in dimension d: sum of its coordinates j times
 *	@ring[d][j]
 * @hurt: for each dimension one bit a node, and a word more: some cable of its ring
 *	along that dimension is excluded
 * @fault: the excluded cables, each once, in no order
 * @label, @labelled: component of each node, made when first asked for
 * @mark, @round, @queue: of searches over nodes; @round is the present one's
 */
struct torus_health {
	struct torus_shape shape;
	uint32_t nodes;
	uint32_t stride[DIMS];
	uint16_t *said;
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

/** lt_hurt() - whether a cable is excluded of the ring that @node is in along @d */
static inline bool lt_hurt(const struct torus_health *h, uint32_t node, unsigned int d)
{
	return h->hurt[d][node / 64] >> node % 64 & 1;
}

/** lt_hurt_word() - the same of 64 nodes from @node on, of which the last may be none */
static inline uint64_t lt_hurt_word(const struct torus_health *h, uint32_t node, unsigned int d)
{
	const uint64_t *word = h->hurt[d] + node / 64;

	/* In two steps, for a shift by 64 is none. */
	return word[0] >> node % 64 | word[1] << 1 << (63 - node % 64);
}

/** lt_run_ok() - whether @hops hops along @dir from @at cross healthy cables only */
bool lt_run_ok(const struct torus_health *h, const struct torus_coords *at,
	       unsigned int dir, unsigned int hops);

/** lt_reach() - hops along @dir from @at to the first excluded cable; its size: there is none */
unsigned int lt_reach(const struct torus_health *h, const struct torus_coords *at,
		      unsigned int dir);

/** lt_isolated() - a node that no healthy cable reaches */
bool lt_isolated(const struct torus_health *h, uint32_t node);

/**
 * lt_apart() - whether two nodes are in different components
 * Return: 0, 1 or -ENOMEM.
 */
int lt_apart(struct torus_health *h, uint32_t a, uint32_t b);

/**
 * lt_spread() - a breadth-first search over healthy cables
 * @from: where it begins
 * @shell: called with the nodes of each distance from 1 on; nonzero ends it
 * Return: what @shell returned, 0 if it never ended the search, -ENOMEM.
 */
int lt_spread(struct torus_health *h, uint32_t from,
	      int (*shell)(void *arg, const uint32_t *node, uint32_t n), void *arg);

/* The far end of a cable and its port there. */
static inline uint32_t lt_step(const struct torus_health *h, struct torus_coords *at,
			       uint32_t node, unsigned int dir)
{
	unsigned int n = h->shape.ndims, d = dir < n ? dir : dir - n;
	uint16_t c = at->c[d], size = h->shape.size[d];

	at->c[d] = (uint16_t)(dir < n ? (c + 1u < size ? c + 1u : 0u) : (c ? c : size) - 1u);
	/* Unsigned wrap-around is meant: the sum is what counts. */
	return node + ((uint32_t)at->c[d] - c) * h->stride[d];
}

#endif /* LIB_ROUTE_HEALTH_H */
