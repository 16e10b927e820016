/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plain facts of a node. Each struct is written by the one file that its comment names, and read by
 * many.
 */
#ifndef FM_FACTS_H
#define FM_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

#include "daemon/fm/wire/msg.h"

struct fm_book;

/**
 * struct fm_led - the root that welcomed this node last (follow.c)
 * @guid: GUID of that root; 0: no root has welcomed this node yet
 * @epoch: the epoch in which it led then
 * @since: when it first welcomed this node in that epoch
 * @address: service address of that root
 */
struct fm_led {
	uint64_t guid;
	uint64_t epoch;
	uint64_t since;
	char address[FM_ADDR_MAX];
};

/**
 * struct fm_kept - the latest table known from a disk, of this node or of another one (keep.c)
 * @book: nodes of that table; NULL: no kept table is known
 * @term, @version, @open, @plan, @line: as in struct fm_table, for that table
 * @root: GUID of the root that made it; 0: not known
 */
struct fm_kept {
	struct fm_book *book;
	uint64_t term, version, root;
	struct fm_line line;
	struct torus_plan plan;
	uint8_t open;
};

/**
 * struct fm_table - the exclusion table as this node has it (table.c)
 * @entry, @closed: pointers to those of @book
 * @news: nodes whose entries changed since the rows were last brought up to date (rows.c)
 * @nnews: number of @news; more than FM_NEWS_MAX: @news does not list them
 */
struct fm_table {
	uint64_t term, root_guid;	/* epoch and GUID of the root that made it */
	uint64_t version;	/* 0: there is no table */
	bool in_force;		/* it has come into force (root/quorum.c, rule T) */
	struct torus_shape shape;
	struct torus_plan plan;
	uint8_t open;
	bool pause;		/* all rows go on hold: the next table may have another shape */
	struct fm_voters voters;
	struct fm_line line;
	uint8_t clean;		/* mask of colours without packets, as the root reported last */
	uint32_t nodes;
	struct fm_book *book;
	struct fm_entry *entry;
	uint16_t *closed;
	uint32_t *news, nnews;
};

#endif /* FM_FACTS_H */
