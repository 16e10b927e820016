// SPDX-License-Identifier: GPL-2.0-only
/* Training over modelled cables: random ones, ever longer ones, and ones that change. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/core/serdes_model.h"
#include "tests/unit/random.h"
#include "lib/util/times.h"

static const struct tn_train_params params = {
	.target_ber = 1000000, .mask_height = 60, .mask_width = 100,
	.margin_train = 110, .margin_retrain = 100,
};

struct port {
	struct tn_serdes_model m;
	struct tn_train t;
	u64 now;
};

/* Return: the ns that it took. */
static u64 train(struct port *p, bool near)
{
	u64 from = p->now;

	tn_train_begin(&p->t, near, p->now);
	while (p->t.state == TN_TRAIN_BUSY) {
		p->now = tn_train_expiry(&p->t);
		tn_train_poll(&p->t, p->now);
	}
	return p->now - from;
}

static void start(struct port *p, const struct tn_cable *cable)
{
	p->now = 1;
	tn_serdes_model_init(&p->m);
	tn_serdes_model_lay(&p->m, cable, p->now);
	tn_train_init(&p->t, &p->m.serdes, &params);
}

static u32 mbps(const struct port *p)
{
	return tn_train_width(&p->t) * p->m.serdes.mbps[p->t.rate];
}

/*
 * Return: the best margin of lane @l with the other lanes as they are, found by trying everything.
 */
static u32 best_of(struct port *p, unsigned int l)
{
	struct tn_serdes_model m = p->m;
	u32 best = 0;

	/* The receiver stays as it was trained: test_train_rx.c tries all pairs. */
	for (u8 a = 0; a <= m.serdes.pre_max; a++)
		for (u8 b = 0; b <= m.serdes.post_max; b++) {
			struct tn_eye e;
			u32 margin;

			m.serdes.ops->set_taps(&m, l, (struct tn_taps) { a, b });
			m.serdes.ops->measure(&m, l, &e, p->now);
			margin = tn_eye_margin(&e, &params);
			best = margin > best ? margin : best;
		}
	return best;
}

static void random_cables_train_within_limits(void **state)
{
	uint64_t seed = random_seed(3), r = seed;
	unsigned int trained = 0;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 200; i++) {
		struct tn_cable c = {
			.length = 1 + random_below(&r, 1500), .loss = random_below(&r, 4000),
			.crosstalk = random_below(&r, 40), .seed = random_next(&r),
			.dead = (u16)(random_next(&r) & random_next(&r) & 0xfff),
		};
		struct port p;

		start(&p, &c);
		assert_true(train(&p, false) < 100 * MS);
		if (p.t.state != TN_TRAIN_DONE) {
			assert_int_equal(p.m.on, 0);
			continue;
		}
		trained++;
		assert_true(tn_serdes_model_ber(&p.m, p.now) <= params.target_ber);
		assert_int_equal(p.m.on & c.dead, 0);
		for (unsigned int l = 0; l < TORUS_LANES_MAX; l++) {
			if (!(p.m.on >> l & 1))
				continue;
			/* Lanes that were switched off since cause no crosstalk any more. */
			assert_true(tn_train_watch(&p.t, p.now) == false);
			if (p.m.on == 0xfff)
				assert_int_equal(p.t.lane[l].margin, best_of(&p, l));
		}
	}
	assert_true(trained > 50 && trained < 200);
}

/*
 * At first all twelve lanes work; a longer cable carries no more than a shorter one; in the end it
 * carries nothing.
 */
static void longer_cable_carries_no_more(void **state)
{
	struct tn_cable c = { .loss = 2000, .crosstalk = 10, .seed = 1 };
	u32 last = 12 * 6250;
	struct port p;

	(void)state;
	for (c.length = 0; c.length < 2500; c.length += 50) {
		start(&p, &c);
		assert_true(train(&p, false) < 100 * MS);
		assert_true(mbps(&p) <= last);
		if (c.length <= 500)
			assert_int_equal(mbps(&p), 12 * 6250);
		last = mbps(&p);
	}
	assert_int_equal(last, 0);
}

