/* SPDX-License-Identifier: GPL-2.0-only */
/* Brings a node of a lab back: switches its power on, and starts its NIC and its manager. */
#ifndef REVIVE_H
#define REVIVE_H

#include "lab.h"

/** struct revive - options; @timeout: how long to wait for the fabric */
struct revive {
	bool no_wait;
	uint64_t timeout;	/* longest time to wait for the fabric, seconds */
};

#define REVIVE_TIMEOUT 30

#define REVIVE_OPTS(r)								\
	{ OPT_FLAG, "no-wait", 0, NULL, &(r).no_wait, 0, 0,			\
	  "do not wait until the fabric has it back" },				\
	{ OPT_NUMBER, "timeout", 't', "SECONDS", &(r).timeout, 1, 3600,		\
	  "wait this long at most, default 30" }

/**
 * revive() - start the missing parts of @node, save @lab, and wait until the fabric has the node
 * If the caller wants to wait and no manager runs in the whole lab, all nodes are started.
 * Return: OK, or the exit status after printing the error.
 */
int revive(struct lab *lab, uint32_t node, const struct revive *how);

#endif /* REVIVE_H */
