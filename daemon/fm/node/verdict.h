/* SPDX-License-Identifier: GPL-2.0-only */
/* The last answer of the site's arbiter (root/arbiter.c). */
#ifndef FM_VERDICT_H
#define FM_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/fm.h"

/**
 * struct fm_answer - an answer of the arbiter
 * @verdict: enum fm_verdict
 * @epoch: epoch of the question; @at: when the answer came; 0: there is none yet
 * @high: after a refusal, the epoch that the arbiter has granted before; 0: it has named none
 * @why: the reason, as text for people, if the epoch was not granted
 */
struct fm_answer {
	uint8_t verdict;
	uint64_t epoch, at, high;
	char why[FM_TEXT_MAX / 2];
};

/**
 * fm_verdict_new() - allocate the state of verdict.c; called by fm_new(). Return: false if there is
 * no memory
 */
bool fm_verdict_new(struct fm *fm);
void fm_verdict_free(struct fm *fm);
/** fm_verdict() - Return: the last answer */
const struct fm_answer *fm_verdict(const struct fm *fm);
/** fm_verdict_ask() - ask the arbiter whether this node may lead in epoch fm->term */
void fm_verdict_ask(struct fm *fm);
/** fm_verdict_asked() - Return: epoch of the last question; @waits: it is not answered yet */
uint64_t fm_verdict_asked(const struct fm *fm, bool *waits);
/** fm_verdict_put_off() - delay the next question, each time for longer */
void fm_verdict_put_off(struct fm *fm);
/** fm_verdict_again() - Return: when the arbiter may be asked again; 0: at once */
uint64_t fm_verdict_again(const struct fm *fm);
/**
 * fm_verdict_take() - process the answer of fm_arbiter(). Return: false if it does not answer the
 * last question
 */
bool fm_verdict_take(struct fm *fm, uint64_t epoch, enum fm_verdict verdict, uint64_t high,
		     const char *why);
/**
 * fm_verdict_forget() - forget the delay of the next question, and end the problem of the arbiter
 * Called when another root leads this node.
 */
void fm_verdict_forget(struct fm *fm);

#endif /* FM_VERDICT_H */
