/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Routing: healthy cables, the rows that follow from them, updates of rows, walks, verification.
 *
 * An exclusion table is an array of one u16 for each node: if bit p is set, the node's port p must
 * not be used, in either direction of the cable. A cable that either end excludes is excluded. In a
 * closed table (torus_exclusions_close()) both ends exclude it.
 *
 * lib/route/search.h defines which path a row takes, and proves that packets cannot deadlock;
 * lib/route/relay.h defines which relay it takes if no header describes a path. Rows depend on
 * shape, exclusions, source and destination alone, so all nodes compute the same rows.
 */
#ifndef TORUS_ROUTE_H
#define TORUS_ROUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/uapi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** torus_exclusions_close() - exclude both ends of each cable that one end excludes, in place */
void torus_exclusions_close(const struct torus_shape *shape, uint16_t *excluded);

/* --- health ---------------------------------------------------------------- */

/**
 * struct torus_cable - a cable
 * @node: the node at its end in negative direction
 * @dim: dimension of the cable, which is at port +@dim of @node
 */
struct torus_cable {
	uint32_t node;
	uint8_t dim;
};

/**
 * struct torus_health - a torus and its excluded cables
 *
 * The rows of any number of nodes may share one struct. There are no locks: while one thread
 * changes it, no other thread may use it or rows made from it.
 */
struct torus_health;

/**
 * torus_health_new() - make a torus with these excluded cables
 * @shape: shape of the torus
 * @excluded: exclusion table, or NULL if nothing is excluded
 * @out: set to the torus; the caller frees it with torus_health_free()
 * Return: 0; -EINVAL if the shape is invalid; -ENOMEM.
 */
int torus_health_new(const struct torus_shape *shape, const uint16_t *excluded,
		     struct torus_health **out);
/** torus_health_free() - free @h, which may be NULL; all rows made from it must have been freed */
void torus_health_free(struct torus_health *h);

/**
 * torus_health_set() - replace the exclusions of one node
 * @h: the torus
 * @node: the node
 * @ports: mask of its ports that must not be used
 * @changed: gets the cables whose state changed, for torus_routes_update(); or NULL
 * Return: number of cables whose state changed; -EINVAL if there is no such node or port, or
 * -ENOMEM, and then nothing has changed.
 */
int torus_health_set(struct torus_health *h, uint32_t node, uint16_t ports,
		     struct torus_cable changed[TORUS_MAX_PORTS]);

/** torus_health_cut() - Return: true if the cable at this port is excluded or does not exist */
bool torus_health_cut(const struct torus_health *h, uint32_t node, unsigned int port);

/**
 * torus_health_disagree() - Return: true if one end of the cable excludes it and the other end does
 * not
 */
bool torus_health_disagree(const struct torus_health *h, uint32_t node, unsigned int port);

/**
 * torus_health_faults() - list the excluded cables
 * @h: the torus
 * @list: gets an array that is valid until the next change; or NULL
 * Return: number of excluded cables.
 */
uint32_t torus_health_faults(const struct torus_health *h, const struct torus_cable **list);

/**
 * torus_health_component() - find the connected component of a node
 * Return: its lowest node id, which is the same for all nodes of the component; TORUS_NO_NODE if
 * there is no such node, or no memory.
 */
uint32_t torus_health_component(struct torus_health *h, uint32_t node);

/* --- rows ------------------------------------------------------------------ */

/*
 * Use relays for destinations that no header reaches; without this flag such destinations have no
 * row.
 */
#define TORUS_ROUTES_RELAY 1u

/**
 * struct torus_routes - the rows of one node, which can be updated
 *
 * A destination that cannot be reached has an invalid row (0); the row of the node to itself is
 * valid with no DIR bits. A row with a relay describes the path to that relay. TORUS_ROW_ADAPTIVE
 * and the adaptive bits are set only if a healthy path continues from every node to which adaptive
 * routing can take the packet (lib/route/box.h). The adaptive bits are the DIR bits, and both
 * directions of a dimension in which the destination is half way round, if both are as good.
 */
struct torus_routes;

/**
 * struct torus_range - consecutive rows
 * @first: node id of the first row
 * @count: number of rows
 */
struct torus_range {
	uint32_t first;
	uint32_t count;
};