static void each_dying_lane_is_given_up(void **state)
{
	struct tn_cable c = { .length = 300, .loss = 2000, .crosstalk = 10, .seed = 1 };
	struct port p;

	(void)state;
	start(&p, &c);
	train(&p, false);
	for (unsigned int l = 0; l < TORUS_LANES_MAX; l++) {
		assert_int_equal(tn_train_width(&p.t), TORUS_LANES_MAX - l);
		c.dead |= (u16)(1u << l);
		tn_serdes_model_lay(&p.m, &c, p.now);
		assert_true(tn_serdes_model_ber(&p.m, p.now) > TORUS_BER_ONE / 30);
		assert_true(tn_train_watch(&p.t, p.now));
		assert_true(train(&p, true) < 100 * MS);
		assert_int_equal(p.t.lane[l].state, TORUS_LANE_DEAD);
	}
	assert_int_equal(p.t.state, TN_TRAIN_IDLE);
	assert_true(tn_serdes_model_ber(&p.m, p.now) == TORUS_BER_ONE / 2);
}

/* Temperature and age: a link that measures every 50 ms retrains before errors come. */
static void drifting_cable_is_retrained_before_errors(void **state)
{
	struct tn_cable c = { .length = 500, .loss = 2000, .crosstalk = 10, .seed = 5,
			      .drift = 150, .ageing = 600, .aged = 0x21 };
	unsigned int retrains = 0;
	struct port p;

	(void)state;
	start(&p, &c);
	train(&p, false);
	for (u64 end = p.now + 30000 * MS; p.now < end; p.now += 50 * MS) {
		assert_true(tn_serdes_model_ber(&p.m, p.now) < 100 * params.target_ber);
		if (!tn_train_watch(&p.t, p.now))
			continue;
		retrains++;
		assert_true(train(&p, true) < 100 * MS);
		assert_int_equal(p.t.state, TN_TRAIN_DONE);
	}
	assert_true(retrains > 0 && retrains < 100);
	assert_true(mbps(&p) < 12 * 6250);
}

/* Warm copper loses more. An aged cable stays aged when a lane dies; only another cable is new. */
static void warm_copper_loses_more(void **state)
{
	struct tn_cable c = { .length = 500, .loss = 2000, .crosstalk = 10, .seed = 5 };
	u32 last = TN_MARGIN_MAX;
	struct tn_eye eye;
	struct port p;

	(void)state;
	for (c.warmer = -60; c.warmer <= 100; c.warmer += 20) {
		start(&p, &c);
		train(&p, false);
		assert_true(mbps(&p) < 12 * 6250 || tn_train_margin(&p.t) <= last);
		last = tn_train_margin(&p.t);
	}
	c.warmer = 0;
	c.ageing = 100;
	c.aged = 1;
	start(&p, &c);
	train(&p, false);
	p.now += 20000 * MS;
	c.dead = 2;
	tn_serdes_model_lay(&p.m, &c, p.now);
	p.m.serdes.ops->measure(&p.m, 0, &eye, p.now);
	assert_true(eye.height < p.t.lane[0].eye.height);
	c.length = 499;
	tn_serdes_model_lay(&p.m, &c, p.now);
	p.m.serdes.ops->measure(&p.m, 0, &eye, p.now);
	assert_true(eye.height >= p.t.lane[0].eye.height);
}

/** struct trace - of an eye: mV; and 1/1000 UI */
struct trace {
	double height, width;
};

/* The equations of serdes_model.h: dB of loss, taps in steps of 1/40, crosstalk in swings. */
static struct trace equations(double db, double pre, double post, double crosstalk)
{
	double x = pow(10, -db / 20), odd = (1 - x) / 2, tap[3], h[4], p[6] = { 0 }, open;

	tap[0] = -pre / 40;
	tap[1] = 1 - (pre + post) / 40;
	tap[2] = -post / 40;
	h[0] = odd / 4;
	h[1] = (1 + x) / 2 - odd / 8;
	h[2] = odd * 3 / 4;
	h[3] = odd / 8;
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int j = 0; j < 4; j++)
			p[i + j] += tap[i] * h[j];
	open = p[2] - crosstalk;
	for (unsigned int i = 0; i < 6; i++)
		open -= i == 2 ? 0 : fabs(p[i]);
	return (struct trace) { fmax(0, 400 * open), fmax(0, 460 * open / p[2]) };
}

