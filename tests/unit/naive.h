/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A torus as one would draw it: a table of neighbours, one of cables that are dead, ways
 * taken hop by hop. It knows what the headers of lib/route/ promise and shares no code
 * with that.
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
 * struct model - as the test sees it
 * @c: coordinates of each node
 * @next: neighbour of each node by each port
 * @said: ports that each node says must not be used
 * @seed, @began: of random histories
 */
struct model {
	struct torus_shape shape;
	unsigned int n;
	uint32_t nodes;
	unsigned int c[NODES_MAX][DIMS];
	uint32_t next[NODES_MAX][2 * DIMS];
	uint16_t said[NODES_MAX];
	uint64_t seed, began;
};

/** model_make() - of a shape like "4x4x2"; nothing is dead */
void model_make(struct model *m, const char *shape);

/** back() - the port at the other end of the cable */
unsigned int back(const struct model *m, unsigned int port);

/** dead() - whether the cable at this port is, as either end says, or none is there */
bool dead(const struct model *m, uint32_t node, unsigned int port);

/** flood() - @away: hops over healthy cables to @to from everywhere, or NEVER */
void flood(const struct model *m, uint32_t to, uint32_t *away);

/** struct head - what a row says of a way */
struct head {
	unsigned int dirs, first, last;
};

struct head head_of(uint64_t row);

/** struct visit - a node where a packet is or may be, and the port it leaves by */
struct visit {
	uint32_t node;
	unsigned int port;
};

/** travel() - Return: hops of the header's way if it is fit for use, NEVER if not. */
uint32_t travel(const struct model *m, uint32_t from, uint32_t to, const struct head *h);
/** travel_by() - the same, and @hops tells each; room for all nodes of all its rings */
uint32_t travel_by(const struct model *m, uint32_t from, uint32_t to, const struct head *h,
		   struct visit *hops);

/** plain_dirs() - the shorter way round each ring; half way round, by parity (search.h) */
unsigned int plain_dirs(const struct model *m, uint32_t from, uint32_t to);

/**
 * visits() - where an adaptive packet may be that takes @dirs in any order
 * @visit: room for all nodes; of each the port that the packet can count on; the
 *	destination is not among them
 * Return: how many.
 */
unsigned int visits(const struct model *m, uint32_t from, uint32_t to, unsigned int dirs,
		    struct visit *visit);

#endif /* TESTS_NAIVE_H */
