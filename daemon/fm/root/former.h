/* SPDX-License-Identifier: GPL-2.0-only */
/* The latest table of the former root, as far as it is known from HELLOs (recall.c). */
#ifndef FM_FORMER_H
#define FM_FORMER_H

#include <stdint.h>

#include "daemon/fm/wire/msg.h"

/**
 * struct fm_former - the latest table of the former root, as the HELLOs of nodes that have it
 * describe it
 * @epoch, @root: epoch and GUID of that root
 * @table: version of the table; 0: no node has one
 * @ups: number of nodes that are up in that table
 * @in_force: one of these nodes knows that it has come into force
 * @voters, @line, @clean, @open, @plan: as in fm_hello
 */
struct fm_former {
	uint64_t epoch;
	uint64_t table, root;
	uint32_t ups;
	bool in_force;
	struct fm_voters voters;
	struct fm_line line;
	struct torus_plan plan;
	uint8_t clean, open;
};

static inline struct fm_past fm_former_id(const struct fm_former *t)
{
	return (struct fm_past) { .epoch = t->epoch, .version = t->table, .root = t->root };
}

#endif /* FM_FORMER_H */
