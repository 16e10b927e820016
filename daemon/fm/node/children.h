/* SPDX-License-Identifier: GPL-2.0-only */
/* The half of the distribution tree below this node. */
#ifndef FM_CHILDREN_H
#define FM_CHILDREN_H

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;

void fm_child_hello(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
/* A HELLO to a node that is not the root. */
void fm_child_ask(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
void fm_child_accept(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
void fm_child_refuse(struct fm *fm, struct fm_conn *c, const char *why);
void fm_child_gone(struct fm *fm, const struct fm_conn *c);
void fm_children_announce(struct fm *fm);
void fm_children_drop(struct fm *fm);

#endif /* FM_CHILDREN_H */
