/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that a wire can do to the first frames of a session, one history for each value of a
 * bit mask: bit i says whether frame i is hit (frames of both directions are counted together, in
 * the order in which they are sent). The caller defines what a hit does. Frames after those of the
 * mask are not hit.
 */
#ifndef TESTS_RETRYMASKS_H
#define TESTS_RETRYMASKS_H

#include "tests/unit/seeds.h"
#include "kernel/core/retry.h"

enum hit { HIT_LOST, HIT_DAMAGED, HIT_TWICE, HIT_LATE, HITS };

/**
 * struct masks - one set of histories
 * @bits: of the mask, at most 20
 * @packets: how many are sent, at most 16
 * @window: how many may be unacknowledged
 * @delay: rounds that a frame is under way
 * @every: good packets that the receiver answers together; it answers at once after an error or a
 * 	packet that it already has
 * @timeout: rounds without progress after which the sender goes back
 */
struct masks {
	const struct tn_retry_ops *ops;
	enum hit hit;
	unsigned int bits;
	unsigned int packets;
	unsigned int window;
	unsigned int delay;
	unsigned int every;
	unsigned int timeout;
};

/** struct masks_cost - sums over all histories */
struct masks_cost {
	u64 histories;
	u64 sent;		/* packets put onto the wire */
	u64 timeouts;
	unsigned int rounds_max;
};

/**
 * masks_run() - plays all histories of @m; a failure prints the mask
 * Checks that every packet arrives once and in order, that no packet leaves the RETRY buffer before
 * it was accepted, that no honest answer is taken for a lie, and that each history ends. MASK=N in
 * the environment plays one history alone.
 */
struct masks_cost masks_run(const struct masks *m);

/** masks_all() - all kinds of hits, delays and answers, for one protocol */
void masks_all(const struct tn_retry_ops *ops);

#endif /* TESTS_RETRYMASKS_H */
