/* SPDX-License-Identifier: GPL-2.0-only */
/* A recovery, the root's part. */
#ifndef FM_RECOVERY_H
#define FM_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/status.h"
#include "daemon/fm/wire/msg.h"

struct fm;
struct fm_root;

enum fm_phase {
	FM_PHASE_REST,
	FM_PHASE_APPLY,		/* table out, waiting for all to be ready */
	FM_PHASE_DRAIN,		/* old packets leave the network */
	FM_PHASE_REPLAY,	/* parked ones go back and arrive */
	FM_PHASE_RESUME,	/* holds lifted, waiting for all to say so */
};

/* A root begins: nothing is recovered. Return: false: no memory. */
bool fm_recovery_new(struct fm_root *r);
void fm_recovery_free(struct fm_root *r);

enum fm_phase fm_recovery_phase(const struct fm_root *r);
/* Return: true if reports of nodes are waited for */
bool fm_recovery_waits(const struct fm_root *r);
/* The number of the round of reports at hand; when it began. */
uint32_t fm_recovery_round(const struct fm_root *r);
uint64_t fm_recovery_round_began(const struct fm_root *r);
/* Return: true if ends of sessions that nobody tells are not waited for any more */
bool fm_recovery_orphans(const struct fm_root *r);
/* The sums over all nodes, of the last complete round. */
const struct fm_sums *fm_recovery_sums(const struct fm_root *r);
/* The logs of the recovery at hand, and of the last one that ended; its version 0: none has. */
const struct fm_recovery *fm_recovery_log(const struct fm_root *r);
const struct fm_recovery *fm_recovery_last(const struct fm_root *r);

/* The table at hand has gone out: its recovery begins. */
void fm_recovery_begin(struct fm *fm);
void fm_recovery_report(struct fm *fm, const struct fm_report *r);
/* Fewer nodes are waited for: perhaps all that are left have reported. */
void fm_recovery_recheck(struct fm *fm);
void fm_recovery_due(struct fm *fm);
uint64_t fm_recovery_expiry(const struct fm *fm);

#endif /* FM_RECOVERY_H */
