/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The status of a machine, to be read between events. It is made from the node's own table, so any
 * node can describe the whole fabric; facts that only the root knows are marked "(root)". Pointers
 * are valid until the next event.
 */
#ifndef FM_STATUS_H
#define FM_STATUS_H

#include "daemon/fm/fm.h"


enum fm_state {
	FM_BOOTSTRAPPING,	/* there is no table yet */
	FM_RUNNING,
	FM_RECOVERING,		/* a version is being put into force */
	FM_DEGRADED,		/* a node or cable is down or wrongly cabled, and no
				 * administrator has excluded it */
	FM_STATES,
};

/* Times at which a recovery reached its steps; 0: the step was skipped. */
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
 * struct fm_recovery - the log of a recovery, which has ended or goes on (root)
 * @version: version of its table; 0: there was no recovery
 * @cause: text of the change that demanded it
 * @parked, @replayed, @lost: numbers of packets
 * @bounded: some wait ended by its time limit, not by a proof
 */
struct fm_recovery {
	uint64_t version;
	char cause[FM_TEXT_MAX];
	uint64_t parked;
	uint64_t replayed;
	uint64_t lost;
	bool bounded;
	uint64_t at[FM_STAMPS];		/* ns of the machine's clock */
};

/**
 * struct fm_calls_status - counts of the nodes that were called over the service network
 * (root/calls.c)
 * @called: number of called nodes; @follow: how many of them follow the caller; @others: how many
 *	follow another root
 * @unknown: number of nodes that cannot be called, because the table has no address of them
 */
struct fm_calls_status {
	uint32_t called, follow, others, unknown;
};

enum fm_root_state {
	FM_ROOT_UNKNOWN,	/* no Init has been received yet */
	FM_ROOT_LEADS,
	FM_ROOT_LOST,
	FM_ROOT_ASKS,		/* the former root is lost; this node asks which nodes would obey
				 * it */
	FM_ROOT_CLAIMS,		/* nodes are promising to obey this node */
	FM_ROOT_STATES,
};

/**
 * struct fm_root_status - the root, as this node knows it
 * @state: enum fm_root_state
 * @own: this node is root, or asks to be
 * @known: the root is known
 * @reachable: this node has a way to the root
 * @epoch: the epoch in which the root leads, or led last; 0: not known
 * @since: when this node first knew that the root leads; 0: it never did
 * @lost: time since which this node has no way to a root, in the machine's clock; 0: it has one.
 *	The status of the fabric is as of that time
 * @guid, @node, @address: GUID, node id and service address of the root; @node: TORUS_NO_NODE while
 *	it is not in the table
 * @here, @need: how many nodes have answered the node that asks to be root, or have promised to
 *	obey it, and how many it needs, by its last message; @need 0: not known
 * @calls: valid only on the root, and on the node that asks to be root
 * @arbiter: the site has an arbiter
 * @verdict: the arbiter's last answer, about @asked_epoch; @answered: when it came; 0: there is
 *	none
 * @refusal: why the arbiter did not grant the epoch, or ""
 * @why: why the root leads, as text; NULL: not known (only the root itself knows)
 */
