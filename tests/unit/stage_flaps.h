/* SPDX-License-Identifier: GPL-2.0-only */
/* A root, and all nodes of its fabric, whose links flap. */
#ifndef TESTS_STAGE_FLAPS_H
#define TESTS_STAGE_FLAPS_H

#include "stage.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"

static struct stage s;
static uint32_t nodes, serial[144];

#define HALF 16000	/* half-life in ms */
#define LIMIT 4
#define HOLD_MAX 40000

/* All nodes but the root say HELLO to it. */
static inline void join_all(void)
{
	for (uint32_t i = 1; i < nodes; i++) {
		struct fm_msg m = stage_hello(&s, i);

		serial[i] = 1;
		stage_up(&s, 100 + (int)i);
		stage_msg(&s, 100 + (int)i, &m);
	}
}

/* A root and all nodes, at rest; reports are made by themselves. */
static inline void root_of(const char *shape)
{
	stage_init(&s, shape, 0);
	s.deaf = "init ping pong report lost rows place release welcome step close table adopted ";
	s.cfg.flap_limit = LIMIT;
	s.cfg.flap_half_life = HALF * MS;
	s.cfg.hold_max = HOLD_MAX * MS;
	nodes = torus_nodes(&s.shape);
	for (unsigned int p = 0; p < s.dev.nports; p++)
		stage_link_up(&s, p, 1);
	stage_start(&s);
	join_all();
}

static inline void root(void)
{
	root_of("4x4");
}

/* Runs until @ns after the start; no node falls silent, and all do what is asked. */
static inline void lives_ns(uint64_t ns)
{
	struct fm_outline o;

	for (;;) {
		fm_outline(s.fm, &o);
		for (uint32_t round = 0; o.under_way && round < 8; round++)
			for (uint32_t i = 1; i < nodes; i++) {
				struct fm_msg m = stage_report(&s, i, fm_version(s.fm), round);

				stage_msg(&s, 100 + (int)i, &m);
			}
		for (uint32_t i = 1; i < nodes; i++)
			stage_send(&s, 100 + (int)i, FM_MSG_PING);
		fm_outline(s.fm, &o);
		if (s.now == ns)
			break;
		stage_run_ns(&s, ns - s.now < (o.under_way ? 10 : 900) * MS ? ns :
			     s.now + (o.under_way ? 10 : 900) * MS);
	}
}

static inline void lives(double ms)
{
	lives_ns((uint64_t)(ms * 1000 + 0.5) * (MS / 1000));
}

/* The row of @node becomes @r. */
static inline void reports_row(uint32_t node, struct fm_row r)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	r.serial = ++serial[node];
	m.row = (struct fm_row_msg) { .guid = NIC + node, .epoch = 1, .row = r };
	stage_msg(&s, 100 + (int)node, &m);
}

static inline void row(uint32_t node, unsigned int port, enum fm_port_state is)
{
	struct fm_row r = stage_row(&s, node);

	r.port[port].state = (uint8_t)is;
	r.port[port].session = serial[node] + 1;
	r.port[port].closed = true;
	reports_row(node, r);
}

/* Sets the state of the cable from 5 to 6, at both ends. */
static inline void cable(enum fm_port_state is)
{
	row(5, 0, is);
	row(6, 2, is);
}

#endif /* TESTS_STAGE_FLAPS_H */
