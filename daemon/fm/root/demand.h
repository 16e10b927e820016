/* SPDX-License-Identifier: GPL-2.0-only */
/* The demand for a new table, and when it is due. */
#ifndef FM_DEMAND_H
#define FM_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_root;

/* A root begins. Return: false: no memory. */
bool fm_demand_new(struct fm_root *r);
void fm_demand_free(struct fm_root *r);
/* Return: true if there is one; of the last one, since when, and how often it was asked for. */
bool fm_demand_is(const struct fm_root *r);
uint64_t fm_demand_since(const struct fm_root *r);
uint32_t fm_demand_asks(const struct fm_root *r);
/* The first cause to ask for it: FM_TEXT_MAX bytes. */
const char *fm_demand_cause(const struct fm_root *r);
/* When the table is to be made; NEVER: there is none, or it waits for a colour. */
uint64_t fm_demand_expiry(const struct fm_root *r);
/* It is made at @at; NEVER: when a colour is free. */
void fm_demand_put_off(struct fm *fm, uint64_t at);
/* The table is made. */
void fm_demand_end(struct fm *fm);

/* A new table is wanted, @delay from now at the latest; not before the fabric is settled. */
void fm_demand(struct fm *fm, uint64_t delay, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The network has drained, so colours are free. Return: true if a table waits for one. */
bool fm_demand_drained(struct fm *fm);

#endif /* FM_DEMAND_H */
