// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of the service network: timeouts, tested with a clock that moves only by clock_move(),
 * and numbers of connections. A stranger is a peer that has not proved itself, a member one that
 * has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/address.h"
#include "daemon/frame.h"
#include "daemon/log.h"
#include "tests/unit/clock.h"
#include "tests/unit/svc_ends.h"

#define EACH	64	/* most strangers from one address */
#define ALL	256	/* most strangers */
#define MOST	4096	/* most connections */
#define BATCH	60	/* connections that members() opens at once: fewer than EACH */

/* --- what strangers see ------------------------------------------------------ */

static int watched;

/* Return: true if the other end has closed the connection @fd. */
static bool closed(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EINTR);
}

static bool watched_closed(void)
{
	return closed(watched);
}

static void close_awaited(int fd)
{
	watched = fd;
	run_until(watched_closed);
	close(fd);
}

static uint64_t refused;

static bool one_more_refused(void)
{
	return svc_stats(b.svc)->refused_malformed == refused + 1;
}

/* Sends a malformed frame and expects to be refused for it: so the connection was accepted. */
static void check_refused(int fd)
{
	refused = svc_stats(b.svc)->refused_malformed;
	assert_int_equal(send(fd, "\0\0\0\0", 4, 0), 4);
	run_until(one_more_refused);
	close_awaited(fd);
}

/* Waits until all earlier connections are accepted or refused, by making one more. */
static void all_accepted(void)
{
	check_refused(stranger_from("127.0.0.9:1"));
}

static uint64_t busy;

static bool one_more_busy(void)
{
	return svc_stats(b.svc)->refused_busy == busy + 1;
}

/* Expects that a stranger from @address is refused because there are too many. */
static void turned_away(const char *address)
{
	int fd = stranger_from(address);

	busy = svc_stats(b.svc)->refused_busy;
	run_until(one_more_busy);
	close_awaited(fd);
}

static void strangers(int *fd, unsigned int n, const char *address)
{
	for (unsigned int i = 0; i < n; i++)
		fd[i] = stranger_from(address);
}

/* Makes a listening socket that never answers. */
static int mute(const char *host, char *address)
{
	struct sockaddr_storage s;
	socklen_t len;
	int fd;

	snprintf(address, FM_ADDR_MAX, "%s:1", host);
	assert_int_equal(address_parse(address, &s, &len), 0);
	((struct sockaddr_in *)&s)->sin_port = 0;
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&s, len), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&s, &len), 0);
	address_text(&s, address);
	return fd;
}

/* --- time -------------------------------------------------------------------- */

/* A stranger has 5 s to prove itself, even if it sends something now and then. */
static void stranger_has_5_s_to_prove_itself(void **state)
{
	static const char begins[] = "\0\0\0\20";	/* 16 bytes follow */
	int silent, slow;

	(void)state;
	end_open(&b, HERE, "green", "n1", KEY_A);
	clock_stop();
	silent = stranger();
	slow = stranger();
	all_accepted();
	for (unsigned int i = 0; i < 4; i++) {
		clock_move(SEC);
		assert_int_equal(send(slow, begins + i, 1, 0), 1);
	}
	clock_move(SEC - US);
	all_accepted();
	run_due();
	assert_false(closed(silent) || closed(slow));
	clock_move(US);
	close_awaited(silent);
	close_awaited(slow);
	assert_int_equal(b.up + b.down, 0);
	end_close(&b);
	clock_go();
}

/* An own connection to a silent peer is given up after 5 s as well, and the owner is informed. */
static void own_connection_to_silent_peer_ends_after_5_s(void **state)
{
	char address[FM_ADDR_MAX];
	int fd = mute(HERE, address);

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	clock_stop();
	assert_true(svc_connect(a.svc, address) > 0);
	clock_move(5 * SEC - US);
	run_due();
	assert_int_equal(a.down, 0);
	clock_move(US);
	run_until(a_down);
	assert_int_equal(a.up, 0);
	close(fd);
	end_close(&a);
	clock_go();
}

static bool has_b_received(void)
{
	return b.msgs == 1;
}

/* A member may be silent without limit: keep-alives are the manager's matter. */
static void member_may_be_silent_without_limit(void **state)
{
	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	clock_stop();
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	clock_move(3600 * SEC);
	run_due();
	send_text(&a, "{}");
	run_until(has_b_received);
	assert_int_equal(a.down + b.down, 0);
	end_close(&a);
	end_close(&b);
	clock_go();
}

/** struct member - a peer on a plain socket that proves itself; reads only when the test does */
struct member {
	struct auth_session session;
	int fd;
};

