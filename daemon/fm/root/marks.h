/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of nodes: those that have changed since the last table (changes.c). */
#ifndef FM_MARKS_H
#define FM_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/** struct fm_marks - a set of nodes; @is: for each node, true if it is in the set */
struct fm_marks {
	bool *is;
	uint32_t *node;
	uint32_t n;
};

/**
 * struct fm_changes - of the @nodes nodes of the table; 0: there is none yet
 * @table: nodes whose entry may be another in the next table
 * @odd: nodes whose entry may change although nothing about them has changed
 * @differ: nodes that are up in this table and not in one of the sets of voters, or the reverse
 * @closed: nodes that may have closed ports which are healthy by the table
 * @part: nodes that are to be counted anew (tally.c)
 */
struct fm_changes {
	uint32_t nodes;
	struct fm_marks table, odd, differ, closed, part;
};

#endif /* FM_MARKS_H */
