/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fabric manager of one node, as a pure state machine: events come in by function calls,
 * actions go out through struct fm_ops. It has no I/O, clock or randomness of its own, so the same
 * calls give the same actions. fabricd binds it to libevent and a NIC, the simulator to a virtual
 * clock.
 *
 * Calls never nest: an op must not call back into the machine. An action at the NIC may be slow or
 * fail; the host reports its end by another event, fm_done().
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
struct fm_job_want;

enum fm_level { FM_ERROR, FM_WARNING, FM_INFO, FM_DEBUG };

/**
 * struct fm_link_change - a cable was lost, or came back
 * @node, @port: the end of the cable at a port with "+"; @peer, @peer_port: the other end
 * @up: true: the cable came back; false: it was lost
 * @reason: why it was lost, as the end that is down reports it; NULL: not known, or the cable is
 *	@up
 * @excluded: an administrator has excluded it
 * @was_for: ns since the previous change of this cable; with @at_least: since this root took over,
 *	because the change was before that; 0: not known
 * @version: version of the first table that contains the change
 */
struct fm_link_change {
	uint32_t node, peer;
	uint8_t port, peer_port;
	bool up, excluded, at_least;
	const char *reason;
	uint64_t was_for, version;
	char name[TORUS_NAME_MAX + 1], peer_name[TORUS_NAME_MAX + 1];
};

/**
 * enum fm_ordered - effect of an administrator's order: ports were excluded, or included; or an
 * exclusion ended at its time
 */
enum fm_ordered { FM_ORDERED_OUT, FM_ORDERED_IN, FM_ORDERED_OVER };

/**
 * struct fm_order_change - an administrator excluded or included ports, or an exclusion ended at
 * its time
 * @order: the order; its @node and @ports are set
 */
struct fm_order_change {
	enum fm_ordered what;
	const struct fm_order *order;
};

struct fm_recovery;

/**
 * struct fm_log - a line for the log and the list of events
 * @node: the node that it is about; TORUS_NO_NODE: this node, or the whole fabric
 * @link: the change, if @kind is "link"; else NULL
 * @recovery: the recovery that has ended, if @kind is "recovery"; that goes on, if @kind is "step";
 *	else NULL
 * @step: enum fm_stamp, the step that @recovery has reached, if @kind is "step"; else 0
 * @order: the order, if @kind is "admin"; else NULL
 */
struct fm_log {
	enum fm_level level;
	const char *kind;	/* "link", "wiring", "table", "recovery", "node", ... */
	const char *text;
	uint32_t node;
	const struct fm_link_change *link;
	const struct fm_recovery *recovery;
	uint8_t step;
	const struct fm_order_change *order;
};

/**
 * struct fm_ops - the actions of the machine, which its host performs
 *
 * The NIC. The host performs these actions in the order in which they were begun, and reports the
 * end of each action with a @tag by fm_done(). Until then the machine begins no other action with a
 * tag. The end of an action without a tag is not reported (node/nic_actions.c explains why).
 * @mgmt_send: send a management packet to the neighbour on @port; it may be lost. While one of the
 *	port waits for a slow NIC, only the last of further ones is sent (node/port.c)
 * @root_set: make the NIC obey this root from now on; the following actions are orders of this
 *	root. If the NIC already obeys a root of a later epoch, this and the following actions fail
 *	with -ESTALE
 * @place_set: set the shape, coordinates and address plan of the NIC; if only the plan changes, its
 *	rows stay
 * @rows_write: write @n changed rows (node ids ascending), then switch atomically to @version; rows
 *	may have TORUS_ROW_HOLD. @n may be 0
 * @rows_apply: NULL, or used instead of @rows_write: the host makes the rows of @version itself,
 *	with the holds of node/rows.c, from the closed exclusions, a mask for each node. These are
 *	valid as long as the machine has this version; machines of one library pass the same
 * @release, @park_resolve, @park_replay: as in <torus/torus.h>
 * @count: read the counters and the state of the parking segment; with @lost, TORUS_NC_LOST as well
 *
 * The service network. A connection is a number that the host chooses:
 * @connect: open a connection to @addr; the host reports the result by fm_conn_up() or
 *	fm_conn_down(). Return: the connection, or a negative errno
 * @send: send @msg, which the caller still owns; if it is lost, the host calls fm_conn_down()
 * @close: close a connection; no event follows
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
	FM_UNKNOWN,	/* the arbiter could not be asked, or its answer has no meaning */
	FM_GRANTED,
	FM_REFUSED,
	FM_VERDICTS,
};

/* Bits of fm_config.plan_given: which prefixes of the address plan the configuration names. */
#define FM_PLAN4 1u
#define FM_PLAN6 2u

