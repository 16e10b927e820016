// SPDX-License-Identifier: GPL-2.0-only
/* The control socket of a manager that has no NIC yet, client and server in one loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/control.h"
#include "daemon/log.h"
#include "tests/unit/control_client.h"

static void malformed_request_is_refused_with_reason(void **state)
{
	(void)state;
	expect("{\"cmd\":\"nosuch\"}", "unknown cmd 'nosuch', known: status nodes");
	expect("{}", "cmd is missing");
	expect("[]", "not a JSON object");
	expect("hello", "not JSON");
	expect("1", "not JSON");
	expect("\r\r", "not JSON");
	expect("{\"cmd\":\"log\",\"cmd\":\"log\"}", "not JSON: duplicate");
	expect("{\"cmd\":1}", "cmd is missing");
	expect("{\"cmd\":\"status\",\"x\":1}", "unknown argument 'x', known: none");
	expect("{\"cmd\":\"links\",\"nod\":\"0\"}",
	       "unknown argument 'nod', known: node count lanes");
	expect("{\"cmd\":\"links\",\"ode\":\"0\"}", "unknown argument 'ode'");
	expect("{\"cmd\":\"links\",\"node lanes\":\"0\"}", "unknown argument 'node lanes'");
	expect("{\"cmd\":\"status\",\"\":1}", "unknown argument ''");
	expect("{\"cmd\":\"links\",\"node\":null}", "not-ready");
	expect("{\"cmd\":\"\xc3\xa9\"}", "unknown cmd '?" "?'");
	expect("{\"cmd\":\"links\",\"node\":7}", "'node' has the wrong type");
	expect("{\"cmd\":\"links\",\"node\":[]}", "coordinates are 1 to 6 numbers");
	expect("{\"cmd\":\"links\",\"node\":[1,-1]}", "coordinates are 1 to 6 numbers");
	expect("{\"cmd\":\"links\",\"node\":[1,\"a\"]}", "coordinates are 1 to 6 numbers");
	expect("{\"cmd\":\"events\",\"since\":-1}", "a number from 0 on");
	expect("{\"cmd\":\"events\",\"since\":\"1\"}", "a number from 0 on");
	expect("{\"cmd\":\"events\",\"follow\":1}", "true or false");
	expect("{\"cmd\":\"port\",\"node\":\"0\",\"port\":\"+x\",\"up\":\"down\"}",
	       "true or false");
	expect("{\"cmd\":\"\\ud800\"}", "not JSON");
}

static void commands_without_nic_are_not_ready(void **state)
{
	static const char *const cmd[] = { "nodes", "links", "counters", "park", "coord" };
	char text[64];

	(void)state;
	for (unsigned int i = 0; i < sizeof(cmd) / sizeof(cmd[0]); i++) {
		snprintf(text, sizeof(text), "{\"cmd\":\"%s\"}", cmd[i]);
		expect(text, "\"code\":\"not-ready\"");
	}
	expect("{\"cmd\":\"table\"}", "\"error\":\"no NIC: none here\"");
	expect("{\"cmd\":\"status\"}", "\"state\":\"bootstrapping\"");
	expect("{\"cmd\":\"status\"}", "{\"kind\":\"nic\",\"text\":\"none here\"}");
}

static void only_root_may_set_log_level(void **state)
{
	(void)state;
	if (geteuid() == 0) {
		expect("{\"cmd\":\"log\",\"level\":\"warning\"}", "{\"level\":\"warning\"}");
		assert_int_equal(log_level(), FM_WARNING);
		log_level_set(FM_ERROR);
		expect("{\"cmd\":\"log\",\"level\":\"loud\"}", "'loud', must be error, warning");
		expect("{\"cmd\":\"log\",\"level\":\"\"}", "'', must be error");
		expect("{\"cmd\":\"log\"}", "{\"level\":\"error\"}");
	} else {
		expect("{\"cmd\":\"log\",\"level\":\"warning\"}", "\"code\":\"denied\"");
		expect("{\"cmd\":\"exclude\",\"node\":\"0\"}", "\"code\":\"denied\"");
	}
}

/* Requests sent without waiting are answered one after the other, in order. */
static void pipelined_requests_are_answered_in_order(void **state)
{
	struct client c;
	char text[64];

	(void)state;
	client_open(&c);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "{\"cmd\":\"%s%u\"}\r\n", i % 5 ? "c" : "\\n", i);
		send_text(&c, text);
	}
	receive_lines(&c, 200);
	assert_int_equal(c.n, 200);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "%s%u'", i % 5 ? "c" : "\\n", i);
		assert_non_null(strstr(c.line[i], text));
	}
	client_close(&c);
	/* A request that takes a while delays the next ones. Empty lines are not requests. */
	client_open(&c);
	for (unsigned int i = 0; i < 20; i++)
		send_text(&c, i % 2 ? "{}\n\r\n" : "{\"cmd\":\"nodes\"}\n\n");
	receive_lines(&c, 20);
	assert_int_equal(c.n, 20);
	for (unsigned int i = 0; i < 20; i++)
		assert_non_null(strstr(c.line[i], i % 2 ? "cmd is missing" : "not-ready"));
	client_close(&c);
}

