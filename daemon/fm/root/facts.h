/* SPDX-License-Identifier: GPL-2.0-only */
/* The root: facts that many of its parts use, and pointers to the state of each part. */
#ifndef FM_ROOT_FACTS_H
#define FM_ROOT_FACTS_H

#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/ending.h"
#include "daemon/fm/root/marks.h"
#include "daemon/fm/root/former.h"

/**
 * struct fm_seat - the job of a node, and the number of the node in it; @job 0: it belongs to none
 */
struct fm_seat {
	uint16_t job;
	uint32_t number;
};

/** enum fm_stage - how far this node is on the way to lead (claim.c) */
enum fm_stage {
	FM_STAGE_ASKS,		/* it asks which nodes would obey it */
	FM_STAGE_CLAIMS,	/* it claims an epoch: nodes promise to obey it in this epoch */
	FM_STAGE_LEADS,
};

/**
 * struct fm_root - the state of a root, or of a node that asks to be root
 *
 * First the plain facts: most parts need them, and a function for each would hide nothing. Then
 * the state of each part, in a struct that only its own file knows.
 */
struct fm_root {
	bool settled, restored;	/* the root has decided on shape and places; NICs are placed
				 * already, in @shape */
	struct torus_shape shape;
	uint8_t open;		/* mask of dimensions whose ends are not cabled together */
	struct torus_plan plan;	/* address plan; until @settled, if @nics_plan, the plan of the NIC
				 * with the latest rows */
	uint64_t nics_version;	/* version of the rows of that NIC; valid if @nics_plan */
	bool nics_plan;
	uint64_t plan_again;	/* when the first table is tried again, after no plan could be
				 * used */
	uint32_t *at;		/* by node id: roster index + 1 of the node there; 0: there is
				 * none */
	enum fm_stage stage;
	enum fm_ending ending;
	struct fm_lead successor;
	uint64_t since, high;	/* when @stage began; latest epoch that any node has obeyed */
	uint64_t begun;		/* when this node began to ask to be root, counting all claims
				 * without success */
	bool knows, anew;	/* @knows: its NIC had obeyed a root before; @anew: all nodes
				 * have to join again */
	struct fm_former former;
	struct fm_line line;	/* tables of former roots that this root's tables come from
				 * (parts.c) */
	uint16_t *admin;	/* by node id: mask of the ports that the administrator has
				 * excluded */
	struct fm_seat *seat;	/* by node id: the job of the node */
	struct fm_jobs jobs;
	struct fm_orders orders;	/* the orders that describe these exclusions */
	uint64_t version, version_seen;	/* version of the last table; highest version that any
					 * node has */
	uint64_t version_kept;	/* highest version of a kept table; 0: none was kept */
	uint8_t clean;		/* mask of colours that no packet in the network has */
	uint8_t brought;	/* colours of packets that are in NICs which joined since the
				 * last table */
	uint32_t early;		/* number of nodes that wait for their neighbours' places
				 * (discover.c) */
	uint64_t early_until;	/* when the first of these waits ends; NEVER */
	bool joined, bare;	/* @joined: links join all nodes that are up; @bare: a node of
				 * the roster may be @bare */
	uint32_t joiners, unplaced;	/* number of nodes that sent HELLO; number of nodes
					 * without a node id */
	uint32_t *missing, nmissing;	/* roster indices of the nodes that judge.c has to judge */
	uint64_t judge_at, obey, ranks_at; /* when judge.c, epoch.c, ranks.c are due; NEVER */
	uint32_t search;	/* number of the last search through the links between nodes */
	uint32_t witness;	/* roster index of a node that waited for another one (settle.c) */
	uint64_t resign_at;	/* when resign.c next checks this root's own NIC */
	bool alone;		/* the problem that no other node has joined is present */
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
	struct fm_grown *grown;
};

#endif /* FM_ROOT_FACTS_H */
