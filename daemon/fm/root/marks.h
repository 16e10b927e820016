/* SPDX-License-Identifier: GPL-2.0-only */
/* Sets of nodes, such as those that have changed since the last table (changes.c). */
#ifndef FM_MARKS_H
#define FM_MARKS_H

#include <stdbool.h>
#include <stdint.h>

/** struct fm_marks - a set of @n nodes; @is: for each node, true if it is in the list @node */
struct fm_marks {
	bool *is;
	uint32_t *node;
	uint32_t n;
};

/**
 * struct fm_changes - sets of nodes of the table
 * @nodes: number of nodes in the table; 0: there is none yet
 * @table: nodes whose entry may differ in the next table
 * @odd: nodes with irregular cables: their entry may change although their own port row does not
 * @differ: nodes that are up in this table and are missing in one of the sets of voters, or the
 *	reverse
 * @closed: nodes that may have ports which are closed although they are healthy in the table
 * @part: nodes that have to be counted again (tally.c)
 */
struct fm_changes {
	uint32_t nodes;
	struct fm_marks table, odd, differ, closed, part;
};

#endif /* FM_MARKS_H */