static bool has_answer(void)
{
	uint8_t head[FRAME_HEADER];
	size_t n = sizeof(head);

	if (recv(watched, head, n, MSG_PEEK | MSG_DONTWAIT) != (ssize_t)n)
		return false;
	n += frame_length(head);
	return recv(watched, NULL, n, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT) >= (ssize_t)n;
}

static void member_send(const struct member *m, const struct svc_msg *msg)
{
	uint8_t *data;
	size_t len;

	assert_int_equal(frame_pack(msg, 5, &data, &len), 0);
	assert_int_equal(send(m->fd, data, len, 0), len);
	free(data);
}

static enum auth_next member_receive(struct member *m, struct svc_msg *reply)
{
	uint8_t data[FRAME_HEADER + FRAME_MAX_STRANGER];
	struct svc_msg received;
	const uint8_t *body;
	ssize_t used;
	size_t n;

	watched = m->fd;
	run_until(has_answer);
	used = recv(m->fd, data, sizeof(data), MSG_PEEK);
	used = frame_next(data, (size_t)used, FRAME_MAX_STRANGER, &body, &n);
	assert_true(used > 0);
	assert_int_equal(svc_msg_unpack(body, n, &received), 0);
	assert_int_equal(received.type, SVC_AUTH);
	assert_int_equal(recv(m->fd, data, (size_t)used, 0), used);
	return auth_step(&m->session, &received.auth, &reply->auth);
}

static void member_open(struct member *m, const struct auth *auth)
{
	struct svc_msg msg = { .type = SVC_AUTH };

	auth_session_init(&m->session, auth, true);
	m->fd = stranger();
	assert_int_equal(auth_start(&m->session, &msg.auth), 0);
	member_send(m, &msg);
	assert_int_equal(member_receive(m, &msg), AUTH_SEND);
	member_send(m, &msg);
	assert_int_equal(member_receive(m, &msg), AUTH_DONE);
}

#define BIG (9u << 20)

/* If the peer does not read, data still unsent 2 s after svc_close() is dropped. */
static void unsent_data_is_dropped_2_s_after_close(void **state)
{
	char *big = malloc(BIG);
	struct svc_msg ask = { .type = SVC_LINES, .lines = { .links = (char *)"[]" } };
	struct member m;

	(void)state;
	end_auth(&a, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	clock_stop();
	member_open(&m, &a.auth);
	assert_int_equal(b.up, 1);
	assert_int_equal(connections(&b, false), 1);
	memset(big, 'x', BIG - 1);
	big[BIG - 1] = '\0';
	for (unsigned int i = 0; i < 2; i++)
		send_text(&b, big);
	svc_close(b.svc, b.conn);
	assert_int_equal(connections(&b, false), 0);
	/* For its owner it is closed: no message passes, and closing again adds no time. */
	member_send(&m, &ask);
	all_accepted();
	clock_move(SEC);
	svc_close(b.svc, b.conn);
	clock_move(SEC - US);
	run_due();
	assert_int_equal(svc_stats(b.svc)->up, 1);
	clock_move(US);
	run_due();
	assert_int_equal(svc_stats(b.svc)->up, 0);
	assert_int_equal(b.msgs + b.down, 0);
	free(big);
	close(m.fd);
	end_close(&b);
	auth_close(&a.auth);
	clock_go();
}

static size_t read_so_far;

static bool all_read(void)
{
	static char data[65536];
	ssize_t n;

	while ((n = recv(watched, data, sizeof(data), MSG_DONTWAIT)) > 0)
		read_so_far += (size_t)n;
	return !n;
}

/* A peer that reads gets all data sent before svc_close(), and then the end of the stream. */
static void data_sent_before_close_arrives(void **state)
{
	char *big = malloc(BIG);
	struct member m;

	(void)state;
	end_auth(&a, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	clock_stop();
	member_open(&m, &a.auth);
	memset(big, 'x', BIG - 1);
	big[BIG - 1] = '\0';
	send_text(&b, big);
	svc_close(b.svc, b.conn);
	send_text(&b, big);		/* sent after svc_close() */
	watched = m.fd;
	read_so_far = 0;
	run_until(all_read);
	assert_true(read_so_far > BIG && read_so_far < BIG + 100);
	assert_int_equal(svc_stats(b.svc)->up, 0);
	free(big);
	close(m.fd);
	end_close(&b);
	auth_close(&a.auth);
	clock_go();
}

/* An own connection that is not up yet is closed at once, and down() is not called. */
static void connection_closed_before_it_is_up_reports_no_loss(void **state)
{
	char address[FM_ADDR_MAX];
	int fd = mute(HERE, address), peer;

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	clock_stop();
	svc_close(a.svc, svc_connect(a.svc, address));
	peer = accept(fd, NULL, NULL);
	close_awaited(peer);
	clock_move(10 * SEC);
	run_due();
	assert_int_equal(a.down, 0);
	close(fd);
	end_close(&a);
	clock_go();
}

/* --- the log ----------------------------------------------------------------- */

static char log_path[] = "/tmp/test_svc_limits.XXXXXX";
static int saved;

static void log_to_file(void)
{
	int fd;

	strcpy(log_path + strlen(log_path) - 6, "XXXXXX");
	fd = mkstemp(log_path);
	assert_true(fd >= 0);
	saved = dup(2);
	dup2(fd, 2);
	close(fd);
	log_level_set(FM_WARNING);
}

static void log_as_before(void)
{
	dup2(saved, 2);
	close(saved);
	unlink(log_path);
	log_level_set(FM_ERROR);
}

/* Return: how many lines of the log contain @text. */
static unsigned int logged(const char *text)
{
	FILE *f = fopen(log_path, "r");
	unsigned int n = 0;
	char line[1024];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, text) != NULL;
	fclose(f);
	return n;
}

/* Refusals may come a thousand times a second: they are logged at most every 10 s. */
static void refusals_are_logged_every_10_s_at_most(void **state)
{
	(void)state;
	end_open(&b, HERE, "green", "n1", KEY_A);
	log_to_file();
	clock_stop();
	for (unsigned int i = 0; i < 5; i++)
		check_refused(stranger());
	assert_int_equal(logged(""), 1);
	assert_int_equal(logged("warning: service: refused 127.0.0.1:"), 1);
	assert_int_equal(logged("(0 more since the last such line)"), 1);
	assert_true(svc_stats(b.svc)->refused_at == loop_now());
	clock_move(10 * SEC - 1);
	check_refused(stranger());
	assert_int_equal(logged(""), 1);
	clock_move(1);
	check_refused(stranger());
	assert_int_equal(logged(""), 2);
	assert_int_equal(logged("(5 more since the last such line)"), 1);
	assert_true(svc_stats(b.svc)->refused_at == loop_now());
	clock_move(10 * SEC);
	check_refused(stranger());
	assert_int_equal(logged("(0 more since the last such line)"), 2);
	assert_int_equal(svc_stats(b.svc)->refused_malformed, 8);
	log_as_before();
	end_close(&b);
	clock_go();
}

static void files_allowed(rlim_t n)
{
	struct rlimit r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = n;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &r), 0);
}

