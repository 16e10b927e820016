// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delayed frames: they keep their order, are sent in time, and their number and memory are
 * bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernel/host/fault.h"

static struct torus_host_late frame[TORUS_HOST_LATE_MAX + 2];

/* Return: the number of the frame that is due; -1: none. */
static int due(struct torus_host_fault *f, u64 now)
{
	struct torus_host_late *late = torus_host_due(f, now);

	return late ? (int)(late - frame) : -1;
}

static void delayed_frames_come_after_latency_in_order(void **state)
{
	struct torus_host_fault f = { .latency = 0 };

	(void)state;
	assert_false(torus_host_delays(&f));
	assert_true(torus_host_fault_expiry(&f) == ~0ull);
	assert_int_equal(due(&f, ~0ull), -1);
	f.latency = 100;
	assert_true(torus_host_delays(&f));
	assert_true(torus_host_delay(&f, &frame[1], 1, 1000));
	assert_true(torus_host_delay(&f, &frame[2], 1, 1050));
	assert_int_equal(torus_host_fault_expiry(&f), 1100);
	assert_int_equal(due(&f, 1099), -1);
	assert_int_equal(due(&f, 1100), 1);
	assert_int_equal(due(&f, 1100), -1);
	assert_int_equal(torus_host_fault_expiry(&f), 1150);
	/* Frames without latency do not overtake those that had some. */
	f.latency = 0;
	assert_true(torus_host_delays(&f));
	assert_true(torus_host_delay(&f, &frame[3], 1, 1060));
	assert_int_equal(torus_host_fault_expiry(&f), 1150);
	assert_int_equal(due(&f, 1149), -1);
	assert_int_equal(due(&f, 2000), 2);
	assert_int_equal(torus_host_fault_expiry(&f), 1060);
	assert_int_equal(due(&f, 2000), 3);
	assert_false(torus_host_delays(&f));
	assert_true(torus_host_fault_expiry(&f) == ~0ull);
	/* The same holds after all frames were taken. */
	assert_true(torus_host_delay(&f, &frame[4], 1, 3000));
	assert_int_equal(due(&f, ~0ull), 4);
	assert_int_equal(due(&f, ~0ull), -1);
}

/*
 * Frames for which there is no room are lost, as on a wire; frames that are delayed already are
 * not.
 */
static void frames_beyond_limit_of_delay_line_are_lost(void **state)
{
	struct torus_host_fault f = { .latency = 1 };
	int n;

	(void)state;
	for (n = 0; n < TORUS_HOST_LATE_MAX + 2; n++)
		assert_int_equal(torus_host_delay(&f, &frame[n], 1, (u64)n),
				 n < TORUS_HOST_LATE_MAX);
	assert_int_equal(due(&f, 1), 0);
	assert_true(torus_host_delay(&f, &frame[n - 1], 1, 5000));
	assert_false(torus_host_delay(&f, &frame[0], 1, 5000));
	for (n = 1; n < TORUS_HOST_LATE_MAX; n++)
		assert_int_equal(due(&f, ~0ull), n);
	assert_int_equal(due(&f, ~0ull), TORUS_HOST_LATE_MAX + 1);
	assert_int_equal(due(&f, ~0ull), -1);
}

/* The same of frames that hold much memory, to the byte; a frame gives back what it held. */
static void frames_beyond_bytes_of_delay_line_are_lost(void **state)
{
	struct torus_host_fault f = { .latency = 1 };
	u32 half = TORUS_HOST_LATE_BYTES / 2;

	(void)state;
	assert_false(torus_host_delay(&f, &frame[0], TORUS_HOST_LATE_BYTES + 1, 0));
	assert_false(torus_host_delay(&f, &frame[0], ~0u, 0));
	assert_true(torus_host_delay(&f, &frame[0], half, 0));
	assert_false(torus_host_delay(&f, &frame[1], half + 1, 0));
	assert_true(torus_host_delay(&f, &frame[1], half, 0));
	assert_false(torus_host_delay(&f, &frame[2], 1, 0));
	assert_int_equal(due(&f, 1), 0);
	assert_false(torus_host_delay(&f, &frame[2], half + 1, 0));
	assert_true(torus_host_delay(&f, &frame[2], half, 0));
	assert_int_equal(due(&f, ~0ull), 1);
	assert_int_equal(due(&f, ~0ull), 2);
	assert_true(torus_host_delay(&f, &frame[3], TORUS_HOST_LATE_BYTES, 0));
	assert_int_equal(due(&f, ~0ull), 3);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(delayed_frames_come_after_latency_in_order),
		cmocka_unit_test(frames_beyond_limit_of_delay_line_are_lost),
		cmocka_unit_test(frames_beyond_bytes_of_delay_line_are_lost),
	};

	return cmocka_run_group_tests_name("host_fault", all, NULL, NULL);
}
