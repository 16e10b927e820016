/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interface between the files of a link: link.c (sending), link_rx.c (receiving) and linkstate.c
 * (states, handshake, timers).
 */
#ifndef TN_LINKSTATE_H
#define TN_LINKSTATE_H

#include "link.h"

#define TN_SERIES_TSEQ	20	/* first bit of TSEQ in the first 8 bytes of a header flit */
#define TN_SERIES_DIFFERS ((u64)TN_SEQ_MASK << TN_SERIES_TSEQ)

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

/** tn_link_fail() - make an up or retraining link faulty, for @reason; else do nothing */
void tn_link_fail(struct tn_link *l, u8 reason, u64 now);
/** tn_link_receive_init() - receive an intact INIT packet; @payload: TN_INIT_FLITS flits */
void tn_link_receive_init(struct tn_link *l, const u8 *payload, u64 now);
/** tn_link_build_init() - build the INIT packet in l->ctl and set its timer */
void tn_link_build_init(struct tn_link *l, u64 now);
/** tn_link_note_sent() - a frame was sent: set the keep-alive timer again */
void tn_link_note_sent(struct tn_link *l, u64 now);

#endif /* TN_LINKSTATE_H */
