// SPDX-License-Identifier: GPL-2.0-only
/*
 * The service network when system calls fail and memory runs out: the call fails as documented, no
 * file descriptor and no memory leaks, and all others are served as before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/address.h"
#include "daemon/frame.h"
#include "tests/unit/calls.h"
#include "tests/unit/clock.h"
#include "tests/unit/memory.h"
#include "tests/unit/svc_ends.h"

#define MORE 1000	/* more than the requests for memory of any call */

static const struct svc_ops none;

static struct svc *service(const char *address, int *err)
{
	struct svc_config c = { .user_timeout_ms = USER_TIMEOUT_MS, .auth = &a.auth, .oldest = 5,
				.newest = 6,
				.address = address };

	return svc_new(loop, &c, &none, &a, err);
}

/* --- its own sockets --------------------------------------------------------- */

/* Checks that no service can be made with this address, or while a call fails. */
static void no_service(const char *address, int want)
{
	unsigned int files = files_open();
	size_t blocks = memory_blocks();
	int err = 0;

	assert_null(service(address, &err));
	assert_int_equal(err, want);
	assert_int_equal(files_open(), files);
	assert_int_equal(memory_blocks(), blocks);
}

/* Sets @address to a free port of this machine, which no other program can take from now on. */
static void free_address(char *address)
{
	end_open(&b, HERE, "green", "n1", KEY_A);
	strcpy(address, b.address);
	end_close(&b);
}