static struct trace eye_at(struct port *p, unsigned int lane, u64 now)
{
	struct tn_eye e;

	p->m.serdes.ops->measure(&p->m, lane, &e, now);
	assert_true(e.signal);
	assert_int_equal(e.noise, 7);
	assert_int_equal(e.jitter, 14);
	return (struct trace) { e.height, e.width };
}

/*
 * Return: by how much a lane's loss differs, 0.95 to 1.05: found from an eye without other effects.
 */
static double lane_factor(const struct tn_cable *cable, unsigned int lane)
{
	struct tn_cable plain = { .length = cable->length, .loss = 1000000 / cable->length,
				  .seed = cable->seed };
	double found = 0, best = 1e9;
	struct trace t;
	struct port p;

	start(&p, &plain);
	t = eye_at(&p, lane, 1);
	for (double f = 0.95; f < 1.0505; f += 0.001) {
		double off = fabs(equations(10 * f, 0, 0, 0).height - t.height);

		if (off < best) {
			best = off;
			found = f;
		}
	}
	assert_true(best < 1.5);
	return found;
}

/* The eye of any lane of any cable follows the equations, with their stated figures. */
static void eye_follows_equations(void **state)
{
	static const double root[] = { 1, 0.894, 0.707, 0.632 };
	uint64_t seed = random_seed(17), r = seed;
	unsigned int open = 0;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 500; i++) {
		struct tn_cable c = {
			.length = 100 + (u32)random_below(&r, 500), .loss = 500 + (u32)random_below(&r, 1500),
			.crosstalk = (u32)random_below(&r, 40), .seed = random_next(&r),
			.warmer = (s32)random_below(&r, 100) - 40, .drift = (u32)random_below(&r, 100),
			.ageing = (u32)random_below(&r, 200), .aged = 0x5,
		};
		unsigned int lane = (unsigned int)random_below(&r, TORUS_LANES_MAX);
		unsigned int rate = (unsigned int)random_below(&r, TN_RATES_MAX);
		struct tn_taps taps = { (u8)random_below(&r, 8), (u8)random_below(&r, 16) };
		unsigned int beside = (lane > 0) + (lane + 1 < TORUS_LANES_MAX);
		u64 age = random_next(&r) % 2 ? TN_CABLE_PERIOD / 4 : 0;
		double db = c.length * c.loss / 1e5 * lane_factor(&c, lane);
		struct trace want, got;
		struct port p;

		start(&p, &c);
		p.m.serdes.ops->set_rate(&p.m, rate);
		p.m.serdes.ops->set_taps(&p.m, lane, taps);
		if (lane && i % 3 == 0) {
			p.m.serdes.ops->enable(&p.m, lane - 1, false);
			beside--;
		}
		db *= 1 + (age ? c.drift / 1e3 : 0);
		db *= 1 + 0.002 * c.warmer;
		db += c.aged >> lane & 1 ? (double)age / 1e9 * c.ageing / 1e3 : 0;
		want = equations(db * root[rate], taps.pre, taps.post, beside * c.crosstalk / 1e3);
		got = eye_at(&p, lane, 1 + age);
		open += got.height > 0;
		if (fabs(got.height - want.height) > 2 || fabs(got.width - want.width) > 5)
			fail_msg("cable %u, lane %u: %g mV, %g, by the equations %g, %g", i, lane,
				 got.height, got.width, want.height, want.width);
	}
	assert_true(open > 100);
}

