/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages between machines, over the service network. The schema is daemon/svc.proto, the codec
 * daemon/codec.c; a machine uses only these structs. node/tree.c, node/member.c and root/recovery.c
 * describe how. fabricd's own messages are in daemon/svc_msg.h.
 */
#ifndef FM_MSG_H
#define FM_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <torus/torus.h>

#define FM_ADDR_MAX 64		/* bytes of a service address "IP:PORT", with NUL */
#define FM_TEXT_MAX 320		/* bytes of a reason, with NUL */

/* Epochs of roots: one that is more than FM_EPOCH_STEP above the known ones is not believed. */
#define FM_EPOCH_MAX	(1ULL << 62)
#define FM_EPOCH_STEP	1024u

/* The same for versions of tables: no root makes so many while a node that lives is away. */
#define FM_VERSION_MAX	(1ULL << 62)
#define FM_VERSION_STEP	(1ULL << 30)

/* Priority of a node as a candidate for the root; 0: it is no candidate. */
#define FM_PRIORITY_MAX 255u
#define FM_PRIORITY_DEFAULT 100u	/* of the first nodes */
#define FM_PRIORITY_AUTO 256u		/* the default for its bootstrap flag and its id */

enum fm_msg_type {
	FM_MSG_HELLO = 1,	/* node to root or parent: introduces the node */
	FM_MSG_WELCOME,		/* answer: the node is taken; its parent is ... */
	FM_MSG_REFUSE,		/* answer: the node is not taken, because ... */
	FM_MSG_ROW,		/* up to the root: states of the node's ports */
	FM_MSG_LEFT,		/* up to the root: a child has gone */
	FM_MSG_TABLE,		/* down: exclusion table, whole or changes; up: that of a former
				 * root */
	FM_MSG_FETCH,		/* up: asks for the whole table; down: for the node's own or kept
				 * one */
	FM_MSG_STEP,		/* down: next step of a recovery */
	FM_MSG_REPORT,		/* up, summed: the step is done, with counts */
	FM_MSG_PING,
	FM_MSG_PONG,
	FM_MSG_ADOPTED = 15,	/* up to the root: a child has come */
	FM_MSG_DROP = 18,	/* from the root: close all connections to that node */
	FM_MSG_FAILED,		/* up to the root: the node, or a child, cannot do the step at
				 * hand */
	FM_MSG_CLAIM,		/* answer to HELLO of a node that asks or claims; or a call */
	FM_MSG_LEAD,		/* down from the root: that node is to be root; up: it is ready */
	FM_MSG_KEPT,		/* up to the root: the node has the table on its disk */
	FM_MSG_TYPES,
};

/* The state of a port, as its node reports it. */
enum fm_port_state {
	FM_PORT_DOWN,		/* never up, or no cable */
	FM_PORT_UP,
	FM_PORT_FAULTY,		/* was up and no longer is */
};

/* The fault of a neighbour that a node has found by its Init. */
enum fm_port_problem {
	FM_PROBLEM_NONE,
	FM_PROBLEM_FABRIC,	/* of another fabric */
	FM_PROBLEM_ROOT,	/* of another root */
	FM_PROBLEM_VERSION,	/* speaks another version of Init */
};

/**
 * struct fm_port_row - one port; without holes, because the root has one for each port of each node
 * @state: enum fm_port_state
 * @problem: enum fm_port_problem
 * @closed: the NIC parks packets for this port
 * @stalled: it was taken down, because the neighbour returned no credits
 * @session: the last session that ended; 0: none since the port was opened
 * @seq: next TSEQ that was expected when it ended
 * @peer_guid, @peer_port: other end of the cable, by the INIT of the link
 * @reason: enum torus_link_reason, why it is not up; only for people
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

/** struct fm_row - all ports of a node; @serial rises with every change */
struct fm_row {
	uint32_t serial;
	uint8_t nports;
	struct fm_port_row port[TORUS_MAX_PORTS];
};

/** struct fm_sums - counters of one NIC or the sum over many */
struct fm_sums {
	uint64_t flow[TORUS_FC_COUNT][TORUS_COLOURS];
	uint64_t parked;	/* now */
	uint64_t unresolved;	/* now */
	uint64_t held;		/* now */
	uint64_t lost;		/* given up by receivers, so far */
	uint32_t reopen;	/* ports closed that the table says are healthy */
	uint64_t relayed;	/* rows through relays, now */
};

/**
 * struct fm_base - packets known to be lost, when the network was last empty
 * @version: of the recovery that computed it; 0: there is none
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
#define FM_VOTERS_ALL UINT32_MAX	/* as @ups: more than there can be, so there is no quorum of
					 * them */

/**
 * struct fm_set - the nodes that are up in a table
 * @ups: how many
 * @maker: GUID of the root that made it: half of them is a quorum with that one
 */
struct fm_set {
	uint32_t ups;
	uint64_t maker;
};

