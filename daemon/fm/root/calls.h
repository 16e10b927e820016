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

/* A root begins. Return: false: no memory. */
bool fm_calls_new(struct fm_root *r);
void fm_calls_free(struct fm_root *r);

/** fm_calls_begin() - this node asks to be root, or @leads at once as the first root */
void fm_calls_begin(struct fm *fm, bool leads);
/** fm_calls_joined() - a node says HELLO to this one, which asks: the wave has not ended */
void fm_calls_joined(struct fm *fm);
/** fm_calls_look() - the root leads, and there may be a node that its Inits do not reach */
void fm_calls_look(struct fm *fm);
/** fm_calls_reached() - the connection for a call is up: send the Init */
void fm_calls_reached(struct fm *fm, const struct fm_conn *c);
/** fm_calls_answered() - the called node @guid has answered whether it follows this one */
void fm_calls_answered(struct fm *fm, uint64_t guid, bool follows);
/** fm_calls_count() - count the called nodes, for status */
void fm_calls_count(const struct fm *fm, struct fm_calls_status *out);
void fm_calls_due(struct fm *fm);
uint64_t fm_calls_expiry(const struct fm *fm);

#endif /* FM_CALLS_H */