static void too_long_request_closes_connection(void **state)
{
	char *big = malloc(CONTROL_LINE_MAX + 2);
	struct client c;

	(void)state;
	memset(big, ' ', CONTROL_LINE_MAX + 1);
	big[CONTROL_LINE_MAX + 1] = '\0';
	client_open(&c);
	send_text(&c, big);
	receive_lines(&c, 2);
	assert_true(c.closed);
	assert_int_equal(c.n, 1);
	assert_non_null(strstr(c.line[0], "longer than 65536 bytes"));
	client_close(&c);
	/* A line of the longest size that is allowed */
	memcpy(big, "{\"cmd\":\"x\"", 10);
	big[CONTROL_LINE_MAX - 1] = '}';
	big[CONTROL_LINE_MAX] = '\n';
	big[CONTROL_LINE_MAX + 1] = '\0';
	client_open(&c);
	send_text(&c, big);
	receive_lines(&c, 1);
	assert_non_null(strstr(c.line[0], "unknown cmd 'x'"));
	client_close(&c);
	free(big);
}

/* Return: the number of the newest event, 0 if there was none */
static uint64_t last_event(void)
{
	const struct event_record *r;
	uint64_t seq = 0;

	while ((r = events_next(d.events, seq + 1)))
		seq = r->seq;
	return seq;
}

static void follower_gets_past_and_new_events(void **state)
{
	struct client c;
	char text[64];

	(void)state;
	add(3);
	client_open(&c);
	send_text(&c, "{\"cmd\":\"events\",\"follow\":true,\"since\":1}\n");
	receive_lines(&c, 2);
	assert_non_null(strstr(c.line[0], "\"seq\":2,\"time\":1.5,\"node\":[1,0]"));
	assert_non_null(strstr(c.line[1], "\"more\":true"));
	add(2);
	receive_lines(&c, 4);
	snprintf(text, sizeof(text), "\"seq\":%u,", (unsigned int)last_event());
	assert_non_null(strstr(c.line[3], text));
	/* A further request ends following. */
	send_text(&c, "{\"cmd\":\"events\",\"since\":4}\n");
	receive_lines(&c, 5);
	assert_null(strstr(c.line[4], "\"more\""));
	assert_non_null(strstr(c.line[4], "\"seq\":5"));
	assert_null(strstr(c.line[4], "\"seq\":4"));
	add(1);
	send_text(&c, "{}\n");
	receive_lines(&c, 6);
	assert_non_null(strstr(c.line[5], "cmd is missing"));
	client_close(&c);
}

