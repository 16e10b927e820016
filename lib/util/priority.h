/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* The priority of a process that others wait for. */
#ifndef UTIL_PRIORITY_H
#define UTIL_PRIORITY_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/**
 * priority_raise() - have the scheduler prefer this process, if it may
 * @nice: as in nice(2)
 *
 * With autogroups, sched(7), a nice value counts only among the processes of one session, and each
 * session competes with all others by a nice value of its own. So the leader of a session, as any
 * daemon is, sets that, too. The session of a terminal is its user's, and stays as it is.
 */
static inline void priority_raise(int nice)
{
	int fd;

	if (getpriority(PRIO_PROCESS, 0) > nice)
		setpriority(PRIO_PROCESS, 0, nice);
	if (getsid(0) != getpid())
		return;
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	dprintf(fd, "%d", nice);
	close(fd);
}

#endif /* UTIL_PRIORITY_H */
