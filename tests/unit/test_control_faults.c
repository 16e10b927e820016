// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control socket when system calls fail and memory runs out: no file descriptor and no memory
 * leaks, the client gets an error or is disconnected, and the next one is served as before. And
 * what may be at the path before and after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/answer.h"
#include "daemon/control.h"
#include "tests/unit/calls.h"
#include "tests/unit/clock.h"
#include "tests/unit/control_client.h"
#include "tests/unit/memory.h"

#define MORE 1000	/* more than the requests for memory of any call */

/* Starts another manager with its socket at @name in the test's folder. */
static struct fabricd other_at(const char *name)
{
	struct fabricd other = d;

	snprintf(other.config.control, sizeof(other.config.control), "%s/%s", folder, name);
	return other;
}

static bool is_there(const struct fabricd *other)
{
	struct stat st;

	return !lstat(other->config.control, &st);
}

/* Checks that no manager can listen at this path now, and that the file there stays. */
static void no_control(struct fabricd *other, int want)
{
	unsigned int files = files_open();
	size_t blocks = memory_blocks();
	bool was = is_there(other);
	int err = 0;

	assert_null(control_new(other, &err));
	assert_int_equal(err, want);
	assert_int_equal(files_open(), files);
	assert_int_equal(memory_blocks(), blocks);
	assert_int_equal(is_there(other), was);
}

static void failed_socket_call_is_reported(void **state)
{
	struct fabricd other = other_at("other");
	struct control *control;
	unsigned int n;
	int err;

	(void)state;
	for (n = 1; n < 3; n++) {	/* a socket to look for another daemon, then its own */
		call_gives(CALL_SOCKET, n, -1, ENFILE);
		no_control(&other, -ENFILE);
		assert_true(call_given());
	}
	call_gives(CALL_BIND, 1, -1, EACCES);
	no_control(&other, -EACCES);
	assert_true(call_given());
	call_gives(CALL_LISTEN, 1, -1, EOPNOTSUPP);
	assert_null(control_new(&other, &err));
	assert_int_equal(err, -EOPNOTSUPP);
	assert_true(call_given());
	assert_int_equal(unlink(other.config.control), 0);
	for (n = 1; n < MORE; n++) {
		memory_fails_at(n);
		control = control_new(&other, &err);
		if (!memory_failed())
			break;
		assert_null(control);
		assert_int_equal(err, -ENOMEM);
		memory_fails_at(n);
		no_control(&other, -ENOMEM);
	}
	assert_in_range(n, 3, MORE - 1);
	assert_non_null(control);
	assert_int_equal(err, 0);
	control_free(control);
	assert_false(is_there(&other));
	control_free(NULL);
	control_events(NULL);
}

/* A file at the path that is not a socket belongs to others, and stays. */
static void file_that_is_no_socket_stays(void **state)
{
	struct fabricd other = other_at("file");
	char link[CONFIG_PATH_MAX];
	int fd = open(other.config.control, O_CREAT | O_WRONLY, 0600);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	no_control(&other, -ENOTSOCK);
	strcpy(link, other.config.control);
	other = other_at("link");
	assert_int_equal(symlink(link, other.config.control), 0);
	no_control(&other, -ENOTSOCK);
	unlink(other.config.control);
	other = other_at("file/control");
	no_control(&other, -ENOTDIR);
	unlink(link);
}

/* A socket that was left behind cannot be removed: the manager reports it. */
static void socket_that_cannot_be_removed_is_reported(void **state)
{
	struct fabricd other = other_at("left");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	memcpy(a.sun_path, other.config.control, sizeof(other.config.control));
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	call_gives(CALL_UNLINK, 1, -1, EROFS);
	no_control(&other, -EROFS);
	assert_true(call_given());
	assert_int_equal(unlink(a.sun_path), 0);
}

