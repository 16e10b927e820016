/* SPDX-License-Identifier: GPL-2.0-only */
/* The packets in the network, by the sums of all NICs' counters. */
#ifndef FM_SUMS_H
#define FM_SUMS_H

#include "daemon/fm/wire/msg.h"

/** fm_sums_missing() - Return: packets of colour @c that went into the network and not out of it */
int64_t fm_sums_missing(const struct fm_sums *s, unsigned int c);
/*
 * fm_sums_in(), fm_sums_out() - Return: packets of colours other than @colour that NICs have
 * received, from hosts and links; and those that have left NICs, to hosts and links
 */
uint64_t fm_sums_in(const struct fm_sums *s, unsigned int colour);
uint64_t fm_sums_out(const struct fm_sums *s, unsigned int colour);
/** fm_sums_replay_missing() - Return: replayed packets that neither arrived nor were parked */
int64_t fm_sums_replay_missing(const struct fm_sums *s);
/** fm_sums_replayed() - Return: replayed packets */
uint64_t fm_sums_replayed(const struct fm_sums *s);

/** fm_sums_moved() - Return: true if counters changed that a drain, or a @replay, waits for */
bool fm_sums_moved(const struct fm_sums *s, const struct fm_sums *now, unsigned int colour,
		   bool replay);

#endif /* FM_SUMS_H */
