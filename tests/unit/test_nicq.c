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
#include <string.h>
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
static unsigned int run, ended, canceled, answered;

int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
	return no_thread ? EAGAIN : __real_pthread_create(t, a, fn, arg);
}

/* The order in which parts of questions and actions were done. */
static char order[16];
static unsigned int parts;

static void note_part(char c)
{
	if (parts < sizeof(order) - 1)
		order[parts] = c;
	__atomic_fetch_add(&parts, 1, __ATOMIC_RELEASE);
}

/* Runs in the thread, so it must not use assertions. */
static int on_run(struct nicq_job *j)
{
	struct job *job = (struct job *)j;
	sigset_t set;
	char c;

	note_part('a');
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
	run = ended = canceled = answered = parts = 0;
	memset(order, 0, sizeof(order));
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

/*
 * Jobs are done, and their ends are reported, in their order; in a thread that leaves signals to
 * the loop.
 */
static void jobs_end_in_their_order(void **state)
{
	(void)state;
	add(JOBS, -1);
	assert_int_equal(nicq_waiting(q), JOBS);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(ended, JOBS);
	assert_int_equal(nicq_waiting(q), 0);
}

/* The queue is freed while a job is being done, and waits for it, so that its owner can free it. */
static void freed_queue_waits_for_running_job(void **state)
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

/* A job of the second list, in four parts */
static int on_question(struct nicq_job *j)
{
	struct job *job = (struct job *)j;
	char c;

	note_part('q');
	if (job->gate >= 0 && read(job->gate, &c, 1) != 1)
		return -EIO;
	return ++job->number < 4 ? NICQ_MORE : 0;
}

static void on_answer(struct nicq_job *j)
{
	canceled += j->err == -ECANCELED;
	answered += !j->err;
	loop_stop(loop);
}

static void add_question(struct job *job, int gate)
{
	*job = (struct job) { .job = { .run = on_question, .done = on_answer }, .gate = gate };
	nicq_add_later(q, &job->job);
}

/*
 * Jobs of the first list are done before those of the second; but after two of the first list, a
 * part of a job of the second list is done.
 */
static void jobs_of_first_list_go_first(void **state)
{
	struct job question[2];
	int gate[2];

	(void)state;
	assert_int_equal(pipe(gate), 0);
	add_question(&question[0], gate[0]);
	add_question(&question[1], -1);
	assert_int_equal(nicq_waiting(q), 0);
	while (!__atomic_load_n(&parts, __ATOMIC_ACQUIRE))
		usleep(1000);
	add(5, -1);
	assert_int_equal(nicq_waiting(q), 5);
	assert_int_equal(write(gate[1], "1234", 4), 4);
	while (answered < 2)
		loop_run(loop);
	assert_string_equal(order, "qaaqaaqaqqqqq");
	assert_int_equal(nicq_waiting(q), 0);
	/* The queue ends: no end of theirs is told. */
	add_question(&question[0], gate[0]);
	add_question(&question[1], -1);
	assert_int_equal(write(gate[1], "1234", 4), 4);
	nicq_free(q);
	q = NULL;
	assert_int_equal(canceled, 2);
	close(gate[0]);
	close(gate[1]);
}

/* Without a thread no job is done, and its owner is informed, though not at once. */
static void job_without_thread_is_not_done_and_reported(void **state)
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
		cmocka_unit_test_setup_teardown(jobs_end_in_their_order, begin, end),
		cmocka_unit_test_setup_teardown(freed_queue_waits_for_running_job, begin, end),
		cmocka_unit_test_setup_teardown(jobs_of_first_list_go_first, begin, end),
		cmocka_unit_test_setup_teardown(job_without_thread_is_not_done_and_reported,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
