// SPDX-License-Identifier: GPL-2.0-only
/* Eyes and errors of a cable compared with the equations of serdes_model.h in floating point. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernel/core/serdes_model.h"
#include "kernel/core/times.h"
#include "tests/unit/random.h"

static struct tn_serdes_model m;
static uint64_t r;

static const struct tn_serdes *serdes(void)
{
	return &m.serdes;
}

static struct tn_eye measured(unsigned int lane, u64 now)
{
	struct tn_eye e;

	serdes()->ops->measure(serdes()->ctx, lane, &e, now);
	return e;
}

static void lay(const struct tn_cable *c, u64 now)
{
	tn_serdes_model_init(&m);
	tn_serdes_model_lay(&m, c, now);
}

/* --- the same in floating point ----------------------------------------------------------- */

/* Return: the difference of a lane from others: splitmix64 of seed and lane, 0 to 100. */
static double lane_differs(u64 seed, unsigned int lane)
{
	u64 z = (seed + lane + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (double)((u32)(z >> 33) % 101);
}

/* Return: -1 to 1, starting upwards from 0, with a period of 60 s. */
static double triangle(double seconds)
{
	double phase = fmod(seconds, 60) / 15;

	return phase < 1 ? phase : phase < 3 ? 2 - phase : phase - 4;
}

static double loss_db(const struct tn_cable *c, unsigned int lane, unsigned int rate, double seconds)
{
	static const double mbps[] = { 6250, 5000, 3125, 2500 };
	double db = c->length / 100.0 * c->loss / 1000.0;

	db *= 1 + lane_differs(c->seed, lane) / 1000 - 0.05;
	db *= 1 + c->drift / 1000.0 * triangle(seconds);
	db *= 1 + c->warmer * 0.002;
	if (c->aged >> lane & 1)
		db += seconds * c->ageing / 1000.0;
	return db * sqrt(mbps[rate] / 6250);
}

static double open_of(const struct tn_cable *c, unsigned int lane, unsigned int rate,
		      struct tn_taps taps, struct tn_rx rx, double seconds, unsigned int neighbours,
		      double *peak)
{
	double x = pow(10, -loss_db(c, lane, rate, seconds) / 20), odd = (1 - x) / 2, open = 0;
	double tap[] = { -taps.pre / 40.0, 1 - (taps.pre + taps.post) / 40.0, -taps.post / 40.0 };
	double h[] = { odd / 4, (1 + x) / 2 - odd / 8, odd - odd / 4, odd / 8 }, p[7] = { 0 };
	double k = rx.ctle / 32.0;

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 4; j++)
			p[i + j] += tap[i] * h[j];
	for (int i = 6; i >= 0; i--)
		p[i] = (1 + k) * p[i] - (i ? k * p[i - 1] : 0);
	p[3] -= rx.dfe / 40.0;
	for (int i = 0; i < 7; i++)
		open += i == 2 ? p[i] : -fabs(p[i]);
	*peak = p[2];
	return open - neighbours * c->crosstalk / 1000.0 * (1 + 2 * k);
}

/* --- eyes ------------------------------------------------------------------------------------ */

static void check_eye(const struct tn_cable *c, unsigned int lane, unsigned int rate,
		      struct tn_taps taps, struct tn_rx rx, u64 age, unsigned int neighbours)
{
	struct tn_eye e = measured(lane, SEC + age);
	double peak, open = open_of(c, lane, rate, taps, rx, (double)age / (double)SEC, neighbours,
				    &peak);
	double k = rx.ctle / 32.0, noise = 7 * sqrt((1 + k) * (1 + k) + k * k);

	assert_true(e.noise == (u16)ceil(noise) && e.jitter == 14);
	if (c->dead >> lane & 1) {
		assert_true(!e.signal && !e.height && !e.width);
		return;
	}
	assert_true(e.signal);
	if (open <= 0)
		open = 0;
	assert_true(fabs(e.height - 400 * open) < 1.6);
	if (e.height > 3)
		assert_true(fabs(e.width - 460 * open / peak) < 2.5);
}

