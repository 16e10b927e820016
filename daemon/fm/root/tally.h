/* SPDX-License-Identifier: GPL-2.0-only */
/* The nodes that take part in the version at hand. */
#ifndef FM_TALLY_H
#define FM_TALLY_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;

enum fm_part {
	FM_PART_NONE,
	FM_PART_TAKES,		/* takes part in the version at hand */
	FM_PART_LIVES,		/* lives and does not */
	FM_PART_ANEW,		/* its NIC has started anew since, and is empty */
	FM_PARTS,
};

/**
 * struct fm_tally - the nodes that take part
 * @parts: how many are what (enum fm_part), modulo 2^32; @set: sum of fingerprints
 */
struct fm_tally {
	uint32_t parts[FM_PARTS];
	uint64_t set;
};

/* All nodes that take part work at the places that the table at hand gives them. */
void fm_tally_applied(struct fm *fm);
/* A fabric of that many nodes begins. Return: false: no memory. */
bool fm_tally_new(struct fm_root *r, uint32_t nodes);
void fm_tally_free(struct fm_root *r);
/* The tally, brought up to date; nothing before there is a fabric. */
const struct fm_tally *fm_tally(const struct fm *fm);

/* Brings up to date as what @node of the table is counted. */
enum fm_part fm_tally_part(const struct fm *fm, uint32_t node);

#endif /* FM_TALLY_H */
