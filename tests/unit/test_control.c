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

#include "daemon/answer.h"
#include "daemon/control.h"
#include "daemon/log.h"
#include "daemon/query.h"
#include "daemon/stream.h"

static struct fabricd d;
static char folder[] = "/tmp/test_control.XXXXXX";
static struct loop_timer *limit;
static bool late;

/** struct client - collects the lines that come */
struct client {
	struct stream *stream;
	char *line[700];
	unsigned int n, wanted;
	bool closed;
};

static ssize_t on_input(void *arg, const uint8_t *data, size_t len)
{
	struct client *c = arg;
	const uint8_t *nl = memchr(data, '\n', len);

	if (!nl)
		return 0;
	assert_true(c->n < 700);
	c->line[c->n++] = strndup((const char *)data, (size_t)(nl - data));
	if (c->n >= c->wanted)
		loop_stop(d.loop);
	return nl - data + 1;
}

static void on_closed(void *arg, int err)
{
	struct client *c = arg;

	(void)err;
	c->closed = true;
	loop_stop(d.loop);
}

static const struct stream_ops ops = { .input = on_input, .closed = on_closed };

static void client_open(struct client *c)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	memset(c, 0, sizeof(*c));
	memcpy(a.sun_path, d.config.control, sizeof(d.config.control));
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	c->stream = stream_new(d.loop, fd, false, 32u << 20, 32u << 20, &ops, c);
	assert_non_null(c->stream);
}

static void client_close(struct client *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		free(c->line[i]);
	stream_free(c->stream);
}

static void say(struct client *c, const char *text)
{
	stream_send(c->stream, text, strlen(text));
}

static void on_limit(void *arg)
{
	(void)arg;
	late = true;
	loop_stop(d.loop);
}

/* Until @n lines in all, or the end. */
static void hear(struct client *c, unsigned int n)
{
	c->wanted = n;
	late = false;
	loop_timer_set(limit, loop_now() + 10 * LOOP_S);
	while (c->n < n && !c->closed && !late)
		loop_run(d.loop);
	assert_false(late);
}

static void expect(const char *request, const char *says)
{
	struct client c;

	client_open(&c);
	say(&c, request);
	say(&c, "\n");
	hear(&c, 1);
	if (c.n != 1 || !strstr(c.line[0], says))
		fail_msg("%s: %s", request, c.n ? c.line[0] : "closed");
	client_close(&c);
}

static void requests(void **state)
{
	(void)state;
	expect("{\"cmd\":\"nosuch\"}", "unknown cmd 'nosuch', allowed: status nodes");
	expect("{}", "cmd is missing");
	expect("[]", "not a JSON object");
	expect("hello", "not JSON");
	expect("{\"cmd\":\"log\",\"cmd\":\"log\"}", "not JSON: duplicate");
	expect("{\"cmd\":1}", "cmd is missing");
	expect("{\"cmd\":\"status\",\"x\":1}", "unknown argument 'x', allowed: none");
	expect("{\"cmd\":\"links\",\"node\":7}", "'node' has the wrong type");
	expect("{\"cmd\":\"links\",\"node\":[]}", "coordinates are 1 to 6 numbers");
	expect("{\"cmd\":\"links\",\"node\":[1,-1]}", "coordinates are 1 to 6 numbers");
	expect("{\"cmd\":\"links\",\"node\":[1,\"a\"]}", "coordinates are 1 to 6 numbers");
	expect("{\"cmd\":\"events\",\"since\":-1}", "a number from 0 on");
	expect("{\"cmd\":\"events\",\"since\":\"1\"}", "a number from 0 on");
	expect("{\"cmd\":\"events\",\"follow\":1}", "true or false");
	expect("{\"cmd\":\"port\",\"node\":\"0\",\"port\":\"+x\",\"up\":\"down\"}", "true or false");
	expect("{\"cmd\":\"\\ud800\"}", "not JSON");
}

static void no_nic(void **state)
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

static void privileges(void **state)
{
	(void)state;
	if (geteuid() == 0) {
		expect("{\"cmd\":\"log\",\"level\":\"warning\"}", "{\"level\":\"warning\"}");
		assert_int_equal(log_level(), FM_WARNING);
		log_level_set(FM_ERROR);
		expect("{\"cmd\":\"log\",\"level\":\"loud\"}", "'loud', allowed: error, warning");
		expect("{\"cmd\":\"log\"}", "'', allowed: error");
	} else {
		expect("{\"cmd\":\"log\",\"level\":\"warning\"}", "\"code\":\"denied\"");
		expect("{\"cmd\":\"exclude\",\"node\":\"0\"}", "\"code\":\"denied\"");
	}
}

/* Sent at once, answered one after the other, in order. */
static void pipelined(void **state)
{
	struct client c;
	char text[64];

	(void)state;
	client_open(&c);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "{\"cmd\":\"%s%u\"}\r\n", i % 5 ? "c" : "\\n", i);
		say(&c, text);
	}
	hear(&c, 200);
	assert_int_equal(c.n, 200);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "%s%u'", i % 5 ? "c" : "\\n", i);
		assert_non_null(strstr(c.line[i], text));
	}
	client_close(&c);
}