/*
 * Eyes are right for any cable, rate, settings, time and lane, whichever of its neighbours are on.
 */
static void eyes_equal_those_of_second_implementation(void **state)
{
	(void)state;
	r = random_seed(1);
	for (int n = 0; n < 4000; n++) {
		struct tn_cable c = {
			.length = 1 + random_below(&r, 1000), .loss = random_below(&r, 2500),
			.crosstalk = random_below(&r, 3) * random_below(&r, 40),
			.drift = random_below(&r, 2) * random_below(&r, 300),
			.ageing = random_below(&r, 2) * random_below(&r, 500),
			.warmer = (s32)random_below(&r, 2) * ((s32)random_below(&r, 120) - 60),
			.aged = (u16)random_below(&r, 4096), .seed = random_next(&r),
			.dead = (u16)(random_below(&r, 8) ? 0 : random_below(&r, 4096)),
		};
		unsigned int rate = random_below(&r, TN_RATES_MAX), on = 0;
		unsigned int lane = random_below(&r, TORUS_LANES_MAX);
		struct tn_taps taps = { (u8)random_below(&r, 8), (u8)random_below(&r, 16) };
		struct tn_rx rx = { (u8)random_below(&r, 4), (u8)random_below(&r, 4) };

		lay(&c, SEC);
		serdes()->ops->set_rate(serdes()->ctx, rate);
		serdes()->ops->set_taps(serdes()->ctx, lane, taps);
		serdes()->ops->set_rx(serdes()->ctx, lane, rx);
		for (unsigned int i = 0; i < TORUS_LANES_MAX; i++) {
			bool yes = random_below(&r, 2);

			serdes()->ops->enable(serdes()->ctx, i, yes);
			on += yes && (i + 1 == lane || i == lane + 1);
		}
		check_eye(&c, lane, rate, taps, rx, random_next(&r) % (200 * SEC), on);
	}
}

/* Eyes without a cable, and with ever longer ones until no eye is open. */
static void eye_closes_with_length_of_cable(void **state)
{
	struct tn_cable c = { .dead = 4 };
	u16 last = 401;

	(void)state;
	lay(&c, 5);
	assert_true(measured(0, 9).height == 400 && measured(0, 9).width == TN_HALF_UI);
	assert_false(measured(2, 9).signal);
	assert_true(serdes()->settle == 0 && !serdes()->steady);	/* a dead lane is looked at */
	c.dead = 0;
	lay(&c, 5);
	assert_true(serdes()->settle == 0 && serdes()->steady);
	for (c.length = 100; c.length <= 20000; c.length += 100) {
		c.loss = 2000;
		lay(&c, 5);
		assert_true(serdes()->settle == 100000 && !serdes()->steady);
		assert_true(measured(3, 9).signal && measured(3, 9).height <= last);
		last = measured(3, 9).height;
	}
	assert_int_equal(last, 0);
	/* Before its birth a cable does not age. */
	c = (struct tn_cable) { .length = 300, .loss = 2000, .ageing = 1000, .aged = 1 };
	lay(&c, 10 * SEC);
	assert_int_equal(measured(0, SEC).height, measured(0, 10 * SEC).height);
	assert_true(measured(0, 12 * SEC).height < measured(0, 10 * SEC).height);
}

/*
 * The loss varies around that of the cable: at the beginning, and half a period later, both are
 * equal.
 */
static void loss_swings_around_that_of_cable(void **state)
{
	struct tn_cable c = { .loss = 2000 };
	struct tn_eye steady;

	(void)state;
	for (c.length = 50; c.length <= 1000; c.length += 10) {
		c.drift = 0;
		lay(&c, SEC);
		steady = measured(3, SEC);
		c.drift = 200;
		lay(&c, SEC);
		for (u64 age = 0; age <= TN_CABLE_PERIOD; age += TN_CABLE_PERIOD / 2) {
			assert_int_equal(measured(3, SEC + age).height, steady.height);
			assert_int_equal(measured(3, SEC + age).width, steady.width);
		}
	}
}

