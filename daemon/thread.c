// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>

#include "daemon/thread.h"

int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, was;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return -err;
}

bool thread_join(pthread_t thread, const struct timespec *until)
{
	return !pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, until);
}

struct timespec thread_grace(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec++;
	return at;
}
