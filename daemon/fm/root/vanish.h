/* SPDX-License-Identifier: GPL-2.0-only */
/* Hosts that vanish: nodes without power, whose connections stay open. */
#ifndef FM_VANISH_H
#define FM_VANISH_H

#include <stdint.h>

struct fm;
struct fm_conn;
struct fm_mate;

/**
 * struct fm_vanish - nodes whose last row may be out of date
 * @doubted: their numbers in the roster
 * @at: when they are looked at
 */
struct fm_vanish {
	uint32_t *doubted;
	uint32_t n, room;
	uint64_t at;
};

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
