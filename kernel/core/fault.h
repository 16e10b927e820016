/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Injected bit errors of a software NIC's line, to test retry and recovery.
 *
 * Errors are independent, so the number of good bits between two errors has a geometric
 * distribution: one random number for each error, instead of one for each bit. The same seed and
 * rate hit the same bits of the same stream.
 *
 * Bound. An error costs some 400 ns, and a frame of 65535 bytes could have half a million of them.
 * So a frame gets at most TN_FAULT_ERRORS_MAX errors, which its check sums detect as well as more.
 * Behind these, the distance is drawn again at the end of each piece of the frame. This is exact,
 * because errors are independent.
 *
 * Tests: tests/unit/test_fault.c.
 */
#ifndef TN_FAULT_H
#define TN_FAULT_H

#include "tn_deps.h"
#include <torus_uapi.h>

#define TN_FAULT_ERRORS_MAX	64	/* in one frame */

/**
 * struct tn_fault - bit errors of one line
 * @ber: errors per bit, in units of 1e-18, at most TORUS_BER_ONE; 0 for none
 * @seed: of the error positions
 */
struct tn_fault {
	u64 ber;
	u64 seed;
	/* private: */
	u64 rng;
	u64 skip;		/* good bits before the next bad one */
	u32 left;		/* errors that the frame may still get */
};

/** tn_fault_arm() - restart the random numbers, after @ber or @seed was set */
void tn_fault_arm(struct tn_fault *f);
/**
 * tn_fault_rate() - change the rate from now on
 * The distance to the next error is drawn again, which is exact because errors are independent.
 * Unlike tn_fault_arm() it does not restart the random numbers.
 */
void tn_fault_rate(struct tn_fault *f, u64 ber);
/**
 * tn_fault_hits() - begin a frame of @bytes
 * Return: true if it has an error; if not, it is skipped.
 */
bool tn_fault_hits(struct tn_fault *f, u32 bytes);
/**
 * tn_fault_next() - step over one bit, or one packet if @f counts packets
 * Return: true if it has an error.
 */
bool tn_fault_next(struct tn_fault *f);
/** tn_fault_corrupt() - flip the bits of @data, a piece of the frame, that have errors; skip it */
void tn_fault_corrupt(struct tn_fault *f, u8 *data, u32 bytes);

#endif /* TN_FAULT_H */
