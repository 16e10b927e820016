/* SPDX-License-Identifier: GPL-2.0-only */
/* A root, and nodes that obey it. */
#ifndef TESTS_STAGE_ROOT_H
#define TESTS_STAGE_ROOT_H

#include <stdio.h>

#include "stage.h"

static struct stage s;

/* Makes the root of a fabric of that shape, with all links up. */
static inline void root(const char *shape)
{
	struct fm_row row;

	stage_init(&s, shape, 0);
	s.deaf = "init ping pong report lost rows place release ";
	row = stage_row(&s, 0);
	for (unsigned int p = 0; p < row.nports; p++)
		if (row.port[p].state == FM_PORT_UP)
			stage_link_up(&s, p, 1);
	stage_start(&s);
}

static inline struct fm_msg hello(uint32_t node)
{
	return stage_hello(&s, node);
}

/* A node joins by connection 100 + node. */
static inline void joins(const struct fm_msg *m)
{
	int conn = (int)(m->hello.guid - NIC + 100);

	stage_up(&s, conn);
	stage_msg(&s, conn, m);
	if (conn >= STAGE_JOINERS) {
		struct fm_msg again = *m;

		again.hello.root_epoch = fm_epoch(s.fm);
		again.hello.root_guid = NIC;
		stage_msg(&s, conn, &again);
	}
}

static inline void join(uint32_t node)
{
	struct fm_msg m = hello(node);

	joins(&m);
}

static inline void reports(uint32_t node, uint32_t round)
{
	struct fm_msg m = stage_report(&s, node, fm_version(s.fm), round);

	stage_msg(&s, (int)node + 100, &m);
}

/* All nodes, which are children of the root, do what it asks for until nothing is under way. */
static inline void settle(uint32_t nodes)
{
	stage_run_ns(&s, s.now + 10 * MS);
	for (uint32_t round = 0; round < 6; round++) {
		for (uint32_t i = 1; i < nodes; i++)
			reports(i, round);
		stage_run_ns(&s, s.now + MS);
	}
}

/* Makes the root of a ring of four, all of them its children, at rest. */
static inline void ring(void)
{
	struct fm_outline o;

	root("4x1");
	for (uint32_t i = 1; i < 4; i++)
		join(i);
	settle(4);
	fm_outline(s.fm, &o);
	assert_false(o.under_way);
	assert_int_equal(fm_version(s.fm), 1);
	stage_forget(&s);
}

static inline void row(uint32_t node, const struct fm_row *r)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { .guid = NIC + node, .epoch = 1, .row = *r };
	stage_msg(&s, 101, &m);
}

#endif /* TESTS_STAGE_ROOT_H */
