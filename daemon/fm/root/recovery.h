/* SPDX-License-Identifier: GPL-2.0-only */
/* A recovery, the root's part. */
#ifndef FM_RECOVERY_H
#define FM_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/status.h"
#include "daemon/fm/wire/msg.h"

enum fm_phase {
	FM_PHASE_REST,
	FM_PHASE_APPLY,		/* table out, waiting for all to be ready */
	FM_PHASE_DRAIN,		/* old packets leave the network */
	FM_PHASE_REPLAY,	/* parked ones go back and arrive */
	FM_PHASE_RESUME,	/* holds lifted, waiting for all to say so */
};

/** struct fm_rec - the recovery at hand (recovery.c) */
struct fm_rec {
	uint8_t phase;
	bool waiting;		/* for reports of @round */
	bool orphans;
	bool base_was_known;
	uint32_t round;
	uint64_t asked;		/* when the round began, or was repeated last */
	uint64_t round_began;
	uint64_t next;		/* when the next round of counts is due; NEVER */
	uint64_t interval;
	uint64_t phase_began;
	uint64_t still_since;	/* sums have not moved since */
	uint64_t unresolved_since;
	uint64_t lost_before;	/* sum of lost_get at the beginning */
	struct fm_sums sums;	/* of the last complete round */
	uint64_t set;		/* fingerprint of the NICs in @sums; 0: there was none */
	bool began;		/* @first is known */
	struct fm_sums first;	/* of the first */
	int64_t gone;		/* missing beyond the base, when bounded */
	struct fm_recovery log;
};

void fm_recovery_begin(struct fm *fm);
void fm_recovery_report(struct fm *fm, const struct fm_report *r);
void fm_recovery_recheck(struct fm *fm);
void fm_recovery_due(struct fm *fm);
uint64_t fm_recovery_expiry(const struct fm *fm);

#endif /* FM_RECOVERY_H */