/**
 * torus_routes_new() - compute the rows of one node
 * @h: the torus; it must not be freed before the rows
 * @from: the node
 * @flags: TORUS_ROUTES_*
 * @out: gets the rows, for torus_routes_free()
 * Return: 0; -EINVAL if there is no such node; -ENOMEM.
 */
int torus_routes_new(struct torus_health *h, uint32_t from, unsigned int flags,
		     struct torus_routes **out);
/** torus_routes_free() - free @r, which may be NULL */
void torus_routes_free(struct torus_routes *r);

/** torus_routes_rows() - Return: an array of one row for each node, valid as long as @r */
const uint64_t *torus_routes_rows(const struct torus_routes *r);

/** torus_routes_invalid() - Return: the number of invalid rows */
uint32_t torus_routes_invalid(const struct torus_routes *r);

/**
 * torus_routes_update() - update rows after a change of the torus
 * @r: the rows; they become, bit for bit, what torus_routes_new() would make
 * @cables: all cables that changed since the rows were made or last updated, and possibly others;
 *	NULL: any cable may have changed
 * @n: number of @cables
 * @ranges: gets the rows that may have changed, in any order, possibly more than once; valid until
 *	the next update; or NULL
 * @n_ranges: gets the number of ranges, or NULL
 * Return: 0; -ENOMEM, and then the rows are invalid until an update succeeds.
 */
int torus_routes_update(struct torus_routes *r, const struct torus_cable *cables, uint32_t n,
			const struct torus_range **ranges, uint32_t *n_ranges);

/**
 * torus_routes_around() - compute a row whose relay is one of certain nodes
 * @r: rows of a node
 * @relays: a torus of the same shape, whose healthy cables are healthy in the torus of @r, too: they
 *	must join the relay with @to
 * @to: the destination
 * @row: gets the row: that of @r if it has no relay; 0 if no header leads to such a relay
 *
 * Chains of relays end if all nodes on them use the same @relays for @to, or have a row without a
 * relay.
 * Return: 0; -EINVAL if there is no such node, or the shapes differ; -ENOMEM.
 */
int torus_routes_around(const struct torus_routes *r, struct torus_health *relays, uint32_t to,
			uint64_t *row);

/**
 * torus_health_rows() - compute the rows of one node into the caller's memory
 * @h: the torus
 * @from: the node
 * @flags: TORUS_ROUTES_*
 * @rows: gets one row for each node
 * Return: number of invalid rows, or a negative errno.
 */
int torus_health_rows(struct torus_health *h, uint32_t from, unsigned int flags,
		      uint64_t *rows);

/**
 * torus_route_rows() - like torus_health_rows(), from a shape and an exclusion table, without
 * relays
 */
int torus_route_rows(const struct torus_shape *shape, const uint16_t *excluded,
		     uint32_t from, uint64_t *rows);

/* --- walks ----------------------------------------------------------------- */

/**
 * struct torus_hop - a step of a packet
 * @node: node id
 * @port: port by which the packet leaves @node
 */
struct torus_hop {
	uint32_t node;
	uint8_t port;
};

enum torus_walk_end {
	TORUS_WALK_ARRIVED,
	TORUS_WALK_NO_ROW,	/* the row is invalid */
	TORUS_WALK_LOST,	/* no DIR bits are left, but this node is not the destination */
	TORUS_WALK_DEAD_LINK,	/* the path crosses an excluded link (the last hop) */
	TORUS_WALK_ORDER,	/* the path takes a direction below the one before (the last hop) */
	TORUS_WALK_LOOP,	/* more hops than any path has: an error of the router */
};

/**
 * torus_walk() - follow one row as routers do, to its destination or relay
 * @shape: shape of the torus
 * @excluded: closed table, or NULL: dead links are not checked for
 * @from: source
 * @to: destination
 * @row: the row
 * @hops: gets the first @max hops
 * @max: entries of @hops
 * @n: gets the number of hops, which may exceed @max
 * Return: where the walk ended.
 */
enum torus_walk_end torus_walk(const struct torus_shape *shape, const uint16_t *excluded,
			       uint32_t from, uint32_t to, uint64_t row,
			       struct torus_hop *hops, uint32_t max, uint32_t *n);

