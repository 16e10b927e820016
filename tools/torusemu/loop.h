/* SPDX-License-Identifier: GPL-2.0-only */
/* File descriptors and the one clock. */
#ifndef EMU_LOOP_H
#define EMU_LOOP_H

#include "tn_deps.h"

#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

struct watch;
typedef void (*watch_fn)(struct watch *w, u32 events);

/**
 * struct watch - a descriptor in the loop; embed it
 * @fd: -1 while there is none
 * @events: EPOLLIN, EPOLLOUT; 0 keeps it in the loop without waking
 */
struct watch {
	int fd;
	u32 events;
	watch_fn ready;
};

#define LOOP_BATCH 32

/**
 * struct loop
 * @late_max: ns; if the loop goes on later than that, its clock stands still for the rest; 0: never
 * @woke: when it last had something to do, or 0
 * @pending: the batch being worked off
 */
struct loop {
	int epfd;
	u64 late_max;
	u64 woke;
	int npending;
	void *pending[LOOP_BATCH];
};

/** loop_now() - monotonic ns, never 0 */
u64 loop_now(void);

int loop_init(struct loop *loop);
void loop_fini(struct loop *loop);

/** loop_add() - watch @w; Return: 0 or negative errno */
int loop_add(struct loop *loop, struct watch *w, int fd, u32 events, watch_fn ready);
void loop_events(struct loop *loop, struct watch *w, u32 events);
/** loop_del() - stop watching and close; @w may be freed at once */
void loop_del(struct loop *loop, struct watch *w);

/** loop_wait() - call what is ready, waiting until @until (~0: for ever) */
void loop_wait(struct loop *loop, u64 now, u64 until);

#endif /* EMU_LOOP_H */
