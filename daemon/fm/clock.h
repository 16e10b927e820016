/* SPDX-License-Identifier: GPL-2.0-only */
/* Times in the manager: ns of the clock that its caller passes in. */
#ifndef FM_CLOCK_H
#define FM_CLOCK_H

#include <stdint.h>

#include "lib/util/times.h"

#define NEVER (~0ULL)

static inline uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif /* FM_CLOCK_H */
