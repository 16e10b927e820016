/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AWAIT_H
#define AWAIT_H

#include <signal.h>

#include "lab.h"

/**
 * await_running() - wait until the fabric runs with all its nodes and links
 * Shows progress; prints what is missing when the time is over or a process died.
 * Return: OK; PROBLEM if a process died, TIMEOUT; CANNOT if @stop was set.
 */
int await_running(const struct lab *lab, int seconds, const volatile sig_atomic_t *stop);
/** await_node() - wait until a node counts as up, and no recovery is under way */
int await_node(const struct lab *lab, uint32_t node, int seconds,
	       const volatile sig_atomic_t *stop);

#endif /* AWAIT_H */
