/* SPDX-License-Identifier: GPL-2.0-only */
/* When a node without a root asks to be root itself. */
#ifndef FM_CANDIDATE_H
#define FM_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/**
 * struct fm_candidate
 * @at: when this node asks to be root, if nothing leads it until then; NEVER
 * @around: when it asks its neighbours which root they follow; NEVER
 * @turns: until then it follows no node that asks, because it has turned from one that asked in
 *	vain to a root that leads
 * @heard: while this node was led, a neighbour's Init named a node that asks
 * @called: the root has handed over to this node; @relieves: because the root's NIC fails
 * @unfit: until then this node does not ask: it was root and its NIC failed; 0: it may ask
 * @tries: how often it has asked in vain since a root led it
 * @backs: how often a node that asked, and that it followed, was lost or gave up
 * @unreached: GUID of the last node that was followed and could not be reached; if it asks, it is not
 *	followed until @shuns
 */
struct fm_candidate {
	uint64_t at, around, turns, unfit;
	bool heard, called, relieves;
	unsigned int tries, backs;
	uint64_t unreached, shuns;
};

/** fm_candidate_said() - what this node says of itself: a priority, or FM_PRIORITY_AUTO */
unsigned int fm_candidate_said(const struct fm *fm);
/** fm_candidate_priority() - of a node that says so and has that place, or TORUS_NO_NODE */
unsigned int fm_candidate_priority(unsigned int said, uint32_t node);
/** fm_candidate_called() - the root hands over to this node, which asks to be root at once */
void fm_candidate_called(struct fm *fm, bool relieves);
/** fm_candidate_unfit() - this node was root, and its NIC failed: for a while it is no candidate */
void fm_candidate_unfit(struct fm *fm);
/** fm_candidate_fit() - its NIC has taken part in a whole recovery: it is a candidate again */
void fm_candidate_fit(struct fm *fm);
/** fm_candidate_memory() - it cannot ask to be root, for there is no memory: it tries again */
void fm_candidate_memory(struct fm *fm);
/** fm_candidate_adrift() - this node has lost its root, follows one that asks, or is led again */
void fm_candidate_adrift(struct fm *fm);
/** fm_candidate_due() - Return: true if it has to ask to be root now */
bool fm_candidate_due(struct fm *fm);
uint64_t fm_candidate_expiry(const struct fm *fm);

#endif /* FM_CANDIDATE_H */
