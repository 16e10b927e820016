/* SPDX-License-Identifier: GPL-2.0-only */
/* The nodes that take part in the present version. */
#ifndef FM_TALLY_H
#define FM_TALLY_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;

/* How a place of the table counts in the present version. */
enum fm_part {
	FM_PART_NONE,		/* no node is there, or it is dead */
	FM_PART_TAKES,		/* the node takes part */
	FM_PART_LIVES,		/* its NIC works on, and it does not take part */
	FM_PART_ANEW,		/* its NIC has started again since, and is empty */
	FM_PARTS,
};

/**
 * struct fm_tally - the nodes of the present version
 * @parts: how many nodes are of each enum fm_part; of FM_PART_NONE modulo 2^32
 * @set: sum of the fingerprints of those that take part
 */
struct fm_tally {
	uint32_t parts[FM_PARTS];
	uint64_t set;
};

/** fm_tally_applied() - all nodes that take part have applied the table: they are not @bare */
void fm_tally_applied(struct fm *fm);
/** fm_tally_new() - no node is counted yet, of a table of @nodes. Return: false: no memory */
bool fm_tally_new(struct fm_root *r, uint32_t nodes);
void fm_tally_free(struct fm_root *r);
/** fm_tally() - Return: the tally, brought up to date; all zero before there is a table */
const struct fm_tally *fm_tally(const struct fm *fm);

/** fm_tally_part() - Return: how @node of the table counts now; there is a table */
enum fm_part fm_tally_part(const struct fm *fm, uint32_t node);

#endif /* FM_TALLY_H */
