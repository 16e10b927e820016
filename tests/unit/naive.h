/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simple model of a torus: a table of neighbours, a table of dead cables, and paths followed hop
 * by hop. It implements what the headers of lib/route/ promise and shares no code with that.
 */
#ifndef TESTS_NAIVE_H
#define TESTS_NAIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/route.h>

#define NODES_MAX 256
#define DIMS TORUS_MAX_DIMS
#define NO_STEP ((unsigned int)TORUS_ROW_NO_STEP)
#define NEVER UINT32_MAX

/**
 * struct model - a torus
 * @c: coordinates of each node
 * @next: neighbour of each node at each port
 * @reported: ports that each node excludes
 * @seed, @began: of random histories
 */
struct model {
	struct torus_shape shape;
	unsigned int n;
	uint32_t nodes;
	unsigned int c[NODES_MAX][DIMS];
	uint32_t next[NODES_MAX][2 * DIMS];
	uint16_t reported[NODES_MAX];
	uint64_t seed, began;
};

/** model_make() - makes a torus of a shape like "4x4x2" without dead cables */
void model_make(struct model *m, const char *shape);

/** back() - the port at the other end of the cable */
unsigned int back(const struct model *m, unsigned int port);

/** dead() - whether the cable at this port is dead, as either end says, or does not exist */
bool dead(const struct model *m, uint32_t node, unsigned int port);

/** flood() - sets @away to the hops over healthy cables from each node to @to, or NEVER */
void flood(const struct model *m, uint32_t to, uint32_t *away);

/** struct head - the path that a row describes */
struct head {
	unsigned int dirs, first, last;
};

struct head head_of(uint64_t row);

/** struct visit - a node where a packet is or may be, and the port by which it leaves */
struct visit {
	uint32_t node;
	unsigned int port;
};

/** travel() - Return: the hops of the header's path if it can be used, else NEVER. */
uint32_t travel(const struct model *m, uint32_t from, uint32_t to, const struct head *h);
/** travel_by() - the same; @hops gets each hop and has room for all nodes of all its rings */
uint32_t travel_by(const struct model *m, uint32_t from, uint32_t to, const struct head *h,
		   struct visit *hops);

/** plain_dirs() - the shorter way round each ring; half way round, by parity (search.h) */
unsigned int plain_dirs(const struct model *m, uint32_t from, uint32_t to);

/** half_apart() - dimensions in which the two nodes are half a ring apart, a bit each */
unsigned int half_apart(const struct model *m, uint32_t from, uint32_t to);

/**
 * visits() - where an adaptive packet may be that takes @dirs in any order, and never back
 * @visit: room for all nodes; gets each node but the destination, with the port that the packet can
 * 	rely on
 * Return: how many.
 */
unsigned int visits(const struct model *m, uint32_t from, uint32_t to, unsigned int dirs,
		    struct visit *visit);

#endif /* TESTS_NAIVE_H */
