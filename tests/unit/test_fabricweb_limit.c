// SPDX-License-Identifier: GPL-2.0-only
/* The number of connections, on real sockets whose other ends see when they are shut down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/fabricweb/limit.h"

static struct limit limit;
static int server[LIMIT_CONNECTIONS + 2], client[LIMIT_CONNECTIONS + 2];

static void open_pair(unsigned int i)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	server[i] = fd[0];
	client[i] = fd[1];
}

static bool was_shut(unsigned int i)
{
	char c;

	return recv(client[i], &c, 1, 0) == 0;
}

static int begin(void **state)
{
	struct rlimit r = { 1024, 1024 };

	(void)state;
	memset(&limit, 0, sizeof(limit));
	setrlimit(RLIMIT_NOFILE, &r);
	for (unsigned int i = 0; i < LIMIT_CONNECTIONS + 2; i++)
		open_pair(i);
	for (unsigned int i = 0; i < LIMIT_CONNECTIONS; i++)
		assert_true(limit_add(&limit, server[i], 10));
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < LIMIT_CONNECTIONS + 2; i++) {
		close(server[i]);
		close(client[i]);
	}
	return 0;
}

static void full(void **state)
{
	(void)state;
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS], 11));
	close(server[7]);
	assert_true(limit_add(&limit, server[LIMIT_CONNECTIONS], 11));
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS + 1], 11));
	for (unsigned int i = 0; i < LIMIT_CONNECTIONS; i++)
		assert_int_equal(was_shut(i), i == 7);
}

/* A descriptor that another connection has got is not the old one. */
static void reused(void **state)
{
	int fd;

	(void)state;
	close(server[7]);
	fd = dup(server[LIMIT_CONNECTIONS]);
	assert_int_equal(fd, server[7]);
	assert_true(limit_add(&limit, fd, 11));
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS + 1], 11));
}

static void silent_connection_gives_way(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < LIMIT_CONNECTIONS; i++)
		limit_touch(&limit, server[i], 11, false);
	assert_true(limit_add(&limit, server[LIMIT_CONNECTIONS], 14));
	assert_true(was_shut(0));
	/* All others have made a request. */
	limit_touch(&limit, server[LIMIT_CONNECTIONS], 14, false);
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS + 1], 19));
	assert_false(was_shut(1));
}

static void too_slow(void **state)
{
	(void)state;
	limit_touch(&limit, server[0], 12, false);
	limit_touch(&limit, server[1], 12, true);
	limit_sweep(&limit, 29);
	assert_int_equal(limit.n, LIMIT_CONNECTIONS);
	limit_sweep(&limit, 31);
	assert_int_equal(limit.n, 2);
	assert_true(was_shut(2) && was_shut(LIMIT_CONNECTIONS - 1));
	assert_false(was_shut(0) || was_shut(1));
	limit_sweep(&limit, 90);
	assert_int_equal(limit.n, 1);
	assert_true(was_shut(0));
	assert_false(was_shut(1));
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_setup_teardown(full, begin, end),
		cmocka_unit_test_setup_teardown(reused, begin, end),
		cmocka_unit_test_setup_teardown(silent_connection_gives_way, begin, end),
		cmocka_unit_test_setup_teardown(too_slow, begin, end),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
