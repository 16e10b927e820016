/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between the files of a link: link.c (sending), link_rx.c (receiving), linkstate.c
 * (states, training, timers) and handshake.c.
 */
#ifndef TN_LINKSTATE_H
#define TN_LINKSTATE_H

#include "link.h"

#define TN_NEVER (~0ull)	/* the time of a timer that does not run */

#define TN_SERIES_TSEQ	20	/* first bit of TSEQ in the first 8 bytes of a header flit */
#define TN_SERIES_DIFFERS ((u64)TN_SEQ_MASK << TN_SERIES_TSEQ)

static inline u64 tn_min_time(u64 a, u64 b)
{
	return a < b ? a : b;
}

/**
 * tn_link_ecrc() - Return: the ECRC of a packet
 * @via: read only if the packet is relayed: its header then has the destination of the present leg,
 *	and the ECRC covers the final one
 */
static inline u32 tn_link_ecrc(const u8 *payload, const struct tn_hdr *h, const struct tn_tail *t,
			       const struct tn_via *via)
{
	struct tn_hdr final = *h;

	if (h->relayed)
		final.dst = via->dst;
	return tn_ecrc(payload, &final, t);
}

/** tn_link_set_state() - change to @state, if that is another one, and report it to the NIC */
void tn_link_set_state(struct tn_link *l, u8 state, u64 now);
/** tn_link_stop_timers() - stop all timers but those of training */
void tn_link_stop_timers(struct tn_link *l);
/** tn_link_start_init() - begin the handshake, after training */
void tn_link_start_init(struct tn_link *l, u64 now);
/**
 * tn_link_begin_retraining() - begin a retraining. The peer gets an INIT at once, so that the
 * receivers of both ends train at the same time.
 * @near: try settings around the present ones first, as in tn_train_begin()
 */
void tn_link_begin_retraining(struct tn_link *l, bool near, u64 now);
/**
 * tn_link_forget_mismatch() - clear the reason why both ends could not come up, because another
 * NIC may be connected now
 */
void tn_link_forget_mismatch(struct tn_link *l);
/** tn_link_fail() - make an up or retraining link faulty, for @reason; else do nothing */
void tn_link_fail(struct tn_link *l, u8 reason, u64 now);
/** tn_link_receive_init() - receive an intact INIT packet; @payload: TN_INIT_FLITS flits */
void tn_link_receive_init(struct tn_link *l, const u8 *payload, u64 now);
/** tn_link_build_init() - build the INIT packet in l->ctl and set its timer */
void tn_link_build_init(struct tn_link *l, u64 now);
/** tn_link_note_sent() - a frame was sent: set the keep-alive timer again */
void tn_link_note_sent(struct tn_link *l, u64 now);

#endif /* TN_LINKSTATE_H */