const char *torus_walk_end_text(enum torus_walk_end end);

/* --- verification ---------------------------------------------------------- */

/**
 * enum torus_wrong - error of a row, or of several rows together
 * The first values are those of enum torus_walk_end.
 */
enum torus_wrong {
	TORUS_WRONG_NO_ROW = TORUS_WALK_NO_ROW,	/* the row is invalid, though healthy cables lead
						 * to the destination */
	TORUS_WRONG_LOST,
	TORUS_WRONG_DEAD_LINK,
	TORUS_WRONG_ORDER,
	TORUS_WRONG_LOOP,
	/* the path goes round a whole ring, so packets on it could wait for themselves */
	TORUS_WRONG_RING,
	TORUS_WRONG_RELAY,	/* the relay does not exist, is the node itself, or the chain of
				 * relays does not end */
	TORUS_WRONG_ESCAPE,	/* an adaptive packet can reach a node from which no healthy path
				 * leads on */
	TORUS_WRONG_CYCLE,	/* the path has a turn that is on a cycle of the channel
				 * dependency graph */
};

const char *torus_wrong_text(enum torus_wrong what);

/**
 * struct torus_culprit - a wrong row
 * @what: error of the row
 * @table: index in torus_verify.tables
 * @from: source
 * @to: destination
 * @row: the row
 * @node: node at which the error occurs; TORUS_NO_NODE: at no single node
 * @port: port of @node
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
 * @rows: for each node its rows; NULL: unknown, and not verified
 * @old: the version is not the newest: rows may be invalid, or end at a dead link, where routers
 *	park the packets
 */
struct torus_tables {
	const uint64_t *const *rows;
	bool old;
};

/**
 * struct torus_verify - input of torus_verify()
 * @shape: shape of the torus
 * @excluded: closed table
 * @tables: rows; if there are several tables, each node, as source or relay, may use any of them
 * @n: number of @tables
 * @up: for each node, true if it takes part; NULL: all nodes with a healthy cable take part
 * @culprit: called for every wrong row, possibly more than once; NULL: wrong rows are only counted
 * @arg: argument of @culprit
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
 * struct torus_verified - result of torus_verify()
 * @wrong: number of wrong rows
 * @pairs: pairs of nodes that healthy cables join
 * @apart: pairs of nodes that they do not join
 * @unroutable: of @pairs, those whose row is invalid or wrong
 * @relayed: rows with a relay
 * @adaptive: rows that allow adaptive routing
 * @hops_max: longest path through all its relays, hops
 * @legs_max: most legs of a path
 * @load_max: number of paths, through all relays, that cross the busiest channel
 * @cycles: sets of channels that can wait for each other in a cycle
 * @hops: hops of all pairs that are served, added up
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
 * torus_verify() - check that every pair is served, and that packets cannot deadlock
 * @v: shape, exclusions and rows
 * @out: the result
 *
 * Walks the row of every pair as routers do, relay by relay, and the escape paths from all nodes
 * that adaptive packets can reach. The turns of all walks are the edges of the channel dependency
 * graph (lib/route/deps.h), which must have no cycle.
 * Return: 0, also if rows are wrong (@out->wrong); -EINVAL if the shape is invalid; -ENOMEM.
 */
int torus_verify(const struct torus_verify *v, struct torus_verified *out);

/* --- addresses by arithmetic ----------------------------------------------- */

/*
 * D(1,m) addresses: each vertex of a connected graph gets an address of m binary digits, such that
 * the vertices whose addresses begin with the same digits are connected, for each prefix. A packet
 * goes to the nearest vertex of the half that has the first digit in which the present vertex and
 * the destination differ, so a vertex needs m rows and not one for each destination. lib/route/dm.h
 * describes how the digits are found, and proves that packets arrive.
 */

#define TORUS_DM_DIGITS_MAX	24	/* most digits of an address */
#define TORUS_DM_EXACT_MAX	512	/* most vertices that TORUS_DM_EXACT can match */
/* most vertices for which TORUS_DM_AUTO uses the exact matching */
#define TORUS_DM_AUTO_MAX	64
#define TORUS_DM_DEGREE_MAX	255	/* most ports of a vertex */