/* Without a free file descriptor accept() is tried again after a second, not at once. */
static void accept_without_descriptor_is_tried_each_second(void **state)
{
	struct rlimit before;
	int fd, next;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	end_open(&b, HERE, "green", "n1", KEY_A);
	log_to_file();
	clock_stop();
	fd = stranger();
	next = dup(0);
	close(next);
	files_allowed((rlim_t)next);
	for (unsigned int i = 0; i < 5; i++)
		run_due();
	files_allowed(before.rlim_cur);
	assert_int_equal(logged("error: service: accept: Too many open files"), 1);
	clock_move(SEC - US);
	assert_int_equal(send(fd, "\0\0\0\0", 4, 0), 4);
	for (unsigned int i = 0; i < 5; i++)
		run_due();
	assert_int_equal(svc_stats(b.svc)->refused_malformed, 0);
	clock_move(US);
	refused = 0;
	run_until(one_more_refused);
	close(fd);
	log_as_before();
	end_close(&b);
	clock_go();
}

/* --- connections ------------------------------------------------------------- */

/* Four addresses with a quarter each fill the room for strangers; one that ends makes room. */
static void strangers_are_limited_by_address_and_in_total(void **state)
{
	static const char *const from[] = { "127.0.0.1:1", "127.0.0.2:1", "127.0.0.3:1",
					    "127.0.0.4:1" };
	int fd[ALL];

	(void)state;
	end_open(&b, HERE, "green", "n1", KEY_A);
	clock_stop();
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < 4; i++)
			strangers(fd + i * EACH, EACH, from[i]);
		turned_away("127.0.0.5:1");
		assert_int_equal(svc_stats(b.svc)->refused_busy, 3 * round + 1);
		/* A stranger is refused, another closes: each makes room for one. */
		check_refused(fd[0]);
		fd[0] = stranger_from("127.0.0.5:1");
		turned_away("127.0.0.6:1");
		shutdown(fd[1], SHUT_WR);
		close_awaited(fd[1]);
		fd[1] = stranger_from("127.0.0.6:1");
		turned_away("127.0.0.7:1");
		/*
		 * No stranger's connection is closed before 5 s; then all are, and there is room
		 * again.
		 */
		for (unsigned int i = 0; i < ALL; i++)
			assert_false(closed(fd[i]));
		clock_move(5 * SEC);
		for (unsigned int i = 0; i < ALL; i++)
			close_awaited(fd[i]);
	}
	end_close(&b);
	clock_go();
}

