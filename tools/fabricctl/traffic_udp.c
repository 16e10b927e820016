// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "traffic.h"

#define ACK_EVERY 16
#define ACK_IDLE_MS 5
#define FIN_EVERY_MS 100
#define SEEN 4096		/* numbers back that are remembered; a power of two */

/** struct ack - @received of the datagrams, each once */
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

static bool put(int fd, const void *buf, size_t size, struct flow *f)
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

/* Repeats the number of datagrams until the receiver has said that it knows. */
static void finish(int fd, struct flow *f, struct ack *ack)
{
	double end = traffic_now() + TRAFFIC_PATIENCE_S;
	char buf[sizeof(struct record)];

	record_fill(buf, sizeof(buf), UINT64_MAX, f->sent);
	while (!ack->done && traffic_now() < end && put(fd, buf, sizeof(buf), f))
		wait_ack(fd, ack, FIN_EVERY_MS);
	if (!ack->done && !f->err)
		f->err = -ETIMEDOUT;
}

void traffic_udp_send(int fd, double seconds, uint32_t size, struct flow *f)
{
	double start = traffic_now(), heard = start;
	struct ack ack = { 0 };
	static char buf[TRAFFIC_MAX];

	while (traffic_now() < start + seconds) {
		if (f->sent - ack.received >= TRAFFIC_WINDOW) {
			if (wait_ack(fd, &ack, 100))
				heard = traffic_now();
			else if (traffic_now() > heard + TRAFFIC_PATIENCE_S)
				break;
			continue;
		}
		record_fill(buf, size, f->sent, 0);
		if (!put(fd, buf, size, f))
			break;
		f->sent++;
		if (f->sent % ACK_EVERY == 0)
			take_acks(fd, &ack);
	}
	f->seconds = traffic_now() - start;
	finish(fd, f, &ack);
}

struct receiver {
	struct flow *f;
	int fd;
	uint64_t next;		/* one past the highest number seen */
	uint64_t last;		/* how many there are, when known */
	uint64_t seen[SEEN / 64];
	double heard;
};

static bool test_and_set(struct receiver *r, uint64_t number)
{
	uint64_t bit = 1ULL << number % 64, *word = &r->seen[number % SEEN / 64];
	bool was = *word & bit;

	*word |= bit;
	return was;
}

static void advance(struct receiver *r, uint64_t number)
{
	for (; r->next <= number; r->next++)
		r->seen[r->next % SEEN / 64] &= ~(1ULL << r->next % 64);
}

static void take(struct receiver *r, const void *buf, uint32_t size)
{
	struct record rec;
	double now = traffic_now();
	bool behind;

	if (!record_good(buf, size)) {
		r->f->corrupt++;
		return;
	}
	memcpy(&rec, buf, sizeof(rec));
	if (rec.last) {
		r->last = rec.last;
		return;
	}
	if (r->f->received && (now - r->heard) * 1e3 > r->f->gap_max_ms)
		r->f->gap_max_ms = (now - r->heard) * 1e3;
	r->heard = now;
	behind = rec.number < r->next;
	if (behind && (r->next - rec.number > SEEN || test_and_set(r, rec.number))) {
		r->f->doubled++;
		return;
	}
	if (!behind) {
		advance(r, rec.number);
		test_and_set(r, rec.number);
	}
	r->f->reordered += behind;
	r->f->received++;
	r->f->bytes += size;
}

static void acknowledge(struct receiver *r, bool done)
{
	struct ack a = { .received = r->f->received, .done = done };

	/* A lost answer is repeated by the next one. */
	if (send(r->fd, &a, sizeof(a), MSG_DONTWAIT) < 0)
		return;
}

/* Once the number is known, late ones get a moment; then what is missing is lost. */
static bool is_over(const struct receiver *r, double since_last)
{
	if (r->last && r->f->received >= r->last)
		return true;
	return since_last > (r->last ? 2 : TRAFFIC_PATIENCE_S + 5);
}

void traffic_udp_receive(int fd, struct flow *f)
{
	struct receiver r = { .f = f, .fd = fd, .heard = traffic_now() };
	static char buf[TRAFFIC_MAX + 1];
	double last = r.heard;
	unsigned int unanswered = 0;

	/* Only nothing to read says how long nothing came: this process may have had to wait. */
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, ACK_IDLE_MS) <= 0) {
			if (is_over(&r, traffic_now() - last))
				break;
			if (unanswered)
				acknowledge(&r, false);
			unanswered = 0;
			continue;
		}
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (n < 0)
			continue;
		last = traffic_now();
		take(&r, buf, (uint32_t)n);
		if (++unanswered == ACK_EVERY) {
			acknowledge(&r, false);
			unanswered = 0;
		}
	}
	for (int i = 0; i < 5; i++) {
		acknowledge(&r, true);
		usleep(2000);
	}
}
