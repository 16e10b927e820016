/* SPDX-License-Identifier: GPL-2.0-only */
/* The last answer of the site's arbiter (root/arbiter.c). */
#ifndef FM_VERDICT_H
#define FM_VERDICT_H

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

/** fm_verdict_take() - as in fm_arbiter(). Return: false if that question was not asked last */
bool fm_verdict_take(struct fm *fm, uint64_t epoch, enum fm_verdict verdict, uint64_t high,
		     const char *why);
/** fm_verdict_forget() - this node is led by another: what its arbiter said does not matter any more */
void fm_verdict_forget(struct fm *fm);

#endif /* FM_VERDICT_H */
