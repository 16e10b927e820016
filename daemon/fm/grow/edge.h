/* SPDX-License-Identifier: GPL-2.0-only */
/* Interface of edge.c: the exchange of messages over one cable of a member. */
#ifndef FM_GROWTH_EDGE_H
#define FM_GROWTH_EDGE_H

#include "daemon/fm/clock.h"
#include "daemon/fm/grow/facts.h"

/** fm_edges_reset() - forget all that was sent and received by all cables */
void fm_edges_reset(struct fm_growth *g);

/** fm_edge_send() - send the sums of this node by port @p, as message @kind */
void fm_edge_send(struct fm_growth *g, unsigned int p, enum fm_growth_kind kind);

/**
 * fm_edge_answer() - send @kind to a neighbour whose message belongs to a growth of which this node
 * is not a member
 */
void fm_edge_answer(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m,
		    enum fm_growth_kind kind, uint8_t met);

/**
 * fm_edge_meet() - take over from a member's first message the refusals that this node sent before
 * it was a member
 */
void fm_edge_meet(struct fm_growth_edge *e, const struct fm_growth_msg *m);

/**
 * fm_edge_is_past() - Return: true if @m is to, or from, a membership that ended, at this end or
 * the other, or to a manager that has started again since it refused
 */
bool fm_edge_is_past(const struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m);

/**
 * fm_edge_is_true() - Return: false if @m contradicts what this end has sent, or earlier messages
 * of the other end, even if messages were lost
 */
bool fm_edge_is_true(const struct fm_growth_edge *e, const struct fm_growth_msg *m);

/**
 * fm_edge_confirm() - take from @m, which came by port @p, which messages the other end has
 * received
 */
void fm_edge_confirm(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m);

/**
 * fm_edge_owe() - note that the other end at @p waits for an answer to the message @kind: the next
 * message by this port, or ACK after a while
 */
void fm_edge_owe(struct fm_growth *g, unsigned int p, enum fm_growth_kind kind);

/** fm_edge_close() - ask for no more nodes by port @p, and repeat or answer no message there */
void fm_edge_close(struct fm_growth *g, unsigned int p);

/**
 * fm_edges_due() - repeat the messages and send the answers that are due. Return: mask of the ports
 * by which no answer came in time
 */
uint16_t fm_edges_due(struct fm_growth *g);

/** fm_edges_expiry() - Return: when fm_edges_due() has something to do; NEVER */
uint64_t fm_edges_expiry(const struct fm_growth *g);

/**
 * fm_edge_open() - Return: number of nodes that this end has asked for and that are not answered
 * yet
 */
static inline uint32_t fm_edge_open(const struct fm_growth_edge *e)
{
	return e->sent.asked - e->received.done - e->received.back;
}

/**
 * fm_edge_owes() - Return: true if the other end waits for an answer, which no message has carried
 * yet
 */
static inline bool fm_edge_owes(const struct fm_growth_edge *e)
{
	return e->ack != NEVER;
}

#endif /* FM_GROWTH_EDGE_H */
