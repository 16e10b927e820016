// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "jobs.h"
#include "kernel/core/splitmix64.h"
#include "tools/fabricctl/output.h"

#define THREADS_MAX 256

struct jobs {
	size_t n;
	const char *what;
	int (*job)(void *arg, size_t i);
	void *arg;
	atomic_size_t next;
	pthread_mutex_t lock;		/* protects the following members and the progress line */
	size_t done;
	size_t failed;			/* lowest number of a job that failed; n if no job failed */
	int error;
};

static void report_job(struct jobs *j, size_t i, int error)
{
	pthread_mutex_lock(&j->lock);
	j->done++;
	if (error && i < j->failed) {
		j->failed = i;
		j->error = error;
	}
	progress("%s: %zu of %zu", j->what, j->done, j->n);
	pthread_mutex_unlock(&j->lock);
	if (error)
		atomic_store(&j->next, j->n);
}

static void *work_on(void *arg)
{
	struct jobs *j = arg;
	size_t i;

	while ((i = atomic_fetch_add(&j->next, 1)) < j->n)
		report_job(j, i, j->job(j->arg, i));
	return NULL;
}

static unsigned int count_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned int)CPU_COUNT(&set);
}

int jobs_run(size_t n, unsigned int threads, const char *what,
	     int (*job)(void *arg, size_t i), void *arg)
{
	struct jobs j = {
		.n = n, .what = what, .job = job, .arg = arg, .failed = n,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	pthread_t thread[THREADS_MAX];
	unsigned int started = 0;

	if (!threads)
		threads = count_cores();
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	if (threads > n)
		threads = (unsigned int)n;
	progress("%s: 0 of %zu", what, n);
	/* This thread works, too, so if a thread cannot be made, the run only takes longer. */
	while (started + 1 < threads &&
	       !pthread_create(&thread[started], NULL, work_on, &j))
		started++;
	work_on(&j);
	while (started)
		pthread_join(thread[--started], NULL);
	progress("%s", "");
	return j.error;
}

unsigned long long jobs_seed(unsigned long long seed, size_t i)
{
	return splitmix64_mix(seed + SPLITMIX64_STEP * (i + 1));
}
