// SPDX-License-Identifier: GPL-2.0-only
/* All uses of libevent are in this file. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include "daemon/histogram.h"
#include "daemon/loop.h"
#include "lib/util/clock.h"

struct loop {
	struct event_base *base;
	struct histogram late;
};

struct loop_fd {
	struct loop *loop;
	struct event ev;
	int fd;
	unsigned int what;
	void (*fn)(void *arg, unsigned int what);
	void *arg;
};

/** struct loop_timer - @due: when it should fire, not before it was set */
struct loop_timer {
	struct event ev;
	struct loop *loop;
	uint64_t at, due;
	void (*fn)(void *arg);
	void *arg;
};

struct loop_signal {
	struct event ev;
	void (*fn)(void *arg);
	void *arg;
};

/* Asks libevent for a precise timer, because its coarse clock would round timers to 4 ms. */
struct loop *loop_new(void)
{
	struct event_config *cfg = event_config_new();
	struct loop *loop = calloc(1, sizeof(*loop));

	if (cfg && loop) {
		event_config_set_flag(cfg, EVENT_BASE_FLAG_PRECISE_TIMER);
		event_config_set_flag(cfg, EVENT_BASE_FLAG_NOLOCK);
		loop->base = event_base_new_with_config(cfg);
	}
	if (cfg)
		event_config_free(cfg);
	if (loop && !loop->base) {
		free(loop);
		loop = NULL;
	}
	return loop;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	event_base_free(loop->base);
	libevent_global_shutdown();
	free(loop);
}

int loop_run(struct loop *loop)
{
	return event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY) < 0 ? -EIO : 0;
}

void loop_stop(struct loop *loop)
{
	event_base_loopbreak(loop->base);
}

const struct histogram *loop_late(const struct loop *loop)
{
	return &loop->late;
}

uint64_t loop_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

double loop_wall(void)
{
	return seconds_of(CLOCK_REALTIME);
}

static void on_fd(evutil_socket_t fd, short what, void *arg)
{
	struct loop_fd *w = arg;
	unsigned int ready = 0;

	(void)fd;
	if (what & EV_READ)
		ready |= LOOP_READ;
	if (what & EV_WRITE)
		ready |= LOOP_WRITE;
	w->fn(w->arg, ready);
}

struct loop_fd *loop_fd_new(struct loop *loop, int fd, unsigned int what,
			    void (*fn)(void *arg, unsigned int what), void *arg)
{
	struct loop_fd *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->loop = loop;
	w->fd = fd;
	w->fn = fn;
	w->arg = arg;
	event_assign(&w->ev, loop->base, fd, 0, on_fd, w);
	loop_fd_set(w, what);
	return w;
}

void loop_fd_set(struct loop_fd *w, unsigned int what)
{
	short mask = EV_PERSIST;

	if (w->what == what)
		return;
	w->what = what;
	event_del(&w->ev);
	if (!what)
		return;
	if (what & LOOP_READ)
		mask |= EV_READ;
	if (what & LOOP_WRITE)
		mask |= EV_WRITE;
	event_assign(&w->ev, w->loop->base, w->fd, mask, on_fd, w);
	event_add(&w->ev, NULL);
}

void loop_fd_free(struct loop_fd *w)
{
	if (!w)
		return;
	event_del(&w->ev);
	free(w);
}

static void fire_timer(evutil_socket_t fd, short what, void *arg)
{
	struct loop_timer *t = arg;
	uint64_t now;

	(void)fd;
	(void)what;
	t->at = LOOP_NEVER;
	now = loop_now();
	histogram_add(&t->loop->late, now > t->due ? now - t->due : 0);
	t->fn(t->arg);
}

struct loop_timer *loop_timer_new(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct loop_timer *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->loop = loop;
	t->at = LOOP_NEVER;
	t->fn = fn;
	t->arg = arg;
	event_assign(&t->ev, loop->base, -1, 0, fire_timer, t);
	return t;
}

void loop_timer_set(struct loop_timer *t, uint64_t at)
{
	uint64_t now, left;
	struct timeval tv;

	if (t->at == at)
		return;
	t->at = at;
	if (at == LOOP_NEVER) {
		event_del(&t->ev);
		return;
	}
	now = loop_now();
	t->due = at > now ? at : now;
	/* Round up: a timer that fires early would only be set again. */
	left = at > now ? (at - now + US - 1) / US : 0;
	tv.tv_sec = (time_t)(left / (SEC / US));
	tv.tv_usec = (suseconds_t)(left % (SEC / US));
	event_add(&t->ev, &tv);
}

void loop_timer_free(struct loop_timer *t)
{
	if (!t)
		return;
	event_del(&t->ev);
	free(t);
}

static void on_loop_signal(evutil_socket_t fd, short what, void *arg)
{
	struct loop_signal *s = arg;

	(void)fd;
	(void)what;
	s->fn(s->arg);
}

struct loop_signal *loop_signal_new(struct loop *loop, int signo, void (*fn)(void *arg),
				    void *arg)
{
	struct loop_signal *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fn = fn;
	s->arg = arg;
	event_assign(&s->ev, loop->base, signo, EV_SIGNAL | EV_PERSIST, on_loop_signal, s);
	event_add(&s->ev, NULL);
	return s;
}

void loop_signal_free(struct loop_signal *s)
{
	if (!s)
		return;
	event_del(&s->ev);
	free(s);
}