/* A cable with other ageing is new; one with other differences keeps its age. */
static void cable_with_other_ageing_is_new(void **state)
{
	const struct tn_cable base = { .length = 300, .loss = 2000, .ageing = 1000, .aged = 1 };

	(void)state;
	for (int what = 0; what < 9; what++) {
		struct tn_cable c = base;

		lay(&base, SEC);
		switch (what) {
		case 0: c.length++; break;
		case 1: c.loss++; break;
		case 2: c.drift++; break;
		case 3: c.ageing++; break;
		case 4: c.aged = 3; break;
		case 5: c.crosstalk++; break;
		case 6: c.warmer++; break;
		case 7: c.dead = 8; break;
		case 8: c.seed++; break;
		}
		tn_serdes_model_lay(&m, &c, 5 * SEC);
		assert_int_equal(m.since, what < 5 ? 5 * SEC : SEC);
		assert_false(tn_cable_same(&base, &c));
		assert_true(tn_cable_same(&m.cable, &c));
	}
}

/* --- errors ---------------------------------------------------------------------------------- */

/* The eye is a rhombus; noise or jitter crosses it, whichever does so more often. */
static void check_sample(const struct tn_eye *e, int phase, int offset)
{
	double height = e->height * (1 - fabs(phase / (double)e->width)) - abs(offset);
	double width = e->width * (1 - fabs(offset / (double)e->height)) - abs(phase);
	double q = fmin(height * 16 / 7, width * 16 / 14);
	u64 got = serdes()->ops->sample(serdes()->ctx, 0, phase, offset, SEC);

	assert_true(got <= tn_gauss_ber((s32)floor(q - 3)));
	assert_true(got >= tn_gauss_ber((s32)ceil(q + 3)));
}

static void map_agrees_with_eye_and_error_rate(void **state)
{
	struct tn_cable c = { .loss = 2000, .dead = 2 };
	unsigned int open = 0, by_height = 0;
	struct tn_eye e;

	(void)state;
	for (u8 post = 0; post < 16; post = (u8)(post + 3)) {
		for (c.length = 100; c.length < 1000; c.length += 150) {
			lay(&c, SEC);
			serdes()->ops->set_taps(serdes()->ctx, 0, (struct tn_taps) { 1, post });
			e = measured(0, SEC);
			if (e.height < 30)
				continue;
			open++;
			by_height += e.height * 2 < e.width;
			for (int phase = -500; phase <= 500; phase += 50)
				for (int offset = -200; offset <= 200; offset += 20)
					check_sample(&e, phase, offset);
		}
	}
	assert_true(open > 5 && by_height > 1);
	assert_int_equal(serdes()->ops->sample(serdes()->ctx, 1, 0, 0, SEC), TORUS_BER_ONE / 2);
}

/* Bits are spread over the lanes in use, including dead ones. */
static void error_rate_of_link_is_mean_of_lanes_in_use(void **state)
{
	const struct tn_cable c = { .length = 700, .loss = 2000, .dead = 2, .seed = 5 };
	struct tn_eye e;
	u64 sum = 0;

	(void)state;
	lay(&c, SEC);
	for (unsigned int lane = 0; lane < TORUS_LANES_MAX; lane++) {
		e = measured(lane, SEC);
		sum += tn_eye_ber(&e);
	}
	assert_int_equal(tn_serdes_model_ber(&m, SEC), sum / TORUS_LANES_MAX);
	for (unsigned int lane = 2; lane < TORUS_LANES_MAX; lane++)
		serdes()->ops->enable(serdes()->ctx, lane, false);
	e = measured(0, SEC);
	assert_int_equal(tn_serdes_model_ber(&m, SEC), (TORUS_BER_ONE / 2 + tn_eye_ber(&e)) / 2);
	serdes()->ops->enable(serdes()->ctx, 1, false);
	assert_int_equal(tn_serdes_model_ber(&m, SEC), tn_eye_ber(&e));
	serdes()->ops->enable(serdes()->ctx, 0, false);
	assert_int_equal(tn_serdes_model_ber(&m, SEC), TORUS_BER_ONE / 2);
}

