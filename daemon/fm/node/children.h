/* SPDX-License-Identifier: GPL-2.0-only */
/* The children of this node in the distribution tree: the nodes directly below it. */
#ifndef FM_CHILDREN_H
#define FM_CHILDREN_H

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;

/**
 * fm_child_hello() - process HELLO on @c: refuse a node of another fabric or with a wrong GUID, and
 * pass any other HELLO to the hello() of fm->up
 */
void fm_child_hello(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
/**
 * fm_child_ask() - process HELLO on a node that is not root: accept the sender as a child, or
 * refuse it
 */
void fm_child_ask(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
/**
 * fm_child_accept() - make the peer of @c a child, announce it to the root, and send it the table
 * and the step that it lacks
 */
void fm_child_accept(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
/** fm_child_defer() - as fm_child_refuse(); the node may join after @wait ns */
void fm_child_defer(struct fm *fm, struct fm_conn *c, uint64_t wait, const char *why);
/** fm_child_refuse() - send REFUSE with the reason @why, and close @c */
void fm_child_refuse(struct fm *fm, struct fm_conn *c, const char *why);
/** fm_child_gone() - called when the connection @c to a child has ended and was removed */
void fm_child_gone(struct fm *fm, const struct fm_conn *c);
/**
 * fm_children_announce() - report all children to the root by ADOPTED, and send them WELCOME
 * Called when the connection of this node to its parent or to the root is new.
 */
void fm_children_announce(struct fm *fm);
/** fm_children_drop() - close the connections of all children */
void fm_children_drop(struct fm *fm);

#endif /* FM_CHILDREN_H */
