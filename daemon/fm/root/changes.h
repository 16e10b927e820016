/* SPDX-License-Identifier: GPL-2.0-only */
/* The changes since the last table. */
#ifndef FM_CHANGES_H
#define FM_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_root;

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

bool fm_changes_new(struct fm_root *r, uint32_t nodes);
void fm_changes_free(struct fm_root *r);

void fm_mark(struct fm_marks *m, uint32_t node);
/* Takes one out. False: there is none. */
bool fm_unmark(struct fm_marks *m, uint32_t *node);
/* Something about @node changed, which may be TORUS_NO_NODE. */
void fm_change_node(struct fm *fm, uint32_t node);
/* The same, if another node stands there. */
void fm_change_place(struct fm *fm, uint32_t node);

#endif /* FM_CHANGES_H */
