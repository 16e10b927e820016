/* SPDX-License-Identifier: GPL-2.0-only */
/* The root: its plain facts, and what joins its parts. */
#ifndef FM_ROOT_FACTS_H
#define FM_ROOT_FACTS_H

#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/ending.h"
#include "daemon/fm/root/marks.h"
#include "daemon/fm/root/told.h"

/** enum fm_stage - of a claim (claim.c) */
enum fm_stage {
	FM_STAGE_ASKS,		/* which nodes would obey it */
	FM_STAGE_CLAIMS,	/* an epoch: nodes promise to obey it there */
	FM_STAGE_LEADS,
};

/**
 * struct fm_root - what only the root has
 *
 * First the plain facts: most parts need them, and a function for each would hide nothing. Then
 * what parts keep for themselves, in structs that only their own files know.
 */
struct fm_root {
	bool settled, restored;	/* nodes work at places already, in @shape */
	struct torus_shape shape;
	uint8_t open;		/* dimensions whose ends are not cabled together */
	uint32_t *at;		/* node id to number in the roster + 1 */
	enum fm_stage stage;
	enum fm_ending ending;
	struct fm_lead successor;
	uint64_t since, high;	/* of the stage; the latest epoch that any node has obeyed */
	uint64_t begun;		/* when it began to ask: before claims that did not win */
	bool knows, anew;	/* of an epoch before this life; it is to ask all nodes once more */
	struct fm_told told;
	struct fm_line line;	/* tables of former roots that its own come from (parts.c) */
	uint16_t *admin;	/* ports excluded by the administrator */
	struct fm_orders orders;	/* why they are */
	uint64_t version, version_seen;	/* @version_seen: highest that any node has */
	uint8_t clean;		/* mask of colours that no packet in the network has */
	bool joined, bare;	/* links join all that are up; a mate may be @bare */
	uint32_t joiners, unplaced;	/* nodes that have said HELLO; without a node id */
	uint32_t *missing, nmissing;	/* numbers of those to be judged, in the roster */
	uint64_t judge_at, obey, ranks_at; /* when that is due; NEVER */
	uint32_t search;	/* number of the last search through the links of nodes */
	uint32_t witness;	/* number of a node that was seen to wait for another (settle.c) */
	uint64_t resign_at;	/* when it looks next whether its own NIC fails (resign.c) */
	bool alone;		/* the problem that no other node has joined stands */
	struct fm_base base, base_seen;
	struct fm_changes changes;

	struct fm_news *news;
	struct fm_demand *demand;
	struct fm_move *move;
	struct fm_counted *counted;
	struct fm_roster *roster;
	struct fm_asking *asking;
	struct fm_calls *calls;
	struct fm_quorum *quorum;
	struct fm_recall *recall;
	struct fm_parts *parts;
	struct fm_rec *rec;
	struct fm_leftover *leftover;
	struct fm_disputes *disputes;
	struct fm_damp *damp;
	struct fm_cables *cables;
	struct fm_vanish *vanish;
	struct fm_grow *grow;
};

#endif /* FM_ROOT_FACTS_H */
