// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client against a NIC that answers garbage, late, in parts, or not at all.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "client_nic.h"
#include "random.h"

/* --- garbage, silence, death ----------------------------------------------- */

static void answer_trailing(struct fake *f, int fd, struct nlmsghdr *req)
{
	char buf[128] = { 0 };
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;

	(void)f;
	nlh->nlmsg_len = NLMSG_HDRLEN;
	nlh->nlmsg_type = NLMSG_NOOP;
	nlh->nlmsg_seq = req->nlmsg_seq;
	memset(buf + NLMSG_HDRLEN, 0xff, 7);
	send(fd, buf, NLMSG_HDRLEN + 7, MSG_NOSIGNAL);
	fake_ack(fd, req, 0, NULL);
}

static void answer_length(int fd, struct nlmsghdr *req, uint32_t len)
{
	struct nlmsghdr nlh = { .nlmsg_len = len, .nlmsg_seq = req->nlmsg_seq };

	send(fd, &nlh, sizeof(nlh), MSG_NOSIGNAL);
	fake_ack(fd, req, 0, NULL);
}

static void answer_too_short(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	answer_length(fd, req, NLMSG_HDRLEN - 1);
}

static void answer_too_long(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	answer_length(fd, req, 4000);
}

static void answer_wrong_type(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc();

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, 0x1234, 16, 0);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

static void answer_no_genl(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = nlmsg_alloc();

	(void)f;
	nlmsg_put(msg, 0, req->nlmsg_seq, TORUS_EMU_FAMILY, 0, 0);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

/* Answers with an ACK where a reply was due, and with two replies where one was. */
static void answer_twice(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nl_msg *msg = fake_reply(req, TORUS_CMD_DEVICE_GET, 0);

	(void)f;
	put_device(msg);
	fake_send(fd, msg);
	answer_gets(f, fd, req);
}

static void test_garbage_is_bad_message_and_client_stays_usable(void **state)
{
	static const fake_fn all[] = { answer_trailing, answer_too_short, answer_too_long,
				       answer_wrong_type, answer_no_genl, answer_ok,
				       answer_twice };
	struct torus_device d;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		nic.fn = all[i];
		if (torus_device_get(dev, &d) != -EBADMSG)
			fail_msg("garbage %u was taken: %s", i, torus_error(dev));
		assert_usable();
	}
}

static void test_request_without_answer_times_out(void **state)
{
	struct torus_device d;
	long begin = now_ms();

	(void)state;
	nic.fn = answer_nothing;
	torus_timeout_set(dev, 50);
	assert_int_equal(torus_device_get(dev, &d), -ETIMEDOUT);
	assert_in_range(now_ms() - begin, 49, 1500);
	assert_string_equal(torus_error(dev), "device get: no answer in 50 ms");
	torus_timeout_set(dev, 2000);
	assert_usable();
}

/*
 * Sends late answers of a request that timed out together with those of the next: they must not be
 * mistaken.
 */
static void answer_late(struct fake *f, int fd, struct nlmsghdr *req)
{
	static struct nlmsghdr before;
	struct nl_msg *msg;

	if (f->requests == 1) {
		before = *req;
		return;
	}
	msg = fake_reply(&before, TORUS_CMD_DEVICE_GET, 0);
	put_device(msg);
	nla_put_u8(msg, TORUS_A_PORT_COUNT, 12);
	fake_send(fd, msg);
	fake_ack(fd, &before, -EIO, "stale");
	answer_gets(f, fd, req);
}

static void test_late_answer_is_not_taken_for_next_request(void **state)
{
	struct torus_device d;

	(void)state;
	nic.fn = answer_late;
	torus_timeout_set(dev, 30);
	assert_int_equal(torus_device_get(dev, &d), -ETIMEDOUT);
	torus_timeout_set(dev, 2000);
	assert_int_equal(torus_device_get(dev, &d), 0);
	assert_int_equal(d.nports, 6);
}

/* Sends stale answers without end: the caller must not wait without limit. */
static void answer_stale(struct fake *f, int fd, struct nlmsghdr *req)
{
	struct nlmsghdr other = *req;
	int i;

	(void)f;
	other.nlmsg_seq--;
	for (i = 0; i < 60; i++) {
		fake_ack(fd, &other, 0, NULL);
		usleep(5000);
	}
}

