/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Credits of one link, per virtual channel (Angara paper, fig. 4).
 *
 *	N_inp	packet buffers of the peer's input (tn_credit.n_inp)
 *	CT	buffers of the peer that the sender counts as taken (tn_credit.ct): CT rises by 1
 *		with each packet sent, and falls by CRP
 *	CRP	buffers that the receiver has freed since its last report, for virtual channel VC#
 *
 * A packet may be sent while CT < N_inp, and into a ring while CT + 1 < N_inp, for bubble flow
 * control (bubble.h). The paper has CT + 1 < N_inp everywhere, counted in flits, and does not say
 * why. A reason may be that in hardware the counter lags by the flit that is being sent. Here the
 * test and the count are one step, so the margin would only waste a packet buffer.
 *
 * The unit is a packet buffer (slot) of the largest packet, not a flit, because bubble flow control
 * needs whole packet buffers. Counted in flits, a ring could have room for a packet spread over
 * several inputs, none of which has room for one. Example: inputs with 10 and 3 free flits, packets
 * of up to 10. A packet of 4 moves into the first and leaves 6 and 7 free: no packet of 10 can move
 * any more, although 13 flits are free.
 *
 * Lemmas, with the tests of tests/unit/test_credit.c.
 *
 *  1. A report counts exactly once. It travels in the header of a sequenced packet, is chosen when
 *     that packet is first sent, and stays the same in every replay; the receiver counts it when it
 *     accepts the packet, and link retry ensures that each packet is accepted exactly once
 *     (credits_are_conserved_in_random_histories(), over a wire that delays reports).
 *  2. A peer that reports more buffers than it had, or sends more packets than it has credit for,
 *     is detected at once, and the link becomes faulty (return_of_unused_credits_is_refused()).
 *  3. A peer that never returns credits cannot be detected here, because no bound is known for the
 *     time that a credit may take: the peer's own next link may be dead, its parking segment full,
 *     and the manager that would empty it not running. A timeout would expire at about the same
 *     time on all links behind the blocked one, although these are healthy, and would park their
 *     packets, although their path is whole. A message "I wait, too" would not help, because a
 *     faulty peer could send it. Waiting loses no packet, and only links behind the blocked one
 *     wait. So the NIC only shows the time: tn_link.waiting, the gauge "waited" of each port. It is
 *     the time since a packet on VCD0 or VCD1 began to wait for a buffer or bubble, if no packet
 *     of its VC has used the link since.
 *  4. The managers find the link at fault. In a tree of waiting links it is the one that leads to
 *     a node none of whose links waits. When it is taken down, the packets that wait for it are
 *     parked. The managers together see the whole tree, and do this after stall_max
 *     (daemon/stall.h; tests/sim/test_stall.c).
 */
#ifndef TN_CREDIT_H
#define TN_CREDIT_H

#include "bubble.h"
#include "wire.h"

/*
 * Fields of VCCR.CRP with CBS and MBS: the number of buffers freed, and how many of them are
 * critical bubbles.
 */
#define TN_CRP_FREED	0xff
#define TN_CRP_CRITICAL	8	/* position of the second field, bits */

/**
 * struct tn_credit - credits of one link, in both directions
 * @policy: enum tn_bubble_policy of the ring; does not change after the link was made
 * @critical: sender: how many of the peer's free buffers are critical bubbles (CBS and MBS; VCD0
 *	and VCD1 only)
 * @owed_critical: receiver: how many of the @owed buffers are critical bubbles
 */
struct tn_credit {
	u16 ct[TORUS_VCS];	/* sender: buffers of the peer that are taken */
	u16 n_inp[TORUS_VCS];	/* sender: buffers that the peer has */
	u16 used[TORUS_VCS];	/* receiver: own buffers that hold a packet */
	u16 owed[TORUS_VCS];	/* receiver: own buffers freed and not yet reported */
	u8 turn;		/* the VC for which the next report is made */
	u8 policy;
	u8 critical[TORUS_VCS];
	u8 owed_critical[TORUS_VCS];
};

/**
 * tn_slots_min() - Return: the least number of packet buffers of an input
 * BLOC needs one more than the buffer that stays free. In the bubble paper one is enough for CBS;
 * but there a bubble that no packet passes blocks its input (bubble.h, lemma 3), and with one
 * bubble for each link, as here (ring.h), nothing could enter a ring at all.
 */
static inline unsigned int tn_slots_min(unsigned int policy)
{
	return policy == TN_BUBBLE_MBS ? 1 : 2;
}

static inline unsigned int tn_credit_free(const struct tn_credit *c, unsigned int vc)
{
	tn_assert(vc < TORUS_VCS);
	tn_assert(c->ct[vc] <= c->n_inp[vc]);
	return (unsigned int)(c->n_inp[vc] - c->ct[vc]);
}

/**
 * tn_credit_may() - Return: true if a packet may be sent on @vc such that @bubbles buffers remain
 * free
 */
static inline bool tn_credit_may(const struct tn_credit *c, unsigned int vc,
				 unsigned int bubbles)
{
	return tn_bubble_room(tn_credit_free(c, vc), bubbles);
}

/**
 * tn_credit_room() - Return: true if a session may begin with a peer that has @slots buffers, of
 * which @occupied hold packets
 * With CBS and MBS each new session puts a critical bubble into the ring (ring.h), so the peer must
 * have a free buffer for it.
 */
bool tn_credit_room(const struct tn_credit *c, const u16 *slots, const u16 *occupied);

/**
 * tn_credit_start() - begin a session
 * @slots: packet buffers of the peer
 * @occupied: how many of these still hold packets of former sessions; the peer reports each of them
 *	in this session when it frees it
 * Return: false if the numbers contradict each other.
 */
bool tn_credit_start(struct tn_credit *c, const u16 *slots, const u16 *occupied);

static inline unsigned int tn_credit_owed(const struct tn_credit *c)
{
	return (unsigned int)c->owed[0] + c->owed[1] + c->owed[2];
}

/* Takes @n of the free buffers for packets on @vc. */
static inline void tn_credit_take(struct tn_credit *c, unsigned int vc, unsigned int n)
{
	tn_assert(vc < TORUS_VCS);
	tn_assert(n <= tn_credit_free(c, vc));
	c->ct[vc] = (u16)(c->ct[vc] + n);
}

/**
 * tn_credit_freed() - count @n freed input buffers of @vc; @critical: one of them is to be returned
 * as a critical bubble
 */
static inline void tn_credit_freed(struct tn_credit *c, unsigned int vc, unsigned int n,
				   bool critical)
{
	c->used[vc] = (u16)(c->used[vc] - n);
	c->owed[vc] = (u16)(c->owed[vc] + n);
	/* if a critical bubble is owed already, the new one merges with it */
	c->owed_critical[vc] |= critical;
}

/**
 * tn_credit_returned() - count a credit report of the peer. Return: false if it reports more
 * buffers than were taken
 */
bool tn_credit_returned(struct tn_credit *c, unsigned int vc, unsigned int crp);

/**
 * tn_credit_report() - choose the next credit report to send. Return: its VCCR.CRP, for virtual
 * channel *@vc; 0 if no freed buffer is left to report
 */
u16 tn_credit_report(struct tn_credit *c, u8 *vc);

#endif /* TN_CREDIT_H */
