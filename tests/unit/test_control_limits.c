// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of the control socket: privileges, number of clients, sizes and timeouts, these with a
 * clock that moves only by clock_move().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/control.h"
#include "tests/unit/clock.h"
#include "tests/unit/control_client.h"

/** struct who - a user of this machine, with @n supplementary groups */
struct who {
	uid_t uid;
	gid_t gid;
	gid_t group[100];
	size_t n;
};

static const struct who nobody = { .uid = 65534, .gid = 65534 };

static void become(const struct who *w)
{
	assert_int_equal(setgroups(w->n, w->group), 0);
	assert_int_equal(setegid(w->gid), 0);
	assert_int_equal(seteuid(w->uid), 0);
}

/* Opens a client as user @w. The kernel notes the user at connect(); later changes do not count. */
static void client_open_as(struct client *c, const struct who *w)
{
	static const struct who root;

	become(w);
	client_open(c);
	assert_int_equal(seteuid(0), 0);
	become(&root);
}

static void expect_as(const struct who *w, const char *request, const char *says)
{
	struct client c;

	client_open_as(&c, w);
	expect_of(&c, request, says);
}

#define CHANGE "{\"cmd\":\"log\",\"level\":\"error\"}"
#define DONE "{\"level\":\"error\"}"
#define GROUP 4711

/* Every user may ask. Changes are for root and, if control_group is set, for its members. */
static void only_root_and_control_group_may_change(void **state)
{
	static const char *const changes[] = {
		"exclude\",\"node\":\"0", "include\",\"node\":\"0", "replay\",\"node\":\"0",
		"port\",\"node\":\"0\",\"port\":\"+x", "retrain\",\"node\":\"0\",\"port\":\"+x",
		"log\",\"level\":\"error",
	};
	static const struct who root = { .gid = 4712 };
	static const struct who others[] = {
		{ .uid = 65534, .gid = 65534 }, { .uid = 65534, .gid = 0 },
		{ .uid = 65534, .gid = GROUP - 1 },
		{ .uid = 1, .gid = 1, { 0, GROUP - 1, 4712 }, 3 },
		{ .uid = GROUP, .gid = 1, { 1 }, 1 },
	};
	struct who members[] = {
		{ .uid = 65534, .gid = GROUP }, { .uid = 1, .gid = 1, { GROUP }, 1 },
		{ .uid = 1, .gid = 1, { GROUP, 4712, 4713 }, 3 },
		{ .uid = 1, .gid = 1, { 1, GROUP, 4712 }, 3 },
		{ .uid = 1, .gid = 1, { 1, 2, GROUP }, 3 }, { .uid = 1, .gid = 1, .n = 100 },
	};
	char text[128];

	(void)state;
	if (geteuid())
		skip();		/* only root can become another user */
	for (gid_t i = 0; i < 100; i++)
		members[5].group[i] = GROUP - 99 + i;
	for (unsigned int i = 0; i < 5; i++)
		expect_as(&others[i], CHANGE,
			  "\"error\":\"log changes the fabric: only root may: ");
	for (unsigned int i = 0; i < 6; i++)
		expect_as(&members[i], CHANGE, "\"code\":\"denied\"");
	strcpy(d.config.control_group, "wheel");
	d.config.control_gid = GROUP;
	for (unsigned int i = 0; i < 5; i++) {
		expect_as(&others[i], CHANGE, "only root and members of group 'wheel' may");
		expect_as(&others[i], "{\"cmd\":\"status\"}", "\"ok\":true");
	}
	for (unsigned int i = 0; i < 6; i++)
		expect_as(&members[i], CHANGE, DONE);
	for (unsigned int i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		snprintf(text, sizeof(text), "{\"cmd\":\"%s\"}", changes[i]);
		expect_as(&others[0], text, "\"code\":\"denied\"");
		expect_as(&root, text, i < 5 ? "\"code\":\"not-ready\"" : "\"ok\":true");
	}
	d.config.control_group[0] = '\0';
	expect_as(&members[0], CHANGE, "\"code\":\"denied\"");
	expect_as(&root, CHANGE, DONE);
}

#define BIG_ASKS 40

