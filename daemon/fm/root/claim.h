/* SPDX-License-Identifier: GPL-2.0-only */
/* How a node becomes root: it asks, claims, and leads. */
#ifndef FM_CLAIM_H
#define FM_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/root/calls.h"
#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;
struct fm_init;
struct fm_mate;
struct fm_root;

enum fm_stage {
	FM_STAGE_ASKS,		/* which nodes would obey it */
	FM_STAGE_CLAIMS,	/* an epoch: nodes promise to obey it there */
	FM_STAGE_LEADS,
};

/**
 * struct fm_asking - of this root
 * @stage: enum fm_stage
 * @said: all nodes that wait have been told the epoch
 * @won: it leads because it asked and claimed, not as the first root
 * @handed: the former root has handed over to it; @relieves: because its own NIC fails
 * @anew: it was root before, and found a later epoch
 * @at: when it is looked at next; NEVER
 * @since: when the stage began
 * @around: when it asks its neighbours next whether one leads, if it asks in vain
 * @turn: how long it still asks in vain if another candidate is there; 0: not drawn yet
 * @high: the latest epoch that any node has obeyed
 * @calls: to nodes that its Inits do not reach
 * @witness: number of a node that had a link to one that is not here
 * @here, @need: what fm_quorum_count() said when this node last looked at its claim
 * @why: this node leads, as text for people; once it does
 */
struct fm_asking {
	uint8_t stage;
	bool said, won, handed, relieves, anew;
	uint64_t at, since, around, turn, high;
	struct fm_calls calls;
	uint32_t witness, here, need;
	char why[FM_TEXT_MAX / 4];
};

void fm_claim_start(struct fm *fm, bool leads);
/**
 * fm_claim_hello() - @m says HELLO. Return: true if it may be welcomed; else it has been answered
 */
bool fm_claim_hello(struct fm *fm, struct fm_conn *c, struct fm_mate *m, const struct fm_hello *h);
bool fm_claim_leads(const struct fm *fm);
/**
 * fm_claim_anew() - there is a node that obeys @epoch, or may: no root leads in a later one without
 * asking all nodes anew. A root that leads ends soon, and asks.
 */
void fm_claim_anew(struct fm *fm, uint64_t epoch);
/** fm_claim_history() - does a neighbour remember a root before this one? Then that counts */
void fm_claim_history(struct fm *fm, const struct fm_init *init);
/** fm_claim_yields() - Return: true if the root of that Init is to lead, and not this one */
bool fm_claim_yields(const struct fm *fm, const struct fm_init *init);
/** fm_claim_look() - something has changed that the claim may have waited for */
void fm_claim_look(struct fm *fm);
void fm_claim_due(struct fm *fm);
uint64_t fm_claim_expiry(const struct fm *fm);

#endif /* FM_CLAIM_H */