/**
 * struct torus_graph - a graph, which its owner keeps
 * @n: number of vertices, 0 to @n - 1
 * @degree: ports of a vertex
 * @next: vertex at a port, TORUS_NO_NODE if there is none; an edge is at ports of both its ends
 * @weight: bandwidth of the edge at a port, from 1 on; NULL: all edges are alike
 * @dim: dimension of the edge at a port, 0 to 11; NULL: the graph has no dimensions
 * @arg: argument of the functions
 */
struct torus_graph {
	uint32_t n;
	unsigned int degree;
	uint32_t (*next)(void *arg, uint32_t v, unsigned int port);
	uint32_t (*weight)(void *arg, uint32_t v, unsigned int port);
	unsigned int (*dim)(void *arg, uint32_t v, unsigned int port);
	void *arg;
};

/**
 * enum torus_dm_match - how a step finds pairs of sets
 * @TORUS_DM_AUTO: exact up to TORUS_DM_AUTO_MAX vertices, else dominant
 * @TORUS_DM_EXACT: most pairs, and of such choices the one with the greatest sum of weights
 * @TORUS_DM_DOMINANT: an edge that is better than all edges beside it makes a pair, until no
 *	edge is left: neighbours decide it among themselves. A step finds at least half of the pairs
 *	that are possible, the first one at least half of the greatest sum of weights.
 */
enum torus_dm_match {
	TORUS_DM_AUTO,
	TORUS_DM_EXACT,
	TORUS_DM_DOMINANT,
};

/**
 * enum torus_dm_prefer - weight of the edges between two sets
 * @TORUS_DM_DISTANCE: pairs along the last dimension come first, then those with more edges; on a
 *	torus this groups the digits of a dimension, and makes paths short
 * @TORUS_DM_DIGITS: number of edges alone
 * @TORUS_DM_BANDWIDTH: sum of their bandwidths
 */
enum torus_dm_prefer {
	TORUS_DM_DISTANCE,
	TORUS_DM_DIGITS,
	TORUS_DM_BANDWIDTH,
};

/**
 * struct torus_dm_pair - a pair that the caller gives, so that it is not searched for
 * @step: step, 0 for the first
 * @zero: a vertex of the set that gets digit 0
 * @one: a vertex of the set that gets digit 1
 */
struct torus_dm_pair {
	unsigned int step;
	uint32_t zero;
	uint32_t one;
};

/**
 * struct torus_dm_rule - options of the search for addresses; all 0: the defaults
 * @match: method
 * @prefer: weights
 * @pair: the pairs of all steps; NULL: they are searched for, and the larger set of a pair, or the
 *	one with the lowest vertex, gets digit 0
 * @n_pairs: number of @pair
 */
struct torus_dm_rule {
	enum torus_dm_match match;
	enum torus_dm_prefer prefer;
	const struct torus_dm_pair *pair;
	uint32_t n_pairs;
};

/** struct torus_dm - the addresses of all vertices of a graph */
struct torus_dm;

/**
 * torus_dm_new() - give each vertex of a graph its address
 * @g: the graph; it is copied, but what its functions need must stay valid as long as @out
 * @rule: the rule, or NULL for the usual one
 * @out: gets the addresses, for torus_dm_free()
 *
 * The result depends on the graph and the rule alone, so all nodes compute the same.
 * Return: 0; -EINVAL if the graph is empty, has too many ports, leads to vertices that do not
 * exist, or is too large for TORUS_DM_EXACT, or a given pair is not adjacent or taken already;
 * -ENOTCONN if the graph is not connected, or the given pairs do not join all vertices; -EOVERFLOW
 * if it needs more than TORUS_DM_DIGITS_MAX digits; -ENOMEM.
 */
int torus_dm_new(const struct torus_graph *g, const struct torus_dm_rule *rule,
		 struct torus_dm **out);
/** torus_dm_free() - free @dm, which may be NULL */
void torus_dm_free(struct torus_dm *dm);

/** torus_dm_digits() - Return: m, the number of digits; 0 for a single vertex */
unsigned int torus_dm_digits(const struct torus_dm *dm);

/** torus_dm_address() - Return: address of vertex @v; its first digit is bit m - 1 */
uint32_t torus_dm_address(const struct torus_dm *dm, uint32_t v);

