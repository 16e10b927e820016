/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages and state of a growth: plain facts, which the files of this folder write. */
#ifndef FM_GROWTH_FACTS_H
#define FM_GROWTH_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

/**
 * enum fm_growth_kind - messages of a growth, over one cable
 * @FM_GROWTH_PROPAGATE: find this many nodes more, the receiver included if it is not yet a member
 * @FM_GROWTH_REFUSE: the sender finds none of them for this neighbour
 * @FM_GROWTH_DEAD_END: the subtree of the sender has no open cable for this many of them
 * @FM_GROWTH_COMPLETE: this many members were added
 * @FM_GROWTH_NUMBER: the numbers of the subtree begin with this one
 * @FM_GROWTH_READY: all members of the subtree have numbers
 * @FM_GROWTH_START: all members of the partition have numbers
 * @FM_GROWTH_RELEASE: the partition ends
 * @FM_GROWTH_RELEASED: answer to RELEASE
 * @FM_GROWTH_ACK: answer to any other message, if there is nothing else to send
 */
enum fm_growth_kind {
	FM_GROWTH_PROPAGATE, FM_GROWTH_REFUSE, FM_GROWTH_DEAD_END, FM_GROWTH_COMPLETE,
	FM_GROWTH_NUMBER, FM_GROWTH_READY, FM_GROWTH_START, FM_GROWTH_RELEASE,
	FM_GROWTH_RELEASED, FM_GROWTH_ACK, FM_GROWTH_KINDS
};

/*
 * Reasons of refusals, as a mask: the node belongs to another partition, or does not meet the
 * terms.
 */
enum { FM_GROWTH_MET_BUSY = 1, FM_GROWTH_MET_TERMS = 2 };

/**
 * enum fm_growth_why - why a partition ended
 * @FM_GROWTH_STOPPED: fm_growth_release() was called
 * @FM_GROWTH_TOO_FEW: not as many nodes are in reach
 * @FM_GROWTH_LATE: it was not complete in time
 * @FM_GROWTH_LOST: a cable of the tree was lost before the start
 * @FM_GROWTH_SILENT: a neighbour does not answer
 * @FM_GROWTH_FORGOTTEN: a neighbour that was a member is none any more
 * @FM_GROWTH_FORGED: a neighbour sent an impossible message
 */
enum fm_growth_why {
	FM_GROWTH_STOPPED, FM_GROWTH_TOO_FEW, FM_GROWTH_LATE, FM_GROWTH_LOST, FM_GROWTH_SILENT,
	FM_GROWTH_FORGOTTEN, FM_GROWTH_FORGED, FM_GROWTH_WHYS
};

#define FM_GROWTH_NO_PORT 0xff

/**
 * struct fm_growth_end - why a growth ended; @guid, @port: the node that noticed the reason, and
 * its port
 */
struct fm_growth_end {
	uint64_t guid;
	uint8_t why, port;
};

/**
 * struct fm_growth_id - the unique name of a growth; @guid: the node at which it began; @serial:
 * its number at that node
 */
struct fm_growth_id {
	uint64_t guid, serial;
};

/**
 * struct fm_growth_terms - what a node must have to become a member
 * @links: this many cables of at least @rate and @margin; it grows over these cables only
 * @rate: Mbit/s
 * @margin: of the receiver's eye, as in struct fm_growth_port
 */
struct fm_growth_terms {
	uint8_t links;
	uint32_t rate;
	uint16_t margin;
};

/** struct fm_growth_port - a port of this node: its cable and the manager behind it work */
struct fm_growth_port {
	bool up;
	uint32_t rate;
	uint16_t margin;
};

/**
 * struct fm_growth_sums - what one end of a cable has sent since the growth began
 * @asked: nodes that it asked the other end for
 * @done: of those that it was asked for, how many it found
 * @back: ... and how many it did not
 * @step: to a child: 1 NUMBER, 2 START; to the parent: 1 READY
 */
struct fm_growth_sums {
	uint32_t asked, done, back;
	uint8_t step;
};

