/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The site's arbiter: a program that is asked whether a node may lead; torus-arbiter(7) describes
 * it.
 */
#ifndef ARBITER_H
#define ARBITER_H

#include <stdint.h>
#include "daemon/fm/fm.h"
#include "daemon/loop.h"

#define ARBITER_TEXT_MAX	(FM_TEXT_MAX / 2)	/* bytes of a reason, with NUL */

/** struct arbiter_answer - as in fm_arbiter() */
struct arbiter_answer {
	uint64_t epoch;
	enum fm_verdict verdict;
	uint64_t high;
	char why[ARBITER_TEXT_MAX];
};

struct arbiter;

/**
 * arbiter_new() - the arbiter that @program is
 * @max: ns that it has for an answer
 * @answered: called in the loop, once for each question, unless another one follows before
 * Return: NULL if out of memory.
 */
struct arbiter *arbiter_new(struct loop *loop, const char *program, const char *fabric,
			    uint64_t max,
			    void (*answered)(void *arg, const struct arbiter_answer *answer),
			    void *arg);
/**
 * arbiter_ask() - may the node of @guid lead in @epoch? A former question needs no answer any more
 */
void arbiter_ask(struct arbiter *a, uint64_t epoch, uint64_t guid);
/** arbiter_free() - ends the program if it runs. @a may be NULL */
void arbiter_free(struct arbiter *a);

#endif /* ARBITER_H */