/** struct fm_counts - counters of a NIC, the result of @count; @lost: TORUS_NC_LOST */
struct fm_counts {
	struct torus_park park;
	uint64_t lost;
};

/**
 * struct fm_config - times in ns
 * @fabric: name of the fabric; a peer that names another one is refused
 * @name: name of this node, unique in the fabric
 * @address: own service address "IP:PORT"
 * @shape: configured shape; ndims 0: discover it (root only)
 * @plan: address plan, as in fm_table_msg, for a fabric that has none yet. If fm_plan() is called
 *	on the root, its plan replaces the present one
 * @plan_given: which of its prefixes the configuration names; the others stay as they are
 * @fanout: children of a node in the distribution tree
 * @init_interval: time between Init packets on a port whose neighbour has not answered
 * @quiet: time without news after which the first table is made, if nodes are missing
 * @resend: time after which a step without answer is repeated; a peer that does not answer for
 *	twenty times as long is lost
 * @drain_max: bound of the wait for old packets, if there can be no proof that none are left: a
 *	manager is away while its NIC works on, or a NIC counts wrong
 * @resolve_max: bound of the wait until the other end of a dead link reports what it had received
 * @member_max: bound of the wait for a node whose manager does not answer, or does not report; for
 *	a node whose NIC fails twice as long
 * @keepalive: interval of keep-alives on service connections. A peer that is silent for four
 *	intervals counts as lost; the parent after one and a half, if nodes can take over
 * @flap_limit: how many losses of a link in quick succession cause it to be held down; 0: no link
 *	is held down
 * @flap_half_life: time in which the penalty of a link halves; at least 1 ms
 * @hold_max: bound of the time that a link is held down after its last loss
 * @takeover: time from the loss of the root until the first candidate asks to be root; 0: this node
 *	never asks
 * @priority: priority of this node as a candidate, at most FM_PRIORITY_MAX, or FM_PRIORITY_AUTO; 0:
 *	it is not a candidate
 * @arbiter: the site has an arbiter (root/arbiter.c)
 * @library: of tables, shared with other machines of this thread, or NULL. It
 *	must outlive them
 * @keeps: the host has a disk for the table, and answers each @keep by fm_kept()
 * @kept: the table that was kept last, or NULL; read by fm_new() alone
 * @seed: seed of random delays
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
 * fm_library_new() - make a library, by which the machines of one process share equal tables
 *
 * Each version is in memory once, for all machines that have it, so a million machines need the
 * memory of a few tables. As soon as one machine gets the end of a session that was reported after
 * the table (fm_ended), all of them know it.
 * Return: NULL if out of memory.
 */
struct fm_library *fm_library_new(void);
void fm_library_free(struct fm_library *l);

/** fm_config_default() - set all parameters except names and address to their defaults */
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
 * fm_stalled() - note whether (@is) the host takes @port of the NIC down because the neighbour
 * returns no credits
 */
void fm_stalled(struct fm *fm, unsigned int port, bool is, uint64_t now);
/**
 * fm_nic_gone() - report to the root that the NIC is gone; the host then frees the machine
 * The root will see the links of this node end, and then knows that the node itself lives.
 */
void fm_nic_gone(struct fm *fm, uint64_t now);
void fm_mgmt(struct fm *fm, unsigned int port, const void *data, size_t len, uint64_t now);
void fm_park(struct fm *fm, const struct torus_park *park, uint64_t now);
/**
 * fm_done() - process the end of the action @tag at the NIC
 * @err: 0 or negative errno. An action that failed may have been done nevertheless, or in part
 * @counts: the result of @count without error, else NULL
 */
void fm_done(struct fm *fm, uint32_t tag, int err, const struct fm_counts *counts, uint64_t now);
/**
 * fm_conn_up() - note that a connection which this node opened is established, or that a peer has
 * connected
 */
void fm_conn_up(struct fm *fm, int conn, uint64_t now);
void fm_conn_down(struct fm *fm, int conn, uint64_t now);
void fm_msg(struct fm *fm, int conn, const struct fm_msg *msg, uint64_t now);
/**
 * fm_arbiter() - process the answer of the site's arbiter to the question about @epoch
 * @high: with FM_REFUSED: the epoch that it has granted already; 0: not known
 * @why: the reason, as text for people, if the arbiter did not grant the epoch
 */
void fm_arbiter(struct fm *fm, uint64_t epoch, enum fm_verdict verdict, uint64_t high,
		const char *why, uint64_t now);
/**
 * fm_kept() - process the end of fm_ops.keep: the table is on the disk (@ok), or the disk has
 * failed
 * @epoch, @version: of that table
 * The host does not call this for a table that a later one replaced before it was written.
 */
