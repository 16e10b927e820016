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

#define PAIRS (LIMIT_CONNECTIONS + LIMIT_ENDING + 1)

static struct limit limit;
static int server[PAIRS], client[PAIRS];
static const struct source one = { { 1 } }, two = { { 2 } };

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
	struct rlimit r = { 2048, 2048 };

	(void)state;
	memset(&limit, 0, sizeof(limit));
	setrlimit(RLIMIT_NOFILE, &r);
	for (unsigned int i = 0; i < PAIRS; i++)
		open_pair(i);
	for (unsigned int i = 0; i < LIMIT_CONNECTIONS; i++)
		assert_true(limit_add(&limit, server[i], &one, 10));
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < PAIRS; i++) {
		close(server[i]);
		close(client[i]);
	}
	return 0;
}

static void full_limit_admits_one_per_closed_connection(void **state)
{
	(void)state;
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS], &one, 11));
	close(server[7]);
	assert_true(limit_add(&limit, server[LIMIT_CONNECTIONS], &one, 11));
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS + 1], &one, 11));
	for (unsigned int i = 0; i < LIMIT_CONNECTIONS; i++)
		assert_int_equal(was_shut(i), i == 7);
}

/* A descriptor that another connection has got is not the old one. */
static void reused_descriptor_is_another_connection(void **state)
{
	int fd;

	(void)state;
	close(server[7]);
	fd = dup(server[LIMIT_CONNECTIONS]);
	assert_int_equal(fd, server[7]);
	assert_true(limit_add(&limit, fd, &one, 11));
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS + 1], &one, 11));
}

static void ask_all(double now)
{
	for (unsigned int i = 0; i < LIMIT_CONNECTIONS; i++)
		limit_ask(&limit, server[i], now);
}

static void silent_connection_gives_way(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < LIMIT_CONNECTIONS; i++)
		limit_ask(&limit, server[i], 11);
	assert_true(limit_add(&limit, server[LIMIT_CONNECTIONS], &one, 14));
	assert_true(was_shut(0));
	/* All others are being answered. */
	limit_ask(&limit, server[LIMIT_CONNECTIONS], 14);
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS + 1], &one, 19));
	assert_false(was_shut(1));
	/* A connection that was answered is idle, too. */
	limit_rest(&limit, server[5], 20);
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS + 1], &one, 22));
	assert_true(limit_add(&limit, server[LIMIT_CONNECTIONS + 1], &one, 23));
	assert_true(was_shut(5));
}

/* A client that has all connections gives way to others, until those have as many. */
static void greedy_client_gives_way(void **state)
{
	unsigned int shut = 0;

	(void)state;
	ask_all(10);
	for (unsigned int i = 0; i < LIMIT_CONNECTIONS; i += 2)
		limit_stream(&limit, server[i], 11);
	assert_false(limit_add(&limit, server[LIMIT_CONNECTIONS], &one, 11));
	assert_true(limit_add(&limit, server[LIMIT_CONNECTIONS], &two, 11));
	assert_true(was_shut(1));
	assert_false(was_shut(0) || was_shut(2));
	for (unsigned int i = 1; i < 200; i++)
		limit_add(&limit, server[LIMIT_CONNECTIONS + i], &two, 11);
	assert_int_equal(limit.live, LIMIT_CONNECTIONS);
	for (unsigned int i = 0; i < LIMIT_CONNECTIONS; i++)
		shut += was_shut(i);
	assert_in_range(shut, 127, 128);
}

/* Connections that were shut down are counted until they are closed. */
static void shut_down_connection_counts_until_closed(void **state)
{
	unsigned int taken = 0;

	(void)state;
	ask_all(10);
	limit_sweep(&limit, 70);
	assert_int_equal(limit.live, 0);
	for (unsigned int i = LIMIT_CONNECTIONS; i < PAIRS; i++)
		taken += limit_add(&limit, server[i], &one, 70);
	assert_int_equal(taken, LIMIT_ENDING);
	assert_false(limit_add(&limit, server[PAIRS - 1], &one, 74));
	close(server[0]);
	assert_true(limit_add(&limit, server[PAIRS - 1], &one, 74));
}

