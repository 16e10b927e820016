// SPDX-License-Identifier: GPL-2.0-only
/*
 * A port has at most one question about its carrier under way. If the port asks again before the
 * answer, the answer may be older than the change that made the port ask, so the question is
 * repeated after the answer.
 */
#include "carrier.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ether.h"
#include "port.h"

/**
 * struct carrier_question - a question for the carrier of a device
 * @port: the port that asks; NULL: the question was dropped. Only the loop uses @port and @again
 * @name: name of the device
 * @again: the port has asked again
 * @answer: the last answer
 */
struct carrier_question {
	struct carrier_question *next;
	struct port *port;
	char name[IFNAMSIZ];
	bool again;
	struct ether_state answer;
};

/* --- the thread ------------------------------------------------------------ */

static struct carrier_question *next_question(struct carriers *c)
{
	struct carrier_question *q;

	pthread_mutex_lock(&c->lock);
	while (!c->todo && !c->stop)
		pthread_cond_wait(&c->wake, &c->lock);
	q = c->stop ? NULL : c->todo;
	if (q)
		c->todo = q->next;
	pthread_mutex_unlock(&c->lock);
	return q;
}

static void *answer_questions(void *arg)
{
	struct carriers *c = arg;
	struct carrier_question *q;

	while ((q = next_question(c))) {
		ether_look(q->name, &q->answer);
		pthread_mutex_lock(&c->lock);
		q->next = c->answered;
		c->answered = q;
		pthread_mutex_unlock(&c->lock);
		eventfd_write(c->wakeup.fd, 1);
	}
	return NULL;
}

/* --- the loop ---------------------------------------------------------------- */

static void add_question(struct carriers *c, struct carrier_question *q)
{
	struct carrier_question **end = &c->todo;

	q->again = false;
	q->next = NULL;
	pthread_mutex_lock(&c->lock);
	while (*end)
		end = &(*end)->next;
	*end = q;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
}

static void take_carrier_answer(struct carriers *c, struct carrier_question *q)
{
	const struct ether_state answer = q->answer;
	struct port *port = q->port;

	if (port && q->again) {
		add_question(c, q);
	} else {
		free(q);
		if (port)
			port->question = NULL;
	}
	if (port)
		ether_set_state(port, &answer, loop_now());
}

static void on_carriers_answered(struct watch *w, u32 events)
{
	struct carriers *c = container_of(w, struct carriers, wakeup);
	struct carrier_question *q, *next;
	eventfd_t n;

	(void)events;
	eventfd_read(w->fd, &n);
	pthread_mutex_lock(&c->lock);
	q = c->answered;
	c->answered = NULL;
	pthread_mutex_unlock(&c->lock);
	for (; q; q = next) {
		next = q->next;
		take_carrier_answer(c, q);
	}
}

void carrier_ask(struct carriers *c, struct port *port)
{
	struct carrier_question *q = port->question;
	struct ether_state answer;

	if (q) {
		q->again = true;
		return;
	}
	q = c->running ? calloc(1, sizeof(*q)) : NULL;
	if (!q) {
		ether_look(port->soft->lower, &answer);
		ether_set_state(port, &answer, loop_now());
		return;
	}
	q->port = port;
	snprintf(q->name, sizeof(q->name), "%s", port->soft->lower);
	port->question = q;
	add_question(c, q);
}

void carrier_forget(struct port *port)
{
	if (port->question)
		port->question->port = NULL;
	port->question = NULL;
}

/* --- lifetime ---------------------------------------------------------------- */

void carriers_init(struct carriers *c)
{
	*c = (struct carriers) { .wakeup.fd = -1 };
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->wake, NULL);
}

/* Starts the thread with all signals blocked, because the loop handles signals. */
static int start_thread(struct carriers *c)
{
	sigset_t all, was;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(&c->thread, NULL, answer_questions, c);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return -err;
}

int carriers_start(struct carriers *c, struct loop *loop)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), err;

	if (fd < 0)
		return -errno;
	err = loop_add(loop, &c->wakeup, fd, EPOLLIN, on_carriers_answered);
	if (err) {
		close(fd);
		return err;
	}
	err = start_thread(c);
	if (err)
		loop_del(loop, &c->wakeup);
	c->running = !err;
	return err;
}

static void free_questions(struct carrier_question *q)
{
	struct carrier_question *next;

	for (; q; q = next) {
		next = q->next;
		free(q);
	}
}

void carriers_fini(struct carriers *c, struct loop *loop)
{
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	if (c->running)
		pthread_join(c->thread, NULL);
	c->running = false;
	loop_del(loop, &c->wakeup);
	free_questions(c->todo);
	free_questions(c->answered);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
}
