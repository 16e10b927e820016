/* SPDX-License-Identifier: GPL-2.0-only */
/* The changes since the last table. */
#ifndef FM_CHANGES_H
#define FM_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_marks;
struct fm_root;

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