/** torus_dm_vertex() - Return: vertex with this address, TORUS_NO_NODE if none has it */
uint32_t torus_dm_vertex(const struct torus_dm *dm, uint32_t address);

/**
 * torus_dm_holes() - list the holes: numbers below n that are no address
 * @dm: the addresses
 * @missing: gets the holes in ascending order; or NULL
 * @standing: gets, for each of them, the address of n or more that has the number; or NULL
 *
 * The vertex at @standing [i] has number @missing [i], every other one has its address as number.
 * So numbers are 0 to n - 1, and a source translates a number with this list before it sends.
 * Return: number of holes.
 */
uint32_t torus_dm_holes(const struct torus_dm *dm, const uint32_t **missing,
			const uint32_t **standing);

/** torus_dm_translate() - Return: address of the vertex with @number, which is below n */
uint32_t torus_dm_translate(const struct torus_dm *dm, uint32_t number);

/** torus_dm_number() - Return: number of vertex @v, below n */
uint32_t torus_dm_number(const struct torus_dm *dm, uint32_t v);

/** torus_dm_number_vertex() - Return: vertex with @number, which is below n */
uint32_t torus_dm_number_vertex(const struct torus_dm *dm, uint32_t number);

#define TORUS_DM_NO_PORT 255	/* stands for no port: no vertex has such an address */
#define TORUS_DM_NO_WAY UINT16_MAX

/**
 * torus_dm_tables() - compute the path tables of one vertex
 * @dm: the addresses
 * @v: the vertex
 * @port: T: for each digit, port of the shortest path to the nearest vertex whose address
 *	differs from that of @v in this digit first, the lowest of several ports; TORUS_DM_NO_PORT:
 *	there is no such vertex. The first digit is [0].
 * @gateway: for each digit that vertex, the one with the lowest address of several; TORUS_NO_NODE;
 *	or NULL
 * @hops: H: for each digit one entry for each port, hops of that path if it begins with the port;
 *	TORUS_DM_NO_WAY: the port has no edge, or there is no such vertex; or NULL
 * Return: 0; -EINVAL if there is no such vertex; -ENOMEM.
 */
int torus_dm_tables(const struct torus_dm *dm, uint32_t v, uint8_t *port, uint32_t *gateway,
		    uint16_t *hops);

/**
 * torus_dm_new_torus() - give the nodes of a component of a torus their addresses
 * @h: the torus; it must not be changed or freed before @out
 * @from: a node of the component; to address a part of a torus, exclude the cables that leave it
 * @rule: the rule, or NULL for the usual one
 * @out: gets the addresses; vertices are the nodes of the component, by ascending node id
 * Return: as torus_dm_new(); -EINVAL also if there is no such node.
 */
int torus_dm_new_torus(struct torus_health *h, uint32_t from, const struct torus_dm_rule *rule,
		       struct torus_dm **out);

/** torus_dm_node() - Return: node id of vertex @v of torus_dm_new_torus() */
uint32_t torus_dm_node(const struct torus_dm *dm, uint32_t v);

/** torus_dm_node_vertex() - Return: vertex of a node, TORUS_NO_NODE if it is not in the component */
uint32_t torus_dm_node_vertex(const struct torus_dm *dm, uint32_t node);

/**
 * torus_dm_rows() - compute the rows of a vertex of torus_dm_new_torus(), one for each digit
 * @dm: the addresses
 * @v: the vertex
 * @rows: gets the rows: row [i] is for all destinations whose first digit that differs is [i].
 *	It has a relay, the gateway; 0: there is no such destination.
 *
 * Expanded to a row for each destination, without the relay where it is the destination, they pass
 * torus_verify().
 * Return: 0; -EINVAL if there is no such vertex or no torus; -ENOMEM.
 */
int torus_dm_rows(const struct torus_dm *dm, uint32_t v, uint64_t rows[TORUS_DM_DIGITS_MAX]);

/** torus_dm_digit() - Return: first digit in which two different addresses of @m digits differ */
static inline unsigned int torus_dm_digit(unsigned int m, uint32_t a, uint32_t b)
{
	return m + (unsigned int)__builtin_clz(a ^ b) - 32;
}

#ifdef __cplusplus
}
#endif
#endif /* TORUS_ROUTE_H */