static void test_stale_answers_do_not_prolong_wait(void **state)
{
	struct torus_device d;
	long begin = now_ms();

	(void)state;
	nic.fn = answer_stale;
	torus_timeout_set(dev, 50);
	assert_int_equal(torus_device_get(dev, &d), -ETIMEDOUT);
	assert_in_range(now_ms() - begin, 49, 250);
}

static void answer_slowly(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	usleep(30000);
	fake_ack(fd, req, 0, NULL);
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void test_signals_do_not_interrupt_requests(void **state)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	int i;

	(void)state;
	/* System calls are not restarted; the fake's thread takes no signals. */
	sigaction(SIGALRM, &sa, NULL);
	nic.fn = answer_slowly;
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < 3; i++)
		assert_int_equal(torus_admin_set(dev, 1, true), 0);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void answer_death(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	(void)req;
	shutdown(fd, SHUT_RDWR);
}

static void test_nic_that_goes_away_ends_requests(void **state)
{
	struct torus_device d;

	(void)state;
	nic.fn = answer_death;
	assert_int_equal(torus_device_get(dev, &d), -ENODEV);
	assert_string_equal(torus_error(dev), "device get: the NIC went away");
	assert_int_equal(torus_device_get(dev, &d), -ENODEV);
}

/* Right answers are changed in some bytes: any result is allowed, but no harm and no hang. */
static uint64_t mutation;

static void answer_mutated(struct fake *f, int fd, struct nlmsghdr *req)
{
	unsigned int cmd = ((struct genlmsghdr *)nlmsg_data(req))->cmd, i, n;
	struct nl_msg *msg = fake_reply(req, cmd, 0);
	uint8_t *bytes = (uint8_t *)nlmsg_hdr(msg);

	(void)f;
	if (cmd == TORUS_CMD_DEVICE_GET)
		put_device(msg);
	else if (cmd == TORUS_CMD_LINK_GET)
		put_link(msg, 3);
	else
		put_park(msg);
	n = random_below(&mutation, 6);
	for (i = 0; i < n; i++) {
		uint32_t at = random_below(&mutation, nlmsg_hdr(msg)->nlmsg_len);

		if (at >= NLMSG_HDRLEN)
			bytes[at] = (uint8_t)random_next(&mutation);
	}
	if (random_below(&mutation, 4) == 0)
		nlmsg_hdr(msg)->nlmsg_len -= random_below(&mutation,
							  nlmsg_hdr(msg)->nlmsg_len -
							  NLMSG_HDRLEN);
	fake_send(fd, msg);
	fake_ack(fd, req, 0, NULL);
}

static void test_random_answers_are_taken_or_bad_message(void **state)
{
	unsigned int i, good = 0, bad = 0;
	struct torus_device d;
	struct torus_link l;
	struct torus_park p;

	(void)state;
	mutation = random_seed(1);
	nic.fn = answer_mutated;
	for (i = 0; i < 20000; i++) {
		int err = i % 3 == 0 ? torus_device_get(dev, &d) :
			  i % 3 == 1 ? torus_link_get(dev, 3, &l) : torus_park_get(dev, &p);

		if (err != 0 && err != -EBADMSG)
			fail_msg("SEED=%llu round %u: %d %s",
				 (unsigned long long)random_seed(1), i, err, torus_error(dev));
		good += !err;
		bad += !!err;
		if (!err && i % 3 == 0)
			assert_true(d.nports <= TORUS_MAX_PORTS && d.shape.ndims <= 6);
		if (!err && i % 3 == 1)
			assert_true(l.port < TORUS_MAX_PORTS && l.state < TORUS_LINK_STATES);
	}
	assert_true(good > 1000 && bad > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(garbage_is_bad_message_and_client_stays_usable),
		TEST(request_without_answer_times_out),
		TEST(late_answer_is_not_taken_for_next_request),
		TEST(stale_answers_do_not_prolong_wait),
		TEST(signals_do_not_interrupt_requests),
		TEST(nic_that_goes_away_ends_requests),
		TEST(random_answers_are_taken_or_bad_message),
	};

	return CLIENT_TESTS("client faults", tests);
}
