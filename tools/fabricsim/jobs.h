/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many independent simulations on all cores. The result of a job depends only on its number, not
 * on the thread or the time.
 */
#ifndef JOBS_H
#define JOBS_H

#include <stddef.h>

/**
 * jobs_run() - call @job(arg, 0..n-1), each once, in any order, in @threads threads
 * @threads: number of threads; 0: one for each core
 * @what: word for the progress line, such as "simulating"
 * @job: returns 0, or not 0 to begin no further job
 * Return: 0, or the result of the failed job with the lowest number.
 */
int jobs_run(size_t n, unsigned int threads, const char *what,
	     int (*job)(void *arg, size_t i), void *arg);

/**
 * jobs_seed() - Return: a seed for job @i, independent of the seeds of other jobs and of other
 * values of @seed
 */
unsigned long long jobs_seed(unsigned long long seed, size_t i);

#endif /* JOBS_H */
