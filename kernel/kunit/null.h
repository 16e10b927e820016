/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The smallest NIC: it moves no packets, and completes each command at once. A test can make its
 * operations fail or sleep.
 */
#ifndef TORUS_KUNIT_NULL_H
#define TORUS_KUNIT_NULL_H

#include "../torus.h"

#define NULL_PORTS	2
#define NULL_ROWS	16
#define NULL_COUNTER	100	/* value of node counter 0; counter n has n more */
#define NULL_WAITED	70
#define NULL_DROPS	80	/* value of this counter at port 0; port p has p more */
#define NULL_SESSION	40	/* session at port 0; port p has p more */

#define NULL_OP(name)	(offsetof(struct torus_hw_ops, name))

struct null_nic;

/**
 * struct null_seen - counts of a NIC for the test, which may read them after the NIC is freed
 * @inside: commands that are in an operation now
 * @met: how often an operation was called while another was under way
 * @asked: operations that were called
 * @sent: messages of the host
 * @freed: the NIC is gone
 */
struct null_seen {
	atomic_t inside, met, asked, sent;
	bool freed;
};

/**
 * struct null_nic - the NIC
 * @dev: the part that every NIC has; must be the first member
 * @ops: operations of @hw; a test may set some to NULL
 * @seen: counts for the test
 * @version: version of the active rows
 * @fails: the operation (NULL_OP()) that fails with @error, after it has succeeded @passes times.
 *	The operation "rows" returns no error; it says that the NIC has no place
 * @inside: called inside of each operation, for example to sleep; may be NULL
 * @inside_data: argument of @inside
 */
struct null_nic {
	struct torus_dev dev;	/* must be the first member */
	struct torus_hw hw;
	struct torus_hw_ops ops;
	struct null_seen *seen;
	u64 version;
	size_t fails;
	int error;
	unsigned int passes;
	void (*inside)(void *data);
	void *inside_data;
};

/**
 * null_alloc() - make a NIC, which the caller registers. Return: the NIC; NULL if there is no
 * memory
 */
struct null_nic *null_alloc(struct null_seen *seen);

#endif /* TORUS_KUNIT_NULL_H */
