/* SPDX-License-Identifier: GPL-2.0-only */
/* Plain facts of a node: one file writes each, many read it. */
#ifndef FM_FACTS_H
#define FM_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

#include "daemon/fm/wire/msg.h"

struct fm_book;

/** struct fm_led - the root that has welcomed this node last, and when; @guid 0: none (follow.c) */
struct fm_led {
	uint64_t guid;
	uint64_t epoch;
	uint64_t since;
	char address[FM_ADDR_MAX];
};

/**
 * struct fm_kept - the table that was kept last, as it was found, or as another node has it
 *	(keep.c)
 * @book: NULL: there is none
 * @term, @version, @open, @line: of it; @root: GUID of the root that made it, 0: not known
 */
struct fm_kept {
	struct fm_book *book;
	uint64_t term, version, root;
	struct fm_line line;
	uint8_t open;
};

/**
 * struct fm_table - the exclusion table as this node has it (table.c)
 * @entry, @closed: of @book
 * @news: nodes whose entries changed since the rows followed last (rows.c)
 * @nnews: of them; more than FM_NEWS_MAX: not listed
 */
struct fm_table {
	uint64_t term, root_guid;	/* of the root that made it */
	uint64_t version;	/* 0: none */
	struct torus_shape shape;
	uint8_t open;
	bool pause;		/* all rows are to be on hold */
	struct fm_voters voters;
	struct fm_line line;
	uint8_t clean;		/* mask of colours without packets, as the root told last */
	uint32_t nodes;
	struct fm_book *book;
	struct fm_entry *entry;
	uint16_t *closed;
	uint32_t *news, nnews;
};

#endif /* FM_FACTS_H */
