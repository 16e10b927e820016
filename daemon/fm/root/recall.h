/* SPDX-License-Identifier: GPL-2.0-only */
/* Exclusions, and more, of the former root. */
#ifndef FM_RECALL_H
#define FM_RECALL_H

#include <torus/topology.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_book;
struct fm_conn;
struct fm_table_msg;
struct fm_root;
struct fm_voters;

bool fm_past_same(const struct fm_past *a, const struct fm_past *b);	/* one table? */

/* A root begins. Return: false: no memory. */
bool fm_recall_new(struct fm_root *r);
void fm_recall_free(struct fm_root *r);

/* Takes this node's own table, which may be the latest. */
void fm_recall_own(struct fm *fm);
/* If the node of that HELLO has kept a later table than this one, asks it for that. */
void fm_recall_ask(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h);
void fm_recall_kept(struct fm *fm, const struct fm_table_msg *m);	/* the answer to that */
/*
 * This one asks to be root, or leads and has no table yet. The node of that HELLO has the latest table,
 * which this one lacks.
 */
void fm_recall_fetch(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h);
/* It leads, and that node does not answer: asks another one that has that table. */
void fm_recall_due(struct fm *fm);
uint64_t fm_recall_expiry(const struct fm *fm);
/* Return: until when the answer to that is waited for; 0: it is not. */
uint64_t fm_recall_awaits(const struct fm *fm);
/* The answer to that. Return: true if it is taken. */
bool fm_recall_sent(struct fm *fm, const struct fm_table_msg *m);
/* That table and its voters, if this node has it, or was sent it; or NULL. */
struct fm_book *fm_recall_table(const struct fm *fm, const struct fm_past *id,
				const struct fm_voters **voters);
/* The number of nodes in the kept table with which the first table begins; 0: not known. */
uint32_t fm_recall_nodes(const struct fm *fm);
/* True if this node has, or was sent, the latest table of all nodes that have said HELLO. */
bool fm_recall_has_latest(const struct fm *fm);
/* The place that the NIC had in the table before the first of this root, or TORUS_NO_NODE. */
uint32_t fm_recall_place(const struct fm *fm, uint64_t guid);
/*
 * The table before the first of this root, if it was of that shape, and its voters: for
 * fm_book_put(), or NULL.
 */
struct fm_book *fm_recall_book(const struct fm *fm, const struct torus_shape *shape,
			       struct fm_voters *voters);
void fm_recall_hello(struct fm *fm, const struct fm_hello *h);
/* The fabric gets that shape: takes over the statements of all nodes. */
void fm_recall_end(struct fm *fm, const struct torus_shape *shape);
/* Forgets what nodes have said, and the table that was sent. */
void fm_recall_forget(struct fm_root *r);

#endif /* FM_RECALL_H */
