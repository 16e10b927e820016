/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef UTIL_SECONDS_H
#define UTIL_SECONDS_H

#include <time.h>

/** seconds_of() - what @clock shows */
static inline double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline double seconds_now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

#endif /* UTIL_SECONDS_H */
