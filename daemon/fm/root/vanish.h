/* SPDX-License-Identifier: GPL-2.0-only */
/* Hosts that vanish: nodes without power, whose connections stay open. */
#ifndef FM_VANISH_H
#define FM_VANISH_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_conn;
struct fm_record;
struct fm_root;

/* Allocates the state of vanish.c for a new root. Return: false if there is no memory. */
bool fm_vanish_new(struct fm_root *r);
void fm_vanish_free(struct fm_root *r);

/** fm_vanish_doubts() - Return: number of nodes that are late */
uint32_t fm_vanish_doubts(const struct fm_root *r);
/** fm_vanish_row() - find neighbours of @m that may be late, by its new port row */
void fm_vanish_row(struct fm *fm, const struct fm_record *m);
/** fm_vanish_adopted() - find out whether @m, which was missing and is connected again, is late */
void fm_vanish_adopted(struct fm *fm, struct fm_record *m);
/** fm_vanish_drop() - end all connections of @m: with its children, its parent and the root */
void fm_vanish_drop(struct fm *fm, struct fm_record *m);
/** fm_vanish_dead() - find neighbours of @m that may be late, because @m was judged dead */
void fm_vanish_dead(struct fm *fm, const struct fm_record *m);
/** fm_vanish_reached() - called when a connection for DROP or for a probe is established */
void fm_vanish_reached(struct fm *fm, struct fm_conn *c);
void fm_vanish_due(struct fm *fm);
uint64_t fm_vanish_expiry(const struct fm *fm);
/**
 * fm_vanish_awaits() - Return: the time until which a table that is due @at has to wait for the
 * answer to a probe; if it need not wait, a time in the past
 */
uint64_t fm_vanish_awaits(const struct fm *fm, uint64_t at);

#endif /* FM_VANISH_H */
