// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/address.h"
#include "daemon/log.h"
#include "tests/unit/svc_ends.h"

#define TICK_MS		5
#define TICKS_MAX	(60000 / TICK_MS)

struct loop *loop;
struct end a, b;
unsigned int ends_schemas[2] = { 5, 6 };

static struct loop_fd *watch;
static struct loop_timer *due;
static bool (*until)(void);
static unsigned int ticks;
static int tick_fd;

static void check(void)
{
	if (until && until())
		loop_stop(loop);
}

/* A timer of the kernel, which runs although the program's clock may be stopped. */
static void on_tick(void *arg, unsigned int what)
{
	uint64_t n;

	(void)arg;
	(void)what;
	if (read(tick_fd, &n, sizeof(n)) == sizeof(n) && ++ticks > TICKS_MAX)
		loop_stop(loop);
	check();
}

void run_until(bool (*fn)(void))
{
	until = fn;
	ticks = 0;
	while (!fn() && ticks <= TICKS_MAX)
		loop_run(loop);
	until = NULL;
	assert_true(fn());
}

static void on_due(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

/*
 * Runs the timers that are due. Those of one time run in any order; after a second turn none is
 * left.
 */
void run_due(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		loop_timer_set(due, 0);
		loop_run(loop);
	}
}

static void on_up(void *arg, int conn)
{
	struct end *e = arg;

	e->conn = conn;
	e->up++;
	check();
}

static void on_down(void *arg, int conn)
{
	struct end *e = arg;

	(void)conn;
	e->down++;
	check();
}

static void on_msg(void *arg, int conn, const struct svc_msg *msg)
{
	struct end *e = arg;

	e->msgs++;
	e->fm_type = msg->type == SVC_FM ? msg->fm.type : 0;
	if (msg->type == SVC_LINES)
		e->bytes = strlen(msg->lines.links);
	if (e->close_at && e->msgs == (unsigned int)e->close_at)
		svc_close(e->svc, conn);
	check();
}

static const struct svc_ops ops = { .up = on_up, .down = on_down, .msg = on_msg };

void end_auth(struct end *e, const char *fabric, const char *name, const char *key)
{
	char path[] = "/tmp/test_svc.XXXXXX", text[AUTH_TEXT_MAX];
	int fd = mkstemp(path);

	memset(e, 0, sizeof(*e));
	assert_int_equal(write(fd, key, strlen(key)), strlen(key));
	close(fd);
	assert_int_equal(auth_open(&e->auth, &auth_key_ops, fabric, name, path, text), 0);
	unlink(path);
}

void end_open(struct end *e, const char *host, const char *fabric, const char *name,
	      const char *key)
{
	struct svc_config c = { .user_timeout_ms = USER_TIMEOUT_MS, .auth = &e->auth,
				.oldest = ends_schemas[0], .newest = ends_schemas[1] };
	static unsigned int port;
	int err = -EADDRINUSE;

	end_auth(e, fabric, name, key);
	if (!port)
		port = 20000 + (unsigned int)getpid() % 20000;
	while (err == -EADDRINUSE) {
		snprintf(e->address, sizeof(e->address), "%s:%u", host, port++);
		c.address = e->address;
		e->svc = svc_new(loop, &c, &ops, e, &err);
	}
	assert_int_equal(err, 0);
}

void end_close(struct end *e)
{
	svc_free(e->svc);
	auth_close(&e->auth);
}

void send_text(struct end *e, const char *text)
{
	struct svc_msg m = { .type = SVC_LINES, .lines = { .links = (char *)text } };

	svc_send(e->svc, e->conn, &m);
}

void send_fm(struct end *e, unsigned int type)
{
	struct svc_msg m = { .fm = { .type = (uint8_t)type } };

	svc_send(e->svc, e->conn, &m);
}

static void count(void *arg, int conn)
{
	unsigned int *n = arg;

	(void)conn;
	++*n;
}

unsigned int connections(const struct end *e, bool outgoing)
{
	unsigned int n = 0;

	svc_each(e->svc, outgoing, count, &n);
	return n;
}

int stranger_from(const char *address)
{
	struct sockaddr_storage s;
	socklen_t len;
	int fd;

	assert_int_equal(address_parse(address, &s, &len), 0);
	fd = socket(s.ss_family, SOCK_STREAM, 0);
	((struct sockaddr_in *)&s)->sin_port = 0;
	assert_int_equal(bind(fd, (struct sockaddr *)&s, len), 0);
	assert_int_equal(address_parse(b.address, &s, &len), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&s, len), 0);
	return fd;
}

int stranger(void)
{
	return stranger_from("127.0.0.1:1");
}

bool both_up(void)
{
	return a.up && b.up;
}

bool a_down(void)
{
	return a.down;
}

bool both_down(void)
{
	return a.down && b.down;
}

int ends_setup(void **state)
{
	struct itimerspec every = { .it_interval.tv_nsec = TICK_MS * 1000000,
				    .it_value.tv_nsec = TICK_MS * 1000000 };

	(void)state;
	log_level_set(FM_ERROR);
	loop = loop_new();
	tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (!loop || tick_fd < 0 || timerfd_settime(tick_fd, 0, &every, NULL))
		return 1;
	watch = loop_fd_new(loop, tick_fd, LOOP_READ, on_tick, NULL);
	due = loop_timer_new(loop, on_due, NULL);
	return !watch || !due;
}

int ends_teardown(void **state)
{
	(void)state;
	loop_fd_free(watch);
	loop_timer_free(due);
	loop_free(loop);
	return close(tick_fd);
}
