/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of what the manager did since its process began, for monitoring (answer_metrics.c). Only
 * the loop's thread uses them.
 */
#ifndef METER_H
#define METER_H

#include "daemon/fm/status.h"
#include "daemon/histogram.h"

/**
 * struct meter - the counts
 * @step: how long each step of recoveries took, by the stamp at its end; that of FM_AT_DETECTED is
 *	not used. A step that a recovery did not need is not counted
 * @recovery: how long recoveries took, from detection to the end
 * @bounded: number of recoveries in which some wait was ended by its time limit, not by a proof
 * @parked, @replayed, @lost: packets of all recoveries
 * @became_root: how often this manager became root
 * @events: of this node and those that other nodes reported to it, by level
 * @kept: bytes of other nodes' answers that are kept now for replies (answer_gather.c)
 * @unkept: number of requests refused because their replies were too long, or took too much memory
 * @leads: this manager was root when meter_root() was called last
 */
struct meter {
	struct histogram step[FM_STAMPS];
	struct histogram recovery;
	uint64_t bounded, parked, replayed, lost;
	uint64_t became_root;
	uint64_t events[FM_DEBUG + 1];
	size_t kept;
	uint64_t unkept;
	bool leads;
};

/** meter_recovery() - count a recovery that this root has ended */
void meter_recovery(struct meter *m, const struct fm_recovery *r);
/** meter_root() - count when this manager becomes root; called after each event of the manager */
void meter_root(struct meter *m, bool leads);

#endif /* METER_H */
