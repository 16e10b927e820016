/* SPDX-License-Identifier: GPL-2.0-only */
/* How many packets are in the network, computed from the sums of all NICs' counters. */
#ifndef FM_SUMS_H
#define FM_SUMS_H

#include "daemon/fm/wire/msg.h"

/**
 * fm_sums_missing() - Return: number of packets of colour @c that went into the network and have
 * not come out
 */
int64_t fm_sums_missing(const struct fm_sums *s, unsigned int c);
/*
 * fm_sums_in(), fm_sums_out() - Return: number of packets of colours other than @colour that NICs
 * have received, from hosts and links; and those that have left NICs, to hosts and links
 */
uint64_t fm_sums_in(const struct fm_sums *s, unsigned int colour);
uint64_t fm_sums_out(const struct fm_sums *s, unsigned int colour);
/**
 * fm_sums_replay_missing() - Return: number of replayed packets that have neither arrived nor were
 * parked again
 */
int64_t fm_sums_replay_missing(const struct fm_sums *s);
/** fm_sums_replayed() - Return: number of replayed packets */
uint64_t fm_sums_replayed(const struct fm_sums *s);

/**
 * fm_sums_moved() - Return: true if counters differ between @s and @now that a drain, or a @replay,
 * waits for
 */
bool fm_sums_moved(const struct fm_sums *s, const struct fm_sums *now, unsigned int colour,
		   bool replay);

#endif /* FM_SUMS_H */
