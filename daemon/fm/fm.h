/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fabric manager of one node, as a pure state machine: events in by
 * function calls, actions out through struct fm_ops. No I/O, no clock, no
 * randomness but what is handed in: the same calls give the same actions.
 * fabricd binds it to libevent and a NIC, the simulator to a virtual clock.
 *
 * Calls never nest: an op must not call back into the machine. What becomes of an action at
 * the NIC, which may be slow or fail, comes as an event, too: fm_done().
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
 * @node, @port: its end at a port with "+"; @peer, @peer_port: the other one
 * @reason: as the end that is down says, or NULL: it is not known, or the cable is @up
 * @excluded: an administrator excluded it
 * @was_for: ns that it had been as it was, as far as this root knows
 * @version: of the table that says so first
 */
struct fm_link_change {
	uint32_t node, peer;
	uint8_t port, peer_port;
	bool up, excluded;
	const char *reason;
	uint64_t was_for, version;
	char name[TORUS_NAME_MAX + 1], peer_name[TORUS_NAME_MAX + 1];
};

struct fm_recovery;

/**
 * struct fm_log - something for the log and the list of events
 * @link: of kind "link", or NULL; @recovery: of kind "recovery" when one has ended, or NULL
 */
struct fm_log {
	enum fm_level level;
	const char *kind;	/* "link", "wiring", "table", "recovery", "node", ... */
	const char *text;
	const struct fm_link_change *link;
	const struct fm_recovery *recovery;
};

/**
 * struct fm_ops - what the machine asks for
 *
 * The NIC. The host does all of these in the order in which they were asked for, and
 * tells of each with a @tag, by fm_done(), once it has ended. Until then no other action
 * with a tag is asked for. Nothing is told of those without (nic.c says why).
 * @mgmt_send: a management packet to the neighbour on @port; it may be lost
 * @root_set: the NIC obeys this root from now on, and what follows is by its order; a NIC that
 *	obeys one of a later epoch fails this, and what follows, with -ESTALE
 * @place_set: shape and coordinates
 * @rows_write: @n changed rows (ids ascending), then the atomic switch to
 *	@version; rows may carry TORUS_ROW_HOLD. @n may be 0
 * @rows_apply: NULL, or asked instead of @rows_write: the host makes the rows of
 *	@version itself, with the holds that rows.c tells of, from the closed
 *	exclusions, one for each node. They last as long as the machine has this
 *	version, and machines with the same library are given the same
 * @release, @park_resolve, @park_replay: as in <torus/torus.h>
 * @count: reads counters and parking; with @lost, TORUS_NC_LOST as well
 *
 * The service network. A connection is a number that its owner chose:
 * @connect: open one to @addr; the answer comes as fm_conn_up() or
 *	fm_conn_down(). Return: the connection, or a negative errno
 * @send: @msg stays the caller's; loss shows as fm_conn_down()
 * @close: no event follows
 *
 * @arbitrate: the site's arbiter is asked whether the node of @guid may lead in @epoch; the answer
 *	comes as fm_arbiter(), in any case and soon. While it has not come, no other question is
 *	asked, but for one of a later epoch: then the former needs no answer. NULL if fm_config has
 *	no arbiter
 *
 * @keep: what must outlive this manager and its NIC has changed: @table, whole, is to be given to
 *	the next fm_new() in fm_config. It stays the caller's. The host tells by fm_kept() whether
 *	it has stored the table; no recovery waits for that. If the host has a disk (fm_config) and
 *	says nothing for 40 s, the table is given again
 * @log: tell people
 */
