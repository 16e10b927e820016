/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The destinations whose plain header has to do with a channel (a cable in one
 * direction), without looking at any destination.
 *
 * Of the fault-free torus, seen from a node: which destinations a channel
 * matters to is decided by each dimension alone, so the set is a product of one
 * set a dimension, and each of these is at most an interval of hops on either
 * side of the node and the node's own coordinate. Two such products meet in a
 * product again.
 *
 * Only the tie half way round couples dimensions: that coordinate is in the
 * interval of both sides, and lt_box_each() takes it for the side that
 * lt_tie_up() says.
 */
#ifndef LIB_ROUTE_BOX_H
#define LIB_ROUTE_BOX_H

#include "health.h"

/**
 * struct span - of coordinates of a ring, by hops from the node
 * @here: the node's own coordinate
 * @lo, @hi: hops along + [0] and - [1], both included; none if lo > hi
 */
struct span {
	bool here;
	uint16_t lo[2], hi[2];
};

struct box {
	struct span dim[DIMS];
};

/** struct channel - a cable in one direction: leaves the node at @at by @dir */
struct channel {
	struct torus_coords at;
	uint8_t dir;
};

/** lt_channels() - both directions of a cable */
void lt_channels(const struct torus_health *h, const struct torus_cable *c,
		 struct channel out[2]);

/**
 * lt_box_path() - destinations whose plain path crosses the channel
 * Return: false if there are none.
 */
bool lt_box_path(const struct torus_health *h, const struct torus_coords *from,
		 const struct channel *ch, struct box *box);

/**
 * lt_box_escape() - destinations to which an adaptive packet may need the channel
 *
 * An adaptive packet is taken anywhere in the box between source and destination.
 * Wherever that is, what it can count on is the deterministic way from there: the
 * first of its directions whose coordinate is not yet reached. The channel
 * matters if it is that way for some node of the box. If none such is excluded,
 * a healthy way on exists everywhere, for the escape as well.
 */
bool lt_box_escape(const struct torus_health *h, const struct torus_coords *from,
		   const struct channel *ch, struct box *box);

/** lt_box_escape_in() - those of them that are in @in as well. Return: false if none */
bool lt_box_escape_in(const struct torus_health *h, const struct torus_coords *from,
		      const struct channel *ch, const struct box *in, struct box *box);

/**
 * struct patch - destinations with ids close to each other
 * @first: lowest
 * @n: successive ones from there
 * @lines: how many times; each is @stride above the one before
 */
struct patch {
	uint32_t first, n;
	uint32_t lines, stride;
};

/** lt_box_each() - @run is called for patches that make up the box */
void lt_box_each(const struct torus_health *h, const struct torus_coords *from,
		 const struct box *box, void (*run)(void *arg, const struct patch *p), void *arg);

#endif /* LIB_ROUTE_BOX_H */
