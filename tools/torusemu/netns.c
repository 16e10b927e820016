// SPDX-License-Identifier: GPL-2.0-only
#include "netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

int netns_visit(int netns, int (*fn)(void *arg), void *arg)
{
	int home, err;

	if (netns < 0)
		return fn(arg);
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home < 0)
		return -errno;
	if (setns(netns, CLONE_NEWNET)) {
		err = -errno;
		close(home);
		return err;
	}
	err = fn(arg);
	/*
	 * If the process cannot return to its namespace, it cannot use its cables and other NICs
	 * any more.
	 */
	if (setns(home, CLONE_NEWNET))
		abort();
	close(home);
	return err;
}
