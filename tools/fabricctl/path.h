/* SPDX-License-Identifier: GPL-2.0-only */
/* The way of a packet from one node to another, by rows of the NICs. */
#ifndef PATH_H
#define PATH_H

#include "rows.h"

/**
 * struct path - where a packet goes
 * @n: hops taken
 * @via: the relays that it passes, in order
 * @unread: it ends at a relay whose row cannot be had: whether the packet arrives is not known
 * @room, @leg_max: hops that @hop has room for, that a leg takes
 */
struct path {
	struct torus_hop *hop;
	uint32_t n, room, leg_max;
	uint32_t *via;
	uint32_t nvia;
	bool unread;
	enum torus_walk_end end;
};

/** path_init() - Return: 0 or -ENOMEM */
int path_init(struct path *p, const struct torus_shape *shape);
void path_free(struct path *p);

/**
 * path_walk() - by the row of @from; rows of relays by @row_of
 * @excluded: closed table, or NULL
 * @row_of: row of a relay to @to; returns false if it cannot be had
 * Return: 0 or -ENOMEM.
 */
int path_walk(struct path *p, const struct torus_shape *shape, const uint16_t *excluded,
	      uint32_t from, uint32_t to, uint64_t row,
	      bool (*row_of)(void *arg, uint32_t at, uint32_t to, uint64_t *row), void *arg);

/** path_end_name() - the end as JSON has it: "arrived", "dead-link", ... */
const char *path_end_name(enum torus_walk_end end);

#endif /* PATH_H */