static void failed_listening_is_reported(void **state)
{
	char address[FM_ADDR_MAX];
	struct svc *svc;
	unsigned int n;
	int err;

	(void)state;
	end_auth(&a, "green", "n0", KEY_A);
	free_address(address);
	no_service("nowhere", -EINVAL);
	call_gives(CALL_SOCKET, 1, -1, EMFILE);
	no_service(address, -EMFILE);
	call_gives(CALL_BIND, 1, -1, EACCES);
	no_service(address, -EACCES);
	call_gives(CALL_LISTEN, 1, -1, EADDRINUSE);
	no_service(address, -EADDRINUSE);
	assert_true(call_given());
	for (n = 1; n < MORE; n++) {
		memory_fails_at(n);
		svc = service(address, &err);
		if (!memory_failed())
			break;
		assert_null(svc);
		assert_int_equal(err, -ENOMEM);
		memory_fails_at(n);
		no_service(address, -ENOMEM);
	}
	assert_in_range(n, 4, MORE - 1);
	assert_non_null(svc);
	assert_int_equal(err, 0);
	svc_free(svc);
	auth_close(&a.auth);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* A manager that was started without standard input may get descriptor 0 for any file. */
static void service_works_with_descriptor_0(void **state)
{
	int kept = fcntl(0, F_DUPFD_CLOEXEC, 100);

	(void)state;
	assert_true(kept >= 100);
	close(0);
	end_open(&b, HERE, "green", "n1", KEY_A);
	assert_true(is_open(0));
	end_close(&b);
	assert_false(is_open(0));
	/* A manager that cannot begin closes no file of others. */
	end_auth(&a, "green", "n0", KEY_A);
	assert_int_equal(open("/dev/null", O_RDONLY), 0);
	no_service("nowhere", -EINVAL);
	assert_true(is_open(0));
	auth_close(&a.auth);
	close(0);
	assert_int_equal(dup2(kept, 0), 0);
	/* A connection to a peer, then one from a peer. */
	for (unsigned int i = 0; i < 2; i++) {
		end_open(&a, HERE, "green", "n0", KEY_A);
		end_open(&b, HERE, "green", "n1", KEY_A);
		if (!i)
			close(0);
		assert_true(svc_connect(a.svc, b.address) > 0);
		if (i)
			close(0);
		run_until(both_up);
		assert_true(is_open(0));
		end_close(&a);
		end_close(&b);
		assert_false(is_open(0));
		assert_int_equal(dup2(kept, 0), 0);
	}
	close(kept);
}

/* A manager that restarts gets its port at once, although its peers' connections linger. */
static void restarted_service_gets_its_port_at_once(void **state)
{
	char address[FM_ADDR_MAX];
	struct svc *svc;
	int err;

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	strcpy(address, b.address);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	end_close(&b);		/* the end that closes first keeps the port for a while */
	run_until(a_down);
	svc = service(address, &err);
	assert_non_null(svc);
	svc_free(svc);
	end_close(&a);
}

/* The manager can listen on an address that this machine gets only later. */
static void address_to_come_may_be_listened_on(void **state)
{
	struct svc *svc;
	int err;

	(void)state;
	end_auth(&a, "green", "n0", KEY_A);
	svc = service("203.0.113.77:4799", &err);
	assert_non_null(svc);
	svc_free(svc);
	auth_close(&a.auth);
}

/* --- to a peer ----------------------------------------------------------------- */

static void no_connection(int want)
{
	unsigned int files = files_open();
	size_t blocks = memory_blocks();

	assert_int_equal(svc_connect(a.svc, b.address), want);
	assert_int_equal(files_open(), files);
	assert_int_equal(memory_blocks(), blocks);
}

static void failed_connecting_is_reported(void **state)
{
	unsigned int connects, n;
	int conn = 0;

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	call_gives(CALL_SOCKET, 1, -1, ENFILE);
	no_connection(-ENFILE);
	/*
	 * The manager connects only from its own address, because the peer would not accept another
	 * one.
	 */
	connects = calls_made(CALL_CONNECT);
	call_gives(CALL_BIND, 1, -1, EADDRNOTAVAIL);
	no_connection(-EADDRNOTAVAIL);
	assert_int_equal(calls_made(CALL_CONNECT), connects);
	call_gives(CALL_CONNECT, 1, -1, ENETUNREACH);
	no_connection(-ENETUNREACH);
	assert_true(call_given());
	for (n = 1; n < MORE && !conn; n++) {
		unsigned int files = files_open();
		size_t blocks = memory_blocks();

		memory_fails_at(n);
		conn = svc_connect(a.svc, b.address);
		if (memory_failed()) {
			assert_int_equal(conn, -ENOMEM);
			assert_int_equal(files_open(), files);
			assert_int_equal(memory_blocks(), blocks);
			conn = 0;
		}
	}
	assert_in_range(n, 5, MORE - 1);
	assert_true(conn > 0);
	run_until(both_up);
	assert_int_equal(a.up + b.up, 2);
	assert_int_equal(a.down + b.down, 0);
	end_close(&a);
	end_close(&b);
}

static bool up_again(void)
{
	return a.up == 2 && b.up == 2;
}

/* A signal does not end an attempt: the kernel continues with it. */
static void signal_does_not_end_connect(void **state)
{
	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	call_gives(CALL_CONNECT, 1, -1, EINTR);
	assert_true(svc_connect(a.svc, b.address) > 0);
	assert_true(call_given());
	assert_int_equal(a.down, 0);
	end_close(&a);
	end_close(&b);
}

/* --- from a peer --------------------------------------------------------------- */

/* A failed attempt to accept does not delay the next one: the clock stands still. */
static void failed_accept_does_not_delay_next_one(void **state)
{
	static const int passing[] = { EINTR, ECONNABORTED };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		end_open(&a, HERE, "green", "n0", KEY_A);
		end_open(&b, HERE, "green", "n1", KEY_A);
		clock_stop();
		call_gives(CALL_ACCEPT, 1, -1, passing[i]);
		assert_true(svc_connect(a.svc, b.address) > 0);
		run_until(both_up);
		assert_true(call_given());
		/* The connection is accepted in the same turn of the loop. */
		assert_true(svc_connect(a.svc, b.address) > 0);
		call_gives(CALL_ACCEPT, 1, -1, passing[i]);
		run_until(up_again);
		assert_true(call_given());
		clock_go();
		end_close(&a);
		end_close(&b);
	}
}

/*
 * An accept() that finds no connection waiting is not an error, so the listener does not pause for
 * a second.
 */
static void accept_without_waiting_connection_is_no_error(void **state)
{
	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	clock_stop();
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(svc_connect(a.svc, b.address) > 0);
		run_until(i ? up_again : both_up);
	}
	clock_go();
	end_close(&a);
	end_close(&b);
}

static int watched;

static bool watched_closed(void)
{
	char c;

	return recv(watched, &c, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EINTR);
}

/* A stranger for whom there is no memory is disconnected, and is not counted. */
static void stranger_without_memory_is_disconnected(void **state)
{
	unsigned int files = files_open(), n;
	size_t blocks;

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	blocks = memory_blocks();
	for (n = 1; n < MORE; n++) {
		bool failed;

		watched = stranger();
		memory_fails_at(n);
		run_due();
		failed = memory_failed();
		if (failed)
			run_until(watched_closed);
		close(watched);
		run_due();
		if (!failed)
			break;
		assert_int_equal(memory_blocks(), blocks);
	}
	assert_in_range(n, 5, MORE - 1);
	/* When there is memory again, a peer is accepted. */
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	assert_int_equal(svc_stats(b.svc)->refused_busy, 0);
	end_close(&a);
	end_close(&b);
	assert_int_equal(files_open(), files);
}

