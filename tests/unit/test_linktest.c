// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of links: two managers, a cable between them that delays, drops and changes packets, and a
 * clock that only the test moves.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/linktest.h"
#include "lib/util/times.h"

#define PORT_A	2
#define PORT_B	5
#define TOKEN	0x123456789abcdef0u
#define ROOM	256
#define STEP	(10 * US)

/** struct flying - a packet on the cable; @at: when it arrives; 0: none */
struct flying {
	uint64_t at;
	struct linktest_packet p;
};

/**
 * struct side - a manager
 * @taken: packets that its NIC has taken and not sent, @ntaken of them
 * @sent, @bytes: packets that it put on the cable
 * @busy: how many of the next batches its NIC refuses; @full: how often the NIC's queue is full;
 * @error: what the NIC says to all
 * @fly: packets on the cable, @nfly of them, in no order of the indices
 */
struct side {
	struct linktest *t;
	unsigned int port;
	struct linktest_packet taken[ROOM];
	unsigned int ntaken, sent, busy, full;
	uint64_t bytes;
	int error;
	struct flying fly[ROOM];
	unsigned int nfly;
};

static struct side side[2];
static uint64_t now, delay, kept;
static unsigned int drop_every, spoil_every, ndropped, nspoilt, most_flying;

static bool nic_send(void *arg, unsigned int port, const struct linktest_packet *p, unsigned int n)
{
	struct side *s = arg;

	assert_int_equal(port, s->port);
	assert_int_equal(s->ntaken, 0);
	assert_true(n && n <= ROOM);
	if (s->busy) {
		s->busy--;
		return false;
	}
	memcpy(s->taken, p, n * sizeof(*p));
	s->ntaken = n;
	return true;
}

static const struct linktest_ops ops = { .send = nic_send };

static int setup(void **state)
{
	(void)state;
	memset(side, 0, sizeof(side));
	for (unsigned int i = 0; i < 2; i++) {
		side[i].t = linktest_new(&ops, &side[i]);
		assert_non_null(side[i].t);
		side[i].port = i ? PORT_B : PORT_A;
	}
	now = 1000 * SEC;
	delay = 20 * US;
	kept = 0;
	drop_every = spoil_every = ndropped = nspoilt = most_flying = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	linktest_free(side[0].t);
	linktest_free(side[1].t);
	return 0;
}

static void put_on_cable(struct side *s, const struct linktest_packet *p)
{
	struct flying *f = s->fly;

	s->sent++;
	s->bytes += p->len + LINKTEST_AROUND;
	if (drop_every && s->sent % drop_every == 0) {
		ndropped++;
		return;
	}
	while (f < s->fly + ROOM && f->at)
		f++;
	assert_true(f < s->fly + ROOM);
	*f = (struct flying) { now + delay, *p };
	s->nfly++;
	if (spoil_every && s->sent % spoil_every == 0) {
		f->p.data[p->len - 1] ^= s == side ? 1 : 2;
		nspoilt++;
	}
}

/* Lets the NIC send what it took, @kept later. */
static void nic_runs(struct side *s)
{
	unsigned int n = s->ntaken, done = 0;
	struct linktest_packet p[ROOM];
	int err = s->error;

	if (!n)
		return;
	memcpy(p, s->taken, n * sizeof(*p));
	s->ntaken = 0;
	if (!err && s->full) {
		s->full--;
		err = -EAGAIN;
	}
	for (; done < (err ? n / 2 : n); done++) {
		linktest_stamp(&p[done], p[done].arrived ? now + kept : now);
		put_on_cable(s, &p[done]);
	}
	linktest_sent(s->t, s->port, p, n, done, err, "the NIC's words", now);
}

static void cable_runs(struct side *from, struct side *to)
{
	unsigned int n = from->nfly;

	for (unsigned int i = 0, seen = 0; seen < n; i++) {
		struct flying *f = &from->fly[i];

		seen += f->at != 0;
		if (!f->at || now < f->at + (from == &side[1] ? kept : 0))
			continue;
		f->at = 0;
		from->nfly--;
		assert_true(linktest_receive(to->t, to->port, f->p.data, f->p.len, now));
	}
	if (n > most_flying)
		most_flying = n;
}

