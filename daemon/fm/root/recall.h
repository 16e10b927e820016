/* SPDX-License-Identifier: GPL-2.0-only */
/* What was excluded under the former root. */
#ifndef FM_RECALL_H
#define FM_RECALL_H

#include <torus/topology.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_book;
struct fm_conn;
struct fm_table_msg;
struct fm_root;

/**
 * struct fm_told - what the former root told last, as nodes say that have its latest table
 * @epoch: of that root; 0: no node had a table
 * @table: its version; @root: its GUID; @ups: nodes that are up in it
 * @voters, @clean, @open: as in fm_hello
 */
struct fm_told {
	uint64_t epoch;
	uint64_t table, root;
	uint32_t ups;
	struct fm_voters voters;
	uint8_t clean;
	uint8_t open;
};

/* What this node's own table says, which may be the latest. */
void fm_recall_own(struct fm *fm);
/* The node of that HELLO has kept a later table than this one: it is asked for it. */
void fm_recall_ask(struct fm *fm, const struct fm_conn *c, const struct fm_hello *h);
/* The answer. */
void fm_recall_kept(struct fm *fm, const struct fm_table_msg *m);
/* How many nodes there were when that was kept which the first table begins with; 0: not known. */
uint32_t fm_recall_nodes(const struct fm *fm);
/* The table that this node has is the latest that any has who has said HELLO. */
bool fm_recall_has_latest(const struct fm *fm);
/* The place that the NIC had in the table before the first of this root, or TORUS_NO_NODE. */
uint32_t fm_recall_place(const struct fm *fm, uint64_t guid);
/* The table before the first of this root, if it was of that shape: for fm_book_put(), or NULL. */
struct fm_book *fm_recall_book(const struct fm *fm, const struct torus_shape *shape);
void fm_recall_hello(struct fm *fm, const struct fm_hello *h);
/* The fabric gets that shape: what was said is taken over. */
void fm_recall_end(struct fm *fm, const struct torus_shape *shape);
void fm_recall_free(struct fm_root *r);

#endif /* FM_RECALL_H */
