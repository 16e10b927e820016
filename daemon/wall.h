/* SPDX-License-Identifier: GPL-2.0-only */
/* Notifications that the time of day was set; the manager gets the new time after each. */
#ifndef WALL_H
#define WALL_H

struct loop;
struct wall;

/**
 * wall_new() - call @set whenever the clock of the host is set
 * Return: NULL if out of memory, or if the kernel has no notification of that.
 */
struct wall *wall_new(struct loop *loop, void (*set)(void *arg), void *arg);
void wall_free(struct wall *w);

#endif /* WALL_H */
