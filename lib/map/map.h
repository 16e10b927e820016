/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files of this folder share. */
#ifndef LIB_MAP_H
#define LIB_MAP_H

#include <torus/map.h>

#define MAP_FAR UINT16_MAX	/* hops between nodes that no path joins */

/** struct map_walk - room for the hops of a leg */
struct map_walk {
	struct torus_hop *hop;
	uint32_t max;
};

/** lt_map_walk_new() - make room for any leg. Return: 0 or -ENOMEM */
int lt_map_walk_new(const struct torus_map *m, struct map_walk *w);
void lt_map_walk_free(struct map_walk *w);
/**
 * lt_map_hops() - follow the rows from one node to another one, relay by relay
 * @load: for each node and port, bytes that cross the link: @bytes are added, also on a path that
 *	does not arrive; or NULL
 * Return: number of hops; MAP_FAR if the path does not arrive.
 */
uint32_t lt_map_hops(const struct torus_map *m, struct map_walk *w, uint32_t from, uint32_t to,
		     uint64_t *load, uint64_t bytes);

/**
 * struct map_trial - the best placement so far
 * @place: the placement
 * @score: its costs
 */
struct map_trial {
	uint32_t *place;
	struct torus_map_score score;
};

/**
 * lt_map_try() - keep @place if it is better than the best so far
 * Return: 1 if no placement can be better, else 0; or a negative errno.
 */
int lt_map_try(const struct torus_map *m, const uint32_t *place, struct map_trial *best);

/** lt_map_fold() - try the foldings of all grids that the traffic fits. Return: as lt_map_try() */
int lt_map_fold(const struct torus_map *m, struct map_trial *best);

/** lt_map_anneal() - anneal the best placement. Return: as lt_map_try() */
int lt_map_anneal(const struct torus_map *m, uint64_t seed, uint64_t moves,
		  struct map_trial *best);

#endif /* LIB_MAP_H */
