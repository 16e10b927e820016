// SPDX-License-Identifier: GPL-2.0-only
/*
 * The service network between two ends in one process, and with a stranger who
 * writes bytes of his own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/address.h"
#include "daemon/frame.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/svc.h"

/** struct end - one manager's side */
struct end {
	struct auth auth;
	struct svc *svc;
	char address[FM_ADDR_MAX];
	int conn;			/* last that came up */
	unsigned int up, down, msgs;
	size_t bytes;			/* of the last message's text */
	int close_at;			/* closes its connection at so many messages */
};

static struct loop *loop;
static struct loop_timer *limit;
static struct end a, b;
static bool (*until)(void);
static bool late;
static const char *host = "127.0.0.1";

static void check(void)
{
	if (until && until())
		loop_stop(loop);
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

static void on_msg(void *arg, int conn, const struct fm_msg *msg)
{
	struct end *e = arg;

	e->msgs++;
	if (msg->type == FM_MSG_ASK)
		e->bytes = strlen(msg->text.text);
	if (e->close_at && e->msgs == (unsigned int)e->close_at)
		svc_close(e->svc, conn);
	check();
}

static const struct svc_ops ops = { .up = on_up, .down = on_down, .msg = on_msg };

static void on_limit(void *arg)
{
	(void)arg;
	late = true;
	loop_stop(loop);
}

static void run_until(bool (*fn)(void))
{
	until = fn;
	late = false;
	loop_timer_set(limit, loop_now() + 10 * LOOP_S);
	if (!fn())
		loop_run(loop);
	until = NULL;
	assert_false(late);
}

static void end_open(struct end *e, const char *fabric, const char *name, const char *key)
{
	char path[] = "/tmp/test_svc.XXXXXX", text[AUTH_TEXT_MAX];
	struct svc_config c = { .user_timeout_ms = 1000, .auth = &e->auth };
	static unsigned int port;
	int fd = mkstemp(path);
	int err = -EADDRINUSE;

	memset(e, 0, sizeof(*e));
	assert_int_equal(write(fd, key, strlen(key)), strlen(key));
	close(fd);
	assert_int_equal(auth_open(&e->auth, &auth_key_ops, fabric, name, path, text), 0);
	unlink(path);
	if (!port)
		port = 20000 + (unsigned int)getpid() % 20000;
	while (err == -EADDRINUSE) {
		snprintf(e->address, sizeof(e->address), "%s:%u", host, port++);
		c.address = e->address;
		e->svc = svc_new(loop, &c, &ops, e, &err);
	}
	assert_int_equal(err, 0);
}

static void end_close(struct end *e)
{
	svc_free(e->svc);
	auth_close(&e->auth);
}

#define KEY_A "0123456789abcdefA"
#define KEY_B "0123456789abcdefB"

static void send_text(struct end *e, const char *text)
{
	struct fm_msg m = { .type = FM_MSG_ASK, .text = { .id = 1, .text = (char *)text } };

	svc_send(e->svc, e->conn, &m);
}

static bool both_up(void)
{
	return a.up && b.up;
}

static bool b_has_1000(void)
{
	return b.msgs == 1000;
}

static bool b_has_big(void)
{
	return b.msgs == 1001;
}

static bool a_down(void)
{
	return a.down;
}

static bool both_down(void)
{
	return a.down && b.down;
}

static void members(void **state)
{
	char *big = malloc(8u << 20);

	(void)state;
	end_open(&a, "green", "n0", KEY_A);
	end_open(&b, "green", "n1", KEY_A);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	for (unsigned int i = 0; i < 1000; i++)
		send_text(&a, "{}");
	run_until(b_has_1000);
	memset(big, 'x', (8u << 20) - 1);
	big[(8u << 20) - 1] = '\0';
	send_text(&a, big);
	run_until(b_has_big);
	assert_int_equal(b.bytes, (8u << 20) - 1);
	free(big);
	assert_int_equal(svc_stats(a.svc)->up, 1);
	/* Closed from within a callback; only the other end hears of it. */
	b.close_at = 1002;
	send_text(&a, "{}");
	run_until(a_down);
	assert_int_equal(b.down, 0);
	assert_int_equal(svc_stats(a.svc)->up, 0);
	end_close(&a);
	end_close(&b);
}

static void over_ipv6(void **state)
{
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	struct sockaddr_storage s;
	socklen_t len;

	(void)state;
	assert_int_equal(address_parse("[::1]:19999", &s, &len), 0);
	if (fd < 0 || (bind(fd, (struct sockaddr *)&s, len) && errno != EADDRINUSE))
		skip();		/* a machine without IPv6 */
	close(fd);
	host = "[::1]";
	end_open(&a, "green", "n0", KEY_A);
	end_open(&b, "green", "n1", KEY_A);
	host = "127.0.0.1";
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	end_close(&a);
	end_close(&b);
}

/* A peer that reads nothing: the buffer has a bound, the connection ends. */
static void overflow(void **state)
{
	char *big = malloc(9u << 20);
	int conn;

	(void)state;
	end_open(&a, "green", "n0", KEY_A);
	end_open(&b, "green", "n1", KEY_A);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	memset(big, 'x', (9u << 20) - 1);
	big[(9u << 20) - 1] = '\0';
	conn = a.conn;
	for (unsigned int i = 0; i < 8; i++) {
		a.conn = conn;
		send_text(&a, big);
		assert_int_equal(a.down, 0);	/* never from within */
	}
	run_until(both_down);
	free(big);
	end_close(&a);
	end_close(&b);
}

static void other_key(void **state)
{
	(void)state;
	end_open(&a, "green", "n0", KEY_A);
	end_open(&b, "green", "n1", KEY_B);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(a_down);
	assert_int_equal(a.up + b.up + b.down, 0);
	assert_int_equal(svc_stats(b.svc)->refused_key, 1);
	assert_non_null(strstr(svc_stats(b.svc)->last_refused, "n0: the key"));
	assert_non_null(strstr(svc_stats(a.svc)->last_refused, "the key"));
	end_close(&a);
	end_close(&b);
}

static void other_fabric(void **state)
{
	(void)state;
	end_open(&a, "blue", "n0", KEY_A);
	end_open(&b, "green", "n1", KEY_A);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(a_down);
	assert_int_equal(a.up + b.up, 0);
	assert_int_equal(svc_stats(b.svc)->refused_fabric, 1);
	assert_non_null(strstr(svc_stats(b.svc)->last_refused, "'blue', allowed: 'green'"));
	end_close(&a);
	end_close(&b);
}

static void nobody_there(void **state)
{
	char address[FM_ADDR_MAX];

	(void)state;
	end_open(&a, "green", "n0", KEY_A);
	end_open(&b, "green", "n1", KEY_A);
	strcpy(address, b.address);
	end_close(&b);
	assert_int_equal(svc_connect(a.svc, "nowhere"), -EINVAL);
	assert_int_equal(svc_connect(a.svc, "[::1]:5"), -EAFNOSUPPORT);
	assert_true(svc_connect(a.svc, address) > 0);
	run_until(a_down);
	end_close(&a);
}

/* --- strangers ------------------------------------------------------------- */

static bool refused_malformed(void)
{
	return svc_stats(b.svc)->refused_malformed == 1;
}

static struct loop_timer *poll_timer;

static void on_poll(void *arg)
{
	(void)arg;
	check();
	loop_timer_set(poll_timer, loop_now() + 5 * LOOP_MS);
}

static int stranger_from(const char *address)
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

static int stranger(void)
{
	return stranger_from("127.0.0.1:1");
}

static void refuses(const void *data, size_t len)
{
	int fd;

	end_open(&b, "green", "n1", KEY_A);
	fd = stranger();
	assert_int_equal(send(fd, data, len, 0), len);
	run_until(refused_malformed);
	assert_int_equal(b.up, 0);
	close(fd);
	end_close(&b);
}

static void strangers(void **state)
{
	struct fm_msg early = { .type = FM_MSG_PING };
	uint8_t *data;
	size_t len;

	(void)state;
	poll_timer = loop_timer_new(loop, on_poll, NULL);
	loop_timer_set(poll_timer, 0);
	refuses("GET / HTTP/1.1\r\n\r\n", 18);
	refuses("\0\0\0\0", 4);
	refuses("\0\0\4\1", 4);			/* a byte more than strangers may */
	refuses("\0\0\0\4\377\377\377\377", 8);
	assert_int_equal(frame_pack(&early, &data, &len), 0);
	refuses(data, len);
	free(data);
	loop_timer_free(poll_timer);
}

static bool refused_busy(void)
{
	return svc_stats(b.svc)->refused_busy == 36;
}

/* Who opens many connections and proves nothing keeps nobody else out. */
static void crowd(void **state)
{
	int fd[100], other;

	(void)state;
	poll_timer = loop_timer_new(loop, on_poll, NULL);
	loop_timer_set(poll_timer, 0);
	end_open(&b, "green", "n1", KEY_A);
	for (int i = 0; i < 100; i++)
		fd[i] = stranger();
	run_until(refused_busy);
	other = stranger_from("127.0.0.2:1");
	assert_int_equal(send(other, "\0\0\0\0", 4, 0), 4);
	run_until(refused_malformed);
	assert_true(refused_busy());
	close(other);
	for (int i = 0; i < 100; i++)
		close(fd[i]);
	end_close(&b);
	loop_timer_free(poll_timer);
}

static int setup(void **state)
{
	(void)state;
	log_level_set(FM_ERROR);
	loop = loop_new();
	limit = loop_timer_new(loop, on_limit, NULL);
	return !loop || !limit;
}

static int teardown(void **state)
{
	(void)state;
	loop_timer_free(limit);
	loop_free(loop);
	return 0;
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(members),
		cmocka_unit_test(over_ipv6),
		cmocka_unit_test(overflow),
		cmocka_unit_test(other_key),
		cmocka_unit_test(other_fabric),
		cmocka_unit_test(nobody_there),
		cmocka_unit_test(strangers),
		cmocka_unit_test(crowd),
	};

	return cmocka_run_group_tests(t, setup, teardown);
}
