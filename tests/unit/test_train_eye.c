// SPDX-License-Identifier: GPL-2.0-only
/* Results that a receiver computes from its eyes: margins, error rates, lanes in use, maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernel/core/train.h"

#define LANES 3

static const struct tn_train_params params = {
	.target_ber = 1000000, .mask_height = 60, .mask_width = 100,
	.margin_train = 110, .margin_retrain = 100,
};

/* A SerDes whose lanes have these eyes at any setting. */
static struct tn_eye eye[LANES];
static u16 on;
static struct { int phase, offset; unsigned int lane; u64 now; } sampled[TORUS_EYE_COLS];
static unsigned int samples;
static u64 rate_of_errors;

static void set_rate(void *ctx, unsigned int rate)
{
	(void)ctx;
	(void)rate;
}

static void set_taps(void *ctx, unsigned int lane, struct tn_taps taps)
{
	(void)ctx;
	(void)lane;
	(void)taps;
}

static void enable(void *ctx, unsigned int lane, bool yes)
{
	(void)ctx;
	on = (u16)(yes ? on | 1u << lane : on & ~(1u << lane));
}

static void measure(void *ctx, unsigned int lane, struct tn_eye *out, u64 now)
{
	(void)ctx;
	(void)now;
	*out = eye[lane];
}

static u64 sample(void *ctx, unsigned int lane, int phase, int offset, u64 now)
{
	(void)ctx;
	assert_true(samples < TORUS_EYE_COLS);
	sampled[samples].phase = phase;
	sampled[samples].offset = offset;
	sampled[samples].lane = lane;
	sampled[samples++].now = now;
	return rate_of_errors;
}

static const struct tn_serdes_ops ops = {
	.set_rate = set_rate, .set_taps = set_taps, .enable = enable, .measure = measure,
	.sample = sample,
};

static const struct tn_serdes serdes = {
	.ops = &ops, .lanes = LANES, .rates = 1, .mbps = { 1000 }, .swing = 400,
};

static const struct tn_eye wide = {
	.signal = true, .height = 120, .width = 200, .noise = 1, .jitter = 1,
};

/* Trains with the present eyes. Return: the number of lanes in use. */
static unsigned int trained(struct tn_train *t)
{
	tn_train_init(t, &serdes, &params);
	tn_train_begin(t, false, 1);
	while (t->state == TN_TRAIN_BUSY)
		tn_train_poll(t, tn_train_expiry(t));
	return tn_train_width(t);
}

static void all_wide(void)
{
	for (int i = 0; i < LANES; i++)
		eye[i] = wide;
}

/* --- an eye ------------------------------------------------------------------------------ */

