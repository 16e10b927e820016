/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * D(1,m) addresses (V. V. Korneev, Routing in a Communication Fabric of a Computing System with
 * Distributed Shared Memory and Synchronization based on FE-Bits, 2022).
 *
 * At first each vertex is a set. Each step finds a matching among the sets, which makes pairs of
 * adjacent sets, and joins each pair to one set. One of the pair gets digit 0 and the other one
 * digit 1, in front of the digits that their vertices already have; a set without a partner gets 0.
 * It ends when one set is left. So the vertices with a common prefix are a set of some step, and
 * connected.
 *
 * A packet at u for d goes to g. Let i be the first digit in which u and d differ: g is the nearest
 * vertex whose address agrees with that of d in digits 0 to i. Claim: it arrives after at most m
 * such legs, whatever way a leg takes. Proof: g and d agree in digits 0 to i, so the first digit in
 * which they differ is behind i. The digit strictly rises from leg to leg, and there are m of them.
 *
 * The paper decides anew at each hop. There a packet may leave the set on its way to the next one,
 * and be sent back from outside, for ever: `fabricsim address --as-written` counts such pairs. So
 * the source of a leg determines the whole leg here. A leg is a row to its gateway, with the bit of
 * a relay, so routers, rows and torus_verify() treat it as any other relay (lib/route/relay.h).
 *
 * On a torus with excluded cables it may be that no header leads to any such node. Then the leg is
 * one hop, along a shortest path to such a node among the nodes that agree with the source in the
 * digits before i. They are connected, so there is such a path. At its next node i is the same, and
 * the path from there is shorter; so after finitely many such legs i rises, too.
 */
#ifndef LIB_ROUTE_DM_H
#define LIB_ROUTE_DM_H

#include <torus/route.h>

/**
 * struct lt_edge - all edges between two sets
 * @to: the other set
 * @key: weight: in the upper 8 bits the highest dimension, if the rule prefers that, below it the
 * sum of weights
 */
struct lt_edge {
	uint32_t to, key;
};

/**
 * struct lt_level - the sets at the beginning of a step
 * @n: number of sets
 * @first: for each set, index of its first edge, and the end of all edges; NULL before the first
 *	step, where edges come from @graph
 * @edge: edges of all sets
 * @graph: the graph
 * @prefer: weights
 * @room: room for the edges of a vertex of the graph
 */
struct lt_level {
	uint32_t n;
	uint32_t *first;
	struct lt_edge *edge;
	const struct torus_graph *graph;
	enum torus_dm_prefer prefer;
	struct lt_edge *room;
};

/**
 * lt_dm_edges() - get the edges of a set, one for each other set; valid until the next call
 * Return: their number.
 */
uint32_t lt_dm_edges(const struct lt_level *l, uint32_t set, const struct lt_edge **edges);

/** lt_key_sum() - Return: the key of the edges of both keys together */
static inline uint32_t lt_key_sum(uint32_t a, uint32_t b)
{
	uint32_t sum = (a & 0xffffff) + (b & 0xffffff), dim = (a > b ? a : b) >> 24;

	return dim << 24 | (sum > 0xffffff ? 0xffffff : sum);
}

/*
 * A matching: @mate gets the partner of each set, or TORUS_NO_NODE. Return: 0 or -ENOMEM.
 *
 * lt_match_dominant() takes an edge as soon as it comes before all other free edges at its two
 * ends. As the order of edges is the same at both ends, there always is such an edge, and the
 * result does not depend on which is taken first. From the second step on, an edge comes the
 * earlier the fewer neighbours one of its ends has: such a set would soon have no free neighbour.
 * Without that, one set grows by a vertex a step while those around it are taken, and 110 vertices
 * needed more than 24 digits where 8 do. Of edges that are equal in this, the one of the greater
 * key comes first, and then the one with the lower numbers of sets.
 *
 * lt_match_exact() finds most pairs, then the greatest sum of keys, then the least sum of the
 * differences between the numbers of sets, for at most TORUS_DM_EXACT_MAX sets. The last criterion
 * lets parallel rings be divided at the same places.
 */
int lt_match_dominant(const struct lt_level *l, uint32_t *mate);
int lt_match_exact(const struct lt_level *l, uint32_t *mate);

/**
 * struct lt_dm_part - a component of a torus as a graph
 * @h: the torus
 * @n: number of nodes
 * @node: node of each vertex
 * @vertex: vertex of each node of the torus. Both are NULL if the component is the whole torus.
 */
struct lt_dm_part {
	struct torus_health *h;
	uint32_t n;
	uint32_t *node, *vertex;
};

/**
 * struct torus_dm - the addresses of a graph
 * @graph: the graph
 * @m: digits
 * @address: of each vertex
 * @vertex: for each number the vertex
 * @missing, @standing: the holes, as torus_dm_holes() returns them
 * @holes: number of holes
 * @part: component of a torus that the graph is, freed with the addresses; NULL: another graph
 */
struct torus_dm {
	struct torus_graph graph;
	struct lt_dm_part *part;
	unsigned int m;
	uint32_t *address, *vertex;
	uint32_t *missing, *standing, holes;
};

/** lt_dm_part_free() - free @part, which may be NULL */
void lt_dm_part_free(struct lt_dm_part *part);

#endif /* LIB_ROUTE_DM_H */
