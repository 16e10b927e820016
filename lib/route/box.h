/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the destinations whose plain path depends on a channel (a cable in one direction), without
 * a test of each destination.
 *
 * In a fault-free torus, the coordinates of one dimension that depend on the channel can be found
 * without the other dimensions. So the set of destinations is a box: the product of one set for
 * each dimension. Such a set has one interval of hops to either side of the source, and may have
 * the source's own coordinate. The intersection of two boxes is a box.
 *
 * Only ties couple dimensions: half way round a ring both directions are equally short, and which
 * one is used depends on the other coordinates (lt_tie_up()). If such a coordinate is in the
 * interval of one side alone, lt_box_each() visits it only for destinations to which lt_tie_up()
 * selects that side. tests/unit/test_box.c compares boxes with all destinations of small tori.
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

/**
 * struct box - a product of spans
 * @path: the box was made by lt_box_path()
 * @other: of an escape box: mask of directions. If a destination is half way round, and its row has
 *	one of these directions, only adaptive packets that go the other way round need the channel.
 */
struct box {
	bool path;
	struct span dim[DIMS];
	uint16_t other;
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
 * Return: false if the box is empty.
 */
bool lt_box_path(const struct torus_health *h, const struct torus_coords *from,
		 const struct channel *ch, struct box *box);

/**
 * lt_box_escape() - get the box of destinations to which an adaptive packet may need the channel
 *
 * An adaptive packet can reach any node of the box between source and destination. At each of these
 * nodes it relies on the deterministic next hop: the first direction, in order, whose coordinate is
 * not yet reached. The destination depends on the channel if the channel is this hop at one of
 * those nodes. If no such channel is excluded, a healthy path, and so an escape, exists at all of
 * them.
 *
 * The Angara paper has separate directions for adaptive packets, along shortest paths. Here
 * adaptive and other packets use the same directions, except half way round a ring. A router knows
 * only the packet's header, which is one set of directions for all nodes on the path: the header
 * cannot say that +x is healthy at one node and not at the next. The escape at the source is the
 * plain path. So if the row of a destination is a detour, packets to it are not adaptive, even if
 * another order of the same directions is healthy.
 *
 * Half way round a ring both directions are equally short, and the header of a packet on VCA, a set
 * of directions, may have both. Then the packet's first hop along that dimension decides: a packet
 * never goes back to the node it came from (dirs_left() in kernel/core/router.c). So after its
 * choice, it is a packet with one direction in each dimension, for which the above holds. It is
 * safe if every choice is safe. The choice in one dimension does not depend on the others. So the
 * destinations for which some choice needs the channel are again a product: the box of the row's
 * own choice, with a coordinate half way round in both sides if it is in one. This function returns
 * that box. lt_box_narrow() reduces it to the destinations that need the channel with the
 * directions of their row: packets to these may not be adaptive, and packets to the others may be
 * adaptive only in the directions of the row.
 *
 * A NIC of an earlier release keeps both directions. A packet that has reached a node by -x still
 * has +x there: it may go back, again and again, and its escape is the path by +x, whose cables
 * were not checked for it. If such a cable is dead, a router of this release parks the packet. A
 * router of the earlier release lets the packet wait for a credit of another allowed direction that
 * is alive, and such packets can wait for each other in a cycle, without end. So all NICs of a
 * fabric must be of this release before a manager of this release makes rows; managers report links
 * that speak an older wire version (note_old_nic() in daemon/fm/node/bootstrap.c).
 *
 * Return: false if the box is empty.
 */
bool lt_box_escape(const struct torus_health *h, const struct torus_coords *from,
		   const struct channel *ch, struct box *box);

/**
 * lt_box_escape_in() - get the intersection of the box of lt_box_escape() and @in. Return: false if
 * it is empty
 */
bool lt_box_escape_in(const struct torus_health *h, const struct torus_coords *from,
		      const struct channel *ch, const struct box *in, struct box *box);

/**
 * lt_box_narrow() - reduce an escape box to the destinations that need the channel with the
 * directions of their row; the result is never empty
 */
void lt_box_narrow(const struct torus_health *h, struct box *box);

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

/**
 * lt_box_each() - call @run for patches that together are the box, each destination once
 *
 * The plain headers to all destinations of one run of a path box have the same directions.
 */
void lt_box_each(const struct torus_health *h, const struct torus_coords *from,
		 const struct box *box, void (*run)(void *arg, const struct patch *p), void *arg);

/**
 * lt_box_each_tie() - like lt_box_each(), but only for destinations of an escape box that are half
 * way round in dimension @d
 */
void lt_box_each_tie(const struct torus_health *h, const struct torus_coords *from,
		     const struct box *box, unsigned int d,
		     void (*run)(void *arg, const struct patch *p), void *arg);

#endif /* LIB_ROUTE_BOX_H */
