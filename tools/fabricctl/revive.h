/* SPDX-License-Identifier: GPL-2.0-only */
/* Starting what does not run of a lab's node: its power, its NIC, its manager. */
#ifndef REVIVE_H
#define REVIVE_H

#include "lab.h"

/** struct revive - options: until when to wait for the fabric */
struct revive {
	bool no_wait;
	uint64_t timeout;	/* s */
};

#define REVIVE_TIMEOUT 30

#define REVIVE_OPTS(r)								\
	{ OPT_FLAG, "no-wait", 0, NULL, &(r).no_wait, 0, 0,			\
	  "do not wait until the fabric has it back" },				\
	{ OPT_NUMBER, "timeout", 't', "SECONDS", &(r).timeout, 1, 3600,		\
	  "wait so long at most, default 30" }

/**
 * revive() - starts what is missing of @node, saves @lab, and waits until the fabric has the node
 * If it is to wait and no manager runs in the whole lab, all nodes are started.
 * Says what is wrong. Return: OK, or the exit status.
 */
int revive(struct lab *lab, uint32_t node, const struct revive *how);

#endif /* REVIVE_H */
