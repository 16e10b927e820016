/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The status of a machine, to be read between events. Everything here is of the
 * node's own table, so any node can tell of the whole fabric; what only the
 * root knows is marked. Pointers are valid until the next event.
 */
#ifndef FM_STATUS_H
#define FM_STATUS_H

#include "daemon/fm/fm.h"

enum fm_state {
	FM_BOOTSTRAPPING,	/* no table yet */
	FM_RUNNING,
	FM_RECOVERING,		/* a version is being put into force */
	FM_DEGRADED,		/* something is down or wrongly wired, and not excluded by order */
	FM_STATES,
};

/* When each step of a recovery was reached; 0: it was not needed. */
enum fm_stamp {
	FM_AT_DETECTED,
	FM_AT_TABLE,
	FM_AT_REBUILT,
	FM_AT_DRAINED,
	FM_AT_REPLAYED,
	FM_AT_RESUMED,
	FM_STAMPS,
};

/**
 * struct fm_recovery - the last one that ended (root)
 * @version: 0: there was none
 * @bounded: some wait ended by its bound, not by proof
 * @lost: packets that went in and will not come out
 */
struct fm_recovery {
	uint64_t version;
	char cause[FM_TEXT_MAX];
	uint64_t parked;
	uint64_t replayed;
	uint64_t lost;
	bool bounded;
	uint64_t at[FM_STAMPS];		/* in the machine's clock */
};

/**
 * struct fm_calls_status - how many nodes a root, or a node that asks to be root, has called
 * @called: over the service network; @follow: of them, that follow it; @others: that follow
 * another
 * @unknown: that cannot be called: the table has no address of them
 */
struct fm_calls_status {
	uint32_t called, follow, others, unknown;
};

enum fm_root_state {
	FM_ROOT_UNKNOWN,	/* no Init has come yet */
	FM_ROOT_LEADS,
	FM_ROOT_LOST,
	FM_ROOT_ASKS,		/* the former one is lost; this one asks which nodes would obey */
	FM_ROOT_CLAIMS,		/* nodes promise to obey it */
	FM_ROOT_STATES,
};

/**
 * struct fm_root_status - the root, as this node knows it
 * @state: enum fm_root_state
 * @epoch: in which it leads, or led last; 0: not known
 * @since: when this node knew first that it leads; 0: it never did
 * @lost: since when no root is reachable, in the machine's clock; 0: one is. What
 *	this node tells of the fabric is as it was then
 * @here, @need: nodes that answered, or promised to obey, the node that asks to be root, and how
 *	many it needs, as it said last; @need 0: not known
 * @calls: known to the root, and to the node that asks, alone
 * @arbiter: the site has one; @verdict: its last answer, about @asked_epoch, at @answered; 0: it
 *	has given none
 * @refusal: why it was no grant, or ""
 * @why: it leads, as text; NULL: not known (the root alone knows)
 */
struct fm_root_status {
	uint8_t state;
	bool own;			/* it is this node */
	bool known;
	bool reachable;
	uint64_t epoch;
	uint64_t since;
	uint64_t lost;
	uint64_t guid;
	uint32_t node;			/* TORUS_NO_NODE while not in the table */
	uint32_t here, need;
	struct fm_calls_status calls;
	bool arbiter;
	uint8_t verdict;		/* enum fm_verdict */
	uint64_t asked_epoch;
	uint64_t answered;
	const char *refusal;
	const char *address;
	const char *why;
};

