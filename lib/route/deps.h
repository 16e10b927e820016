/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The channel dependency graph: a channel is a cable in one direction; one
 * depends on another if a packet that holds a buffer of the first may wait for
 * one of the second. (W. J. Dally, C. L. Seitz, Deadlock-Free Message Routing in
 * Multiprocessor Interconnection Networks, IEEE Trans. Computers C-36(5), 1987.)
 *
 * A circle of channels is harmless only if all of them are of one ring in one
 * direction: there the bubble keeps a buffer free (P. Carrion et al., A Flow
 * Control Mechanism to Avoid Message Deadlock in k-ary n-cube Networks, HiPC
 * 1997). So each strongly connected component has to stay within a ring.
 */
#ifndef LIB_ROUTE_DEPS_H
#define LIB_ROUTE_DEPS_H

#include <stdbool.h>
#include <torus/route.h>

/**
 * struct deps - the graph; channel = node * 2 * ndims + port
 * @next: ports that a packet may want where the channel ends
 * @component: after deps_solve(), number of the channel's component
 * @bad: of each component, whether it is more than part of a ring
 */
struct deps {
	const struct torus_shape *shape;
	uint32_t channels;
	uint16_t *next;
	uint32_t *component;
	bool *bad;
};

/** lt_deps_init() - no dependences. Return: 0 or -ENOMEM */
int lt_deps_init(struct deps *g, const struct torus_shape *shape);
void lt_deps_free(struct deps *g);

static inline uint32_t lt_channel(const struct deps *g, uint32_t node, unsigned int port)
{
	return node * 2u * g->shape->ndims + port;
}

/** lt_deps_add() - who leaves @node by @port may leave the next node by @then */
static inline void lt_deps_add(struct deps *g, uint32_t node, unsigned int port,
			       unsigned int then)
{
	g->next[lt_channel(g, node, port)] |= (uint16_t)(1u << then);
}

/**
 * lt_deps_solve() - finds the components
 * Return: how many are bad, or -ENOMEM.
 */
int lt_deps_solve(struct deps *g);

/** lt_deps_bad() - after that: whether two channels are of one bad component */
bool lt_deps_bad(const struct deps *g, uint32_t a, uint32_t b);

#endif /* LIB_ROUTE_DEPS_H */
