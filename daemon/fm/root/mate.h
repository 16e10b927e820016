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
 * struct fm_mate - a node that has said HELLO; the root itself is number 0
 * @node: its id once placed, else TORUS_NO_NODE
 * @worked_at: the node id that its NIC had when it joined, by the shape of the table, or
 *	TORUS_NO_NODE
 * @fixed: @node is in the table or was its own before: not moved any more
 * @via: GUID of the node that holds its connection; 0: none, since @missing
 * @above, @first, @next, @prev: numbers in the roster + 1, of who @via is, if known;
 *	of one who hangs below it; of others who hang below @above
 * @listed: in fm_root's list of missing nodes
 * @attach: number of the newest connection heard of; older notices mean nothing
 * @state: FM_NODE_UP, _SILENT or _DEAD
 * @position: where the wave has placed it, as it said before it was placed here; all 0: not known
 * @bare: its NIC may not work at @node; @banned: it was not to join until then, for @ban
 */
struct fm_mate {
	uint64_t guid;
	uint32_t epoch, node, worked_at;
	int32_t position[TORUS_MAX_DIMS];
	bool fixed, listed, marked;	/* @marked: as bootstrap, as it says in HELLO */
	uint8_t state;
	uint16_t priority;	/* as a candidate, as it says in HELLO */
	bool moving;		/* left the root for the parent it was given */
	bool old_shape, bare;	/* @old_shape: its NIC may work with the shape before (grow.c) */
	bool unheard;		/* settle.c: the former table has it, but it has not joined */
	bool out;		/* service.c: all its cables are excluded by order */
	bool vouched;		/* judge.c: missing, and a neighbour has a link to it */
	uint64_t via, parent;	/* @parent: @via, or what it was last */
	uint32_t above, first, next, prev;
	uint32_t given;		/* number of the parent it was given last; 0: the root */
	bool lost;		/* vanish.c: missing, for it seems to have no power */
	uint64_t doubted, probed;	/* vanish.c: since when, and when probed; 0: not */
	uint64_t answered;	/* ... and when it answered last */
	uint32_t search;	/* the last search through links that met it */
	uint64_t joined, banned, ban;	/* @joined: when it last came on a connection of its own */
	struct fm_voice voice;
	uint64_t attach, missing, version;	/* @version: of its rows, when it joined */
	uint16_t opening;	/* ports of @row that it opens at REPLAY; 0 in a new row */
	struct fm_row row;
	struct fm_flap *flap;	/* damp.c: of each port; NULL: it never lost a link */
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
};

#endif /* FM_MATE_H */
