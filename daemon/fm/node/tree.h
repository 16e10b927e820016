/* SPDX-License-Identifier: GPL-2.0-only */
/* The distribution tree: joining, keep-alive, the way up. */
#ifndef FM_TREE_H
#define FM_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;

/** struct fm_tree - this node's place in the distribution tree */
struct fm_tree {
	struct fm_conn **conns;
	unsigned int nconns, room;
	struct fm_conn **by_id, **by_guid;	/* hashes; @by_guid: children */
	unsigned int nslots;
	uint64_t due;		/* no connection must be looked at before */
	uint64_t retry;		/* when to try the root again; NEVER */
	uint64_t backoff;
	bool stray;		/* the parent we were given did not take us */
	char parent[FM_ADDR_MAX];
	uint64_t term;
	uint64_t attach;	/* last number given to a connection upward */
	uint32_t row_told;	/* serial in the last HELLO */
	uint32_t row_acked;
	uint64_t row_next;	/* when to say the row again */
	uint64_t row_wait;	/* ... and how much later once more */
	uint64_t cut_off;	/* since when there is no way to the root; 0: there is */
};

void fm_tree_start(struct fm *fm);
void fm_tree_root_known(struct fm *fm);
void fm_tree_up(struct fm *fm, int id);
void fm_tree_down(struct fm *fm, int id);
void fm_tree_msg(struct fm *fm, int id, const struct fm_msg *msg);
void fm_tree_row(struct fm *fm);	/* the own row changed */
void fm_tree_rejoin(struct fm *fm);
/* Reports of a new step are waited for. */
void fm_tree_awaits(struct fm *fm);
void fm_tree_row_acked(struct fm *fm, uint32_t serial);
void fm_tree_due(struct fm *fm);
uint64_t fm_tree_expiry(const struct fm *fm);
struct fm_conn *fm_tree_upstream(struct fm *fm);
void fm_tree_drop(struct fm *fm, struct fm_conn *c);
void fm_tree_send(struct fm *fm, const struct fm_conn *c, const struct fm_msg *msg);
void fm_tree_send_up(struct fm *fm, const struct fm_msg *msg);
/* Says that this node is there, and whether it has a way to the root. */
void fm_tree_pong(struct fm *fm, const struct fm_conn *c);

#endif /* FM_TREE_H */
