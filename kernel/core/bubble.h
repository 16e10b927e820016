/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bubble flow control: when may a packet take a buffer of a ring, so that the ring
 * never fills up? One implementation, of the NIC's router and of fabricsim.
 *
 * A ring is one direction of one dimension: k inputs, one in each node, each with
 * some packet buffers. Between rings dimension order leaves no cycle; within a ring
 * a packet can always move on if one of the ring's buffers is free. So a packet that
 * goes on in its ring needs a free buffer and keeps their number; one that enters
 * (from a host or from another dimension) takes one away and must leave one:
 *
 *  BLOC	leaves a buffer free at the very input that it enters (Puente et al., J.
 *	Parallel Distrib. Comput. 61, 2001: the bubble). The test is local and needs no
 *	message; an input needs two buffers.
 *  CBS	K of the ring's buffers are marked as critical, and an entering packet may
 *	not take a critical one: they stay free, wherever in the ring they are (Chen
 *	et al., IPDPS 2011). A packet that goes on may take one, and the buffer that it
 *	leaves behind is critical instead: the bubble has moved upstream. A bubble that no
 *	packet in the ring passes stays, and blocks packets that would enter there for ever.
 *  MBS	CBS, and bubbles that no packet passes are moved (Wang and Zhang, J. NUDT
 *	34(6), 2012, section 2.2): a buffer freed upstream by any packet takes over (case 3).
 *	Where none is freed, after a while the output asks its node's input, which asks
 *	upstream for a false packet (case 4, section 2.1).
 *
 * Why MBS and CBS are free of deadlock: a critical bubble is at any time either one
 * of the B of an output's C free buffers (B <= C), or in a buffer that is being left,
 * or in a credit on its way back. Every step below hands it on, none makes or drops
 * one. Hence K of the ring's buffers are free or are being freed; where the free one
 * is, the packet behind it moves.
 *
 * BLOC after a cut. The bubble stays where it was. A link that fails takes no more packets, and the
 * buffers that packets under way on it would have filled stay free. A new session counts the
 * buffers that packets of former sessions occupy (INIT), so CT is again the number of occupied
 * buffers, and the same test holds from the first packet on. While the cable is cut its ring is no
 * circle. When the circle closes again, a buffer is free: the last packet that entered the ring
 * left one, and a packet that goes on, is parked or ends takes none away. A retraining changes no
 * credits at all.
 *
 * The NIC uses BLOC unless it is told otherwise (its parameter bubble, ring.h): MBS needs marks in
 * credits and false packets on the wire, and gains little. Two buffers an input, uniform traffic,
 * phits a node and cycle at saturation, BLOC and MBS with its best number of bubbles: 4x4 0.761
 * and 0.839, 8x8 0.485 and 0.497, 16x16 0.270 and 0.260, 32x32 0.145 and 0.138 (fabricsim flow). A
 * test of the router's own input as well gains as much (0.812, 0.506, 0.273), but is safe only
 * while one packet at most can be under way on a link; cables hold many.
 *
 * Tests. tests/unit/test_bubble.c visits every state that small rings can reach: bubbles are
 * conserved and some packet can move (bloc_never_deadlocks(), mbs_never_deadlocks_nor_starves()),
 * CBS can starve (cbs_starves()), and without a rule a ring deadlocks
 * (without_a_rule_rings_deadlock()).
 */
#ifndef TN_BUBBLE_H
#define TN_BUBBLE_H

#include "tn_deps.h"

enum tn_bubble_policy {
	TN_BUBBLE_NONE,		/* no rule: rings deadlock unless something else helps */
	TN_BUBBLE_BLOC,
	TN_BUBBLE_CBS,
	TN_BUBBLE_MBS,
};

/** tn_bubble_policy_of() - the policy of @bubble, an enum torus_bubble */
static inline enum tn_bubble_policy tn_bubble_policy_of(unsigned int bubble)
{
	return (enum tn_bubble_policy)(TN_BUBBLE_BLOC + bubble);
}

/** tn_bubble_marks() - does the policy mark buffers as critical? */
static inline bool tn_bubble_marks(unsigned int policy)
{
	return policy >= TN_BUBBLE_CBS;
}

