/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bubble flow control: the rule by which a packet may take a buffer of a ring, so that the ring
 * never fills up. The NIC's router and fabricsim use this one implementation.
 *
 *	k	inputs of a ring, one in each node: a ring is one direction of one dimension
 *	C	free packet buffers of an input, as the output that sends to it counts them
 *	B	those of them that are critical bubbles (CBS, MBS); B <= C
 *	K	critical bubbles of a ring
 *	T	how long an output of MBS waits before it asks for a false packet
 *
 * Rings do not wait for each other in a cycle (router.c, lemma 1). Within a ring a packet can move
 * if any of the ring's buffers is free. A packet that continues in its ring takes a buffer and
 * leaves another, so it needs a free one. A packet that enters (from a host or from another
 * dimension) only takes one, so it must leave one free. The policies differ in which one:
 *
 *  BLOC	a buffer of the very input that it enters (Puente et al., J. Parallel Distrib.
 *	Comput. 61, 2001). The test is local and needs no message; an input needs two buffers.
 *  CBS	K buffers of the ring are marked as critical, and an entering packet may not take one of
 *	these, wherever in the ring they are (Chen et al., IPDPS 2011). A packet that continues may,
 *	and the buffer that it leaves becomes critical: the bubble has moved upstream. A bubble that
 *	no packet in the ring passes stays where it is, and keeps packets from entering the ring
 *	there.
 *  MBS	CBS, and bubbles that no packet passes are moved (Wang and Zhang, J. NUDT 34(6), 2012,
 *	section 2.2): a buffer that any packet frees upstream takes the mark over (case 3). If none
 *	is freed for the time T, the output asks the node upstream for a false packet: a packet
 *	without data. The buffer that it takes is freed on arrival, and takes the mark over (case 4,
 *	section 2.1).
 *
 * Lemmas, with the tests of tests/unit/test_bubble.c that visit every state of small rings.
 *
 *  1. CBS and MBS conserve bubbles: each is one of the B of an output, or in a buffer that is being
 *     left, or in a credit on its way back, and every function below moves it to the next of these
 *     places. So K buffers of the ring are free or are being freed, and the packet behind a free
 *     one moves (mbs_never_deadlocks_nor_starves()).
 *  2. BLOC keeps a ring free of deadlock (bloc_never_deadlocks()); without a rule rings deadlock
 *     (without_a_rule_rings_deadlock()).
 *  3. CBS may block an entering packet without end (cbs_never_deadlocks_but_may_starve()), MBS does
 *     not (mbs_never_deadlocks_nor_starves()).
 *  4. BLOC keeps a ring free of deadlock also after a link was cut. The failed link takes no more
 *     packets, so the buffers that packets under way on it would have filled stay free. A new
 *     session counts the buffers that packets of former sessions occupy (INIT), so the test counts
 *     right from the first packet on. When the ring is closed again, a buffer is free: the last
 *     packet that entered left one free, and a packet that continues, is parked or reaches its
 *     destination takes none. A retraining changes no credits (random_histories_of_rings_go_on() of
 *     tests/unit/test_ring.c).
 *
 * The NIC uses BLOC unless its parameter bubble says otherwise (ring.h): MBS needs marks in credits
 * and false packets on the wire, and gains little. Two buffers an input, uniform traffic, phits a
 * node and cycle at saturation, BLOC and MBS with its best K: 4x4 0.761 and 0.839, 8x8 0.485 and
 * 0.497, 16x16 0.270 and 0.260, 32x32 0.145 and 0.138 (fabricsim flow). A test of the router's own
 * input as well gains as much (0.812, 0.506, 0.273), but is safe only while at most one packet can
 * be under way on a link; cables hold many.
 */
#ifndef TN_BUBBLE_H
#define TN_BUBBLE_H

#include "tn_deps.h"

enum tn_bubble_policy {
	TN_BUBBLE_NONE,		/* no rule: rings can deadlock */
	TN_BUBBLE_BLOC,
	TN_BUBBLE_CBS,
	TN_BUBBLE_MBS,
};

/** tn_bubble_policy_of() - the policy of @bubble, an enum torus_bubble */
static inline enum tn_bubble_policy tn_bubble_policy_of(unsigned int bubble)
{
	return (enum tn_bubble_policy)(TN_BUBBLE_BLOC + bubble);
}

