/* SPDX-License-Identifier: GPL-2.0-only */
/* Hosts that vanish: nodes without power, whose connections stay open. */
#ifndef FM_VANISH_H
#define FM_VANISH_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_conn;
struct fm_mate;
struct fm_root;

/* A root begins. Return: false: no memory. */
bool fm_vanish_new(struct fm_root *r);
void fm_vanish_free(struct fm_root *r);

/* How many nodes are in doubt. */
uint32_t fm_vanish_doubts(const struct fm_root *r);
/* The row of @m is new. */
void fm_vanish_row(struct fm *fm, const struct fm_mate *m);
/* A node has a connection to @m, which was missing and has not said anything since. */
void fm_vanish_adopted(struct fm *fm, struct fm_mate *m);
/* Ends all connections of @m: those to its children, and to its parent. */
void fm_vanish_drop(struct fm *fm, struct fm_mate *m);
/* @m is dead. */
void fm_vanish_dead(struct fm *fm, const struct fm_mate *m);
/* A connection for a notice or a probe stands. */
void fm_vanish_reached(struct fm *fm, struct fm_conn *c);
void fm_vanish_due(struct fm *fm);
uint64_t fm_vanish_expiry(const struct fm *fm);

#endif /* FM_VANISH_H */