#define CROWD 200

/* However many connections come at once, other events have their turn between them. */
static void crowd_of_connections_gives_others_their_turn(void **state)
{
	static const char *const from[] = { "127.0.0.1:1", "127.0.0.2:1", "127.0.0.3:1",
					    "127.0.0.4:1" };
	unsigned int files, taken;
	int fd[CROWD];

	(void)state;
	end_open(&b, HERE, "green", "n1", KEY_A);
	for (unsigned int i = 0; i < CROWD; i++)
		fd[i] = stranger_from(from[i % 4]);
	files = files_open();
	run_due();
	taken = files_open() - files;
	assert_in_range(taken, 1, CROWD - 1);
	for (unsigned int i = 0; i < 10; i++)
		run_due();
	assert_int_equal(files_open() - files, CROWD);
	for (unsigned int i = 0; i < CROWD; i++)
		close(fd[i]);
	end_close(&b);
}

/* --- between peers --------------------------------------------------------------- */

static bool has_b_received(void)
{
	return b.msgs == 1;
}

static int reported;

/* Log lines of errors are discarded here. */
static void log_to_nobody(void)
{
	int fd = open("/dev/null", O_WRONLY);

	reported = dup(2);
	dup2(fd, 2);
	close(fd);
}

static void log_as_before(void)
{
	dup2(reported, 2);
	close(reported);
}

/* A message that is too long, or gets no memory, is not sent; the next one is. */
static void message_that_cannot_be_sent_does_not_stop_next_one(void **state)
{
	static char big[FRAME_MAX + 1];

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	memset(big, 'x', sizeof(big) - 1);
	log_to_nobody();
	send_text(&a, big);
	for (unsigned int n = 1; n < 3; n++) {
		memory_fails_at(n);
		send_text(&a, "not sent");
		assert_true(memory_failed());
	}
	log_as_before();
	send_text(&a, "{}");
	run_until(has_b_received);
	assert_int_equal(b.bytes, 2);
	assert_int_equal(a.down + b.down, 0);
	end_close(&a);
	end_close(&b);
}

static bool both_through(void)
{
	return (a.up && b.up) || a.down;
}

/*
 * Any request for memory of a whole handshake fails: it succeeds, or the side that began is
 * informed that it ended; afterwards all memory is free.
 */
static void each_failed_allocation_of_handshake_is_reported(void **state)
{
	unsigned int ended = 0, n;
	bool failed = true;

	(void)state;
	log_to_nobody();
	for (n = 1; failed && n < MORE; n++) {
		unsigned int files = files_open();
		size_t blocks = memory_blocks();

		end_open(&a, HERE, "green", "n0", KEY_A);
		end_open(&b, HERE, "green", "n1", KEY_A);
		clock_stop();
		assert_true(svc_connect(a.svc, b.address) > 0);
		memory_fails_at(n);
		for (unsigned int i = 0; i < 40; i++)
			run_due();
		failed = memory_failed();
		if (!both_through())
			clock_move(5 * SEC);
		run_until(both_through);
		ended += a.down;
		clock_go();
		end_close(&a);
		end_close(&b);
		assert_int_equal(files_open(), files);
		assert_int_equal(memory_blocks(), blocks);
	}
	log_as_before();
	assert_in_range(n, 8, MORE - 1);
	assert_in_range(ended, 3, n);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(failed_listening_is_reported),
		cmocka_unit_test(service_works_with_descriptor_0),
		cmocka_unit_test(restarted_service_gets_its_port_at_once),
		cmocka_unit_test(address_to_come_may_be_listened_on),
		cmocka_unit_test(failed_connecting_is_reported),
		cmocka_unit_test(signal_does_not_end_connect),
		cmocka_unit_test(failed_accept_does_not_delay_next_one),
		cmocka_unit_test(accept_without_waiting_connection_is_no_error),
		cmocka_unit_test(stranger_without_memory_is_disconnected),
		cmocka_unit_test(crowd_of_connections_gives_others_their_turn),
		cmocka_unit_test(message_that_cannot_be_sent_does_not_stop_next_one),
		cmocka_unit_test(each_failed_allocation_of_handshake_is_reported),
	};

	return cmocka_run_group_tests(t, ends_setup, ends_teardown);
}
