/* SPDX-License-Identifier: GPL-2.0-only */
/* Interface between link.c (data path) and linkstate.c (states, handshake, timers). */
#ifndef TN_LINKSTATE_H
#define TN_LINKSTATE_H

#include "link.h"

/** tn_link_fail() - make an up or retraining link faulty, for @reason; else do nothing */
void tn_link_fail(struct tn_link *l, u8 reason, u64 now);
/** tn_link_receive_init() - receive an intact INIT packet; @payload: TN_INIT_FLITS flits */
void tn_link_receive_init(struct tn_link *l, const u8 *payload, u64 now);
/** tn_link_build_init() - build the INIT packet in l->ctl and set its timer */
void tn_link_build_init(struct tn_link *l, u64 now);
/** tn_link_note_sent() - a frame was sent: set the keep-alive timer again */
void tn_link_note_sent(struct tn_link *l, u64 now);

#endif /* TN_LINKSTATE_H */