/** struct fm_voters - sets of nodes of each of which a new root needs a quorum (root/quorum.c) */
struct fm_voters {
	uint8_t n;
	struct fm_set set[FM_VOTERS_MAX];
};

#define FM_LINE_MAX 8

/** struct fm_past - the last table of a former root on the way to a later table */
struct fm_past {
	uint64_t epoch, version;
	uint64_t root;
};

/**
 * struct fm_line - from which tables another one comes: one of each former root, the latest first
 */
struct fm_line {
	uint8_t n;
	struct fm_past past[FM_LINE_MAX];
};

enum fm_role { FM_ROLE_JOIN, FM_ROLE_CHILD };

/**
 * struct fm_hello - a node introduces itself
 * @role: to the root to join, or to the parent it was given
 * @placed: @shape and @coords are those of its NIC
 * @position: coordinates from the first Init, not reduced by any size
 * @version: of its NIC's rows
 * @term: JOIN: epoch of the root that made @table; CHILD: of the root that it has joined
 * @root_epoch, @root_guid: the root that its NIC obeys; 0: none
 * @maybe_epoch, @maybe_guid: a later one that it may obey: it was told to, and failed or did not
 *	answer in time; epoch 0: none; GUID 0: not known which root of that epoch
 * @rows_term: epoch of the root by whose order its NIC took its rows. 0: not known, or not needed,
 *	because the manager has a table
 * @attach: rises with every connection that the node makes upward
 * @stray: its parent could not be reached: the root has to take it itself
 * @relay_packets: that its NIC may keep as a relay; 0: not known
 * @table: version of the table that it has; 0: none
 * @table_root: GUID of the root that made it
 * @ups: nodes that are up in it; @counted: this node is one of them
 * @line: as in fm_table_msg
 * @voters: as in fm_table_msg; @votes: mask of the sets in which this node is
 * @priority: of this node as a candidate, 0 to FM_PRIORITY_MAX, or FM_PRIORITY_AUTO
 * @marked: its NIC has the bootstrap flag
 * @kept_term, @kept: epoch and version of the table that it has kept; 0: none (node/keep.c);
 *	@kept_root: GUID of the root that made it, 0: not known
 * @keeps: it has a disk for the table, and reports by FM_MSG_KEPT which one is on it
 * @clean: colours without packets by the last message of its root; @open: as in fm_table_msg
 * @plans: it and its NIC know address plans; @plan: of @table, or without one of its NIC
 * @admin, @across: ports that this table has excluded by the administrator, here and at
 *	the far end of the cable (recall.c)
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
	bool counted;
	bool marked;
	uint16_t priority;
	uint16_t admin;
	uint16_t across;
	uint8_t clean;
	uint8_t open;
	bool plans;
	struct torus_plan plan;
	struct fm_row row;
	struct fm_sums sums;
	struct fm_base base;
};

/**
 * struct fm_welcome - the node is taken
 * @term: epoch of the root; in a new one all nodes must join anew
 * @root_guid: of the root
 * @adrift: the sender has no way to a root that leads, or asks to be root itself
 * @here, @need: as in fm_claim, if the root only asks; else 0
 * @parent: address of the parent; "" to stay on this connection
 */
struct fm_welcome {
	uint64_t term;
	uint64_t root_guid;
	bool adrift;
	uint32_t here, need;
	char parent[FM_ADDR_MAX];
};

struct fm_refuse {
	char text[FM_TEXT_MAX];
};

struct fm_row_msg {
	uint64_t guid;
	uint32_t epoch;
	struct fm_row row;
};

/**
 * struct fm_left - node @guid left, or was adopted by, its parent @parent
 * @attach: as in the child's HELLO; the newer notice has the greater one
 */
struct fm_left {
	uint64_t guid;
	uint64_t parent;
	uint64_t attach;
	uint32_t epoch;
};

enum fm_node_state {
	FM_NODE_ABSENT,		/* never seen */
	FM_NODE_JOINING,	/* known to the root, not in the table yet */
	FM_NODE_UP,
	FM_NODE_SILENT,		/* NIC alive; its manager is not, or cannot follow */
	FM_NODE_DEAD,
	FM_NODE_STATES,
};

/**
 * struct fm_entry - a node in the table
 * @node: its id
 * @state: enum fm_node_state
 * @differs: mask of the sets of voters in which it is although not up here, or not although up
 * @fault, @wiring, @admin: masks of ports excluded, by reason
 * @held: of @fault, those held down because they flap, up or not
 * @stalled: of @fault, those taken down because the neighbour returned no credits
 * @ended: ports for which @session and @seq are known
 * @serial: of the row that went into this entry
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
	char name[TORUS_NAME_MAX + 1];
	char address[FM_ADDR_MAX];
};

#define FM_REASON_MAX 80		/* bytes of a reason, with NUL */
#define FM_NO_UID UINT32_MAX		/* a manager gave the order, or who did is not known */
#define FM_TIME_MAX 100000000000ull	/* in seconds: in the year 5138 */

