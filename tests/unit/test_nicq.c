// SPDX-License-Identifier: GPL-2.0-only
/* The queue of a NIC: the order of jobs and of their ends, and its own end. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/loop.h"
#include "daemon/nicq.h"

#define JOBS 1000

static struct loop *loop;
static struct nicq *q;
static pthread_t own;
static bool no_thread;

/** struct job - @gate: it is done when something can be read there; -1: at once */
struct job {
	struct nicq_job job;
	unsigned int number;
	int gate;
};

static struct job jobs[JOBS];
static unsigned int run, ended, canceled;

int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
	return no_thread ? EAGAIN : __real_pthread_create(t, a, fn, arg);
}

/* Runs in the thread, so it must not use assertions. */
static int on_run(struct nicq_job *j)
{
	struct job *job = (struct job *)j;
	sigset_t set;
	char c;

	if (job->gate >= 0 && read(job->gate, &c, 1) != 1)
		return -EIO;
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	if (pthread_equal(own, pthread_self()) || !sigismember(&set, SIGTERM))
		return -EPERM;
	return run++ == job->number ? -(int)(1 + job->number % 100) : -ESRCH;
}

static void on_end(struct nicq_job *j)
{
	struct job *job = (struct job *)j;

	assert_true(pthread_equal(own, pthread_self()));
	if (job->job.err == -ECANCELED) {
		canceled++;
		return;
	}
	assert_int_equal(job->number, ended);
	assert_int_equal(job->job.err, no_thread ? -EAGAIN : -(int)(1 + job->number % 100));
	if (++ended == JOBS)
		loop_stop(loop);
}

static void add(unsigned int n, int gate)
{
	for (unsigned int i = 0; i < n; i++) {
		jobs[i] = (struct job) { .job = { .run = on_run, .done = on_end }, .number = i,
					 .gate = i ? -1 : gate };
		nicq_add(q, &jobs[i].job);
	}
}

static int begin(void **state)
{
	(void)state;
	own = pthread_self();
	run = ended = canceled = 0;
	no_thread = false;
	loop = loop_new();
	assert_non_null(loop);
	q = nicq_new(loop);
	assert_non_null(q);
	return 0;
}

static int end(void **state)
{
	(void)state;
	nicq_free(q);
	loop_free(loop);
	return 0;
}

/* Jobs are done, and told, in their order; in a thread that leaves signals to the loop. */
static void test_order(void **state)
{
	(void)state;
	add(JOBS, -1);
	assert_int_equal(nicq_waiting(q), JOBS);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(ended, JOBS);
	assert_int_equal(nicq_waiting(q), 0);
}

/* The queue ends while a job is being done, which is waited for: whoever added one can free it. */
static void test_end(void **state)
{
	int gate[2];

	(void)state;
	assert_int_equal(pipe(gate), 0);
	add(3, gate[0]);
	assert_int_equal(write(gate[1], "", 1), 1);
	nicq_free(q);
	q = NULL;
	assert_int_equal(canceled, 3);
	assert_int_equal(ended, 0);
	close(gate[0]);
	close(gate[1]);
}

/* Without a thread no job is done, and who added it is told, though not at once. */
static void test_no_thread(void **state)
{
	(void)state;
	no_thread = true;
	add(JOBS, -1);
	assert_int_equal(ended, 0);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(ended, JOBS);
	assert_int_equal(run, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, begin, end),
		cmocka_unit_test_setup_teardown(test_end, begin, end),
		cmocka_unit_test_setup_teardown(test_no_thread, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
