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

/* Return: false: no memory. */
bool fm_uplink_new(struct fm *fm);
void fm_uplink_free(struct fm *fm);
/* The machine begins: it has no way to the root. */
void fm_uplink_begin(struct fm *fm);
void fm_uplink_due(struct fm *fm);
uint64_t fm_uplink_expiry(const struct fm *fm);

/* The connection that leads to the root now, or NULL. */
struct fm_conn *fm_uplink_conn(const struct fm *fm);
void fm_uplink_send(struct fm *fm, const struct fm_msg *msg);
/* Asks the parent whether it lives. */
void fm_uplink_ask(struct fm *fm);
/* Says that this node is there, and whether it has a way to the root. */
void fm_uplink_pong(struct fm *fm, const struct fm_conn *c);
/* The way to the root is lost or found; all below are told. */
void fm_uplink_adrift(struct fm *fm, bool adrift);
/* The connection @c upward is up: gives it a number, and says HELLO. */
void fm_uplink_reached(struct fm *fm, struct fm_conn *c);
/* The number that was given last. */
uint64_t fm_uplink_attach(const struct fm *fm);
/* The root, or else the parent, takes this node: attempts that failed do not count any more. */
void fm_uplink_welcomed(struct fm *fm, bool root);
/*
 * @is: the parent that this node was given did not take it; false: it has a parent, or needs none.
 */
void fm_uplink_stray(struct fm *fm, bool is);
/* Says HELLO there as soon as the counters that are in it are read. */
void fm_uplink_hello(struct fm *fm, struct fm_conn *c);
void fm_uplink_counted(struct fm *fm);
/* Says in @h what a HELLO to the root says of this node. */
void fm_uplink_describe(struct fm *fm, struct fm_hello *h);
/* Tries the root again, @least ns later at least. */
void fm_uplink_retry(struct fm *fm, uint64_t least);
/* Tries the root after @ns, and then as if no attempt had failed. */
void fm_uplink_retry_after(struct fm *fm, uint64_t ns);
/* How long it waits between attempts, as so many have failed; 0: none has. */
uint64_t fm_uplink_backoff(const struct fm *fm);
/* Tries the root at once, unless that is under way. */
void fm_uplink_hurry(struct fm *fm);
/* The root gives this node that parent. */
void fm_uplink_parent(struct fm *fm, const char *address);
/* Return: true if @address is that of the parent that this node was given last. */
bool fm_uplink_is_parent(const struct fm *fm, const char *address);
/* It follows another root, and has left the former: connects to it. */
void fm_uplink_root_known(struct fm *fm);
void fm_uplink_rejoin(struct fm *fm);
void fm_uplink_leave(struct fm *fm);
/* The own row changed. */
void fm_uplink_row(struct fm *fm);
/* Connections above are new: the own row, if no table has it yet, may be lost. */
void fm_uplink_row_again(struct fm *fm);
void fm_uplink_row_acked(struct fm *fm, uint32_t serial);

#endif /* FM_UPLINK_H */
