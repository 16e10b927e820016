/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages between machines, over the service network. The schema is daemon/svc.proto, the codec
 * daemon/codec.c; a machine uses only these structs. node/tree.c, node/member.c and root/recovery.c
 * describe how they are used. fabricd's own messages are in daemon/svc_msg.h.
 */
#ifndef FM_MSG_H
#define FM_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/torus.h>

#define FM_ADDR_MAX 64		/* bytes of a service address "IP:PORT", including the final NUL */
#define FM_TEXT_MAX 320		/* bytes of a text with a reason, including the final NUL */

/* Epochs of roots. One that is more than FM_EPOCH_STEP above the known ones is not believed. */
#define FM_EPOCH_MAX	(1ULL << 62)
#define FM_EPOCH_STEP	1024u

/* Versions of tables, with the same rule: no root makes so many while a node that lives is away. */
#define FM_VERSION_MAX	(1ULL << 62)
#define FM_VERSION_STEP	(1ULL << 30)

/* Priority of a node as a candidate for the root; 0: it is not a candidate. */
#define FM_PRIORITY_MAX 255u
/* priority of the first nodes (those with the lowest ids) by default */
#define FM_PRIORITY_DEFAULT 100u
#define FM_PRIORITY_AUTO 256u		/* the default, which depends on the bootstrap flag and
					 * the id of the node */

enum fm_msg_type {
	FM_MSG_HELLO = 1,	/* from a node to the root or its parent: the node introduces
				 * itself */
	FM_MSG_WELCOME,		/* answer: the node is accepted; address of its parent */
	FM_MSG_REFUSE,		/* answer: the node is refused, and why */
	FM_MSG_ROW,		/* up to the root: port row of a node */
	FM_MSG_LEFT,		/* up to the root: a child has left */
	FM_MSG_TABLE,		/* down: exclusion table, whole or only changes; up: the table of
				 * a former root */
	FM_MSG_FETCH,		/* up: requests the whole table; down: requests the node's own or
				 * kept table */
	FM_MSG_STEP,		/* down: the next step of a recovery */
	FM_MSG_REPORT,		/* up, summed over a subtree: the step is done; with counters */
	FM_MSG_PING,
	FM_MSG_PONG,
	FM_MSG_ADOPTED = 15,	/* up to the root: a new child has connected */
	FM_MSG_DROP = 18,	/* from the root: close all connections to that node */
	FM_MSG_FAILED,		/* up to the root: the node, or one of its children, cannot do
				 * the present step */
	FM_MSG_CLAIM,		/* answer to HELLO by a node that asks to be root or claims; or a
				 * call */
	FM_MSG_LEAD,		/* down from the root: that node shall be root; up: it is ready */
	FM_MSG_KEPT,		/* up to the root: which table the node has on its disk */
	FM_MSG_GROW,		/* down from the root: a job grows from that node, or has given
				 * up */
	FM_MSG_GROWN,		/* up to the root: the node is a member of a job that grows, or
				 * the growth has ended */
	FM_MSG_TYPES,
};

/* The state of a port, as its node reports it. */
enum fm_port_state {
	FM_PORT_DOWN,		/* the link was never up, or there is no cable */
	FM_PORT_UP,
	FM_PORT_FAULTY,		/* the link was up and no longer is */
};

/* Fault of the neighbour at a port, as its Init shows it. */
enum fm_port_problem {
	FM_PROBLEM_NONE,
	FM_PROBLEM_FABRIC,	/* it belongs to another fabric */
	FM_PROBLEM_ROOT,	/* it follows another root */
	FM_PROBLEM_VERSION,	/* it uses another version of Init */
};

/**
 * struct fm_port_row - the state of one port. Kept small, without holes, because the root has one
 * for each port of each node
 * @state: enum fm_port_state
 * @problem: enum fm_port_problem
 * @closed: the NIC parks packets for this port
 * @stalled: the port was taken down because the neighbour returned no credits
 * @session: the last session that ended; 0: none since the port was opened
 * @seq: next TSEQ that the NIC expected when that session ended
 * @peer_guid, @peer_port: other end of the cable, as the INIT of the link names it
 * @reason: enum torus_link_reason: why the link is not up; only for people
 */
