/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bit errors of a software NIC's wire, for trying out what retry and recovery do.
 *
 * Errors are independent, so the number of good bits between two is geometric:
 * one random number for each error instead of one for each bit. The same seed
 * and rate hit the same bits of the same stream.
 */
#ifndef TN_FAULT_H
#define TN_FAULT_H

#include "tn_deps.h"
#include <torus_uapi.h>

/**
 * struct tn_fault - bit errors of one wire
 * @ber: errors per bit, in units of 1e-18, at most TORUS_BER_ONE; 0 for none
 * @seed: of the error positions
 */
struct tn_fault {
	u64 ber;
	u64 seed;
	/* private: */
	u64 rng;
	u64 skip;		/* good bits before the next bad one */
};

/** tn_fault_arm() - after @ber or @seed were set */
void tn_fault_arm(struct tn_fault *f);
/**
 * tn_fault_rate() - another rate from here on
 * Errors have no memory: drawing the distance to the next one anew is exact, and
 * unlike tn_fault_arm() goes on with the random numbers.
 */
void tn_fault_rate(struct tn_fault *f, u64 ber);
/** tn_fault_hits() - will an error fall into the next @bytes? If not, they are passed */
bool tn_fault_hits(struct tn_fault *f, u32 bytes);
/**
 * tn_fault_next() - steps over one bit, or one of whatever else @f counts
 * Return: true if it is a wrong one.
 */
bool tn_fault_next(struct tn_fault *f);
/** tn_fault_corrupt() - flip the bits of @data whose turn it is, and pass it */
void tn_fault_corrupt(struct tn_fault *f, u8 *data, u32 bytes);

#endif /* TN_FAULT_H */
