// SPDX-License-Identifier: GPL-2.0-only
/*
 * LD_PRELOAD=latetick.so, for User-mode Linux: makes its clock tick at the worst moment while it
 * halts, after it has left the stacks of its kernel and before it has stopped the clock. The first
 * thing that it does there is to block SIGPROF. LATETICK_FILE is made if that happened.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void tick(void)
{
	const char *reported = getenv("LATETICK_FILE");
	int fd = reported ? open(reported, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd < 0) {
		perror("latetick: LATETICK_FILE");
		_exit(99);
	}
	close(fd);
	kill(getpid(), SIGALRM);
}

__attribute__((visibility("default")))
int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int (*next)(int, const sigset_t *, sigset_t *);

	*(void **)&next = dlsym(RTLD_NEXT, "sigprocmask");
	/* others, such as shells, block it together with all the rest */
	if (how == SIG_BLOCK && set && sigismember(set, SIGPROF) == 1 &&
	    sigismember(set, SIGTERM) == 0)
		tick();
	return next(how, set, old);
}
