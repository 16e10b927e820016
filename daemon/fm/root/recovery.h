/* SPDX-License-Identifier: GPL-2.0-only */
/* The root's part in a recovery; node/member.h has the part of each node. */
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
	FM_PHASE_APPLY,		/* the table was sent; not all nodes are ready */
	FM_PHASE_DRAIN,		/* packets of older colours are leaving the network */
	FM_PHASE_REPLAY,	/* parked packets are being replayed, and arrive */
	FM_PHASE_RESUME,	/* RESUME was sent; not all nodes have ended their holds */
};

/*
 * Allocates the state of recovery.c for a new root; no recovery is under way. Return: false if
 * there is no memory.
 */
bool fm_recovery_new(struct fm_root *r);
void fm_recovery_free(struct fm_root *r);

enum fm_phase fm_recovery_phase(const struct fm_root *r);
/** fm_recovery_waits() - Return: true if the root waits for reports */
bool fm_recovery_waits(const struct fm_root *r);
/** fm_recovery_round() - Return: number of the present round of reports */
uint32_t fm_recovery_round(const struct fm_root *r);
/** fm_recovery_round_began() - Return: when that round began */
uint64_t fm_recovery_round_began(const struct fm_root *r);
/**
 * fm_recovery_orphans() - Return: true if the root has stopped waiting for reports on how sessions
 * of dead links ended (@orphans of fm_step)
 */
bool fm_recovery_orphans(const struct fm_root *r);
/** fm_recovery_sums() - Return: sums of the counters of all nodes in the last complete round */
const struct fm_sums *fm_recovery_sums(const struct fm_root *r);
/** fm_recovery_log() - Return: the log of the present recovery */
const struct fm_recovery *fm_recovery_log(const struct fm_root *r);
/**
 * fm_recovery_last() - Return: the log of the last recovery that ended; version 0 if none has ended
 */
const struct fm_recovery *fm_recovery_last(const struct fm_root *r);

/**
 * fm_recovery_begin() - begin the recovery of the table with fm_root's @version, before it is sent
 */
void fm_recovery_begin(struct fm *fm);
/** fm_recovery_report() - process the report that sums up all nodes */
void fm_recovery_report(struct fm *fm, const struct fm_report *r);
/**
 * fm_recovery_recheck() - check whether all nodes have reported that still have to
 * Called when there are fewer of them than before.
 */
void fm_recovery_recheck(struct fm *fm);
void fm_recovery_due(struct fm *fm);
uint64_t fm_recovery_expiry(const struct fm *fm);

#endif /* FM_RECOVERY_H */
