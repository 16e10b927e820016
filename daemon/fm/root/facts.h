/* SPDX-License-Identifier: GPL-2.0-only */
/* The root: its plain facts, and pointers to the state of each part. */
#ifndef FM_ROOT_FACTS_H
#define FM_ROOT_FACTS_H

#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/ending.h"
#include "daemon/fm/root/marks.h"
#include "daemon/fm/root/told.h"

/** enum fm_stage - how far this node is on the way to lead (claim.c) */
enum fm_stage {
	FM_STAGE_ASKS,		/* it asks which nodes would obey it */
	FM_STAGE_CLAIMS,	/* it claims an epoch: nodes promise to obey it there */
	FM_STAGE_LEADS,
};

/**
 * struct fm_root - the state of a root, or of a node that asks to be root
 *
 * First the plain facts: most parts need them, and a function for each would hide nothing. Then
 * the state of each part, in a struct that only its own file knows.
 */
struct fm_root {
	bool settled, restored;	/* has a shape and places; NICs work already, in @shape */
	struct torus_shape shape;
	uint8_t open;		/* mask of dimensions whose ends are not cabled together */
	struct torus_plan plan;	/* address plan; before @settled that of @nics_version */
	uint64_t nics_version;	/* of the NIC with @plan, before @settled; valid if @nics_plan */
	bool nics_plan;
	uint64_t plan_again;	/* a first table is not tried before: no plan could be used */
	uint32_t *at;		/* number in the roster + 1, by node id; 0: no node is there */
	enum fm_stage stage;
	enum fm_ending ending;
	struct fm_lead successor;
	uint64_t since, high;	/* when @stage began; latest epoch that any node has obeyed */
	uint64_t begun;		/* when it began to ask, before all claims without success */
	bool knows, anew;	/* its NIC had obeyed a root before; all nodes have to join anew */
	struct fm_told told;
	struct fm_line line;	/* tables of former roots that its own come from (parts.c) */
	uint16_t *admin;	/* mask of ports that the administrator excluded, by node id */
	struct fm_orders orders;	/* the orders by which they are excluded */
	uint64_t version, version_seen;	/* of the last table; highest that any node has */
	uint8_t clean;		/* mask of colours that no packet in the network has */
	uint8_t brought;	/* colours of packets in NICs that joined since the last table */
	uint32_t early;		/* nodes that wait for their neighbours' places (discover.c) */
	uint64_t early_until;	/* when the first of them waits no longer; NEVER */
	bool joined, bare;	/* links join all nodes that are up; a mate may be @bare */
	uint32_t joiners, unplaced;	/* nodes that said HELLO; nodes without a node id */
	uint32_t *missing, nmissing;	/* numbers in the roster of nodes that judge.c judges */
	uint64_t judge_at, obey, ranks_at; /* when judge.c, epoch.c, ranks.c are due; NEVER */
	uint32_t search;	/* number of the last search through the links of nodes */
	uint32_t witness;	/* number of a node that waited for another one (settle.c) */
	uint64_t resign_at;	/* when resign.c checks its own NIC next */
	bool alone;		/* the problem is present that no other node has joined */
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
