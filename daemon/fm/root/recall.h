/* SPDX-License-Identifier: GPL-2.0-only */
/* The decisions of the former root: exclusions, shape, places and votes. */
#ifndef FM_RECALL_H
#define FM_RECALL_H

#include <torus/topology.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_book;
struct fm_conn;
struct fm_record;
struct fm_table_msg;
struct fm_root;
struct fm_voters;

/** fm_past_same() - Return: true if @a and @b identify the same table */
bool fm_past_same(const struct fm_past *a, const struct fm_past *b);

/* Allocates the state of recall.c for a new root. Return: false if there is no memory. */
bool fm_recall_new(struct fm_root *r);
void fm_recall_free(struct fm_root *r);

/**
 * fm_recall_own() - use the table in memory and the kept table of this node itself, when the root
 * begins
 */
void fm_recall_own(struct fm *fm);
/** fm_recall_hello() - store the table and the exclusions that a HELLO describes */
void fm_recall_hello(struct fm *fm, const struct fm_hello *h);
/**
 * fm_recall_ask() - ask the node that sent HELLO for its kept table, if that is later than this
 * node's
 */
void fm_recall_ask(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h);
/** fm_recall_kept() - process a kept table that a node has sent */
void fm_recall_kept(struct fm *fm, const struct fm_table_msg *m);
/**
 * fm_recall_fetch() - ask the node that sent @h for its table, if that is the latest and this node
 * lacks it
 */
void fm_recall_fetch(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h);
/**
 * fm_recall_keeps() - Return: true if @m has a table that this root may still have to ask it for
 * Such a node has to stay connected to the root, so it gets no other parent.
 */
bool fm_recall_keeps(const struct fm *fm, const struct fm_record *m);
/** fm_recall_due() - ask another node for the wanted table, if the last one has not answered */
void fm_recall_due(struct fm *fm);
uint64_t fm_recall_expiry(const struct fm *fm);
/**
 * fm_recall_awaits() - Return: until when this root delays its first table because it has asked for
 * the latest table of former roots; 0 if it does not
 */
uint64_t fm_recall_awaits(const struct fm *fm);
/**
 * fm_recall_sent() - process a table that a node has sent. Return: true if it is the latest one,
 * and is used
 */
bool fm_recall_sent(struct fm *fm, const struct fm_table_msg *m);
/** fm_recall_table() - Return: table @id, with its voters, if this node has it; or NULL */
struct fm_book *fm_recall_table(const struct fm *fm, const struct fm_past *id,
				const struct fm_voters **voters);
/** fm_recall_nodes() - Return: number of nodes in the kept table that this root uses, or 0 */
uint32_t fm_recall_nodes(const struct fm *fm);
/**
 * fm_recall_has_latest() - Return: true if no node that sent HELLO has a later table than this node
 */
bool fm_recall_has_latest(const struct fm *fm);
/** fm_recall_place() - Return: node id that the NIC had before this root, or TORUS_NO_NODE */
uint32_t fm_recall_place(const struct fm *fm, uint64_t guid);
/**
 * fm_recall_book() - get the latest table of former roots, if it has the shape @shape
 * @voters: set to the voters of that table
 * Return: a reference for fm_book_put(), or NULL.
 */
struct fm_book *fm_recall_book(const struct fm *fm, const struct torus_shape *shape,
			       struct fm_voters *voters);
/**
 * fm_recall_end() - take over all known exclusions of former roots, when the fabric gets @shape
 * @former: of fm_recall_book(); its jobs go on
 */
void fm_recall_end(struct fm *fm, const struct torus_shape *shape, const struct fm_book *former);
/** fm_recall_forget() - forget the exclusions in HELLOs, and the table that was sent */
void fm_recall_forget(struct fm_root *r);

#endif /* FM_RECALL_H */
