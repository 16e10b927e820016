/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Credits of one link, per virtual channel (Angara paper, fig. 4).
 *
 * The unit is a packet buffer (slot), of the largest packet, not a flit: bubble flow
 * control reasons in whole packet buffers. Were space counted in flits, a ring
 * could hold room for a packet spread over several inputs, none of which has
 * room for one: e.g. inputs with 10 and 3 free flits and packets of up to 10:
 * a packet of 4 moves into the first, leaving 6 and 7, and nothing of 10 can
 * move any more although 13 flits are free.
 *
 * The receiver reports what it has freed since its last report (CRP for VC#);
 * the sender's counter CT rises with each packet sent and falls by CRP; it may
 * send while CT < N_inp, and into a ring only while CT + 1 < N_inp, which is what
 * bubble flow control asks for (bubble.h). The paper has CT + 1 < N_inp, of flits, and does
 * not say why; that leaves the last unit unused. A counter in hardware may be late by the flit
 * that is just going out. Here nothing happens between the test and the counting, so it would
 * be a whole packet buffer for nothing.
 *
 * Exactly once: a report travels in the header of a sequenced packet, is chosen
 * when that packet is first sent, and stays the same in every replay of it; the
 * receiver counts it only when it accepts the packet, which the retry does
 * exactly once. So however often a packet is replayed, its CRP counts once.
 *
 * A faulty peer. If a peer reports more buffers than it had, or sends more packets than it has
 * credit for, this is detected at once, and the link becomes faulty. If a peer never returns
 * credits, this NIC cannot detect it, because it knows no bound for the time that a credit may
 * take: the peer's own next link may be dead, its parking segment full, and the manager that would
 * empty it not running. A timeout would expire at about the same time on all links behind the
 * blocked one, although these are healthy, and their packets would be parked, although their path
 * is whole. A message "I wait, too" would not help, because a faulty peer could send it. Waiting
 * loses no packet, and only links behind the blocked one wait. So the NIC does not judge, but shows
 * the time: tn_link.waiting, the gauge "waited" of each port. In a tree of waiting links, the link
 * at fault is the one that leads to a node none of whose links waits. When it is taken down, the
 * packets that wait for it are parked. Only the managers together see the whole tree, and they do
 * this after stall_max (daemon/stall.h). The gauge is the time since a packet on VCD0 or VCD1 began
 * to wait for a buffer or bubble, if no packet of its VC has used the link since: any progress ends
 * it.
 *
 * Tests. tests/unit/test_credit.c: test_conserved() compares all counts with packets in a model,
 * over a wire that delays reports; test_lies() has a peer that reports too much. Ports that wait
 * for ever: tests/sim/test_stall.c.
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

/** tn_credit_may() - may a packet be sent on @vc, leaving @bubbles buffers? */
static inline bool tn_credit_may(const struct tn_credit *c, unsigned int vc,
				 unsigned int bubbles)
{
	return tn_bubble_room(tn_credit_free(c, vc), bubbles);
}

/**
 * tn_credit_room() - may a session begin with a peer that has @slots, @occupied of them?
 * One that puts a critical bubble into each ring needs a free buffer for it (ring.h).
 */
bool tn_credit_room(const struct tn_credit *c, const u16 *slots, const u16 *occupied);

/**
 * tn_credit_start() - a new session: the peer has @slots, @occupied of them by
 * packets of former sessions, whose freeing it will report in this one
 * Return: false if the numbers make no sense.
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

/** tn_credit_freed() - a buffer of @vc is free; @critical: as a critical bubble */
static inline void tn_credit_freed(struct tn_credit *c, unsigned int vc, bool critical)
{
	c->used[vc]--;
	c->owed[vc]++;
	c->owed_critical[vc] |= critical;	/* two that meet are one from now on */
}

/** tn_credit_returned() - the peer reports. Return: false: more than it had. */
bool tn_credit_returned(struct tn_credit *c, unsigned int vc, unsigned int crp);

/** tn_credit_report() - next report, 0 if nothing is owed; *@vc says for whom */
u16 tn_credit_report(struct tn_credit *c, u8 *vc);

#endif /* TN_CREDIT_H */
