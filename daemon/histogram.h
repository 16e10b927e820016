/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts of durations by their length, for monitoring. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BOUNDS 12

/** histogram_bounds - upper bounds in ns, rising, from 0.1 ms to 5 s */
extern const uint64_t histogram_bounds[HISTOGRAM_BOUNDS];

/**
 * struct histogram - durations that were counted; all zero: none yet
 * @count: [i]: how many durations were at most histogram_bounds[i] and longer than the bound before
 *	it; the last: how many were longer than all bounds
 * @sum: of all durations, in ns
 */
struct histogram {
	uint64_t count[HISTOGRAM_BOUNDS + 1];
	uint64_t sum;
};

/** histogram_add() - count a duration of @ns */
void histogram_add(struct histogram *h, uint64_t ns);
/** histogram_total() - Return: how many durations were counted */
uint64_t histogram_total(const struct histogram *h);

#endif /* HISTOGRAM_H */
