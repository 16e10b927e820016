/* SPDX-License-Identifier: GPL-2.0-only */
/* Notifications that NICs of the kernel came, went or changed. */
#ifndef HOTPLUG_H
#define HOTPLUG_H

struct hotplug;
struct loop;

/**
 * hotplug_new() - call @fn whenever a NIC of the kernel comes, goes or changes
 * Return: NULL and errno if there are no notifications.
 */
struct hotplug *hotplug_new(struct loop *loop, void (*fn)(void *arg), void *arg);
void hotplug_free(struct hotplug *h);

#endif /* HOTPLUG_H */
