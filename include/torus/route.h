/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Routing: which cables are fit for use, rows from that, increments, walks,
 * verification.
 *
 * An exclusion table is an array of one u16 for each node: bit p set means the
 * node's port p must not be used, in either direction of the cable. A cable that
 * one end excludes is excluded, whatever the other end says.
 *
 * Which path of all that a header can describe is taken, and why they never wait
 * for each other in a circle: lib/route/search.h; through which node, if no header
 * will do: lib/route/relay.h. All is decided by (shape, exclusions, from, to)
 * alone: every node computes the same.
 */
#ifndef TORUS_ROUTE_H
#define TORUS_ROUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/uapi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** torus_exclusions_close() - a cable excluded at one end is so at both */
void torus_exclusions_close(const struct torus_shape *shape, uint16_t *excluded);

/* --- health ---------------------------------------------------------------- */

/** struct torus_cable - from @node along +@dim */
struct torus_cable {
	uint32_t node;
	uint8_t dim;
};

/**
 * struct torus_health - a torus and its excluded cables
 *
 * One is shared by the rows of as many nodes as there are. No locks: whoever
 * changes it is alone with it and with all rows made from it.
 */
struct torus_health;

/**
 * torus_health_new() - @excluded: one entry a node, or NULL: nothing is
 * Return: 0, -EINVAL bad shape, -ENOMEM.
 */
int torus_health_new(const struct torus_shape *shape, const uint16_t *excluded,
		     struct torus_health **out);
void torus_health_free(struct torus_health *h);

/**
 * torus_health_set() - what @node says now
 * @ports: that it says must not be used; all others it says may be
 * @changed: the cables whose state changed, to be given to torus_routes_update();
 *	or NULL
 * Return: how many changed; -EINVAL there is no such node or port, -ENOMEM:
 * nothing has changed.
 */
int torus_health_set(struct torus_health *h, uint32_t node, uint16_t ports,
		     struct torus_cable changed[TORUS_MAX_PORTS]);

/** torus_health_cut() - whether the cable at this port is excluded or not there */
bool torus_health_cut(const struct torus_health *h, uint32_t node, unsigned int port);

/** torus_health_disagree() - whether the two ends of the cable say different things */
bool torus_health_disagree(const struct torus_health *h, uint32_t node, unsigned int port);

/**
 * torus_health_faults() - the excluded cables
 * @list: NULL or where to put them; valid until the next change
 * Return: how many.
 */
uint32_t torus_health_faults(const struct torus_health *h, const struct torus_cable **list);

/**
 * torus_health_component() - which nodes hang together
 * Return: the lowest node that healthy cables join @node to; TORUS_NO_NODE if out
 * of memory or there is no such node.
 */
uint32_t torus_health_component(struct torus_health *h, uint32_t node);

/* --- rows ------------------------------------------------------------------ */

/* Relays for destinations that no header reaches; without it they have no row. */
#define TORUS_ROUTES_RELAY 1u

/**
 * struct torus_routes - the rows of one node, kept up to date
 *
 * A destination that cannot be reached has an invalid row (0); the row of the node
 * to itself is valid with no DIR bits. A row with a relay describes the path to
 * that relay. TORUS_ROW_ADAPTIVE is set, with the adaptive bits, only if wherever
 * adaptivity can carry the packet a healthy way on exists (lib/route/box.h).
 */
struct torus_routes;

/** struct torus_range - rows @first to @first + @count - 1 */
struct torus_range {
	uint32_t first;
	uint32_t count;
};

/**
 * torus_routes_new() - rows of node @from
 * @h: must outlive them
 * @flags: TORUS_ROUTES_*
 * Return: 0, -EINVAL there is no such node, -ENOMEM.
 */
int torus_routes_new(struct torus_health *h, uint32_t from, unsigned int flags,
		     struct torus_routes **out);
void torus_routes_free(struct torus_routes *r);

/** torus_routes_rows() - one for each node; valid as long as @r */
const uint64_t *torus_routes_rows(const struct torus_routes *r);

/** torus_routes_invalid() - how many rows are invalid */
uint32_t torus_routes_invalid(const struct torus_routes *r);

/**
 * torus_routes_update() - the health has changed
 * @cables: those that changed since the rows were made or last updated; more do
 *	no harm; NULL: too many to list. The result is, bit for bit, what torus_routes_new() would
 *	make
 * @ranges, @n_ranges: rows that may have changed, in no order, perhaps more than
 *	once; valid until the next update. NULL if not wanted
 * Return: 0; -ENOMEM: the rows are not to be used, the next update makes them anew.
 */
int torus_routes_update(struct torus_routes *r, const struct torus_cable *cables, uint32_t n,
			const struct torus_range **ranges, uint32_t *n_ranges);

/**
 * torus_health_rows() - rows of node @from, once and into the caller's memory
 * @rows: one for each node
 * Return: number of invalid rows, or a negative errno.
 */
