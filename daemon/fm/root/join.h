/* SPDX-License-Identifier: GPL-2.0-only */
/* How nodes come and go. */
#ifndef FM_JOIN_H
#define FM_JOIN_H

#include <stdint.h>

struct fm;
struct fm_conn;
struct fm_hello;
struct fm_msg;

void fm_join_hello(struct fm *fm, struct fm_conn *c, const struct fm_hello *h);
/* The node has gone to its parent as told; the parent will announce it. */
void fm_join_moves(struct fm *fm, uint64_t guid);
/* A row, or a notice that a node came or left, from anywhere below. */
void fm_join_msg(struct fm *fm, const struct fm_msg *msg);

#endif /* FM_JOIN_H */
