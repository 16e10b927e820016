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

/*
 * struct fm - the machine of one node: facts that many parts use. Each part keeps the rest of its
 * state in a struct of its own.
 */
struct fm {
	struct fm_config cfg;
	struct fm_ops ops;
	void *io;
	uint64_t now, random;
	uint64_t wall, wall_at;	/* the time of day in s by the last fm_clock(), and when that was
				 * called; 0: never */
	uint64_t rootless;	/* time since which this node knows no root; valid while it knows
				 * none */

	/* GUID of the NIC */
	uint64_t guid;
	uint32_t epoch, relay_packets, node;	/* @relay_packets: 0: not known */
	unsigned int nports;
	bool plans, is_root, placed, bootstrap;	/* @is_root: this node is root, or asks to be */
	struct torus_shape shape;
	struct torus_coords coords;
	struct torus_plan plan;	/* address plan of the NIC, as in fm_table_msg; @plans: the NIC
				 * supports other plans than the default */
	uint64_t *rows, applied; /* the rows that the NIC has, and their version */
	uint32_t nrows, relayed;	/* @relayed: how many of the rows lead through relays */
	struct torus_health *health;
	struct torus_routes *routes;	/* rows computed from the table; NULL: not computed yet */
	bool merged;		/* @rows are the same as in @routes, except that some have HOLD */
	struct fm_writing *writing;
	struct fm_job_rows *job_rows;
	struct torus_park park;
	struct fm_nic *nic;
	struct fm_port *port;	/* array of TORUS_MAX_PORTS ports */
	struct fm_squares *squares;
	struct fm_wave *wave;
	struct fm_row row;
	struct fm_base base;	/* number of packets that are missing for good, as the root last
				 * reported it */

	unsigned int ndims;	/* number of dimensions of the fabric; 0: not known */
	uint16_t size[TORUS_MAX_DIMS];
	bool have_root, have_position, cabled, lonely; /* @cabled: some port has had a cable;
						        * @lonely: the node has reported that it
						        * has no root */
	int32_t position[TORUS_MAX_DIMS];
	uint64_t root_guid, root_epoch;
	uint64_t term;		/* epoch of the root that this node has joined, or in which it
				 * claims to lead */
	uint64_t cut_off;	/* since this time no connection leads to the root; 0: one does */
	bool root_asks, root_lost, sent_lost;	/* of the followed root: it only asks to be root;
						 * it does not answer; this node's Inits have
						 * said that it is lost */
	struct fm_led led;
	struct fm_candidate *candidate;
	struct fm_following *following;
	struct fm_trying *trying;
	struct fm_home *home;
	struct fm_arbitration *verdict;
	char root_address[FM_ADDR_MAX];
	struct fm_claim asker;	/* last CLAIM of the followed node, while that asks to be root */
	const struct fm_up *up;
	struct fm_uplink *uplink;
	struct fm_conns *conns;
	struct fm_table table;
	struct fm_kept kept;
	struct fm_keeping *keeping;
	struct fm_reports *reports;
	struct fm_member *member;
	struct fm_task *task;
	struct fm_grower *grower;
	struct fm_root *root;	/* NULL unless this node is root or asks to be */
	struct fm_problems *problems;
	uint64_t alarm, lag, lag_at, doubts;	/* state of lag.c; @alarm: when the timer is due */
	unsigned int stopped, rolls;	/* @stopped: see lag.c; @rolls: how often all nodes were
					 * asked again since the last version */
};

#endif /* FM_MACHINE_H */
