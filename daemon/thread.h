/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads beside the event loop. They get no signals, which the loop handles. */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/** thread_start() - start a thread. Return: 0 or a negative errno */
int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);
/**
 * thread_join() - wait for the end of a thread until @until, by the monotonic clock
 * Return: false if it has not ended: it must then be detached.
 */
bool thread_join(pthread_t thread, const struct timespec *until);
/** thread_grace() - Return: a second from now, by the monotonic clock */
struct timespec thread_grace(void);

#endif /* THREAD_H */
