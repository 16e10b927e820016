/* SPDX-License-Identifier: GPL-2.0-only */
/* A node with a root tries to reach a later one before it leaves its own. */
#ifndef FM_TRY_H
#define FM_TRY_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_conn;
struct fm_init;
struct fm_msg;

/** fm_try_new() - allocate the state of try.c; called by fm_new(). Return: false: no memory */
bool fm_try_new(struct fm *fm);
void fm_try_free(struct fm *fm);
/**
 * fm_try() - open a connection of role FM_CONN_TRY to the root of that Init
 * Does nothing while another such connection is being opened, and for a while after the last one to
 * that root has failed.
 */
void fm_try(struct fm *fm, const struct fm_init *init);
/**
 * fm_try_reached() - process that a connection of role FM_CONN_TRY is up
 * Return: true if this node now follows the root at its other end, and @c is the connection to the
 * root; false: this node asks that root first, or it has another root by now, and @c is closed.
 */
bool fm_try_reached(struct fm *fm, struct fm_conn *c);
/**
 * fm_try_answer() - process a message on a connection of role FM_CONN_TRY
 * Return: true if the other root accepts this node: @c is the connection to the root now, and the
 * caller processes the message; false: the message needs nothing more, and @c may be closed.
 */
bool fm_try_answer(struct fm *fm, struct fm_conn *c, const struct fm_msg *msg);
/**
 * fm_try_join() - join the root that this node follows since now because of an Init or a call
 * Uses the connection of an attempt with that root if there is one, or connects.
 */
void fm_try_join(struct fm *fm);
/** fm_try_answered() - process that the followed root has answered itself */
void fm_try_answered(struct fm *fm);
/**
 * fm_try_mistaken() - process that another root answers at the address of the followed one, or
 * that the host there has @refused this node
 * Return: true if this node has followed it after an attempt, while it asked to be root, and now
 * follows the one before again.
 */
bool fm_try_mistaken(struct fm *fm, bool refused);
/**
 * fm_try_avoids() - Return: true if the Init names a leading root that has refused this node, or
 * for which another one answered, and which it does not follow for a while
 */
bool fm_try_avoids(struct fm *fm, const struct fm_init *init);
/**
 * fm_try_failed() - process that a connection of role FM_CONN_TRY has failed; @reached: it was up,
 * and ended without an answer
 */
void fm_try_failed(struct fm *fm, bool reached);
/**
 * fm_try_check() - report a problem if the neighbour at @port obeys an earlier root for long
 * @init: the Init that has come; NULL: the link is down
 */
void fm_try_check(struct fm *fm, unsigned int port, const struct fm_init *init);
/** fm_try_due() - ask the neighbours again, when a root that could not be reached may be tried */
void fm_try_due(struct fm *fm);
uint64_t fm_try_expiry(const struct fm *fm);

#endif /* FM_TRY_H */
