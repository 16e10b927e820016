/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes of one node of a lab, with a log and a pid file in its directory. */
#ifndef NODE_PROC_H
#define NODE_PROC_H

#include "lab.h"

/**
 * node_start() - start a program
 * @node: TORUS_NO_NODE: a process of the whole lab
 * @netns: descriptor of the program's network namespace
 * @program: name of the program's files, without ".log" and ".pid"
 * Return: pid, or a negative errno.
 */
int node_start(const struct lab *lab, uint32_t node, int netns, const char *program,
	       char *const *argv);
/** node_show_log() - print the last lines of a program's log to standard error */
void node_show_log(const struct lab *lab, uint32_t node, const char *program);

#endif /* NODE_PROC_H */
