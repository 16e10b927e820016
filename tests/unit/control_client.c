// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
#include "tests/unit/control_client.h"

struct fabricd d;
char folder[] = "/tmp/test_control.XXXXXX";
static struct loop_timer *limit, *due;
static bool late;

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

void client_open(struct client *c)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	memset(c, 0, sizeof(*c));
	memcpy(a.sun_path, d.config.control, sizeof(d.config.control));
	c->fd = fd;
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	c->stream = stream_new(d.loop, fd, false, 32u << 20, 32u << 20, &ops, c);
	assert_non_null(c->stream);
}

void client_close(struct client *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		free(c->line[i]);
	stream_free(c->stream);
}

void send_text(struct client *c, const char *text)
{
	stream_send(c->stream, text, strlen(text));
}

static void on_limit(void *arg)
{
	(void)arg;
	late = true;
	loop_stop(d.loop);
}

void receive_lines(struct client *c, unsigned int n)
{
	c->wanted = n;
	late = false;
	loop_timer_set(limit, loop_now() + 60 * SEC);
	while (c->n < n && !c->closed && !late)
		loop_run(d.loop);
	assert_false(late);
}

static void on_due(void *arg)
{
	(void)arg;
	loop_stop(d.loop);
}

void run_due(void)
{
	for (unsigned int i = 0; i < 20; i++) {
		loop_timer_set(due, 0);
		loop_run(d.loop);
	}
}

void expect_of(struct client *c, const char *request, const char *says)
{
	send_text(c, request);
	send_text(c, "\n");
	receive_lines(c, 1);
	if (c->n != 1 || !strstr(c->line[0], says))
		fail_msg("%s: %s", request, c->n ? c->line[0] : "closed");
	client_close(c);
}

void expect(const char *request, const char *says)
{
	struct client c;

	client_open(&c);
	expect_of(&c, request, says);
}

void add(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		events_add(d.events, 1.5, "1,0", FM_INFO, "test", "something \xe2\x86\x92 else");
		control_events(d.control);
	}
}

int control_setup(void **state)
{
	static const char key[] = "0123456789abcdef";
	char path[128], text[AUTH_TEXT_MAX], address[FM_ADDR_MAX];
	struct svc_config sc = { .user_timeout_ms = 1000, .auth = &d.auth, .oldest = 5, .newest = 6,
				 .address = address };
	static const struct svc_ops none;
	FILE *f;
	int err;

	(void)state;
	log_level_set(FM_ERROR);
	config_default(&d.config);
	if (!mkdtemp(folder) || chmod(folder, 0755))
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
	due = loop_timer_new(d.loop, on_due, NULL);
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

int control_teardown(void **state)
{
	(void)state;
	control_free(d.control);
	query_free(d.query);
	svc_free(d.svc);
	auth_close(&d.auth);
	loop_timer_free(limit);
	loop_timer_free(due);
	events_free(d.events);
	loop_free(d.loop);
	return rmdir(folder);
}
