/* SPDX-License-Identifier: GPL-2.0-only */
/* The latest table of the former root, as far as nodes have told (recall.c). */
#ifndef FM_TOLD_H
#define FM_TOLD_H

#include <stdint.h>

#include "daemon/fm/wire/msg.h"

/**
 * struct fm_told - the last state of the former root, as told by nodes that have its latest table
 * @epoch, @root: of that root, and its GUID; @table: version, 0: none; @ups: nodes up in it
 * @voters, @line, @clean, @open: as in fm_hello
 */
struct fm_told {
	uint64_t epoch;
	uint64_t table, root;
	uint32_t ups;
	struct fm_voters voters;
	struct fm_line line;
	uint8_t clean, open;
};

static inline struct fm_past fm_told_id(const struct fm_told *t)
{
	return (struct fm_past) { .epoch = t->epoch, .version = t->table, .root = t->root };
}

#endif /* FM_TOLD_H */
