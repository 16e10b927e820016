/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Raises the priority of a process for which other programs wait. */
#ifndef UTIL_PRIORITY_H
#define UTIL_PRIORITY_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/**
 * priority_raise() - raise the priority of this process, if the process has the privilege
 * @nice: as in nice(2)
 *
 * With autogroups, sched(7), a nice value counts only among the processes of one session, and each
 * session competes with all others by a nice value of its own. So if this process leads a session,
 * as daemons do, the function also sets the session's nice value. It does not change the session of
 * a terminal, which belongs to the user.
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
