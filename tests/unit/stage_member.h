/* SPDX-License-Identifier: GPL-2.0-only */
/* A node that takes part in a recovery, with the root above it and two children below it. */
#ifndef TESTS_STAGE_MEMBER_H
#define TESTS_STAGE_MEMBER_H

#include "stage.h"

static struct stage s;
static struct fm_entry entry[4] __attribute__((unused));

static inline void child(int conn, uint32_t node, uint64_t version)
{
	struct fm_msg m = stage_hello(&s, node);

	m.hello.role = FM_ROLE_CHILD;
	m.hello.term = TERM;
	m.hello.version = version;
	stage_up(&s, conn);
	stage_msg(&s, conn, &m);
}

/* Node 1 of a ring of four. */
static inline void node_1(void)
{
	stage_init(&s, "4x1", 1);
	s.deaf = "init ping ";
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 2, 1);
}

/*
 * Begins with a node that has joined the root, and has children 2 and 3 by connections 52 and 53.
 */
static inline void joins(void)
{
	struct fm_init i;

	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	child(52, 2, 0);
	child(53, 3, 0);
	stage_run(&s, 1);
	stage_forget(&s);
}

static inline void joined(void)
{
	node_1();
	joins();
}

static inline void table(uint64_t version)
{
	struct fm_msg m = stage_table(&s, version, entry);

	stage_msg(&s, 1, &m);
}

static inline void step(uint64_t version, uint32_t round, enum fm_step_kind kind)
{
	struct fm_msg m = stage_step(version, round, kind);

	stage_msg(&s, 1, &m);
}

static inline void reports(int conn, uint32_t node, uint64_t version, uint32_t round)
{
	struct fm_msg m = stage_report(&s, node, version, round);

	m.report.term = TERM;
	stage_msg(&s, conn, &m);
}

/* The node and its children have version 1 in force. */
static inline void in_force(void)
{
	joined();
	table(1);
	reports(52, 2, 1, 0);
	reports(53, 3, 1, 0);
	stage_did_some(&s, "1 < report 1.0 of 3 term 126\n");
}

#define ALL " [0 'n0' 100/1] [1 'n1' 101/1] [2 'n2' 102/1] [3 'n3' 103/1]\n"

#endif /* TESTS_STAGE_MEMBER_H */
