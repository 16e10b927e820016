// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that wait for a state of the manager. After each event of the manager, the callback
 * @ready of each waiting request is called. A request that is not ready in time is answered as
 * late.
 */
#include "daemon/answer.h"

static void unlink_request(struct request *rq)
{
	struct request **at = &rq->d->waiting;

	while (*at && *at != rq)
		at = &(*at)->next;
	if (*at)
		*at = rq->next;
	rq->next = NULL;
}

void answer_forget(struct request *rq)
{
	unlink_request(rq);
}

static void arm_wait_timer(struct fabricd *d)
{
	uint64_t at = LOOP_NEVER;

	for (const struct request *rq = d->waiting; rq; rq = rq->next)
		if (rq->until < at)
			at = rq->until;
	loop_timer_set(d->wait_timer, at);
}

/*
 * Return: the first request that can be answered now; NULL if there is none. Answering a request
 * may change the list, so the caller searches from the start each time.
 */
static struct request *next_one(struct fabricd *d, bool *late)
{
	uint64_t now = loop_now();

	for (struct request *rq = d->waiting; rq; rq = rq->next) {
		*late = !rq->ready(rq);
		if (!*late || now >= rq->until)
			return rq;
	}
	return NULL;
}

void answer_look(struct fabricd *d)
{
	struct request *rq;
	bool late;

	if (!d->waiting)
		return;
	while ((rq = next_one(d, &late))) {
		unlink_request(rq);
		rq->end(rq, late);
	}
	arm_wait_timer(d);
}

static void on_wait_timer(void *arg)
{
	answer_look(arg);
}

int answer_wait_start(struct fabricd *d)
{
	d->wait_timer = loop_timer_new(d->loop, on_wait_timer, d);
	return d->wait_timer ? 0 : -1;
}

void answer_wait(struct request *rq, bool (*ready)(struct request *rq),
		 void (*end)(struct request *rq, bool late), uint64_t ns)
{
	if (ready(rq)) {
		end(rq, false);
		return;
	}
	rq->ready = ready;
	rq->end = end;
	rq->until = loop_now() + ns;
	rq->next = rq->d->waiting;
	rq->d->waiting = rq;
	arm_wait_timer(rq->d);
}
