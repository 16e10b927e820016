/* SPDX-License-Identifier: GPL-2.0-only */
/* Many runs of the flow simulator, on all cores, and their statistics. */
#ifndef FLOW_SWEEP_H
#define FLOW_SWEEP_H

#include <stddef.h>

#include "flow.h"

/** struct mean - mean of samples; @ci95: half the 95 % confidence interval; NAN for one sample */
struct mean {
	double mean, ci95;
};

/**
 * struct flow_point - one set of parameters and the results of its seeds
 * @latency: latency over the seeds in which a packet was delivered; its mean is NAN if no packet
 *	was
 * @p99: mean over the seeds
 * @deadlocks: number of seeds whose run ended in a deadlock
 * @refused: share of packets that were not generated because the source queue was full
 * @cycles_per_s: simulated cycles in a second of processor time, on one core
 */
struct flow_point {
	struct flow_params params;
	struct mean accepted, latency;
	double p99, refused, cycles_per_s;
	uint32_t wait_max;
	uint64_t delivered, undelivered, requests, responses, cycles, bytes;
	unsigned int deadlocks;
};

/** mean_of() - Return: mean and confidence interval of @n samples, by Student's t */
struct mean mean_of(const double *sample, size_t n);

/**
 * flow_sweep() - run each point with @seeds seeds drawn from @seed
 *
 * All points have the same seeds, so that differences between them are not chance.
 * Return: OK, or CANNOT after it has printed the error.
 */
int flow_sweep(struct flow_point *point, size_t n, unsigned int seeds, uint64_t seed,
	       unsigned int threads);

#endif /* FLOW_SWEEP_H */
