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
 * arbiter_new() - create an arbiter that asks @program
 * @max: time that the program has for an answer, ns
 * @answered: called in the loop with each answer, unless another question was asked before the
 *	answer came
 * Return: NULL if out of memory.
 */
struct arbiter *arbiter_new(struct loop *loop, const char *program, const char *fabric,
			    uint64_t max,
			    void (*answered)(void *arg, const struct arbiter_answer *answer),
			    void *arg);
/**
 * arbiter_ask() - ask whether the node of @guid may lead in @epoch; an earlier question is dropped
 */
void arbiter_ask(struct arbiter *a, uint64_t epoch, uint64_t guid);
/** arbiter_free() - kill the program if it runs, and free. @a may be NULL */
void arbiter_free(struct arbiter *a);

#endif /* ARBITER_H */
