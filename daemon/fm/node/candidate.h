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
 * fm_candidate_stated() - Return: the priority of this node as its HELLO states it: its own, or
 * FM_PRIORITY_AUTO
 */
unsigned int fm_candidate_stated(const struct fm *fm);
/**
 * fm_candidate_priority() - compute the priority of a candidate
 * @stated: the priority in its HELLO; @node: its node id, or TORUS_NO_NODE
 * Return: 1 to FM_PRIORITY_MAX; 0 if the node is not a candidate.
 */
unsigned int fm_candidate_priority(unsigned int stated, uint32_t node);
/**
 * fm_candidate_called() - make this node ask to be root at once
 * @relieves: the root hands over because its own NIC fails
 * Called when the root has handed over to this node.
 */
void fm_candidate_called(struct fm *fm, bool relieves);
/**
 * fm_candidate_take_call() - find out whether the root has handed over, and forget it
 * @relieves: set to true if the former root did so because its own NIC fails
 * Return: true in the first call after fm_candidate_called(), false in further ones.
 */
bool fm_candidate_take_call(struct fm *fm, bool *relieves);
/**
 * fm_candidate_too_few() - report that too few nodes answer the request of this node to be root
 * @here, @need: how many have answered, and how many would be enough
 */
void fm_candidate_too_few(struct fm *fm, uint32_t here, uint32_t need);
/**
 * fm_candidate_unfit() - stop being a candidate for a while, because the NIC failed while this node
 * was root
 */
void fm_candidate_unfit(struct fm *fm);
/** fm_candidate_fit() - be a candidate again, because the NIC has taken part in a whole recovery */
void fm_candidate_fit(struct fm *fm);
/** fm_candidate_memory() - ask to be root a little later, because there was no memory for it now */
void fm_candidate_memory(struct fm *fm);
/**
 * fm_candidate_adrift() - compute again when this node has to ask to be root
 * Called when this node has lost its root, follows another node that asks, or is led by a root
 * again.
 */
void fm_candidate_adrift(struct fm *fm);
/**
 * fm_candidate_asked() - note that some node asks to be root although a root leads this node
 * Called when an Init of a neighbour shows this.
 */
void fm_candidate_asked(struct fm *fm);
/**
 * fm_candidate_back() - called when the asking node which this node followed was lost, or gave up
 */
void fm_candidate_back(struct fm *fm);
/** fm_candidate_wait() - Return: ns from the loss of the root until the first candidate asks */
uint64_t fm_candidate_wait(const struct fm *fm);
/**
 * fm_candidate_due() - do the work of candidate.c whose time has come
 * Return: true if this node has to ask to be root now.
 */
bool fm_candidate_due(struct fm *fm);
uint64_t fm_candidate_expiry(const struct fm *fm);

#endif /* FM_CANDIDATE_H */