/** struct fm_status - the whole fabric, summed up */
struct fm_status {
	enum fm_state state;
	bool is_root;
	bool placed;			/* shape and own are set */
	struct torus_shape shape;
	uint32_t own;			/* node id */
	uint64_t version;		/* of the table */
	uint64_t applied;		/* of the NIC's rows */
	uint32_t nodes, nodes_up;	/* up: in the table, and fm_heard() is true */
	uint32_t nodes_excluded;	/* out of service, whether they are up or not */
	uint32_t links, links_up, links_faulty, links_excluded;	/* cables; up: at such a node */
	uint32_t nodes_heard;		/* whose managers this one has a way to now */
	uint32_t links_heard;		/* with an end at one of them */
	uint64_t parked;		/* in the fabric (root, last count) */
	uint64_t relayed;		/* pairs that relays serve (root, last count), else own
					 * rows */
	struct fm_root_status root;
	struct fm_recovery last;
	unsigned int problems;
};

/** struct fm_problem - something an administrator should look at */
struct fm_problem {
	char kind[16];			/* fabricd(8) lists them */
	char text[FM_TEXT_MAX];
};

/**
 * struct fm_place - where this node is by what it knows itself
 * @confirmed: its NIC has its coordinates from a root; else they are by the Inits of neighbours
 * @size: 0 where it is not known yet: then the position is signed
 */
struct fm_place {
	bool confirmed;
	unsigned int ndims;
	uint16_t size[TORUS_MAX_DIMS];
	int32_t position[TORUS_MAX_DIMS];
};

/**
 * struct fm_neighbour - what the neighbour at a port says of itself in its Inits
 * @port: of it, from which its Init came
 * @settled: its coordinates are from a root
 * @agrees: it is where this node expects it
 */
struct fm_neighbour {
	const char *name;
	uint64_t guid;
	unsigned int port;
	bool settled, agrees;
	int32_t position[TORUS_MAX_DIMS];
};

/**
 * struct fm_cable - a port of this node: what its NIC finds there, and what should be there
 * @guid, @port: other end, as the link's init told; @guid 0: none has come yet
 * @expects: a cable should be there: to @due_port of the node at @due
 * @fault: what is wrong with it by the Inits of neighbours; NULL: nothing, as far as is known
 */
struct fm_cable {
	bool up;
	uint64_t guid;
	unsigned int port;
	bool expects;
	unsigned int due_port;
	int32_t due[TORUS_MAX_DIMS];
	const char *fault;
};

/** struct fm_joiner - a node the root knows that is not in the table yet */
struct fm_joiner {
	const char *name;
	const char *address;
	uint64_t guid;
};

/** fm_status() - looks at every node: for people's questions, not for every event */
void fm_status(const struct fm *fm, struct fm_status *out);
/** fm_root_status() - what fm_status() says of the root */
void fm_root_status(const struct fm *fm, struct fm_root_status *out);
/** fm_state() - what fm_status() says of the fabric; counts once for each table */
enum fm_state fm_state(const struct fm *fm);
/** fm_nodes() - nodes, 0 without a table; @up: those that are up by the table */
uint32_t fm_nodes(const struct fm *fm, uint32_t *up);

/**
 * struct fm_outline - what an event may have changed of the status
 * As long as it stays the same so do state, place and numbers of nodes and links.
 */
struct fm_outline {
	uint64_t term;
	uint64_t version;
	uint32_t own;			/* TORUS_NO_NODE without a place */
	unsigned int problems;
	bool under_way;
	bool cut_off;
};

void fm_outline(const struct fm *fm, struct fm_outline *out);
const char *fm_state_name(unsigned int state);
const char *fm_verdict_name(unsigned int verdict);
const char *fm_disk_name(unsigned int disk);	/* NULL: not known */
const char *fm_root_state_name(unsigned int state);
const char *fm_node_state_name(unsigned int state);

/** fm_in_force() - the node has @version, in its NIC as well, and no step is at hand */
bool fm_in_force(const struct fm *fm, uint64_t version);

/**
 * fm_root_busy() - this root has not settled yet, or a recovery is under way: it cannot hand over
 */
bool fm_root_busy(const struct fm *fm);

/**
 * struct fm_kept_count - candidates, also those that are away, and what they have on their disks
 * @of: all; @keep: of them, those that have a disk for it
 * @have: of these, those that have the content of the table on disk
 * @wait: of these, those that are up, and have not told yet
 */