struct fm_port_row {
	uint64_t peer_guid;
	uint32_t session;
	uint16_t seq;
	uint8_t state;
	uint8_t problem;
	uint8_t peer_port;
	uint8_t reason;
	bool closed;
	bool stalled;
};

/** struct fm_row - port row: the states of all ports of a node; @serial rises with every change */
struct fm_row {
	uint32_t serial;
	uint8_t nports;
	struct fm_port_row port[TORUS_MAX_PORTS];
};

/** struct fm_sums - counters of one NIC, or their sums over many NICs */
struct fm_sums {
	uint64_t flow[TORUS_FC_COUNT][TORUS_COLOURS];
	uint64_t parked;	/* packets that are parked now */
	uint64_t unresolved;	/* packets that are unresolved now */
	uint64_t held;		/* packets that wait for the end of holds now */
	uint64_t lost;		/* packets that receivers have given up as lost so far */
	uint32_t reopen;	/* ports that are closed although they are healthy in the table */
	uint64_t relayed;	/* rows that lead through relays now */
};

/**
 * struct fm_base - numbers of packets that were lost for good, computed when the network was last
 * empty
 * @version: version of the recovery that computed them; 0: there is none
 * @set: fingerprint of the NICs that were counted
 * @known: mask of colours whose @missing is valid; bit TORUS_COLOURS: @replay_missing is valid
 * @missing: packets of each colour that went in and never came out
 * @replay_missing: packets that were replayed and never came out
 */
struct fm_base {
	uint64_t version;
	uint64_t set;
	uint8_t known;
	int64_t missing[TORUS_COLOURS];
	int64_t replay_missing;
};

#define FM_VOTERS_MAX 8
#define FM_VOTERS_ALL UINT32_MAX	/* value of @ups: more than any fabric has, so these
					 * nodes have no quorum */

/**
 * struct fm_set - the nodes that are up in a table
 * @ups: number of these nodes
 * @maker: GUID of the root that made the table: exactly half of the nodes are a quorum only if that
 *	one is among them
 */
struct fm_set {
	uint32_t ups;
	uint64_t maker;
};

/**
 * struct fm_voters - the sets of nodes in each of which a new root needs a quorum (root/quorum.c)
 */
struct fm_voters {
	uint8_t n;
	struct fm_set set[FM_VOTERS_MAX];
};

#define FM_LINE_MAX 8

/** struct fm_past - identifies the last table of a former root from which a later table comes */
struct fm_past {
	uint64_t epoch, version;
	uint64_t root;
};

/**
 * struct fm_line - the tables from which another one comes: the last one of each former root, the
 * latest first
 */
struct fm_line {
	uint8_t n;
	struct fm_past past[FM_LINE_MAX];
};

enum fm_role { FM_ROLE_JOIN, FM_ROLE_CHILD };

