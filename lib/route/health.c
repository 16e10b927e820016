// SPDX-License-Identifier: LGPL-2.1-or-later
/* Run lengths of healthy links along every ring. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "health.h"

void torus_exclusions_close(const struct torus_shape *shape, uint16_t *excluded)
{
	uint32_t nodes = torus_nodes(shape), node;
	unsigned int dir;

	for (node = 0; node < nodes; node++)
		for (dir = 0; dir < 2u * shape->ndims; dir++)
			if (excluded[node] & 1u << dir)
				excluded[torus_neighbour(shape, node, dir)] |=
					(uint16_t)(1u << torus_dir_opposite(shape, dir));
}

/**
 * struct ring - the nodes that differ in one coordinate only
 * @base: the one whose coordinate is 0
 */
struct ring {
	uint32_t base;
	uint32_t stride;
	unsigned int size;
	unsigned int dim;
};

static uint32_t ring_node(const struct ring *r, unsigned int i)
{
	return r->base + (i < r->size ? i : i - r->size) * r->stride;
}

/* Whether the cable from the node at @i to the next one is excluded. */
static bool ring_cut(const struct ring *r, const uint16_t *excluded, unsigned int ndims,
		     unsigned int i)
{
	return excluded[ring_node(r, i)] & 1u << r->dim ||
	       excluded[ring_node(r, i + 1)] & 1u << (ndims + r->dim);
}

static int fault_add(struct health *h, uint32_t node, unsigned int dim)
{
	struct fault *f = h->fault;

	/* Room doubles whenever the count is a power of two. */
	if (!(h->nfaults & (h->nfaults - 1))) {
		f = realloc(f, sizeof(*f) * (h->nfaults ? 2 * (size_t)h->nfaults : 1));
		if (!f)
			return -ENOMEM;
		h->fault = f;
	}
	f += h->nfaults++;
	torus_node_coords(h->shape, node, &f->at);
	f->dim = (uint8_t)dim;
	return 0;
}

static uint16_t *run_of(struct health *h, const struct ring *r, unsigned int i,
			unsigned int dir)
{
	return &h->run[(size_t)ring_node(r, i) * 2 * h->shape->ndims + dir];
}

/* Both directions of one ring; @cut is a position whose cable is excluded. */
static void fill_cut_ring(struct health *h, const struct ring *r,
			  const uint16_t *excluded, unsigned int cut)
{
	unsigned int ndims = h->shape->ndims, n, i;
	uint16_t plus = 0, minus = 0;

	for (n = 0; n < r->size; n++) {
		/* Backwards from the cut for plus, forwards from it for minus. */
		i = (cut + r->size - n) % r->size;
		plus = ring_cut(r, excluded, ndims, i) ? 0 : (uint16_t)(plus + 1);
		*run_of(h, r, i, r->dim) = plus;

		i = (cut + n) % r->size;
		minus = ring_cut(r, excluded, ndims, i) ? 0 : (uint16_t)(minus + 1);
		*run_of(h, r, i + 1, ndims + r->dim) = minus;
	}
}

static void fill_ring(struct health *h, const struct ring *r, const uint16_t *excluded)
{
	unsigned int ndims = h->shape->ndims, i;

	for (i = 0; i < r->size; i++)
		if (ring_cut(r, excluded, ndims, i))
			break;
	if (i < r->size) {
		fill_cut_ring(h, r, excluded, i);
		return;
	}
	for (i = 0; i < r->size; i++) {
		*run_of(h, r, i, r->dim) = (uint16_t)r->size;
		*run_of(h, r, i, ndims + r->dim) = (uint16_t)r->size;
	}
}

static struct ring ring_at(const struct health *h, uint32_t base, unsigned int dim)
{
	return (struct ring){
		.base = base,
		.stride = h->stride[dim],
		.size = h->shape->size[dim],
		.dim = dim,
	};
}

/* Whether @node's coordinate along @dim is 0, so that a ring begins there. */
static bool begins_ring(const struct health *h, uint32_t node, unsigned int dim)
{
	return node / h->stride[dim] % h->shape->size[dim] == 0;
}

static int find_faults(struct health *h, const uint16_t *excluded)
{
	unsigned int ndims = h->shape->ndims, d, i;
	uint32_t node;

	for (node = 0; node < h->nodes; node++) {
		unsigned int plus = excluded[node] & ((1u << ndims) - 1);
		unsigned int minus = excluded[node] >> ndims & ((1u << ndims) - 1);

		if (!(plus | minus))
			continue;
		for (d = 0; d < ndims; d++) {
			struct ring r = ring_at(h, node, d);

			if (r.size < 2)
				continue;
			if (plus & 1u << d && fault_add(h, node, d))
				return -ENOMEM;
			/* Once: only if the other end does not say it itself. */
			i = torus_neighbour(h->shape, node, ndims + d);
			if (minus & 1u << d && !(excluded[i] & 1u << d) &&
			    fault_add(h, i, d))
				return -ENOMEM;
		}
	}
	return 0;
}

int lt_health_init(struct health *h, const struct torus_shape *shape,
		   const uint16_t *excluded)
{
	unsigned int d;
	uint32_t node;

	*h = (struct health){ .shape = shape, .nodes = torus_nodes(shape) };
	if (!h->nodes)
		return -EINVAL;
	for (d = 0; d < TORUS_MAX_DIMS; d++)
		h->stride[d] = d ? h->stride[d - 1] * shape->size[d - 1] : 1;
	if (find_faults(h, excluded))
		goto no_memory;
	if (!h->nfaults)
		return 0;

	h->run = calloc((size_t)h->nodes * 2 * shape->ndims, sizeof(*h->run));
	if (!h->run)
		goto no_memory;
	for (d = 0; d < shape->ndims; d++) {
		if (shape->size[d] < 2)
			continue;
		for (node = 0; node < h->nodes; node++) {
			if (begins_ring(h, node, d)) {
				struct ring r = ring_at(h, node, d);

				fill_ring(h, &r, excluded);
			}
		}
	}
	return 0;

no_memory:
	lt_health_free(h);
	return -ENOMEM;
}

void lt_health_free(struct health *h)
{
	free(h->run);
	free(h->fault);
	h->run = NULL;
	h->fault = NULL;
}
