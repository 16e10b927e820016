// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loop of torusemu. Its clock does not go back, whether the process stops in a turn or waits,
 * and a descriptor whose watch was deleted is not reported any more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
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

static unsigned int readied;

static void note_ready(struct watch *w, u32 events)
{
	(void)w, (void)events;
	readied++;
}

/* Another process has the descriptor too, as it has that of its doorbell. */
static void deleted_watch_does_not_come_back(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC), theirs = dup(fd);
	struct watch w;

	(void)state;
	assert_true(fd >= 0 && theirs >= 0);
	assert_int_equal(loop_add(&loop, &w, fd, EPOLLIN, note_ready), 0);
	loop_del(&loop, &w);
	assert_int_equal(eventfd_write(theirs, 1), 0);
	loop_wait(&loop, loop_now());
	assert_int_equal(readied, 0);
	close(theirs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stop_within_turn_does_not_count),
		cmocka_unit_test(loop_that_does_not_sleep_counts_all_time),
		cmocka_unit_test(deleted_watch_does_not_come_back),
	};
	int failed;

	if (loop_init(&loop) < 0)
		return 1;
	failed = cmocka_run_group_tests_name("emu_loop", tests, NULL, NULL);
	loop_fini(&loop);
	return failed;
}
