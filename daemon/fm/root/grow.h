/* SPDX-License-Identifier: GPL-2.0-only */
/* Growth of a discovered shape by nodes that join later. */
#ifndef FM_GROW_H
#define FM_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

struct fm;
struct fm_hello;
struct fm_record;
struct fm_root;
struct fm_sums;

enum fm_grow_step {
	FM_GROW_REST,		/* no attempt is under way */
	FM_GROW_PAUSE,		/* the next table, or the present one, puts all rows on hold */
	FM_GROW_GO,		/* the next table has the new shape */
};

/* Allocates the state of grow.c for a new root. Return: false if there is no memory. */
bool fm_grow_new(struct fm_root *r);
void fm_grow_free(struct fm_root *r);

/** fm_grow_step() - Return: how far an attempt to grow is */
enum fm_grow_step fm_grow_step(const struct fm_root *r);
/** fm_grow_mixed() - Return: true if some NIC may still have the former shape */
bool fm_grow_mixed(const struct fm_root *r);
/**
 * fm_grow_look() - plan an attempt to grow if there are nodes without a place, else cancel a
 * planned one
 * Called when a table is made.
 */
void fm_grow_look(struct fm *fm);
/**
 * fm_grow_why() - Return: text for the problem that nodes have no place; NULL if that is not yet a
 * problem
 */
const char *fm_grow_why(struct fm *fm);
/**
 * fm_grow_table() - give the table @version, which is about to be made, the new shape if it is time
 * for that
 * Return: true if the table has to put all rows on hold.
 */
bool fm_grow_table(struct fm *fm, uint64_t version);
/**
 * fm_grow_drained() - called when the network, which has been draining since @since, is drained
 * @count_at: set to when all nodes have to be counted once more, if that is needed
 * Return: true if another count, or another table, must follow; false if the recovery goes on.
 */
bool fm_grow_drained(struct fm *fm, const struct fm_sums *s, bool proven, uint64_t since,
		     uint64_t *count_at);
/** fm_grow_applied() - called when all nodes that take part have put the table in force */
void fm_grow_applied(struct fm *fm);
/** fm_grow_hello() - process the HELLO of @m, whose NIC may no longer have the former shape */
void fm_grow_hello(struct fm *fm, struct fm_record *m, const struct fm_hello *h);
/** fm_grow_due() - begin an attempt, if it is time; @recovers: a recovery is under way */
void fm_grow_due(struct fm *fm, bool recovers);
uint64_t fm_grow_expiry(const struct fm *fm);

#endif /* FM_GROW_H */
