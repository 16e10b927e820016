/* SPDX-License-Identifier: GPL-2.0-only */
/* The time of day: the manager gets it when it begins, and whenever the clock is set. */
#ifndef WALL_H
#define WALL_H

struct loop;
struct wall;

/**
 * wall_new() - call @set whenever the clock of the host was set
 * Return: NULL if out of memory, or if the kernel has no notification of that.
 */
struct wall *wall_new(struct loop *loop, void (*set)(void *arg), void *arg);
void wall_free(struct wall *w);

#endif /* WALL_H */