/* Lets @ns pass. The timers of the managers fire on time, and not early. */
static void pass(uint64_t ns)
{
	for (uint64_t end = now + ns; now < end; now += STEP) {
		for (unsigned int i = 0; i < 2; i++) {
			if (now >= linktest_expiry(side[i].t))
				linktest_due(side[i].t, now);
			nic_runs(&side[i]);
		}
		cable_runs(&side[0], &side[1]);
		cable_runs(&side[1], &side[0]);
	}
}

static struct linktest_plan plan_of(uint64_t packets, uint64_t ns)
{
	return (struct linktest_plan) {
		.token = TOKEN, .packets = packets, .ns = ns, .rate = 2000, .size = 1024,
		.mbps = 10000,
	};
}

static void begin(const struct linktest_plan *plan)
{
	struct linktest_plan echo = *plan;

	echo.ns += 10 * SEC;
	assert_int_equal(linktest_begin(side[1].t, PORT_B, LINKTEST_ECHO, &echo, now), 0);
	assert_int_equal(linktest_begin(side[0].t, PORT_A, LINKTEST_SENDER, plan, now), 0);
}

static struct linktest_result result_of(unsigned int i)
{
	struct linktest_result r = { .state = LINKTEST_NONE };

	assert_true(linktest_result(side[i].t, side[i].port, i ? LINKTEST_ECHO : LINKTEST_SENDER,
				    TOKEN, now, &r));
	return r;
}

static void each_packet_of_test_comes_back_at_asked_rate(void **state)
{
	struct linktest_plan plan = plan_of(1000, 60 * SEC);
	struct linktest_result a, b;

	(void)state;
	begin(&plan);
	pass(100 * MS);
	assert_int_equal(result_of(0).state, LINKTEST_RUNS);
	assert_true(result_of(0).elapsed >= 99 * MS && result_of(0).elapsed <= 101 * MS);
	pass(500 * MS);
	a = result_of(0);
	b = result_of(1);
	assert_int_equal(a.state, LINKTEST_DONE);
	assert_string_equal(a.why, "");
	assert_int_equal(a.sent, 1000);
	assert_int_equal(a.received, 1000);
	assert_int_equal(a.lost, 0);
	assert_int_equal(a.wrong, 0);
	assert_int_equal(b.received, 1000);
	assert_int_equal(b.wrong, 0);
	assert_int_equal(a.bytes, 1000 * (1024 + LINKTEST_AROUND));
	/* 2000 a second: 1000 take half a second, and not less. */
	assert_true(a.elapsed >= 499 * MS && a.elapsed <= 510 * MS);
}

/* The round trip is that of the cable, without the time in the far manager. */
static void round_trip_excludes_time_in_far_manager(void **state)
{
	struct linktest_plan plan = plan_of(300, 60 * SEC);
	struct linktest_result a;

	(void)state;
	kept = 5 * MS;
	delay = 30 * US;
	begin(&plan);
	pass(100 * MS);
	delay = 130 * US;
	pass(SEC);
	a = result_of(0);
	assert_int_equal(a.received, 300);
	assert_in_range(a.rtt_min, 60 * US - 2 * STEP, 60 * US + 2 * STEP);
	assert_in_range(a.rtt_max, 260 * US - 2 * STEP, 260 * US + 4 * STEP);
	assert_in_range(a.rtt_median, a.rtt_min, 260 * US + 4 * STEP);
}

/* The median by classes is right within a class, compared with a sorted list. */
static void median_by_classes_equals_sorted_list(void **state)
{
	struct linktest_plan plan = plan_of(999, 60 * SEC);
	struct linktest_result a;

	(void)state;
	begin(&plan);
	delay = 500 * US;
	pass(100 * MS);		/* a fifth of the packets is slow */
	delay = 50 * US;
	pass(SEC);
	a = result_of(0);
	assert_int_equal(a.received, 999);
	assert_in_range(a.rtt_median, 100 * US - 2 * STEP, 104 * US + 2 * STEP);
	assert_in_range(a.rtt_max, 1000 * US - 2 * STEP, 1000 * US + 4 * STEP);
}

static void lost_packets_of_test_are_counted(void **state)
{
	struct linktest_plan plan = plan_of(500, 60 * SEC);
	struct linktest_result a;

	(void)state;
	drop_every = 50;
	begin(&plan);
	pass(20 * SEC);
	a = result_of(0);
	assert_int_equal(a.state, LINKTEST_DONE);
	assert_true(ndropped >= 10);
	assert_int_equal(a.lost, ndropped);
	assert_int_equal(a.received + a.lost, 500);
}

