/* SPDX-License-Identifier: GPL-2.0-only */
/* The time of day: told to the manager when it begins, and whenever the clock is set. */
#ifndef WALL_H
#define WALL_H

struct loop;
struct wall;

/**
 * wall_new() - calls @set whenever the machine's time of day was set, and not for its passing
 * Return: NULL if out of memory, or if the kernel cannot tell.
 */
struct wall *wall_new(struct loop *loop, void (*set)(void *arg), void *arg);
void wall_free(struct wall *w);

#endif /* WALL_H */
