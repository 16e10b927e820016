/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls a function in another network namespace. */
#ifndef EMU_NETNS_H
#define EMU_NETNS_H

/**
 * netns_visit() - call @fn with @arg in a namespace
 * @netns: descriptor of the namespace; -1: the namespace of the process
 * @fn: the function
 * @arg: argument of @fn
 * Return: the result of @fn; or a negative errno if @fn was not called.
 */
int netns_visit(int netns, int (*fn)(void *arg), void *arg);

#endif /* EMU_NETNS_H */
