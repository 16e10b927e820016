/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine: the struct that joins the parts of a node. Each part has a function for every event
 * that concerns it, a function that runs what is due, and one that returns when that will be.
 */
#ifndef FM_MACHINE_H
#define FM_MACHINE_H

#include <torus/route.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/fm.h"
#include "daemon/fm/node/facts.h"
#include "daemon/fm/node/up.h"

struct fm_root;

/* Here are the facts that many parts use. Each part keeps its other state in a private struct. */
struct fm {
	struct fm_config cfg;
	struct fm_ops ops;
	void *io;
	uint64_t now, random;
	uint64_t wall, wall_at;	/* last fm_clock(): the time of day in s, and when; 0: none yet */
	uint64_t rootless;	/* since when it has known no root; of use while it knows none */

	/* the NIC */
	uint64_t guid;
	uint32_t epoch, relay_packets, node;	/* @relay_packets: 0: not known */
	unsigned int nports;
	bool plans, is_root, placed, bootstrap;	/* @is_root: is root, or asks to be */
	struct torus_shape shape;
	struct torus_coords coords;
	struct torus_plan plan;	/* of the NIC, as in fm_table_msg; @plans: it knows others */
	uint64_t *rows, applied; /* the rows that the NIC has, and their version */
	uint32_t nrows, relayed;	/* @relayed: how many of them lead through relays */
	struct torus_health *health;
	struct torus_routes *routes;	/* rows of the table; NULL: not computed yet */
	bool merged;		/* @rows are those of @routes, some of them with HOLD */
	struct fm_writing *writing;
	struct torus_park park;
	struct fm_nic *nic;
	struct fm_port *port;	/* TORUS_MAX_PORTS */
	struct fm_squares *squares;
	struct fm_wave *wave;
	struct fm_row row;
	struct fm_base base;	/* packets missing for good, as the root reported last */

	unsigned int ndims;	/* of the fabric; 0 while unknown */
	uint16_t size[TORUS_MAX_DIMS];
	bool have_root, have_position, cabled, lonely; /* some port had a cable; it misses a root */
	int32_t position[TORUS_MAX_DIMS];
	uint64_t root_guid, root_epoch;
	uint64_t term;		/* epoch of the root that it has joined, or that it claims */
	uint64_t cut_off;	/* since when no connection leads to the root; 0: one does */
	bool root_asks, root_lost, said_lost;	/* it only asks; does not answer; Inits said so */
	struct fm_led led;
	struct fm_candidate *candidate;
	struct fm_following *following;
	struct fm_home *home;
	struct fm_arbitration *verdict;
	char root_address[FM_ADDR_MAX];
	struct fm_claim asker;	/* last CLAIM of the followed node that asks to be root */
	const struct fm_up *up;
	struct fm_uplink *uplink;
	struct fm_conns *conns;
	struct fm_table table;
	struct fm_kept kept;
	struct fm_keeping *keeping;
	struct fm_reports *reports;
	struct fm_member *member;
	struct fm_task *task;
	struct fm_root *root;	/* NULL on each node that neither is root nor asks to be */
	struct fm_problems *problems;
	uint64_t alarm, lag, lag_at, doubts;	/* see lag.c; @alarm: when its timer is due */
	unsigned int stopped, rolls;	/* (lag.c); how often all were asked anew since a version */
};

#endif /* FM_MACHINE_H */
