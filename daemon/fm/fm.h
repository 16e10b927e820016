/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fabric manager of one node, as a pure state machine: events in by
 * function calls, actions out through struct fm_ops. No I/O, no clock, no
 * randomness but what is handed in: the same calls give the same actions.
 * fabricd binds it to libevent and a NIC, the simulator to a virtual clock.
 *
 * Calls never nest: an op must not call back into the machine. An action at the NIC may be slow or
 * fail; its end is an event, too: fm_done().
 */
#ifndef FM_H
#define FM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/topology.h>
#include <torus/torus.h>

#include "daemon/fm/wire/msg.h"

struct fm;

struct fm_library;
struct fm_order;

enum fm_level { FM_ERROR, FM_WARNING, FM_INFO, FM_DEBUG };

/**
 * struct fm_link_change - a cable was lost, or came back
 * @node, @port: its end at a port with "+"; @peer, @peer_port: the other end
 * @up: it came back; else it was lost
 * @reason: by the end that is down; NULL: not known, or the cable is @up
 * @excluded: an administrator has excluded it
 * @was_for: ns since the change before, as far as this root knows
 * @version: of the first table that has the change
 */
struct fm_link_change {
	uint32_t node, peer;
	uint8_t port, peer_port;
	bool up, excluded;
	const char *reason;
	uint64_t was_for, version;
	char name[TORUS_NAME_MAX + 1], peer_name[TORUS_NAME_MAX + 1];
};

/** enum fm_ordered - what an order did: it excluded, or included; or its time is over */
enum fm_ordered { FM_ORDERED_OUT, FM_ORDERED_IN, FM_ORDERED_OVER };

/**
 * struct fm_order_change - an administrator excluded or included ports, or the time of that is over
 * @order: with @node and @ports
 */
struct fm_order_change {
	enum fm_ordered what;
	const struct fm_order *order;
};

struct fm_recovery;

/**
 * struct fm_log - a line for the log and the list of events
 * @link: for kind "link", else NULL
 * @recovery: for kind "recovery", when one has ended, else NULL
 * @order: for kind "admin", else NULL
 */
struct fm_log {
	enum fm_level level;
	const char *kind;	/* "link", "wiring", "table", "recovery", "node", ... */
	const char *text;
	const struct fm_link_change *link;
	const struct fm_recovery *recovery;
	const struct fm_order_change *order;
};

/**
 * struct fm_ops - the actions of the machine, done by its host
 *
 * The NIC. The host does these actions in the order in which they were begun, and reports the end
 * of each action with a @tag by fm_done(). Until then the machine begins no other action with a
 * tag. The end of an action without a tag is not reported (node/nic_actions.c explains why).
 * @mgmt_send: a management packet to the neighbour on @port; it may be lost
 * @root_set: the NIC obeys this root from now on, and the following actions are by its order. If
 *	the NIC obeys a root of a later epoch, this and the following actions fail with -ESTALE
 * @place_set: shape, coordinates and address plan; if only the plan changes, rows stay
 * @rows_write: @n changed rows (ids ascending), then the atomic switch to
 *	@version; rows may carry TORUS_ROW_HOLD. @n may be 0
 * @rows_apply: NULL, or used instead of @rows_write: the host makes the rows of @version itself,
 *	with the holds of node/rows.c, from the closed exclusions, a mask for each node. These are
 *	valid as long as the machine has this version; machines of one library pass the same
 * @release, @park_resolve, @park_replay: as in <torus/torus.h>
 * @count: reads counters and parking; with @lost, TORUS_NC_LOST as well
 *
 * The service network. A connection is a number that the host chooses:
 * @connect: open one to @addr; the answer comes as fm_conn_up() or
 *	fm_conn_down(). Return: the connection, or a negative errno
 * @send: @msg stays the caller's; loss shows as fm_conn_down()
 * @close: no event follows
 *
 * @arbitrate: ask the site's arbiter whether the node @guid may lead in @epoch. The answer comes as
 *	fm_arbiter(), in any case and soon. Until then the machine asks again only about a later
 *	epoch, and then the former question needs no answer. NULL if fm_config has no arbiter
 *
 * @keep: store the whole @table, which the next fm_new() gets in fm_config; it stays the caller's.
 *	The host reports by fm_kept() whether it has stored the table; no recovery waits for that.
 *	If the host has a disk (fm_config) and does not report for 40 s, the table is given again
 * @log: write a line
 */
struct fm_ops {
	void (*mgmt_send)(void *io, unsigned int port, const void *data, size_t len);
	void (*root_set)(void *io, uint32_t tag, uint64_t epoch, uint64_t guid);
	void (*place_set)(void *io, uint32_t tag, const struct torus_shape *shape,
			  const struct torus_coords *at, const struct torus_plan *plan);
	void (*rows_write)(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
			   const uint64_t *row, uint32_t n);
	void (*rows_apply)(void *io, uint32_t tag, uint64_t version, const uint16_t *closed);
	void (*release)(void *io, uint32_t tag, uint64_t version, bool give_up);
	void (*count)(void *io, uint32_t tag, bool lost);
	void (*park_resolve)(void *io, unsigned int port, uint32_t session, int seq);
	void (*park_replay)(void *io, uint32_t tag, uint64_t version, uint16_t ports);

