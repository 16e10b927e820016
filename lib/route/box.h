/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the destinations whose plain path depends on a channel (a cable in one direction), without
 * a test of each destination.
 *
 * In a fault-free torus, seen from a source, each dimension decides for itself which coordinates
 * depend on the channel. So the set of destinations is a box: the product of one set for each
 * dimension, which is the source's own coordinate or not, and an interval of hops to either side.
 * The intersection of two boxes is a box.
 *
 * Only ties, at half the size of a ring, couple dimensions: such a coordinate is in the intervals
 * of both sides, and lt_box_each() visits it for the side that lt_tie_up() selects.
 * tests/unit/test_box.c compares boxes with all destinations of small tori.
 */
#ifndef LIB_ROUTE_BOX_H
#define LIB_ROUTE_BOX_H

#include "health.h"

/**
 * struct span - a set of coordinates of a ring, by their distance from the source
 * @here: the source's own coordinate is in the set
 * @lo: fewest hops along + [0] and - [1]
 * @hi: most hops along + [0] and - [1], included; none if @lo > @hi
 */
struct span {
	bool here;
	uint16_t lo[2], hi[2];
};

struct box {
	struct span dim[DIMS];
};

/** struct channel - a cable in one direction, which leaves the node at @at by @dir */
struct channel {
	struct torus_coords at;
	uint8_t dir;
};

/** lt_channels() - get the two channels of a cable */
void lt_channels(const struct torus_health *h, const struct torus_cable *c,
		 struct channel out[2]);

/**
 * lt_box_path() - get the box of destinations whose plain path crosses the channel
 * Return: false if there are none.
 */
bool lt_box_path(const struct torus_health *h, const struct torus_coords *from,
		 const struct channel *ch, struct box *box);

/**
 * lt_box_escape() - get the box of destinations to which an adaptive packet may need the channel
 *
 * An adaptive packet can reach any node of the box between source and destination. At each of them
 * it relies on the deterministic next hop: the first direction, in order, whose coordinate is not
 * yet reached. The destination depends on the channel if the channel is this hop at one of those
 * nodes. If no such channel is excluded, a healthy path, and so an escape, exists at all of them.
 * Return: false if there are none.
 */
bool lt_box_escape(const struct torus_health *h, const struct torus_coords *from,
		   const struct channel *ch, struct box *box);

/** lt_box_escape_in() - get the intersection of that box and @in. Return: false if it is empty */
bool lt_box_escape_in(const struct torus_health *h, const struct torus_coords *from,
		      const struct channel *ch, const struct box *in, struct box *box);

/**
 * struct patch - destinations in consecutive runs of ids
 * @first: lowest id
 * @n: consecutive ids of a run
 * @lines: number of runs
 * @stride: difference between the first ids of successive runs
 */
struct patch {
	uint32_t first, n;
	uint32_t lines, stride;
};

/** lt_box_each() - call @run for patches that together are the box, each destination once */
void lt_box_each(const struct torus_health *h, const struct torus_coords *from,
		 const struct box *box, void (*run)(void *arg, const struct patch *p), void *arg);

#endif /* LIB_ROUTE_BOX_H */
