/* SPDX-License-Identifier: GPL-2.0-only */
/* The uplink: the connections of this node to the root and to its parent. */
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
 * fm_uplink_adrift() - inform all children by PONG whether this node is adrift (has no way to the
 * root) Called when the way to the root is lost or found.
 */
void fm_uplink_adrift(struct fm *fm, bool adrift);
/**
 * fm_uplink_reached() - give the connection @c to the root or the parent a number, and send HELLO
 * on it
 * Called when the connection is established.
 */
void fm_uplink_reached(struct fm *fm, struct fm_conn *c);
/** fm_uplink_attach() - Return: the number that was last given to a connection upward */
uint64_t fm_uplink_attach(const struct fm *fm);
/**
 * fm_uplink_welcomed() - reset the back-off, because the root, or the parent (!@root), has welcomed
 * this node
 */
void fm_uplink_welcomed(struct fm *fm, bool root);
/** fm_uplink_stray() - note whether (@is) the parent that the root named has refused this node */
void fm_uplink_stray(struct fm *fm, bool is);
/** fm_uplink_hello() - send HELLO on @c as soon as the counters for it are read */
void fm_uplink_hello(struct fm *fm, struct fm_conn *c);
/** fm_uplink_counted() - send the HELLOs that had to wait until the counters were read */
void fm_uplink_counted(struct fm *fm);
/** fm_uplink_describe() - fill in a HELLO to the root */
void fm_uplink_describe(struct fm *fm, struct fm_hello *h);
/** fm_uplink_retry() - connect to the root again, after @least ns or more */
void fm_uplink_retry(struct fm *fm, uint64_t least);
/**
 * fm_uplink_refused() - connect to the root again, later after each refusal in a row
 * The root has refused this node, or another one answers at its address. @wait: ns after which the
 * root accepts this node; 0: not known
 */
void fm_uplink_refused(struct fm *fm, uint64_t wait);
/** fm_uplink_retry_after() - connect to the root after @ns, and reset the back-off */
void fm_uplink_retry_after(struct fm *fm, uint64_t ns);
/** fm_uplink_backoff() - Return: present back-off in ns; 0 if no attempt has failed */
uint64_t fm_uplink_backoff(const struct fm *fm);
/** fm_uplink_hurry() - if this node waits to connect to the root again, connect at once */
void fm_uplink_hurry(struct fm *fm);
/** fm_uplink_parent() - connect to the parent that the root has named, at @address */
void fm_uplink_parent(struct fm *fm, const char *address);
/** fm_uplink_is_parent() - Return: true if the parent that the root last named has that address */
bool fm_uplink_is_parent(const struct fm *fm, const char *address);
/**
 * fm_uplink_root_known() - connect to the root that this node follows since now
 * Called when the node has left its former root.
 */
void fm_uplink_root_known(struct fm *fm);
/** fm_uplink_take() - use @c as the connection to the root that this node follows since now */
void fm_uplink_take(struct fm *fm, struct fm_conn *c);
/**
 * fm_uplink_rejoin() - leave the root and join it again, because recoveries do not wait for this
 * node, or because the root has taken a connection that is closed for this node's latest one
 */
void fm_uplink_rejoin(struct fm *fm);
/** fm_uplink_leave() - close the connections to the root and to the parent */
void fm_uplink_leave(struct fm *fm);
/** fm_uplink_row() - send the port row of this node towards the root, because it has changed */
void fm_uplink_row(struct fm *fm);
/**
 * fm_uplink_row_again() - send the port row again on a new connection, because the former one may
 * have lost it
 */
void fm_uplink_row_again(struct fm *fm);
/** fm_uplink_row_acked() - stop repeating the port row with that @serial: the table contains it */
void fm_uplink_row_acked(struct fm *fm, uint32_t serial);

#endif /* FM_UPLINK_H */
