/* SPDX-License-Identifier: GPL-2.0-only */
/* When a node without a root asks to be root itself. */
#ifndef FM_CANDIDATE_H
#define FM_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/**
 * fm_candidate_new() - allocate the state of candidate.c; called by fm_new(). Return: false if
 * there is no memory
 */
bool fm_candidate_new(struct fm *fm);
void fm_candidate_free(struct fm *fm);
/**
 * fm_candidate_said() - Return: the priority that this node reports in HELLO, or FM_PRIORITY_AUTO
 */
unsigned int fm_candidate_said(const struct fm *fm);
/**
 * fm_candidate_priority() - compute the priority of a node
 * @said: the priority in its HELLO; @node: its id, or TORUS_NO_NODE
 * Return: 1 to FM_PRIORITY_MAX; 0 if it is no candidate.
 */
unsigned int fm_candidate_priority(unsigned int said, uint32_t node);
/** fm_candidate_called() - the root has handed over to this node: ask to be root at once */
void fm_candidate_called(struct fm *fm, bool relieves);
/**
 * fm_candidate_take_call() - Return: true, once, if the root handed over
 * @relieves: set to true if the root's NIC fails
 */
bool fm_candidate_take_call(struct fm *fm, bool *relieves);
/**
 * fm_candidate_vain() - this node has asked without success: only @here of the @need nodes have
 * answered
 */
void fm_candidate_vain(struct fm *fm, uint32_t here, uint32_t need);
/** fm_candidate_unfit() - this node was root and its NIC has failed: be no candidate for a while */
void fm_candidate_unfit(struct fm *fm);
/**
 * fm_candidate_fit() - the NIC of this node has taken part in a whole recovery: be a candidate
 * again
 */
void fm_candidate_fit(struct fm *fm);
/** fm_candidate_memory() - there was no memory to ask to be root: try again soon */
void fm_candidate_memory(struct fm *fm);
/**
 * fm_candidate_adrift() - compute anew when this node asks to be root: it has lost its root,
 * follows another node that asks, or is led by a root again
 */
void fm_candidate_adrift(struct fm *fm);
/**
 * fm_candidate_heard() - called while a root leads this node, when a neighbour's Init says that a
 * node asks to be root
 */
void fm_candidate_heard(struct fm *fm);
/** fm_candidate_back() - the asking node that this node followed was lost or gave up */
void fm_candidate_back(struct fm *fm);
/** fm_candidate_wait() - Return: ns from the loss of the root until the first candidate asks */
uint64_t fm_candidate_wait(const struct fm *fm);
/** fm_candidate_due() - run what is due. Return: true if this node has to ask to be root now */
bool fm_candidate_due(struct fm *fm);
uint64_t fm_candidate_expiry(const struct fm *fm);

#endif /* FM_CANDIDATE_H */
