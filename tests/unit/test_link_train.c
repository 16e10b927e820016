// SPDX-License-Identifier: GPL-2.0-only
/* Links on modelled cables: up, retrained, degraded, dead and repaired, under traffic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/unit/linkpair.h"
#include "lib/util/times.h"

#define UP TORUS_LINK_UP

static const struct tn_cable five_metres = {
	.length = 500, .loss = 2000, .crosstalk = 10, .seed = 1,
};
static struct pair p;

static void start(uint64_t seed, const struct tn_cable *cable)
{
	pair_start(&p, seed);
	for (int i = 0; i < 2; i++) {
		/* Frames wait while the other end trains. */
		p.end[i].load = 8;
		end_cable(&p.end[i], cable);
	}
	pair_carrier(&p, true);
}

/* Runs for long: only the first of each 10 ms has traffic, so that it passes quickly. */
static void run_long(u64 ns, unsigned int load)
{
	for (u64 until = p.now + ns; p.now < until;) {
		p.end[0].load = p.end[1].load = load;
		pair_run(&p, MS);
		p.end[0].load = p.end[1].load = 0;
		pair_run(&p, 9 * MS);
	}
	p.end[0].load = p.end[1].load = load;
}

static unsigned int width(int i)
{
	return tn_train_width(&p.end[i].link.train);
}

static u64 counted(int i, enum torus_port_counter c)
{
	return p.end[i].link.counter[c];
}

static void cold_link_trains_to_full_width(void **state)
{
	(void)state;
	start(1, &five_metres);
	assert_int_equal(p.end[0].link.state, TORUS_LINK_TRAINING);
	pair_up(&p, 100 * MS);
	assert_int_equal(width(0), 12);
	assert_true(counted(0, TORUS_PC_NS_TRAINING) >= 12 * MS);
	pair_settle(&p, 1000 * MS);
	pair_end(&p);
	/* Without a modelled cable training takes no time. */
	start(1, &(struct tn_cable) { 0 });
	assert_int_equal(p.end[0].link.state, TORUS_LINK_INIT);
	pair_up(&p, MS);
	assert_int_equal(width(1), 12);
	pair_run(&p, 1000 * MS);
	assert_true(p.end[0].link.look_at == ~0ull);
	pair_end(&p);
}

/* Retrainings on request, by either end or both, lose no packet. */
static void retrainings_lose_no_packet(void **state)
{
	(void)state;
	for (unsigned int protocol = 0; protocol < TORUS_RETRIES; protocol++) {
		start(protocol + 1, &five_metres);
		for (int i = 0; i < 2; i++)
			tn_link_retry(&p.end[i].link, protocol, p.now);
		pair_up(&p, 100 * MS);
		for (unsigned int who = 1; who < 4; who++) {
			pair_run(&p, 20 * MS);
			for (int i = 0; i < 2; i++)
				if (who >> i & 1)
					tn_link_retrain(&p.end[i].link, p.now);
			assert_int_equal(p.end[who == 2].link.state, TORUS_LINK_RETRAINING);
			pair_up(&p, 100 * MS);
		}
		pair_settle(&p, 3000 * MS);
		assert_int_equal(p.end[0].fails + p.end[1].fails, 0);
		assert_true(p.delivered > 100);
		pair_end(&p);
	}
}

/*
 * Lanes die one after another: each is given up without a failure of the link, until none is left.
 */
static void dying_lanes_are_given_up_without_link_failure(void **state)
{
	struct tn_cable c = five_metres;

	(void)state;
	start(3, &c);
	pair_up(&p, 100 * MS);
	for (unsigned int l = 0; l < TORUS_LANES_MAX - 1; l++) {
		c.dead |= (u16)(1u << l);
		end_cable(&p.end[1], &c);
		run_long(300 * MS, 8);
		assert_true(pair_both(&p, UP));
		assert_int_equal(width(1), TORUS_LANES_MAX - 1 - l);
		assert_int_equal(width(0), TORUS_LANES_MAX);
		assert_int_equal(p.end[0].fails + p.end[1].fails, 0);
	}
	assert_int_equal(counted(1, TORUS_PC_LANES_SHED), TORUS_LANES_MAX - 1);
	assert_int_equal(counted(1, TORUS_PC_EYE_RETRAINS), TORUS_LANES_MAX - 1);
	assert_int_equal(counted(0, TORUS_PC_EYE_RETRAINS), 0);
	c.dead = 0xfff;
	end_cable(&p.end[1], &c);
	run_long(1500 * MS, 8);
	assert_int_equal(p.end[1].reason, TORUS_REASON_TRAINING);
	assert_int_equal(p.end[1].link.state, TORUS_LINK_FAULTY);
	assert_int_equal(p.end[0].link.state, TORUS_LINK_FAULTY);
	assert_true(p.end[0].fails == 1 && p.end[1].fails == 1);
	assert_true(counted(1, TORUS_PC_TRAIN_FAILURES) >= 5);
	/* Repaired: the link comes back by itself, with its former width. */
	end_cable(&p.end[1], &five_metres);
	pair_up(&p, 2000 * MS);
	assert_int_equal(width(1), TORUS_LANES_MAX);
	pair_settle(&p, 3000 * MS);
	pair_end(&p);
}

