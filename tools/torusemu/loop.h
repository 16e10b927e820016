/* SPDX-License-Identifier: GPL-2.0-only */
/* The event loop: file descriptors, and the clock of all NICs. */
#ifndef EMU_LOOP_H
#define EMU_LOOP_H

#include "tn_deps.h"

#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

struct watch;
typedef void (*watch_fn)(struct watch *w, u32 events);

/**
 * struct watch - a descriptor in the loop, to be embedded in the struct that uses it
 * @fd: the descriptor; -1: there is none
 * @events: EPOLLIN, EPOLLOUT; 0: the descriptor stays in the loop, but does not wake the process
 */
struct watch {
	int fd;
	u32 events;
	watch_fn ready;
};

#define LOOP_BATCH 32

/**
 * struct loop - the loop
 * @pending: the batch of events that is being handled
 */
struct loop {
	int epfd;
	int npending;
	void *pending[LOOP_BATCH];
};

/**
 * loop_now() - Return: the time for NICs, in ns, never 0. It does not count the time for which the
 * process waited for a processor
 */
u64 loop_now(void);
/**
 * loop_busy() - called in place of loop_now() if NICs are ready, so that the process did not wait
 * Return: the same time, with all the time since their turn began.
 */
u64 loop_busy(void);

int loop_init(struct loop *loop);
void loop_fini(struct loop *loop);

/** loop_add() - add a descriptor; @ready is called for its events. Return: 0 or negative errno */
int loop_add(struct loop *loop, struct watch *w, int fd, u32 events, watch_fn ready);
void loop_events(struct loop *loop, struct watch *w, u32 events);
/** loop_del() - remove and close a descriptor; @w may be freed at once */
void loop_del(struct loop *loop, struct watch *w);

/** loop_wait() - wait for events until the time @until (~0: without limit), and handle them */
void loop_wait(struct loop *loop, u64 until);

#endif /* EMU_LOOP_H */
