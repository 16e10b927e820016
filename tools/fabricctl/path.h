/* SPDX-License-Identifier: GPL-2.0-only */
/* The path of a packet from one node to another, by the rows of the NICs. */
#ifndef PATH_H
#define PATH_H

#include "rows.h"

/**
 * struct path - the path of a packet
 * @n: number of hops
 * @via: the relays on the path, in order
 * @unread: the path ends at a relay whose row cannot be read, so it is not known if the packet
 *	arrives
 * @room: hops for which @hop has room; @leg_max: most hops of a leg
 */
struct path {
	struct torus_hop *hop;
	uint32_t n, room, leg_max;
	uint32_t *via;
	uint32_t nvia;
	bool unread;
	enum torus_walk_end end;
};

/** path_init() - allocate a path. Return: 0 or -ENOMEM */
int path_init(struct path *p, const struct torus_shape *shape);
void path_free(struct path *p);

/**
 * path_walk() - follow the path from @from to @to
 * @excluded: closed table, or NULL
 * @row_of: gets the row of a relay to @to; returns false if it cannot be read
 * Return: 0 or -ENOMEM.
 */
int path_walk(struct path *p, const struct torus_shape *shape, const uint16_t *excluded,
	      uint32_t from, uint32_t to, uint64_t row,
	      bool (*row_of)(void *arg, uint32_t at, uint32_t to, uint64_t *row), void *arg);

/** path_end_name() - Return: the name of the path's end in JSON: "arrived", "dead-link", ... */
const char *path_end_name(enum torus_walk_end end);

#endif /* PATH_H */