/**
 * struct fm_order - why the administrator excluded ports of a node
 * @node: its id; @ports: mask of them
 * @uid: of the user who ordered it, or FM_NO_UID; @by: name of the node at which
 * @since, @until: in seconds since 1970; @until 0: for ever
 * @reason: printable ASCII; "": none was given
 * @ends: not sent: when it ends by the monotonic clock of this root; 0: not known yet (root/term.c)
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
 * struct fm_table_msg - table @version
 * @base: version to which the entries are changes; 0: this is the whole table (nodes that are left
 *	out are absent)
 * @open: mask of dimensions whose ends are not cabled together: a mesh
 * @plan: address plan of all nodes; all 0: the default one (wire/plan.h)
 * @clean: mask of colours that no packet in the network has, for a root that starts again
 * @pause: all rows go on hold, because the next table may have another shape
 * @voters: of the other tables that may have been in force when this one was made
 * @line: from which tables of former roots it comes
 * @former: it goes to a node that asks to be root, and binds no node (root/recall.c)
 * @maker: of a @former or a kept one: GUID of the root that made it; 0: not known
 * @nentries, @entries: ids ascending
 * @norders, @orders: all orders of these nodes, by node and lowest port. Managers of earlier
 *	releases leave them out
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
};

/**
 * struct fm_fetch - asks for a table
 * @version: up: the version that the child has
 * @former: down: asks for the node's own table; else for its kept one
 */
struct fm_fetch {
	uint64_t version;
	bool former;
};

/* Steps of a recovery; a table is itself the first one, round 0. */
enum fm_step_kind {
	FM_STEP_APPLY,		/* by a table: rows switched */
	FM_STEP_COUNT,
	FM_STEP_REPLAY,
	FM_STEP_RESUME,
	FM_STEPS,
};

#define FM_SEQ_GONE 0xffff	/* the NIC is dead: its @seq is not known */

/** struct fm_ended - when @session of @port ended, @node expected @seq next, or FM_SEQ_GONE */
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
 * @orphans: parked packets that are unresolved will not be resolved: keep them
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
 * struct fm_report - a subtree has done (@version, @round)
 * @count: nodes in it; @set: sum of their fingerprints
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
 * @waits: it was asked for a report, and its NIC works at that, or nodes below have not reported
 */
struct fm_pong {
	bool adrift;
	bool waits;
};

/**
 * struct fm_drop - node @guid seems to have lost its power: close all connections to it
 * @address: its service address, by which its children know it
 */
struct fm_drop {
	uint64_t term;
	uint64_t guid;
	char address[FM_ADDR_MAX];
};

#define FM_ERRNO_MAX 4095

/**
 * struct fm_failed - node @guid cannot follow @version
 * @by: GUID of its parent, which reports that it answers and does not report @round; 0: the node
 *	reports itself that its NIC fails
 * @err: errno of the NIC; 0: it does not answer
 */
struct fm_failed {
	uint64_t guid;
	uint64_t version;
	uint64_t by;
	uint32_t epoch;
	uint32_t err;
	uint32_t round;
};

#define FM_INIT_MAX 384		/* bytes of an Init (wire/init.c) */

/**
 * struct fm_claim - answer to a HELLO without a welcome (root/claim.c); or a call (root/calls.c)
 * @epoch: the receiver's NIC has to obey the sender in this epoch; 0: the sender only asks
 * @guid: of the sender
 * @ninit, @init: in a call, and in the answer to it: an Init of the sender, as on a link
 * @here, @need: nodes that answer the sender, or obey it, and how many it needs, for status; @need
 *	0: not known
 * @again_ms: the receiver has to say HELLO again after so long, if it has no news; 0: not given, as
 *	by earlier releases
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
 * @now: it hands over; else it asks the node whether it is ready, and the node answers with the
 *	same message
 * @unfit: with @now: it hands over because its own NIC fails
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
 * @failed: it has not, because its disk fails
 */
struct fm_kept_msg {
	uint64_t term;
	uint64_t version;
	uint64_t guid;
	bool failed;
};

/** struct fm_msg - one message */
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
	};
};

/**
 * fm_msg_pack() - encode a message, to be kept in a file
 * @data: set to memory that the caller frees with free()
 * Return: 0, -EINVAL not a message of this schema, -ENOMEM.
 */
int fm_msg_pack(const struct fm_msg *msg, uint8_t **data, size_t *len);

/**
 * fm_msg_unpack() - decode a message from a file, and check every value in it
 * Its schema does not matter: a file has a format of its own.
 * @out: to be given to fm_msg_clear() after success
 * Return: 0, -EBADMSG malformed or out of range, -ENOMEM.
 */
int fm_msg_unpack(const uint8_t *data, size_t len, struct fm_msg *out);
void fm_msg_clear(struct fm_msg *msg);
const char *fm_msg_name(unsigned int type);

#endif /* FM_MSG_H */
