// SPDX-License-Identifier: GPL-2.0-only
/* The clock of torusemu: it does not go back, whether the process stops in a turn or waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "kernel/host/clock.h"
#include "lib/util/times.h"
#include "tools/torusemu/loop.h"

#define STOP	(100 * MS)

static struct loop loop;

static void stop(void)
{
	const struct timespec ts = { .tv_nsec = STOP };

	nanosleep(&ts, NULL);
}

/* The process is stopped within a turn, and something was due before it was stopped. */
static void stop_within_turn_does_not_count(void **state)
{
	u64 began, seen;

	(void)state;
	loop_wait(&loop, loop_now());
	began = loop_now();
	stop();
	seen = loop_now();
	assert_in_range(seen, began, began + TORUS_HOST_STALL_MAX);
	loop_wait(&loop, began);
	assert_in_range(loop_now(), seen, began + STOP - 1);
}

/* NICs are ready, so the loop does not sleep: all the time of a turn counts. */
static void loop_that_does_not_sleep_counts_all_time(void **state)
{
	u64 began, seen;

	(void)state;
	loop_wait(&loop, loop_now());
	began = loop_now();
	stop();
	seen = loop_busy();
	assert_true(seen >= began + STOP);
	assert_true(loop_now() >= seen);
	loop_wait(&loop, seen);
	assert_true(loop_now() >= seen);
	loop_wait(&loop, began);
	assert_true(loop_now() >= seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stop_within_turn_does_not_count),
		cmocka_unit_test(loop_that_does_not_sleep_counts_all_time),
	};
	int failed;

	if (loop_init(&loop) < 0)
		return 1;
	failed = cmocka_run_group_tests_name("emu_loop", tests, NULL, NULL);
	loop_fini(&loop);
	return failed;
}
