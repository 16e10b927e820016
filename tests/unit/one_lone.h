/* SPDX-License-Identifier: GPL-2.0-only */
/* One NIC alone (lone.h), and short names for what its tests do most. */
#ifndef TESTS_ONE_LONE_H
#define TESTS_ONE_LONE_H

#include "lib/util/times.h"
#include "tests/unit/lone.h"

static struct lone l;

/* Node 0 of 3x3; ports 0 to 3, +x, +y, -x and -y, are up. */
static inline void lone_begin(void (*tune)(struct lone *l))
{
	lone_start(&l, "3x3", 0, tune);
	lone_all_up(&l);
}

static inline void end(void)
{
	lone_end(&l);
}

/* Lifts the holds that a commit has left. */
static inline void release(void)
{
	assert_int_equal(tn_nic_release(l.nic, l.nic->version, false, l.now), 0);
}

static inline u64 nc(enum torus_node_counter c)
{
	return lone_nc(&l, c);
}

static inline u64 fc(enum torus_flow_counter c)
{
	return lone_fc(&l, c);
}

static inline void work(void)
{
	tn_nic_work(l.nic, l.now);
}

#endif /* TESTS_ONE_LONE_H */
