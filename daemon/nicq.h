/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of the NIC, done one after the other in a thread of their own. */
#ifndef NICQ_H
#define NICQ_H

#include <stdbool.h>

#define NICQ_MORE	1	/* returned by a job of nicq_add_later(): call it again later */

struct loop;
struct nicq;

/**
 * struct nicq_job - calls that belong together
 * @run: does them, in the thread. It must not touch what the loop uses, nor log.
 *	Return: 0, negative errno, or NICQ_MORE
 * @done: called in the loop, once, with @err set; frees the job
 * @err: what @run returned; -ECANCELED: the queue ended before the loop could be told
 * @later: set by nicq_add_later()
 */
struct nicq_job {
	struct nicq_job *next;
	int (*run)(struct nicq_job *job);
	void (*done)(struct nicq_job *job);
	int err;
	bool later;
};

/** nicq_new() - Return: NULL and errno. The thread begins with the first job. */
struct nicq *nicq_new(struct loop *loop);
/** nicq_free() - waits for a job that is being done; the others are not done */
void nicq_free(struct nicq *q);
/** nicq_add() - takes @job */
void nicq_add(struct nicq *q, struct nicq_job *job);
/**
 * nicq_add_later() - takes @job, which is done when no job of nicq_add() waits, or when two have
 * gone before
 * If it returns NICQ_MORE it is called again, under the same rule, before other jobs that were
 * added in this way.
 */
void nicq_add_later(struct nicq *q, struct nicq_job *job);
/** nicq_waiting() - Return: how many jobs of nicq_add() the loop has not been told the end of */
unsigned int nicq_waiting(const struct nicq *q);

#endif /* NICQ_H */
