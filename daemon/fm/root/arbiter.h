/* SPDX-License-Identifier: GPL-2.0-only */
/* The answer of the site's arbiter to a claim. */
#ifndef FM_ROOT_ARBITER_H
#define FM_ROOT_ARBITER_H

#include <stdbool.h>
#include <stdint.h>

struct fm;

/** fm_arbiter_waits() - Return: true if a claim would be too early after the last answer */
bool fm_arbiter_waits(const struct fm *fm);
/**
 * fm_arbiter_lets() - the promises are enough: does the arbiter let this node lead?
 * @quorum: they are enough by majority
 * Return: true: yes. false: the claim waits for the answer, or it is to end: @ends
 */
bool fm_arbiter_lets(struct fm *fm, bool quorum, bool *ends);
/** fm_arbiter_answered() - the arbiter has answered the last question of this node */
void fm_arbiter_answered(struct fm *fm);
/* A root that leads without a grant asks again. */
void fm_arbiter_due(struct fm *fm);
uint64_t fm_arbiter_expiry(const struct fm *fm);

#endif /* FM_ROOT_ARBITER_H */
