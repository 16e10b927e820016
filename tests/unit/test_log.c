// SPDX-License-Identifier: GPL-2.0-only
/* The log: which lines are written at which level, how often, and while its reader is blocked. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/log.h"
#include "daemon/loop.h"

#define LINES 4000		/* far more lines than are kept */

static int reader, saved;

/* Makes standard error a pipe from now on. */
static void listen_to_log(void)
{
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	assert_int_equal(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
	reader = fd[0];
	saved = dup(2);
	dup2(fd[1], 2);
	close(fd[1]);
}

static void stop_listening(void)
{
	dup2(saved, 2);
	close(saved);
	close(reader);
}

/* Return: all that is in the pipe, with a NUL; the caller frees it. */
static char *read_pipe(void)
{
	char *text = calloc(1, 1 << 20);
	size_t n = 0;
	ssize_t got;

	assert_non_null(text);
	while ((got = read(reader, text + n, (1 << 20) - 1 - n)) > 0)
		n += (size_t)got;
	return text;
}

static void only_lines_up_to_level_are_written(void **state)
{
	static const char *const name[] = { "error", "warning", "info", "debug" };
	char line[64], *text;
	enum fm_level is;

	(void)state;
	listen_to_log();
	for (enum fm_level least = FM_ERROR; least <= FM_DEBUG; least++) {
		assert_int_equal(log_level_parse(name[least], &is), 0);
		assert_int_equal(is, least);
		assert_string_equal(log_level_name(least), name[least]);
		log_level_set(least);
		for (enum fm_level level = FM_ERROR; level <= FM_DEBUG; level++) {
			log_printf(level, "test", "printed %d", 7);
			log_line(level, "test", "told");
			snprintf(line, sizeof(line), "fabricd: %s: test: printed 7\n"
				 "fabricd: %s: test: told\n", name[level], name[level]);
			text = read_pipe();
			assert_string_equal(text, level <= least ? line : "");
			free(text);
		}
	}
	assert_int_not_equal(log_level_parse("loud", &is), 0);
	log_level_set(FM_ERROR);
	stop_listening();
}

/* At most one line is written per @every, exact to the nanosecond; the others are counted. */
static void one_line_per_interval_is_written(void **state)
{
	struct log_limit l = { .every = 10 };
	uint64_t skipped = 99;

	(void)state;
	assert_true(log_allowed(&l, 5, &skipped));
	assert_int_equal(skipped, 0);
	for (uint64_t now = 5; now < 15; now++)
		assert_false(log_allowed(&l, now, &skipped));
	assert_true(log_allowed(&l, 15, &skipped));
	assert_int_equal(skipped, 10);
	assert_true(log_allowed(&l, 25, &skipped));
	assert_int_equal(skipped, 0);
	assert_false(log_allowed(&l, 34, &skipped));
	assert_true(log_allowed(&l, 1000, &skipped));
	assert_int_equal(skipped, 1);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	(void)fd;
	(void)msg;
	(void)flags;
	errno = EAGAIN;
	return -1;
}

/* Lines for which the journal's socket has no room go to its stream, with their priority. */
static void line_without_room_in_journal_goes_to_stream(void **state)
{
	char stream[64], *text;
	struct stat st;

	(void)state;
	listen_to_log();
	assert_int_equal(fstat(2, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_open(NULL);
	log_line(FM_ERROR, "test", "told");
	text = read_pipe();
	unsetenv("JOURNAL_STREAM");
	log_open(NULL);
	stop_listening();
	assert_string_equal(text, "<3>fabricd: error: test: told\n");
	free(text);
}

static void write_line(unsigned int n)
{
	log_error("test", "line %u of a log that nobody reads for a while", n);
}

/*
 * Logging does not wait for a blocked reader. Later all kept lines arrive complete and in order, 64
 * KiB of them in addition to those in the pipe, and the number of lines that were not kept.
 */
static void log_does_not_wait_for_blocked_reader(void **state)
{
	static char all[1 << 20];
	unsigned int next = 0, kept = 0, dropped = 0, n;
	char *text, *line, *rest = all;
	size_t bytes = 0;

	(void)state;
	listen_to_log();
	assert_int_equal(fcntl(reader, F_SETPIPE_SZ, 65536), 65536);
	for (n = 0; n < LINES; n++)
		write_line(n);
	for (; n < LINES + 4; n++) {
		text = read_pipe();
		strcat(all, text);
		free(text);
		write_line(n);
	}
	stop_listening();
	while ((line = strsep(&rest, "\n")) && *line) {
		unsigned int is;

		if (sscanf(line, "fabricd: warning: log: %u lines dropped", &dropped) == 1)
			continue;
		assert_int_equal(sscanf(line, "fabricd: error: test: line %u of", &is), 1);
		assert_non_null(strstr(line, "reads for a while"));
		if (is == LINES && !kept) {
			kept = next;
			next = LINES;
		}
		assert_int_equal(is, next++);
		bytes += kept ? 0 : strlen(line) + 1;
	}
	assert_int_equal(next, LINES + 3);
	assert_int_equal(dropped, LINES - kept);
	assert_true(bytes > 2 * 65536 - 4096 - 2048 && bytes <= 2 * 65536);
}

/* Says @n lines of 512 bytes. */
static void log_512(unsigned int n)
{
	char text[490];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	while (n--)
		log_error("test", "%s", text);
}

/* The buffer keeps exactly as many lines that the pipe does not take as fit in. */
static void buffer_keeps_as_many_lines_as_fit(void **state)
{
	unsigned int lines[5] = { 0 }, sum = 0, dropped = 0;

	(void)state;
	listen_to_log();
	log_512(400);
	for (unsigned int i = 0; i < 5; i++) {
		char *text = read_pipe(), *rest = text, *line;

		while ((line = strsep(&rest, "\n")) && *line)
			if (sscanf(line, "fabricd: warning: log: %u lines dropped", &dropped) != 1)
				lines[i] += strlen(line) == 511;
		free(text);
		sum += lines[i];
		log_512(i < 4);
	}
	stop_listening();
	assert_in_range(lines[0], 1, 200);
	assert_int_equal(sum, lines[0] + 65536 / 512 + 4);
	assert_int_equal(dropped, 400 + 4 - sum);
}

/* A line that is too long is cut, and ends as any other. */
static void too_long_line_is_cut(void **state)
{
	char text[2000], *line;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	listen_to_log();
	log_line(FM_ERROR, "test", text);
	line = read_pipe();
	stop_listening();
	assert_int_equal(strlen(line), 1023);
	assert_ptr_equal(strchr(line, '\n'), line + 1022);
	free(line);
}

/* Closing the log drops the lines that it kept; a line logged afterwards is written. */
static void closing_log_drops_kept_lines(void **state)
{
	char *line;

	(void)state;
	listen_to_log();
	assert_int_equal(fcntl(reader, F_SETPIPE_SZ, 4096), 4096);
	for (unsigned int n = 0; n < 100; n++)
		write_line(n);
	log_close();
	free(read_pipe());
	write_line(100);
	line = read_pipe();
	stop_listening();
	assert_string_equal(line,
			    "fabricd: error: test: line 100 of a log that nobody reads for a "
			    "while\n");
	free(line);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(only_lines_up_to_level_are_written),
		cmocka_unit_test(one_line_per_interval_is_written),
		cmocka_unit_test(line_without_room_in_journal_goes_to_stream),
		cmocka_unit_test(log_does_not_wait_for_blocked_reader),
		cmocka_unit_test(buffer_keeps_as_many_lines_as_fit),
		cmocka_unit_test(too_long_line_is_cut),
		cmocka_unit_test(closing_log_drops_kept_lines),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
