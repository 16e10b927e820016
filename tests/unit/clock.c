// SPDX-License-Identifier: GPL-2.0-only
#include <assert.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/times.h"
#include "tests/unit/clock.h"

static uint64_t shown;
static bool stopped;

/* Replaces the function of the C library, for libevent too. */
__attribute__((visibility("default")))
int clock_gettime(clockid_t id, struct timespec *ts)
{
	if (!stopped || id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, id, ts);
	ts->tv_sec = (time_t)(shown / SEC);
	ts->tv_nsec = (long)(shown % SEC);
	return 0;
}

void clock_stop(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	shown = (uint64_t)ts.tv_sec * SEC + (uint64_t)ts.tv_nsec;
	stopped = true;
}

void clock_move(uint64_t ns)
{
	assert(stopped);
	shown += ns;
}

void clock_go(void)
{
	stopped = false;
}