	int (*connect)(void *io, const char *addr);
	void (*send)(void *io, int conn, const struct fm_msg *msg);
	void (*close)(void *io, int conn);

	void (*arbitrate)(void *io, uint64_t epoch, uint64_t guid);
	void (*keep)(void *io, const struct fm_msg *table);
	void (*log)(void *io, const struct fm_log *log);
};

/** enum fm_verdict - answer of the site's arbiter to a claim */
enum fm_verdict {
	FM_UNKNOWN,	/* it could not be asked, or its answer has no meaning */
	FM_GRANTED,
	FM_REFUSED,
	FM_VERDICTS,
};

/* Prefixes of fm_config.plan_given. */
#define FM_PLAN4 1u
#define FM_PLAN6 2u

/** struct fm_counts - counters of a NIC, by @count; @lost: TORUS_NC_LOST */
struct fm_counts {
	struct torus_park park;
	uint64_t lost;
};

/**
 * struct fm_config - times in ns
 * @fabric: name of the fabric; a peer of another is refused
 * @name: of this node; unique in the fabric
 * @address: own service address "IP:PORT"
 * @shape: configured shape; ndims 0: discover it (root only)
 * @plan: address plan, as in fm_table_msg, of a fabric that has none yet; or of any one, once this
 *	node is root and fm_plan() is called
 * @plan_given: which of its prefixes the configuration names; the others stay as they are
 * @fanout: children of a node in the distribution tree
 * @init_interval: between Init packets on a port whose answer is missing
 * @quiet: time without news after which the first table is made, if nodes are missing
 * @resend: time after which a step without answer is repeated; a peer that does not answer for
 *	twenty times as long is lost
 * @drain_max: bound of the wait for old packets, if there can be no proof that none are left: a
 *	manager is away while its NIC works on, or a NIC counts wrong
 * @resolve_max: bound of the wait until the other end of a dead link reports what it had received
 * @member_max: bound of the wait for a node whose manager does not answer, or does not report; for
 *	a node whose NIC fails twice as long
 * @keepalive: of service connections; a peer that is silent for four intervals is lost, the
 *	parent after one and a half if nodes can take over
 * @flap_limit: losses of a link in quick succession until it is held down; 0: never
 * @flap_half_life: time in which the penalty of a link halves; at least 1 ms
 * @hold_max: bound of the time that a link is held down after its last loss
 * @takeover: time from the loss of the root until the first candidate asks to be root; 0: this node
 *	never asks
 * @priority: of this node as a candidate, at most FM_PRIORITY_MAX, or FM_PRIORITY_AUTO; 0: it is
 *	none
 * @arbiter: the site has one (root/arbiter.c)
 * @library: of tables, shared with other machines of this thread, or NULL. It
 *	must outlive them
 * @keeps: the host has a disk for the table, and answers each @keep by fm_kept()
 * @kept: the table that was kept last, or NULL; read by fm_new() alone
 * @seed: for jitter
 */
struct fm_config {
	char fabric[TORUS_NAME_MAX + 1];
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
	struct torus_shape shape;
	struct torus_plan plan;
	unsigned int plan_given;
	unsigned int fanout;
	uint64_t init_interval;
	uint64_t quiet;
	uint64_t resend;
	uint64_t drain_max;
	uint64_t resolve_max;
	uint64_t member_max;
	uint64_t keepalive;
	unsigned int flap_limit;
	uint64_t flap_half_life;
	uint64_t hold_max;
	uint64_t takeover;
	unsigned int priority;
	bool arbiter;
	struct fm_library *library;
	bool keeps;
	const struct fm_table_msg *kept;
	uint64_t seed;
};

/**
 * fm_library_new() - a library, by which machines share tables that are equal
 *
 * Each version is in memory once, for all machines that have it, so a million machines need the
 * memory of a few tables. The end of a session that is reported after the table (fm_ended) is then
 * known to all of them as soon as one machine gets it.
 * Return: NULL if out of memory.
 */
struct fm_library *fm_library_new(void);
void fm_library_free(struct fm_library *l);

/** fm_config_default() - fills everything but names and address */
void fm_config_default(struct fm_config *c);

/**
 * fm_new() - make a machine for a NIC
 * @dev, @links, @park, @rows: present state of the NIC. A NIC that is already placed (the manager
 *	restarted) keeps its coordinates, rows and version. @rows is read only if @dev->placed;
 *	@park may be NULL: all zero
 * @ops: all but one of rows_write and rows_apply must be there, and arbitrate if @c has an arbiter
 * Return: NULL if out of memory, or if an op is missing.
 */
