// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fabricd.h"
#include "daemon/loop.h"
#include "daemon/nic.h"
#include "daemon/tester.h"

/**
 * struct base - counters of the receiver when a test began, and the session of the link at that
 * time
 * @last: counts of the test at the last request for its result in that session
 */
struct base {
	uint32_t session;
	struct tester_counts counts, last;
};

struct tester {
	struct fabricd *d;
	struct linktest *test;
	struct loop_timer *timer;
	struct base base[TORUS_MAX_PORTS][LINKTEST_ROLES];
};

/** struct batch - packets that the NIC has to send; the first @done were sent */
struct batch {
	struct nic_question q;	/* must be the first member */
	struct tester *t;
	unsigned int port, n, done;
	int err;
	char why[LINKTEST_TEXT_MAX];
	struct linktest_packet packet[];
};

static void set_timer(struct tester *t)
{
	loop_timer_set(t->timer, linktest_expiry(t->test));
}

static void on_timer(void *arg)
{
	struct tester *t = arg;

	linktest_due(t->test, loop_now());
	set_timer(t);
}

/*
 * Runs in the thread of the NIC's queue. An error that only concerns the link is not treated as an
 * error of the NIC.
 */
static int run_batch(struct nic_question *q, struct torus_dev *dev)
{
	struct batch *b = (struct batch *)q;

	while (b->done < b->n) {
		struct linktest_packet *p = &b->packet[b->done];

		linktest_stamp(p, loop_now());
		b->err = torus_mgmt_send(dev, b->port, p->data, p->len);
		if (b->err) {
			snprintf(b->why, sizeof(b->why), "%s", torus_error(dev));
			break;
		}
		b->done++;
	}
	return b->err == -EAGAIN || b->err == -ENETDOWN ? 0 : b->err;
}

static void batch_done(struct nic_question *q, int err)
{
	struct batch *b = (struct batch *)q;

	if (err && !b->err) {
		b->err = err;
		snprintf(b->why, sizeof(b->why), "%s", strerror(-err));
	}
	linktest_sent(b->t->test, b->port, b->packet, b->n, b->done, b->err, b->why, loop_now());
	if (err != -ECANCELED)
		set_timer(b->t);
	free(b);
}

static bool send_batch(void *arg, unsigned int port, const struct linktest_packet *p,
		       unsigned int n)
{
	struct tester *t = arg;
	struct batch *b = calloc(1, sizeof(*b) + n * sizeof(*p));

	if (!b)
		return false;
	b->q.run = run_batch;
	b->q.done = batch_done;
	b->t = t;
	b->port = port;
	b->n = n;
	memcpy(b->packet, p, n * sizeof(*p));
	if (t->d->nic && !nic_ask(t->d->nic, &b->q))
		return true;
	free(b);
	return false;
}

static const struct linktest_ops test_ops = { .send = send_batch };

struct tester *tester_new(struct fabricd *d)
{
	struct tester *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->d = d;
	t->test = linktest_new(&test_ops, t);
	t->timer = loop_timer_new(d->loop, on_timer, t);
	if (t->test && t->timer)
		return t;
	tester_free(t);
	return NULL;
}

void tester_free(struct tester *t)
{
	if (!t)
		return;
	loop_timer_free(t->timer);
	linktest_free(t->test);
	free(t);
}

/*
 * The flit counters do not count packets without a sequence number; so one flit is added for each
 * frame (errors.c).
 */
static struct tester_counts counts_of(const struct torus_link *l)
{
	const uint64_t *c = l->counter;

	return (struct tester_counts) {
		.bits = 128 * (c[TORUS_PC_RX_FLITS] + c[TORUS_PC_RX_FRAMES]),
		.frames = c[TORUS_PC_RX_FRAMES],
		.crc_errors = c[TORUS_PC_CRC_ERRORS],
		.malformed = c[TORUS_PC_MALFORMED],
		.lost_frames = c[TORUS_PC_SEQ_ERRORS],
		.retries = c[TORUS_PC_RETRIES],
	};
}

static bool is_up(const struct torus_link *l)
{
	return l->state == TORUS_LINK_UP || l->state == TORUS_LINK_RETRAINING;
}

int tester_begin(struct tester *t, const struct torus_link *l, enum linktest_role role,
		 const struct linktest_plan *plan)
{
	int err = is_up(l) ? linktest_begin(t->test, l->port, role, plan, loop_now()) : -ENETDOWN;

	if (err)
		return err;
	t->base[l->port][role] = (struct base) {
		.session = l->session, .counts = counts_of(l),
	};
	linktest_due(t->test, loop_now());
	set_timer(t);
	return 0;
}

void tester_end(struct tester *t, unsigned int port, uint64_t token)
{
	linktest_end(t->test, port, token);
	set_timer(t);
}

bool tester_result(struct tester *t, const struct torus_link *l, enum linktest_role role,
		   uint64_t token, struct linktest_result *out, struct tester_counts *counts)
{
	struct base *b = &t->base[l->port][role];
	const struct tester_counts *base = &b->counts;

	if (!linktest_result(t->test, l->port, role, token, loop_now(), out))
		return false;
	set_timer(t);
	*counts = b->last;
	if (l->session != b->session)	/* a NIC that was restarted counts from 0 */
		return true;
	*counts = counts_of(l);
	counts->bits -= base->bits;
	counts->frames -= base->frames;
	counts->crc_errors -= base->crc_errors;
	counts->malformed -= base->malformed;
	counts->lost_frames -= base->lost_frames;
	counts->retries -= base->retries;
	b->last = *counts;
	return true;
}

bool tester_receive(struct tester *t, unsigned int port, const void *data, size_t len)
{
	bool mine = linktest_receive(t->test, port, data, len, loop_now());

	if (mine)
		set_timer(t);
	return mine;
}

void tester_link(struct tester *t, const struct torus_link *l)
{
	const char *reason = torus_link_reason_name(l->reason);
	char why[LINKTEST_TEXT_MAX];

	for (unsigned int i = 0; i < LINKTEST_ROLES; i++) {
		if (is_up(l) && l->session == t->base[l->port][i].session)
			continue;
		snprintf(why, sizeof(why), "the link went down%s%s", reason ? ": " : "",
			 reason ? reason : "");
		linktest_fail(t->test, l->port, (enum linktest_role)i, why, loop_now());
	}
	set_timer(t);
}

void tester_gone(struct tester *t)
{
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		for (unsigned int i = 0; i < LINKTEST_ROLES; i++)
			linktest_fail(t->test, p, (enum linktest_role)i, "the NIC is gone",
				      loop_now());
	set_timer(t);
}