/**
 * struct fm_growth_msg - a message. Each has all sums, so a later one makes up for lost ones
 * @sent: the sender's sums
 * @received: the receiver's sums, as far as the sender knows them
 * @life: which membership of the sender; 0: it is not a member
 * @to: that of the receiver, as far as the sender knows it
 * @first: lowest number of the receiver's subtree, if @sent.step is NUMBER or START
 * @total: members of the partition, likewise
 * @met: why nodes refused
 * @end: of RELEASE
 */
struct fm_growth_msg {
	enum fm_growth_kind kind;
	struct fm_growth_id id;
	struct fm_growth_terms terms;
	struct fm_growth_sums sent, received;
	uint32_t life, to, first, total;
	uint8_t met;
	struct fm_growth_end end;
};

/**
 * enum fm_growth_stage - of this node
 * @FM_GROWTH_FREE: belongs to no partition
 * @FM_GROWTH_GROWS: is a member, and not all are found
 * @FM_GROWTH_NUMBERED: has a number
 * @FM_GROWTH_RUNS: all have
 * @FM_GROWTH_RELEASES: is no longer a member, and not all neighbours know this yet
 */
enum fm_growth_stage {
	FM_GROWTH_FREE, FM_GROWTH_GROWS, FM_GROWTH_NUMBERED, FM_GROWTH_RUNS, FM_GROWTH_RELEASES
};

/**
 * struct fm_growth_ops - actions
 * @send: send @m by @port; it may be lost, and is not duplicated nor overtaken
 * @changed: the stage is another one. Into RUNS: the partition is complete. Into RELEASES: it
 *	ended, for the reason in @end of struct fm_growth
 */
struct fm_growth_ops {
	void (*send)(void *arg, unsigned int port, const struct fm_growth_msg *m);
	void (*changed)(void *arg, enum fm_growth_stage stage);
};

/**
 * struct fm_growth_edge - a cable, in the present growth
 * @sent, @received: sums of this end and of the other
 * @confirmed: those of this end that the other one has confirmed
 * @kind: the last message that must be confirmed
 * @has_sent: a message was sent since one came
 * @tries: how often @kind was repeated
 * @due: when it is repeated
 * @life: the other end's
 * @first: number given to a child
 */
struct fm_growth_edge {
	struct fm_growth_sums sent, received, confirmed;
	enum fm_growth_kind kind;
	bool has_sent;
	uint8_t tries;
	uint64_t due;
	uint32_t life, first;
};

/**
 * struct fm_growth - the part of one node. Others read it, and growth.c and edge.c write it
 * @guid, @ports, @port: of this node
 * @closed: this node joins no partition, but stays in one of which it is a member
 * @refused: for each port, the growth that was refused there last; a refusal is final
 * @id, @terms, @end: of the present or last partition
 * @life: which membership of this node it is, or will be
 * @up: port of the parent; FM_GROWTH_NO_PORT: the growth began at this node
 * @open: ports by which it may ask
 * @owed: ports by which a RELEASE was not confirmed
 * @added: members of which the parent does not know
 * @waits: nodes that are shared again when all questions are answered
 * @met: why nodes refused
 * @number, @total: of this member, and of members
 * @found: at the first member, when all was answered: members found
 * @limit: when the first member gives up
 * @probe: when the parent is asked whether it is still there
 * @probes: how often it has not answered
 * @now: of the present call
 */
struct fm_growth {
	const struct fm_growth_ops *ops;
	void *arg;
	uint64_t guid;
	unsigned int ports;
	struct fm_growth_port port[TORUS_MAX_PORTS];
	bool closed;
	enum fm_growth_stage stage;
	struct fm_growth_id id, refused[TORUS_MAX_PORTS];
	struct fm_growth_terms terms;
	struct fm_growth_end end;
	uint32_t life, added, waits, number, total, found;
	uint8_t up, met, probes;
	uint16_t open, owed;
	uint64_t limit, probe, now;
	struct fm_growth_edge edge[TORUS_MAX_PORTS];
};

#endif /* FM_GROWTH_FACTS_H */
