// SPDX-License-Identifier: GPL-2.0-only
/* The exit statuses of fabricctl by the kind of an error: denied, unreachable, or timed out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/fake_manager.h"
#include "tests/unit/program.h"
#include "tools/fabricctl/kind.h"

static void each_errno_has_its_exit_status(void **state)
{
	static const struct {
		int err;
		enum status status;
	} kinds[] = {
		{ EACCES, DENIED }, { EPERM, DENIED }, { ENOENT, UNREACHABLE },
		{ ENOTDIR, UNREACHABLE }, { ENOTSOCK, UNREACHABLE }, { EPROTOTYPE, UNREACHABLE },
		{ ECONNREFUSED, UNREACHABLE }, { ECONNRESET, UNREACHABLE }, { EPIPE, UNREACHABLE },
		{ ENOTCONN, UNREACHABLE }, { ENODEV, UNREACHABLE }, { EHOSTUNREACH, UNREACHABLE },
		{ ENETUNREACH, UNREACHABLE }, { ETIMEDOUT, TIMEOUT }, { EAGAIN, TIMEOUT },
		{ ENOMEM, CANNOT }, { EINVAL, CANNOT }, { EMSGSIZE, CANNOT }, { EIO, CANNOT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_int_equal(kind_of_errno(-kinds[i].err), kinds[i].status);
}

/* Refusals of a manager, in the words of its protocol. */
static void each_refusal_code_has_its_exit_status(void **state)
{
	static const struct {
		const char *code;
		int status;
	} kinds[] = {
		{ "usage", 2 }, { "denied", 4 }, { "unreachable", 5 }, { "not-ready", 1 },
		{ "failed", 1 }, { "of-a-later-release", 1 },
	};
	static const char *const commands[] = {
		"status", "root", "nodes", "nodes --map", "links", "table", "counters", "routes 0,0",
		"trace 0,0 1,1", "verify", "exclude 0,0:+x", "exclude --dry-run 0,0", "include 0,0",
		"park", "park --replay 0,0", "events", "events --follow", "coord 1,0", "log debug",
		"link down 0,0:+x", "link up 0,0:+x", "link retrain 0,0:+x", "link eye 0,0:+x",
		"link retry 0,0:+x auto",
		"root move 1,0", "status --watch=0.01",
	};
	char reply[128];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		assert_int_equal(kind_of_code(kinds[i].code), kinds[i].status);
		snprintf(reply, sizeof(reply), "{\"ok\":false,\"code\":\"%s\",\"error\":\"because\"}",
			 kinds[i].code);
		fake.raw = reply;
		for (size_t k = 0; k < sizeof(commands) / sizeof(commands[0]); k++) {
			/* A problem of the fabric does not end --watch. */
			if (strstr(commands[k], "--watch") && kinds[i].status == 1)
				continue;
			expect(commands[k], kinds[i].status);
			has(err, "fabricctl: because\n");
			assert_string_equal(out, strstr(commands[k], "--watch") ? "\n" : "");
		}
	}
	fake.raw = "{\"ok\":false}";
	expect("status", 1);
	has(err, "refused, and gave no reason");
	fake.raw = "nonsense";
	expect("status", 1);
	has(err, "sent an answer that is not JSON");
	fake.raw = NULL;
}

/* A socket that takes connections and never answers: as a manager that hangs or is stopped. */
static int silent_socket(struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_un) { .sun_family = AF_UNIX };
	snprintf(at->sun_path, sizeof(at->sun_path), "/tmp/silent-%d", (int)getpid());
	unlink(at->sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)at, sizeof(*at)), 0);
	return fd;
}

static void silent_manager_is_given_up_in_time(void **state)
{
	static const char *const commands[] = { "status", "root move 1,0", "exclude 0,0:+x",
						"events --follow", "status --watch=0.01" };
	struct sockaddr_un at;
	char args[256];
	int fd = silent_socket(&at);

	(void)state;
	snprintf(args, sizeof(args), "status --control %s", at.sun_path);
	expect(args, 5);
	has(err, "Connection refused; is fabricd running?");
	assert_int_equal(listen(fd, 64), 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(args, sizeof(args), "%s --timeout 0.05 --control %s", commands[i], at.sun_path);
		expect(args, 6);
		has(err, "the manager behind /tmp/silent-");
		has(err, " does not answer within 0.05 s: it hangs, or is stopped or overloaded; "
			 "--timeout SECONDS waits longer\n");
	}
	snprintf(args, sizeof(args), "status --control %s", at.sun_path);
	expect(args, 6);
	has(err, " does not answer within 3 s");
	close(fd);
	unlink(at.sun_path);
}

static void error_names_missing_manager_or_nic(void **state)
{
	(void)state;
	expect("status --control /nowhere/at/all", 5);
	has(err, "cannot ask the manager behind /nowhere/at/all: No such file or directory; "
		 "is fabricd running?");
	expect("status --control /dev/null", 5);
	has(err, "/dev/null: Connection refused; it is not a socket\n");
	expect("status --control /dev/null/x", 5);
	expect("device attach genl:no-such-nic:+x eth0", 2);
	has(err, "torus");
	expect("device detach unix:/no/such/nic:+x", 2);
	has(err, "/no/such/nic");
	expect("status --control", 2);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_errno_has_its_exit_status),
		cmocka_unit_test_setup_teardown(each_refusal_code_has_its_exit_status,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(silent_manager_is_given_up_in_time,
						fake_setup, fake_teardown),
		cmocka_unit_test_setup_teardown(error_names_missing_manager_or_nic,
						fake_setup, fake_teardown),
	};

	(void)argc;
	program_is(argv[0], "fabricctl");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
