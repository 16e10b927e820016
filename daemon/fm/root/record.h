/* SPDX-License-Identifier: GPL-2.0-only */
/* A node as the root knows it; the roster (roster.h) has one for each. */
#ifndef FM_RECORD_H
#define FM_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

#include "daemon/fm/root/statements.h"
#include "daemon/fm/wire/msg.h"

struct fm_flap;

/**
 * struct fm_record - what the root knows about a node, an entry of the roster; the root itself has
 *	roster index 0
 * @node: node id, if the node has a place; else TORUS_NO_NODE
 * @worked_at: the node id that its NIC had when it joined, by the shape of the table, or
 *	TORUS_NO_NODE
 * @fixed: the place is final: it is in the table, or the node had it before
 * @via: GUID of the node that it is connected to (its parent); 0: it has been missing since
 *	@missing
 * @above, @first, @next, @prev: the tree of connections, as roster index + 1; 0: none. @above: the
 *	node @via; @first: one of the nodes below this one; @next, @prev: its neighbours in the list
 *	of the nodes below @above
 * @listed: it is in fm_root's list of missing nodes
 * @attach: number of its newest known connection; notices about older ones are ignored
 * @state: FM_NODE_UP, _SILENT or _DEAD
 * @position: position by the wave, from the HELLO before the node was placed; all 0: not known
 * @bare: the NIC of the node may not have the place @node yet
 * @brought: colours of packets that its NIC may have, if it came back without a place: when it gets
 *	one, they are added to fm_root's @brought
 * @no_nic: epoch of the manager that reported that its NIC is gone; 0: none has
 * @banned: it may not join before this time; @ban: length of the last ban, ns
 */
struct fm_record {
	uint64_t guid;
	uint32_t epoch, node, worked_at, no_nic;
	int32_t position[TORUS_MAX_DIMS];
	bool fixed, listed, marked;	/* @marked: its NIC has the bootstrap flag */
	uint8_t state, brought;
	uint16_t priority;	/* priority as a candidate, as in its HELLO */
	bool plans;		/* its HELLO shows that it supports address plans */
	bool jobs;		/* its HELLO shows that it knows jobs */
	bool moving;		/* it has left the root for the parent that it was given */
	bool old_shape, bare;	/* @old_shape: the NIC of the node may still have the former
				 * shape (grow.c) */
	bool unjoined;		/* settle.c: it is in the former table, but has not joined */
	bool out;		/* service.c: all its cables are excluded by order */
	bool early;		/* discover.c: it waits for the places of its neighbours */
	bool vouched;		/* judge.c: it is missing, and a neighbour vouches for it */
	uint64_t via, parent;	/* @parent: the last @via that was not 0 */
	uint32_t above, first, next, prev;
	uint32_t given;		/* roster index of the parent that it was last given; 0: the root */
	bool lost;		/* vanish.c: it is missing, and was declared lost */
	uint64_t doubted, probed;	/* vanish.c: since when it is late; when it was probed;
					 * 0: it is or was not */
	uint64_t answered;	/* vanish.c: when it answered a probe last */
	uint32_t search;	/* number of the last search through links that has found this
				 * node */
	uint64_t joined, banned, ban;	/* @joined: when it last opened a connection */
	uint64_t waits_since;	/* discover.c: when the first table without a place for it was
				 * made; 0: it has a place */
	struct fm_statements stated;
	uint64_t attach, missing, version;	/* @version: version of its rows when it joined */
	uint16_t opening;	/* mask of the ports of @row that it will open at REPLAY */
	struct fm_row row;
	struct fm_flap *flap;	/* damp.c: array with an entry for each port; NULL: it never lost
				 * a link */
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
};

#endif /* FM_RECORD_H */