/** tn_bubble_marks() - Return: true if the policy marks buffers as critical */
static inline bool tn_bubble_marks(unsigned int policy)
{
	return policy >= TN_BUBBLE_CBS;
}

/**
 * struct tn_bubble - an output's view of the input at the other end of its link
 * @since: ticks of the host's clock when the timer T was started; 0: it is stopped
 * @free: C
 * @critical: B
 */
struct tn_bubble {
	u32 since;
	u16 free;
	u16 critical;
};

/**
 * tn_bubble_reserve() - how many buffers of the next input a packet must leave free
 * @enters: true if the packet comes from outside the ring: from a host or another dimension
 * @critical: B of the input that the packet goes to; used by CBS and MBS
 * Return: the number of buffers.
 */
static inline unsigned int tn_bubble_reserve(enum tn_bubble_policy policy, bool enters,
					     unsigned int critical)
{
	if (!enters || policy == TN_BUBBLE_NONE)
		return 0;
	return policy == TN_BUBBLE_BLOC ? 1 : critical;
}

/**
 * tn_bubble_room() - Return: true if a packet can take one of @free buffers so that @reserve remain
 * free
 */
static inline bool tn_bubble_room(unsigned int free, unsigned int reserve)
{
	return free > reserve;
}

/**
 * tn_bubble_may() - Return: true if the policy allows this output to send a packet into its ring
 */
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
 * tn_bubble_take() - count a packet that is sent; called after tn_bubble_may() has allowed it
 * Return: true if the packet took a critical bubble: the caller must then return the buffer that
 * the packet leaves as critical.
 */
static inline bool tn_bubble_take(struct tn_bubble *b)
{
	bool took = tn_bubble_stuck(b);

	b->free--;
	b->critical = (u16)(b->critical - took);
	return took;
}

/**
 * tn_bubble_returned() - count a credit that the other end has returned; @critical: its buffer is a
 * critical bubble
 */
static inline void tn_bubble_returned(struct tn_bubble *b, bool critical)
{
	b->free++;
	b->critical = (u16)(b->critical + critical);
}

/**
 * tn_bubble_move() - MBS, cases 3 and 4: decide whether a freed buffer becomes the critical bubble
 * @b: the output by which the same node sends into the same ring
 * If all free buffers behind @b are critical, one of their marks moves to the freed buffer.
 * Return: true if it does: the caller returns the freed buffer as critical.
 */
static inline bool tn_bubble_move(enum tn_bubble_policy policy, struct tn_bubble *b)
{
	if (policy != TN_BUBBLE_MBS || !tn_bubble_stuck(b))
		return false;
	b->critical--;
	return true;
}

/**
 * tn_bubble_respond() - decide on a request of the next node for a false packet
 * @idle: this output is sending nothing and nothing waits for it
 * Return: true if the caller must send one. A false packet goes one hop; at the other end
 * tn_bubble_move() decides whether its buffer is returned as critical.
 */
bool tn_bubble_respond(enum tn_bubble_policy policy, struct tn_bubble *b, bool idle);

/**
 * tn_bubble_hand() - decide whether to answer a request of the next node (tn_bubble_respond()) with
 * a bubble, if all free buffers behind @b are critical
 * @lowest: this node has the lowest coordinate of the ring; such a node never sends a bubble
 *	downstream
 * A ring with a bubble at each output may have no other free buffer. If a false packet carries a
 * bubble downstream to the node that asked, which has a bubble too, the two become one.
 * Return: true if the caller must send a false packet that carries a bubble.
 */
bool tn_bubble_hand(enum tn_bubble_policy policy, struct tn_bubble *b, bool lowest);

/**
 * tn_bubble_watch() - start or stop the timer T; called when @b has changed
 * @now: ticks of the host's clock, not 0
 * Return: true if the timer was started.
 */
bool tn_bubble_watch(enum tn_bubble_policy policy, struct tn_bubble *b, u32 now);

/**
 * tn_bubble_due() - Return: true if the output must now request a false packet from upstream; the
 * timer T then restarts
 * @threshold: T, ticks
 */
bool tn_bubble_due(struct tn_bubble *b, u32 now, u32 threshold);

#endif /* TN_BUBBLE_H */
