/* SPDX-License-Identifier: GPL-2.0-only */
/* A shape that was discovered grows by nodes that come later. */
#ifndef FM_GROW_H
#define FM_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/torus.h>

struct fm;
struct fm_hello;
struct fm_mate;
struct fm_root;
struct fm_sums;

enum fm_grow_step {
	FM_GROW_REST,
	FM_GROW_PAUSE,		/* the next table, or that at hand, has all rows on hold */
	FM_GROW_GO,		/* the next table has the new shape */
};

/* A root begins. Return: false: no memory. */
bool fm_grow_new(struct fm_root *r);
void fm_grow_free(struct fm_root *r);

/* Return: how far an attempt to grow is. */
enum fm_grow_step fm_grow_step(const struct fm_root *r);
/* Return: true if some NIC may work with the shape before */
bool fm_grow_mixed(const struct fm_root *r);
/* A table is made: may be it leaves nodes without a place, for which the shape can grow. */
void fm_grow_look(struct fm *fm);
/* Text on nodes without a place, for the problem; NULL: not known yet. */
const char *fm_grow_why(struct fm *fm);
/* The table to be made: it may have another shape, and may have all rows on hold. */
bool fm_grow_table(struct fm *fm, uint64_t version);
/*
 * The network, which has been draining @since then, is drained. Return: true if another table
 * follows at once, or if the nodes are to be counted once more first, at *@count_at.
 */
bool fm_grow_drained(struct fm *fm, const struct fm_sums *s, bool proven, uint64_t since,
		     uint64_t *count_at);
/* All nodes that take part have applied the table. */
void fm_grow_applied(struct fm *fm);
void fm_grow_hello(struct fm *fm, struct fm_mate *m, const struct fm_hello *h);
/* @recovers: a recovery is under way */
void fm_grow_due(struct fm *fm, bool recovers);
uint64_t fm_grow_expiry(const struct fm *fm);

#endif /* FM_GROW_H */