/**
 * struct fm_hello - a node introduces itself
 * @role: JOIN: sent to the root; CHILD: sent to the parent that the root has named
 * @placed: @shape and @coords are those of its NIC
 * @position: coordinates from the first Init, not reduced by any size
 * @version: version of its NIC's rows
 * @term: JOIN: epoch of the root that made @table; CHILD: of the root that it has joined
 * @root_epoch, @root_guid: the root that its NIC obeys; 0: none
 * @maybe_epoch, @maybe_guid: a later root that its NIC may obey, because the order to obey failed
 *	or was not answered in time; epoch 0: none; GUID 0: not known which root of that epoch
 * @rows_term: epoch of the root by whose order its NIC took its rows. 0: not known, or not needed,
 *	because the manager has a table
 * @attach: rises with every connection that the node makes upward
 * @stray: the parent of the node could not be reached or refused it: the root must be its parent
 * @relay_packets: parameter relay_packets of its NIC; 0: not known
 * @table: version of the table that the manager has; 0: none
 * @table_root: GUID of the root that made @table
 * @ups: number of nodes that are up in @table; @counted: this node is one of them
 * @line: as in fm_table_msg
 * @voters: as in fm_table_msg; @votes: mask of the sets that contain this node
 * @in_force: this node knows that @table has come into force
 * @priority: priority of this node as a candidate, 0 to FM_PRIORITY_MAX, or FM_PRIORITY_AUTO
 * @marked: the NIC of the node has the bootstrap flag
 * @kept_term, @kept: epoch and version of the table that the node has on disk; 0: none
 *	(node/keep.c); @kept_root: GUID of the root that made it, 0: not known
 * @keeps: the node has a disk for the table, and reports by FM_MSG_KEPT which table is on it
 * @clean: colours without packets by the last message of its root; @open: as in fm_table_msg
 * @plans: the manager and its NIC support address plans; @plan: that of @table, or without a table
 *	that of the NIC
 * @jobs: the manager knows jobs, and passes those of a table on
 * @admin, @across: masks of the ports of this node which @table excludes by order of the
 *	administrator; @across: those whose other end it excludes (recall.c)
 */
struct fm_hello {
	uint8_t role;
	bool placed;
	bool stray;
	char fabric[TORUS_NAME_MAX + 1];
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
	uint64_t guid;
	uint32_t epoch;
	struct torus_shape shape;
	struct torus_coords coords;
	int32_t position[TORUS_MAX_DIMS];
	uint64_t version;
	uint64_t term;
	uint64_t root_epoch;
	uint64_t root_guid;
	uint64_t maybe_epoch;
	uint64_t maybe_guid;
	uint64_t rows_term;
	uint64_t attach;
	uint32_t relay_packets;
	uint64_t table;
	uint64_t table_root;
	uint64_t kept_term;
	uint64_t kept;
	uint64_t kept_root;
	bool keeps;
	uint32_t ups;
	struct fm_voters voters;
	struct fm_line line;
	uint8_t votes;
	bool in_force;
	bool counted;
	bool marked;
	uint16_t priority;
	uint16_t admin;
	uint16_t across;
	uint8_t clean;
	uint8_t open;
	bool plans;
	bool jobs;
	struct torus_plan plan;
	struct fm_row row;
	struct fm_sums sums;
	struct fm_base base;
};

/**
 * struct fm_welcome - the sender accepts a node
 * @term: epoch of the root; if it is new, all nodes must join again
 * @root_guid: GUID of the root
 * @adrift: the sender has no way to a root that leads, or asks to be root itself
 * @here, @need: as in fm_claim, if the root only asks; else 0
 * @parent: address of the parent; "": the node stays on this connection
 */
struct fm_welcome {
	uint64_t term;
	uint64_t root_guid;
	bool adrift;
	uint32_t here, need;
	char parent[FM_ADDR_MAX];
};

#define FM_BAN_MAX 20	/* in units of fm_config.member_max: longest ban of a node (root/judge.c) */

/** struct fm_refuse - @wait_ms: the node may join after this time; 0: no such time is known */
struct fm_refuse {
	uint32_t wait_ms;
	char text[FM_TEXT_MAX];
};

struct fm_row_msg {
	uint64_t guid;
	uint32_t epoch;
	struct fm_row row;
};

/**
 * struct fm_left - node @guid has left its parent @parent, or has become its child
 * @attach: as in the child's HELLO; of two notices the one with the greater value is newer
 */
struct fm_left {
	uint64_t guid;
	uint64_t parent;
	uint64_t attach;
	uint32_t epoch;
};

enum fm_node_state {
	FM_NODE_ABSENT,		/* no node was ever at this place */
	FM_NODE_JOINING,	/* the root knows the node, but it is not in the table yet */
	FM_NODE_UP,
	FM_NODE_SILENT,		/* the NIC works, but its manager does not, or it cannot
				 * apply the root's table */
	FM_NODE_DEAD,
	FM_NODE_STATES,
};

