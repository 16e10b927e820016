// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeping a table on a disk that hangs or fails: that is reported, nothing waits for it, and the
 * latest table is kept once the disk works.
 */
#include "state_disk.h"

static bool writing(void)
{
	return syncs > 0;
}

/*
 * A state that comes while the disk hangs replaces the one that waits; when it works again, the
 * last one is kept.
 */
static void last_state_is_kept_when_hanging_disk_works_again(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);

	(void)state;
	hangs = 1;
	state_save(s, GUID, table(5));
	wait_until(writing);
	for (uint64_t version = 6; version <= 9; version++)
		state_save(s, GUID, table(version));
	assert_int_equal(kept(), 0);
	assert_int_equal(kept_version, 0);
	hangs = 0;
	wait_until(is_kept);
	assert_in_range(syncs, 2, 4);	/* the first state and the last one are written */
	wait_until(is_last_kept);
	assert_true(kept_ok);
	state_free(s);
}

/*
 * A first table is on the disk, and a second was given before the loop learned of that: nothing is
 * reported as kept until the second is on the disk.
 */
static void state_given_as_another_ends_is_reported_when_kept(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);
	uint64_t end;

	(void)state;
	state_save(s, GUID, table(8));
	while (kept() != 8 || syncs < 2)
		usleep(500);
	usleep(20000);
	sleeps = 1;
	state_save(s, GUID, table(9));
	end = loop_now() + 50 * MS;
	while (loop_now() < end)
		wait_until(writing);
	assert_int_equal(kept_version, 0);
	wake();
	wait_until(is_last_kept);
	assert_true(kept_ok);
	assert_int_equal(kept(), 9);
	state_free(s);
}

static struct state *slow;
static uint64_t next_version, started;

/* Gives a table each half second. Return: true if a problem was reported, or 60 s have passed. */
static bool is_slowness_reported(void)
{
	state_save(slow, GUID, table(next_version++));
	clock_move(SEC / 2);
	return error_text[0] || loop_now() > started + 60 * SEC;
}

static bool is_version_30(void)
{
	is_slowness_reported();
	return next_version == 30;
}

static bool is_over(void)
{
	return !error_text[0];
}

/* A disk that hangs is reported, once, after 5 s, however many tables come meanwhile. */
static void disk_that_hangs_is_reported_once_after_5_s(void **state)
{
	(void)state;
	slow = state_new(loop, dir, "lab", &ops, NULL);
	state_save(slow, GUID, table(9));
	wait_until(is_last_kept);
	syncs = 0;
	hangs = 1;
	state_save(slow, GUID, table(1));
	wait_until(writing);
	clock_stop();
	started = loop_now();
	next_version = 2;
	wait_until(is_slowness_reported);
	assert_non_null(strstr(error_text, "takes more than 5 s"));
	assert_in_range(loop_now() - started, 5 * SEC - SEC / 2, 6 * SEC);
	error_text[0] = '\0';
	next_version = 2;
	wait_until(is_version_30);
	assert_string_equal(error_text, "");
	state_save(slow, GUID, table(9));
	strcpy(error_text, "not over");
	clock_go();
	hangs = 0;
	wait_until(is_over);
	assert_int_equal(nerrors, 2);
	assert_int_equal(kept(), 9);
	state_free(slow);
}

/* The last state is written before the end. */
static void end_at_once_keeps_state(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);

	(void)state;
	state_save(s, GUID, table(9));
	state_free(s);
	assert_int_equal(kept(), 9);
}

static int lowest;	/* descriptor that was free before state_new() */

/* The thread has ended, and freed all. */
static bool is_all_closed(void)
{
	return fcntl(lowest, F_GETFD) < 0;
}

/* The daemon ends although the disk does not answer. */
static void end_does_not_wait_for_hanging_disk(void **state)
{
	uint64_t began;
	struct state *s;

	(void)state;
	lowest = dup(0);
	close(lowest);
	s = state_new(loop, dir, "lab", &ops, NULL);
	hangs = 1;
	state_save(s, GUID, table(8));
	wait_until(writing);
	state_save(s, GUID, table(9));
	began = loop_now();
	state_free(s);
	assert_in_range(loop_now() - began, SEC / 2, 10 * SEC);
	hangs = 0;
	wait_until(is_kept);
	wait_until(is_all_closed);
}

