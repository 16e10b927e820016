/* SPDX-License-Identifier: GPL-2.0-only */
/* What changed, and who takes part. */
#ifndef FM_TALLY_H
#define FM_TALLY_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;

/** struct fm_marks - a set of nodes; @is: of each, whether it is in it */
struct fm_marks {
	bool *is;
	uint32_t *node;
	uint32_t n;
};

enum fm_part {
	FM_PART_NONE,
	FM_PART_TAKES,		/* takes part in the version at hand */
	FM_PART_LIVES,		/* lives and does not */
	FM_PARTS,
};

/**
 * struct fm_tally - what changed and who takes part (tally.c)
 * @nodes: of the table; 0: there is none yet
 * @table: whose entry may be another in the next table
 * @odd: whose entry may change by what others do
 * @closed: who may have ports that are closed although the table says healthy
 * @part: who is to be counted anew; @kind, @counted: as what it was, its fingerprint
 * @parts: how many are what (enum fm_part), modulo 2^32; @set: sum of fingerprints
 */
struct fm_tally {
	uint32_t nodes;
	struct fm_marks table, odd, closed, part;
	uint8_t *kind;
	uint64_t *counted;
	uint32_t parts[FM_PARTS];
	uint64_t set;
};

void fm_mark(struct fm_marks *m, uint32_t node);
/* Takes one out. False: there is none. */
bool fm_unmark(struct fm_marks *m, uint32_t *node);
bool fm_tally_start(struct fm *fm, uint32_t nodes);
void fm_tally_free(struct fm_root *r);
/* Something about @node changed, which may be TORUS_NO_NODE. */
void fm_tally_node(struct fm *fm, uint32_t node);
/* ... who stands there. */
void fm_tally_place(struct fm *fm, uint32_t node);
/* Up to date as to who takes part. */
const struct fm_tally *fm_tally(const struct fm *fm);

#endif /* FM_TALLY_H */
