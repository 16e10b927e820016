/* SPDX-License-Identifier: GPL-2.0-only */
/* The demand for a new table, and when it is due. */
#ifndef FM_DEMAND_H
#define FM_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;

/**
 * struct fm_demand - for a new table
 * @is: there is one, @since then; @asks: how often it was asked for
 * @at: the table is made; NEVER: it waits for a colour
 * @cause: what was first to ask for it
 */
struct fm_demand {
	bool is;
	uint32_t asks;
	uint64_t since;
	uint64_t at;
	char cause[FM_TEXT_MAX];
};

/* A new table is wanted, @delay from now at the latest; not before the fabric is settled. */
void fm_demand(struct fm *fm, uint64_t delay, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The network has drained, so colours are free. Return: true if a table waits for one. */
bool fm_demand_free(struct fm *fm);

#endif /* FM_DEMAND_H */
