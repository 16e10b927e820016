/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Credits of one link, per virtual channel (Angara paper, fig. 4).
 *
 *	N_inp	packet buffers of the peer's input (tn_credit.n_inp)
 *	CT	those that the sender counts as taken (tn_credit.ct): it rises by 1 with each packet
 *		sent, and falls by CRP
 *	CRP	buffers that the receiver has freed since its last report, for virtual channel VC#
 *
 * A packet may be sent while CT < N_inp, and into a ring while CT + 1 < N_inp, for bubble flow
 * control (bubble.h). The paper has CT + 1 < N_inp everywhere, counted in flits, and does not say
 * why. In hardware the counter may lag by the flit that is being sent; here the test and the count
 * are one step, so the margin would only waste a packet buffer.
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
 *     that packet is first sent, and stays the same in every replay; the receiver counts it when
 *     it accepts the packet, which the retry does exactly once (test_conserved(), over a wire that
 *     delays reports).
 *  2. A peer that reports more buffers than it had, or sends more packets than it has credit for,
 *     is detected at once, and the link becomes faulty (test_lies()).
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

/* In a VCCR.CRP of CBS and MBS: buffers freed, and how many of them are critical bubbles. */
#define TN_CRP_FREED	0xff
#define TN_CRP_CRITICAL	8	/* shift */

/**
 * struct tn_credit - of one link
 * @policy: enum tn_bubble_policy of the ring; set once
 * @critical: sender: critical bubbles among the free buffers, CBS and MBS; VCD only
 * @owed_critical: receiver: of @owed, those that are critical
 */
struct tn_credit {
	u16 ct[TORUS_VCS];	/* sender: buffers taken at the peer */
	u16 n_inp[TORUS_VCS];	/* sender: buffers the peer has */
	u16 used[TORUS_VCS];	/* receiver: own buffers occupied */
	u16 owed[TORUS_VCS];	/* receiver: freed, not reported yet */
	u8 turn;		/* VC whose report is next */
	u8 policy;
	u8 critical[TORUS_VCS];
	u8 owed_critical[TORUS_VCS];
};

/** tn_slots_min() - packet buffers that an input needs: BLOC and CBS one beside the bubble */
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

/** tn_credit_may() - Return: true if a packet may be sent on @vc, leaving @bubbles buffers */
static inline bool tn_credit_may(const struct tn_credit *c, unsigned int vc,
				 unsigned int bubbles)
{
	return tn_bubble_room(tn_credit_free(c, vc), bubbles);
}

/**
 * tn_credit_room() - Return: true if a session may begin with a peer that has @slots, @occupied of
 *	them in use. A session that puts a critical bubble into each ring needs a free buffer for
 *	it (ring.h)
 */
bool tn_credit_room(const struct tn_credit *c, const u16 *slots, const u16 *occupied);

/**
 * tn_credit_start() - begin a session
 * @slots: packet buffers of the peer
 * @occupied: those in which packets of former sessions are; the peer reports in this session when
 *	it frees them
 * Return: false if the numbers contradict each other.
 */
bool tn_credit_start(struct tn_credit *c, const u16 *slots, const u16 *occupied);

static inline unsigned int tn_credit_owed(const struct tn_credit *c)
{
	return (unsigned int)c->owed[0] + c->owed[1] + c->owed[2];
}

static inline void tn_credit_take(struct tn_credit *c, unsigned int vc)
{
	tn_assert(vc < TORUS_VCS);
	tn_assert(c->ct[vc] < c->n_inp[vc]);
	c->ct[vc]++;
}

/** tn_credit_freed() - count a freed buffer of @vc; @critical: it is a critical bubble */
static inline void tn_credit_freed(struct tn_credit *c, unsigned int vc, bool critical)
{
	c->used[vc]--;
	c->owed[vc]++;
	c->owed_critical[vc] |= critical;	/* two bubbles that meet become one */
}

/** tn_credit_returned() - count a report of the peer. Return: false: it is more than it had */
bool tn_credit_returned(struct tn_credit *c, unsigned int vc, unsigned int crp);

/** tn_credit_report() - Return: the next report, for virtual channel *@vc; 0: nothing is owed */
u16 tn_credit_report(struct tn_credit *c, u8 *vc);

#endif /* TN_CREDIT_H */
