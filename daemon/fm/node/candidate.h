/* SPDX-License-Identifier: GPL-2.0-only */
/* When a node without a root asks to be root itself. */
#ifndef FM_CANDIDATE_H
#define FM_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/** fm_candidate_new() - memory for candidate.c, by fm_new(). Return: false: no memory */
bool fm_candidate_new(struct fm *fm);
void fm_candidate_free(struct fm *fm);
/** fm_candidate_said() - Return: the priority in this node's HELLO, or FM_PRIORITY_AUTO */
unsigned int fm_candidate_said(const struct fm *fm);
/**
 * fm_candidate_priority() - the priority of a node
 * @said: in its HELLO; @node: its id, or TORUS_NO_NODE
 * Return: 1 to FM_PRIORITY_MAX; 0: it is no candidate.
 */
unsigned int fm_candidate_priority(unsigned int said, uint32_t node);
/** fm_candidate_called() - the root hands over to this node, which asks to be root at once */
void fm_candidate_called(struct fm *fm, bool relieves);
/**
 * fm_candidate_take_call() - Return: true, once, if the root handed over
 * @relieves: set to true if the root's NIC fails
 */
bool fm_candidate_take_call(struct fm *fm, bool *relieves);
/** fm_candidate_vain() - this node asked without success: @here of the @need nodes have answered */
void fm_candidate_vain(struct fm *fm, uint32_t here, uint32_t need);
/** fm_candidate_unfit() - this node was root, and its NIC failed: for a while it is no candidate */
void fm_candidate_unfit(struct fm *fm);
/** fm_candidate_fit() - its NIC has taken part in a whole recovery: it is a candidate again */
void fm_candidate_fit(struct fm *fm);
/** fm_candidate_memory() - there is no memory to ask to be root: this node tries again soon */
void fm_candidate_memory(struct fm *fm);
/** fm_candidate_adrift() - this node lost its root, follows an asking node, or is led again */
void fm_candidate_adrift(struct fm *fm);
/** fm_candidate_heard() - while this node was led, a neighbour's Init named an asking node */
void fm_candidate_heard(struct fm *fm);
/** fm_candidate_back() - an asking node that this one followed was lost or gave up */
void fm_candidate_back(struct fm *fm);
/** fm_candidate_wait() - Return: ns from the loss of the root until the first candidate asks */
uint64_t fm_candidate_wait(const struct fm *fm);
/** fm_candidate_due() - run what is due. Return: true if this node has to ask to be root now */
bool fm_candidate_due(struct fm *fm);
uint64_t fm_candidate_expiry(const struct fm *fm);

#endif /* FM_CANDIDATE_H */
