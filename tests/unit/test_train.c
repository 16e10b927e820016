// SPDX-License-Identifier: GPL-2.0-only
/*
 * Training with a SerDes whose eyes come from a table, so that surfaces have any shape: all small
 * tables, and random large ones. The model tries all settings.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "kernel/core/train.h"
#include "tests/unit/random.h"

#define PRE	5
#define POST	6
#define SETTLE	1000

static const struct tn_train_params params = {
	.target_ber = 1000000, .mask_height = 60, .mask_width = 100,
	.margin_train = 110, .margin_retrain = 100,
};

/* A SerDes; @eye is the result of each setting. */
struct table {
	struct tn_serdes serdes;
	struct tn_eye eye[TN_RATES_MAX][TORUS_LANES_MAX][PRE][POST];
	struct tn_taps taps[TORUS_LANES_MAX];
	bool on[TORUS_LANES_MAX];
	unsigned int rate;
	unsigned int measured;
};

static void set_rate(void *ctx, unsigned int rate)
{
	struct table *t = ctx;

	assert_true(rate < t->serdes.rates);
	t->rate = rate;
}

static void set_taps(void *ctx, unsigned int lane, struct tn_taps taps)
{
	struct table *t = ctx;

	assert_true(lane < t->serdes.lanes && taps.pre <= t->serdes.pre_max &&
		    taps.post <= t->serdes.post_max);
	t->taps[lane] = taps;
}

static void enable(void *ctx, unsigned int lane, bool on)
{
	((struct table *)ctx)->on[lane] = on;
}

static void measure(void *ctx, unsigned int lane, struct tn_eye *eye, u64 now)
{
	struct table *t = ctx;

	(void)now;
	assert_true(t->on[lane]);
	*eye = t->eye[t->rate][lane][t->taps[lane].pre][t->taps[lane].post];
	t->measured++;
}

static const struct tn_serdes_ops ops = {
	.set_rate = set_rate, .set_taps = set_taps, .enable = enable, .measure = measure,
};

static void table_init(struct table *t, u8 lanes, u8 rates, u8 pre_max, u8 post_max)
{
	memset(t, 0, sizeof(*t));
	t->serdes = (struct tn_serdes) {
		.ops = &ops, .ctx = t, .lanes = lanes, .rates = rates,
		.mbps = { 6250, 5000, 3125, 2500 }, .pre_max = pre_max, .post_max = post_max,
		.swing = 400, .settle = SETTLE,
	};
}

/* Return: an eye into which @margin percent of the mask fits; 0: no signal. */
static struct tn_eye eye_of(unsigned int margin)
{
	return (struct tn_eye) {
		.signal = margin, .height = (u16)(margin * 60 / 100), .width = (u16)margin,
		.noise = 7, .jitter = 14,
	};
}

static unsigned int run(struct tn_train *t, u64 *now)
{
	unsigned int steps = 0;

	while (t->state == TN_TRAIN_BUSY) {
		assert_true(steps++ < 2000);
		assert_true(tn_train_expiry(t) >= *now);
		assert_int_equal(tn_train_poll(t, tn_train_expiry(t) - 1), TN_TRAIN_BUSY);
		*now = tn_train_expiry(t);
		tn_train_poll(t, *now);
	}
	assert_true(tn_train_expiry(t) == ~0ull);
	return steps;
}

/* Return: the best margin of a lane at a rate, found by trying everything. */
static u32 best_of(const struct table *t, unsigned int rate, unsigned int lane)
{
	u32 best = 0;

	for (unsigned int a = 0; a <= t->serdes.pre_max; a++)
		for (unsigned int b = 0; b <= t->serdes.post_max; b++) {
			const struct tn_eye *e = &t->eye[rate][lane][a][b];
			u32 m = tn_eye_margin(e, &params);

			if (m > best && tn_eye_ber(e) <= params.target_ber)
				best = m;
		}
	return best;
}

