// SPDX-License-Identifier: GPL-2.0-only
/* The clock of NICs that get no processor time: it stands still, and never goes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernel/host/clock.h"
#include "lib/util/times.h"
#include "random.h"

#define MOST TORUS_HOST_STALL_MAX

/* A turn runs 3 s after it was due: the clock counts MOST of that. */
static void clock_counts_most_of_late_turn(void **state)
{
	struct torus_host_clock c = { 0 };

	(void)state;
	assert_int_equal(torus_host_clock_woke(&c, 5 * SEC, 0), 5 * SEC);
	assert_int_equal(torus_host_clock_woke(&c, 6 * SEC, 6 * SEC), 6 * SEC);
	assert_int_equal(torus_host_clock_woke(&c, 10 * SEC, 7 * SEC), 7 * SEC + MOST);
	assert_int_equal(torus_host_clock(&c, 10 * SEC, 8 * SEC), 7 * SEC + MOST);
	assert_int_equal(torus_host_clock(&c, 11 * SEC, 8 * SEC), 8 * SEC + MOST);
	/* The clock goes on from there. */
	assert_int_equal(torus_host_clock_woke(&c, 11 * SEC, 8 * SEC + MOST), 8 * SEC + MOST);
	assert_int_equal(torus_host_clock_woke(&c, 12 * SEC, 8 * SEC + MOST), 8 * SEC + 2 * MOST);
}

/* A command that comes while a turn is late reads the time at which that turn will begin. */
static void command_in_late_turn_reads_time_of_turn(void **state)
{
	struct torus_host_clock c = { 0 };

	(void)state;
	assert_int_equal(torus_host_clock(&c, 4 * SEC, 0), 4 * SEC);
	assert_int_equal(torus_host_clock_woke(&c, 5 * SEC, ~0ull), 5 * SEC);
	assert_int_equal(torus_host_clock(&c, 5 * SEC + 50 * MS, 5 * SEC + 100 * MS),
			 5 * SEC + 50 * MS);
	assert_int_equal(torus_host_clock(&c, 10 * SEC, 5 * SEC + 100 * MS),
			 5 * SEC + 100 * MS + MOST);
	assert_int_equal(torus_host_clock_woke(&c, 11 * SEC, 5 * SEC + 100 * MS),
			 5 * SEC + 100 * MS + MOST);
}

/* A turn is due earlier than the clock is: the clock stays at the time that it has told. */
static void clock_never_goes_back(void **state)
{
	struct torus_host_clock c = { 0 };

	(void)state;
	torus_host_clock_woke(&c, 5 * SEC, ~0ull);
	assert_int_equal(torus_host_clock(&c, 6 * SEC, ~0ull), 6 * SEC);
	assert_int_equal(torus_host_clock(&c, 7 * SEC, 5 * SEC + MS), 6 * SEC);
	assert_int_equal(torus_host_clock_woke(&c, 7 * SEC, 5 * SEC + MS), 6 * SEC);
	assert_int_equal(torus_host_clock(&c, 7 * SEC + MS, 5 * SEC + MS), 6 * SEC + MS);
}

/* A small delay of a turn is counted in full, and so is any time before the turn is due. */
static void small_delay_of_turn_is_counted_in_full(void **state)
{
	struct torus_host_clock c = { 0 };

	(void)state;
	/* this is the first turn */
	assert_int_equal(torus_host_clock_woke(&c, 5 * SEC, 1 * SEC), 5 * SEC);
	assert_int_equal(torus_host_clock_woke(&c, 6 * SEC + MOST, 6 * SEC), 6 * SEC + MOST);
	assert_int_equal(torus_host_clock_woke(&c, 8 * SEC, 9 * SEC), 8 * SEC);
	assert_int_equal(torus_host_clock_woke(&c, 50 * SEC, ~0ull), 50 * SEC);
	/* A turn that was due before the last one began waited for the end of that one. */
	assert_int_equal(torus_host_clock_woke(&c, 50 * SEC + MOST, 20 * SEC), 50 * SEC + MOST);
	assert_int_equal(c.stood, 0);
}

/* A turn counts all its time, but at most MOST of a delay, whatever is due. */
static void delay_of_turn_counts_up_to_limit(void **state)
{
	struct torus_host_clock c = { 0 };
	uint64_t random = 1, machine = SEC, is = torus_host_clock_woke(&c, machine, 0);

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t due = is + random_below(&random, 100) * MS;
		uint64_t step = random_below(&random, 200) * MS, now;

		machine += step;
		now = torus_host_clock_woke(&c, machine, due);
		assert_true(now == is + step || now == due + MOST);
		assert_true(now - is <= step && now <= due + MOST);
		is = now;
	}
	assert_true(c.stood);
}

/* Return: when a turn is due, which may be over, or never. */
static uint64_t any_due(uint64_t *random, uint64_t now)
{
	return random_below(random, 10) ? now - 50 * MS + random_below(random, 150) * MS : ~0ull;
}

/* Read at any time, before, in and after turns, the clock does not go back, nor is it too fast. */
static void clock_does_not_go_back_or_run_too_fast(void **state)
{
	struct torus_host_clock c = { 0 };
	uint64_t random = 1, machine = SEC, due = 0, last = torus_host_clock_woke(&c, machine, 0);
	unsigned int turn = 0, limited = 0;

	(void)state;
	for (unsigned int i = 0; i < 300000; i++) {
		uint64_t stood = c.stood, now;

		machine += random_below(&random, 200) * MS;
		if (random_below(&random, 3)) {
			now = torus_host_clock(&c, machine, due);
			assert_int_equal(c.stood, stood);
			limited += now < machine - stood;
		} else {
			now = torus_host_clock_woke(&c, machine, due);
			assert_int_equal(now, machine - c.stood);
			turn++;
			if (random_below(&random, 2)) {		/* time is read within the turn */
				machine += random_below(&random, 200) * MS;
				now = torus_host_clock(&c, machine, due);
			}
			due = any_due(&random, now);
		}
		assert_true(now >= last && now <= machine - stood && c.stood >= stood);
		last = now;
	}
	assert_true(turn > 1000 && limited > 1000 && c.stood);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(clock_counts_most_of_late_turn),
		cmocka_unit_test(command_in_late_turn_reads_time_of_turn),
		cmocka_unit_test(clock_never_goes_back),
		cmocka_unit_test(small_delay_of_turn_is_counted_in_full),
		cmocka_unit_test(delay_of_turn_counts_up_to_limit),
		cmocka_unit_test(clock_does_not_go_back_or_run_too_fast),
	};

	return cmocka_run_group_tests_name("host_clock", all, NULL, NULL);
}
