/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asks NICs of this host directly, without a manager; the results have the form of a manager's
 * answers.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include <jansson.h>

#include "command.h"

struct torus_dev;
struct torus_device;

/**
 * local_show() - ask the NICs of this host, or with --lab the NIC of the node --node
 * @add: appends the items of the NIC @dev, which @info describes, to @list; 0 or a negative errno
 * @pick: selects items of the list, a new reference; or NULL
 * @show: prints the list as text; --json prints it as it is
 * Return: an exit status.
 */
int local_show(const struct ctl *ctl,
	       int (*add)(struct torus_dev *dev, const struct torus_device *info, json_t *list),
	       json_t *(*pick)(const json_t *list), void (*show)(const json_t *list));

/** local_links() - a function @add for local_show(): appends items of the form of "links" */
int local_links(struct torus_dev *dev, const struct torus_device *info, json_t *list);
/** local_counters() - a function @add for local_show(): appends items of the form of "counters" */
int local_counters(struct torus_dev *dev, const struct torus_device *info, json_t *list);

#endif /* LOCAL_H */