/* An echo arrives after its packet was given up: it does not count as lost then. */
static void late_echo_does_not_count_as_lost(void **state)
{
	struct linktest_plan plan = plan_of(0, 4 * SEC);
	struct linktest_result a;

	(void)state;
	delay = 1600 * MS;
	begin(&plan);
	pass(3100 * MS);
	assert_int_equal(result_of(0).lost, LINKTEST_WINDOW);
	assert_int_equal(result_of(0).received, 0);
	delay = 20 * US;
	pass(4 * SEC);
	a = result_of(0);
	assert_true(a.sent > LINKTEST_WINDOW);
	assert_int_equal(a.lost, 0);
	assert_int_equal(a.received, a.sent);
	assert_int_equal(a.state, LINKTEST_DONE);
}

static void wrong_patterns_are_counted_at_both_ends(void **state)
{
	struct linktest_plan plan = plan_of(500, 60 * SEC);

	(void)state;
	spoil_every = 100;
	begin(&plan);
	pass(2 * SEC);
	/* The far end returns the bytes as it received them. */
	assert_int_equal(result_of(1).wrong, 5);
	assert_int_equal(result_of(0).received, 500);
	assert_in_range(result_of(0).wrong, 5, 10);
	assert_int_equal(nspoilt, 10);
}

/* A test takes at most a twentieth of the link's rate, whatever rate and size are asked for. */
static void test_takes_a_twentieth_of_link(void **state)
{
	static const struct { uint32_t size, mbps, rate; } t[] = {
		{ 1024, 1000, 100000 }, { 64, 100, 100000 }, { 1024, 0, 100000 },
		{ 100, 10, 100000 }, { 1024, 10, 100000 }, { 1024, 100, 300 },
	};

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct linktest_plan plan = plan_of(0, 2 * SEC);
		uint64_t mbps = t[i].mbps ? t[i].mbps : LINKTEST_MBPS, most;
		struct linktest_result a;

		teardown(state);
		setup(state);
		plan.size = t[i].size;
		plan.mbps = t[i].mbps;
		plan.rate = t[i].rate;
		begin(&plan);
		pass(3 * SEC);
		a = result_of(0);
		most = mbps * 1000000 / 8 / LINKTEST_SHARE * 2;	/* most bytes in 2 s */
		print_message("%u bytes, %u Mb/s: %u of %u bytes\n", t[i].size, t[i].mbps,
			      (unsigned int)side[0].bytes, (unsigned int)most);
		assert_true(side[0].bytes <= most + 2000);
		assert_true(side[1].bytes <= most + 2000);
		assert_int_equal(a.lost, 0);
		assert_true(a.sent);
		if (t[i].rate < 1000)
			assert_in_range(a.sent, 599, 601);
		else
			assert_true(side[0].bytes >= most / 2);
	}
}

/* The window is full: a slow echo holds the sender back. */
static void full_window_holds_sender_back(void **state)
{
	struct linktest_plan plan = plan_of(0, SEC);

	(void)state;
	delay = 100 * MS;
	begin(&plan);
	pass(4 * SEC);
	assert_int_equal(most_flying, LINKTEST_WINDOW);
	assert_int_equal(result_of(0).lost, 0);
	assert_int_equal(result_of(0).state, LINKTEST_DONE);
	assert_true(result_of(0).sent <= 6 * LINKTEST_WINDOW);
}

/* A timer comes late: no burst is longer than the window, and no time is made up. */
static void late_timer_makes_no_burst(void **state)
{
	struct linktest_plan plan = plan_of(0, 100 * SEC);

	(void)state;
	begin(&plan);
	now += 30 * SEC;
	linktest_result(side[0].t, PORT_A, LINKTEST_SENDER, TOKEN, now,
			&(struct linktest_result) { 0 });
	pass(2 * STEP);
	assert_true(side[0].sent <= LINKTEST_WINDOW);
	pass(SEC);
	assert_in_range(side[0].sent, 1990, 2030);
}

static void busy_nic_loses_no_packet_of_test(void **state)
{
	struct linktest_plan plan = plan_of(400, 60 * SEC);

	(void)state;
	side[0].busy = 7;
	side[0].full = 5;
	side[1].full = 5;
	side[1].busy = 3;
	begin(&plan);
	pass(2 * SEC);
	assert_int_equal(side[0].busy + side[0].full + side[1].busy + side[1].full, 0);
	assert_int_equal(result_of(0).received, 400);
	assert_int_equal(result_of(0).lost, 0);
	assert_int_equal(side[0].sent, 400);
}

