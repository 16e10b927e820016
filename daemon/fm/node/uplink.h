/* SPDX-License-Identifier: GPL-2.0-only */
/* The way up: the connections of this node to the root and to its parent. */
#ifndef FM_UPLINK_H
#define FM_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;
struct fm_hello;

/**
 * fm_uplink_new() - allocate the state of uplink.c; called by fm_new(). Return: false if there is
 * no memory
 */
bool fm_uplink_new(struct fm *fm);
void fm_uplink_free(struct fm *fm);
/** fm_uplink_begin() - called when the machine begins: no connection leads to a root */
void fm_uplink_begin(struct fm *fm);
void fm_uplink_due(struct fm *fm);
uint64_t fm_uplink_expiry(const struct fm *fm);

/**
 * fm_uplink_conn() - Return: the connection to the parent if it is welcomed, else the welcomed one
 * to the root, or NULL
 */
struct fm_conn *fm_uplink_conn(const struct fm *fm);
void fm_uplink_send(struct fm *fm, const struct fm_msg *msg);
/** fm_uplink_ask() - send an urgent ping to the parent, unless one is unanswered */
void fm_uplink_ask(struct fm *fm);
/**
 * fm_uplink_pong() - send PONG on @c, which also says whether this node is adrift (has no way to
 * the root)
 */
void fm_uplink_pong(struct fm *fm, const struct fm_conn *c);
/**
 * fm_uplink_adrift() - called when the way to the root is lost or found: send PONG to all children
 */
void fm_uplink_adrift(struct fm *fm, bool adrift);
/**
 * fm_uplink_reached() - called when the upward connection @c is established: give it a number, and
 * send HELLO
 */
void fm_uplink_reached(struct fm *fm, struct fm_conn *c);
/** fm_uplink_attach() - Return: the number that was last given to a connection upward */
uint64_t fm_uplink_attach(const struct fm *fm);
/**
 * fm_uplink_welcomed() - called when the root, or the parent, has welcomed this node: reset the
 * back-off
 */
void fm_uplink_welcomed(struct fm *fm, bool root);
/** fm_uplink_stray() - note whether the parent that the root named refused this node */
void fm_uplink_stray(struct fm *fm, bool is);
/** fm_uplink_hello() - send HELLO on @c as soon as the counters for it are read */
void fm_uplink_hello(struct fm *fm, struct fm_conn *c);
/** fm_uplink_counted() - called when the counters are read: send the HELLOs that wait for them */
void fm_uplink_counted(struct fm *fm);
/** fm_uplink_describe() - fill in a HELLO to the root */
void fm_uplink_describe(struct fm *fm, struct fm_hello *h);
/** fm_uplink_retry() - connect to the root again, after @least ns or more */
void fm_uplink_retry(struct fm *fm, uint64_t least);
/** fm_uplink_retry_after() - connect to the root after @ns, and reset the back-off */
void fm_uplink_retry_after(struct fm *fm, uint64_t ns);
/** fm_uplink_backoff() - Return: present back-off in ns; 0 if no attempt has failed */
uint64_t fm_uplink_backoff(const struct fm *fm);
/** fm_uplink_hurry() - if this node waits to connect to the root again, connect at once */
void fm_uplink_hurry(struct fm *fm);
/** fm_uplink_parent() - called when the root has named a parent: connect to its @address */
void fm_uplink_parent(struct fm *fm, const char *address);
/** fm_uplink_is_parent() - Return: true if the parent that the root last named has that address */
bool fm_uplink_is_parent(const struct fm *fm, const char *address);
/**
 * fm_uplink_root_known() - called when this node follows another root, and has left the former one:
 * connect to it
 */
void fm_uplink_root_known(struct fm *fm);
/**
 * fm_uplink_rejoin() - leave the root, whose recoveries do not wait for this node, and join it
 * again
 */
void fm_uplink_rejoin(struct fm *fm);
/** fm_uplink_leave() - close the connections to the root and to the parent */
void fm_uplink_leave(struct fm *fm);
/** fm_uplink_row() - called when the port row of this node has changed: send it up */
void fm_uplink_row(struct fm *fm);
/**
 * fm_uplink_row_again() - called when the connection upward is new: send the port row again,
 * because it may be lost
 */
void fm_uplink_row_again(struct fm *fm);
/** fm_uplink_row_acked() - called when the table contains the port row with that serial */
void fm_uplink_row_acked(struct fm *fm, uint32_t serial);

#endif /* FM_UPLINK_H */
