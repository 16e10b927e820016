// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "traffic_judge.h"

#define ACK_EVERY 16
#define ACK_IDLE_MS 5
#define FIN_EVERY_MS 100
#define DONE_EVERY_MS 10
#define LATE_S 5		/* if no record has come for this time, missing records count as
				 * lost */

/** struct ack - an acknowledgement: @received datagrams, repetitions not counted */
struct ack {
	uint64_t received;
	uint64_t done;
};

static bool take_acks(int fd, struct ack *ack)
{
	struct ack a;
	bool any = false;

	while (recv(fd, &a, sizeof(a), MSG_DONTWAIT) == sizeof(a)) {
		any = true;
		if (a.received > ack->received)
			ack->received = a.received;
		ack->done |= a.done;
	}
	return any;
}

static bool wait_ack(int fd, struct ack *ack, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	poll(&p, 1, ms);
	return take_acks(fd, ack);
}

static bool send_datagram(int fd, const void *buf, size_t size, struct flow *f)
{
	while (send(fd, buf, size, 0) < 0) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		if (errno == EINTR)
			continue;
		/* A connected socket reports ICMP errors: the packet was refused, not lost. */
		if (errno != ENOBUFS && errno != EAGAIN) {
			f->err = -errno;
			return false;
		}
		poll(&p, 1, 10);
	}
	return true;
}

/* Repeats the end record until the receiver has acknowledged it. */
static void finish_flow(int fd, struct flow *f, struct ack *ack)
{
	double end = traffic_now() + TRAFFIC_PATIENCE_S;
	char buf[sizeof(struct record)];

	record_fill(buf, sizeof(buf), RECORD_END, f->sent);
	while (!ack->done && traffic_now() < end && send_datagram(fd, buf, sizeof(buf), f))
		wait_ack(fd, ack, FIN_EVERY_MS);
	if (!ack->done && !f->err)
		f->err = -ETIMEDOUT;
}

void traffic_udp_send(int fd, const struct load *load, struct flow *f)
{
	double start = traffic_now(), last_at = start;
	struct ack ack = { 0 };
	static char buf[TRAFFIC_MAX];

	while (traffic_pace(load, start, f->sent)) {
		if (f->sent - ack.received >= TRAFFIC_WINDOW) {
			if (wait_ack(fd, &ack, 100))
				last_at = traffic_now();
			else if (traffic_now() > last_at + TRAFFIC_PATIENCE_S)
				break;
			continue;
		}
		record_fill(buf, load->size, f->sent, 0);
		if (!send_datagram(fd, buf, load->size, f))
			break;
		f->sent++;
		if (f->sent % ACK_EVERY == 0)
			take_acks(fd, &ack);
	}
	f->seconds = traffic_now() - start;
	finish_flow(fd, f, &ack);
}

/*
 * Sends an acknowledgement. Return: false if an earlier one was refused, because the sender has
 * ended.
 */
static bool send_count(int fd, const struct flow *f, bool done)
{
	struct ack a = { .received = f->received, .done = done };

	/* A lost acknowledgement is made up for by the next one. */
	return send(fd, &a, sizeof(a), MSG_DONTWAIT) >= 0 || errno != ECONNREFUSED;
}

/* Return: true if all records have come, or those that are missing count as lost. */
static bool is_over(const struct judge *j, double now)
{
	return judge_has_all(j) || now - j->latest > (j->ended ? LATE_S : TRAFFIC_PATIENCE_S + 5);
}

/* Discards input for a short time. Return: false if an acknowledgement was refused. */
static bool rest_a_moment(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buf[sizeof(struct record)];

	poll(&p, 1, DONE_EVERY_MS);
	while (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) >= 0)
		;
	return errno != ECONNREFUSED;
}

/*
 * Repeats that the flow is done until the sender has closed its socket. A fixed number of messages
 * is not enough: all that are sent within a short time may be lost.
 */
static void repeat_done(int fd, const struct flow *f)
{
	double end = traffic_now() + TRAFFIC_PATIENCE_S;

	while (send_count(fd, f, true) && rest_a_moment(fd) && traffic_now() < end)
		;
}

void traffic_udp_receive(int fd, struct flow *f)
{
	static struct judge j;
	static char buf[TRAFFIC_MAX + 1];
	unsigned int unanswered = 0;

	j.f = f;
	j.last_at = j.latest = traffic_now();
		/*
		 * Measure the silence only when the queue is empty, because this process may have
		 * been late.
		 */
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, ACK_IDLE_MS) <= 0) {
			if (is_over(&j, traffic_now()))
				break;
			if (unanswered)
				send_count(fd, f, false);
			unanswered = 0;
			continue;
		}
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0)
			continue;
		judge_datagram(&j, buf, (uint32_t)n, traffic_now());
		if (++unanswered == ACK_EVERY) {
			send_count(fd, f, false);
			unanswered = 0;
		}
	}
	repeat_done(fd, f);
}
