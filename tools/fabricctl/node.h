/* SPDX-License-Identifier: GPL-2.0-only */
/* One node of a lab: its namespace, cable ends and processes. */
#ifndef NODE_H
#define NODE_H

#include "lab.h"

/** struct programs - paths, found once */
struct programs {
	char nic[PATH_MAX];
	char manager[PATH_MAX];
};

/** programs_find() - says what is missing. OK or CANNOT */
int programs_find(struct programs *p);
/** node_files() - its directory and its manager's configuration, ended by @extra */
int node_files(const struct lab *lab, uint32_t node, const char *extra);

/**
 * node_renew() - the node is another machine: its manager has a new name, and no state on disk
 * @name: NULL: the name stays. Return: 0 or a negative errno
 */
int node_renew(const struct lab *lab, uint32_t node, const char *name);

/**
 * node_start_manager() - @netns: descriptor of the node's namespace
 * Return: pid, or a negative errno.
 */
int node_start_manager(const struct lab *lab, uint32_t node, int netns,
		       const struct programs *p);
/** node_missing() - which of LAB_NO_NIC, LAB_NO_MANAGER do not run */
unsigned int node_missing(const struct lab *lab, uint32_t node);
/** node_kill() - at once, as a crash would: LAB_NO_NIC, LAB_NO_MANAGER in @what */
int node_kill(const struct lab *lab, uint32_t node, unsigned int what);

/** node_wire() - puts one end up or down, as lab_end_up() wants it */
int node_wire(const struct lab *lab, uint32_t node, unsigned int port);
/** node_wires() - the same for all its ends */
int node_wires(const struct lab *lab, uint32_t node);

/** node_enter() - become a process of the node: network, host name, /etc/hosts, /sys.
 * Return: 0 or a negative errno, having said what failed. */
int node_enter(const struct lab *lab, uint32_t node);

#endif /* NODE_H */
