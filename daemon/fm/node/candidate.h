/* SPDX-License-Identifier: GPL-2.0-only */
/* When a node without a root asks to be root itself. */
#ifndef FM_CANDIDATE_H
#define FM_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/* A machine begins. Return: false: no memory. */
bool fm_candidate_new(struct fm *fm);
void fm_candidate_free(struct fm *fm);
/** fm_candidate_said() - what this node says of itself: a priority, or FM_PRIORITY_AUTO */
unsigned int fm_candidate_said(const struct fm *fm);
/** fm_candidate_priority() - of a node that says so and has that place, or TORUS_NO_NODE */
unsigned int fm_candidate_priority(unsigned int said, uint32_t node);
/** fm_candidate_called() - the root hands over to this node, which asks to be root at once */
void fm_candidate_called(struct fm *fm, bool relieves);
/**
 * fm_candidate_take_call() - Return: true if the root handed over, this time, and why: @relieves
 */
bool fm_candidate_take_call(struct fm *fm, bool *relieves);
/** fm_candidate_unfit() - this node was root, and its NIC failed: for a while it is no candidate */
void fm_candidate_unfit(struct fm *fm);
/** fm_candidate_fit() - its NIC has taken part in a whole recovery: it is a candidate again */
void fm_candidate_fit(struct fm *fm);
/** fm_candidate_memory() - it cannot ask to be root, for there is no memory: it tries again */
void fm_candidate_memory(struct fm *fm);
/** fm_candidate_adrift() - this node has lost its root, follows one that asks, or is led again */
void fm_candidate_adrift(struct fm *fm);
/** fm_candidate_heard() - a neighbour's Init named a node that asks while this one was led */
void fm_candidate_heard(struct fm *fm);
/** fm_candidate_back() - a node that asked, and that this one followed, was lost or gave up */
void fm_candidate_back(struct fm *fm);
/**
 * fm_candidate_wait() - how long this node waits until it asks, as often as it has asked in vain
 */
uint64_t fm_candidate_wait(const struct fm *fm);
/** fm_candidate_due() - Return: true if it has to ask to be root now */
bool fm_candidate_due(struct fm *fm);
uint64_t fm_candidate_expiry(const struct fm *fm);

#endif /* FM_CANDIDATE_H */
