/* SPDX-License-Identifier: GPL-2.0-only */
/* One node of a lab: its namespace, cable ends and processes. */
#ifndef NODE_H
#define NODE_H

#include "lab.h"

/** struct programs - paths of the programs that nodes run */
struct programs {
	char nic[PATH_MAX];
	char manager[PATH_MAX];
};

/** programs_find() - find the programs; prints what is missing. Return: OK or CANNOT */
int programs_find(struct programs *p);
/**
 * node_files() - make a node's directory, and its manager's configuration, which ends with the text
 * @extra
 */
int node_files(const struct lab *lab, uint32_t node, const char *extra);

/**
 * node_renew() - make the node look like another machine: give it a new name, and delete its state
 * on disk
 * @name: NULL: the name stays
 * Return: 0 or a negative errno.
 */
int node_renew(const struct lab *lab, uint32_t node, const char *name);

/**
 * node_start_manager() - start fabricd
 * @netns: descriptor of the node's namespace
 * Return: pid, or a negative errno.
 */
int node_start_manager(const struct lab *lab, uint32_t node, int netns,
		       const struct programs *p);
/**
 * node_missing() - Return: a mask of LAB_NO_NIC and LAB_NO_MANAGER, set if the NIC or the manager
 * does not run
 */
unsigned int node_missing(const struct lab *lab, uint32_t node);
/** node_kill() - kill processes, as a crash would; @what: LAB_NO_NIC, LAB_NO_MANAGER */
int node_kill(const struct lab *lab, uint32_t node, unsigned int what);

/** node_wire() - set the cable end of one port up or down by lab_end_up() */
int node_wire(const struct lab *lab, uint32_t node, unsigned int port);
/** node_wires() - like node_wire(), for all ports */
int node_wires(const struct lab *lab, uint32_t node);

/**
 * node_enter() - become a process of the node: network, host name, /etc/hosts, /sys
 * Return: 0, or a negative errno after printing the error.
 */
int node_enter(const struct lab *lab, uint32_t node);

#endif /* NODE_H */