struct fm *fm_new(const struct fm_config *c, const struct fm_ops *ops, void *io,
		  const struct torus_device *dev, const struct torus_link *links,
		  const struct torus_park *park, const uint64_t *rows, uint64_t now);
void fm_free(struct fm *fm);
/** fm_io() - Return: the @io of fm_new() */
void *fm_io(const struct fm *fm);

void fm_link(struct fm *fm, const struct torus_link *link, uint64_t now);
/**
 * fm_stalled() - @is: @port of the NIC is being taken down, because its neighbour returns no
 *	credits; !@is: it stays up
 */
void fm_stalled(struct fm *fm, unsigned int port, bool is, uint64_t now);
void fm_mgmt(struct fm *fm, unsigned int port, const void *data, size_t len, uint64_t now);
void fm_park(struct fm *fm, const struct torus_park *park, uint64_t now);
/**
 * fm_done() - an action at the NIC has ended
 * @err: 0 or negative errno. It may have been done nevertheless, or in part
 * @counts: of a count without error, else NULL
 */
void fm_done(struct fm *fm, uint32_t tag, int err, const struct fm_counts *counts, uint64_t now);
/** fm_conn_up() - an own connect succeeded, or a peer connected */
void fm_conn_up(struct fm *fm, int conn, uint64_t now);
void fm_conn_down(struct fm *fm, int conn, uint64_t now);
void fm_msg(struct fm *fm, int conn, const struct fm_msg *msg, uint64_t now);
/**
 * fm_arbiter() - the answer of the site's arbiter to the question about @epoch
 * @high: with FM_REFUSED: the epoch that it has granted already; 0: not known
 * @why: the reason if it is no grant, as text for people
 */
void fm_arbiter(struct fm *fm, uint64_t epoch, enum fm_verdict verdict, uint64_t high,
		const char *why, uint64_t now);
/**
 * fm_kept() - the table given to @keep is on the disk (@ok), or the disk fails. Not called for a
 *	table that a later one replaced before it was written
 * @epoch, @version: of that table
 */
void fm_kept(struct fm *fm, uint64_t epoch, uint64_t version, bool ok, uint64_t now);
void fm_timer(struct fm *fm, uint64_t now);
/** fm_expiry() - when fm_timer() must be called; ~0 for never */
uint64_t fm_expiry(const struct fm *fm);

/**
 * fm_exclude() - administrative exclusion; root only. Inclusion also ends holds of
 * links that flap (damp.c).
 * @port: -1 for the whole node
 * Return: 0, -EPERM not the root, -EAGAIN still bootstrapping, -EINVAL.
 */
int fm_exclude(struct fm *fm, uint32_t node, int port, bool excluded, uint64_t now);
/**
 * fm_exclude_by() - exclude ports by an order, which has user, reason and term
 * @order: its @node and @ports are ignored. If it has an end, the root includes the ports then
 */
int fm_exclude_by(struct fm *fm, uint32_t node, int port, const struct fm_order *order,
		  uint64_t now);
/** fm_include_by() - include ports by an order, of which only the user counts */
int fm_include_by(struct fm *fm, uint32_t node, int port, const struct fm_order *order,
		  uint64_t now);
/**
 * fm_exclude_first() - the same, without making the next table in this call
 * @order: as in fm_exclude_by() or fm_include_by(), or NULL
 *
 * So further exclusions or inclusions at the same time are in the same table.
 */
int fm_exclude_first(struct fm *fm, uint32_t node, int port, bool excluded,
		     const struct fm_order *order, uint64_t now);
/**
 * fm_exclude_changes() - compare fm_exclude(), or fm_exclude_by() if there is an @order, with the
 *	present exclusions
 * Return: true if it would change anything, or if this node is not root. The same exclusion for the
 * same reason, without an end, changes nothing, even if another user orders it.
 */
bool fm_exclude_changes(const struct fm *fm, uint32_t node, int port, bool excluded,
			const struct fm_order *order);

/**
 * fm_clock() - the time of day is @wall, in seconds since 1970; called when the manager begins, and
 *	when the clock is set
 * Only exclusions with a term of a former root depend on it (root/term.c).
 */
void fm_clock(struct fm *fm, uint64_t wall, uint64_t now);

/**
 * fm_plan() - the configuration was read again: @plan and @given are as in fm_config. If this node
 *	is root the fabric gets the plan, or a problem has why not
 */
void fm_plan(struct fm *fm, const struct torus_plan *plan, unsigned int given, uint64_t now);

/**
 * fm_root_move() - hand over to another node: all nodes join that, and no row changes
 * Return: 0, also if @node is the root; -EPERM this is not the root, -EAGAIN a recovery is under
 * way or there is no table yet, -EINVAL no such node, -EHOSTUNREACH it is not up or its manager
 * does not answer, -EACCES it never becomes root by its configuration, or its NIC failed while it
 * was root.
 */
int fm_root_move(struct fm *fm, uint32_t node, uint64_t now);

/* status.h has the functions that read a machine. */

#endif /* FM_H */