static void failed_nic_ends_test_with_reason(void **state)
{
	struct linktest_plan plan = plan_of(400, 60 * SEC);

	(void)state;
	begin(&plan);
	pass(50 * MS);
	side[0].error = -ENETDOWN;
	pass(50 * MS);
	assert_int_equal(result_of(0).state, LINKTEST_FAILED);
	assert_string_equal(result_of(0).why, "the NIC's words");
	linktest_fail(side[1].t, PORT_B, LINKTEST_ECHO, "the link went down", now);
	assert_int_equal(result_of(1).state, LINKTEST_FAILED);
	assert_string_equal(result_of(1).why, "the link went down");
	linktest_fail(side[1].t, PORT_B, LINKTEST_ECHO, "another reason", now);
	assert_string_equal(result_of(1).why, "the link went down");
}

static void receive_raw(unsigned int i, const uint8_t *data, size_t len, bool mine)
{
	assert_int_equal(linktest_receive(side[i].t, side[i].port, data, len, now), mine);
	nic_runs(&side[i]);
	pass(5 * MS);
}

/* Packets of no running test are dropped; packets of other kinds are left to the manager. */
static void packet_of_no_test_is_dropped(void **state)
{
	struct linktest_plan plan = plan_of(2, 60 * SEC);
	struct linktest_packet p;

	(void)state;
	begin(&plan);
	nic_runs(&side[0]);
	linktest_due(side[0].t, now);
	nic_runs(&side[0]);
	assert_true(side[0].fly[0].at);
	p = side[0].fly[0].p;
	pass(20 * MS);
	assert_int_equal(side[1].sent, 2);
	receive_raw(1, (const uint8_t *)"tSEA01234567890", 16, false);
	receive_raw(1, (const uint8_t *)"tTS", 3, false);
	receive_raw(1, p.data, 16, true);			/* the packet is too short */
	/* the packet has another length than it says */
	receive_raw(1, p.data, p.len - 8, true);
	p.data[8] ^= 1;					/* the token is wrong */
	receive_raw(1, p.data, p.len, true);
	p.data[8] ^= 1;
	p.data[4] ^= 1;					/* the version is wrong */
	receive_raw(1, p.data, p.len, true);
	p.data[4] ^= 1;
	p.data[5] = 2;					/* the kind is wrong */
	receive_raw(1, p.data, p.len, true);
	p.data[5] = 1;					/* an echo, at the end that sends none */
	receive_raw(1, p.data, p.len, true);
	receive_raw(0, p.data, p.len, true);		/* an echo that came already */
	assert_int_equal(result_of(0).received, 2);
	p.data[5] = 0;
	assert_int_equal(side[1].sent, 2);
	assert_int_equal(result_of(1).received, 2);
	receive_raw(1, p.data, p.len, true);		/* a right packet */
	assert_int_equal(side[1].sent, 3);
	linktest_end(side[1].t, PORT_B, TOKEN);
	receive_raw(1, p.data, p.len, true);
	assert_int_equal(side[1].sent, 3);
	assert_false(linktest_receive(side[1].t, TORUS_MAX_PORTS, "tSEA", 4, now));
	assert_true(linktest_receive(side[1].t, TORUS_MAX_PORTS, "tTST", 4, now));
}

/* A neighbour that sends more than it should gets no more echoes than twice the rate. */
static void flood_of_neighbour_gets_limited_echoes(void **state)
{
	struct linktest_plan plan = plan_of(1, 60 * SEC);
	struct linktest_packet p;
	unsigned int n = 0;

	(void)state;
	begin(&plan);
	linktest_due(side[0].t, now);
	nic_runs(&side[0]);
	p = side[0].fly[0].p;
	pass(10 * MS);
	for (; n < 20000; n++) {
		now += 50 * US;
		linktest_receive(side[1].t, PORT_B, p.data, p.len, now);
		nic_runs(&side[1]);
		memset(side[1].fly, 0, sizeof(side[1].fly));
		side[1].nfly = 0;
	}
	assert_in_range(side[1].sent, 3900, 4100);
}

