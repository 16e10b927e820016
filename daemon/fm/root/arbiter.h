/* SPDX-License-Identifier: GPL-2.0-only */
/* The answer of the site's arbiter to a claim. */
#ifndef FM_ROOT_ARBITER_H
#define FM_ROOT_ARBITER_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/**
 * fm_arbiter_waits() - Return: true if this node must still wait with its next claim, after the
 * last answer
 */
bool fm_arbiter_waits(const struct fm *fm);
/**
 * fm_arbiter_lets() - ask the arbiter whether this node may lead, or use the answer that has come
 * @quorum: the nodes that have promised are a quorum; false: they are enough only because no other
 *	NIC can be reached
 * @ends: set to true if the claim has to end
 * Called when the promises are enough.
 * Return: true if this node may lead; false if the claim waits for the answer, or has to end.
 */
bool fm_arbiter_lets(struct fm *fm, bool quorum, bool *ends);
/** fm_arbiter_answered() - called when the arbiter has answered the last question of this node */
void fm_arbiter_answered(struct fm *fm);
/** fm_arbiter_due() - ask again if this root leads without a grant */
void fm_arbiter_due(struct fm *fm);
uint64_t fm_arbiter_expiry(const struct fm *fm);

#endif /* FM_ROOT_ARBITER_H */
