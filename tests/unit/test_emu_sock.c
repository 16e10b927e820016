// SPDX-License-Identifier: GPL-2.0-only
/* torusemu's sockets when the process has no file descriptor left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/torusemu/sock.h"

#define CLIENTS	3

static struct sockaddr_un at = { .sun_family = AF_UNIX };
static int client[CLIENTS];

/* Lets the process have @n descriptors more than now; all numbers below the highest are in use. */
static void leave_fds(unsigned int n)
{
	struct rlimit r;
	int next;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &r), 0);
	next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(next >= 0);
	close(next);
	r.rlim_cur = (rlim_t)next + n;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &r), 0);
}

static void connects(int i)
{
	assert_int_equal(connect(client[i], (struct sockaddr *)&at, sizeof(at)), 0);
}

static bool is_ready(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

/* The client is told why, and the socket is not readable any more. */
static void turned_away(int fd, int i)
{
	char text[8] = "";

	connects(i);
	assert_true(is_ready(fd));
	assert_int_equal(sock_accept_all(fd, "full", 5), -EMFILE);
	assert_false(is_ready(fd));
	assert_int_equal(recv(client[i], text, sizeof(text), MSG_DONTWAIT), 5);
	assert_string_equal(text, "full");
	assert_int_equal(recv(client[i], text, sizeof(text), MSG_DONTWAIT), 0);
}

/*
 * A socket that was made with the last descriptor, so that there was none to spare, gets a spare
 * one when a client is accepted.
 */
static void lost_spare_descriptor_is_replaced(void **state)
{
	int fd, accepted;

	(void)state;
	leave_fds(1);
	fd = sock_listen(at.sun_path);
	assert_true(fd >= 0);
	leave_fds(2);
	connects(0);
	accepted = sock_accept(fd);
	assert_true(accepted >= 0);
	leave_fds(0);
	turned_away(fd, 1);
	turned_away(fd, 2);
	close(accepted);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(at.sun_path, sizeof(at.sun_path), "/tmp/test_emu_sock.%d", (int)getpid());
	for (int i = 0; i < CLIENTS; i++) {
		client[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		assert_true(client[i] >= 0);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < CLIENTS; i++)
		close(client[i]);
	return unlink(at.sun_path);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test_setup_teardown(lost_spare_descriptor_is_replaced, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("emu_sock", all, NULL, NULL);
}