/* No lane works at first: the link is training, not faulty; then a lane works. */
static void link_without_lanes_is_training_not_faulty(void **state)
{
	struct tn_cable c = { .dead = 0xfff };

	(void)state;
	start(4, &c);
	pair_run(&p, 1000 * MS);
	assert_int_equal(p.end[0].link.state, TORUS_LINK_TRAINING);
	assert_int_equal(p.end[0].link.reason, TORUS_REASON_TRAINING);
	assert_int_equal(p.end[0].out.frames, 0);
	c.dead = 0xffe;
	for (int i = 0; i < 2; i++)
		end_cable(&p.end[i], &c);
	pair_up(&p, 1000 * MS);
	assert_int_equal(width(0), 1);
	pair_settle(&p, 3000 * MS);
	pair_end(&p);
}

/*
 * Temperature and age change: there are many retrainings, a lower rate in the end, and no failure.
 */
static void drift(unsigned int protocol)
{
	struct tn_cable c = five_metres;

	c.drift = 150;
	c.ageing = 600;
	c.aged = 0x3;
	start(5 + protocol, &c);
	for (int i = 0; i < 2; i++)
		tn_link_retry(&p.end[i].link, protocol, p.now);
	p.end[0].load = p.end[1].load = 20;
	pair_up(&p, 100 * MS);
	run_long(20000 * MS, 20);
	assert_true(pair_both(&p, UP));
	assert_int_equal(p.end[0].fails + p.end[1].fails, 0);
	assert_true(counted(0, TORUS_PC_EYE_RETRAINS) > 0);
	assert_true(width(0) < TORUS_LANES_MAX || p.end[0].link.train.rate > 0);
	pair_settle(&p, 3000 * MS);
	pair_end(&p);
}

/* Events show whether a link that is up has less margin than training accepts. */
static void events_show_thin_margin_of_link(void **state)
{
	struct tn_cable c = five_metres;

	(void)state;
	c.drift = 150;
	start(9, &c);
	for (int i = 0; i < 2; i++)
		p.end[i].link.train.params.margin_train = 225;
	pair_up(&p, 100 * MS);
	for (int i = 0; i < 2000; i++) {
		run_long(10 * MS, 8);
		for (int e = 0; e < 2; e++) {
			const struct tn_link *l = &p.end[e].link;

			if (l->state == UP)
				assert_int_equal(p.end[e].thin, tn_train_margin(&l->train) < 225);
		}
	}
	/* Below and above, several times. */
	assert_true(p.end[0].thins >= 2 && p.end[0].thins < 100);
	assert_int_equal(counted(0, TORUS_PC_EYE_RETRAINS), 0);
	pair_settle(&p, 3000 * MS);
	pair_end(&p);
}

static void drifting_cable_is_retrained_in_time(void **state)
{
	(void)state;
	for (unsigned int protocol = 0; protocol < TORUS_RETRIES; protocol++)
		drift(protocol);
}

/* Cables are exchanged at random, under traffic; all is delivered in the end. */
static void random_one(uint64_t seed)
{
	start(seed, &five_metres);
	for (int i = 0; i < 2; i++)
		end_vary(&p.end[i]);
	for (unsigned int i = 0; i < 12; i++) {
		struct tn_cable c = {
			.length = rnd_below(&p.r, 1300), .loss = 2000,
			.crosstalk = rnd_below(&p.r, 20), .seed = rnd64(&p.r),
			.dead = (u16)(rnd64(&p.r) & rnd64(&p.r) & 0xfff),
			.ageing = rnd_below(&p.r, 5000), .aged = 0x11,
		};

		if (rnd_below(&p.r, 3))
			end_cable(&p.end[rnd_below(&p.r, 2)], &c);
		else
			tn_link_retrain(&p.end[rnd_below(&p.r, 2)].link, p.now);
		pair_run(&p, rnd_below(&p.r, 400) * MS);
	}
	for (int i = 0; i < 2; i++)
		end_cable(&p.end[i], &five_metres);
	pair_settle(&p, 20000 * MS);
	pair_end(&p);
}

static void random_cables_lose_no_packet(void **state)
{
	(void)state;
	for_seeds(12, random_one);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(cold_link_trains_to_full_width),
		cmocka_unit_test(retrainings_lose_no_packet),
		cmocka_unit_test(dying_lanes_are_given_up_without_link_failure),
		cmocka_unit_test(link_without_lanes_is_training_not_faulty),
		cmocka_unit_test(drifting_cable_is_retrained_in_time),
		cmocka_unit_test(events_show_thin_margin_of_link),
		cmocka_unit_test(random_cables_lose_no_packet),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