struct fm_kept_count {
	uint32_t of, keep, have, wait;
};

/** fm_kept_count() - false: not the root */
bool fm_kept_count(const struct fm *fm, struct fm_kept_count *out);

/** fm_last() - the last recovery that ended, version 0 if none did; NULL: not the root */
const struct fm_recovery *fm_last(const struct fm *fm);

/** fm_is_root() - this node is the root */
bool fm_is_root(const struct fm *fm);
/** fm_epoch() - epoch of the root that this node obeys, or leads in; 0: none */
uint64_t fm_epoch(const struct fm *fm);

/** fm_reachable() - the root is, or this node is the root */
bool fm_reachable(const struct fm *fm);

/** fm_cut_off() - since when it is not, in the machine's clock; 0: it is */
uint64_t fm_cut_off(const struct fm *fm);

/** fm_own() - node id, TORUS_NO_NODE without a place */
uint32_t fm_own(const struct fm *fm);

/** fm_shape() - of the fabric in which it has its place, else of its table; ndims 0: unknown */
const struct torus_shape *fm_shape(const struct fm *fm);

/** fm_version() - of its table; 0: it has none */
uint64_t fm_version(const struct fm *fm);

/** fm_version_epoch() - epoch of the root that made its table; 0: it has none */
uint64_t fm_version_epoch(const struct fm *fm);

/** fm_applied() - version of the NIC's rows */
uint64_t fm_applied(const struct fm *fm);

/** fm_problem() - NULL past the last */
const struct fm_problem *fm_problem(const struct fm *fm, unsigned int i);
/** fm_problems_more() - how many problems stand beside those, for which there was no room */
unsigned int fm_problems_more(const struct fm *fm);

/** fm_place() - Return: false: this node does not know yet where it is */
bool fm_place(const struct fm *fm, struct fm_place *out);
/** fm_neighbour() - Return: false: no Init of the present root has come by @port */
bool fm_neighbour(const struct fm *fm, unsigned int port, struct fm_neighbour *out);
/** fm_cable() - Return: false: no such port, or this node does not know yet where it is */
bool fm_cable(const struct fm *fm, unsigned int port, struct fm_cable *out);

/** fm_node() - a node's entry of the table; NULL without table or out of range */
const struct fm_entry *fm_node(const struct fm *fm, uint32_t node);

/**
 * fm_heard() - when this node last knew that the manager of @node lives
 * The root knows it as long as the node is connected, directly or below others. A node that has
 * lost the root knows it of its neighbours, by their Inits, and of its connections. Of all others
 * it knows what the root knew when it was lost.
 * @at: in the machine's clock; 0: never
 * Return: true if @at is within the last member_max. The lost root counts only by what was heard
 * of it since it was lost.
 */
bool fm_heard(const struct fm *fm, uint32_t node, uint64_t *at);

/** fm_node_parent() - its parent in the distribution tree, or TORUS_NO_NODE (root) */
uint32_t fm_node_parent(const struct fm *fm, uint32_t node);

/** fm_node_by_name() - node id or TORUS_NO_NODE */
uint32_t fm_node_by_name(const struct fm *fm, const char *name);

/** fm_node_by_guid() - node id or TORUS_NO_NODE */
uint32_t fm_node_by_guid(const struct fm *fm, uint64_t guid);

/** fm_joiner() - false past the last (root) */
bool fm_joiner(const struct fm *fm, unsigned int i, struct fm_joiner *out);

/* How much of the table at hand a candidate has on its disk. */
enum fm_disk {
	FM_DISK_UNKNOWN,	/* the root alone knows */
	FM_DISK_NONE,		/* it has no place for it */
	FM_DISK_WAITS,		/* it has not said yet that it has it */
	FM_DISK_HAS,
	FM_DISK_FAILS,
	FM_DISKS,
};

