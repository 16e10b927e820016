/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Clocks of clock_gettime(2). */
#ifndef UTIL_CLOCK_H
#define UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "lib/util/times.h"

/** clock_ns() - Return: time of @clock, ns */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SEC + (uint64_t)t.tv_nsec;
}

/** seconds_of() - Return: time of @clock, seconds */
static inline double seconds_of(clockid_t clock)
{
	return (double)clock_ns(clock) / (double)SEC;
}

static inline double seconds_now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

#endif /* UTIL_CLOCK_H */
