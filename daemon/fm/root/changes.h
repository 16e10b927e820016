/* SPDX-License-Identifier: GPL-2.0-only */
/* The nodes whose table entries may have changed since the last table. */
#ifndef FM_CHANGES_H
#define FM_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

struct fm;
struct fm_marks;
struct fm_root;

/**
 * fm_changes_new() - allocate the empty sets of changed nodes for a table of @nodes nodes
 * Return: false if out of memory.
 */
bool fm_changes_new(struct fm_root *r, uint32_t nodes);
void fm_changes_free(struct fm_root *r);

/** fm_mark() - add @node to the set, unless it is there */
void fm_mark(struct fm_marks *m, uint32_t node);
/**
 * fm_unmark() - remove some node from the set, and write its id to @node. Return: false if the set
 * is empty
 */
bool fm_unmark(struct fm_marks *m, uint32_t *node);
/**
 * fm_change_node() - mark @node, because something that its table entry depends on has changed
 * Does nothing for TORUS_NO_NODE.
 */
void fm_change_node(struct fm *fm, uint32_t node);
/**
 * fm_change_place() - mark @node and its neighbours
 * Called when another node has the place @node, or when links there have changed.
 */
void fm_change_place(struct fm *fm, uint32_t node);

#endif /* FM_CHANGES_H */