static bool is_reported(void)
{
	return error_text[0];
}

static void disk_that_fails_is_reported(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);
	char beside[140];

	(void)state;
	fails = ENOSPC;
	close_fails = EDQUOT;	/* the first of the two errors is reported */
	state_save(s, GUID, table(8));
	wait_until(is_reported);
	assert_non_null(strstr(error_text, "No space left on device"));
	assert_non_null(strstr(error_text, dir));
	snprintf(beside, sizeof(beside), "%s.new", path);
	assert_int_not_equal(access(beside, F_OK), 0);
	assert_int_equal(kept_version, 8);
	assert_false(kept_ok);
	fails = 0;
	state_save(s, GUID, table(9));
	wait_until(is_over);
	wait_until(is_last_kept);
	assert_true(kept_ok);
	assert_int_equal(nerrors, 2);
	assert_int_equal(kept(), 9);
	state_free(s);
}

/*
 * The file is on the disk, but its new name is not yet: after a power failure there may be the old
 * one.
 */
static void directory_that_fails_is_reported(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);

	(void)state;
	dir_fails = EIO;
	state_save(s, GUID, table(9));
	wait_until(is_last_kept);
	assert_false(kept_ok);
	assert_non_null(strstr(error_text, "Input/output error"));
	state_free(s);
}

static bool is_kept_in_time(void)
{
	if (!is_kept() && loop_now() < started + 300 * SEC)
		clock_move(SEC / 2);
	return is_kept();
}

/* A state that could not be written is tried again after 30 s, though no other comes. */
static void failed_state_is_written_again_after_30_s(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);

	(void)state;
	fails = EIO;
	state_save(s, GUID, table(9));
	wait_until(is_reported);
	fails = 0;
	clock_stop();
	started = loop_now();
	wait_until(is_kept_in_time);
	assert_true(loop_now() - started >= 29 * SEC);
	wait_until(is_last_kept);
	clock_go();
	state_free(s);
}

/* The file is written, but cannot be closed, or its name is taken: it is not left beside. */
static void file_that_cannot_be_written_whole_is_removed(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);
	char beside[140], within[140];

	(void)state;
	snprintf(beside, sizeof(beside), "%s.new", path);
	snprintf(within, sizeof(within), "%s/x", path);
	close_fails = EDQUOT;
	state_save(s, GUID, table(8));
	wait_until(is_reported);
	assert_non_null(strstr(error_text, "Disk quota exceeded"));
	assert_int_equal(kept(), 0);
	assert_int_not_equal(access(beside, F_OK), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(mkdir(within, 0700), 0);
	error_text[0] = '\0';
	state_save(s, GUID, table(8));
	wait_until(is_reported);
	assert_non_null(strstr(error_text, "irectory"));
	assert_false(kept_ok);
	assert_int_not_equal(access(beside, F_OK), 0);
	rmdir(within);
	rmdir(path);
	state_save(s, GUID, table(9));
	wait_until(is_kept);
	state_free(s);
}

static void missing_directory_is_reported(void **state)
{
	struct state *s = state_new(loop, "/proc/no/such", "lab", &ops, NULL);

	(void)state;
	state_save(s, GUID, table(9));
	wait_until(is_reported);
	assert_non_null(strstr(error_text, "/proc/no/such: No such file or directory"));
	state_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(last_state_is_kept_when_hanging_disk_works_again),
		TEST(state_given_as_another_ends_is_reported_when_kept),
		TEST(disk_that_hangs_is_reported_once_after_5_s),
		TEST(end_at_once_keeps_state),
		TEST(end_does_not_wait_for_hanging_disk),
		TEST(disk_that_fails_is_reported),
		TEST(directory_that_fails_is_reported),
		TEST(failed_state_is_written_again_after_30_s),
		TEST(file_that_cannot_be_written_whole_is_removed),
		TEST(missing_directory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