/**
 * struct fm_candidate_status - a node that would become root
 * @heard: its manager answers
 * @disk: enum fm_disk
 */
struct fm_candidate_status {
	uint32_t node;
	unsigned int priority;
	bool heard;
	uint8_t disk;
	const char *name;
};

/** fm_candidate() - in no order; false past the last. One that does not lead knows itself alone */
bool fm_candidate(const struct fm *fm, uint32_t *i, struct fm_candidate_status *out);

/** fm_excluded() - why a cable is out: "admin", "wiring", "held", "stall", "fault", or NULL */
const char *fm_excluded(const struct fm *fm, uint32_t node, unsigned int port);
/**
 * fm_excluded_until() - until when the administrator excluded that cable, at both ends if at both
 * Return: in seconds since 1970; 0: for ever, or not at all.
 */
uint64_t fm_excluded_until(const struct fm *fm, uint32_t node, unsigned int port);
/** fm_out_until() - when the first port of a node out of service comes back; 0: none by itself */
uint64_t fm_out_until(const struct fm *fm, uint32_t node);

#define FM_SEVERED_MAX 8	/* named */

/** struct fm_target - what an order is about: a port of a node, -1 for all of them */
struct fm_target {
	uint32_t node;
	int port;
};

/**
 * struct fm_severed - what exclusions would part
 * @nodes: how many would be cut off from the largest part of those that they are joined to now;
 *	the first of them are in @node
 * @pairs: from one node to another, that would have no path any more
 */
struct fm_severed {
	uint32_t nodes, node[FM_SEVERED_MAX];
	uint64_t pairs;
};

/**
 * fm_exclude_severs() - what the exclusion of these @n would part, after all orders so far (root)
 * Nodes that are excluded as a whole, or out of service, or dead, need no path.
 * Return: 0, -EPERM not the root, -EAGAIN still bootstrapping, -ENOMEM.
 */
int fm_exclude_severs(const struct fm *fm, const struct fm_target *end, uint32_t n,
		      struct fm_severed *out);

/** fm_order() - the orders of the table by number; NULL past the last (node/orders.h) */
const struct fm_order *fm_order(const struct fm *fm, uint32_t i);

/** fm_out_of_service() - all cables of the node are excluded by the administrator */
bool fm_out_of_service(const struct fm *fm, uint32_t node);

/**
 * struct fm_hold - a cable that is held down because it flaps (root)
 * @node, @port: an end of it
 * @peer, @peer_port: the other; TORUS_NO_NODE: not known
 * @left: ns until it is used again, unless it is lost meanwhile
 */
struct fm_hold {
	uint32_t node, peer;
	unsigned int port, peer_port;
	uint64_t left;
};

/** fm_held() - a cable is told once; false past the last, and if this is not the root */
bool fm_held(const struct fm *fm, unsigned int i, uint64_t now, struct fm_hold *out);

/**
 * struct fm_faulty - a cable that should be used, and cannot be
 * @node, @port: its end at a port with "+"; @peer, @peer_port: the other one
 * @dead: which of the two nodes is dead, TORUS_NO_NODE: none
 * @reason: why, as text; NULL: not known
 * @since: when it was lost, in the machine's clock; 0: not known, or before this root began
 *	(the root alone knows both)
 */
struct fm_faulty {
	uint32_t node, peer, dead;
	unsigned int port, peer_port;
	const char *reason;
	uint64_t since;
};

/** fm_faulty() - the next from *@i on, which begins at 0; false past the last */
bool fm_faulty(const struct fm *fm, uint32_t *i, struct fm_faulty *out);

/** fm_downs() - how often this root has seen that cable lost; false: not the root, or no cable */
bool fm_downs(const struct fm *fm, uint32_t node, unsigned int port, uint32_t *n);

/** fm_exclusions() - the closed exclusion table, a mask for each node, or NULL */
const uint16_t *fm_exclusions(const struct fm *fm);

#endif /* FM_STATUS_H */