struct fm_root_status {
	uint8_t state;
	bool own;			/* the root is this node */
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

/** struct fm_status - a summary of the whole fabric */
struct fm_status {
	enum fm_state state;
	bool is_root;
	bool placed;			/* @shape and @own are valid */
	struct torus_shape shape;
	uint32_t own;			/* node id of this node */
	uint64_t version;		/* version of the table */
	uint64_t applied;		/* version of the NIC's rows */
	uint32_t nodes, nodes_up;	/* @nodes_up: nodes that are up in the table, and for
					 * which fm_last_alive() is true */
	uint32_t nodes_excluded;	/* nodes out of service, whether they are up or not */
	uint32_t links, links_up, links_faulty, links_excluded;	/* numbers of cables; @links_up:
								 * cables at nodes that are up as
								 * above */
	uint32_t links_wrong;		/* cables that lead to wrong ports */
	uint32_t nodes_answering;	/* nodes to whose managers this node has a way now */
	uint32_t links_answering;	/* cables with an end at one of these nodes */
	uint64_t parked;		/* packets parked in the fabric (root, at the last count) */
	uint64_t relayed;		/* pairs of nodes that use relays (root, at the last
					 * count); on other nodes: own rows that do */
	struct fm_root_status root;
	struct fm_recovery present;	/* the recovery that goes on (root); version 0: none does */
	struct fm_recovery last;
	unsigned int problems;
};

/** struct fm_problem - a present problem, for the administrator */
struct fm_problem {
	char kind[16];			/* one of the kinds that fabricd(8) lists */
	char text[FM_TEXT_MAX];
};

/**
 * struct fm_place - the place of this node, as far as the node itself knows it
 * @confirmed: a root has given its NIC these coordinates; false: they come from the Inits of
 *	neighbours
 * @size: 0 for a dimension whose size is not known yet: there the position is signed
 */
struct fm_place {
	bool confirmed;
	unsigned int ndims;
	uint16_t size[TORUS_MAX_DIMS];
	int32_t position[TORUS_MAX_DIMS];
};

/**
 * struct fm_neighbour - the neighbour at a port, as its last Init describes it
 * @port: the neighbour's port at the other end of the cable
 * @settled: a root has given the neighbour its coordinates
 * @agrees: the neighbour's place and port are those that this node expects
 */
struct fm_neighbour {
	const char *name;
	uint64_t guid;
	unsigned int port;
	bool settled, agrees;
	int32_t position[TORUS_MAX_DIMS];
};

/**
 * struct fm_cable - the cable at a port of this node, and the one that should be there
 * @up: the link of the port is up
 * @guid, @port: the other end of the cable, by the INIT of the link; @guid 0: no INIT has come yet
 * @expects: a cable should be there, to @due_port of the node at @due
 * @fault: the fault of the cable, by the Inits of neighbours; NULL: none is known
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

/** struct fm_joiner - a node that the root knows, and that is not in the table yet */
struct fm_joiner {
	const char *name;
	const char *address;
	uint64_t guid;
};

/** fm_status() - get the whole status; visits all nodes, so do not call it for every event */
void fm_status(const struct fm *fm, struct fm_status *out);
/** fm_root_status() - get only the part about the root */
void fm_root_status(const struct fm *fm, struct fm_root_status *out);
/** fm_state() - Return: only the state; visits all nodes once for each table */
enum fm_state fm_state(const struct fm *fm);
/**
 * fm_nodes() - Return: number of nodes, 0 without a table; @up: set to the number of those that are
 * up in the table
 */
uint32_t fm_nodes(const struct fm *fm, uint32_t *up);

/**
 * struct fm_outline - a summary of the status, quick to read after each event
 *
 * While it does not change, neither do state, place and numbers of nodes and links.
 */
struct fm_outline {
	uint64_t term;
	uint64_t version;
	uint32_t own;			/* TORUS_NO_NODE if this node has no place */
	unsigned int problems;
	bool under_way;
	bool cut_off;
};

void fm_outline(const struct fm *fm, struct fm_outline *out);
const char *fm_state_name(unsigned int state);
const char *fm_verdict_name(unsigned int verdict);
const char *fm_disk_name(unsigned int disk);	/* NULL if @disk is no enum fm_disk */
const char *fm_root_state_name(unsigned int state);
const char *fm_stamp_name(unsigned int stamp);
const char *fm_node_state_name(unsigned int state);

/**
 * fm_in_force() - Return: true if the NIC has the rows of @version, and the recovery of that
 * version has ended
 */
bool fm_in_force(const struct fm *fm, uint64_t version);

/**
 * fm_root_busy() - Return: true if this root cannot hand over, because it has no table yet or a
 * recovery is under way
 */
bool fm_root_busy(const struct fm *fm);

/**
 * struct fm_kept_count - numbers of candidates, including those that are away, by the state of
 * their disks
 * @of: all candidates; @keep: candidates that have a disk for the table
 * @have: candidates that have the content of the present table on disk
 * @wait: candidates that are up, and have not reported yet
 */
struct fm_kept_count {
	uint32_t of, keep, have, wait;
};

/** fm_kept_count() - count candidates by their disks. Return: false if this node is not root */
bool fm_kept_count(const struct fm *fm, struct fm_kept_count *out);

/**
 * fm_last() - Return: the last recovery that ended; its version is 0 if none has; NULL if this node
 * is not root
 */
const struct fm_recovery *fm_last(const struct fm *fm);

/** fm_is_root() - Return: true if this node leads */
bool fm_is_root(const struct fm *fm);
/**
 * fm_epoch() - Return: epoch of the root that this node has joined, or of this node as root; 0 if
 * there is none
 */
uint64_t fm_epoch(const struct fm *fm);

/** fm_reachable() - Return: true if this node has a way to the root, or is root */
bool fm_reachable(const struct fm *fm);

/**
 * fm_cut_off() - Return: time since which this node has had no way to the root, in the machine's
 * clock; 0 if it has one
 */
uint64_t fm_cut_off(const struct fm *fm);

/** fm_own() - Return: node id of this node; TORUS_NO_NODE if it has no place */
uint32_t fm_own(const struct fm *fm);

/**
 * fm_shape() - Return: the shape in which this node has its place, else that of its table; ndims 0
 * if neither is known
 */
const struct torus_shape *fm_shape(const struct fm *fm);
/** fm_address_plan() - Return: the address plan from which this node has its addresses */
struct torus_plan fm_address_plan(const struct fm *fm);

/** fm_version() - Return: version of this node's table; 0 if it has none */
uint64_t fm_version(const struct fm *fm);

/** fm_version_epoch() - Return: epoch of the root that made this node's table; 0 if it has none */
uint64_t fm_version_epoch(const struct fm *fm);

/** fm_applied() - Return: version of the NIC's rows */
uint64_t fm_applied(const struct fm *fm);

/** fm_problem() - Return: problem number @i of those present; NULL if the list has fewer */
const struct fm_problem *fm_problem(const struct fm *fm, unsigned int i);
/** fm_problems_more() - Return: number of further problems that are present, but not in the list */
unsigned int fm_problems_more(const struct fm *fm);

/** fm_place() - get the place of this node. Return: false if it is not known yet */
bool fm_place(const struct fm *fm, struct fm_place *out);
/**
 * fm_neighbour() - describe the neighbour at @port. Return: false if it has sent no Init of the
 * present root
 */
bool fm_neighbour(const struct fm *fm, unsigned int port, struct fm_neighbour *out);
/**
 * fm_cable() - describe the cable at @port. Return: false if there is no such port, or this node
 * has no place yet
 */
bool fm_cable(const struct fm *fm, unsigned int port, struct fm_cable *out);

/**
 * fm_node() - Return: the entry of @node in the table; NULL if there is no table, or no such node
 */
const struct fm_entry *fm_node(const struct fm *fm, uint32_t node);

/**
 * fm_last_alive() - find out when the manager of @node last showed that it lives
 * @at: set to that time, in the machine's clock; 0: never
 *
 * The root knows this of each node that is connected to it, directly or below others. A node that
 * has lost the root knows it of its neighbours, by their Inits, and of its own connections; for all
 * other nodes it takes the time at which it lost the root.
 * Return: true if @at is within the last member_max. For the lost root itself, only signs of life
 * since it was lost count.
 */
bool fm_last_alive(const struct fm *fm, uint32_t node, uint64_t *at);

/**
 * fm_node_parent() - Return: the parent of @node in the distribution tree, or TORUS_NO_NODE (root)
 */
uint32_t fm_node_parent(const struct fm *fm, uint32_t node);

/** fm_node_by_name() - Return: id of the node with that name, or TORUS_NO_NODE */
uint32_t fm_node_by_name(const struct fm *fm, const char *name);

/** fm_node_by_guid() - Return: id of the node whose NIC has that GUID, or TORUS_NO_NODE */
uint32_t fm_node_by_guid(const struct fm *fm, uint64_t guid);

/**
 * fm_joiner() - describe node number @i of those that the root knows, and that are not in the table
 * yet (root)
 * Return: false if there are fewer.
 */
bool fm_joiner(const struct fm *fm, unsigned int i, struct fm_joiner *out);

/* State of the present table on the disk of a candidate. */
enum fm_disk {
	FM_DISK_UNKNOWN,	/* not known: only the root knows it */
	FM_DISK_NONE,		/* the candidate has no disk for the table */
	FM_DISK_WAITS,		/* it has not reported yet */
	FM_DISK_HAS,		/* it has the content of the table on its disk */
	FM_DISK_FAILS,		/* its disk fails */
	FM_DISKS,
};

/**
 * struct fm_candidate_status - a candidate
 * @answers: the candidate's manager answers
 * @disk: enum fm_disk
 */
struct fm_candidate_status {
	uint32_t node;
	unsigned int priority;
	bool answers;
	uint8_t disk;
	const char *name;
};

/**
 * fm_candidate() - iterate over candidates, in no order; @i is 0 at first
 * Return: false past the last. A node that does not lead knows only itself.
 */
bool fm_candidate(const struct fm *fm, uint32_t *i, struct fm_candidate_status *out);

/**
 * fm_excluded() - find out why the table excludes a cable
 * Return: "admin", "wiring", "held", "stall" or "fault"; NULL if the cable is not excluded.
 */
const char *fm_excluded(const struct fm *fm, uint32_t node, unsigned int port);
/**
 * fm_excluded_until() - Return: until when the administrator excluded a cable, in seconds since
 * 1970: the later time of both ends; 0: without limit, or it is not excluded
 */
uint64_t fm_excluded_until(const struct fm *fm, uint32_t node, unsigned int port);
/**
 * fm_out_until() - Return: when the first port of a node out of service is included again by its
 * order; 0 if no order has an end
 */
uint64_t fm_out_until(const struct fm *fm, uint32_t node);

#define FM_SEVERED_MAX 8	/* most nodes that are named */

/** struct fm_target - the object of an order: a port of a node; @port -1: all its ports */
struct fm_target {
	uint32_t node;
	int port;
};

/**
 * struct fm_severed - which nodes would be cut off from each other by exclusions
 * @nodes: number of nodes that would be cut off from the largest part of the nodes which they are
 *	joined to now; @node has the first of them
 * @pairs: number of pairs (from one node to another) that would have no path any more
 * @went: number of nodes that would be taken out of service; @left: number of those that would
 *	still work
 * @job: the first job that would be divided into more parts than now; NULL: none; @parts: into how
 *	many
 */
struct fm_severed {
	uint32_t nodes, node[FM_SEVERED_MAX];
	uint64_t pairs;
	uint32_t went, left;
	const struct fm_job *job;
	uint32_t parts;
};

/**
 * fm_exclude_severs() - find out which nodes the exclusion of these @n targets would cut off (root)
 * All orders given so far count. Nodes that are excluded as a whole, or out of service, or dead,
 * need no path.
 * Return: 0; -EPERM if this node is not root; -EAGAIN if there is no table yet; -ENOMEM.
 */
int fm_exclude_severs(const struct fm *fm, const struct fm_target *end, uint32_t n,
		      struct fm_severed *out);

/** fm_order() - Return: order number @i of the table; NULL if it has fewer (node/orders.h) */
const struct fm_order *fm_order(const struct fm *fm, uint32_t i);

/**
 * fm_order_given() - Return: order number @i of all given so far, in a table or not (root); NULL if
 * there are fewer
 */
const struct fm_order *fm_order_given(const struct fm *fm, uint32_t i);
/** fm_exclusion_given() - Return: true if an order so far excludes either end of a cable (root) */
bool fm_exclusion_given(const struct fm *fm, uint32_t node, unsigned int port);

/**
 * struct fm_job_count - the state of a job
 * @up: its nodes that are up, and in service
 * @parts: sets into which those nodes whose NICs work, and that are in service, are divided,
 * because
 *	no cables of the job join them
 */
struct fm_job_count {
	uint32_t up, parts;
};

/** fm_job() - Return: job number @i of the table; NULL if it has fewer */
const struct fm_job *fm_job(const struct fm *fm, uint32_t i);
/** fm_job_given() - Return: the job of that name, in a table or not yet (root); NULL: none */
const struct fm_job *fm_job_given(const struct fm *fm, const char *name);
/**
 * fm_job_counts() - count the nodes and the parts of all jobs of the table
 * @count: FM_JOBS_MAX + 1, by id
 * Return: false if there is no table, or no memory.
 */
bool fm_job_counts(const struct fm *fm, struct fm_job_count *count);

/**
 * struct fm_job_want - which nodes a job wants
 * @how: enum fm_job_how
 * @nodes: number of them, not more than the fabric has
 * @at: the first node of a box, or TORUS_NO_NODE: any; the node from which the job grows
 * @list: the nodes, if @how is FM_JOB_LIST
 * @links, @rate, @margin: if @how is FM_JOB_GROW: each node has at least so many cables of at least
 *	@rate Mb/s and with at least @margin (percent); only over these are nodes found. 0: any
 */
struct fm_job_want {
	uint8_t how;
	uint32_t nodes, at;
	const uint32_t *list;
	uint8_t links;
	uint16_t margin;
	uint32_t rate;
};

/**
 * fm_job_choose() - find nodes for a job (root)
 * @node: set to the @want->nodes nodes, by number
 * @why: FM_TEXT_MAX bytes; set to the reason if there are none
 * Return: 0; -EPERM this node is not root; -EAGAIN there is no table yet; -ENOSPC no free box;
 * -EBUSY, -EINVAL, -ENOTCONN the list cannot be used; -EOPNOTSUPP the manager of a node does not
 * know jobs; -ENOMEM.
 */
int fm_job_choose(const struct fm *fm, const struct fm_job_want *want, uint32_t *node, char *why);

/**
 * fm_job_growth() - find out how a job that fm_job_grow() began goes on (root)
 * @why: FM_TEXT_MAX bytes; set to the reason if it has ended without a job
 * Return: 0 the job has begun; -EINPROGRESS it grows; -ENOENT no job of that name grows, or grew in
 * the last ten seconds; another negative errno: it has ended without a job.
 */
int fm_job_growth(const struct fm *fm, const char *name, char *why);

/** fm_out_of_service() - Return: true if the administrator has excluded all cables of @node */
bool fm_out_of_service(const struct fm *fm, uint32_t node);

/**
 * struct fm_hold - a cable that is held down because it flaps (root)
 * @node, @port: one end of the cable
 * @peer, @peer_port: the other end; TORUS_NO_NODE: not known
 * @left: ns until the cable is used again, unless it is lost once more
 */
struct fm_hold {
	uint32_t node, peer;
	unsigned int port, peer_port;
	uint64_t left;
};

/**
 * fm_held() - describe cable number @i of those that are held down. Return: false if there are
 * fewer, or this node is not root
 */
bool fm_held(const struct fm *fm, unsigned int i, uint64_t now, struct fm_hold *out);

/**
 * struct fm_faulty - a cable that should be in use, but does not work
 * @node, @port: the end of the cable at a port with "+"; @peer, @peer_port: the other end
 * @dead: which of the two nodes is dead; TORUS_NO_NODE: none
 * @reason: why, as text; NULL: not known
 * @since: when it was lost, in the machine's clock; 0: not known, or before this root began
 *
 * @reason and @since are known to the root alone.
 */
struct fm_faulty {
	uint32_t node, peer, dead;
	unsigned int port, peer_port;
	const char *reason;
	uint64_t since;
};

/**
 * fm_faulty() - describe the next faulty cable; *@i must be 0 at first. Return: false if there is
 * no other
 */
bool fm_faulty(const struct fm *fm, uint32_t *i, struct fm_faulty *out);

/**
 * fm_lost_since() - get the time at which a cable was lost that is still down
 * Return: false if this is not root, the cable is up, or it was lost before this root began.
 */
bool fm_lost_since(const struct fm *fm, uint32_t node, unsigned int port, uint64_t *since);
/**
 * fm_downs() - get how often a cable was lost since this root began. Return: false if this node is
 * not root, or there is no such cable
 */
bool fm_downs(const struct fm *fm, uint32_t node, unsigned int port, uint32_t *n);

/**
 * fm_exclusions() - Return: for each node, a mask of the ports that must not be used because either
 * end of the cable is excluded; NULL if there is no table
 */
const uint16_t *fm_exclusions(const struct fm *fm);

#endif /* FM_STATUS_H */
