/* SPDX-License-Identifier: GPL-2.0-only */
/* The way up: the connections of this node to the root and to its parent. */
#ifndef FM_UPLINK_H
#define FM_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_conn;
struct fm_hello;

/** struct fm_uplink - this node's place in the distribution tree */
struct fm_uplink {
	uint64_t retry;		/* when to try the root again; NEVER */
	uint64_t backoff;
	bool stray;		/* the parent we were given did not take us */
	char parent[FM_ADDR_MAX];
	uint64_t attach;	/* last number given to a connection upward */
	uint32_t row_told;	/* serial in the last HELLO */
	uint32_t row_acked;
	uint64_t row_next;	/* when to say the row again */
	uint64_t row_wait;	/* ... and how much later once more */
	struct fm_claim asker;	/* last CLAIM of the followed node that asks to be root */
};

void fm_uplink_start(struct fm *fm);
void fm_uplink_due(struct fm *fm);
uint64_t fm_uplink_expiry(const struct fm *fm);

/* The connection that leads to the root now, or NULL. */
struct fm_conn *fm_uplink_conn(const struct fm *fm);
void fm_uplink_send(struct fm *fm, const struct fm_msg *msg);
/* Asks the parent whether it lives. */
void fm_uplink_ask(struct fm *fm);
/* Says that this node is there, and whether it has a way to the root. */
void fm_uplink_pong(struct fm *fm, const struct fm_conn *c);
/* The way to the root is lost or found; all below are told. */
void fm_uplink_adrift(struct fm *fm, bool adrift);
/* Says HELLO there as soon as the counters that are in it are read. */
void fm_uplink_hello(struct fm *fm, struct fm_conn *c);
void fm_uplink_counted(struct fm *fm);
/* Says in @h what a HELLO to the root says of this node. */
void fm_uplink_describe(struct fm *fm, struct fm_hello *h);
/* Tries the root again, @least ns later at least. */
void fm_uplink_retry(struct fm *fm, uint64_t least);
/* Tries the root at once, unless that is under way. */
void fm_uplink_hurry(struct fm *fm);
/* The root gives this node that parent. */
void fm_uplink_parent(struct fm *fm, const char *address);
void fm_uplink_root_known(struct fm *fm);
void fm_uplink_rejoin(struct fm *fm);
void fm_uplink_leave(struct fm *fm);
/* The own row changed. */
void fm_uplink_row(struct fm *fm);
void fm_uplink_row_acked(struct fm *fm, uint32_t serial);

#endif /* FM_UPLINK_H */
