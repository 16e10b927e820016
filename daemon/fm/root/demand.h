/* SPDX-License-Identifier: GPL-2.0-only */
/* The demand for a new table, and when it is due. */
#ifndef FM_DEMAND_H
#define FM_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_root;

/* Allocates the state of demand.c for a new root. Return: false if there is no memory. */
bool fm_demand_new(struct fm_root *r);
void fm_demand_free(struct fm_root *r);
/** fm_demand_is() - Return: true if a new table is wanted */
bool fm_demand_is(const struct fm_root *r);
/*
 * The present demand for a table, or the last one: fm_demand_since() returns the time of its first
 * change, fm_demand_asks() the number of changes.
 */
uint64_t fm_demand_since(const struct fm_root *r);
uint32_t fm_demand_asks(const struct fm_root *r);
const char *fm_demand_cause(const struct fm_root *r);	/* text of the first change, FM_TEXT_MAX
							 * bytes */
/**
 * fm_demand_expiry() - Return: when the wanted table is to be made; NEVER if none is wanted, or it
 * waits for a free colour
 */
uint64_t fm_demand_expiry(const struct fm_root *r);
/** fm_demand_put_off() - delay the wanted table until @at; NEVER: until a colour is free */
void fm_demand_put_off(struct fm *fm, uint64_t at);
/** fm_demand_end() - called when the wanted table is made */
void fm_demand_end(struct fm *fm);

/**
 * fm_demand() - ask for a new table, to be made within @delay ns; ignored before the first table
 */
void fm_demand(struct fm *fm, uint64_t delay, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/**
 * fm_demand_drained() - called when the network has drained. Return: true if a table waited for a
 * free colour
 */
bool fm_demand_drained(struct fm *fm);

#endif /* FM_DEMAND_H */
