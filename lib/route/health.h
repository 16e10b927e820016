/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What of a torus may be used, prepared so that a straight run of hops is
 * checked by one look instead of one look a hop.
 */
#ifndef LIB_ROUTE_HEALTH_H
#define LIB_ROUTE_HEALTH_H

#include <stdbool.h>
#include <torus/route.h>

/** struct fault - an excluded cable: from @at along +@dim */
struct fault {
	struct torus_coords at;
	uint8_t dim;
};

/**
 * struct health - a torus and its exclusions
 * @stride: difference of node ids between neighbours along a dimension
 * @run: for each node and direction, the healthy hops that lie ahead; the size
 *	of the ring if none of it is excluded. NULL if nothing at all is
 * @fault: the excluded cables, each once
 */
struct health {
	const struct torus_shape *shape;
	uint32_t nodes;
	uint32_t stride[TORUS_MAX_DIMS];
	uint16_t *run;
	struct fault *fault;
	uint32_t nfaults;
};

/**
 * lt_health_init() - prepare @h; @shape must outlive it
 * A cable excluded at one end only is taken as excluded.
 * Return: 0, -EINVAL bad shape, -ENOMEM.
 */
int lt_health_init(struct health *h, const struct torus_shape *shape,
		   const uint16_t *excluded);
void lt_health_free(struct health *h);

/* Healthy hops ahead of @node along @dir; at least @hops if all of them are. */
static inline bool lt_health_run_ok(const struct health *h, uint32_t node,
				    unsigned int dir, unsigned int hops)
{
	return !h->run || h->run[(size_t)node * 2 * h->shape->ndims + dir] >= hops;
}

#endif /* LIB_ROUTE_HEALTH_H */
