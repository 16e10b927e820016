/* SPDX-License-Identifier: GPL-2.0-only */
/* The last answer of the site's arbiter (root/arbiter.c). */
#ifndef FM_VERDICT_H
#define FM_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/fm.h"

/**
 * struct fm_answer - the last one
 * @verdict: enum fm_verdict
 * @epoch: which it answers; @at: when; 0: never
 * @high: the epoch that the arbiter said it has granted
 * @why: if it was no grant, as text for people
 */
struct fm_answer {
	uint8_t verdict;
	uint64_t epoch, at, high;
	char why[FM_TEXT_MAX / 2];
};

/* A machine begins. Return: false: no memory. */
bool fm_verdict_new(struct fm *fm);
void fm_verdict_free(struct fm *fm);
const struct fm_answer *fm_verdict(const struct fm *fm);
/** fm_verdict_ask() - asks whether this node may lead in its epoch */
void fm_verdict_ask(struct fm *fm);
/**
 * fm_verdict_asked() - Return: the epoch of the last question, and in @waits: it is not answered
 */
uint64_t fm_verdict_asked(const struct fm *fm, bool *waits);
/** fm_verdict_put_off() - the next question is to wait, longer each time */
void fm_verdict_put_off(struct fm *fm);
/** fm_verdict_again() - Return: when it may be asked, if it is not to be asked at once; or 0 */
uint64_t fm_verdict_again(const struct fm *fm);
/** fm_verdict_take() - as in fm_arbiter(). Return: false if that question was not asked last */
bool fm_verdict_take(struct fm *fm, uint64_t epoch, enum fm_verdict verdict, uint64_t high,
		     const char *why);
/**
 * fm_verdict_forget() - this node is led by another: what its arbiter said does not matter any more
 */
void fm_verdict_forget(struct fm *fm);

#endif /* FM_VERDICT_H */