static void too_long(void **state)
{
	char *big = malloc(CONTROL_LINE_MAX + 2);
	struct client c;

	(void)state;
	memset(big, ' ', CONTROL_LINE_MAX + 1);
	big[CONTROL_LINE_MAX + 1] = '\0';
	client_open(&c);
	say(&c, big);
	hear(&c, 2);
	assert_true(c.closed);
	assert_int_equal(c.n, 1);
	assert_non_null(strstr(c.line[0], "longer than 65536 bytes"));
	client_close(&c);
	/* As long as allowed, in pieces. */
	memcpy(big, "{\"cmd\":\"x\"", 10);
	big[CONTROL_LINE_MAX - 1] = '}';
	big[CONTROL_LINE_MAX] = '\n';
	big[CONTROL_LINE_MAX + 1] = '\0';
	client_open(&c);
	say(&c, big);
	hear(&c, 1);
	assert_non_null(strstr(c.line[0], "unknown cmd 'x'"));
	client_close(&c);
	free(big);
}

static void add(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		events_add(d.events, 1.5, "1,0", FM_INFO, "test", "something \xe2\x86\x92 else");
		control_events(d.control);
	}
}

static void followed(void **state)
{
	struct client c;
	char text[64];

	(void)state;
	add(3);
	client_open(&c);
	say(&c, "{\"cmd\":\"events\",\"follow\":true,\"since\":1}\n");
	hear(&c, 2);
	assert_non_null(strstr(c.line[0], "\"seq\":2,\"time\":1.5,\"node\":[1,0]"));
	assert_non_null(strstr(c.line[1], "\"more\":true"));
	add(2);
	hear(&c, 4);
	snprintf(text, sizeof(text), "\"seq\":%u,", (unsigned int)events_last(d.events));
	assert_non_null(strstr(c.line[3], text));
	/* A further request ends it. */
	say(&c, "{\"cmd\":\"events\",\"since\":4}\n");
	hear(&c, 5);
	assert_null(strstr(c.line[4], "\"more\""));
	assert_non_null(strstr(c.line[4], "\"seq\":5"));
	assert_null(strstr(c.line[4], "\"seq\":4"));
	client_close(&c);
}

/* A follower who does not read learns how many went by. */
static void slow_follower(void **state)
{
	uint64_t seq = events_last(d.events);
	bool missed = false;
	char text[128];
	struct client c;

	(void)state;
	client_open(&c);
	snprintf(text, sizeof(text), "{\"cmd\":\"events\",\"follow\":true,\"since\":%llu}\n",
		 (unsigned long long)seq);
	say(&c, text);
	add(1);
	hear(&c, 1);
	stream_hold(c.stream, true);
	add(20000);
	stream_hold(c.stream, false);
	snprintf(text, sizeof(text), "\"seq\":%llu,", (unsigned long long)seq + 20001);
	for (;;) {
		hear(&c, 1);
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

static void many_clients(void **state)
{
	struct client c[70];
	unsigned int busy = 0;

	(void)state;
	for (unsigned int i = 0; i < 70; i++) {
		client_open(&c[i]);
		say(&c[i], "{}\n");
		hear(&c[i], 1);
		busy += c[i].n == 1 && strstr(c[i].line[0], "too many clients");
	}
	assert_int_equal(busy, geteuid() ? 70 - 48 : 70 - 64);
	for (unsigned int i = 0; i < 70; i++)
		client_close(&c[i]);
}

static void second_daemon(void **state)
{
	struct fabricd other = d;
	int err;

	(void)state;
	assert_null(control_new(&other, &err));
	assert_int_equal(err, -EADDRINUSE);
	assert_int_equal(access(d.config.control, F_OK), 0);
}

static int setup(void **state)
{
	static const char key[] = "0123456789abcdef";
	char path[128], text[AUTH_TEXT_MAX], address[FM_ADDR_MAX];
	struct svc_config sc = { .user_timeout_ms = 1000, .auth = &d.auth, .address = address };
	static const struct svc_ops none;
	FILE *f;
	int err;

	(void)state;
	log_level_set(FM_ERROR);
	config_default(&d.config);
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/key", folder);
	umask(077);
	f = fopen(path, "w");
	if (!f || fputs(key, f) < 0 || fclose(f))
		return 1;
	snprintf(d.config.control, sizeof(d.config.control), "%s/control", folder);
	snprintf(d.nic_text, sizeof(d.nic_text), "none here");
	d.loop = loop_new();
	d.events = events_new();
	limit = loop_timer_new(d.loop, on_limit, NULL);
	if (auth_open(&d.auth, &auth_key_ops, "f", "n", path, text))
		return 1;
	unlink(path);
	for (unsigned int port = 20000 + (unsigned int)getpid() % 20000; !d.svc; port++) {
		snprintf(address, sizeof(address), "127.0.0.1:%u", port);
		d.svc = svc_new(d.loop, &sc, &none, &d, &err);
	}
	answer_start(&d);
	d.control = control_new(&d, &err);
	return !d.control;
}

static int teardown(void **state)
{
	(void)state;
	control_free(d.control);
	query_free(d.query);
	svc_free(d.svc);
	auth_close(&d.auth);
	loop_timer_free(limit);
	events_free(d.events);
	loop_free(d.loop);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(no_nic),
		cmocka_unit_test(privileges),
		cmocka_unit_test(pipelined),
		cmocka_unit_test(too_long),
		cmocka_unit_test(followed),
		cmocka_unit_test(slow_follower),
		cmocka_unit_test(many_clients),
		cmocka_unit_test(second_daemon),
	};

	return cmocka_run_group_tests(t, setup, teardown);
}