static void check(const struct table *t, const struct tn_train *tr)
{
	u32 most = 0;
	unsigned int rate = 0, width = 0;

	for (unsigned int r = 0; r < t->serdes.rates; r++) {
		unsigned int n = 0;

		for (unsigned int l = 0; l < t->serdes.lanes; l++)
			n += best_of(t, r, l) >= params.margin_train;
		if (n * t->serdes.mbps[r] > most) {
			most = n * t->serdes.mbps[r];
			rate = r;
			width = n;
		}
	}
	assert_int_equal(tr->state, most ? TN_TRAIN_DONE : TN_TRAIN_IDLE);
	assert_int_equal(tn_train_width(tr), width);
	if (!most)
		return;
	assert_int_equal(tr->rate, rate);
	assert_int_equal(t->rate, rate);
	for (unsigned int l = 0; l < t->serdes.lanes; l++) {
		u32 best = best_of(t, rate, l);

		assert_int_equal(tr->lane[l].state == TORUS_LANE_ON, best >= params.margin_train);
		assert_int_equal(t->on[l], best >= params.margin_train);
		if (!t->on[l])
			continue;
		assert_int_equal(tr->lane[l].margin, best);
		assert_memory_equal(&t->taps[l], &tr->lane[l].taps, sizeof(t->taps[l]));
	}
}

/*
 * Trains two lanes with two rates and two settings; each eye is too small, fits, or is better: all
 * 3
 *
 * 8.
 */
static void all_small_tables_train_as_in_model(void **state)
{
	static const unsigned int margin[] = { 90, 110, 150 };

	(void)state;
	for (unsigned int code = 0; code < 6561; code++) {
		struct tn_train tr;
		unsigned int c = code;
		struct table t;
		u64 now = 1;

		table_init(&t, 2, 2, 1, 0);
		for (unsigned int i = 0; i < 8; i++, c /= 3)
			t.eye[i / 4][i / 2 % 2][i % 2][0] = eye_of(margin[c % 3]);
		tn_train_init(&tr, &t.serdes, &params);
		tn_train_begin(&tr, false, now);
		run(&tr, &now);
		check(&t, &tr);
	}
}

static void random_eyes(struct table *t, uint64_t *r)
{
	unsigned int kind[TORUS_LANES_MAX];

	for (unsigned int l = 0; l < t->serdes.lanes; l++)
		kind[l] = random_below(r, 8);		/* 0: dead, 1: poor */
	for (unsigned int rate = 0; rate < t->serdes.rates; rate++)
		for (unsigned int l = 0; l < t->serdes.lanes; l++)
			for (unsigned int a = 0; a < PRE; a++)
				for (unsigned int b = 0; b < POST; b++)
					t->eye[rate][l][a][b] =
						eye_of(!kind[l] ? 0 : 1 + random_below(r,
						       kind[l] == 1 ? 80 : 40 + 60 * (rate + 1)));
}

static void random_tables_train_as_in_model(void **state)
{
	uint64_t seed = random_seed(7), r = seed;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 2000; i++) {
		struct tn_train tr;
		struct table t;
		u64 now = 1;

		table_init(&t, (u8)(1 + random_below(&r, TORUS_LANES_MAX)),
			   (u8)(1 + random_below(&r, TN_RATES_MAX)), (u8)random_below(&r, PRE),
			   (u8)random_below(&r, POST));
		random_eyes(&t, &r);
		tn_train_init(&tr, &t.serdes, &params);
		tn_train_begin(&tr, false, now);
		assert_true(run(&tr, &now) <= (t.serdes.pre_max + 1u) * (t.serdes.post_max + 1u) *
			    t.serdes.rates);
		check(&t, &tr);
	}
}

