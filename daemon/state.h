/* SPDX-License-Identifier: GPL-2.0-only */
/* The state file: the table on the disk, which outlives managers and NICs. */
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
 * @out: set to the table; the caller has to call fm_msg_clear() after success
 * @why: after each error but -ENOENT, set to the error in the file
 *
 * A file of another fabric or a later format, or one that is damaged or cannot be read, is not
 * used. It gets a name that ends with ".refused", so that it is not overwritten.
 * Return: 0, -ENOENT if there is no file, -EBADMSG if its contents were refused, or another
 * negative errno if it could not be read.
 */
int state_load(const char *dir, const char *fabric, uint64_t guid, struct fm_msg *out,
	       char why[STATE_TEXT_MAX]);

/**
 * struct state_ops - callbacks to the owner, called in the loop
 * @error: writing fails or takes long, with the reason @why; or it works again, and @why is ""
 * @kept: writing the last table has succeeded (@ok), or has failed and is tried again later
 */
struct state_ops {
	void (*error)(void *arg, const char *why);
	void (*kept)(void *arg, uint64_t epoch, uint64_t version, bool ok);
};

/** state_new() - start the thread that writes. Return: NULL if out of memory or threads */
struct state *state_new(struct loop *loop, const char *dir, const char *fabric,
			const struct state_ops *ops, void *arg);
/**
 * state_save() - let the thread write @table for that NIC; replaces a table that waits to be
 * written
 */
void state_save(struct state *s, uint64_t guid, const struct fm_msg *table);
/** state_free() - wait at most a second for a write under way, and free. @s may be NULL */
void state_free(struct state *s);

#endif /* STATE_H */