/* Asks @n times for all events, which are so long that the answers exceed a client's buffer. */
static void ask_big(struct client *c, unsigned int n)
{
	char text[1000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (unsigned int i = 0; i < EVENTS_KEPT; i++)
		events_add(d.events, 1.5, "1,0", FM_INFO, "test", text);
	for (unsigned int i = 0; i < n; i++)
		send_text(c, "{\"cmd\":\"events\"}\n");
}

/* The next request of a client is answered only when it has taken the answer before. */
static void next_request_waits_until_answer_is_taken(void **state)
{
	struct client c;

	(void)state;
	client_open(&c);
	stream_hold(c.stream, true);
	ask_big(&c, BIG_ASKS);
	run_due();
	stream_hold(c.stream, false);
	receive_lines(&c, BIG_ASKS);
	assert_int_equal(c.n, BIG_ASKS);
	assert_true(strlen(c.line[0]) * BIG_ASKS > CONTROL_REPLY_MAX + 100000);
	client_close(&c);
}

/*
 * Return: true if the server has closed the connection; unread answers may be left in the socket.
 */
static bool dropped(const struct client *c)
{
	struct pollfd p = { .fd = c->fd };

	assert_true(poll(&p, 1, 0) >= 0);
	return p.revents & POLLHUP;
}

/* A client has 30 s to read an answer. Between two requests it may wait without limit. */
static void client_has_30_s_to_take_answer(void **state)
{
	struct client c;

	(void)state;
	clock_stop();
	client_open(&c);
	stream_hold(c.stream, true);
	ask_big(&c, 1);			/* the answer does not fit in the socket's buffer */
	run_due();
	stream_hold(c.stream, false);
	receive_lines(&c, 1);
	clock_move(3600 * SEC);
	run_due();
	assert_false(dropped(&c));
	stream_hold(c.stream, true);
	ask_big(&c, BIG_ASKS);
	run_due();
	clock_move(30 * SEC - US);
	run_due();
	assert_false(dropped(&c));
	clock_move(US);
	run_due();
	assert_true(dropped(&c));
	clock_go();
	client_close(&c);
}

/* Opens @n clients as user @w, or as the present one. Return: how many are refused as too many. */
static unsigned int busy(struct client *c, unsigned int n, const struct who *w)
{
	unsigned int reported = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (w)
			client_open_as(&c[i], w);
		else
			client_open(&c[i]);
		send_text(&c[i], "{}\n");
		receive_lines(&c[i], 1);
		reported += c[i].n == 1 && strstr(c[i].line[0], "too many clients");
	}
	return reported;
}

/* A client beyond the limit gets an error line and is disconnected, also if it has closed. */
static void one_too_many(void)
{
	static const char line[] = "{\"ok\":false,\"code\":\"failed\","
				   "\"error\":\"too many clients at once\"}\n";
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char received[2 * sizeof(line)];

	memcpy(a.sun_path, d.config.control, sizeof(d.config.control));
	for (unsigned int gone = 0; gone < 2; gone++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
		if (gone)
			close(fd);
		run_due();
		if (gone)
			continue;
		assert_int_equal(recv(fd, received, sizeof(received), MSG_DONTWAIT), sizeof(line) - 1);
		assert_memory_equal(received, line, sizeof(line) - 1);
		assert_int_equal(recv(fd, received, sizeof(received), MSG_DONTWAIT), 0);
		close(fd);
	}
}

/* 64 clients may be connected at once; 16 of these places are for privileged ones only. */
static void clients_are_limited_to_64_and_16_are_reserved(void **state)
{
	struct client c[70];

	(void)state;
	assert_int_equal(busy(c, 70, NULL), geteuid() ? 70 - 48 : 70 - 64);
	one_too_many();
	for (unsigned int i = 0; i < 70; i++)
		client_close(&c[i]);
	if (geteuid())
		return;
	assert_int_equal(busy(c, 50, &nobody), 2);
	assert_int_equal(busy(c + 50, 20, NULL), 4);
	for (unsigned int i = 0; i < 70; i++)
		client_close(&c[i]);
}

static void files_allowed(rlim_t n)
{
	struct rlimit r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = n;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &r), 0);
}

/* Without a free file descriptor a client waits; accept() is tried again after a second. */
static void client_waits_for_free_file_descriptor(void **state)
{
	struct rlimit before;
	struct client c;
	int next, out;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	clock_stop();
	run_due();			/* the descriptors of former clients are closed */
	client_open(&c);
	send_text(&c, "{}\n");
	out = dup(2);
	next = open("/dev/null", O_WRONLY);
	dup2(next, 2);			/* the line that the server logs is hidden */
	close(next);
	files_allowed((rlim_t)next);
	run_due();
	files_allowed(before.rlim_cur);
	dup2(out, 2);
	close(out);
	clock_move(SEC - US);
	run_due();
	assert_int_equal(c.n, 0);
	clock_move(US);
	receive_lines(&c, 1);
	assert_int_equal(c.n, 1);
	clock_go();
	client_close(&c);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(only_root_and_control_group_may_change),
		cmocka_unit_test(next_request_waits_until_answer_is_taken),
		cmocka_unit_test(client_has_30_s_to_take_answer),
		cmocka_unit_test(clients_are_limited_to_64_and_16_are_reserved),
		cmocka_unit_test(client_waits_for_free_file_descriptor),
	};

	return cmocka_run_group_tests(t, control_setup, control_teardown);
}
