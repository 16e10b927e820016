/* SPDX-License-Identifier: GPL-2.0-only */
/* What the site's arbiter says of a claim. */
#ifndef FM_ARBITER_H
#define FM_ARBITER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/fm.h"

/**
 * struct fm_arbiter - the arbiter, as this node knows it; it outlives claims
 * @verdict: enum fm_verdict, the last one
 * @asked: a question has not been answered yet
 * @epoch: of the last question; @answered: of the last that was answered
 * @at: when that was; 0: never
 * @again: when it may be asked the next time, if the last answer was no grant; @gap: from then on
 * @high: the epoch that the arbiter said it has granted
 * @why: of the last answer, if it was no grant, as text for people
 */
struct fm_arbiter {
	uint8_t verdict;
	bool asked;
	uint64_t epoch, answered, at, again, gap, high;
	char why[FM_TEXT_MAX / 2];
};

/** fm_arbiter_waits() - Return: whether a claim would be too early after the last answer */
bool fm_arbiter_waits(const struct fm *fm);
/**
 * fm_arbiter_lets() - the promises are enough: does the arbiter let this node lead?
 * @quorum: they are enough by majority
 * Return: true: yes. false: the claim waits for the answer, or it is to end: @ends
 */
bool fm_arbiter_lets(struct fm *fm, bool quorum, bool *ends);
/** fm_arbiter_led() - this node is led by another: what its arbiter said before does not matter */
void fm_arbiter_led(struct fm *fm);
/* A root that leads without a grant asks again. */
void fm_arbiter_due(struct fm *fm);
uint64_t fm_arbiter_expiry(const struct fm *fm);

#endif /* FM_ARBITER_H */
