/* SPDX-License-Identifier: GPL-2.0-only */
/* A node as the root knows it; the roster (roster.h) has one for each. */
#ifndef FM_MATE_H
#define FM_MATE_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

#include "daemon/fm/root/voice.h"
#include "daemon/fm/wire/msg.h"

struct fm_flap;

/**
 * struct fm_mate - a node that is known to the root; the root itself is number 0
 * @node: its id once placed, else TORUS_NO_NODE
 * @worked_at: the node id that its NIC had when it joined, by the shape of the table, or
 *	TORUS_NO_NODE
 * @fixed: @node is in the table or was its own before: it is not moved any more
 * @via: GUID of the node that holds its connection; 0: none does, since @missing
 * @above, @first, @next, @prev: the tree of connections, by numbers in the roster + 1; 0: none.
 *	@above: the node @via; @first: one of the nodes below this one; @next, @prev: its neighbours
 *	in the list of the nodes below @above
 * @listed: it is in fm_root's list of missing nodes
 * @attach: number of its newest known connection; notices about older ones are ignored
 * @state: FM_NODE_UP, _SILENT or _DEAD
 * @position: its position by the wave, from its HELLO before it was placed; all 0: not known
 * @bare: its NIC may not work at @node
 * @brought: colours of packets that its NIC may have, if it came back without a place: when it gets
 *	one, they are added to fm_root's @brought
 * @banned: it may not join before then; @ban: the last such time, in ns
 */
struct fm_mate {
	uint64_t guid;
	uint32_t epoch, node, worked_at;
	int32_t position[TORUS_MAX_DIMS];
	bool fixed, listed, marked;	/* @marked: its NIC has the bootstrap flag */
	uint8_t state, brought;
	uint16_t priority;	/* as in its HELLO */
	bool plans;		/* as in its HELLO: it knows address plans */
	bool moving;		/* it left the root for the parent that it was given */
	bool old_shape, bare;	/* @old_shape: its NIC may work with the shape before (grow.c) */
	bool unheard;		/* settle.c: the former table has it, but it has not joined */
	bool out;		/* service.c: all its cables are excluded by order */
	bool early;		/* discover.c: it waits for the places of its neighbours */
	bool vouched;		/* judge.c: missing, and a neighbour vouches for it */
	uint64_t via, parent;	/* @parent: the last @via that was not 0 */
	uint32_t above, first, next, prev;
	uint32_t given;		/* number of the parent that it was given last; 0: the root */
	bool lost;		/* vanish.c: missing, taken as lost */
	uint64_t doubted, probed;	/* vanish.c: since when it is late; when probed; 0: not */
	uint64_t answered;	/* vanish.c: when it answered a probe last */
	uint32_t search;	/* number of the last search through links that found it */
	uint64_t joined, banned, ban;	/* @joined: when it last came on a connection of its own */
	uint64_t waits_since;	/* discover.c: first table without a place for it; 0: it has one */
	struct fm_voice voice;
	uint64_t attach, missing, version;	/* @version: of its rows, when it joined */
	uint16_t opening;	/* mask of ports of @row that it opens at REPLAY */
	struct fm_row row;
	struct fm_flap *flap;	/* damp.c: one for each port; NULL: it never lost a link */
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
};

#endif /* FM_MATE_H */