/* A bit more loss changes an eye by a bit, also where the signal halves: at 6, 12 and 18 dB. */
static void small_loss_changes_eye_a_little(void **state)
{
	struct tn_cable c = { .length = 100, .loss = 4000, .seed = 1 };
	struct trace last[TORUS_LANES_MAX], eye;
	struct port p;

	(void)state;
	start(&p, &c);
	for (unsigned int l = 0; l < TORUS_LANES_MAX; l++) {
		p.m.serdes.ops->set_taps(&p.m, l, (struct tn_taps) { 4, 10 });
		last[l] = eye_at(&p, l, 1);
	}
	for (; c.loss < 21000; c.loss++) {
		tn_serdes_model_lay(&p.m, &c, 1);
		for (unsigned int l = 0; l < TORUS_LANES_MAX; l++) {
			eye = eye_at(&p, l, 1);
			assert_true(eye.height > 0 && fabs(eye.height - last[l].height) <= 2);
			last[l] = eye;
		}
	}
}

/* The map of the eye: best in the middle, symmetric, worse outwards. */
static void map_of_eye_is_symmetric_and_best_in_the_middle(void **state)
{
	struct tn_cable c = { .length = 500, .loss = 2000, .crosstalk = 10, .seed = 1 };
	const struct tn_serdes_ops *ops;
	u64 middle, last;
	struct port p;

	(void)state;
	start(&p, &c);
	train(&p, false);
	ops = p.m.serdes.ops;
	middle = ops->sample(&p.m, 0, 0, 0, p.now);
	assert_true(middle == p.t.lane[0].ber);
	for (int offset = 0; offset <= 400; offset += 20) {
		last = 0;
		for (int phase = 0; phase <= TN_HALF_UI; phase += 20) {
			u64 ber = ops->sample(&p.m, 0, phase, offset, p.now);

			assert_true(ber >= last && ber >= middle);
			assert_true(ber == ops->sample(&p.m, 0, -phase, -offset, p.now));
			last = ber;
		}
		assert_true(last == TORUS_BER_ONE / 2);
	}
}

/* Errors come at the reported rate. */
static void errors_come_at_reported_rate(void **state)
{
	struct tn_cable c = { .length = 300, .loss = 2000, .dead = 1, .seed = 9 };
	unsigned int flips = 0, frames = 2000;
	static u8 frame[64];
	u64 first[2];
	struct port p;

	(void)state;
	start(&p, &c);
	for (unsigned int i = 0; i < frames; i++) {
		memset(frame, 0, sizeof(frame));
		if (tn_serdes_errors(&p.m.serdes, sizeof(frame), p.now))
			tn_fault_corrupt(&p.m.errors, frame, sizeof(frame));
		for (unsigned int j = 0; j < sizeof(frame); j++)
			flips += (unsigned int)__builtin_popcount(frame[j]);
	}
	/* Not trained: lane 0 of 12 guesses; the others may suffer from a closed eye. */
	u64 ber = tn_serdes_model_ber(&p.m, p.now);
	double expected = (double)ber / (double)TORUS_BER_ONE * 8 * sizeof(frame) * frames;

	assert_true(ber >= TORUS_BER_ONE / 24);
	assert_true(flips > 0.95 * expected && flips < 1.05 * expected);
	/* Each cable has errors of its own: the first one comes at another bit. */
	for (c.seed = 1; c.seed <= 2; c.seed++) {
		tn_serdes_model_lay(&p.m, &c, p.now);
		assert_non_null(tn_serdes_errors(&p.m.serdes, 1u << 20, p.now));
		first[c.seed - 1] = p.m.errors.skip;
	}
	assert_true(first[0] != first[1]);
	tn_serdes_model_lay(&p.m, &(struct tn_cable) { 0 }, p.now);
	assert_null(tn_serdes_errors(&p.m.serdes, 1u << 30, p.now));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_cables_train_within_limits),
		cmocka_unit_test(longer_cable_carries_no_more),
		cmocka_unit_test(each_dying_lane_is_given_up),
		cmocka_unit_test(drifting_cable_is_retrained_before_errors),
		cmocka_unit_test(warm_copper_loses_more),
		cmocka_unit_test(eye_follows_equations),
		cmocka_unit_test(small_loss_changes_eye_a_little),
		cmocka_unit_test(map_of_eye_is_symmetric_and_best_in_the_middle),
		cmocka_unit_test(errors_come_at_reported_rate),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
