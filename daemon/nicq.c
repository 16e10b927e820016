// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the queue of a NIC
 *
 * A call of the NIC may take long: the NIC is slow or hangs, or the kernel makes the caller wait
 * for a lock, because it handles a netlink request within sendmsg(), even on a non-blocking
 * socket. So a thread does the calls, and the loop goes on with connections and timers.
 *
 * Calls are done in the order in which they were added: there is one thread, and it has one
 * connection to the NIC (nic.c), which handles the requests of a connection in order. Their @done
 * functions are called in the same order. The manager adds an action only after @done of the one
 * before (fm/node/nic_actions.c), except for actions whose result is not used: the thread does
 * these before all actions added later.
 *
 * Questions of users are jobs of a second list. The thread does a job of the second list when the
 * first list is empty, or after AHEAD jobs of the first list. So a recovery waits for a part of a
 * question now and then, but questions are done even if management packets alone keep the NIC busy.
 * Questions are done in their order. Questions and actions need no order among each other: a
 * question may be asked at any time.
 *
 * A call whose request gets no answer ends after a second, but the NIC may handle the request
 * later. It does so before all requests that follow on the same connection; so when one of these
 * has been answered, no earlier request is outstanding. The client skips late answers by their
 * sequence numbers. Therefore the connection to a NIC that does not answer is kept, even when the
 * manager has given the NIC up and looks for it again: requests that are outstanding are handled
 * before the state is read. Another connection is opened only after the NIC has closed the present
 * one.
 *
 * From nicq_add() until @done, the memory of a job belongs to the thread. The lock protects only
 * the lists. The thread gets no signals, which the loop handles.
 *
 * Tests: tests/unit/test_nicq.c for the order and the end, test_nic_call.c for late answers.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "daemon/histogram.h"
#include "daemon/loop.h"
#include "daemon/nicq.h"
#include "daemon/thread.h"

#define AHEAD 2		/* after this many jobs of the first list, the thread does a job of the
			 * second list */

/** struct list - jobs in the order in which they were added */
struct list {
	struct nicq_job *first, **end;
};

/**
 * struct nicq
 * @todo, @later, @ended, @stop: protected by @lock
 * @ahead: jobs of @todo that were begun while one of @later waited; only the thread uses it
 * @wake: signalled when a job was added, or @stop was set
 * @wakeup: eventfd that wakes the loop when jobs have ended
 * @waiting: jobs of @todo that have not ended; only the loop uses it
 * @times: of jobs that have ended; only the loop uses it
 */
struct nicq {
	pthread_t thread;
	bool running;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct list todo, later, ended;
	bool stop;
	unsigned int ahead;
	int wakeup;
	struct loop_fd *watch;
	unsigned int waiting;
	struct histogram times;
};

static void list_init(struct list *l)
{
	l->first = NULL;
	l->end = &l->first;
}

static void list_add(struct list *l, struct nicq_job *job)
{
	job->next = NULL;
	*l->end = job;
	l->end = &job->next;
}

static void list_put_back(struct list *l, struct nicq_job *job)
{
	job->next = l->first;
	if (!l->first)
		l->end = &job->next;
	l->first = job;
}

static struct nicq_job *list_take(struct list *l)
{
	struct nicq_job *job = l->first;

	if (!job)
		return NULL;
	l->first = job->next;
	if (!l->first)
		l->end = &l->first;
	return job;
}

/* --- the thread ------------------------------------------------------------------ */

static struct nicq_job *take_job(struct nicq *q)
{
	if (q->later.first && (!q->todo.first || q->ahead >= AHEAD)) {
		q->ahead = 0;
		return list_take(&q->later);
	}
	q->ahead += q->later.first != NULL;
	return list_take(&q->todo);
}

/* Waits for a job. Return: the next job; NULL if the thread has to end. */
static struct nicq_job *next_job(struct nicq *q)
{
	struct nicq_job *job;

