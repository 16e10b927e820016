/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The channel dependency graph: a channel is a cable in one direction; one
 * depends on another if a packet that holds a buffer of the first may wait for
 * one of the second. (W. J. Dally, C. L. Seitz, Deadlock-Free Message Routing in
 * Multiprocessor Interconnection Networks, IEEE Trans. Computers C-36(5), 1987.)
 *
 * A cycle of channels is harmless only if all of them belong to one ring, in one direction, where
 * the bubble keeps a buffer free (P. Carrion et al., A Flow Control Mechanism to Avoid Message
 * Deadlock in k-ary n-cube Networks, HiPC 1997). So each strongly connected component must be
 * within one ring and direction.
 */
#ifndef LIB_ROUTE_DEPS_H
#define LIB_ROUTE_DEPS_H

#include <stdbool.h>
#include <torus/route.h>

/**
 * struct deps - the graph; channel = node * 2 * ndims + port
 * @next: for each channel, mask of ports by which a packet may leave the node where it ends
 * @component: for each channel, after lt_deps_solve(), the number of its component
 * @bad: for each component, true if it is not within one ring and direction
 */
struct deps {
	const struct torus_shape *shape;
	uint32_t channels;
	uint16_t *next;
	uint32_t *component;
	bool *bad;
};

/** lt_deps_init() - make a graph without edges. Return: 0 or -ENOMEM */
int lt_deps_init(struct deps *g, const struct torus_shape *shape);
void lt_deps_free(struct deps *g);

static inline uint32_t lt_channel(const struct deps *g, uint32_t node, unsigned int port)
{
	return node * 2u * g->shape->ndims + port;
}

/** lt_deps_add() - add the edge of packets that leave @node by @port, and the next node by @then */
static inline void lt_deps_add(struct deps *g, uint32_t node, unsigned int port,
			       unsigned int then)
{
	g->next[lt_channel(g, node, port)] |= (uint16_t)(1u << then);
}

/**
 * lt_deps_solve() - find the strongly connected components
 * Return: number of bad components, or -ENOMEM.
 */
int lt_deps_solve(struct deps *g);

/** lt_deps_bad() - Return: true if two channels are in one bad component; after lt_deps_solve() */
bool lt_deps_bad(const struct deps *g, uint32_t a, uint32_t b);

#endif /* LIB_ROUTE_DEPS_H */
