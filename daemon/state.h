/* SPDX-License-Identifier: GPL-2.0-only */
/* The state file: the kept table, which outlives managers and NICs. */
#ifndef STATE_H
#define STATE_H

#include <stddef.h>
#include <stdint.h>
#include "daemon/fm/fm.h"
#include "daemon/loop.h"

#define STATE_TEXT_MAX 320	/* bytes of a reason, with NUL */

struct state;

/**
 * state_load() - read the table that was kept for this NIC in this fabric
 * @out: the table, to be given to fm_msg_clear() after success
 * @why: set to the fault of the file, after each error but -ENOENT
 *
 * A file that is of another fabric or version, or damaged, is not used. It is moved aside, to a
 * name that ends with ".refused", so that it is not overwritten.
 * Return: 0, -ENOENT there is none, -EBADMSG it was refused, or the errno of reading it, negative.
 */
int state_load(const char *dir, const char *fabric, uint64_t guid, struct fm_msg *out,
	       char why[STATE_TEXT_MAX]);

/**
 * struct state_ops - called in the loop
 * @told: writing fails or takes long, @why is the reason; or it works again, and @why is ""
 * @kept: the table that was given last is on the disk (@ok); or not, and is tried again later
 */
struct state_ops {
	void (*told)(void *arg, const char *why);
	void (*kept)(void *arg, uint64_t epoch, uint64_t version, bool ok);
};

/** state_new() - begin to keep. Return: NULL if out of memory or threads */
struct state *state_new(struct loop *loop, const char *dir, const char *fabric,
			const struct state_ops *ops, void *arg);
/** state_save() - keep @table for that NIC; does not wait, and only the last one is written */
void state_save(struct state *s, uint64_t guid, const struct fm_msg *table);
/** state_free() - waits at most a second for a write under way. @s may be NULL */
void state_free(struct state *s);

#endif /* STATE_H */