/**
 * struct tn_bubble - an output's view of the input at the other end of its link
 * @since: ticks of the host's clock when its timer was started; 0: it is stopped
 * @free: buffers free, C of the paper (section 3)
 * @critical: those of them that are critical bubbles, B <= C
 */
struct tn_bubble {
	u32 since;
	u16 free;
	u16 critical;
};

/**
 * tn_bubble_reserve() - how many free buffers a packet must leave behind it
 * @enters: it comes from outside the ring
 * @critical: B of the input that it goes to (CBS and MBS)
 */
static inline unsigned int tn_bubble_reserve(enum tn_bubble_policy policy, bool enters,
					     unsigned int critical)
{
	if (!enters || policy == TN_BUBBLE_NONE)
		return 0;
	return policy == TN_BUBBLE_BLOC ? 1 : critical;
}

/**
 * tn_bubble_room() - may a packet take one of @free buffers and leave @reserve?
 *
 * The one condition of the NIC and of fabricsim, under each policy.
 */
static inline bool tn_bubble_room(unsigned int free, unsigned int reserve)
{
	return free > reserve;
}

/** tn_bubble_may() - may a packet be sent? */
static inline bool tn_bubble_may(enum tn_bubble_policy policy, const struct tn_bubble *b,
				 bool enters)
{
	return tn_bubble_room(b->free, tn_bubble_reserve(policy, enters, b->critical));
}

/**
 * tn_bubble_stuck() - Return: true if all free buffers are critical, so that no packet may enter
 */
static inline bool tn_bubble_stuck(const struct tn_bubble *b)
{
	return b->critical && b->critical == b->free;
}

/**
 * tn_bubble_take() - a packet is sent, for which tn_bubble_may() was true
 * Return: true if it took a critical bubble: the buffer that it leaves is to be
 * given back as critical.
 */
static inline bool tn_bubble_take(struct tn_bubble *b)
{
	bool took = tn_bubble_stuck(b);

	b->free--;
	b->critical = (u16)(b->critical - took);
	return took;
}

/** tn_bubble_returned() - a credit has come back from the other end */
static inline void tn_bubble_returned(struct tn_bubble *b, bool critical)
{
	b->free++;
	b->critical = (u16)(b->critical + critical);
}

/**
 * tn_bubble_move() - a buffer of an input is freed; @b is the output of the same node
 * into the same ring. MBS, cases 3 and 4.
 * Return: true: it takes a critical bubble over, and is to be given back as critical.
 */
static inline bool tn_bubble_move(enum tn_bubble_policy policy, struct tn_bubble *b)
{
	if (policy != TN_BUBBLE_MBS || !tn_bubble_stuck(b))
		return false;
	b->critical--;
	return true;
}

/**
 * tn_bubble_respond() - the node below asks for a false packet
 * @idle: this output is sending nothing and nothing waits for it
 *
 * Return: true: send one; it goes no further than to the other end, where
 * tn_bubble_move() decides how its buffer is given back.
 */
bool tn_bubble_respond(enum tn_bubble_policy policy, struct tn_bubble *b, bool idle);

/**
 * tn_bubble_hand() - the node below asks for a false packet, and all that is free here is critical
 * @lowest: this node has the lowest coordinate of the ring: it keeps its bubbles
 *
 * A ring that has a bubble at each output may have no other buffer left. Then one that is handed
 * down in a false packet meets that of the node that asked, and the two become one.
 * Return: true: send a false packet that carries it.
 */
bool tn_bubble_hand(enum tn_bubble_policy policy, struct tn_bubble *b, bool lowest);

/**
 * tn_bubble_watch() - starts or stops the timer T; call it when @b has changed
 * @now: ticks of the host's clock, not 0
 *
 * Return: true if it has just been started.
 */
bool tn_bubble_watch(enum tn_bubble_policy policy, struct tn_bubble *b, u32 now);

/**
 * tn_bubble_due() - is it time to ask upstream? If so, the timer starts anew.
 * @threshold: ticks
 */
bool tn_bubble_due(struct tn_bubble *b, u32 now, u32 threshold);

#endif /* TN_BUBBLE_H */