/**
 * struct fm_entry - a node in the table
 * @node: node id of the node
 * @state: enum fm_node_state
 * @differs: mask of the sets of voters that contain the node although it is not up here, or do not
 *	contain it although it is up
 * @fault, @wiring, @admin: masks of ports excluded, by reason
 * @held: the ports of @fault that are held down because they flap, whether their links are up or
 *	not
 * @stalled: the ports of @fault that were taken down because the neighbour returned no credits
 * @ended: ports for which @session and @seq are known
 * @serial: serial of the port row from which this entry was made
 * @job: the job to which the node belongs, 0: none; @number: its number in that job
 */
struct fm_entry {
	uint32_t node;
	uint8_t state;
	uint8_t differs;
	uint16_t fault;
	uint16_t wiring;
	uint16_t admin;
	uint16_t held;
	uint16_t stalled;
	uint16_t ended;
	uint32_t session[TORUS_MAX_PORTS];
	uint16_t seq[TORUS_MAX_PORTS];
	uint64_t guid;
	uint32_t epoch;
	uint32_t serial;
	uint16_t job;
	uint32_t number;
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
};

#define FM_JOBS_MAX 1024u	/* most jobs at a time, and the highest number of one */

/**
 * enum fm_job_how - how the nodes of a job were chosen: a box; a list that was given; they were
 * found by neighbours, from one node on (../grow)
 */
enum fm_job_how { FM_JOB_BOX, FM_JOB_LIST, FM_JOB_GROW, FM_JOB_HOWS };

/**
 * struct fm_job - a job: nodes whose packets to each other never leave them (node/job_rows.c)
 * @id: 1 to FM_JOBS_MAX; the entries of its nodes have it
 * @how: enum fm_job_how
 * @nodes: number of its nodes
 * @uid: user to whom it belongs, or FM_NO_UID; @by: name of the node where it was started
 * @since: seconds since 1970
 */
struct fm_job {
	uint16_t id;
	uint8_t how;
	uint32_t nodes;
	uint32_t uid;
	uint64_t since;
	char name[TORUS_NAME_MAX + 1];
	char by[TORUS_NAME_MAX + 1];
};

#define FM_REASON_MAX 80		/* bytes of the administrator's reason, including the
					 * final NUL */
#define FM_NO_UID UINT32_MAX		/* the order was given by a manager, or the user is not
					 * known */
#define FM_TIME_MAX 100000000000ull	/* latest time, in seconds since 1970: in the year 5138 */

/**
 * struct fm_order - why the administrator excluded ports of a node
 * @node: node id of that node; @ports: mask of the excluded ports
 * @uid: user who gave the order, or FM_NO_UID; @by: name of the node where it was given
 * @since, @until: seconds since 1970; @until 0: without limit
 * @reason: printable ASCII; "": none was given
 * @ends: not sent: when the exclusion ends, by the monotonic clock of this root; 0: not known yet
 *	(root/term.c)
 */
struct fm_order {
	uint32_t node;
	uint32_t uid;
	uint64_t since, until;
	uint16_t ports;
	char by[TORUS_NAME_MAX + 1];
	char reason[FM_REASON_MAX];
	uint64_t ends;
};

/**
 * struct fm_table_msg - a table, or changes to one
 * @base: version that the entries change; 0: this is the whole table (nodes without an entry are
 *	absent)
 * @open: mask of dimensions whose ends are not cabled together: a mesh
 * @plan: address plan of all nodes; all 0: the default one (wire/plan.h)
 * @clean: mask of colours that no packet in the network has; needed by a root after a restart
 * @pause: all rows go on hold, because the next table may have another shape
 * @voters: the other tables that may have been in force when this one was made
 * @line: the tables of former roots that this one comes from
 * @former: the message goes to a node that asks to be root, and the table is not to be put in force
 *	(root/recall.c)
 * @maker: in a @former or kept table: GUID of the root that made it; 0: not known
 * @nentries, @entries: entries, node ids ascending
 * @norders, @orders: all orders of these nodes, by node and lowest port. Managers of earlier
 *	releases do not send them
 * @anew: @jobs replace the jobs of @base; so it is in each whole table
 * @njobs, @jobs: all jobs, by id, if @anew
 */
