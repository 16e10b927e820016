/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One manager by itself, in virtual time. The test is its NIC, its links and all other nodes of a
 * ring: it makes their reports, and sees what the manager asks of them.
 */
#ifndef TESTS_ONE_FM_H
#define TESTS_ONE_FM_H

#include "daemon/fm/fm.h"
#include "daemon/fm/status.h"
#include "lib/util/times.h"

#define ONE_NODES 40
#define ONE_PORTS 2		/* ports of a ring: 0 is +x, 1 is -x */
#define ONE_SPARE 2		/* ports of its NICs that the ring does not use */
#define ONE_RESEND (20 * MS)
#define ONE_DRAIN_MAX (100 * MS)
#define ONE_RESOLVE_MAX (300 * MS)
#define ONE_MEMBER_MAX (400 * MS)
#define ONE_SOON (50 * MS)	/* what is due at once, or after a count, comes sooner */

/* Nodes can be asked for a step (enum fm_step_kind), or for nothing. */
#define ONE_NOTHING FM_STEPS

/**
 * struct one_node - a node; number 0 is where the manager of a root runs
 * @conn: its connection to the manager; 0: none
 * @sums: what it has counted, which it reports when it is asked
 * @below: further reports, of nodes below it in the tree
 * @rows: version of the rows that its NIC had when the node joined
 * @table, @clean: version of the table that its manager has when it joins again, and the colours that
 *	are clean by the last message to it; 0: it has started anew
 * @place: the place of its NIC; 0: its own number
 * @mute: it does not report
 * @asked, @version, @round: the step that it was asked for last
 * @answered: it has reported that step
 * @times: how often it was asked for that step
 */
struct one_node {
	uint64_t guid;
	uint32_t epoch;
	int conn;
	uint64_t attach;
	struct fm_row row;
	struct fm_sums sums;
	struct fm_report below;
	uint64_t rows, table;
	uint8_t clean;
	uint32_t place;
	bool mute;
	struct fm_step asked;
	bool answered;
	unsigned int times;
	char parent[FM_ADDR_MAX];
	uint64_t drop;		/* the node that it was last ordered to drop */
	uint64_t claim;		/* epoch in which it must obey the root before its next HELLO */
};

/** struct one_resolve - a call of park_resolve; @seq -1: all parked packets are kept */
struct one_resolve {
	unsigned int port;
	uint32_t session;
	int seq;
};

/** struct one_reach - a connection of the root to a node; @drop: whom that is told to drop */
struct one_reach {
	int conn;
	char address[FM_ADDR_MAX];
	uint64_t drop;
};

#define ONE_RESOLVES 32

/**
 * struct one_fm - the manager and its surroundings
 * @entry: entries of the last table that a root sent, for the nodes that are @in_table
 * @up: the connection that a member has to the root, and its address; 0: none
 * @more: further nodes, which the ring has no place for (one_replace())
 * @reach, @reaches: connections that a root opened; they stand soon, the first @reached do, unless
 *	nodes are @unreachable
 * @sent: the last message that the manager of a member sent up, by type
 * @nsent: how many of each type
 * @writes, @written: how often rows were written, and their last version; @write_err: what the NIC
 * 	returns
 * @placed, @place, @plan: how often its NIC was given a place, and the last one; @place_err: likewise
 * @replays, @opened: how often parked packets were replayed, and the ports of the last replay
 * @answers_lost: actions that end with an error are done nevertheless
 * @under_way, @result, @counts: tag of the action at its NIC that has not ended, and how it will
 * @steps: what the log said of steps of recoveries, "VERSION STEP" each with a blank behind it
 * @releases, @gave_up: how often holds were lifted, and whether receivers give up missing packets
 */
struct one_fm {
	struct fm *fm;
	uint64_t now;
	uint32_t nodes, more;
	uint32_t self;
	struct one_node node[ONE_NODES];
	struct fm_entry entry[ONE_NODES];
	bool in_table[ONE_NODES];
	uint64_t term;
	int up;
	struct one_reach reach[ONE_NODES];
	unsigned int reaches, reached;
	bool unreachable;
	struct fm_msg sent[FM_MSG_TYPES];
	unsigned int nsent[FM_MSG_TYPES];
	unsigned int writes, replays, releases, placed;
	uint32_t place;
	struct torus_plan plan;
	int place_err;
	uint64_t written, row[ONE_NODES];
	int write_err, replay_err, release_err, count_err;
	uint16_t opened;
	bool gave_up;
	char steps[1024];
	struct one_resolve resolve[ONE_RESOLVES];
	unsigned int resolves;
	bool answers_lost;
	uint32_t under_way;
	int result;
	struct fm_counts counts;
	int next_conn;
};