/* The eye moved a little: few measurements find the best setting near; the rate stays. */
static void near_search_finds_moved_setting(void **state)
{
	struct tn_train tr;
	struct table t;
	u64 now = 1;

	(void)state;
	table_init(&t, 3, 1, PRE - 1, POST - 1);
	for (unsigned int l = 0; l < 3; l++)
		for (unsigned int a = 0; a < PRE; a++)
			for (unsigned int b = 0; b < POST; b++)
				t.eye[0][l][a][b] = eye_of(100 + 10 * a + 5 * b);
	t.eye[0][1][2][2] = eye_of(200);
	tn_train_init(&tr, &t.serdes, &params);
	tn_train_begin(&tr, false, now);
	assert_int_equal(run(&tr, &now), PRE * POST);
	assert_int_equal(tr.lane[1].taps.pre, 2);
	assert_false(tn_train_watch(&tr, now));
	t.eye[0][1][2][2] = eye_of(99);
	assert_true(tn_train_watch(&tr, now));
	t.eye[0][1][3][4] = eye_of(170);
	tn_train_begin(&tr, true, now);
	assert_int_equal(run(&tr, &now), 25);
	assert_int_equal(tr.lane[1].margin, 170);
	check(&t, &tr);
	/* No near setting fits: the whole search. */
	for (unsigned int a = 0; a < PRE; a++)
		for (unsigned int b = 0; b < POST; b++)
			t.eye[0][1][a][b] = eye_of(50);
	assert_true(tn_train_watch(&tr, now));
	tn_train_begin(&tr, true, now);
	assert_int_equal(run(&tr, &now), 25 + PRE * POST);
	check(&t, &tr);
	assert_int_equal(tn_train_width(&tr), 2);
	assert_int_equal(tr.lane[1].state, TORUS_LANE_POOR);
}

/* A lane that was switched off returns with the next training from the start. */
static void mended_lane_returns_with_full_training(void **state)
{
	struct tn_train tr;
	struct table t;
	u64 now = 1;

	(void)state;
	table_init(&t, 2, 1, 0, 0);
	t.eye[0][1][0][0] = eye_of(150);
	tn_train_init(&tr, &t.serdes, &params);
	assert_false(tn_train_watch(&tr, now));
	tn_train_begin(&tr, false, now);
	run(&tr, &now);
	check(&t, &tr);
	assert_int_equal(tr.lane[0].state, TORUS_LANE_DEAD);
	t.eye[0][0][0][0] = eye_of(150);
	tn_train_begin(&tr, true, now);
	run(&tr, &now);
	assert_int_equal(tn_train_width(&tr), 1);
	tn_train_begin(&tr, false, now);
	run(&tr, &now);
	assert_int_equal(tn_train_width(&tr), 2);
	/* All lanes die: training fails; then they return. */
	t.eye[0][0][0][0] = t.eye[0][1][0][0] = eye_of(0);
	assert_true(tn_train_watch(&tr, now));
	tn_train_begin(&tr, true, now);
	run(&tr, &now);
	assert_int_equal(tr.state, TN_TRAIN_IDLE);
	t.eye[0][0][0][0] = eye_of(150);
	tn_train_begin(&tr, true, now);
	run(&tr, &now);
	check(&t, &tr);
	assert_int_equal(tn_train_width(&tr), 1);
}

/* An eye that cannot be wider ends the search. */
static void perfect_eye_ends_search(void **state)
{
	struct tn_train tr;
	struct table t;
	u64 now = 1;

	(void)state;
	table_init(&t, 12, 4, PRE - 1, POST - 1);
	for (unsigned int l = 0; l < 12; l++)
		t.eye[0][l][0][0] = (struct tn_eye) { true, 400, TN_HALF_UI, 7, 14 };
	tn_train_init(&tr, &t.serdes, &params);
	tn_train_begin(&tr, false, now);
	assert_int_equal(run(&tr, &now), 1);
	assert_int_equal(tn_train_width(&tr), 12);
	assert_true(tn_train_ber(&tr) == 0);
}

/*
 * Settings with an eye that lacks a little of a perfect one, in height or in width, do not end the
 * search.
 */
