/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers that a failed test can repeat: SEED=N in the environment, else the test's own
 * fixed seed.
 */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>
#include <stdlib.h>
#include "kernel/core/splitmix64.h"

static inline uint64_t random_next(uint64_t *state)
{
	return splitmix64_mix(*state += SPLITMIX64_STEP);
}

/* A random number below @n. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((random_next(state) >> 32) * n >> 32);
}

static inline uint64_t random_seed(uint64_t fixed)
{
	const char *text = getenv("SEED");

	return text ? strtoull(text, NULL, 0) : fixed;
}

#endif /* TESTS_RANDOM_H */
