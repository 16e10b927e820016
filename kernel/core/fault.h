/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bit errors that a software NIC injects into the frames it receives, to test retry and recovery.
 *
 * Errors are independent, so the number of good bits between two errors has a geometric
 * distribution: one random number for each error, instead of one for each bit. The same seed and
 * rate hit the same bits of the same stream.
 *
 * Bound. An error costs some 400 ns, and a frame of 65535 bytes could have half a million of them.
 * So a frame gets at most TN_FAULT_ERRORS_MAX errors; its check sums detect these as well as they
 * would detect more. After the last of them, the distance to the next error is drawn again at the
 * end of each piece of the frame. This is exact, because errors are independent.
 *
 * Tests: tests/unit/test_fault.c.
 */
#ifndef TN_FAULT_H
#define TN_FAULT_H

#include "tn_deps.h"
#include <torus_uapi.h>

#define TN_FAULT_ERRORS_MAX	64	/* errors injected into one frame at most */

/**
 * struct tn_fault - bit errors of one line (the medium of one direction of a link)
 * @ber: errors per bit, in units of 1e-18, at most TORUS_BER_ONE; 0: no errors
 * @seed: seed of the random positions of errors
 */
struct tn_fault {
	u64 ber;
	u64 seed;
	/* private: */
	u64 rng;
	u64 skip;		/* good bits before the next error */
	u32 left;		/* how many errors the present frame may still get */
};

/** tn_fault_arm() - restart the random sequence; to be called after @ber or @seed was set */
void tn_fault_arm(struct tn_fault *f);
/**
 * tn_fault_rate() - change the bit error rate from the next bit on
 * The distance to the next error is drawn again, which is exact because errors are independent.
 * Unlike tn_fault_arm() it does not restart the random numbers.
 */
void tn_fault_rate(struct tn_fault *f, u64 ber);
/**
 * tn_fault_hits() - begin a frame of @bytes
 * Return: true if the frame gets an error: the caller passes all its pieces to tn_fault_corrupt().
 * False: the frame has none, and its bits are counted already.
 */
bool tn_fault_hits(struct tn_fault *f, u32 bytes);
/**
 * tn_fault_next() - draw whether the next unit, one bit or (if @f is used to select packets) one
 * packet, is hit
 * Return: true if it is hit.
 */
bool tn_fault_next(struct tn_fault *f);
/**
 * tn_fault_corrupt() - flip the bits of @data, a piece of the present frame, that have errors, and
 * count its bits
 */
void tn_fault_corrupt(struct tn_fault *f, u8 *data, u32 bytes);

#endif /* TN_FAULT_H */