static void connection_without_progress_is_shut(void **state)
{
	(void)state;
	limit_ask(&limit, server[0], 12);
	limit_rest(&limit, server[0], 12);
	limit_stream(&limit, server[1], 12);
	limit_wait(&limit, server[3], 12);
	limit_sweep(&limit, 29);
	assert_int_equal(limit.live, LIMIT_CONNECTIONS);
	limit_sweep(&limit, 31);
	assert_int_equal(limit.live, 3);
	assert_false(was_shut(3));
	assert_true(was_shut(2) && was_shut(LIMIT_CONNECTIONS - 1));
	assert_false(was_shut(0) || was_shut(1));
	limit_sweep(&limit, 90);
	assert_int_equal(limit.live, 1);
	assert_true(was_shut(0));
	assert_false(was_shut(1));
}

/* A large answer may be read slowly; a client that was refused has not asked. */
static void large_answer_may_be_read_slowly(void **state)
{
	(void)state;
	limit_ask(&limit, server[0], 12);
	limit_answer(&limit, server[0], 13, 4u << 20);
	limit_answer(&limit, server[1], 13, 4u << 20);
	limit_rest(&limit, server[1], 13);
	limit_sweep(&limit, 300);
	assert_false(was_shut(0));
	assert_true(was_shut(1));
	limit_sweep(&limit, 330);
	assert_true(was_shut(0));
}

/* The client with most unread bytes loses its oldest answer, not another one whose is older. */
static void client_with_most_unread_bytes_loses_its_oldest_answer(void **state)
{
	unsigned int other = LIMIT_CONNECTIONS, third = LIMIT_CONNECTIONS + 1;
	static const struct source three = { { 3 } };

	(void)state;
	limit_ask(&limit, server[7], 13);
	limit_ask(&limit, server[9], 14);
	limit_ask(&limit, server[11], 14);
	assert_true(limit_add(&limit, server[other], &two, 14) && limit_add(&limit, server[third], &three, 14));
	limit_ask(&limit, server[other], 12);
	limit_answer(&limit, server[other], 12, 500);
	limit_answer(&limit, server[9], 14, 400);
	limit_answer(&limit, server[7], 14, 300);
	limit_answer(&limit, server[11], 14, 350);
	/* It gets no more itself, until it has read some of it. */
	assert_false(limit_shed(&limit, &one, 1));
	assert_false(was_shut(7) || was_shut(9) || was_shut(other));
	assert_true(limit_shed(&limit, &two, 250));
	assert_true(was_shut(7));
	assert_false(was_shut(9) || was_shut(other));
	/* Until its connection is closed this is as good as freed. */
	assert_true(limit_shed(&limit, &three, 300));
	assert_false(was_shut(9) || was_shut(11) || was_shut(other));
	close(server[7]);
	limit_rest(&limit, server[9], 15);
	assert_true(limit_shed(&limit, &three, 300));
	assert_true(was_shut(other));
	assert_false(was_shut(9) || was_shut(11));
	/* Without any answer there is nothing to shed. */
	assert_true(limit_shed(&limit, &three, 800));
	assert_true(was_shut(11));
	assert_false(limit_shed(&limit, &three, 900));
	assert_false(was_shut(9) || was_shut(third));
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_setup_teardown(full_limit_admits_one_per_closed_connection,
						begin, end),
		cmocka_unit_test_setup_teardown(reused_descriptor_is_another_connection,
						begin, end),
		cmocka_unit_test_setup_teardown(silent_connection_gives_way, begin, end),
		cmocka_unit_test_setup_teardown(greedy_client_gives_way, begin, end),
		cmocka_unit_test_setup_teardown(shut_down_connection_counts_until_closed,
						begin, end),
		cmocka_unit_test_setup_teardown(connection_without_progress_is_shut, begin, end),
		cmocka_unit_test_setup_teardown(large_answer_may_be_read_slowly, begin, end),
		cmocka_unit_test_setup_teardown(client_with_most_unread_bytes_loses_its_oldest_answer,
						begin, end),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