static void almost_perfect_eye_does_not_end_search(void **state)
{
	static const struct tn_eye almost[] = {
		{ true, 399, TN_HALF_UI, 7, 14 }, { true, 400, TN_HALF_UI - 1, 7, 14 },
	};
	struct tn_train tr;
	struct table t;
	u64 now = 1;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(almost); i++) {
		table_init(&t, 1, 1, PRE - 1, POST - 1);
		for (unsigned int a = 0; a < PRE * POST; a++)
			t.eye[0][0][a / POST][a % POST] = eye_of(120);
		t.eye[0][0][0][0] = almost[i];
		tn_train_init(&tr, &t.serdes, &params);
		tn_train_begin(&tr, false, now);
		assert_int_equal(run(&tr, &now), PRE * POST);
		assert_true(tr.lane[0].taps.pre == 0 && tr.lane[0].taps.post == 0);
	}
}

/*
 * A setting with exactly the target error rate is better than one with a higher rate and a larger
 * margin, whichever is tried first; one above the target is not.
 */
static void setting_of_exactly_the_target_is_better_than_larger_margin(void **state)
{
	static const struct tn_eye exact = { true, 80, 130, 10, 14 }, large = { true, 100, 160, 13, 14 };
	struct tn_train_params p = params;
	struct tn_train tr;
	struct table t;
	u64 now = 1;

	(void)state;
	assert_true(tn_eye_ber(&exact) > 1 && tn_eye_ber(&exact) < tn_eye_ber(&large));
	for (u32 i = 0; i < 4; i++) {
		const u32 first = i & 1, less = i >> 1;

		p.target_ber = tn_eye_ber(&exact) - less;
		table_init(&t, 1, 1, 0, 1);
		t.eye[0][0][0][first] = exact;
		t.eye[0][0][0][!first] = large;
		tn_train_init(&tr, &t.serdes, &p);
		tn_train_begin(&tr, false, now);
		assert_int_equal(run(&tr, &now), 2);
		assert_int_equal(tr.lane[0].taps.post, less ? !first : first);
		assert_int_equal(tn_train_width(&tr), !less);
	}
}

static void training_without_serdes_is_done_at_once(void **state)
{
	struct tn_train tr;

	(void)state;
	tn_train_init(&tr, NULL, &params);
	tn_train_begin(&tr, false, 1);
	assert_int_equal(tr.state, TN_TRAIN_DONE);
	assert_false(tn_train_watch(&tr, 1));
	assert_int_equal(tn_train_width(&tr), 0);
	assert_int_equal(tn_train_margin(&tr), 0);
}

/* The approximation of the error function is never less than the true value, and not much more. */
static void error_function_is_never_too_small(void **state)
{
	(void)state;
	for (s32 q = 0; q < 160; q++) {
		double exact = erfc(q / 16. / sqrt(2)) / 2 * 1e18;
		double got = (double)tn_gauss_ber(q);

		/* The table ends where a twentieth of its unit, 1e-18, is left. */
		if (exact >= 0.05)
			assert_true(got >= exact * (1 - 1e-9));
		assert_true(got <= (exact >= 1 ? exact * 1.15 + 1 : 2));
	}
	assert_true(tn_gauss_ber(-5) == TORUS_BER_ONE / 2);
	assert_true(tn_gauss_ber(0x7fffffff) == 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(all_small_tables_train_as_in_model),
		cmocka_unit_test(random_tables_train_as_in_model),
		cmocka_unit_test(near_search_finds_moved_setting),
		cmocka_unit_test(mended_lane_returns_with_full_training),
		cmocka_unit_test(perfect_eye_ends_search),
		cmocka_unit_test(almost_perfect_eye_does_not_end_search),
		cmocka_unit_test(setting_of_exactly_the_target_is_better_than_larger_margin),
		cmocka_unit_test(training_without_serdes_is_done_at_once),
		cmocka_unit_test(error_function_is_never_too_small),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
