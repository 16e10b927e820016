/* SPDX-License-Identifier: GPL-2.0-only */
/* Books: the nodes of a table. Machines with the same library share them. */
#ifndef FM_LIBRARY_H
#define FM_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/wire/msg.h"
#include "lib/util/hash.h"

struct fm_library;

/**
 * struct fm_lack - whether a node or a cable does not work, although no administrator has excluded
 * it: @is, which is valid if @known
 */
struct fm_lack {
	bool known, is;
};

/**
 * struct fm_book - the nodes of a table
 * @library, @next: the library that shares it, and the next book there; NULL: it is private
 * @refs: how many tables use it; a shared book does not change, except by fm_table_ended()
 * @root, @term, @version: identify a shared book: GUID and epoch of the root, version of the table
 * @entry: one for each node
 * @closed: for each node a mask of the ports that must not be used, because either end of the cable
 *	is excluded
 * @orders: which user excluded which ports, and why
 * @jobs: the jobs whose ids entries have
 * @by_guid: node ids by GUID; empty: not indexed yet
 * @lack: found by status.c
 * @ups: 1 + number of nodes that are up; 0: not counted yet
 */
struct fm_book {
	struct fm_library *library;
	struct fm_book *next;
	uint32_t refs;
	uint64_t root, term, version;
	struct torus_shape shape;
	uint32_t nodes;
	struct fm_entry *entry;
	uint16_t *closed;
	struct fm_orders orders;
	struct fm_jobs jobs;
	struct hash by_guid;
	struct fm_lack lack;
	uint32_t ups;
};

/**
 * fm_book_new() - make a private book, in which all nodes are absent, with one reference. Return:
 * NULL if there is no memory
 */
struct fm_book *fm_book_new(const struct torus_shape *shape);
struct fm_book *fm_book_get(struct fm_book *b);
void fm_book_put(struct fm_book *b);
/**
 * fm_book_close() - compute @closed of all nodes, the ports that must not be used, from the entries
 */
void fm_book_close(struct fm_book *b);
/** fm_book_change() - replace @n entries and update @closed; @b must be private */
void fm_book_change(struct fm_book *b, const struct fm_entry *entry, uint32_t n);
/**
 * fm_book_orders() - replace the orders of the nodes in @m; if there is no memory, some orders are
 * lost
 */
void fm_book_orders(struct fm_book *b, const struct fm_table_msg *m);
/** fm_book_jobs() - replace the jobs, if @m has them; no memory: their descriptions are lost */
void fm_book_jobs(struct fm_book *b, const struct fm_table_msg *m);
/** fm_book_find() - Return: node id of the NIC @guid, or TORUS_NO_NODE */
uint32_t fm_book_find(struct fm_book *b, uint64_t guid);
/** fm_book_ups() - Return: number of nodes that are up */
uint32_t fm_book_ups(struct fm_book *b);
/**
 * fm_library_find() - Return: a new reference to the book of that root, term and version; NULL if
 * @l has none, or is NULL
 */
struct fm_book *fm_library_find(struct fm_library *l, uint64_t root, uint64_t term,
				uint64_t version, const struct torus_shape *shape);
/** fm_library_add() - share a private book, which must not be changed from then on */
void fm_library_add(struct fm_library *l, struct fm_book *b, uint64_t root, uint64_t term,
		    uint64_t version);

#endif /* FM_LIBRARY_H */