	pthread_mutex_lock(&q->lock);
	while (!q->todo.first && !q->later.first && !q->stop)
		pthread_cond_wait(&q->wake, &q->lock);
	job = q->stop ? NULL : take_job(q);
	pthread_mutex_unlock(&q->lock);
	return job;
}

static void *run_jobs(void *arg)
{
	struct nicq *q = arg;
	struct nicq_job *job;
	uint64_t began;
	bool more;

	while ((job = next_job(q))) {
		began = loop_now();
		job->err = job->run(job);
		job->ns = loop_now() - began;
		more = job->err == NICQ_MORE;
		pthread_mutex_lock(&q->lock);
		if (more)
			list_put_back(&q->later, job);
		else
			list_add(&q->ended, job);
		pthread_mutex_unlock(&q->lock);
		if (!more)
			eventfd_write(q->wakeup, 1);
	}
	return NULL;
}

static int begin_thread(struct nicq *q)
{
	int err = thread_start(&q->thread, run_jobs, q);

	q->running = !err;
	return err;
}

/* --- the loop ---------------------------------------------------------------------- */

static struct nicq_job *ended_job(struct nicq *q)
{
	struct nicq_job *job;

	pthread_mutex_lock(&q->lock);
	job = list_take(&q->ended);
	pthread_mutex_unlock(&q->lock);
	return job;
}

static void on_wakeup(void *arg, unsigned int what)
{
	struct nicq *q = arg;
	struct nicq_job *job;
	eventfd_t n;

	(void)what;
	eventfd_read(q->wakeup, &n);
	while ((job = ended_job(q))) {
		if (!job->later)
			q->waiting--;
		if (job->ns)
			histogram_add(&q->times, job->ns);
		job->done(job);
	}
}

static void add_job(struct nicq *q, struct nicq_job *job, struct list *to)
{
	int err = q->running ? 0 : begin_thread(q);

	pthread_mutex_lock(&q->lock);
	job->err = err;
	job->ns = 0;
	list_add(err ? &q->ended : to, job);
	pthread_cond_signal(&q->wake);
	pthread_mutex_unlock(&q->lock);
	if (err)
		eventfd_write(q->wakeup, 1);
}

void nicq_add(struct nicq *q, struct nicq_job *job)
{
	q->waiting++;
	job->later = false;
	add_job(q, job, &q->todo);
}

void nicq_add_later(struct nicq *q, struct nicq_job *job)
{
	job->later = true;
	add_job(q, job, &q->later);
}

unsigned int nicq_waiting(const struct nicq *q)
{
	return q->waiting;
}

const struct histogram *nicq_times(const struct nicq *q)
{
	return &q->times;
}

struct nicq *nicq_new(struct loop *loop)
{
	struct nicq *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	q->watch = q->wakeup < 0 ? NULL : loop_fd_new(loop, q->wakeup, LOOP_READ, on_wakeup, q);
	if (!q->watch) {
		if (q->wakeup >= 0)
			close(q->wakeup);
		free(q);
		return NULL;
	}
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->wake, NULL);
	list_init(&q->todo);
	list_init(&q->later);
	list_init(&q->ended);
	return q;
}

static void cancel_jobs(struct list *l)
{
	struct nicq_job *job;

	while ((job = list_take(l))) {
		job->err = -ECANCELED;
		job->done(job);
	}
}

void nicq_free(struct nicq *q)
{
	if (!q)
		return;
	pthread_mutex_lock(&q->lock);
	q->stop = true;
	pthread_cond_signal(&q->wake);
	pthread_mutex_unlock(&q->lock);
	if (q->running)
		pthread_join(q->thread, NULL);
	cancel_jobs(&q->ended);
	cancel_jobs(&q->todo);
	cancel_jobs(&q->later);
	loop_fd_free(q->watch);
	close(q->wakeup);
	pthread_cond_destroy(&q->wake);
	pthread_mutex_destroy(&q->lock);
	free(q);
}