struct fm_table_msg {
	uint64_t term;
	uint64_t version;
	uint64_t base;
	struct torus_shape shape;
	struct torus_plan plan;
	uint8_t open;
	uint8_t clean;
	bool pause;
	bool former;
	uint64_t maker;
	struct fm_voters voters;
	struct fm_line line;
	uint32_t nentries;
	struct fm_entry *entries;
	uint32_t norders;
	struct fm_order *orders;
	bool anew;
	uint32_t njobs;
	struct fm_job *jobs;
};

/**
 * struct fm_fetch - asks for a table
 * @version: up: the version that the child has
 * @former: down: true: the node's own table is wanted; false: its kept one
 */
struct fm_fetch {
	uint64_t version;
	bool former;
};

/* Steps of a recovery; a table is itself the first one, round 0. */
enum fm_step_kind {
	FM_STEP_APPLY,		/* part of a table: the rows are switched */
	FM_STEP_COUNT,
	FM_STEP_REPLAY,
	FM_STEP_RESUME,
	FM_STEPS,
};

#define FM_SEQ_GONE 0xffff	/* value of @seq: the NIC is dead, so it is not known */

/**
 * struct fm_ended - when @session of @port of @node ended, @node expected the TSEQ @seq next;
 * FM_SEQ_GONE: not known
 */
struct fm_ended {
	uint32_t node;
	uint32_t session;
	uint16_t seq;
	uint8_t port;
};

#define FM_ENDED_MAX 64

/**
 * struct fm_step - a step of a recovery, to be done and reported
 * @round: rises within a version
 * @step: enum fm_step_kind; APPLY, round 0: the table was sent, and a node that lacks it fetches it
 * @clean: as in fm_table_msg; colours may have been added
 * @orphans: parked packets that are unresolved will never be resolved: keep them
 * @nended, @ended: with COUNT: ends of sessions that were reported after the table was made
 * @base: with RESUME: to be stored for a root that starts again
 */
struct fm_step {
	uint64_t term;
	uint64_t version;
	uint32_t round;
	uint8_t step;
	bool orphans;
	uint8_t clean;
	uint32_t nended;
	struct fm_ended ended[FM_ENDED_MAX];
	struct fm_base base;
};

/**
 * struct fm_report - all nodes of a subtree have done step (@version, @round)
 * @count: number of these nodes; @set: sum of their fingerprints
 */
struct fm_report {
	uint64_t term;
	uint64_t version;
	uint32_t round;
	uint32_t count;
	uint64_t set;
	struct fm_sums sums;
};

/**
 * struct fm_pong - a sign of life
 * @adrift: the sender has no way to the root
 * @waits: the sender was asked for a report, and waits for its NIC, or for nodes below it
 */
struct fm_pong {
	bool adrift;
	bool waits;
};

/**
 * struct fm_drop - node @guid seems to have lost its power: close all connections to it
 * @address: service address of that node, by which its children know it
 */
struct fm_drop {
	uint64_t term;
	uint64_t guid;
	char address[FM_ADDR_MAX];
};

#define FM_ERRNO_MAX 4095

/**
 * struct fm_failed - node @guid cannot do a step of @version; 0: its NIC is gone
 * @by: GUID of its parent, which reports that the node answers but does not report @round; 0: the
 *	node itself reports that its NIC fails
 * @err: errno of the NIC; 0: the NIC does not answer
 */
struct fm_failed {
	uint64_t guid;
	uint64_t version;
	uint64_t by;
	uint32_t epoch;
	uint32_t err;
	uint32_t round;
};

#define FM_INIT_MAX 384		/* most bytes of an Init (wire/init.c) */

/**
 * struct fm_claim - answer to a HELLO without a welcome (root/claim.c); or a call (root/calls.c)
 * @epoch: the receiver's NIC has to obey the sender in this epoch; 0: the sender only asks
 * @guid: GUID of the sender
 * @ninit, @init: in a call, and in the answer to it: an Init of the sender, as on a link
 * @here, @need: for status: how many nodes answer the sender, or obey it, and how many it needs;
 *	@need 0: not known
 * @again_ms: after this time the receiver must repeat HELLO, if it has no news; 0: not given (by
 *	earlier releases)
 */