static void impossible_test_is_refused(void **state)
{
	struct linktest_plan plan = plan_of(0, SEC), bad;
	struct linktest_result r;

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		bad = plan;
		if (i == 0)
			bad.token = 0;
		else if (i == 1)
			bad.size = LINKTEST_SIZE_MIN - 1;
		else if (i == 2)
			bad.size = TORUS_MGMT_MAX + 1;
		else if (i == 3)
			bad.rate = 0;
		else
			bad.ns = 0;
		assert_int_equal(linktest_begin(side[0].t, 0, LINKTEST_SENDER, &bad, now), -EINVAL);
	}
	assert_int_equal(linktest_begin(side[0].t, TORUS_MAX_PORTS, LINKTEST_SENDER, &plan, now),
			 -EINVAL);
	begin(&plan);
	plan.token = 7;
	assert_int_equal(linktest_begin(side[0].t, PORT_A, LINKTEST_SENDER, &plan, now), -EBUSY);
	assert_int_equal(linktest_begin(side[1].t, PORT_B, LINKTEST_ECHO, &plan, now), -EBUSY);
	assert_false(linktest_result(side[0].t, PORT_A, LINKTEST_SENDER, 7, now, &r));
	assert_false(linktest_result(side[0].t, PORT_A, LINKTEST_ECHO, TOKEN, now, &r));
	assert_false(linktest_result(side[0].t, PORT_B, LINKTEST_SENDER, TOKEN, now, &r));
	assert_false(linktest_result(side[0].t, TORUS_MAX_PORTS, LINKTEST_SENDER, TOKEN, now, &r));
	linktest_end(side[0].t, PORT_A, 7);
	assert_int_equal(result_of(0).state, LINKTEST_RUNS);
	/* Both roles at one port go together: tests from both ends. */
	assert_int_equal(linktest_begin(side[0].t, PORT_A, LINKTEST_ECHO, &plan, now), 0);
	pass(2 * SEC);
	assert_int_equal(result_of(0).state, LINKTEST_DONE);
	assert_int_equal(linktest_begin(side[0].t, PORT_A, LINKTEST_SENDER, &plan, now), 0);
}

/*
 * The client is gone: the sender ends soon, the echo a minute after its last packet, so that
 * another test can begin, and all memory is freed.
 */
static void test_of_vanished_client_ends(void **state)
{
	struct linktest_plan plan = plan_of(0, 3600 * SEC);

	(void)state;
	begin(&plan);
	for (unsigned int i = 0; i < 3; i++) {
		pass(4 * SEC);
		assert_int_equal(result_of(0).state, LINKTEST_RUNS);
	}
	pass(11 * SEC);
	assert_int_equal(result_of(0).state, LINKTEST_FAILED);
	assert_string_equal(result_of(0).why,
			    "the test ended early: the result was no longer asked for");
	assert_int_equal(linktest_begin(side[0].t, PORT_A, LINKTEST_SENDER, &plan, now), 0);
	linktest_end(side[0].t, PORT_A, TOKEN);
	assert_int_equal(linktest_expiry(side[0].t), UINT64_MAX);
	now += 40 * SEC;
	linktest_due(side[1].t, now);
	assert_int_equal(linktest_begin(side[1].t, PORT_B, LINKTEST_ECHO, &plan, now), -EBUSY);
	now += 25 * SEC;
	linktest_due(side[1].t, now);
	assert_int_equal(result_of(1).state, LINKTEST_DONE);
	now += 61 * SEC;
	linktest_due(side[1].t, now);
	assert_int_equal(linktest_expiry(side[1].t), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_packet_of_test_comes_back_at_asked_rate,
						setup, teardown),
		cmocka_unit_test_setup_teardown(round_trip_excludes_time_in_far_manager,
						setup, teardown),
		cmocka_unit_test_setup_teardown(median_by_classes_equals_sorted_list,
						setup, teardown),
		cmocka_unit_test_setup_teardown(lost_packets_of_test_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(late_echo_does_not_count_as_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_patterns_are_counted_at_both_ends,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_takes_a_twentieth_of_link, setup, teardown),
		cmocka_unit_test_setup_teardown(full_window_holds_sender_back, setup, teardown),
		cmocka_unit_test_setup_teardown(late_timer_makes_no_burst, setup, teardown),
		cmocka_unit_test_setup_teardown(busy_nic_loses_no_packet_of_test, setup, teardown),
		cmocka_unit_test_setup_teardown(failed_nic_ends_test_with_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(packet_of_no_test_is_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(flood_of_neighbour_gets_limited_echoes,
						setup, teardown),
		cmocka_unit_test_setup_teardown(impossible_test_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_vanished_client_ends, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
