/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages and state of a growth, which the files of this folder share. */
#ifndef FM_GROWTH_FACTS_H
#define FM_GROWTH_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <torus/topology.h>

/**
 * enum fm_growth_kind - messages of a growth, over one cable
 * @FM_GROWTH_PROPAGATE: the receiver is to find this many more nodes; it counts as one of them if
 *	it is not a member yet
 * @FM_GROWTH_REFUSE: the sender does not look for these nodes for this neighbour
 * @FM_GROWTH_DEAD_END: the sender's subtree cannot find this many of the nodes, because it has no
 *	open cable left
 * @FM_GROWTH_COMPLETE: this many members were added to the sender's subtree
 * @FM_GROWTH_NUMBER: the members of the receiver's subtree get the numbers from this one on
 * @FM_GROWTH_READY: all members of the subtree have numbers
 * @FM_GROWTH_START: all members of the partition have numbers
 * @FM_GROWTH_RELEASE: the partition ends
 * @FM_GROWTH_RELEASED: answer to RELEASE
 * @FM_GROWTH_ACK: answer to any other message, if nothing else is sent for a while
 */
enum fm_growth_kind {
	FM_GROWTH_PROPAGATE, FM_GROWTH_REFUSE, FM_GROWTH_DEAD_END, FM_GROWTH_COMPLETE,
	FM_GROWTH_NUMBER, FM_GROWTH_READY, FM_GROWTH_START, FM_GROWTH_RELEASE,
	FM_GROWTH_RELEASED, FM_GROWTH_ACK, FM_GROWTH_KINDS
};

/*
 * Mask of the reasons why nodes refused: they belong to another partition, or do not meet the
 * terms.
 */
enum { FM_GROWTH_MET_BUSY = 1, FM_GROWTH_MET_TERMS = 2 };

/**
 * enum fm_growth_why - why a partition ended
 * @FM_GROWTH_STOPPED: fm_growth_release() was called
 * @FM_GROWTH_TOO_FEW: fewer nodes can be reached than were asked for
 * @FM_GROWTH_LATE: the partition was not complete in time; the port is the first one behind which
 *	nodes were not found, or have no numbers
 * @FM_GROWTH_LOST: a cable of the tree was lost before the start
 * @FM_GROWTH_SILENT: a neighbour does not answer
 * @FM_GROWTH_FORGOTTEN: a neighbour that was a member no longer is one
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
 * @links: least number of cables that have at least @rate and @margin; the partition grows over
 *	such cables only
 * @rate: Mb/s, of all lanes of a cable together
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
 * @done: how many of the nodes that it was asked for it has found
 * @back: how many of these nodes it has given back, because it could not find them
 * @step: to a child: 1 NUMBER, 2 START; to the parent: 1 READY
 */
struct fm_growth_sums {
	uint32_t asked, done, back;
	uint8_t step;
};

/**
 * struct fm_growth_msg - a message. Each message has all sums, so it makes up for lost earlier ones
 * @sent: the sender's sums
 * @received: the receiver's sums, as far as the sender knows them
 * @life: number of the sender's present membership; 0: it is not a member
 * @to: number of the receiver's membership, as far as the sender knows it
 * @first: lowest number of the receiver's subtree, if @sent.step is NUMBER or START
 * @total: number of members of the partition, in the same messages
 * @met: why nodes refused
 * @end: in RELEASE: why the growth ended
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
 * enum fm_growth_stage - the stage of this node
 * @FM_GROWTH_FREE: belongs to no partition
 * @FM_GROWTH_GROWS: is a member, and not all members are found yet
 * @FM_GROWTH_NUMBERED: has a number
 * @FM_GROWTH_RUNS: all members have numbers
 * @FM_GROWTH_RELEASES: is no longer a member, and not all neighbours know this yet
 */
enum fm_growth_stage {
	FM_GROWTH_FREE, FM_GROWTH_GROWS, FM_GROWTH_NUMBERED, FM_GROWTH_RUNS, FM_GROWTH_RELEASES
};

/**
 * struct fm_growth_ops - actions
 * @send: send @m by @port; a message may be lost, but is neither duplicated nor overtaken by
 *	another one
 * @changed: the stage has changed. RUNS: the partition is complete. RELEASES: the partition has
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
 * @tries: how often @kind was repeated
 * @due: when @kind is repeated
 * @ack: when the messages of the other end are answered by ACK, if by no other message before
 * @life: number of the other end's membership
 * @first: the number that was given to a child
 */
struct fm_growth_edge {
	struct fm_growth_sums sent, received, confirmed;
	enum fm_growth_kind kind;
	uint8_t tries;
	uint64_t due, ack;
	uint32_t life, first;
};

/**
 * struct fm_growth - the state of one node; only growth.c, edge.c and release.c change it
 * @guid, @ports, @port: GUID of this node, number of its ports, and their state
 * @closed: this node joins no partition, but stays in one of which it is a member
 * @refused: for each port, the growth that was refused there last; a refusal is final
 * @id, @terms, @end: name, terms and end of the present or last partition
 * @life: number of the present membership of this node, or of the next one
 * @up: port of the parent; FM_GROWTH_NO_PORT: the growth began at this node
 * @open: mask of the ports by which this node may ask for more nodes
 * @owed: mask of the ports by which a RELEASE was sent and not confirmed
 * @added: number of members in the subtree that the parent does not know of yet
 * @waits: number of nodes that are shared again when all questions are answered
 * @met: why nodes refused
 * @number, @total: number of this member, and number of all members
 * @found: at the first member, after all answers: number of members found
 * @limit: when the first member gives up
 * @probe: when the parent is asked whether it is still there
 * @probes: how often it has not answered
 * @now: time of the present call
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