/* The error rate is constant for 10 ms, unless settings change; a steady cable has no errors. */
static void error_rate_is_constant_for_10_ms(void **state)
{
	struct tn_cable c = { .length = 300, .loss = 2000, .ageing = 100000, .aged = 0xfff };

	(void)state;
	lay(&c, SEC);
	tn_serdes_errors(&m.serdes, 1, SEC);
	for (int what = 0; what < 7; what++) {
		u64 at = m.errors_at, later = at + 9999999;

		assert_int_equal(m.errors.ber, tn_serdes_model_ber(&m, at));
		tn_serdes_errors(&m.serdes, 1, later);
		assert_int_equal(m.errors_at, at);
		switch (what) {
		case 0: serdes()->ops->set_rate(serdes()->ctx, 1); break;
		case 1: serdes()->ops->set_taps(serdes()->ctx, 0, (struct tn_taps) { 1, 1 }); break;
		case 2: serdes()->ops->enable(serdes()->ctx, 0, false); break;
		case 3: tn_serdes_model_lay(&m, &c, later); break;
		case 4: serdes()->ops->set_rx(serdes()->ctx, 0, (struct tn_rx) { 1, 1 }); break;
		case 5: case 6: later++; break;
		}
		tn_serdes_errors(&m.serdes, 1, later);
		assert_int_equal(m.errors_at, later);
	}
	/* Dead lanes guess: half of their bits are wrong, a twelfth of all bits. */
	c = (struct tn_cable) { .dead = 1 };
	lay(&c, SEC);
	assert_int_equal(tn_serdes_model_ber(&m, SEC), TORUS_BER_ONE / 2 / TORUS_LANES_MAX);
	assert_non_null(tn_serdes_errors(&m.serdes, 1000, SEC));
	c.dead = 0;
	lay(&c, SEC);
	m.errors.ber = TORUS_BER_ONE;
	assert_null(tn_serdes_errors(&m.serdes, 1000, SEC));
}

/* The properties that the SerDes reports. */
static void serdes_reports_its_properties(void **state)
{
	static const u32 mbps[] = { 6250, 5000, 3125, 2500 };

	(void)state;
	tn_serdes_model_init(&m);
	assert_true(serdes()->lanes == 12 && serdes()->rates == 4 && serdes()->steady);
	assert_true(serdes()->pre_max == 7 && serdes()->post_max == 15 && serdes()->swing == 400);
	assert_true(serdes()->ctle_max == 3 && serdes()->dfe_max == 3);
	assert_true(tn_serdes_sets_rx(serdes()));
	assert_memory_equal(serdes()->mbps, mbps, sizeof(mbps));
	assert_int_equal(tn_serdes_model_ber(&m, 1), 0);
	for (unsigned int lane = 0; lane < TORUS_LANES_MAX; lane++)
		assert_int_equal(m.on >> lane & 1, 1);
	assert_int_equal(m.on, 0xfff);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(eyes_equal_those_of_second_implementation),
		cmocka_unit_test(eye_closes_with_length_of_cable),
		cmocka_unit_test(loss_swings_around_that_of_cable),
		cmocka_unit_test(cable_with_other_ageing_is_new),
		cmocka_unit_test(map_agrees_with_eye_and_error_rate),
		cmocka_unit_test(error_rate_of_link_is_mean_of_lanes_in_use),
		cmocka_unit_test(error_rate_is_constant_for_10_ms),
		cmocka_unit_test(serdes_reports_its_properties),
	};

	return cmocka_run_group_tests_name("serdes_eye", all, NULL, NULL);
}
