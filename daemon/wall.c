// SPDX-License-Identifier: GPL-2.0-only
/*
 * A timer that never expires, and that the kernel cancels when the clock is set
 * (timerfd_create(2)), so the clock need not be read at intervals.
 */
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "daemon/loop.h"
#include "daemon/wall.h"

#define FAR	(1LL << 33)	/* seconds since 1970: in the year 2242 */

struct wall {
	int fd;
	struct loop_fd *watch;
	void (*set)(void *arg);
	void *arg;
};

static int arm_wall(const struct wall *w)
{
	const struct itimerspec at = { .it_value.tv_sec = FAR };

	return timerfd_settime(w->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &at, NULL);
}

static void on_wall_set(void *arg, unsigned int what)
{
	struct wall *w = arg;
	uint64_t n;

	(void)what;
	if (read(w->fd, &n, sizeof(n)) < 0 && !arm_wall(w))
		w->set(w->arg);
}

struct wall *wall_new(struct loop *loop, void (*set)(void *arg), void *arg)
{
	struct wall *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct wall) {
		.fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC),
		.set = set, .arg = arg,
	};
	if (w->fd >= 0 && !arm_wall(w))
		w->watch = loop_fd_new(loop, w->fd, LOOP_READ, on_wall_set, w);
	if (w->watch)
		return w;
	wall_free(w);
	return NULL;
}

void wall_free(struct wall *w)
{
	if (!w)
		return;
	loop_fd_free(w->watch);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}
