/* SPDX-License-Identifier: GPL-2.0-only */
/* A member of a ring of four, and the root that sends it tables and steps. */
#ifndef TESTS_ONE_MEMBER_H
#define TESTS_ONE_MEMBER_H

#include <stdio.h>

#include "tests/unit/one_fm.h"

#define SELF 1
#define SIZE 4

static struct one_fm o;
static struct fm_entry entry[SIZE];	/* entries of the root's table */
static struct torus_shape shape;

static inline const struct fm_report *report(void)
{
	return &o.sent[FM_MSG_REPORT].report;
}

/* The root sends the whole table @version, or what differs from @base. */
static inline void table(uint64_t version, uint64_t base)
{
	struct fm_msg msg = { .type = FM_MSG_TABLE };

	msg.table = (struct fm_table_msg) {
		.term = o.term, .version = version, .base = base,
		.shape = shape,
		.nentries = SIZE, .entries = entry,
	};
	one_root_sends(&o, &msg);
}

static inline void step(uint64_t version, uint32_t round, enum fm_step_kind kind)
{
	struct fm_msg msg = { .type = FM_MSG_STEP };

	msg.step = (struct fm_step) { .term = o.term, .version = version, .round = round,
				      .step = (uint8_t)kind };
	one_root_sends(&o, &msg);
}

/* A member of a healthy ring, with version 1 in force. */
static inline void begin(void)
{
	one_member(&o, SIZE, SELF);
	shape = (struct torus_shape) { .ndims = 1, .size = { SIZE, 1, 1, 1, 1, 1 } };
	for (uint32_t i = 0; i < SIZE; i++) {
		entry[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP,
					       .guid = o.node[i].guid,
					       .epoch = o.node[i].epoch };
		snprintf(entry[i].name, sizeof(entry[i].name), "n%u", i);
		snprintf(entry[i].address, sizeof(entry[i].address), "%u:1", i);
	}
	table(1, 0);
	assert_int_equal(o.written, 1);
	step(1, 1, FM_STEP_RESUME);
	assert_int_equal(o.releases, 1);
	assert_true(fm_in_force(o.fm, 1));
}

/* The link at port 0, to node 2, ended, and the root's table @version says so. */
static inline void lost(uint64_t version)
{
	one_lose(&o, SELF, 0, 9, 5);
	entry[SELF].fault = 1;
	table(version, 0);
	assert_int_equal(o.written, version);
}

static inline bool is_held(uint32_t to)
{
	return o.row[to] & TORUS_ROW_HOLD;
}

static inline void swap_places(uint32_t a, uint32_t b)
{
	struct fm_entry was = entry[a];

	entry[a] = entry[b];
	entry[b] = was;
	entry[a].node = a;
	entry[b].node = b;
}

#endif /* TESTS_ONE_MEMBER_H */