/* A follower that does not read in time learns how many events it missed. */
static void slow_follower_learns_how_many_events_it_missed(void **state)
{
	uint64_t seq = last_event();
	bool missed = false;
	char text[128];
	struct client c;

	(void)state;
	client_open(&c);
	snprintf(text, sizeof(text), "{\"cmd\":\"events\",\"follow\":true,\"since\":%llu}\n",
		 (unsigned long long)seq);
	send_text(&c, text);
	add(1);
	receive_lines(&c, 1);
	stream_hold(c.stream, true);
	add(20000);
	stream_hold(c.stream, false);
	snprintf(text, sizeof(text), "\"seq\":%llu,", (unsigned long long)seq + 20001);
	for (;;) {
		receive_lines(&c, 1);
		assert_true(c.n);
		if (strstr(c.line[0], text))
			break;
		missed |= strstr(c.line[0], "\"kind\":\"missed\"") != NULL;
		free(c.line[0]);
		memmove(c.line, c.line + 1, --c.n * sizeof(c.line[0]));
	}
	assert_true(missed);
	client_close(&c);
}

/*
 * A client that asks for all events does not learn of those dropped before it came; one that asks
 * for events since a number does.
 */
static void follower_gets_number_of_missed_events(void **state)
{
	struct client c;
	char text[128];

	(void)state;
	add(EVENTS_KEPT + 10);
	client_open(&c);
	send_text(&c, "{\"cmd\":\"events\",\"follow\":true}\n");
	receive_lines(&c, 1);
	assert_null(strstr(c.line[0], "\"kind\":\"missed\""));
	client_close(&c);
	client_open(&c);
	send_text(&c, "{\"cmd\":\"events\",\"follow\":true,\"since\":1}\n");
	receive_lines(&c, 2);
	snprintf(text, sizeof(text), "\"seq\":2,\"time\":");
	assert_non_null(strstr(c.line[0], text));
	snprintf(text, sizeof(text), "\"kind\":\"missed\",\"text\":\"%llu events were not read",
		 (unsigned long long)last_event() - EVENTS_KEPT - 1);
	assert_non_null(strstr(c.line[0], text));
	snprintf(text, sizeof(text), "\"seq\":%llu,",
		 (unsigned long long)last_event() - EVENTS_KEPT + 1);
	assert_non_null(strstr(c.line[1], text));
	client_close(&c);
}

static void second_daemon_finds_socket_in_use(void **state)
{
	struct fabricd other = d;
	int err;

	(void)state;
	assert_null(control_new(&other, &err));
	assert_int_equal(err, -EADDRINUSE);
	assert_int_equal(access(d.config.control, F_OK), 0);
}

/* A killed daemon leaves its socket behind. The next daemon replaces it, and removes its own. */
static void socket_left_behind_is_replaced(void **state)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), err;
	struct fabricd other = d;
	struct control *control;
	struct stat st;
	char *slash;

	(void)state;
	snprintf(other.config.control, sizeof(other.config.control), "%s/sub/control", folder);
	memcpy(a.sun_path, other.config.control, sizeof(other.config.control));
	control = control_new(&other, &err);	/* this makes the folder */
	assert_non_null(control);
	control_free(control);
	assert_int_equal(access(a.sun_path, F_OK), -1);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	control = control_new(&other, &err);
	assert_non_null(control);
	assert_int_equal(stat(a.sun_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	assert_int_equal(umask(077), 077);
	control_free(control);
	assert_int_equal(access(a.sun_path, F_OK), -1);
	slash = strrchr(a.sun_path, '/');
	*slash = '\0';
	assert_int_equal(rmdir(a.sun_path), 0);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(malformed_request_is_refused_with_reason),
		cmocka_unit_test(commands_without_nic_are_not_ready),
		cmocka_unit_test(only_root_may_set_log_level),
		cmocka_unit_test(pipelined_requests_are_answered_in_order),
		cmocka_unit_test(too_long_request_closes_connection),
		cmocka_unit_test(follower_gets_past_and_new_events),
		cmocka_unit_test(slow_follower_learns_how_many_events_it_missed),
		cmocka_unit_test(follower_gets_number_of_missed_events),
		cmocka_unit_test(second_daemon_finds_socket_in_use),
		cmocka_unit_test(socket_left_behind_is_replaced),
	};

	return cmocka_run_group_tests(t, control_setup, control_teardown);
}