void fm_kept(struct fm *fm, uint64_t epoch, uint64_t version, bool ok, uint64_t now);
void fm_timer(struct fm *fm, uint64_t now);
/** fm_expiry() - Return: when fm_timer() must be called; ~0 for never */
uint64_t fm_expiry(const struct fm *fm);

/**
 * fm_exclude() - exclude or include ports by order of the administrator; works on the root only. An
 * inclusion also ends the holds of links that flap (damp.c).
 * @port: -1 for the whole node
 * Return: 0; -EPERM if this node is not root; -EAGAIN if there is no table yet; -EINVAL.
 */
int fm_exclude(struct fm *fm, uint32_t node, int port, bool excluded, uint64_t now);
/**
 * fm_exclude_by() - as fm_exclude(), with an order that says who excludes the ports, why and until
 * when
 * @order: its @node and @ports are ignored. If it has an end, the root includes the ports at that
 *	time
 */
int fm_exclude_by(struct fm *fm, uint32_t node, int port, const struct fm_order *order,
		  uint64_t now);
/**
 * fm_include_by() - as fm_exclude() for an inclusion; only the user of @order is used, for the log
 */
int fm_include_by(struct fm *fm, uint32_t node, int port, const struct fm_order *order,
		  uint64_t now);
/**
 * fm_exclude_first() - exclude or include ports, but do not make the next table in this call
 * @order: as in fm_exclude_by() or fm_include_by(), or NULL
 *
 * Exclusions and inclusions that follow at the same time are then in the same table.
 */
int fm_exclude_first(struct fm *fm, uint32_t node, int port, bool excluded,
		     const struct fm_order *order, uint64_t now);
/**
 * fm_exclude_changes() - find out whether fm_exclude(), or fm_exclude_by() if there is an @order,
 *	would change the present exclusions
 * Return: true if it would change anything, or if this node is not root. The same exclusion for the
 * same reason, without an end, changes nothing, even if another user orders it.
 */
bool fm_exclude_changes(const struct fm *fm, uint32_t node, int port, bool excluded,
			const struct fm_order *order);

/**
 * fm_clock() - set the time of day to @wall, in seconds since 1970
 * Called when the manager starts, and when the clock of the machine is set. A root uses it only to
 * end exclusions that a former root accepted for a limited time (root/term.c).
 */
void fm_clock(struct fm *fm, uint64_t wall, uint64_t now);

/**
 * fm_plan() - make @plan the address plan of the fabric, if this node is root
 * @given: as @plan_given in fm_config
 * Called when the configuration was read again. If the plan cannot be used, a problem says why.
 */
void fm_plan(struct fm *fm, const struct torus_plan *plan, unsigned int given, uint64_t now);

/**
 * fm_root_move() - hand the root over to another node: all nodes join that node, and no row changes
 * Return: 0, also if @node is the root; -EPERM this node is not root, -EAGAIN a recovery is under
 * way or there is no table yet, -EINVAL no such node, -EHOSTUNREACH it is not up or its manager
 * does not answer, -EACCES its configuration forbids it to be root, or its NIC failed while it was
 * root.
 */
int fm_root_move(struct fm *fm, uint32_t node, uint64_t now);

/**
 * fm_job_start() - begin a job: from the next table on, packets among its nodes do not leave them
 * @job: its @id is ignored
 * @node: its @job->nodes nodes, by number, as fm_job_choose() of status.h finds them
 * Return: 0; -EPERM this node is not root; -EAGAIN there is no table yet; -EEXIST there is a job of
 * that name; -ENOSPC there are FM_JOBS_MAX jobs; -EBUSY a node belongs to a job; -EOPNOTSUPP the
 * manager of a node does not know jobs; -EINVAL; -ENOMEM.
 */
int fm_job_start(struct fm *fm, const struct fm_job *job, const uint32_t *node, uint64_t now);
/**
 * fm_job_grow() - begin a job whose nodes are found by neighbours, from one node on
 * Returns at once; fm_job_growth() of status.h says how it goes on.
 * @job: its @id is ignored
 * @want: its @at is the first node
 * Return: 0; -EPERM this node is not root; -EAGAIN there is no table yet; -EEXIST there is a job of
 * that name, or one grows; -ENOSPC too many jobs grow; -EINVAL; -EHOSTUNREACH the manager of the
 * first node does not answer; -ENOMEM.
 */
int fm_job_grow(struct fm *fm, const struct fm_job *job, const struct fm_job_want *want,
		uint64_t now);
/**
 * fm_job_stop() - end a job
 * @uid: user who ended it, for the log; or FM_NO_UID
 * Return: 0; -EPERM this node is not root; -EAGAIN there is no table yet; -ENOENT no such job.
 */
int fm_job_stop(struct fm *fm, const char *name, uint32_t uid, uint64_t now);

/* status.h has the functions that read a machine. */

#endif /* FM_H */