/* The margin is how much larger the mask could be, in height or width, whichever is less. */
static void margin_is_room_of_mask_in_eye(void **state)
{
	static const struct { u16 height, width; u32 margin; } m[] = {
		{ 60, 100, 100 }, { 59, 100, 98 }, { 60, 99, 99 }, { 120, 100, 100 },
		{ 60, 500, 100 }, { 90, 400, 150 }, { 400, 110, 110 }, { 0, 100, 0 }, { 60, 0, 0 },
		{ 61, 200, 101 }, { 5999, 10000, 9998 }, { 6000, 10000, 9999 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(m); i++) {
		struct tn_eye e = { .signal = true, .height = m[i].height, .width = m[i].width };

		assert_int_equal(tn_eye_margin(&e, &params), m[i].margin);
		e.signal = false;
		assert_int_equal(tn_eye_margin(&e, &params), 0);
	}
}

/*
 * Bit errors come from noise across the height or jitter across the width, whichever causes more.
 */
static void error_rate_is_that_of_noise_or_jitter(void **state)
{
	struct tn_eye e = { .signal = true, .height = 70, .width = 140, .noise = 10, .jitter = 14 };

	(void)state;
	assert_int_equal(tn_eye_ber(&e), tn_gauss_ber(7 * 16));
	e.jitter = 28;
	assert_int_equal(tn_eye_ber(&e), tn_gauss_ber(5 * 16));
	e.noise = 20;
	assert_int_equal(tn_eye_ber(&e), tn_gauss_ber(7 * 16 / 2));
	e.noise = 0;
	assert_int_equal(tn_eye_ber(&e), tn_gauss_ber(5 * 16));
	e.jitter = 0;
	assert_int_equal(tn_eye_ber(&e), 0);
	/* An eye that is closed in either dimension gives random bits. */
	e.height = 0;
	assert_int_equal(tn_eye_ber(&e), TORUS_BER_ONE / 2);
	e.height = 70;
	e.width = 0;
	assert_int_equal(tn_eye_ber(&e), TORUS_BER_ONE / 2);
	e.width = 140;
	e.signal = false;
	assert_int_equal(tn_eye_ber(&e), TORUS_BER_ONE / 2);
}

/* --- lanes -------------------------------------------------------------------------------- */

/* A lane is used if it has signal, margin_train and target_ber; each is needed. */
static void lane_needs_signal_margin_and_target(void **state)
{
	struct tn_train t;

	(void)state;
	all_wide();
	assert_int_equal(trained(&t), 3);
	assert_int_equal(on, 7);
	eye[1].signal = false;
	assert_int_equal(trained(&t), 2);
	assert_int_equal(t.lane[1].state, TORUS_LANE_DEAD);
	assert_int_equal(on, 5);
	eye[1] = wide;
	eye[1].width = 110;
	assert_int_equal(trained(&t), 3);
	eye[1].width = 109;
	assert_int_equal(trained(&t), 2);
	assert_int_equal(t.lane[1].state, TORUS_LANE_POOR);
	assert_int_equal(on, 5);
	/* 7 times the noise: 1.3e-12, a bit more than is asked for. */
	eye[1] = wide;
	eye[1].height = 140;
	eye[1].noise = 20;
	assert_true(tn_eye_ber(&eye[1]) > params.target_ber);
	assert_int_equal(trained(&t), 2);
	assert_int_equal(t.lane[1].state, TORUS_LANE_POOR);
	eye[1].height = 142;		/* 7.06 times: 7.0625 in sixteenths */
	assert_true(tn_eye_ber(&eye[1]) <= params.target_ber);
	assert_int_equal(trained(&t), 3);
	/* If no lane can be used none is in use, whatever the last training had. */
	for (int i = 0; i < LANES; i++)
		eye[i].width = 50;
	tn_train_begin(&t, false, 1);
	while (t.state == TN_TRAIN_BUSY)
		tn_train_poll(&t, tn_train_expiry(&t));
	assert_int_equal(t.state, TN_TRAIN_IDLE);
	assert_int_equal(tn_train_width(&t), 0);
	assert_int_equal(tn_train_margin(&t), 0);
	assert_int_equal(tn_train_ber(&t), 0);
	assert_int_equal(on, 0);
}

/* A lane with exactly the target error rate is used, and does not cause a retraining. */
static void error_rate_of_exactly_the_target_is_enough(void **state)
{
	(void)state;
	all_wide();
	eye[1].height = 140;
	eye[1].noise = 20;
	for (u32 less = 0; less < 2; less++) {
		const u64 ber = tn_eye_ber(&eye[1]);
		struct tn_train_params exact = params;
		struct tn_train t;

		exact.target_ber = ber - less;
		tn_train_init(&t, &serdes, &exact);
		tn_train_begin(&t, false, 1);
		while (t.state == TN_TRAIN_BUSY)
			tn_train_poll(&t, tn_train_expiry(&t));
		assert_int_equal(tn_train_width(&t), 3 - less);
		assert_false(tn_train_watch(&t, 1));
		if (less)
			continue;
		assert_true(tn_train_ber(&t) == (ber + tn_eye_ber(&eye[0]) + tn_eye_ber(&eye[2])) / 3);
		t.params.target_ber--;
		assert_true(tn_train_watch(&t, 1));
	}
}

/* Error rates fall with the opening, to 0 and not beyond the end of the table. */
static void error_rate_falls_to_0(void **state)
{
	u64 before = TORUS_BER_ONE / 2;

	(void)state;
	assert_true(tn_gauss_ber(-5) == before && tn_gauss_ber(0) == before);
	for (s32 q16 = 1; q16 < 0x10000; q16++) {
		u64 ber = tn_gauss_ber(q16);

		assert_true(ber < before || (ber == before && q16 > 130));
		before = ber;
	}
	assert_int_equal(before, 0);
}

/* The eyes that are reported are those of the last training, also if they are closed now. */
static void eye_of_last_training_is_reported(void **state)
{
	struct tn_train t;

	(void)state;
	all_wide();
	assert_int_equal(trained(&t), 3);
	for (int i = 0; i < LANES; i++) {
		assert_int_equal(t.lane[i].eye.height, wide.height);
		eye[i].height = 0;
	}
	tn_train_begin(&t, true, 1);
	while (t.state == TN_TRAIN_BUSY)
		tn_train_poll(&t, tn_train_expiry(&t));
	assert_int_equal(t.state, TN_TRAIN_IDLE);
	for (int i = 0; i < LANES; i++) {
		assert_true(t.lane[i].eye.signal);
		assert_int_equal(t.lane[i].eye.height, 0);
		assert_int_equal(t.lane[i].margin, 0);
		assert_int_equal(t.lane[i].ber, TORUS_BER_ONE / 2);
	}
}

/*
 * The link reports the margin of the worst lane and the mean error rate; lanes that are off do not
 * count.
 */
static void link_has_worst_margin_and_mean_error_rate(void **state)
{
	struct tn_train t;

	(void)state;
	all_wide();
	eye[0].height = 143;
	eye[0].noise = 20;		/* 114/16: few enough errors */
	eye[1].width = 130;
	eye[2].width = 60;
	assert_int_equal(trained(&t), 2);
	assert_int_equal(tn_train_margin(&t), 130);
	assert_true(t.lane[0].ber > 0 && t.lane[1].ber == 0);
	assert_int_equal(tn_train_ber(&t), t.lane[0].ber / 2);
	eye[2].width = 120;
	assert_int_equal(trained(&t), 3);
	assert_int_equal(tn_train_margin(&t), 120);
	assert_int_equal(tn_train_ber(&t), t.lane[0].ber / 3);
	/* Without a SerDes there are no values. */
	tn_train_init(&t, NULL, &params);
	assert_int_equal(t.state, TN_TRAIN_DONE);
	assert_int_equal(tn_train_width(&t) + tn_train_margin(&t) + tn_train_ber(&t), 0);
	assert_false(tn_train_watch(&t, 1));
	tn_train_begin(&t, false, 1);
	assert_int_equal(t.state, TN_TRAIN_DONE);
	assert_true(tn_train_expiry(&t) == ~0ull);
}

/* A lane in use causes a retraining if it has no signal, too small a margin, or errors. */
static void bad_lane_in_use_causes_retraining(void **state)
{
	struct tn_train t;

	(void)state;
	all_wide();
	eye[2].width = 60;		/* that lane is off */
	trained(&t);
	eye[2].signal = false;
	assert_false(tn_train_watch(&t, 1));
	eye[1].width = 100;
	assert_false(tn_train_watch(&t, 1));
	assert_int_equal(tn_train_margin(&t), 100);
	eye[1].width = 99;
	assert_true(tn_train_watch(&t, 1));
	eye[1] = wide;
	assert_false(tn_train_watch(&t, 1));
	eye[0].signal = false;
	assert_true(tn_train_watch(&t, 1));
	eye[0] = wide;
	eye[0].height = 140;
	eye[0].noise = 20;
	assert_true(tn_train_watch(&t, 1));
	eye[0].height = 142;
	assert_false(tn_train_watch(&t, 1));
}

/* --- maps ---------------------------------------------------------------------------------- */

/* The map is a quarter higher than eye and mask need, in mV. */
static void map_reaches_a_quarter_beyond_eye_and_mask(void **state)
{
	struct tn_train t;

	(void)state;
	all_wide();
	trained(&t);
	eye[1].height = 59;
	assert_int_equal(tn_train_eye_top(&t, 1, 1), 60 + 15 + 1);
	eye[1].height = 60;
	assert_int_equal(tn_train_eye_top(&t, 1, 1), 60 + 15 + 1);
	eye[1].height = 203;
	assert_int_equal(tn_train_eye_top(&t, 1, 1), 203 + 50 + 1);
	assert_int_equal(tn_train_eye_top(&t, 0, 1), 120 + 30 + 1);
}

/* Columns of the map go from -1/2 to 1/2 UI; rows from the top to as far below the centre. */
static void map_spans_one_unit_interval(void **state)
{
	struct tn_train t;
	u8 out[TORUS_EYE_COLS];

	(void)state;
	all_wide();
	trained(&t);
	for (unsigned int row = 0; row < TORUS_EYE_ROWS; row++) {
		samples = 0;
		tn_train_eye(&t, 2, 320, row, out, 99);
		assert_int_equal(samples, TORUS_EYE_COLS);
		for (int c = 0; c < TORUS_EYE_COLS; c++) {
			int phase = (c - 32) * 500 / 32;

			assert_int_equal(sampled[c].phase, phase);
			assert_int_equal(sampled[c].offset, 320 - 20 * (int)row);
			assert_int_equal(sampled[c].lane, 2);
			assert_int_equal(sampled[c].now, 99);
		}
	}
	assert_int_equal(sampled[0].phase, -TN_HALF_UI);
	assert_int_equal(sampled[32].phase, 0);
	assert_int_equal(sampled[64].phase, TN_HALF_UI);
}

/* Each byte of the map is -log10 of the rate, rounded down; 18 stands for no errors. */
static void map_has_logarithm_of_error_rate(void **state)
{
	static const struct { u64 ber; u8 shown; } log[] = {
		{ 0, 18 }, { 1, 18 }, { 2, 17 }, { 10, 17 }, { 11, 16 }, { 100, 16 }, { 101, 15 },
		{ 999999, 12 }, { 1000000, 12 }, { 1000001, 11 }, { TORUS_BER_ONE / 10, 1 },
		{ TORUS_BER_ONE / 10 + 1, 0 }, { TORUS_BER_ONE / 2, 0 },
	};
	struct tn_train t;
	u8 out[TORUS_EYE_COLS];

	(void)state;
	all_wide();
	trained(&t);
	for (unsigned int i = 0; i < ARRAY_SIZE(log); i++) {
		samples = 0;
		rate_of_errors = log[i].ber;
		tn_train_eye(&t, 0, 100, 3, out, 1);
		for (int c = 0; c < TORUS_EYE_COLS; c++)
			assert_int_equal(out[c], log[i].shown);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(margin_is_room_of_mask_in_eye),
		cmocka_unit_test(error_rate_is_that_of_noise_or_jitter),
		cmocka_unit_test(lane_needs_signal_margin_and_target),
		cmocka_unit_test(error_rate_of_exactly_the_target_is_enough),
		cmocka_unit_test(error_rate_falls_to_0),
		cmocka_unit_test(eye_of_last_training_is_reported),
		cmocka_unit_test(link_has_worst_margin_and_mean_error_rate),
		cmocka_unit_test(bad_lane_in_use_causes_retraining),
		cmocka_unit_test(map_reaches_a_quarter_beyond_eye_and_mask),
		cmocka_unit_test(map_spans_one_unit_interval),
		cmocka_unit_test(map_has_logarithm_of_error_rate),
	};

	return cmocka_run_group_tests_name("train_eye", all, NULL, NULL);
}
