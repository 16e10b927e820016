/* SPDX-License-Identifier: GPL-2.0-only */
/* The packets in the network, by the sums of all NICs' counters. */
#ifndef FM_SUMS_H
#define FM_SUMS_H

#include "daemon/fm/wire/msg.h"

/* Packets of colour @c that went into the network and have not come out. */
int64_t fm_sums_missing(const struct fm_sums *s, unsigned int c);
/* Packets of colours other than @colour that NICs have received, and that have left them. */
uint64_t fm_sums_in(const struct fm_sums *s, unsigned int colour);
uint64_t fm_sums_out(const struct fm_sums *s, unsigned int colour);
int64_t fm_sums_replay_missing(const struct fm_sums *s);
uint64_t fm_sums_replayed(const struct fm_sums *s);

/* Return: true if counters have moved that a drain, or else a replay, waits for. */
bool fm_sums_moved(const struct fm_sums *s, const struct fm_sums *now, unsigned int colour,
		   bool replay);

#endif /* FM_SUMS_H */
