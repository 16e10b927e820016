/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine: what joins the parts of a node. Each part has a function for every event that it
 * cares about, one that runs what is due, and one that says when that will be.
 */
#ifndef FM_MACHINE_H
#define FM_MACHINE_H

#include <torus/route.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/fm.h"
#include "daemon/fm/node/facts.h"
#include "daemon/fm/node/up.h"

struct fm_root;

/* Facts that many parts use stand here. What a part keeps for itself, only its own file knows. */
struct fm {
	struct fm_config cfg;
	struct fm_ops ops;
	void *io;
	uint64_t now, random;
	uint64_t wall, wall_at;	/* the time of day in seconds when it was told last, and when; 0: never */
	uint64_t rootless;	/* since when it has had no root, as long as it has none */

	/* the NIC */
	uint64_t guid;
	uint32_t epoch, relay_packets;	/* @relay_packets: 0: not known */
	unsigned int nports;
	bool is_root, placed, jumper;	/* @is_root: or asks to be */
	struct torus_shape shape;
	struct torus_coords coords;
	uint32_t node;
	uint64_t *rows, applied; /* as they stand in the NIC */
	uint32_t nrows, relayed;	/* @relayed: those through relays */
	struct torus_health *health;
	struct torus_routes *routes;	/* what the table asks for; NULL before the first */
	bool merged;		/* @rows are those of @routes, and holds */
	struct fm_writing *writing;
	struct torus_park park;
	struct fm_nic *nic;
	struct fm_port *port;	/* TORUS_MAX_PORTS */
	struct fm_squares *squares;
	struct fm_wave *wave;
	struct fm_row row;
	struct fm_base base;	/* packets missing for good, as the root told last */

	unsigned int ndims;	/* of the fabric; 0 while unknown */
	uint16_t size[TORUS_MAX_DIMS];
	bool have_root, have_position, cabled, lonely; /* some port had a cable; said: no root */
	int32_t position[TORUS_MAX_DIMS];
	uint64_t root_guid, root_epoch;
	uint64_t term;		/* epoch of the root that it has joined, or in which it claims */
	uint64_t cut_off;	/* since when there is no way to the root; 0: there is */
	bool root_asks, root_lost, said_lost; /* not root yet; no way to it now; neighbours know */
	struct fm_led led;
	struct fm_candidate *candidate;
	struct fm_following *following;
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
	struct fm_root *root;	/* NULL on all nodes but the root */
	struct fm_problems *problems;
	uint64_t alarm, lag, lag_at;	/* when its timer is due; by how much it was late, then (lag.c) */
	unsigned int stopped, rolls;	/* late as if stopped; all asked anew, since a version */
};

#endif /* FM_MACHINE_H */