int torus_health_rows(struct torus_health *h, uint32_t from, unsigned int flags,
		      uint64_t *rows);

/** torus_route_rows() - the same from shape and exclusions, without relays */
int torus_route_rows(const struct torus_shape *shape, const uint16_t *excluded,
		     uint32_t from, uint64_t *rows);

/* --- walks ----------------------------------------------------------------- */

/** struct torus_hop - a node and the port by which the packet leaves it */
struct torus_hop {
	uint32_t node;
	uint8_t port;
};

enum torus_walk_end {
	TORUS_WALK_ARRIVED,
	TORUS_WALK_NO_ROW,	/* row invalid */
	TORUS_WALK_LOST,	/* DIR bits exhausted elsewhere */
	TORUS_WALK_DEAD_LINK,	/* crosses an excluded link (the last hop) */
	TORUS_WALK_ORDER,	/* a direction below the one before (the last hop) */
	TORUS_WALK_LOOP,	/* more hops than any path has: the router's fault, not the row's */
};

/**
 * torus_walk() - follow one row as routers do
 * @excluded: closed table, or NULL not to check for dead links
 * @hops: room for @max hops; *@n: how many were taken (may exceed @max)
 */
enum torus_walk_end torus_walk(const struct torus_shape *shape, const uint16_t *excluded,
			       uint32_t from, uint32_t to, uint64_t row,
			       struct torus_hop *hops, uint32_t max, uint32_t *n);

const char *torus_walk_end_text(enum torus_walk_end end);

/* --- verification ---------------------------------------------------------- */

/**
 * enum torus_wrong - what is wrong with a row, or with several together
 * The first are those of enum torus_walk_end.
 */
enum torus_wrong {
	TORUS_WRONG_NO_ROW = TORUS_WALK_NO_ROW,	/* though healthy cables lead there */
	TORUS_WRONG_LOST,
	TORUS_WRONG_DEAD_LINK,
	TORUS_WRONG_ORDER,
	TORUS_WRONG_LOOP,
	TORUS_WRONG_RING,	/* once round a ring: it would wait for itself */
	TORUS_WRONG_RELAY,	/* names no node, or itself, or the chain does not end */
	TORUS_WRONG_ESCAPE,	/* an adaptive packet may come where no healthy way goes on */
	TORUS_WRONG_CYCLE,	/* turns within a circle of waiting channels */
};

const char *torus_wrong_text(enum torus_wrong what);

/**
 * struct torus_culprit - a row that is wrong
 * @table: which of the tables
 * @node, @port: where it shows; TORUS_NO_NODE if nowhere in particular
 */
struct torus_culprit {
	enum torus_wrong what;
	unsigned int table;
	uint32_t from;
	uint32_t to;
	uint64_t row;
	uint32_t node;
	uint8_t port;
};

/**
 * struct torus_tables - rows of all nodes under one version
 * @rows: for each node its rows, or NULL: not known, and nothing said about them
 * @old: of a former version: rows may be invalid or end at a dead link, where
 *	routers park what comes
 */
struct torus_tables {
	const uint64_t *const *rows;
	bool old;
};

/**
 * struct torus_verify - what is to be verified
 * @excluded: closed table
 * @tables: @n of them; several: any node, source or relay, may use any of them
 * @up: nodes that count, or NULL: all that a healthy cable reaches
 * @culprit: told of every wrong row, NULL to count only; may be told of one row
 *	more than once
 */
struct torus_verify {
	const struct torus_shape *shape;
	const uint16_t *excluded;
	const struct torus_tables *tables;
	unsigned int n;
	const bool *up;
	void (*culprit)(void *arg, const struct torus_culprit *c);
	void *arg;
};

/**
 * struct torus_verified - what was found
 * @wrong: culprits
 * @pairs: of nodes joined by healthy cables
 * @apart: pairs of nodes that are not
 * @unroutable: of @pairs, those whose row is invalid or goes wrong
 * @relayed, @adaptive: such rows
 * @hops_max, @legs_max: of a packet's whole way, through all relays
 * @hops: of all pairs that are served, added up
 * @load_max: rows whose way, through all relays, crosses the busiest channel
 * @cycles: sets of channels that can wait for each other in a circle
 */
struct torus_verified {
	uint64_t wrong;
	uint64_t pairs, apart, unroutable, relayed, adaptive;
	uint32_t hops_max, legs_max;
	uint64_t load_max;
	uint32_t cycles;
	uint64_t hops;
};

/**
 * torus_verify() - whether every pair is served, and nothing can deadlock
 *
 * Every pair's row is walked as routers do, relay by relay; where adaptivity may
 * carry a packet, its escape is walked as well; all that channels may wait for
 * gives the channel dependency graph (lib/route/deps.h).
 * Return: 0 (look at @out->wrong), -EINVAL bad shape, -ENOMEM.
 */
int torus_verify(const struct torus_verify *v, struct torus_verified *out);

#ifdef __cplusplus
}
#endif
#endif /* TORUS_ROUTE_H */