struct fm_claim {
	uint64_t epoch;
	uint64_t guid;
	uint16_t ninit;
	uint8_t init[FM_INIT_MAX];
	uint32_t here, need, again_ms;
};

/**
 * struct fm_lead - the root of epoch @term hands over to node @guid, at @address
 * @now: the root hands over; false: it asks the node whether it is ready, and the node answers with
 *	the same message
 * @unfit: with @now: the root hands over because its own NIC fails
 */
struct fm_lead {
	uint64_t term;
	uint64_t guid;
	bool now;
	bool unfit;
	char address[FM_ADDR_MAX];
};

/**
 * struct fm_kept_msg - node @guid has the content of table @version of epoch @term on its disk
 * @failed: it does not have it, because its disk fails
 */
struct fm_kept_msg {
	uint64_t term;
	uint64_t version;
	uint64_t guid;
	bool failed;
};

/**
 * struct fm_grow_msg - the root orders that a job grows (node/grower.c)
 * @term: epoch of the root
 * @guid: the node at which it begins; @serial: number of this growth, random and not 0
 * @nodes: members, the first one included; 0: the root has given the growth up, so its members
 *	leave it
 * @links, @rate, @margin: as in struct fm_growth_terms
 * @limit_ms: time after which the first member gives it up
 */
struct fm_grow_msg {
	uint64_t term;
	uint64_t guid;
	uint64_t serial;
	uint32_t nodes;
	uint32_t rate;
	uint32_t limit_ms;
	uint16_t margin;
	uint8_t links;
};

/**
 * struct fm_grown_msg - node @guid is a member of a growth of which all members are found; or the
 * growth has ended
 * @first, @serial: the growth: @guid and @serial of struct fm_grow_msg
 * @number: number of this member, if the growth has not ended
 * @err: errno: the first member could not begin it; else 0
 * @ended: it has ended, as @why (enum fm_growth_why), @at and @port of struct fm_growth_end say;
 *	@found: members that the first one had found; @met: why nodes refused
 */
struct fm_grown_msg {
	uint64_t guid;
	uint64_t first;
	uint64_t serial;
	uint64_t at;
	uint32_t number;
	uint32_t found;
	uint32_t err;
	bool ended;
	uint8_t why, port, met;
};

/** struct fm_msg - one message between managers */
struct fm_msg {
	uint8_t type;		/* enum fm_msg_type */
	union {
		struct fm_hello hello;
		struct fm_welcome welcome;
		struct fm_refuse refuse;
		struct fm_row_msg row;
		struct fm_left left;
		struct fm_table_msg table;
		struct fm_fetch fetch;
		struct fm_step step;
		struct fm_report report;
		struct fm_pong pong;
		struct fm_drop drop;
		struct fm_failed failed;
		struct fm_claim claim;
		struct fm_lead lead;
		struct fm_kept_msg kept;
		struct fm_grow_msg grow;
		struct fm_grown_msg grown;
	};
};

/**
 * fm_msg_pack() - encode a message to be stored in a file
 * @data: set to memory that the caller must free()
 * Return: 0, -EINVAL if not a message of this schema, -ENOMEM.
 */
int fm_msg_pack(const struct fm_msg *msg, uint8_t **data, size_t *len);

/**
 * fm_msg_unpack() - decode a message from a file, and check every value in it
 * The schema does not matter, because files have a format of their own.
 * @out: after success, the caller must pass it to fm_msg_clear()
 * Return: 0, -EBADMSG malformed or out of range, -ENOMEM.
 */
int fm_msg_unpack(const uint8_t *data, size_t len, struct fm_msg *out);
void fm_msg_clear(struct fm_msg *msg);
const char *fm_msg_name(unsigned int type);

#endif /* FM_MSG_H */
