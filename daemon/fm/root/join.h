/* SPDX-License-Identifier: GPL-2.0-only */
/* How nodes come and go. */
#ifndef FM_JOIN_H
#define FM_JOIN_H

#include <stdint.h>

struct fm;
struct fm_conn;
struct fm_hello;
struct fm_msg;

/** fm_join_hello() - process HELLO on @c: refuse the node, answer by CLAIM, or welcome it */
void fm_join_hello(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
/** fm_join_moves() - called when a node has left the root for its parent, which will announce it */
void fm_join_moves(struct fm *fm, uint64_t guid);
/** fm_join_msg() - process a message for the root from a node below */
void fm_join_msg(struct fm *fm, const struct fm_msg *msg);

#endif /* FM_JOIN_H */
