/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Placement of the ranks of a parallel program on the nodes of a torus: how far its bytes go by the
 * rows that are in force, and which placement takes them less far.
 *
 * A slot is room for one rank on a node; a node has as many slots as it may have ranks. A placement
 * is an array of one slot for each rank, all of them different.
 */
#ifndef TORUS_MAP_H
#define TORUS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/route.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct torus_traffic - what one rank sends to another, or to itself */
struct torus_traffic {
	uint32_t from;
	uint32_t to;
	uint64_t bytes;
};

/**
 * struct torus_map - a program, and the nodes that it may use; the caller keeps all arrays
 * @shape: shape of the torus
 * @rows: for each node its rows; NULL: unknown, so that no path from the node is known
 * @excluded: closed table, or NULL: dead links are not checked for
 * @slot: node of each slot, in any order
 * @slots: number of slots
 * @ranks: number of ranks, 1 to @slots
 * @traffic: what ranks send
 * @n: number of @traffic
 */
struct torus_map {
	const struct torus_shape *shape;
	const uint64_t *const *rows;
	const uint16_t *excluded;
	const uint32_t *slot;
	uint32_t slots;
	uint32_t ranks;
	const struct torus_traffic *traffic;
	size_t n;
};

/**
 * struct torus_map_score - costs of a placement, for packets that are not adaptive
 * @local: bytes between ranks of one node, which cross no link
 * @bytes: bytes between ranks of different nodes that a path joins
 * @stranded: bytes between ranks of different nodes that no known path joins; they count nowhere
 *	else
 * @hop_bytes: sum of bytes by hops of their path, through all relays
 * @pairs: entries of the traffic that @bytes are from
 * @hops: hops of the paths of these entries, added up: @hops / @pairs is the average dilation
 * @dilation: most hops of a path
 * @load: bytes that cross the most loaded link in one direction
 * @busiest: that link, the one with the lowest node and port of several; the node is TORUS_NO_NODE
 *	if no link is used
 */
struct torus_map_score {
	uint64_t local, bytes, stranded;
	uint64_t hop_bytes;
	uint64_t pairs, hops;
	uint32_t dilation;
	uint64_t load;
	struct torus_hop busiest;
};

/**
 * torus_map_score() - compute the costs of a placement
 * @m: the program and the nodes
 * @place: the placement, @m->ranks slots
 * @out: the costs
 * Return: 0; -EINVAL if the shape, a node, a slot or a rank does not exist, two ranks have one
 * slot, or there are no ranks; -EOVERFLOW if a sum has more than 64 bits; -ENOMEM.
 */
int torus_map_score(const struct torus_map *m, const uint32_t *place, struct torus_map_score *out);

/**
 * torus_map_better() - compare two placements: fewer bytes are stranded, or as many and there are
 * fewer hop-bytes, or as many and the most loaded link carries less
 * Return: true if @a is better than @b.
 */
bool torus_map_better(const struct torus_map_score *a, const struct torus_map_score *b);

/**
 * torus_map_improve() - find a better placement
 * @m: the program and the nodes
 * @seed: seed of random numbers; the same input and seed give the same placement
 * @moves: exchanges of two ranks to try, at most 2^23; 0 for the default, which takes seconds at
 *	most
 * @place: the placement to begin with, replaced by the best one that is found
 *
 * If ranks exchange data as neighbours in a grid, as MPI_Cart_create() numbers them, and the slots
 * are a box of the torus, the grid is folded onto the box, which needs one hop for each neighbour
 * where the sizes allow it. Else, and on a torus with faults, the placement is annealed.
 * lib/map/README.md has the methods. The result is never worse than the beginning, as
 * torus_map_better() compares.
 * Return: 0, or an error of torus_map_score(), and then @place is unchanged.
 */
int torus_map_improve(const struct torus_map *m, uint64_t seed, uint64_t moves, uint32_t *place);

#ifdef __cplusplus
}
#endif
#endif /* TORUS_MAP_H */