static unsigned int wanted;

static bool members_up(void)
{
	return a.up == wanted && b.up == wanted;
}

/* Opens connections of members from one address until there are @n. */
static void members(unsigned int n)
{
	while (a.up < n) {
		wanted = a.up + BATCH < n ? a.up + BATCH : n;
		for (unsigned int i = a.up; i < wanted; i++)
			assert_true(svc_connect(a.svc, b.address) > 0);
		run_until(members_up);
	}
}

static bool members_down(void)
{
	return b.down == wanted;
}

/* Members do not count as strangers, neither while they are up nor when they have gone. */
static void members_are_no_strangers(void **state)
{
	char address[FM_ADDR_MAX];
	int other[EACH], fd[ALL], own;

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	clock_stop();
	/* From EACH strangers on svc.c counts those of the new one's address. */
	strangers(other, EACH, "127.0.0.12:1");
	turned_away("127.0.0.12:1");
	members(ALL + 44);
	strangers(fd, EACH, "127.0.0.1:1");
	turned_away("127.0.0.1:1");
	strangers(fd + EACH, EACH - 1, "127.0.0.2:1");
	/* A connection of ours to an address does not count as a stranger from there. */
	own = mute("127.0.0.3", address);
	assert_true(svc_connect(b.svc, address) > 0);
	strangers(fd + 2 * EACH - 1, EACH, "127.0.0.3:1");
	turned_away("127.0.0.4:1");
	wanted = a.up;
	svc_reset(a.svc);
	run_until(members_down);
	assert_int_equal(svc_stats(b.svc)->up, 0);
	turned_away("127.0.0.4:1");
	check_refused(fd[0]);
	fd[0] = stranger_from("127.0.0.4:1");
	turned_away("127.0.0.4:1");
	assert_int_equal(svc_stats(b.svc)->refused_busy, 5);
	for (unsigned int i = 0; i < 3 * EACH - 1; i++)
		close(fd[i]);
	for (unsigned int i = 0; i < EACH; i++)
		close(other[i]);
	close(own);
	end_close(&a);
	end_close(&b);
	clock_go();
}

/* Most memory of both ends of a member's connection: the session of the proof must be freed. */
#define BYTES_OF_A_MEMBER 2048

static void connections_of_members_are_limited(void **state)
{
	struct rlimit before, r = { .rlim_cur = 2 * MOST + 100, .rlim_max = 2 * MOST + 100 };
	size_t memory;
	int fd;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	if (before.rlim_max > r.rlim_max)
		r.rlim_max = before.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r))
		skip();		/* the test does not run as root, and the limit is lower */
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	clock_stop();
	memory = mallinfo2().uordblks;
	members(MOST - 1);
	memory = (mallinfo2().uordblks - memory) / (MOST - 1);
	if (memory > BYTES_OF_A_MEMBER)
		fail_msg("a member takes %zu bytes", memory);
	fd = stranger();
	turned_away(HERE ":1");
	assert_false(closed(fd));
	shutdown(fd, SHUT_WR);
	close_awaited(fd);
	members(MOST);
	assert_int_equal(svc_stats(b.svc)->up, MOST);
	assert_int_equal(svc_connect(a.svc, b.address), -EMFILE);
	turned_away(HERE ":1");
	assert_int_equal(a.down + b.down, 0);
	end_close(&a);
	end_close(&b);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	clock_go();
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(stranger_has_5_s_to_prove_itself),
		cmocka_unit_test(own_connection_to_silent_peer_ends_after_5_s),
		cmocka_unit_test(member_may_be_silent_without_limit),
		cmocka_unit_test(unsent_data_is_dropped_2_s_after_close),
		cmocka_unit_test(data_sent_before_close_arrives),
		cmocka_unit_test(connection_closed_before_it_is_up_reports_no_loss),
		cmocka_unit_test(refusals_are_logged_every_10_s_at_most),
		cmocka_unit_test(accept_without_descriptor_is_tried_each_second),
		cmocka_unit_test(strangers_are_limited_by_address_and_in_total),
		cmocka_unit_test(members_are_no_strangers),
		cmocka_unit_test(connections_of_members_are_limited),
	};

	return cmocka_run_group_tests(t, ends_setup, ends_teardown);
}
