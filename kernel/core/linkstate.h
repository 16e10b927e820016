/* SPDX-License-Identifier: GPL-2.0-only */
/* Between link.c (data path) and linkstate.c (states, handshake, timers). */
#ifndef TN_LINKSTATE_H
#define TN_LINKSTATE_H

#include "link.h"

/** tn_link_fail() - up or retraining to faulty, for @reason; others: no change */
void tn_link_fail(struct tn_link *l, u8 reason, u64 now);
/** tn_link_hear_init() - an intact INIT packet, TN_INIT_FLITS of @payload */
void tn_link_hear_init(struct tn_link *l, const u8 *payload, u64 now);
/** tn_link_say_init() - build the INIT packet in l->ctl and set its timer */
void tn_link_say_init(struct tn_link *l, u64 now);
/** tn_link_note_sent() - a frame went out: keep-alive can wait */
void tn_link_note_sent(struct tn_link *l, u64 now);

#endif /* TN_LINKSTATE_H */