struct fm_ops {
	void (*mgmt_send)(void *io, unsigned int port, const void *data, size_t len);
	void (*root_set)(void *io, uint32_t tag, uint64_t epoch, uint64_t guid);
	void (*place_set)(void *io, uint32_t tag, const struct torus_shape *shape,
			  const struct torus_coords *at);
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

/** enum fm_verdict - what the site's arbiter says of a claim */
enum fm_verdict {
	FM_UNKNOWN,	/* it could not be asked, or said what means nothing */
	FM_GRANTED,
	FM_REFUSED,
	FM_VERDICTS,
};

/** struct fm_counts - what a NIC says when it is asked to count; @lost: TORUS_NC_LOST */
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
 * @fanout: children of a node in the distribution tree
 * @init_interval: between Init packets on a port whose answer is missing
 * @quiet: how long nothing new must join until the first table is made, if nodes are missing
 * @resend: a step not answered for so long is said again; twenty times without
 *	a sign of life and the connection counts as lost
 * @drain_max: bound on waiting for old packets, where nothing can prove that none are
 *	left: a manager is away while its NIC works on, or a NIC counts wrong
 * @resolve_max: bound on waiting for the other end of a dead link to say what
 *	it had received
 * @member_max: bound on waiting for a node whose manager does not answer, or does not report;
 *	twice that of one whose NIC fails
 * @keepalive: of service connections; a peer that is silent for four intervals is lost, the
 *	parent after one and a half if nodes can take over
 * @flap_limit: losses of a link in quick succession until it is held down; 0: never
 * @flap_half_life: in which what was counted of them halves; at least 1 ms
 * @hold_max: bound on holding a link down after its last loss
 * @takeover: between the loss of the root and the first of the candidates that asks to be root;
 *	0: this node never does
 * @priority: of this node as a candidate, at most FM_PRIORITY_MAX, or FM_PRIORITY_AUTO; 0: it is
 *	none
 * @arbiter: the site has one (root/arbiter.c)
 * @library: of tables, shared with other machines of this thread, or NULL. It
 *	must outlive them
 * @keeps: the host has a place on a disk, and tells of each @keep by fm_kept()
 * @kept: the table that was kept last, or NULL; read by fm_new() alone
 * @seed: for jitter
 */
struct fm_config {
	char fabric[TORUS_NAME_MAX + 1];
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
	struct torus_shape shape;
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
 * fm_library_new() - lets machines share tables that are equal
 *
 * Each version is there once, for all that have it, so a million machines need
 * the memory of a few tables. What the second end of a cable tells late of its
 * session is then known to all as soon as one machine hears it.
 * Return: NULL if out of memory.
 */
struct fm_library *fm_library_new(void);
void fm_library_free(struct fm_library *l);

/** fm_config_default() - fills everything but names and address */
void fm_config_default(struct fm_config *c);

/**
 * fm_new() - a machine for the NIC as it was found
 * @dev, @links, @park, @rows: what the NIC says now. A NIC that is already placed
 *	(manager restarted) keeps its coordinates, rows and version.
 *	@rows is read only if @dev->placed; @park may be NULL: all zero
 * @ops: all but one of rows_write and rows_apply must be there, and arbitrate if @c has an arbiter
 * Return: NULL if out of memory, or if @ops are not whole.
 */
struct fm *fm_new(const struct fm_config *c, const struct fm_ops *ops, void *io,
		  const struct torus_device *dev, const struct torus_link *links,
		  const struct torus_park *park, const uint64_t *rows, uint64_t now);
void fm_free(struct fm *fm);
/** fm_io() - the @io it was made with */
void *fm_io(const struct fm *fm);

void fm_link(struct fm *fm, const struct torus_link *link, uint64_t now);
/**
 * fm_stalled() - @is: @port of the NIC is taken down, because its neighbour returns no credits;
 * !@is: it is not, after all
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
 * @high: of FM_REFUSED: the epoch that it has granted already; 0: it did not say
 * @why: it is no grant, as text for people
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
 * fm_exclude_by() - the same with who and why: its node and ports are not looked at
 * If @order has an end, the root includes the ports then.
 */
int fm_exclude_by(struct fm *fm, uint32_t node, int port, const struct fm_order *order,
		  uint64_t now);
/**
 * fm_exclude_first() - the same, but the table that is due now is not made in this call
 * So the exclusion, or inclusion, that is asked for next at the same time is in that table, too.
 * @order: as in fm_exclude_by(), or NULL
 */
int fm_exclude_first(struct fm *fm, uint32_t node, int port, bool excluded,
		     const struct fm_order *order, uint64_t now);
/**
 * fm_exclude_changes() - whether fm_exclude(), or fm_exclude_by() if there is an @order, would
 *	change anything; for the root, others return true
 * The same exclusion for the same reason, without an end, changes nothing: not even who gave the
 * order.
 */
bool fm_exclude_changes(const struct fm *fm, uint32_t node, int port, bool excluded,
			const struct fm_order *order);

/**
 * fm_clock() - the time of day is @wall, in seconds since 1970: when the manager begins, and when
 *	the clock is set
 * Only exclusions with a term of a former root depend on it (root/term.c).
 */
void fm_clock(struct fm *fm, uint64_t wall, uint64_t now);

/**
 * fm_root_move() - the root hands over to another node: all join that, and no row changes
 * Return: 0, also if @node is the root; -EPERM this is not the root, -EAGAIN a recovery is under
 * way or there is no table yet, -EINVAL no such node, -EHOSTUNREACH it is not up or its manager
 * does not answer, -EACCES its configuration says that it never is root, or its NIC failed while
 * it was root.
 */
int fm_root_move(struct fm *fm, uint32_t node, uint64_t now);

/* status.h has the functions that read a machine. */

#endif /* FM_H */
