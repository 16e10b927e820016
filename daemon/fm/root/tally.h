/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts the nodes that take part in the present version. */
#ifndef FM_TALLY_H
#define FM_TALLY_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;

/* The part that the node at a place of the table takes in the present version. */
enum fm_part {
	FM_PART_NONE,		/* no node has this place, or it is dead */
	FM_PART_TAKES,		/* the node takes part */
	FM_PART_LIVES,		/* the NIC works, but its manager does not take part */
	FM_PART_ANEW,		/* the NIC was restarted since the table was made, and is empty */
	FM_PARTS,
};

/**
 * struct fm_tally - the nodes of the present version
 * @parts: number of places for each enum fm_part; that for FM_PART_NONE modulo 2^32
 * @set: sum of the fingerprints of the nodes that take part
 */
struct fm_tally {
	uint32_t parts[FM_PARTS];
	uint64_t set;
};

/**
 * fm_tally_applied() - note that all nodes that take part have put the table in force, so none of
 * them is @bare any more
 */
void fm_tally_applied(struct fm *fm);
/**
 * fm_tally_new() - allocate the counts for a table of @nodes nodes. Return: false if there is no
 * memory
 */
bool fm_tally_new(struct fm_root *r, uint32_t nodes);
void fm_tally_free(struct fm_root *r);
/** fm_tally() - Return: the tally, brought up to date; all zero before there is a table */
const struct fm_tally *fm_tally(const struct fm *fm);

/** fm_tally_part() - Return: how @node of the table counts now; there must be a table */
enum fm_part fm_tally_part(const struct fm *fm, uint32_t node);

#endif /* FM_TALLY_H */
