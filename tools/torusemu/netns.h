/* SPDX-License-Identifier: GPL-2.0-only */
/* Doing something in another network namespace. */
#ifndef EMU_NETNS_H
#define EMU_NETNS_H

/**
 * netns_visit() - call @fn with @arg inside the namespace of descriptor @netns
 * @netns: -1 for where the process is
 * Return: what @fn returns; or a negative errno, and @fn was not called.
 */
int netns_visit(int netns, int (*fn)(void *arg), void *arg);

#endif /* EMU_NETNS_H */
