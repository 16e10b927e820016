/* SPDX-License-Identifier: GPL-2.0-only */
/* The root's list of all nodes. */
#ifndef FM_ROSTER_H
#define FM_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/torus.h>

#include "daemon/fm/root/voice.h"
#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_flap;
struct fm_root;

/**
 * struct fm_mate - a node that has said HELLO; the root itself is number 0
 * @node: its id once placed, else TORUS_NO_NODE
 * @worked_at: the node id that its NIC had when it joined, by the shape of the table, or
 *	TORUS_NO_NODE
 * @fixed: @node is in the table or was its own before: not moved any more
 * @via: GUID of who holds its connection; 0: nobody, since @missing
 * @above, @first, @next, @prev: numbers in the roster + 1, of who @via is, if known;
 *	of one who hangs below it; of others who hang below @above
 * @listed: in fm_root's list of those who are missing
 * @attach: number of the newest connection heard of; older notices mean nothing
 * @state: FM_NODE_UP, _SILENT or _DEAD
 * @bare: its NIC may not work at @node; @banned: it was not to join until then, for @ban
 */
struct fm_mate {
	uint64_t guid;
	uint32_t epoch, node, worked_at;
	bool fixed, listed, marked;	/* @marked: as bootstrap, as it says in HELLO */
	uint8_t state;
	uint16_t priority;	/* as a candidate, as it says in HELLO */
	bool moving;		/* left the root for the parent it was given */
	bool old_shape, bare;	/* @old_shape: grow.c: its NIC may work with the shape before */
	bool vouched;		/* judge.c: missing, and somebody has a link to it */
	uint64_t via, parent;	/* @parent: @via, or what it was last */
	uint32_t above, first, next, prev;
	uint32_t given;		/* number of the parent it was given last; 0: the root */
	bool lost;		/* vanish.c: missing, for it seems to have no power */
	uint64_t doubted, probed;	/* vanish.c: since when, and when probed; 0: not */
	uint64_t answered;	/* ... and when it answered last */
	uint32_t search;	/* the last search through links that met it */
	uint64_t joined, banned, ban;	/* @joined: when it came on a connection of its own last */
	struct fm_voice voice;
	uint64_t attach, missing, version;	/* @version: of its rows, when it joined */
	uint16_t opening;	/* ports of @row that it opens at REPLAY; 0 in a new row */
	struct fm_row row;
	struct fm_flap *flap;	/* damp.c: of each port; NULL: it never lost a link */
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
};

struct fm_mate *fm_mate(const struct fm_root *r, uint64_t guid);
bool fm_mate_joined(const struct fm_mate *m);	/* it has said who it is */
struct fm_mate *fm_mate_add(struct fm_root *r, uint64_t guid);
void fm_mate_via(struct fm_root *r, struct fm_mate *m, uint64_t via);
void fm_mate_missing(struct fm *fm, struct fm_mate *m);
/* Gives @m another node id; who has it in fm_root's @at is the caller's matter. */
void fm_mate_move(struct fm *fm, struct fm_mate *m, uint32_t node);
/* Forgets all who are dead and have no place: they join like others if they come back. */
void fm_roster_forget(struct fm *fm);
struct fm_mate *fm_mate_at(const struct fm_root *r, uint32_t node);

void fm_mate_name(struct fm_root *r, struct fm_mate *m, const char *name);
/* Another node of that name, that is there. */
const struct fm_mate *fm_mate_namesake(const struct fm_root *r, const char *name, uint64_t guid);
/* Everyone said to hang below @guid must be told of anew. */
void fm_roster_forget_below(struct fm *fm, uint64_t guid);
void fm_roster_judge(struct fm *fm);	/* the missing, soon */
/** fm_end_text() - what to call port @p of @m, as text for people. Return: @buf */
const char *fm_end_text(const struct fm *fm, const struct fm_mate *m, unsigned int p,
			char *buf, size_t room);

#endif /* FM_ROSTER_H */
