/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of a root, over the service network, to nodes that its Inits do not reach. */
#ifndef FM_CALLS_H
#define FM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_calls_status;
struct fm_conn;
struct fm_root;

/* Allocates the state of calls.c for a new root. Return: false if there is no memory. */
bool fm_calls_new(struct fm_root *r);
void fm_calls_free(struct fm_root *r);

/**
 * fm_calls_begin() - begin the calls, when this node begins to ask to be root, or to lead as the
 * first root (@leads)
 */
void fm_calls_begin(struct fm *fm, bool leads);
/**
 * fm_calls_joined() - wait longer before the first call, because a node has sent HELLO: the wave
 * still spreads
 */
void fm_calls_joined(struct fm *fm);
/**
 * fm_calls_look() - begin calls if there are nodes that need one
 * Called while the root leads, when there may be a node that its Inits do not reach.
 */
void fm_calls_look(struct fm *fm);
/**
 * fm_calls_reached() - send the Init on the connection @c, which was opened for a call and is
 * established
 */
void fm_calls_reached(struct fm *fm, const struct fm_conn *c);
/**
 * fm_calls_answered() - process the answer of the called node @guid; @follows: it follows this node
 */
void fm_calls_answered(struct fm *fm, uint64_t guid, bool follows);
/** fm_calls_count() - count the called nodes, for status */
void fm_calls_count(const struct fm *fm, struct fm_calls_status *out);
void fm_calls_due(struct fm *fm);
uint64_t fm_calls_expiry(const struct fm *fm);

#endif /* FM_CALLS_H */
