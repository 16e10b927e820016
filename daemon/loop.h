/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event loop: files, timers, signals. Callbacks run one at a time and may
 * free any watcher, their own included.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

#include "lib/util/times.h"

#define LOOP_READ	1u
#define LOOP_WRITE	2u
#define LOOP_NEVER	UINT64_MAX

struct loop;
struct histogram;
struct loop_fd;
struct loop_timer;
struct loop_signal;

/** loop_new() - create a loop. Return: NULL if out of memory or file descriptors. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);
/** loop_run() - run until loop_stop(). Return: 0 or a negative errno. */
int loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/** loop_late() - Return: how late timers fired: what keeps the loop busy delays them */
const struct histogram *loop_late(const struct loop *loop);

/** loop_now() - Return: monotonic time in ns */
uint64_t loop_now(void);
/** loop_wall() - Return: time of day, seconds since 1970 */
double loop_wall(void);

/**
 * loop_fd_new() - watch a file
 * @what: LOOP_READ, LOOP_WRITE or both; 0 for nothing yet
 * @fn: called with what is ready
 *
 * The caller stays the owner of @fd. Return: NULL if out of memory.
 */
struct loop_fd *loop_fd_new(struct loop *loop, int fd, unsigned int what,
			    void (*fn)(void *arg, unsigned int what), void *arg);
void loop_fd_set(struct loop_fd *w, unsigned int what);
void loop_fd_free(struct loop_fd *w);

struct loop_timer *loop_timer_new(struct loop *loop, void (*fn)(void *arg), void *arg);
/** loop_timer_set() - fire once at @at (loop_now() time), LOOP_NEVER to stop */
void loop_timer_set(struct loop_timer *t, uint64_t at);
void loop_timer_free(struct loop_timer *t);

struct loop_signal *loop_signal_new(struct loop *loop, int signo, void (*fn)(void *arg),
				    void *arg);
void loop_signal_free(struct loop_signal *s);

#endif /* LOOP_H */
