// SPDX-License-Identifier: GPL-2.0-only
/*
 * Notifications: in order, lost, garbage, and the end of the NIC.
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

/* --- events ---------------------------------------------------------------- */

/**
 * struct received - what the callback was told
 */
static struct received {
	unsigned int n;
	struct torus_event ev[32];
	char data[TORUS_MGMT_MAX];
} received;

static void on_event(const struct torus_event *ev, void *arg)
{
	struct received *h = arg;

	if (h->n < 32)
		h->ev[h->n] = *ev;
	h->n++;
	if (ev->data)
		memcpy(h->data, ev->data, ev->len);
}

static int events_conn;		/* the end of the connection at the fake NIC */

static void answer_subscribe(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	events_conn = fd;
	fake_ack(fd, req, 0, NULL);
}

static void subscribe(void)
{
	nic.fn = answer_subscribe;
	assert_int_equal(torus_events_open(dev, 7), 0);
	assert_int_equal(fake_cmd(&nic), TORUS_CMD_SUBSCRIBE);
	assert_int_equal(nla_get_u32(fake_attr(&nic, TORUS_A_GROUPS)), 7);
	memset(&received, 0, sizeof(received));
}

static int read_events(void)
{
	struct pollfd p = { .fd = torus_events_fd(dev), .events = POLLIN };

	assert_int_equal(poll(&p, 1, 2000), 1);
	return torus_events_read(dev, on_event, &received);
}

static void send_mgmt(unsigned int port, const char *text)
{
	struct nl_msg *msg = fake_reply(NULL, TORUS_CMD_MGMT_NTF, 0);

	nla_put_u8(msg, TORUS_A_PORT, (uint8_t)port);
	nla_put(msg, TORUS_A_DATA, (int)strlen(text), text);
	fake_send(events_conn, msg);
}

static void test_events_of_each_group_are_delivered(void **state)
{
	struct nl_msg *msg;

	(void)state;
	subscribe();
	assert_int_equal(torus_events_read(dev, on_event, &received), 0);
	assert_int_equal(received.n, 0);
	msg = fake_reply(NULL, TORUS_CMD_LINK_NTF, 0);
	put_link(msg, 5);
	fake_send(events_conn, msg);
	send_mgmt(2, "init");
	msg = fake_reply(NULL, TORUS_CMD_PARK_NTF, 0);
	put_park(msg);
	fake_send(events_conn, msg);
	fake_send(events_conn, fake_reply(NULL, 200, 0));	/* an event of a newer NIC */
	assert_int_equal(read_events(), 0);
	assert_int_equal(received.n, 3);
	assert_int_equal(received.ev[0].group, TORUS_GROUP_LINK);
	assert_int_equal(received.ev[0].link.port, 5);
	assert_int_equal(received.ev[0].link.old_state, TORUS_LINK_INIT);
	assert_int_equal(received.ev[1].group, TORUS_GROUP_MGMT);
	assert_int_equal(received.ev[1].port, 2);
	assert_int_equal(received.ev[1].len, 4);
	assert_memory_equal(received.data, "init", 4);
	assert_int_equal(received.ev[2].group, TORUS_GROUP_PARK);
	assert_int_equal(received.ev[2].park.flow.version, 11);
	/* Requests work beside events. */
	assert_usable();
}

static void test_lost_events_are_reported_once(void **state)
{
	struct nlmsghdr lost = { .nlmsg_len = sizeof(lost), .nlmsg_type = NLMSG_OVERRUN };

	(void)state;
	subscribe();
	send_mgmt(1, "a");
	send(events_conn, &lost, sizeof(lost), MSG_NOSIGNAL);
	send_mgmt(1, "b");
	assert_int_equal(read_events(), -ENOBUFS);
	assert_int_equal(received.n, 1);
	assert_int_equal(read_events(), 0);
	assert_int_equal(received.n, 2);
	assert_int_equal(received.data[0], 'b');
}

static void test_malformed_event_is_reported_and_not_delivered(void **state)
{
	struct nl_msg *msg;

	(void)state;
	subscribe();
	send(events_conn, "garbage", 7, MSG_NOSIGNAL);
	assert_int_equal(read_events(), -EBADMSG);
	send_mgmt(12, "no such port");
	assert_int_equal(read_events(), -EBADMSG);
	msg = fake_reply(NULL, TORUS_CMD_LINK_NTF, 0);
	nla_put_u8(msg, TORUS_A_PORT, 1);
	fake_send(events_conn, msg);
	assert_int_equal(read_events(), -EBADMSG);
	assert_int_equal(received.n, 0);
	send_mgmt(1, "good");
	assert_int_equal(read_events(), 0);
	assert_int_equal(received.n, 1);
}

static void test_nic_that_goes_away_ends_events(void **state)
{
	(void)state;
	subscribe();
	shutdown(events_conn, SHUT_RDWR);
	assert_int_equal(read_events(), -ENODEV);
}

/*
 * Answers a subscription late: the event before cannot be delivered, but the client must learn that
 * it missed one.
 */
static void answer_subscribe_late(struct fake *f, int fd, struct nlmsghdr *req)
{
	(void)f;
	events_conn = fd;
	send_mgmt(1, "early");
	fake_ack(fd, req, 0, NULL);
}

static void test_event_before_acknowledgement_counts_as_lost(void **state)
{
	(void)state;
	memset(&received, 0, sizeof(received));
	nic.fn = answer_subscribe_late;
	assert_int_equal(torus_events_open(dev, 1), 0);
	assert_int_equal(torus_events_read(dev, on_event, &received), -ENOBUFS);
	assert_int_equal(torus_events_read(dev, on_event, &received), 0);
	assert_int_equal(received.n, 0);
}

static void test_refused_subscription_may_be_tried_again(void **state)
{
	(void)state;
	nic.fn = answer_refused_mutely;
	assert_int_equal(torus_events_open(dev, 1), -EPERM);
	assert_int_equal(torus_events_fd(dev), -1);
	subscribe();
	subscribe();	/* the second subscription closes the first connection */
	send_mgmt(0, "x");
	assert_int_equal(read_events(), 0);
	assert_int_equal(received.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(events_of_each_group_are_delivered),
		TEST(lost_events_are_reported_once),
		TEST(malformed_event_is_reported_and_not_delivered),
		TEST(nic_that_goes_away_ends_events),
		TEST(event_before_acknowledgement_counts_as_lost),
		TEST(refused_subscription_may_be_tried_again),
	};

	return CLIENT_TESTS("client events", tests);
}
