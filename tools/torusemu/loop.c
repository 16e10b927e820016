// SPDX-License-Identifier: GPL-2.0-only
#include "loop.h"

#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "kernel/host/clock.h"
#include "lib/util/clock.h"
#include "lib/util/times.h"

static struct torus_host_clock nics;	/* time of all NICs of the process; it stops for all of
					 * them together */

static u64 machine_now(void)
{
	return clock_ns(CLOCK_MONOTONIC) + 1;
}

/*
 * While a turn runs, a timer is due, so if the process is stopped within a turn, that time does not
 * count either.
 */
u64 loop_now(void)
{
	return torus_host_clock(&nics, machine_now(), 0);
}

u64 loop_busy(void)
{
	return torus_host_clock(&nics, machine_now(), ~0ull);
}

int loop_init(struct loop *loop)
{
	loop->npending = 0;
	loop->epfd = epoll_create1(EPOLL_CLOEXEC);
	return loop->epfd < 0 ? -errno : 0;
}

void loop_fini(struct loop *loop)
{
	close(loop->epfd);
	loop->epfd = -1;
}

int loop_add(struct loop *loop, struct watch *w, int fd, u32 events, watch_fn ready)
{
	struct epoll_event ev = { .events = events, .data.ptr = w };

	if (epoll_ctl(loop->epfd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return -errno;
	*w = (struct watch) { .fd = fd, .events = events, .ready = ready };
	return 0;
}

void loop_events(struct loop *loop, struct watch *w, u32 events)
{
	struct epoll_event ev = { .events = events, .data.ptr = w };

	if (w->events == events || w->fd < 0)
		return;
	w->events = events;
	epoll_ctl(loop->epfd, EPOLL_CTL_MOD, w->fd, &ev);
}

void loop_del(struct loop *loop, struct watch *w)
{
	if (w->fd < 0)
		return;
	/* close() does not end the watch if another process has the same open file */
	epoll_ctl(loop->epfd, EPOLL_CTL_DEL, w->fd, NULL);
	close(w->fd);
	w->fd = -1;
	for (int i = 0; i < loop->npending; i++)
		if (loop->pending[i] == w)
			loop->pending[i] = NULL;
}

static int wait_until(struct loop *loop, struct epoll_event *ev, u64 until)
{
	u64 now = machine_now() - nics.stood, ns = until > now ? until - now : 0;
	struct timespec ts = {
		.tv_sec = (time_t)(ns / SEC),
		.tv_nsec = (long)(ns % SEC),
	};
	static bool old_kernel;
	int n;

	if (!old_kernel) {
		n = epoll_pwait2(loop->epfd, ev, LOOP_BATCH, until == ~0ull ? NULL : &ts, NULL);
		if (n >= 0 || errno != ENOSYS)
			return n;
		old_kernel = true;
	}
	if (ns > 60 * SEC)
		ns = 60 * SEC;
	return epoll_wait(loop->epfd, ev, LOOP_BATCH, (int)((ns + MS - 1) / MS));
}

void loop_wait(struct loop *loop, u64 until)
{
	struct epoll_event ev[LOOP_BATCH];
	int n = wait_until(loop, ev, until);

	torus_host_clock_woke(&nics, machine_now(), until);
	loop->npending = n > 0 ? n : 0;
	for (int i = 0; i < loop->npending; i++)
		loop->pending[i] = ev[i].data.ptr;
	for (int i = 0; i < loop->npending; i++) {
		struct watch *w = loop->pending[i];

		if (w)
			w->ready(w, ev[i].events);
	}
	loop->npending = 0;
}
