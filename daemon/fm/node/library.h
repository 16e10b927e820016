/* SPDX-License-Identifier: GPL-2.0-only */
/* Books: the nodes of a table, which machines of a library share. */
#ifndef FM_LIBRARY_H
#define FM_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

#include "daemon/fm/node/orders.h"
#include "daemon/fm/wire/msg.h"
#include "lib/util/hash.h"

struct fm_library;

/**
 * struct fm_cables - how many cables there are, by state, if @counted
 * @excluded: by an administrator, or because they are wired wrongly: these are @miswired
 * @away: nodes that are not up, though no administrator has taken them out of service
 */
struct fm_cables {
	bool counted;
	uint32_t all, up, faulty, excluded, miswired, away;
};

/**
 * struct fm_book - the nodes of a table; may be shared, and is then not changed
 * @next: in the library
 * @orders: why ports are excluded by order
 * @by_guid: node ids; empty: not made yet
 * @cables: status.c counts them
 */
struct fm_book {
	struct fm_library *library;
	struct fm_book *next;
	uint32_t refs;
	uint64_t root, term, version;
	struct torus_shape shape;
	uint32_t nodes;
	struct fm_entry *entry;	/* one for each node */
	uint16_t *closed;	/* exclusions, closed */
	struct fm_orders orders;
	struct hash by_guid;
	struct fm_cables cables;
	uint32_t ups;		/* nodes that are up, + 1; 0: not counted yet */
};

/* New books and copies are private and all zero. */
struct fm_book *fm_book_new(const struct torus_shape *shape);
struct fm_book *fm_book_get(struct fm_book *b);
void fm_book_put(struct fm_book *b);
void fm_book_close(struct fm_book *b);
/* Some entries become others: the exclusions follow. */
void fm_book_change(struct fm_book *b, const struct fm_entry *entry, uint32_t n);
/* Orders of the nodes of @m become those that it has. For lack of memory they become fewer. */
void fm_book_orders(struct fm_book *b, const struct fm_table_msg *m);
uint32_t fm_book_find(struct fm_book *b, uint64_t guid);
/* How many nodes are up in it. */
uint32_t fm_book_ups(struct fm_book *b);
struct fm_book *fm_library_find(struct fm_library *l, uint64_t root, uint64_t term,
				uint64_t version, const struct torus_shape *shape);
void fm_library_add(struct fm_library *l, struct fm_book *b, uint64_t root, uint64_t term,
		    uint64_t version);

#endif /* FM_LIBRARY_H */