/* The folder that is made for the socket can be searched by all users. */
static void new_folder_can_be_searched_by_all_users(void **state)
{
	struct fabricd other = other_at("made/control");
	mode_t mask = umask(0);
	struct control *control;
	struct stat st;
	char *slash;
	int err;

	(void)state;
	control = control_new(&other, &err);
	assert_non_null(control);
	assert_int_equal(umask(mask), 0);
	control_free(control);
	slash = strrchr(other.config.control, '/');
	*slash = '\0';
	assert_int_equal(stat(other.config.control, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(rmdir(other.config.control), 0);
}

/* A daemon that listens there but accepts no client, with a full backlog, still counts as alive. */
static void daemon_with_full_backlog_counts_as_alive(void **state)
{
	struct fabricd other = other_at("busy");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), waits[2];

	(void)state;
	memcpy(a.sun_path, other.config.control, sizeof(other.config.control));
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 0), 0);
	no_control(&other, -EADDRINUSE);
	for (unsigned int i = 0; i < 2; i++) {
		waits[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(waits[i], (struct sockaddr *)&a, sizeof(a));
	}
	no_control(&other, -EADDRINUSE);
	for (unsigned int i = 0; i < 2; i++)
		close(waits[i]);
	close(fd);
	unlink(a.sun_path);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* A manager that was started without standard input works with descriptor 0 for any file. */
static void control_works_with_descriptor_0(void **state)
{
	struct fabricd other = other_at("zero");
	int kept = fcntl(0, F_DUPFD_CLOEXEC, 100), err;
	struct control *control;
	struct client c;

	(void)state;
	close(0);
	control = control_new(&other, &err);
	assert_non_null(control);
	assert_true(is_open(0));
	control_free(control);
	assert_false(is_open(0));
	/* A manager that cannot begin closes no file of others. */
	assert_int_equal(open("/dev/null", O_RDONLY), 0);
	no_control(&d, -EADDRINUSE);
	assert_true(is_open(0));
	/* A client that gets descriptor 0 is served. */
	run_due();		/* earlier clients are gone */
	client_open(&c);
	close(0);
	send_text(&c, "{}\n");
	receive_lines(&c, 1);
	assert_int_equal(c.n, 1);
	assert_true(is_open(0));
	client_close(&c);
	run_due();
	assert_false(is_open(0));
	assert_int_equal(dup2(kept, 0), 0);
	close(kept);
}

/* --- clients ----------------------------------------------------------------- */

/* A failed attempt to accept does not delay the next client: the clock stands still. */
static void failed_accept_does_not_delay_next_client(void **state)
{
	static const int passing[] = { EINTR, EAGAIN, ECONNABORTED };
	struct client c;

	(void)state;
	clock_stop();
	for (unsigned int i = 0; i < 3; i++) {
		client_open(&c);
		call_gives(CALL_ACCEPT, 1, -1, passing[i]);
		send_text(&c, "{}\n");
		receive_lines(&c, 1);
		assert_true(call_given());
		assert_int_equal(c.n, 1);
		client_close(&c);
	}
	clock_go();
}

/*
 * Any of a client's requests for memory fails: it gets its answer, or an error that memory has run
 * out, or the connection ends.
 */
static void failed_allocation_is_answered_or_ends_connection(void **state)
{
	static const char *const asks[] = {
		"{\"cmd\":\"status\"}\n", "{\"cmd\":\"nodes\"}\n", "{}\n", "not JSON\n",
		"{\"cmd\":\"events\",\"follow\":true}\n",
	};
	unsigned int reported, ended, answered, n;
	struct client c;
	bool failed;

	(void)state;
	add(1);
	run_due();
	for (unsigned int i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		reported = ended = answered = 0;
		failed = true;
		for (n = 1; failed && n < MORE; n++) {
			unsigned int files = files_open();
			size_t blocks = memory_blocks();

			client_open(&c);
			stream_send(c.stream, asks[i], strlen(asks[i]));
			memory_fails_at(n);
			run_due();
			failed = memory_failed();
			run_due();
			reported += c.n && strstr(c.line[0], "memory") != NULL;
			ended += c.closed;
			answered += c.n == 1;
			client_close(&c);
			run_due();
			assert_int_equal(files_open(), files);
			assert_int_equal(memory_blocks(), blocks);
		}
		assert_in_range(n, 5, MORE - 1);
		assert_true(ended >= 3 && answered >= 1 && reported <= answered);
	}
	expect("{}", "cmd is missing");
}

/* --- answers ----------------------------------------------------------------- */

void __real_answer_begin(struct request *rq);
void __wrap_answer_begin(struct request *rq);

static const char *answer;
static bool is_slow;
static struct request *at_work;

/* Replaces the answer that a request would get, if the test has one, or lets it wait. */
void __wrap_answer_begin(struct request *rq)
{
	if (is_slow) {
		assert_null(at_work);	/* one request of a client at a time */
		at_work = rq;
		return;
	}
	if (!answer) {
		__real_answer_begin(rq);
		return;
	}
	rq->reply(rq->arg, answer);
	answer_drop(rq);
}

/* An answer that is longer than the limit, up to which clients read, becomes an error. */
static void answer_beyond_limit_becomes_error(void **state)
{
	char *line = malloc(CONTROL_REPLY_MAX + 2);
	struct client c;

	(void)state;
	assert_non_null(line);
	memset(line, 'x', CONTROL_REPLY_MAX + 1);
	line[CONTROL_REPLY_MAX + 1] = '\0';
	client_open(&c);
	answer = line + 1;
	send_text(&c, "{}\n");
	receive_lines(&c, 1);
	assert_int_equal(c.n, 1);
	assert_int_equal(strlen(c.line[0]), CONTROL_REPLY_MAX);
	answer = line;
	send_text(&c, "{}\n");
	receive_lines(&c, 2);
	assert_int_equal(c.n, 2);
	assert_non_null(strstr(c.line[1], "\"code\":\"failed\""));
	assert_non_null(strstr(c.line[1], "the reply is longer than 16 MiB: ask for one node"));
	/* This does not disturb the client's next request. */
	answer = NULL;
	send_text(&c, "{}\n");
	receive_lines(&c, 3);
	assert_int_equal(c.n, 3);
	client_close(&c);
	free(line);
}

/*
 * A follower sends two requests while it has not read all events. When it has read them, the first
 * request is still at work, so the second one waits.
 */
static void slow_follower_gets_answers_after_events(void **state)
{
	unsigned int i = 0;
	struct client c;

	(void)state;
	client_open(&c);
	send_text(&c, "{\"cmd\":\"events\",\"follow\":true}\n");
	add(1);
	receive_lines(&c, 1);
	stream_hold(c.stream, true);
	add(600);	/* more than the socket has room for */
	is_slow = true;
	send_text(&c, "{\"cmd\":\"nodes\"}\n{}\n");
	run_due();
	assert_non_null(at_work);
	stream_hold(c.stream, false);
	run_due();
	assert_true(c.n > 1);
	is_slow = false;
	at_work->reply(at_work->arg, "first");
	answer_drop(at_work);
	at_work = NULL;
	for (receive_lines(&c, 1); strstr(c.line[i], "\"more\":true"); receive_lines(&c, i + 1))
		i++;
	receive_lines(&c, i + 2);
	assert_string_equal(c.line[i], "first");
	assert_non_null(strstr(c.line[i + 1], "cmd is missing"));
	client_close(&c);
}

/* The next client is served as soon as it comes, whatever failed before. */
static void next_client_is_served_after_any_failure(void **state)
{
	struct client c;

	(void)state;
	run_due();
	clock_stop();
	for (unsigned int i = 0; i < 3; i++) {
		client_open(&c);
		send_text(&c, "{}\n");
		errno = ENFILE;
		run_due();
		assert_int_equal(c.n, 1);
		client_close(&c);
	}
	clock_go();
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(failed_socket_call_is_reported),
		cmocka_unit_test(file_that_is_no_socket_stays),
		cmocka_unit_test(socket_that_cannot_be_removed_is_reported),
		cmocka_unit_test(new_folder_can_be_searched_by_all_users),
		cmocka_unit_test(daemon_with_full_backlog_counts_as_alive),
		cmocka_unit_test(control_works_with_descriptor_0),
		cmocka_unit_test(failed_accept_does_not_delay_next_client),
		cmocka_unit_test(failed_allocation_is_answered_or_ends_connection),
		cmocka_unit_test(answer_beyond_limit_becomes_error),
		cmocka_unit_test(slow_follower_gets_answers_after_events),
		cmocka_unit_test(next_client_is_served_after_any_failure),
	};

	return cmocka_run_group_tests(t, control_setup, control_teardown);
}
