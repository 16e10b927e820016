/* SPDX-License-Identifier: GPL-2.0-only */
/* The root of a 4x4 that has no table yet: on a new NIC, or on one that worked before. */
#ifndef TESTS_STAGE_SHAPE_H
#define TESTS_STAGE_SHAPE_H

#include "stage.h"

static struct stage s;

/* The root of a 4x4 does not run yet. Its links are up; @known: it knows the shape. */
static inline void root_init(bool known)
{
	stage_init(&s, "4x4", 0);
	if (!known)
		s.cfg.shape.ndims = 0;
	s.deaf = "init ping pong report lost rows place release welcome ";
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
}

static inline void root(bool known)
{
	root_init(known);
	stage_start(&s);
}

static inline void join(uint32_t node, void (*change)(struct fm_hello *h))
{
	struct fm_msg m = stage_hello(&s, node);

	if (change)
		change(&m.hello);
	stage_up(&s, 100 + (int)node);
	stage_msg(&s, 100 + (int)node, &m);
}

/* The NIC of the root has a place, and the rows of version @version. */
static inline void restart(bool known, const char *shape, uint32_t node, uint64_t version)
{
	root_init(known);
	s.dev.placed = true;
	assert_int_equal(torus_shape_parse(shape, &s.dev.shape), 0);
	s.dev.node = node;
	torus_node_coords(&s.dev.shape, node, &s.dev.coords);
	s.dev.version = version;
	stage_start(&s);
}

/* The node has a place, and the rows of version 6. */
static inline void placed(struct fm_hello *h)
{
	h->placed = true;
	h->shape = s.shape;
	torus_node_coords(&s.shape, (uint32_t)(h->guid - NIC), &h->coords);
	h->version = 6;
}

/* The table comes @ms from now, once the root that begins anew leads. */
static inline void settles_then(uint64_t ms)
{
	if (ms) {
		stage_run_ns(&s, s.now + ms * MS - 1);
		assert_int_equal(fm_version(s.fm), 0);
	}
	stage_run_ns(&s, s.now + 5 * MS);
	assert_int_not_equal(fm_version(s.fm), 0);
}

#endif /* TESTS_STAGE_SHAPE_H */