/** one_root() - makes a root of @nodes nodes, which have all joined; version 1 is in force */
void one_root(struct one_fm *o, uint32_t nodes, unsigned int fanout);
/** one_root_without() - the same, but there has never been a node at the place of @absent */
void one_root_without(struct one_fm *o, uint32_t nodes, uint32_t absent);
/**
 * one_root_anew() - makes a root that restarts on a NIC with a place and the rows of version[0];
 * node i joins it with the rows of version[i], 0: none. Its first table is not yet reported
 */
void one_root_anew(struct one_fm *o, uint32_t nodes, const uint64_t *version);
/**
 * one_root_beside() - as one_root_anew(), all with the rows of @version; a further node without a
 * cable, whose NIC has @place and the rows of @its, joins before the first table. It is mute.
 * Return: its number
 */
uint32_t one_root_beside(struct one_fm *o, uint32_t nodes, uint64_t version, uint32_t place,
			 uint64_t its);
/** one_member() - makes node @self of @nodes, which has joined the root and has no table yet */
void one_member(struct one_fm *o, uint32_t nodes, uint32_t self);
void one_end(struct one_fm *o);

/* --- time */

/** one_run() - does all that is due within @ns; no node reports anything */
void one_run(struct one_fm *o, uint64_t ns);
/**
 * one_asked() - runs until a node that is not mute is asked for something that it has not reported
 * Return: which step (enum fm_step_kind), or ONE_NOTHING: none is asked within that many ns
 */
unsigned int one_asked(struct one_fm *o, uint64_t within);
/** one_answer() - all nodes that are asked, and are not mute, report */
void one_answer(struct one_fm *o);
/**
 * one_until() - lets nodes report what they are asked until that is @step. Return: the ns it took
 */
uint64_t one_until(struct one_fm *o, unsigned int step);
/** one_version() - begins @version, although nothing changed; all nodes switch to it */
void one_version(struct one_fm *o, uint64_t version);
/**
 * one_finish() - lets nodes report what they are asked, until they are asked nothing for some time
 */
void one_finish(struct one_fm *o);

/** one_ends() - ends actions at the NIC; the functions of this header do so by themselves */
void one_ends(struct one_fm *o);

/* --- what other nodes do, and the links of the manager's own node */

void one_join(struct one_fm *o, uint32_t node);
/** one_gone() - the connection of @node ends */
void one_gone(struct one_fm *o, uint32_t node);
/** one_adopt() - @parent reports that @node is now below it */
void one_adopt(struct one_fm *o, uint32_t node, uint32_t parent);
void one_report(struct one_fm *o, uint32_t node);
/** one_lose() - @node reports that the last session @session of its link at @port ended at @seq */
void one_lose(struct one_fm *o, uint32_t node, unsigned int port, uint32_t session,
	      uint16_t seq);
/** one_mend() - @node reports that the link is up again, and closed until the next replay */
void one_mend(struct one_fm *o, uint32_t node, unsigned int port, uint32_t session);
/** one_row() - @node reports its row */
void one_row(struct one_fm *o, uint32_t node);
/** one_replace() - a new node joins with the cables of @node, which is away. Return: its number */
uint32_t one_replace(struct one_fm *o, uint32_t node);
/** one_cable() - the cables at the place @at of the ring lead to @node; its neighbours report it */
void one_cable(struct one_fm *o, uint32_t at, uint32_t node);
/** one_problem() - whether the manager reports a problem of @kind with @part in its text */
bool one_problem(const struct one_fm *o, const char *kind, const char *part);
/** one_link() - the link of the manager's own NIC is in @state */
void one_link(struct one_fm *o, unsigned int port, unsigned int state, bool closed,
	      uint32_t session, uint16_t seq);
/** one_root_sends() - the root sends @msg to a member */
void one_root_sends(struct one_fm *o, const struct fm_msg *msg);
uint64_t one_fingerprint(const struct one_fm *o, uint32_t node);

/* --- packets of @colour, as NICs count them */

/** one_sends() - @node puts @n packets into the network, which are still in its own NIC */
void one_sends(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n);
/** one_moves() - @n packets go on to the NIC of @to, which acknowledges them to @from */
void one_moves(struct one_fm *o, uint32_t from, uint32_t to, unsigned int colour, uint64_t n);
/** one_gets() - @n packets in the NIC of @node are delivered */
void one_gets(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n);
/** one_parks() - @n packets in the NIC of @node are parked */
void one_parks(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n);
/** one_replays() - @n parked packets are sent again */
void one_replays(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n);
/** one_gets_again() - @n packets that others replayed, and that are in its NIC, are delivered */
void one_gets_again(struct one_fm *o, uint32_t node, unsigned int colour, uint64_t n);

#endif /* TESTS_ONE_FM_H */
