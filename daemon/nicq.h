/* SPDX-License-Identifier: GPL-2.0-only */
/* The queue of calls of the NIC, which a thread does one after the other. */
#ifndef NICQ_H
#define NICQ_H

#include <stdbool.h>
#include <stdint.h>

#define NICQ_MORE	1	/* result of a job of nicq_add_later(): the job needs another
				 * call of @run */

struct histogram;
struct loop;
struct nicq;

/**
 * struct nicq_job - calls that belong together
 * @run: does the calls, in the thread. It must not touch what the loop uses, nor log.
 *	Return: 0, negative errno, or NICQ_MORE
 * @done: called in the loop, once, with @err set; frees the job
 * @err: result of @run; -ECANCELED: the queue was freed before the job began
 * @later: set by nicq_add_later()
 * @ns: set by the queue: how long the last call of @run took
 */
struct nicq_job {
	struct nicq_job *next;
	int (*run)(struct nicq_job *job);
	void (*done)(struct nicq_job *job);
	int err;
	bool later;
	uint64_t ns;
};

/** nicq_new() - create a queue; the first job starts its thread. Return: NULL and errno */
struct nicq *nicq_new(struct loop *loop);
/** nicq_free() - wait for the job that is being done; cancel the others */
void nicq_free(struct nicq *q);
/** nicq_add() - add a job, which the queue owns from then on */
void nicq_add(struct nicq *q, struct nicq_job *job);
/**
 * nicq_add_later() - add a job that is done when no job of nicq_add() waits, or after two such jobs
 * If its @run returns NICQ_MORE, @run is called again by the same rule, before other jobs that were
 * added by this function.
 */
void nicq_add_later(struct nicq *q, struct nicq_job *job);
/** nicq_waiting() - Return: number of jobs of nicq_add() whose @done was not called yet */
unsigned int nicq_waiting(const struct nicq *q);
/** nicq_times() - Return: how long the last calls of ended jobs took */
const struct histogram *nicq_times(const struct nicq *q);

#endif /* NICQ_H */
